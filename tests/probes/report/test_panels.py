"""Where things stand in the small pictures of a page."""

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from thoroughness import examples

from sentprobe.probes.report.panels import (
    Dot,
    DotPanel,
    DotRow,
    Line,
    LinePanel,
    LinePoint,
    Scale,
    _apart,
    floor_of,
    legend_of,
    marks_of,
)

numbers = st.floats(-1e6, 1e6, allow_nan=False)
heights = st.lists(st.floats(0, 200), max_size=8).map(sorted)


@examples(60)
@given(ends=st.tuples(numbers, numbers), value=numbers, count=st.integers(2, 8))
def test_a_scale_stays_between_its_ends(
    ends: tuple[float, float], value: float, count: int
) -> None:
    assume(ends[1] - ends[0] > 1e-3)
    scale = Scale(low=ends[0], high=ends[1], start=40, end=340)
    assert (scale.at(ends[0]), scale.at(ends[1])) == (40, 340)
    assert 40 <= scale.at(value) <= 340
    ticks = scale.ticks(count)
    assert len(ticks) <= count + 1
    assert all(ends[0] - 1e-6 <= float(text) <= ends[1] + 1e-6 for _, text in ticks)


def test_a_logarithmic_scale() -> None:
    scale = Scale(low=1, high=100, start=0, end=10, logarithmic=True)
    assert scale.ticks() == [(0, "1"), (5, "10"), (10, "100")]
    few = Scale(low=2, high=9, start=0, end=10, logarithmic=True)
    assert [text for _, text in few.ticks(4)] == ["2", "4", "6", "8"]


def test_one_value_stands_in_the_middle() -> None:
    scale = Scale(low=6, high=6, start=0, end=10)
    assert scale.ticks() == [(5, "6")]


@examples(60)
@given(before=heights)
def test_names_are_moved_apart(before: list[float]) -> None:
    after = _apart(before, least=12)
    assert len(after) == len(before)
    assert all(b - a >= 12 - 1e-9 for a, b in pairwise(after))
    assert sum(after) == pytest.approx(sum(before))


@examples(40)
@given(values=st.lists(st.floats(0, 100), min_size=1))
def test_the_floor_is_a_round_number_below_all(values: list[float]) -> None:
    floor = floor_of(values)
    assert floor % 10 == 0
    assert 0 <= floor <= 90
    assert floor <= min(values) or floor == 90
    assert floor + 10 > min(values) or floor == 90


def dots(*names: str) -> DotPanel:
    dot = Dot(value=60, low=55, high=65)
    return DotPanel(title="t", rows=tuple(DotRow(n, (dot,), 50) for n in names), low=40)


def test_rows_are_below_each_other() -> None:
    middles = [middle for _, middle, _ in dots("a", "b", "c").heights()]
    assert middles == [15.5, 34.5, 53.5]
    assert max(middles) < dots("a", "b", "c").bottom


def test_a_long_name_keeps_its_end() -> None:
    (row,) = dots("st:" + "x" * 50 + "/minilm").rows
    assert len(row.label) == 21
    assert row.label.endswith("/minilm")


def test_up_to_four_lines_have_their_names_beside_them() -> None:
    assert legend_of(marks_of("abcd")) == ()
    assert legend_of(marks_of("abcde")) == tuple(zip("abcde", range(5), strict=True))


def test_names_stand_at_the_ends_of_their_lines() -> None:
    lines = tuple(
        Line(
            name=name,
            mark=0,
            points=tuple(LinePoint(x=x, y=y, low=y, high=y) for x, y in ((0, 50), (1, end))),
        )
        for name, end in (("low", 60), ("high", 90))
    )
    panel = LinePanel(title="t", across="layer", up="%", lines=lines, low=50, high=100, named=True)
    assert {line.name: height for line, height in panel.labels()} == {
        "high": panel.y.at(90),
        "low": panel.y.at(60),
    }
    assert [panel.shift(line) for line in lines] == [-1.2, 1.2]
