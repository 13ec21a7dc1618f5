"""The command ``gen edit``: minimal opposites and variants of a user's own texts."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.output_paths import OUTPUT_FILE, build_completer
from sentprobe.commands.shared.table_output import check_output_file
from sentprobe.common.errors import SentprobeError, UsageError, format_count
from sentprobe.common.screen import print_message, print_table, print_text
from sentprobe.common.settings import Repeatable

if TYPE_CHECKING:
    from sentprobe.generator.edits.edit_engine import TextEdit
    from sentprobe.probes.corpus.text_edits import EditCounts, KindPrecision


class EditFormat(StrEnum):
    """A file format of edits."""

    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"


_ROWS_PER_TABLE = 10_000


def _list_kinds() -> list[str]:
    from sentprobe.generator.edits.edit_table import load_table
    from sentprobe.probes.corpus.text_edits import GROUPS

    return [*load_table().kinds, *GROUPS]


@opt.expand_option_groups
def edit(
    source: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="Texts: a line each, CSV, TSV, JSONL, Parquet or CoNLL-U; - for stdin."),
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="Column of the texts in CSV, TSV, JSONL and Parquet. Default: text.")
    ] = None,
    kind: Annotated[
        Repeatable,
        typer.Option(
            "--kind",
            "-k",
            help="Kind of edit, from --list, or opposites or variants; repeatable. Default: the kinds on by default.",
            autocompletion=build_completer(_list_kinds),
        ),
    ] = None,
    parser: Annotated[
        str | None,
        typer.Option(
            "--parser", "-p", help="spacy:PIPELINE, stanza or corenlp:URL. Default: none (numbers, dates, units only)."
        ),
    ] = None,
    language: Annotated[str, typer.Option(help="Language of the texts: en or de.")] = "en",
    show_list: Annotated[bool, typer.Option("--list", help="List the kinds, each with an example.")] = False,
    review: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Write N edits, drawn by kind, as CSV with an empty column 'right' to mark."
        ),
    ] = None,
    seed: Annotated[int, opt.build_seed_option("the sample of --review")] = 0,
    refused: Annotated[
        bool, typer.Option("--refused", help="Write the texts without an edit, each with the reason, instead of edits.")
    ] = False,
    reviewed: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Marked sheet: print each kind's precision; drop kinds below --at-least."),
    ] = None,
    at_least: Annotated[str, typer.Option(metavar="SHARE", help="Lowest precision of a kind in --reviewed.")] = "95%",
    out: Annotated[
        Path | None, opt.build_out_option(f"File to write instead of stdout; {opt.REPLACED}"), OUTPUT_FILE
    ] = None,
    format_: Annotated[
        str | None, opt.build_format_option([*EditFormat], "Default: by the suffix of --out, else jsonl.")
    ] = None,
    input_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="Format of FILE: lines, csv, tsv, jsonl, parquet or conllu.")
    ] = None,
) -> None:
    """Write minimal opposites and variants of your own texts.

    The column same is 0 for opposites and 1 for variants. A rule that does not fit its conditions refuses: nothing is
    guessed. Texts without an edit are counted by reason.

    probe gate --texts makes the same edits. Variants are far easier than real paraphrases: they may set no threshold.
    """
    from sentprobe.generator.pairs.triplet_files import find_pair_format
    from sentprobe.probes.corpus import text_edits, user_texts

    if show_list:
        _print_kinds(language)
        return
    dropped = _drop_kinds(reviewed, opt.parse_share(at_least, "--at-least"), only=source is None) if reviewed else []
    if source is None:
        if reviewed:
            return
        raise UsageError("name a file of texts, or --list to see the kinds")
    if refused and review:
        raise UsageError("--refused and --review: give one of them")
    check_output_file(out)
    style = find_pair_format(EditFormat, "csv" if review else format_, out)
    is_parsed = user_texts.is_parsed(source, input_format)
    if parser is not None and is_parsed:
        raise UsageError(f"{source} is parsed already; leave out --parser")
    has_parse = parser is not None or is_parsed
    rules = text_edits.choose_edit_rules(kind or (), language=language, has_parse=has_parse, excluded=dropped)
    counts = text_edits.EditCounts()
    texts = user_texts.read_user_texts(source, column=column, format=input_format)
    outcomes = text_edits.find_edits(texts, rules, counts, parser=parser, language=language)
    if refused:
        refusals = (outcome for outcome in outcomes if isinstance(outcome, text_edits.RefusedText))
        columns = text_edits.RefusedText._fields
        _write(_build_rows(refusals, style, columns), out, empty=_build_empty(style, columns))
    elif review:
        edits = text_edits.select_edits(outcomes)
        _write(_format_sheet(text_edits.sample_for_review(edits, review, seed=seed)), out)
    else:
        _write(_build_rows(text_edits.select_edits(outcomes), style, text_edits.COLUMNS), out, reasons=counts)
    _print_counts(counts)


def _build_rows(rows: Iterator[Any], style: EditFormat, columns: Sequence[str]) -> Iterator[Any]:
    """Yield lines of text, or Arrow tables for Parquet, from named tuples with *columns*."""
    from sentprobe.common.tables import format_csv_row
    from sentprobe.common.values import format_json

    if style is EditFormat.PARQUET:
        import pyarrow as pa

        while records := [row._asdict() for row in islice(rows, _ROWS_PER_TABLE)]:
            yield pa.Table.from_pylist(records)
        return
    if style is EditFormat.JSONL:
        yield from (f"{format_json(row._asdict())}\n" for row in rows)
        return
    for row in chain([columns], rows):
        if style is EditFormat.TSV:  # whose readers know no quoting
            yield "\t".join(" ".join(str(cell).split()) for cell in row) + "\n"
        else:
            yield f"{format_csv_row(row, padded=True)}\n"


def _build_empty(style: EditFormat, columns: Sequence[str]) -> Any:
    """Return the one row, or Arrow table, of a file without rows."""
    if style is not EditFormat.PARQUET:
        return ""
    import pyarrow as pa

    return pa.table({name: pa.array([], pa.string()) for name in columns})


def _format_sheet(edits: "Iterable[TextEdit]") -> Iterator[str]:
    """Yield the lines of a review sheet; the kind stands last, so that a reader may hide it."""
    from sentprobe.common.tables import format_csv_row
    from sentprobe.probes.corpus.text_edits import MARK_COLUMN

    yield f"{format_csv_row((MARK_COLUMN, 'a', 'b', 'same', 'changed', 'rule', 'kind'))}\n"
    for row in edits:
        yield f"{format_csv_row(('', row.a, row.b, row.same, row.changed, row.rule, row.kind), padded=True)}\n"


def _write(rows: Iterator[Any], out: Path | None, *, reasons: "EditCounts | None" = None, empty: Any = None) -> None:
    """Write rows to stdout or a file; a file without rows gets *empty*, or is refused with the most frequent reason."""
    if out is None:
        sys.stdout.writelines(rows)
        sys.stdout.flush()
        return
    from sentprobe.generator.pairs.triplet_files import write_rows

    first = next(rows, empty)
    if first is None:
        reason = reasons.reasons.most_common(1)[0][0] if reasons and reasons.reasons else "there is none"
        raise SentprobeError(f"no text has an edit; the most frequent reason: {reason}")
    write_rows(out, chain([first], rows))


def _print_counts(counts: "EditCounts") -> None:
    """Print on stderr the edits by kind, and the texts without an edit by reason."""
    kinds = ", ".join(f"{name} {count:,}" for name, count in counts.edits.most_common())
    print_message(
        f"{format_count(counts.edits.total(), 'edit')} of {counts.edited:,} of {format_count(counts.texts, 'text')}"
        + (f": {kinds}" if kinds else "")
    )
    for reason, count in counts.reasons.most_common():
        print_message(f"{count:>7,} without an edit: {reason}")


def _drop_kinds(reviewed: Path, limit: float, *, only: bool) -> list[str]:
    """Print the precision of each reviewed kind, on stdout if that is all, and return the kinds below *limit*."""
    from sentprobe.probes.corpus.text_edits import read_review

    precisions = read_review(reviewed)
    dropped = [precision.kind for precision in precisions if precision.share < limit]
    show = print_text if only else print_message
    for precision in precisions:
        show(
            _describe_precision(precision) + (f"; below {100 * limit:g}%, dropped" if precision.kind in dropped else "")
        )
    return dropped


def _describe_precision(precision: "KindPrecision") -> str:
    low, high = (100 * end for end in (precision.interval.low, precision.interval.high))
    share = f"{100 * precision.share:.1f}% [{low:.1f}, {high:.1f}]"
    return f"{precision.kind}: {precision.right} of {precision.total} right, {share}"


def _print_kinds(language: str) -> None:
    from sentprobe.common.tables import build_empty_table
    from sentprobe.generator.edits.edit_table import load_table

    table = load_table(language)
    grid = build_empty_table(("kind", "same", "on", "what changes, with an example"), left=(3,))
    for kind in table.kinds.values():
        rule = next(rule for rule in table.rules if rule.kind is kind)
        example = f"{kind.summary}\n  {rule.example[0]}\n  {rule.example[1]}"
        grid.add_row(kind.name, str(int(kind.same)), "default" if kind.is_default else "by name", example)
    print_table(grid)
    for name, reason in table.left_out.items():
        print_text(f"{name}: {reason}")
