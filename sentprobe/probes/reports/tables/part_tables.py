"""Tables and records of the accuracy on parts of the test items, such as items of one sentence length or structure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sentprobe.common.tables import Grid, GridCell, GridRow, ShownTable
from sentprobe.probes.datasets.dataset import STRUCTURE
from sentprobe.probes.reports import item_parts as division
from sentprobe.probes.reports.control_verdicts import name_control
from sentprobe.probes.reports.figures import compute_figure
from sentprobe.probes.reports.tables.main_table import CellStyle, describe_differences, format_figure, split_settings
from sentprobe.probes.reports.tables.notes import format_range
from sentprobe.probes.results.control import CONTROLS, WORD_CONTROLS
from sentprobe.probes.results.item_table import ItemTable, has_held_out
from sentprobe.probes.results.records import identify_result
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition, Result, Results
from sentprobe.probes.statistics import Interval

GAP = "gap"

DEFAULT_CONDITIONS = (Condition.PROBE, *WORD_CONTROLS)
"""The conditions that have columns by default. With ``CellStyle.all_rows``, all controls have columns."""

COLUMN_TEXTS = {
    "voice": "the voice of the clause that the item asks about",
    "clause": "the clause of the verb that the item asks about",
    "distance": "the number of words between the noun and the verb that the item asks about",
    "attractors": "the number of nouns between noun and verb whose grammatical number differs from that of the noun",
    "tense": "the tense of the clause that the item asks about",
    "aspect": "the aspect of the clause that the item asks about",
    "polarity": "the polarity of the clause that the item asks about",
    "template": "the structure of the sentence, named as in gen templates",
    "length": "the number of tokens of the sentence",
    "label": "the correct answer",
    STRUCTURE: "whether training had sentences with the same structure",
}
"""The meaning of the item columns that sentprobe adds to every dataset."""


def index_by_fingerprint(items: Iterable[ItemTable]) -> division.ItemTables:
    """Return a dictionary from the fingerprint of a dataset to its item table."""
    return {table.fingerprint: table for table in items}


def build_part_tables(
    results: Results, items: division.ItemTables, column: str, style: CellStyle
) -> Iterator[ShownTable]:
    """Yield, for each task, a table (title, grid, notes) with a row of accuracies for each value of an item column."""
    division.check_column(items.values(), column)
    tables = split_settings(results)
    for title, setting in zip(describe_differences(tables), tables, strict=True):
        by_task = {task: _build_grid(task, setting, items, column, style) for task in setting.tasks}
        grids = [grid for grid in by_task.values() if grid is not None]
        tasks_without_column = [task for task, grid in by_task.items() if grid is None]
        notes = "".join(f"{line}\n" for line in _describe_column(column, tasks_without_column))
        for number, grid in enumerate(grids, 1):
            yield title if number == 1 else "", grid, notes if number == len(grids) else ""


def build_structure_tables(results: Results, items: division.ItemTables, style: CellStyle) -> Iterator[ShownTable]:
    """Yield tables of accuracies on items with a structure that occurs in training, and with a held-out structure."""
    held_out = tuple(r for r in results.records if has_held_out(r) and r.dataset_fingerprint in items)
    if held_out:
        yield from build_part_tables(Results(held_out), items, STRUCTURE, style)


def _describe_column(column: str, tasks_without_column: Sequence[str]) -> Iterator[str]:
    meaning = COLUMN_TEXTS.get(column, "a column of the items")
    yield f"By {column}: {meaning}. Accuracy in %, with its 95% interval, on the test items with each value."
    if column == STRUCTURE:
        yield (
            "The gap is the accuracy on items whose structure occurs in training minus that on items "
            "whose structure was held out, in points."
        )
    if tasks_without_column:
        yield f"Without this column: {', '.join(tasks_without_column)}."


def _build_grid(task: str, results: Results, items: division.ItemTables, column: str, style: CellStyle) -> Grid | None:
    task_results = [result for result in results.records if result.task == task]
    if any(column not in items[result.dataset_fingerprint].columns for result in task_results):
        return None
    columns: dict[str, tuple[dict[str, list[Result]], Condition]] = {}
    for condition in USUAL_CONDITIONS if style.all_rows else DEFAULT_CONDITIONS:
        firsts: dict[str, Result] = {}  # encoders that share a control share its column
        for result in task_results:
            if condition in result.scores:
                firsts.setdefault(_name_column(result, condition), result)
        for name, first in firsts.items():
            columns[name] = division.split_by_part(results.records_by_cell[first.cell], items, column), condition
    rows = []
    first_parts, _ = next(iter(columns.values()))
    for part, draws in first_parts.items():
        texts = [format_range((result.scores[Condition.PROBE].total for result in draws), decimals=0)]
        for parts, condition in columns.values():
            figure = compute_figure(parts.get(part, ()), condition)
            texts.append("" if figure is None else format_figure(figure, intervals=True))
        rows.append(GridRow(part, "", tuple(map(GridCell, texts))))
    gaps = [division.compute_gap(parts, condition) for parts, condition in columns.values()]
    if any(gaps):
        rows.append(GridRow(GAP, GAP, (GridCell(""), *(GridCell(_format_gap(gap)) for gap in gaps))))
    return Grid((f"{task}, {column}", "test items", *columns), tuple(rows))


def _format_gap(gap: tuple[float, Interval] | None) -> str:
    if gap is None:
        return ""
    difference, interval = gap
    return f"{100 * difference:+.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def _name_column(record: Result, condition: Condition) -> str:
    if condition is Condition.PROBE:
        return record.encoder
    if condition is Condition.RANDOM_PROBES:
        return f"{record.encoder}, {CONTROLS[condition].name}"
    return name_control(record, condition)


def to_part_records(results: Results, items: division.ItemTables, column: str) -> list[dict[str, Any]]:
    """Return a record for each result, condition and part of the items, and one for each generalisation gap."""
    division.check_column(items.values(), column)
    records: list[dict[str, Any]] = []
    for result in (r for r in results.records if column in items[r.dataset_fingerprint].columns):
        parts = division.split_by_part([result], items, column)
        for condition in (condition for condition in USUAL_CONDITIONS if condition in result.scores):
            scores = {name: part_result.scores[condition] for name, (part_result,) in parts.items()}
            rows: list[tuple[Any, ...]] = [
                (name, s.total, s.accuracy, s.spread, s.interval, parts[name][0].majority) for name, s in scores.items()
            ]
            if gap := division.compute_gap(parts, condition):
                rows.append((GAP, None, gap[0], None, gap[1], None))
            records += [
                {
                    **identify_result(result),
                    "condition": condition.value,
                    "column": column,
                    "part": name,
                    "items": total,
                    "accuracy": accuracy,
                    "spread": spread,
                    "low": interval.low,
                    "high": interval.high,
                    "majority": majority,
                    "preset": result.preset.name,
                    "seed": result.seed,
                    "probe_vectors": result.probe_vectors,
                }
                for name, total, accuracy, spread, interval, majority in rows
            ]
    return records
