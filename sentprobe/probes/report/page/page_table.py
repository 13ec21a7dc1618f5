"""The main table of the page: cells with shades, groups and tooltips."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sentprobe.display.table_writers import Grid, GridCell, GridRow
from sentprobe.errors import escape_control_characters, format_count
from sentprobe.probes.report.findings.table_findings import Standing, Standings
from sentprobe.probes.results.result import Results
from sentprobe.probes.statistics import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCell:
    """A figure on the page."""

    text: str
    best: bool = False
    value: float | None = None
    """The sort key; None for text without a number."""
    shade: float | None = None
    """The margin over its control, from 0 to 1; None without a control."""
    group: int | None = None
    """Its group in its column; None if the column has one group."""
    interval: str = ""
    tooltip_lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A row of an encoder, a control or a paper."""

    label: str
    of: str = ""
    """The heading that is shown before the label when rows are sorted."""
    name: str
    heading: bool = False
    cells: tuple[PageCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """The table in parts that are sorted separately."""

    header: tuple[str, ...]
    parts: tuple[tuple[PageRow, ...], ...]
    controls: tuple[str, ...] = ()


def build_page_table(grid: Grid, standings: Standings, *, intervals: bool) -> PageTable:
    """Return the table of a grid, whose texts may contain *intervals*, with the standings of its encoders."""
    tasks = grid.header[1:]
    parts = (rows for _, rows in groupby(grid.rows, key=lambda row: row.section))
    return PageTable(
        header=tuple(map(escape_control_characters, grid.header)),
        parts=tuple(tuple(_build_rows(list(part), tasks, standings, intervals=intervals)) for part in parts),
        controls=tuple(_describe_controls(task, standings) for task in tasks),
    )


def _build_rows(
    rows: Sequence[GridRow], tasks: Sequence[str], standings: Standings, *, intervals: bool
) -> Iterator[PageRow]:
    heading = ""
    for row in rows:
        is_layer = row.label.startswith(" ")  # a layer, below its model
        heading = row.label if row.heading else heading if is_layer else ""
        cells = (
            _build_cell(cell, standings.get((row.encoder, task)), (row.encoder, task), intervals=intervals)
            for cell, task in zip(row.cells, tasks, strict=True)
        )
        yield PageRow(
            label=escape_control_characters(row.label.strip()),
            of=escape_control_characters(heading) if is_layer else "",
            name=escape_control_characters(row.encoder or row.label),
            heading=row.heading,
            cells=tuple(cells),
        )


def _build_cell(cell: GridCell, standing: Standing | None, names: tuple[str, str], *, intervals: bool) -> PageCell:
    if standing is None or not cell.text:
        return PageCell(text=cell.text, best=cell.best, value=_parse_number(cell.text))
    return PageCell(
        text=cell.text,
        best=cell.best,
        value=round(100 * standing.figure.accuracy, 6),
        shade=round(standing.shade, 3),
        group=standing.group if standing.groups > 1 else None,
        interval="" if intervals else format_interval(standing.figure.interval),
        tooltip_lines=tuple(_describe_standing(standing, escape_control_characters(" on ".join(names)))),
    )


def _parse_number(text: str) -> float | None:
    try:
        return float(text.split(maxsplit=1)[0])
    except (IndexError, ValueError):
        return None


def format_interval(interval: Interval) -> str:
    """Return an interval in percent.

    >>> format_interval(Interval(0.47, 0.53))
    '47.0 to 53.0'
    """
    return f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"


def _describe_standing(standing: Standing, heading: str) -> Iterator[str]:
    yield heading
    yield f"95% interval {format_interval(standing.figure.interval)}"
    points = f"{abs(100 * standing.margin):.1f}"
    direction = "below" if standing.margin < 0 and points != "0.0" else "above"
    yield f"{points} points {direction} its control ({standing.control_name})"
    if standing.groups > 1:
        tied = ": not significantly worse than the best" if standing.group == 1 else ""
        yield f"group {standing.group} of {standing.groups}{tied}"


def _describe_controls(task: str, standings: Standings) -> str:
    task_standings = [standing for (_, standing_task), standing in standings.items() if standing_task == task]
    bag_standings = [standing for standing in task_standings if standing.is_bag_of_words]
    shares = sorted(100 * standing.control for standing in bag_standings or task_standings)
    if not shares:
        return ""
    ends = dict.fromkeys(f"{share:.1f}" for share in (shares[0], shares[-1]))
    return f"{'words' if bag_standings else 'chance'} {' to '.join(ends)}"


def describe_size(results: Results) -> str:
    """Return the number of encoders and tasks of a table."""
    return f"{format_count(len(results.encoders), 'encoder')} on {format_count(len(results.tasks), 'task')}"
