"""The command ``probe agree``: how often two tables say the same of the same sentences."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sentprobe.commands.options import TableFormatOption
from sentprobe.commands.table_files import find_table_format
from sentprobe.errors import SentprobeError, UsageError
from sentprobe.files import atomic_path, check_apart
from sentprobe.probes.corpus.table import Table, open_table
from sentprobe.probes.natural import agreement
from sentprobe.probes.natural.catalogue import TASKS
from sentprobe.probes.natural.task import TableNeed, TaskGroup
from sentprobe.probes.statistics import wilson
from sentprobe.screen import print_table, say
from sentprobe.table_writers import Grid, GridCell, GridRow, TableFormat, draw, write_tables


def agree(
    first: Annotated[
        Path, typer.Argument(metavar="GOLD", help="A: a table, of gold trees if you have them.")
    ],
    second: Annotated[
        Path, typer.Argument(metavar="PARSED", help="B: a table of the same sentences.")
    ],
    disagreements: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write every disagreement to this file, as JSONL."),
    ] = None,
    format_: TableFormatOption = "text",
) -> None:
    """Say how often two tables agree on the same sentences: what automatic parsing costs."""
    style = find_table_format(format_, None, what="an agreement")
    if disagreements is not None:
        check_apart(disagreements, [first, second])
    tables = open_table(first), open_table(second)
    found = find_agreement(tables, disagreements)
    if style is TableFormat.TEXT:
        for each in (label_grid(found), task_grid(found)):
            print_table(draw(each))
        say(explain(found, tables), end="")
    else:
        print(to_text(found, tables, style), end="")
    if disagreements is not None and style is TableFormat.TEXT:
        print(f"disagreements: {disagreements}")


def find_agreement(
    tables: tuple[Table, Table], disagreements: Path | None
) -> agreement.TableAgreement:
    """Return how often two tables agree, and write every disagreement to a file if one is named.

    Raises:
        TableError: a table is damaged or of another version.
        SentprobeError: the tables have no sentence or no label in common, or the file cannot be
            written.
    """
    with agreement.open_pairs(*tables) as pairs:
        found = pairs.agreement()
        _check_labels(found, tables)
        if disagreements is not None:
            _write_lines(disagreements, pairs.disagreements())
    return found


def _check_labels(found: agreement.TableAgreement, tables: tuple[Table, Table]) -> None:
    if not any(tally.both for tally in found.tallies.values()):
        raise SentprobeError(
            f"{tables[0].path}, {tables[1].path}: no sentence that is in both ({found.both:,}) has "
            "a label in each; a table of tokens alone has no labels"
        )


def _write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    if path.is_dir():
        raise UsageError(f"{path}: is a directory, not a file to write")
    with (
        atomic_path(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as out,
    ):
        out.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def to_text(
    found: agreement.TableAgreement, tables: tuple[Table, Table], style: TableFormat
) -> str:
    """Return an agreement as text in any of the formats."""
    return write_tables(
        (label_grid(found), task_grid(found)),
        notes=explain(found, tables),
        records=lambda: to_records(found),
        style=style,
    )


def to_records(found: agreement.TableAgreement) -> list[dict[str, Any]]:
    """Return a flat dictionary for each label and task, and one for the tags of the tokens."""
    named = [(each.kind.value, each.name, tally) for each, tally in found.tallies.items()]
    return [
        {
            "kind": kind,
            "name": name,
            **{side: getattr(tally, side) for side in ("total", "neither", "same", "different")},
            **{side: getattr(tally, side) for side in ("only_a", "only_b", "kappa")},
            **_shares(tally),
            "sentences": found.both,
            "sentences_only_a": found.only_a,
            "sentences_only_b": found.only_b,
        }
        for kind, name, tally in [*named, ("tokens", "tags", found.tags)]
    ]


def _shares(tally: agreement.Tally) -> dict[str, float | None]:
    """Return the shares, each with the ends of its 95% interval; None where nothing is counted."""
    parts = {
        "rate": (tally.agreed, tally.total),
        "rate_of_both": (tally.same, tally.both),
        "rate_of_b": (tally.same, tally.of_b),
    }
    found: dict[str, float | None] = {}
    for name, (part, whole) in parts.items():
        ends = wilson(part, whole) if whole else None
        found[name] = part / whole if whole else None
        found[f"{name}_low"] = None if ends is None else ends.low
        found[f"{name}_high"] = None if ends is None else ends.high
    return found


def _share(part: int, whole: int) -> GridCell:
    if not whole:
        return GridCell("-")
    ends = wilson(part, whole)
    return GridCell(f"{100 * part / whole:.1f} [{100 * ends.low:.1f}, {100 * ends.high:.1f}]")


def label_grid(found: agreement.TableAgreement) -> Grid:
    """Lay out how often both say the same, a row for each label."""
    header = (
        "label", "task", "same [95%]", "in both", "same of these [95%]", "kappa", "only A", "only B"
    )  # fmt: skip
    return Grid(header, tuple(_label_row(*each) for each in _of(found, agreement.Compared.LABEL)))


def _of(
    found: agreement.TableAgreement, kind: agreement.Compared
) -> list[tuple[agreement.AgreementMeasure, agreement.Tally]]:
    return [(each, tally) for each, tally in found.tallies.items() if each.kind is kind]


def _label_row(measure: agreement.AgreementMeasure, tally: agreement.Tally) -> GridRow:
    cells = (
        GridCell(measure.task),
        _share(tally.agreed, tally.total),
        GridCell(f"{tally.both:,}"),
        _share(tally.same, tally.both),
        GridCell("-" if tally.kappa is None else f"{tally.kappa:.3f}"),
        GridCell(f"{tally.only_a:,}"),
        GridCell(f"{tally.only_b:,}"),
    )
    return GridRow(measure.name, "", cells)


def task_grid(found: agreement.TableAgreement) -> Grid:
    """Lay out how often A bears out what a task would ask about B, a row for each task."""
    header = (
        "task", "A could ask", "B could ask", "A says the same [95%]", "A says another",
        "A would not ask",
    )  # fmt: skip
    return Grid(header, tuple(_task_row(*each) for each in _of(found, agreement.Compared.TASK)))


def _task_row(measure: agreement.AgreementMeasure, tally: agreement.Tally) -> GridRow:
    cells = (
        GridCell(f"{tally.of_a:,}"),
        GridCell(f"{tally.of_b:,}"),
        _share(tally.same, tally.of_b),
        GridCell(f"{tally.different:,}"),
        GridCell(f"{tally.only_b:,}"),
    )
    return GridRow(measure.name, "", cells)


def explain(found: agreement.TableAgreement, tables: tuple[Table, Table]) -> str:
    """Say in plain sentences what was compared and how to read it."""
    first, second = tables
    unmatched = found.only_a + found.only_b
    lines = [
        f"A: {first.path}, {first.counts.rows:,} sentences. "
        f"B: {second.path}, {second.counts.rows:,} sentences. In both: {found.both:,}; only in A: "
        f"{found.only_a:,}; only in B: {found.only_b:,}."
        + (" Sentences match if their tokens are the same." if unmatched else ""),
        "First table: percent of the sentences in both for which both say the same, if only that "
        "there is none; then of those to which both give the label. Kappa (Cohen's) is over these.",
        "Second table: of the sentences that the task could take from B (before frequency bands "
        "and balance), for what percent A gives the same answer. Intervals are Wilson's.",
        f"{_tags(found)}{_unparsed()}",
    ]
    if not all(table.constituents for table in tables):
        which = " and ".join(
            name for name, each in zip("AB", tables, strict=True) if not each.constituents
        )
        left_out = ", ".join(_needing(TableNeed.TREE))
        lines.append(f"There are no constituents in {which}: without {left_out}.")
    return "".join(f"{line}\n" for line in lines)


def _tags(found: agreement.TableAgreement) -> str:
    if not found.tags.total:
        return ""
    share = _share(found.tags.same, found.tags.total).text
    chosen = ", ".join(_needing(TableNeed.TAGS))
    return f"Tags are the same for {share}% of {found.tags.total:,} tokens; {chosen} needs them. "


def _unparsed() -> str:
    return f"{', '.join(_needing(TableNeed.NOTHING))} and the tasks of Adi et al. need no parse."


def _needing(need: TableNeed) -> list[str]:
    return [
        task.name
        for task in TASKS.values()
        if task.suite is TaskGroup.CONNEAU and task.need is need
    ]
