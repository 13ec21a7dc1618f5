"""The table of a page: its cells with what shades them, and what they say when they are asked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sentprobe.errors import visible
from sentprobe.probes.report.figures import Figure
from sentprobe.probes.report.standings import Standing, Standings
from sentprobe.probes.runs.results import Results
from sentprobe.table_writers import Grid, GridCell, GridRow


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCell:
    """A figure as the page shows it."""

    text: str
    best: bool = False
    value: float | None = None
    """What it is sorted by; None: as a text that has no number."""
    shade: float | None = None
    """How far above its control, from 0 to 1; None where it has none."""
    group: int | None = None
    """Its group in its column; None where the column has but one."""
    interval: str = ""
    told: tuple[str, ...] = ()
    """The lines that it says when it is pointed at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A row: of an encoder, or of what is below these."""

    label: str
    of: str = ""
    """What stands before the label where the row is away from its heading."""
    name: str
    """The encoder's or, where it is of none, the label."""
    heading: bool = False
    cells: tuple[PageCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """The table in its parts, each sorted by itself."""

    header: tuple[str, ...]
    parts: tuple[tuple[PageRow, ...], ...]
    controls: tuple[str, ...] = ()
    """Of each column, what its figures are to be above."""


def page_table(grid: Grid, found: Standings, *, intervals: bool) -> PageTable:
    """Return the table of a grid whose encoders stand as *found*.

    - intervals: whether the grid's own texts have the intervals
    """
    tasks = grid.header[1:]
    parts = (rows for _, rows in groupby(grid.rows, key=lambda row: row.section))
    return PageTable(
        header=tuple(map(visible, grid.header)),
        parts=tuple(tuple(_rows(list(part), tasks, found, intervals)) for part in parts),
        controls=tuple(_controls(task, found) for task in tasks),
    )


def _rows(
    rows: Sequence[GridRow],
    tasks: Sequence[str],
    found: Standings,
    intervals: bool,  # noqa: FBT001
) -> Iterator[PageRow]:
    heading = ""
    for row in rows:
        below = row.label.startswith(" ")  # a layer, below its model
        heading = row.label if row.heading else heading if below else ""
        cells = (
            _cell(cell, found.get((row.whose, task)), (row.whose, task), intervals)
            for cell, task in zip(row.cells, tasks, strict=True)
        )
        yield PageRow(
            label=visible(row.label.strip()),
            of=visible(heading) if below else "",
            name=visible(row.whose or row.label),
            heading=row.heading,
            cells=tuple(cells),
        )


def _cell(
    cell: GridCell,
    standing: Standing | None,
    of: tuple[str, str],
    intervals: bool,  # noqa: FBT001
) -> PageCell:
    if standing is None or not cell.text:
        return PageCell(text=cell.text, best=cell.best, value=_number(cell.text))
    return PageCell(
        text=cell.text,
        best=cell.best,
        value=round(100 * standing.figure.accuracy, 6),
        shade=round(standing.shade, 3),
        group=standing.group if standing.groups > 1 else None,
        interval="" if intervals else show_interval(standing.figure),
        told=tuple(_told(standing, visible(" on ".join(of)))),
    )


def _number(text: str) -> float | None:
    try:
        return float(text.split(maxsplit=1)[0])
    except (IndexError, ValueError):
        return None


def show_interval(figure: Figure) -> str:
    """Write an interval in percent.

    >>> from sentprobe.probes.statistics import Interval
    >>> show_interval(Figure(accuracy=0.5, spread=None, interval=Interval(0.47, 0.53)))
    '47.0 to 53.0'
    """
    return f"{100 * figure.interval.low:.1f} to {100 * figure.interval.high:.1f}"


def _told(standing: Standing, what: str) -> Iterator[str]:
    yield what
    yield f"95% interval {show_interval(standing.figure)}"
    points = f"{abs(100 * standing.above):.1f}"
    side = "below" if standing.above < 0 and points != "0.0" else "above"
    yield f"{points} points {side} its control ({standing.control_name})"
    if standing.groups > 1:
        tied = ": not significantly worse than the best" if standing.group == 1 else ""
        yield f"group {standing.group} of {standing.groups}{tied}"


def _controls(task: str, found: Standings) -> str:
    """Name what counts as the control of a column, with the range of its accuracies."""
    here = [each for (_, other), each in found.items() if other == task]
    words = [each for each in here if each.by_words]
    shares = sorted(100 * each.control for each in words or here)
    if not shares:
        return ""
    ends = dict.fromkeys(f"{share:.1f}" for share in (shares[0], shares[-1]))
    return f"{'words' if words else 'chance'} {' to '.join(ends)}"


def lead(results: Results) -> str:
    """Say of how many encoders and tasks a table is."""
    return f"{_count(results.encoders, 'encoder')} on {_count(results.tasks, 'task')}"


def _count(names: Sequence[str], what: str) -> str:
    return f"{len(names)} {what}{'' if len(names) == 1 else 's'}"
