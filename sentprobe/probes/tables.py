"""Results as a table in the layout of Ettinger et al. 2018, table 2: encoders by tasks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rich.table import Table
from rich.text import Text

from sentprobe.probes.results import Condition, Result, Results


class TableFormat(StrEnum):
    """How a table is written as text."""

    PLAIN = "plain"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure, and whether it is the best of its column."""

    text: str
    best: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table, of one encoder under one condition."""

    label: str
    condition: Condition
    cells: tuple[Cell, ...]


LABELS = (
    (Condition.PROBE, "{}"),
    (Condition.RANDOM_SENTENCES, "{}, random sentences"),
    (Condition.RANDOM_PROBES, "{}, random probes"),
)
"""The blocks of rows, in order, and what a row in each is called."""


def rows(results: Results) -> tuple[Row, ...]:
    """Lay the results out: a row per encoder, then the sanity runs; accuracy in percent.

    The best in each column is marked among the encoders, not among the sanity runs; figures that
    are equal as shown are all best.
    """
    blocks = [
        Row(label.format(encoder), condition, _cells(results, encoder, condition))
        for condition, label in LABELS
        for encoder in results.encoders
    ]
    return tuple(row for row in blocks if any(cell.text for cell in row.cells))


def table(results: Results) -> Table:
    """Return the table for a terminal, the best of each column in bold."""
    drawn = Table()
    drawn.add_column("encoder", overflow="fold")
    for task in results.tasks:
        drawn.add_column(task, justify="right")
    laid_out = rows(results)
    for row, following in zip(laid_out, (*laid_out[1:], None), strict=True):
        cells = (Text(cell.text, style="bold" if cell.best else "") for cell in row.cells)
        ends = following is not None and following.condition is not row.condition
        drawn.add_row(Text(row.label), *cells, end_section=ends)
    return drawn


def render(results: Results, *, style: TableFormat) -> str:
    """Return the table as text, in plain columns or as Markdown (the best in bold)."""
    return RENDERERS[style](("encoder", *results.tasks), rows(results))


def _cells(results: Results, encoder: str, condition: Condition) -> tuple[Cell, ...]:
    return tuple(
        Cell(
            text, best=condition is Condition.PROBE and bool(text) and text == _best(results, task)
        )
        for task in results.tasks
        for text in [_percent(results.find(encoder, task), condition)]
    )


def _best(results: Results, task: str) -> str:
    accuracies = [record.accuracy for record in results.records if record.task == task]
    return _format(max(accuracies))


def _percent(result: Result | None, condition: Condition) -> str:
    score = result.scores.get(condition) if result else None
    return _format(score.accuracy) if score else ""


def _format(accuracy: float) -> str:
    return f"{100 * accuracy:.1f}"


def _plain(header: Sequence[str], body: Sequence[Row]) -> str:
    lines = [list(header)] + [[row.label, *(cell.text for cell in row.cells)] for row in body]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(
            text.rjust(width) if place else text.ljust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip() + "\n"
        for line in lines
    )  # fmt: skip


def _markdown(header: Sequence[str], body: Sequence[Row]) -> str:
    rule = ["---", *("---:" for _ in header[1:])]
    lines = [
        [
            _escape(row.label),
            *(f"**{cell.text}**" if cell.best else cell.text for cell in row.cells),
        ]
        for row in body
    ]
    return "".join(
        f"| {' | '.join(line)} |\n" for line in ([_escape(text) for text in header], rule, *lines)
    )


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


RENDERERS: dict[TableFormat, Callable[[Sequence[str], Sequence[Row]], str]] = {
    TableFormat.PLAIN: _plain,
    TableFormat.MARKDOWN: _markdown,
}
"""A writer per format."""
