"""Tables and records of accuracy by a column of the test items, and of the generalisation gap."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sentprobe.probes.dataset import STRUCTURE
from sentprobe.probes.report import parts as division
from sentprobe.probes.report.draws import draws_of
from sentprobe.probes.report.figures import figure_of
from sentprobe.probes.report.sanity import NAMES, shared_by
from sentprobe.probes.report.tables import CellStyle, settings, show_score, titles
from sentprobe.probes.report.view import ShownTable
from sentprobe.probes.runs.item_table import ItemTable, has_held_out
from sentprobe.probes.runs.results import USUAL, Condition, Result, Results
from sentprobe.table_writers import Grid, GridCell, GridRow

GAP = "gap"
"""The row of the generalisation gap."""

SHOWN = (Condition.PROBE, Condition.BAG_OF_WORDS)
"""The conditions that have columns; with all rows, the other sanity runs have some, too."""

ASKED = {
    "voice": "of the clause that is asked about",
    "clause": "in which clause the verb that is asked about is",
    "distance": "how many words stand between the noun and the verb that are asked about",
    "attractors": (
        "how many nouns stand between them that differ in number from the noun asked about"
    ),
    "tense": "of the clause that is asked about",
    "aspect": "of the clause that is asked about",
    "polarity": "of the clause that is asked about",
    "template": "the structure of the sentence, as gen templates names it",
    "length": "the number of tokens of the sentence",
    "label": "the answer that is right",
    STRUCTURE: "whether training had sentences like these",
}
"""What a column says, where it is ours."""


def by_fingerprint(items: Iterable[ItemTable]) -> division.ItemsOf:
    """Return test items by their dataset."""
    return {each.fingerprint: each for each in items}


def part_sections(
    results: Results, items: division.ItemsOf, column: str, style: CellStyle
) -> Iterator[ShownTable]:
    """Yield a table for each task, setting by setting, with what stands above it and below.

    A task whose items have no such column has no table, and a line says so.

    Raises:
        UsageError: see :func:`check_column`.
    """
    division.check_column(items.values(), column)
    tables = settings(results)
    for title, each in zip(titles(tables), tables, strict=True):
        grids = [_grid(task, each, items, column, style) for task in each.tasks]
        found = [grid for grid in grids if grid is not None]
        without = [t for t, grid in zip(each.tasks, grids, strict=True) if grid is None]
        for number, grid in enumerate(found, 1):
            last = number == len(found)
            notes = "".join(f"{line}\n" for line in _notes(column, without)) if last else ""
            yield title if number == 1 else "", grid, notes


def structure_sections(
    results: Results, items: division.ItemsOf, style: CellStyle
) -> Iterator[ShownTable]:
    """Yield tables of what was trained and what was held out, where something was."""
    found = (r for r in results.records if has_held_out(r) and r.dataset_fingerprint in items)
    held_out = Results(tuple(found))
    if held_out.records:
        yield from part_sections(held_out, items, STRUCTURE, style)


def _notes(column: str, without: Sequence[str]) -> Iterator[str]:
    what = ASKED.get(column, "a column of the items")
    yield f"By {column}: {what}. Accuracy in %, with its 95% interval, on the test items of each."
    if column == STRUCTURE:
        yield (
            "The gap is the accuracy on items like those of training less that on items whose "
            "structure was held out, in points."
        )
    if without:
        yield f"Without this column: {', '.join(without)}."


def _grid(
    task: str, results: Results, items: division.ItemsOf, column: str, style: CellStyle
) -> Grid | None:
    here = [each for each in results.records if each.task == task]
    if any(column not in items[each.dataset_fingerprint].columns for each in here):
        return None
    columns = dict(_columns(results, here, items, column, style))
    first = next(iter(columns.values()))
    header = (f"{task}, {column}", "test items", *columns)
    cells = [_cells(name, first, [*columns.values()]) for name in first.parts]
    rows = [GridRow(name, "", cell) for name, cell in zip(first.parts, cells, strict=True)]
    gaps = [each.gap for each in columns.values()]
    if any(gaps):
        shown = ("", *("" if gap is None else _show_gap(gap) for gap in gaps))
        rows.append(GridRow(GAP, GAP, tuple(map(GridCell, shown))))
    return Grid(header, tuple(rows))


class _Column:
    """An encoder, or a sanity run, on each part of the items, in each draw."""

    def __init__(self, parts: Mapping[str, Sequence[Result]], condition: Condition) -> None:
        self.parts = parts
        self.condition = condition
        self.gap = division.gap_of(parts, condition)

    def text(self, part: str) -> str:
        """Return the accuracy on a part with its interval."""
        figure = figure_of(self.parts.get(part, ()), self.condition)
        return "" if figure is None else show_score(figure, intervals=True)

    def count(self, part: str) -> str:
        """Return the number of items of a part; of several draws, the least and the most."""
        totals = [each.scores[Condition.PROBE].total for each in self.parts[part]]
        return " to ".join(map(str, dict.fromkeys((min(totals), max(totals)))))


def _columns(
    results: Results, here: Sequence[Result], items: division.ItemsOf, column: str, style: CellStyle
) -> Iterator[tuple[str, _Column]]:
    """Yield what stands below each name: encoders first, then what encoders of a width share."""
    for condition in USUAL if style.all_rows else SHOWN:
        seen: set[str] = set()
        for record in here:
            name = _name(record, condition)
            if condition in record.scores and name not in seen:
                seen.add(name)
                draws = draws_of(results, record)
                yield name, _Column(division.parts_of_draws(draws, items, column), condition)


def _name(record: Result, condition: Condition) -> str:
    if condition is Condition.PROBE:
        return record.encoder
    if condition is Condition.RANDOM_PROBES:
        return f"{record.encoder}, {NAMES[condition]}"
    return ", ".join([NAMES[condition], *shared_by(record, condition)])


def _cells(part: str, first: _Column, columns: Sequence[_Column]) -> tuple[GridCell, ...]:
    return tuple(map(GridCell, (first.count(part), *(each.text(part) for each in columns))))


def _show_gap(gap: division.GeneralizationGap) -> str:
    low, high = 100 * gap.interval.low, 100 * gap.interval.high
    return f"{100 * gap.difference:+.1f} [{low:.1f}, {high:.1f}]"


def part_records(results: Results, items: division.ItemsOf, column: str) -> list[dict[str, Any]]:
    """Return a flat dictionary for each result, condition and part, all with the same keys.

    Of a structure that is held out there is one more, whose part is ``gap``: its accuracy is the
    difference, and it has no items.

    Raises:
        UsageError: see :func:`check_column`.
    """
    division.check_column(items.values(), column)
    with_it = (r for r in results.records if column in items[r.dataset_fingerprint].columns)
    return [record for each in with_it for record in _records(each, items, column)]


def _records(result: Result, items: division.ItemsOf, column: str) -> Iterator[dict[str, Any]]:
    parts = division.parts_of_draws([result], items, column)
    for condition in [each for each in USUAL if each in result.scores]:
        for name, (each,) in parts.items():
            score = each.scores[condition]
            row = {"part": name, "items": score.total, "accuracy": score.accuracy}
            row |= {"spread": score.spread, "low": score.interval.low, "high": score.interval.high}
            yield _record(result, condition, column, row | {"majority": each.majority})
        gap = division.gap_of(parts, condition)
        if gap is not None:
            row = {"part": GAP, "items": None, "accuracy": gap.difference, "spread": None}
            row |= {"low": gap.interval.low, "high": gap.interval.high, "majority": None}
            yield _record(result, condition, column, row)


def _record(
    result: Result, condition: Condition, column: str, row: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "run": result.source,
        "encoder": result.encoder,
        "task": result.task,
        "condition": condition.value,
        "column": column,
        **row,
        "preset": result.preset.name,
        "seed": result.seed,
        "probe_vectors": result.probe_vectors,
    }
