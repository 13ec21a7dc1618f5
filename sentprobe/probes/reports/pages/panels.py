"""Panels: the small plots that form a picture, with positions in SVG units (rendered by ``panels.html.j2``)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import ClassVar, TypeAlias

from sentprobe.common.screen import shorten
from sentprobe.probes.statistics import Interval

WIDTH = 350
LABEL_WIDTH = 140
ROW_HEIGHT = 19
DOT_DISTANCE = 6
LINE_PANEL_HEIGHT = 205
LETTER = 6.2
"""The average width of a letter in SVG units."""
ACCURACY = "accuracy (%)"
MAX_NAMED_LINES = 4
"""The maximum number of lines that have their names beside them. More lines are named in a legend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A linear or logarithmic mapping of values (*low* to *high*) to positions (*start* to *end*) in SVG units."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def locate(self, value: float) -> float:
        """Return the position of a value; a value outside of the scale is moved to the nearest end."""
        inside = min(max(value, self.low), self.high)  # 0 has no logarithm
        low, high, position = self.low, self.high, inside
        if self.logarithmic:
            low, high, position = map(log10, (low, high, position))
        share = (position - low) / (high - low) if high > low else 0.5  # a single value is in the middle
        return round(self.start + share * (self.end - self.start), 1)

    def compute_ticks(self, count: int = 5) -> list[tuple[float, str]]:
        """Return about *count* round numbers as axis labels: (position, text)."""
        values: Sequence[float] = ()
        if self.logarithmic:
            values = [10.0**power for power in range(ceil(log10(self.low)), floor(log10(self.high)) + 1)]
        if len(values) < 2:
            values = _find_round_numbers(self.low, self.high, count)
        return [(self.locate(value), f"{value:.10g}") for value in values]


def _find_round_numbers(low: float, high: float, count: int) -> tuple[float, ...]:
    """Return about *count* evenly spaced round numbers from *low* to *high*.

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
    """A dot in a panel: a figure in percent with the ends of its interval."""

    value: float
    low: float
    high: float
    name: str = ""
    mark: int = 0
    hollow: bool = False

    @property
    def tooltip(self) -> str:
        return f"{self.name and f'{self.name}: '}{self.value:.1f} ({self.low:.1f} to {self.high:.1f})"


def to_percent(share: float, interval: Interval) -> tuple[float, float, float]:
    """Return (accuracy, low end of its interval, high end) in percent."""
    return 100 * share, 100 * interval.low, 100 * interval.high


@dataclass(frozen=True, slots=True)
class DotRow:
    """A row of dots: accuracies of an encoder or, for audits, of a surface cue."""

    encoder: str
    dots: tuple[Dot, ...]
    reference: float
    """The accuracy of chance or of a control, in percent; drawn as a dotted line."""
    is_encoder: bool = True
    """Whether the page's filter for names of encoders may hide the row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DotPanel:
    """A panel with rows of dots and their intervals."""

    title: str
    rows: tuple[DotRow, ...]
    low: float
    label_width: float = LABEL_WIDTH
    kind: ClassVar = "dots"

    @property
    def width(self) -> float:
        return WIDTH - LABEL_WIDTH + self.label_width

    @property
    def height(self) -> float:
        return self.bottom + 20

    @property
    def x(self) -> Scale:
        """The scale of accuracies."""
        return Scale(low=self.low, high=100, start=self.label_width + 8, end=self.width - 12)

    @property
    def bottom(self) -> float:
        """The y-position of the axis."""
        return 6 + ROW_HEIGHT * len(self.rows)

    def shorten_label(self, row: DotRow) -> str:
        """Return the name of a row, shortened to fit into the space for names."""
        return shorten(row.encoder, limit=int((self.label_width - 8) / LETTER))

    def place_rows(self) -> Iterator[tuple[DotRow, float, list[tuple[Dot, float]]]]:
        """Yield (row, y-position of its middle, [(dot, y-position of the dot), ...])."""
        for place, row in enumerate(self.rows):
            middle = 6 + ROW_HEIGHT * (place + 0.5)
            first = middle - DOT_DISTANCE * (len(row.dots) - 1) / 2
            yield row, middle, [(dot, first + DOT_DISTANCE * n) for n, dot in enumerate(row.dots)]


@dataclass(frozen=True, slots=True)
class LinePoint:
    """A point of a line, with the ends of the interval of ``y``."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A named line of a panel; ``mark`` is an index (from 0) that determines the line's marker and colour."""

    name: str
    mark: int
    points: tuple[LinePoint, ...]

    @property
    def label(self) -> str:
        """The name, shortened to fit beside the line."""
        return shorten(self.name, limit=14)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePanel:
    """A panel with lines and the intervals of their points."""

    title: str
    x_label: str
    y_label: str = ACCURACY
    lines: tuple[Line, ...]
    low: float
    high: float = 100
    named: bool
    references: tuple[float, ...] = ()
    tick_names: tuple[tuple[float, str], ...] = ()
    """The labels of the x-axis as (value, text); if empty, round numbers are labelled."""
    logarithmic: bool = False
    kind: ClassVar = "lines"
    width: ClassVar = WIDTH
    height: ClassVar = LINE_PANEL_HEIGHT

    @property
    def x(self) -> Scale:
        values = [point.x for line in self.lines for point in line.points]
        return Scale(low=min(values), high=max(values), start=54, end=WIDTH - self.margin)

    @property
    def margin(self) -> float:
        """The width of the space to the right of the lines."""
        return 120 if self.named else 26

    @property
    def y(self) -> Scale:
        return Scale(low=self.low, high=self.high, start=LINE_PANEL_HEIGHT - 40, end=10, logarithmic=self.logarithmic)

    def compute_x_ticks(self) -> list[tuple[float, str]]:
        """Return the labels of the x-axis as (position, text)."""
        if self.tick_names:
            return _drop_touching((self.x.locate(x), text) for x, text in self.tick_names)
        return self.x.compute_ticks()

    def compute_shift(self, line: Line) -> float:
        """Return the x-shift of a line's interval bars (negative: left), which keeps bars of different lines apart."""
        return round(2.4 * (self.lines.index(line) - (len(self.lines) - 1) / 2), 1)

    def place_labels(self) -> Iterator[tuple[Line, float]]:
        """Return each line with the y-position of its name: near the end of the line, without overlaps."""
        ends = sorted(((self.y.locate(line.points[-1].y), line) for line in self.lines), key=lambda end: end[0])
        heights = _spread_heights([height for height, _ in ends], least=12)
        return zip((line for _, line in ends), heights, strict=True)


def _drop_touching(ticks: Iterable[tuple[float, str]]) -> list[tuple[float, str]]:
    """Leave out labels that would touch the next label to the right.

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
    """Move sorted heights apart, so that neighbours are at least *least* apart; their mean does not change.

    >>> _spread_heights([10, 12, 50], least=12)
    [5.0, 17.0, 50.0]
    """
    from scipy.optimize import isotonic_regression

    # Without these shifts, "at least *least* apart" is "not decreasing": isotonic regression moves heights the least.
    shifts = [least * n for n in range(len(heights))]
    shifted = isotonic_regression([height - shift for height, shift in zip(heights, shifts, strict=True)]).x
    return [float(height) + shift for height, shift in zip(shifted, shifts, strict=True)]


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A cell of a heat map."""

    text: str
    fill: str
    ink: str = ""
    """The colour of the text; if empty, the text colour of the page."""
    bold: bool = False
    tooltip: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatPanel:
    """A heat map: a panel of coloured cells with figures, and a colour bar."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[HeatCell, ...], ...]
    colours: tuple[tuple[str, str], ...]
    """The colour bar from top to bottom, as (label, colour); a label may be empty."""
    kind: ClassVar = "cells"
    cell_width: ClassVar = 54
    cell_height: ClassVar = 28

    @property
    def left(self) -> float:
        """The x-position of the left edge of the cells; the names of the rows stand to the left."""
        row_width = max(map(len, self.rows)) * LETTER
        # The names of columns are turned by 40 degrees, with cosine 0.77 and sine 0.64.
        slanted = [0.77 * LETTER * len(name) - self.cell_width * (n + 0.5) for n, name in enumerate(self.columns)]
        return round(12 + max(row_width, *slanted), 1)

    @property
    def right(self) -> float:
        """The x-position of the right edge of the cells."""
        return self.left + self.cell_width * len(self.columns)

    @property
    def bottom(self) -> float:
        """The y-position of the lower edge of the cells."""
        return float(self.cell_height * len(self.rows))

    @property
    def width(self) -> float:
        """The width of the panel, including the colour bar."""
        return self.right + 70

    @property
    def height(self) -> float:
        """The height of the panel, including the slanted names of columns below the cells."""
        return round(self.bottom + 24 + 0.64 * LETTER * max(map(len, self.columns)), 1)


Panel: TypeAlias = DotPanel | LinePanel | HeatPanel


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPicture:
    """A plot: panels with a common title, caption and legend."""

    title: str
    caption: str
    panels: tuple[Panel, ...] = ()
    legend: tuple[tuple[str, int], ...] = ()
    """Each name with the number of its shape and colour."""
    of_encoders: bool = True
    """Whether the page's filter for names of encoders may hide entries of the legend."""
    missing: str = ""


def number_marks(names: Iterable[str]) -> dict[str, int]:
    """Return, for each distinct name, the number (from 0) of its shape and colour."""
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def build_legend(marks: dict[str, int]) -> tuple[tuple[str, int], ...]:
    """Return the legend of lines, or () if the lines are few enough to have their names beside them."""
    return () if len(marks) <= MAX_NAMED_LINES else tuple(marks.items())


def compute_floor(values: Iterable[float]) -> float:
    """Return the start of a percent axis: the largest multiple of 10, at most 90, that is not above any value."""
    return max(0, min(90, 10 * floor(min(values) / 10)))
