"""Panels: small pictures of one kind, and where everything in them stands, in units of SVG.

A page shows many beside each other, as wide as a telephone each. Texts, lines and dots are drawn by
the template ``panels.html.j2``, in the colours of the page.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import ClassVar

from sentprobe.errors import visible
from sentprobe.progress import shorten

WIDTH = 350
LABELS = 140
"""As wide are the names at the left of dots."""
ROW = 19
"""As high is a row of dots."""
APART = 6
"""Between two dots of a row."""
HEIGHT = 205
"""Of a panel of lines."""
LETTER = 6.2
"""As wide is a letter, on average."""
NAMED = 4
"""Up to so many lines have their names beside them; more have a legend."""
STEPS = (1, 2, 5, 10)
"""Ticks are so many units of a power of ten apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """From values to places."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """Return the place of a value; of one beyond an end, the end."""
        low, high, here = map(self._measure, (self.low, self.high, value))
        share = (here - low) / (high - low) if high > low else 0.5
        return round(self.start + min(1.0, max(0.0, share)) * (self.end - self.start), 1)

    def _measure(self, value: float) -> float:
        return log10(value) if self.logarithmic else value

    def ticks(self, count: int = 5) -> list[tuple[float, str]]:
        """Return places and texts of at most about so many round numbers."""
        values = _powers(self.low, self.high) if self.logarithmic else ()
        values = values or _round_numbers(self.low, self.high, count)
        return [(self.at(value), f"{value:.10g}") for value in values]


def _powers(low: float, high: float) -> tuple[float, ...]:
    """Return the powers of ten in a range, or nothing where they are fewer than two."""
    found = tuple(10.0**power for power in range(ceil(log10(low)), floor(log10(high)) + 1))
    return found if len(found) > 1 else ()


def _round_numbers(low: float, high: float, count: int) -> tuple[float, ...]:
    """Return multiples of a round number in a range, at most about *count*.

    >>> _round_numbers(40, 100, 4)
    (40.0, 60.0, 80.0, 100.0)
    """
    if high <= low:
        return (low,)
    unit = 10.0 ** floor(log10((high - low) / count))
    step = next(s * unit for s in STEPS if (high - low) / (s * unit) <= count)
    return tuple(step * n for n in range(ceil(low / step), floor(high / step) + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A figure in percent with the ends of its interval."""

    value: float
    low: float
    high: float
    name: str = ""
    """What it is one of, where a row has several."""
    mark: int = 0
    """Which of the shapes and colours it has."""
    hollow: bool = False

    @property
    def told(self) -> str:
        """What it says when it is pointed at."""
        return (
            f"{self.name and f'{self.name}: '}{self.value:.1f} ({self.low:.1f} to {self.high:.1f})"
        )


@dataclass(frozen=True, slots=True)
class DotRow:
    """The dots of one encoder, or of what is beside encoders."""

    encoder: str
    """Its name, as it may be shown."""
    dots: tuple[Dot, ...]
    reference: float
    """What they are to be right of."""
    is_encoder: bool = True
    """Whether it is one; else it stays when encoders are filtered."""

    @property
    def label(self) -> str:
        """As much of the name as there is room for."""
        return shorten(self.encoder, limit=21)


@dataclass(frozen=True, slots=True, kw_only=True)
class DotPanel:
    """A row for each encoder: a dot from the left end of its interval to the right one."""

    title: str
    rows: tuple[DotRow, ...]
    low: float
    """As far to the left as it goes, in percent."""
    kind: ClassVar = "dots"

    @property
    def x(self) -> Scale:
        """Where an accuracy stands."""
        return Scale(low=self.low, high=100, start=LABELS + 8, end=WIDTH - 12)

    @property
    def bottom(self) -> float:
        """The height at which the axis is."""
        return 6 + ROW * len(self.rows)

    def heights(self) -> Iterator[tuple[DotRow, float, list[tuple[Dot, float]]]]:
        """Yield the rows with the height of their middle and of each of their dots."""
        for place, row in enumerate(self.rows):
            middle = 6 + ROW * (place + 0.5)
            first = middle - APART * (len(row.dots) - 1) / 2
            yield row, middle, [(dot, first + APART * n) for n, dot in enumerate(row.dots)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePoint:
    """A point of a line, with the ends of its interval."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The points of one name."""

    name: str
    mark: int
    """Which of the shapes and colours it has: the same in all panels of a picture."""
    points: tuple[LinePoint, ...]

    @property
    def label(self) -> str:
        """As much of the name as there is room for."""
        return shorten(self.name, limit=14)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePanel:
    """Lines with their intervals, over what they are by."""

    title: str
    across: str
    """What they are by."""
    up: str
    """What they are of."""
    lines: tuple[Line, ...]
    low: float
    high: float
    named: bool
    """Whether the names stand beside the lines."""
    references: tuple[float, ...] = ()
    places: tuple[tuple[float, str], ...] = ()
    """Where there are names below the axis, and which; without any, there are numbers."""
    logarithmic: bool = False
    kind: ClassVar = "lines"

    @property
    def x(self) -> Scale:
        """Where what they are by stands."""
        found = [point.x for line in self.lines for point in line.points]
        return Scale(low=min(found), high=max(found), start=54, end=WIDTH - self.margin)

    @property
    def margin(self) -> float:
        """The room at the right."""
        return 120 if self.named else 26

    @property
    def y(self) -> Scale:
        """Where a value stands."""
        return Scale(
            low=self.low, high=self.high, start=HEIGHT - 40, end=10, logarithmic=self.logarithmic
        )

    def x_ticks(self) -> list[tuple[float, str]]:
        """Return places and texts below the axis."""
        if self.places:
            return _with_room((self.x.at(place), text) for place, text in self.places)
        return self.x.ticks()

    def shift(self, line: Line) -> float:
        """Return by how much a line's intervals are moved aside, so that all are seen."""
        return round(2.4 * (self.lines.index(line) - (len(self.lines) - 1) / 2), 1)

    def labels(self) -> Iterator[tuple[Line, float]]:
        """Yield the lines with the heights of their names: at their ends, and not on each other."""
        ends = sorted(((self.y.at(line.points[-1].y), line) for line in self.lines), key=_height)
        heights = _apart([height for height, _ in ends], least=12)
        yield from ((line, height) for (_, line), height in zip(ends, heights, strict=True))


def _with_room(ticks: Iterable[tuple[float, str]]) -> list[tuple[float, str]]:
    """Leave texts out that would touch the next one that stays; the last stays.

    >>> _with_room([(50, "256"), (60, "300"), (90, "400")])
    [(60, '300'), (90, '400')]
    """
    kept: list[tuple[float, str]] = []
    free = float("inf")
    for place, text in sorted(ticks, reverse=True):
        half = LETTER * len(text) / 2
        if place + half <= free:
            kept.append((place, text))
            free = place - half - LETTER
    return kept[::-1]


def _height(end: tuple[float, Line]) -> float:
    return end[0]


def _apart(heights: Sequence[float], *, least: float) -> list[float]:
    """Move heights, in order, so far that no two are nearer than that; as a whole they stay.

    >>> _apart([10, 12, 50], least=12)
    [5.0, 17.0, 50.0]
    """
    groups: list[list[float]] = []
    for height in heights:
        groups.append([height])
        while len(groups) > 1 and _top(groups[-1], least) < _end(groups[-2], least) + least:
            last = groups.pop()
            groups[-1] += last
    return [_top(group, least) + least * n for group in groups for n in range(len(group))]


def _top(group: Sequence[float], least: float) -> float:
    return sum(group) / len(group) - least * (len(group) - 1) / 2


def _end(group: Sequence[float], least: float) -> float:
    return _top(group, least) + least * (len(group) - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePicture:
    """Panels below one title, with one legend for all; or why there are none."""

    title: str
    caption: str
    panels: tuple[DotPanel | LinePanel, ...] = ()
    legend: tuple[tuple[str, int], ...] = ()
    """Names, and which of the shapes and colours each has."""
    of_encoders: bool = True
    """Whether these are names of encoders; else they stay when encoders are filtered."""
    missing: str = ""


def marks_of(names: Iterable[str]) -> dict[str, int]:
    """Return which of the shapes and colours each name has."""
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def legend_of(marks: dict[str, int]) -> tuple[tuple[str, int], ...]:
    """Return the legend of lines, where they are too many to have their names beside them."""
    if len(marks) <= NAMED:
        return ()
    return tuple((visible(name), mark) for name, mark in marks.items())


def floor_of(values: Iterable[float], *, step: float = 10) -> float:
    """Return the round number at or below all values in percent, at most 90.

    >>> floor_of([58.3, 47.1]), floor_of([99.5])
    (40, 90)
    """
    return max(0, min(100 - step, step * floor(min(values) / step)))
