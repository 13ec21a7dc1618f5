"""Panels: small pictures of one kind, with the places of their parts in units of SVG, for ``panels.html.j2``."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import ClassVar, TypeAlias

from sentprobe.probes.statistics import Interval
from sentprobe.progress import shorten

WIDTH = 350
LABEL_WIDTH = 140
ROW_HEIGHT = 19
DOT_DISTANCE = 6
LINE_PANEL_HEIGHT = 205
LETTER = 6.2
ACCURACY = "accuracy (%)"
MAX_NAMED_LINES = 4
"""Number of lines that have their names beside them; more lines have a legend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Map from values to places."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def locate(self, value: float) -> float:
        """Return the place of a value, clipped to the ends."""
        low, high, position = map(self._measure, (self.low, self.high, value))
        share = (position - low) / (high - low) if high > low else 0.5
        return round(self.start + min(1.0, max(0.0, share)) * (self.end - self.start), 1)

    def _measure(self, value: float) -> float:
        return log10(value) if self.logarithmic else value

    def compute_ticks(self, count: int = 5) -> list[tuple[float, str]]:
        """Return places and texts of at most about *count* round numbers."""
        values: Sequence[float] = ()
        if self.logarithmic:
            values = [10.0**power for power in range(ceil(log10(self.low)), floor(log10(self.high)) + 1)]
        if len(values) < 2:
            values = _find_round_numbers(self.low, self.high, count)
        return [(self.locate(value), f"{value:.10g}") for value in values]


def _find_round_numbers(low: float, high: float, count: int) -> tuple[float, ...]:
    """Return multiples of a round number in a range, at most about *count*.

    >>> _find_round_numbers(40, 100, 4)
    (40.0, 60.0, 80.0, 100.0)
    """
    if high <= low:
        return (low,)
    unit = 10.0 ** floor(log10((high - low) / count))
    step = next(s * unit for s in (1, 2, 5, 10) if (high - low) / (s * unit) <= count)
    return tuple(step * n for n in range(ceil(low / step), floor(high / step) + 1))


@dataclass(frozen=True, slots=True)
class Dot:
    """A figure in percent with the ends of its interval."""

    value: float
    low: float
    high: float
    name: str = ""
    mark: int = 0
    hollow: bool = False

    @property
    def tooltip(self) -> str:
        """Text shown when the pointer is over the dot."""
        return f"{self.name and f'{self.name}: '}{self.value:.1f} ({self.low:.1f} to {self.high:.1f})"


def to_percent(share: float, interval: Interval) -> tuple[float, float, float]:
    """Return an accuracy and the ends of its interval in percent."""
    return 100 * share, 100 * interval.low, 100 * interval.high


@dataclass(frozen=True, slots=True)
class DotRow:
    """The dots of one encoder, or of a figure shown beside encoders."""

    encoder: str
    dots: tuple[Dot, ...]
    reference: float
    is_encoder: bool = True
    """Whether the row is an encoder; other rows stay when encoders are filtered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DotPanel:
    """A row for each encoder: a dot from the left end of its interval to the right one."""

    title: str
    rows: tuple[DotRow, ...]
    low: float
    label_width: float = LABEL_WIDTH
    kind: ClassVar = "dots"

    @property
    def width(self) -> float:
        """Width of the panel."""
        return WIDTH - LABEL_WIDTH + self.label_width

    @property
    def height(self) -> float:
        """Height of the panel."""
        return self.bottom + 20

    @property
    def x(self) -> Scale:
        """Scale of accuracies."""
        return Scale(low=self.low, high=100, start=self.label_width + 8, end=self.width - 12)

    @property
    def bottom(self) -> float:
        """Height of the axis."""
        return 6 + ROW_HEIGHT * len(self.rows)

    def shorten_label(self, row: DotRow) -> str:
        """Return the part of a row's name that fits."""
        return shorten(row.encoder, limit=int((self.label_width - 8) / LETTER))

    def place_rows(self) -> Iterator[tuple[DotRow, float, list[tuple[Dot, float]]]]:
        """Yield the rows with the height of their middle and of each of their dots."""
        for place, row in enumerate(self.rows):
            middle = 6 + ROW_HEIGHT * (place + 0.5)
            first = middle - DOT_DISTANCE * (len(row.dots) - 1) / 2
            yield row, middle, [(dot, first + DOT_DISTANCE * n) for n, dot in enumerate(row.dots)]


@dataclass(frozen=True, slots=True)
class LinePoint:
    """A point of a line, with the ends of its interval."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A named line of a plot: its points, and the number of its marker and colour."""

    name: str
    mark: int
    points: tuple[LinePoint, ...]

    @property
    def label(self) -> str:
        """The part of the name that fits beside the line."""
        return shorten(self.name, limit=14)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePanel:
    """Lines with their intervals over an axis."""

    title: str
    x_label: str
    y_label: str = ACCURACY
    lines: tuple[Line, ...]
    low: float
    high: float = 100
    named: bool
    references: tuple[float, ...] = ()
    tick_names: tuple[tuple[float, str], ...] = ()
    """Values of the x axis and their names; empty: numbers."""
    logarithmic: bool = False
    kind: ClassVar = "lines"
    width: ClassVar = WIDTH
    height: ClassVar = LINE_PANEL_HEIGHT

    @property
    def x(self) -> Scale:
        """Scale of the x axis."""
        values = [point.x for line in self.lines for point in line.points]
        return Scale(low=min(values), high=max(values), start=54, end=WIDTH - self.margin)

    @property
    def margin(self) -> float:
        """Room at the right."""
        return 120 if self.named else 26

    @property
    def y(self) -> Scale:
        """Scale of the y axis."""
        return Scale(low=self.low, high=self.high, start=LINE_PANEL_HEIGHT - 40, end=10, logarithmic=self.logarithmic)

    def compute_x_ticks(self) -> list[tuple[float, str]]:
        """Return places and texts below the axis."""
        if self.tick_names:
            return _drop_touching((self.x.locate(x), text) for x, text in self.tick_names)
        return self.x.compute_ticks()

    def compute_shift(self, line: Line) -> float:
        """Return the shift of a line's intervals that keeps them apart."""
        return round(2.4 * (self.lines.index(line) - (len(self.lines) - 1) / 2), 1)

    def place_labels(self) -> Iterator[tuple[Line, float]]:
        """Yield the lines with the heights of their names: at their ends, without overlaps."""
        ends = sorted(((self.y.locate(line.points[-1].y), line) for line in self.lines), key=lambda end: end[0])
        heights = _spread_heights([height for height, _ in ends], least=12)
        yield from ((line, height) for (_, line), height in zip(ends, heights, strict=True))


def _drop_touching(ticks: Iterable[tuple[float, str]]) -> list[tuple[float, str]]:
    """Leave out texts that would touch the next text; the last stays.

    >>> _drop_touching([(50, "256"), (60, "300"), (90, "400")])
    [(60, '300'), (90, '400')]
    """
    visible_ticks: list[tuple[float, str]] = []
    free = float("inf")
    for place, text in sorted(ticks, reverse=True):
        half = LETTER * len(text) / 2
        if place + half <= free:
            visible_ticks.append((place, text))
            free = place - half - LETTER
    return visible_ticks[::-1]


def _spread_heights(heights: Sequence[float], *, least: float) -> list[float]:
    """Move heights, in order, until no two are nearer than *least*; their mean stays.

    >>> _spread_heights([10, 12, 50], least=12)
    [5.0, 17.0, 50.0]
    """
    from scipy.optimize import isotonic_regression

    shifts = [least * n for n in range(len(heights))]
    shifted = isotonic_regression([height - shift for height, shift in zip(heights, shifts, strict=True)]).x
    return [float(height) + shift for height, shift in zip(shifted, shifts, strict=True)]


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A cell of a heat map."""

    text: str
    fill: str
    ink: str = ""
    """The colour of the text; empty: that of the page."""
    bold: bool = False
    tooltip: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatPanel:
    """Coloured cells with figures: a row and a column for each name."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[HeatCell, ...], ...]
    colours: tuple[tuple[str, str], ...]
    """The parts of the colour bar from the top: a text beside it, or none, and a colour."""
    kind: ClassVar = "cells"
    cell_width: ClassVar = 54
    cell_height: ClassVar = 28

    @property
    def left(self) -> float:
        """Left end of the cells, right of the names of rows."""
        row_width = max(map(len, self.rows)) * LETTER
        slanted = [0.77 * LETTER * len(name) - self.cell_width * (n + 0.5) for n, name in enumerate(self.columns)]
        return round(12 + max(row_width, *slanted), 1)

    @property
    def right(self) -> float:
        """Right end of the cells."""
        return self.left + self.cell_width * len(self.columns)

    @property
    def bottom(self) -> float:
        """Lower end of the cells."""
        return float(self.cell_height * len(self.rows))

    @property
    def width(self) -> float:
        """Width of the panel, with the colour bar beside the cells."""
        return self.right + 70

    @property
    def height(self) -> float:
        """Height of the panel, with the slanted names of columns below the cells."""
        return round(self.bottom + 24 + 0.64 * LETTER * max(map(len, self.columns)), 1)


Panel: TypeAlias = DotPanel | LinePanel | HeatPanel


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPicture:
    """Panels with one title and one legend; or the reason why no panel can be drawn."""

    title: str
    caption: str
    panels: tuple[Panel, ...] = ()
    legend: tuple[tuple[str, int], ...] = ()
    """Names, and the number of the shape and colour of each."""
    of_encoders: bool = True
    """Whether the legend names encoders; other names stay when encoders are filtered."""
    missing: str = ""


def number_marks(names: Iterable[str]) -> dict[str, int]:
    """Return the number of the shape and colour of each name."""
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def build_legend(marks: dict[str, int]) -> tuple[tuple[str, int], ...]:
    """Return the legend of lines, if they are too many to have names beside them."""
    if len(marks) <= MAX_NAMED_LINES:
        return ()
    return tuple((name, mark) for name, mark in marks.items())


def compute_floor(values: Iterable[float]) -> float:
    """Return the multiple of 10 at or below all values in percent, at most 90.

    >>> compute_floor([58.3, 47.1]), compute_floor([99.5])
    (40, 90)
    """
    return max(0, min(90, 10 * floor(min(values) / 10)))
