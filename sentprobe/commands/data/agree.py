"""The command ``probe agree``: agreement of two tables that hold annotations of the same sentences."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentprobe.commands.shared.options import REPLACED, TableFormatOption
from sentprobe.commands.shared.output_paths import OUTPUT_FILE
from sentprobe.commands.shared.table_output import FLAT, check_output_file, find_table_format
from sentprobe.disk.files import atomic_path
from sentprobe.display import table_writers as tw
from sentprobe.display.screen import print_place, print_table, print_text
from sentprobe.display.table_writers import Grid, GridCell, GridRow, TableFormat
from sentprobe.errors import SentprobeError
from sentprobe.probes.corpus.table import Table, open_table
from sentprobe.values import format_json

if TYPE_CHECKING:
    from sentprobe.probes.natural import table_agreement


def agree(
    first: Annotated[Path, typer.Argument(metavar="GOLD", help="First table, such as gold trees.")],
    second: Annotated[Path, typer.Argument(metavar="PARSED", help="Second table, such as a parser's.")],
    disagreements: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"JSONL file for every disagreement; {REPLACED}"), OUTPUT_FILE
    ] = None,
    format_: TableFormatOption = "text",
) -> None:
    """Measure how often two tables of the same sentences have the same annotation.

    Both tables come from probe analyze: for example, one from gold trees, and one from a parser.
    """
    style = find_table_format(format_, None, subject="an agreement")
    check_output_file(disagreements)
    tables = open_table(first), open_table(second)
    agreement = measure_agreement(tables, disagreements)
    grids = build_grids(agreement)
    notes = describe_agreement(agreement, tables)
    if style is TableFormat.TEXT:
        for grid in grids:
            print_table(tw.build_rich_table(grid))
        print_text(notes, end="")
        if disagreements is not None:
            print_place(f"disagreements: {disagreements}")
    elif style in FLAT:
        print(tw.format_records(to_records(agreement), style), end="")
    else:
        print("\n".join(tw.format_grid(grid, style) for grid in grids) + tw.format_notes(notes, style), end="")


def measure_agreement(tables: tuple[Table, Table], disagreements: Path | None) -> "table_agreement.TableAgreement":
    """Return the agreement of two tables; if *disagreements* is a path, write all disagreements to that file."""
    from sentprobe.probes.natural import table_agreement

    with table_agreement.open_pairs(*tables) as pairs:
        agreement = pairs.compute_agreement()
        if not any(tally.both for tally in agreement.tallies.values()):
            raise SentprobeError(
                f"{tables[0].path}, {tables[1].path}: no shared sentence (of {agreement.both:,}) has "
                "a label in both; a table of tokens alone has no labels"
            )
        if disagreements is not None:
            with atomic_path(disagreements) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
                out.writelines(format_json(pair) + "\n" for pair in pairs.list_disagreements())
    return agreement


COUNTS = ("total", "neither", "same", "different", "only_a", "only_b", "kappa")


def to_records(agreement: "table_agreement.TableAgreement") -> list[dict[str, Any]]:
    """Return records of agreement (counts and shares): one for each label, one for each task, one for token tags."""
    named_tallies = [(measure.kind.value, measure.name, tally) for measure, tally in agreement.tallies.items()]
    return [
        {
            "kind": kind,
            "name": name,
            **{name: getattr(tally, name) for name in COUNTS},
            **_compute_shares(tally),
            "sentences": agreement.both,
            "sentences_only_a": agreement.only_a,
            "sentences_only_b": agreement.only_b,
        }
        for kind, name, tally in [*named_tallies, ("tokens", "tags", agreement.tags)]
    ]


def _compute_shares(tally: "table_agreement.AgreementCounts") -> dict[str, float | None]:
    """Return three shares of agreement and the ends of their 95% intervals, by name; None if a denominator is 0."""
    from sentprobe.probes.statistics import wilson

    counts = {
        "rate": (tally.agreed, tally.total),
        "rate_of_both": (tally.same, tally.both),
        "rate_of_b": (tally.same, tally.labelled_by_b),
    }
    shares: dict[str, float | None] = {}
    for name, (part, total) in counts.items():
        interval = wilson(part, total) if total else None
        values = (part / total, interval.low, interval.high) if interval else (None, None, None)
        shares |= dict(zip((name, f"{name}_low", f"{name}_high"), values, strict=True))
    return shares


def _format_share(part: int, total: int) -> str:
    from sentprobe.probes.statistics import wilson

    if not total:
        return "-"
    ends = wilson(part, total)
    return f"{100 * part / total:.1f} [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"


def build_grids(agreement: "table_agreement.TableAgreement") -> tuple[Grid, Grid]:
    """Return two grids of how often tables A and B agree: one has a row for each label, one has a row for each task."""
    from sentprobe.probes.natural import table_agreement

    rows: dict[table_agreement.MeasureKind, list[GridRow]] = {kind: [] for kind in table_agreement.MeasureKind}
    for measure, tally in agreement.tallies.items():
        only_a, only_b = f"{tally.only_a:,}", f"{tally.only_b:,}"
        if measure.kind is table_agreement.MeasureKind.LABEL:
            kappa = "-" if tally.kappa is None else f"{tally.kappa:.3f}"
            shares = _format_share(tally.agreed, tally.total), f"{tally.both:,}", _format_share(tally.same, tally.both)
            texts: tuple[str, ...] = (measure.task, *shares, kappa, only_a, only_b)
        else:
            share = _format_share(tally.same, tally.labelled_by_b)
            texts = (f"{tally.labelled_by_a:,}", f"{tally.labelled_by_b:,}", share, f"{tally.different:,}", only_b)
        rows[measure.kind].append(GridRow(measure.name, "", tuple(map(GridCell, texts))))
    label_header = ("label", "task", "same [95%]", "in both", "same of these [95%]", "kappa", "only A", "only B")
    task_header = ("task", "A could ask", "B could ask", "A says the same [95%]", "A says another", "A would not ask")
    label_rows, task_rows = (tuple(rows[kind]) for kind in table_agreement.MeasureKind)
    return Grid(label_header, label_rows), Grid(task_header, task_rows)


def describe_agreement(agreement: "table_agreement.TableAgreement", tables: tuple[Table, Table]) -> str:
    """Return the notes below the output: sizes of the corpus tables, and how to read the figures."""
    first, second = tables
    unmatched, tags, tag_note = agreement.only_a + agreement.only_b, agreement.tags, ""
    if tags.total:
        share, tasks = _format_share(tags.same, tags.total), _list_tasks_needing("TAGS")
        tag_note = f"Tags are the same for {share}% of {tags.total:,} tokens; {tasks} needs them. "
    lines = [
        f"A: {first.path}, {first.counts.rows:,} sentences. B: {second.path}, {second.counts.rows:,} sentences. In "
        f"both: {agreement.both:,}; only in A: {agreement.only_a:,}; only in B: {agreement.only_b:,}."
        + (" Sentences match if their tokens are the same." if unmatched else ""),
        "First table: percent of the shared sentences with the same label in both (or with none in "
        "both); then percent of those with a label in both, on which Cohen's kappa is computed.",
        "Second table: percent of the task's possible sentences in B (before frequency bands and "
        "balancing) with the same answer in A. Intervals: 95%, Wilson.",
        f"{tag_note}{_list_tasks_needing('NOTHING')} and the tasks of Adi et al. need no parse.",
    ]
    if unparsed := [name for name, table in zip("AB", tables, strict=True) if not table.constituents]:
        omitted = _list_tasks_needing("TREE")
        lines.append(f"There are no constituents in {' and '.join(unparsed)}; omitted: {omitted}.")
    return "".join(f"{line}\n" for line in lines)


def _list_tasks_needing(need: str) -> str:
    """Return the names of Conneau et al.'s tasks with TableNeed[*need*]. For "TREE", include tasks with CLAUSES."""
    from sentprobe.probes.natural.datasets import TASKS
    from sentprobe.probes.natural.natural_task import TableNeed, TaskGroup

    needs = {TableNeed[need]} | ({TableNeed.CLAUSES} if need == "TREE" else set())
    chosen = [task for task in TASKS.values() if task.suite is TaskGroup.CONNEAU and task.need in needs]
    return ", ".join(task.name for task in chosen)
