"""Where things stand in the small pictures of a page."""

from itertools import pairwise

import pytest
from helpers.thoroughness import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from sentprobe.probes.reports.pages.panels import (
    Dot,
    DotPanel,
    DotRow,
    Line,
    LinePanel,
    LinePoint,
    Scale,
    _spread_heights,
    build_legend,
    compute_floor,
    number_marks,
)

numbers = st.floats(-1e6, 1e6, allow_nan=False)
heights = st.lists(st.floats(0, 200), max_size=8).map(sorted)


@examples(60)
@given(ends=st.tuples(numbers, numbers), value=numbers, count=st.integers(2, 8))
def test_scale_stays_between_its_ends(ends: tuple[float, float], value: float, count: int) -> None:
    assume(ends[1] - ends[0] > 1e-3)
    scale = Scale(low=ends[0], high=ends[1], start=40, end=340)
    assert (scale.locate(ends[0]), scale.locate(ends[1])) == (40, 340)
    assert 40 <= scale.locate(value) <= 340
    ticks = scale.compute_ticks(count)
    assert len(ticks) <= count + 1
    assert all(ends[0] - 1e-6 <= float(text) <= ends[1] + 1e-6 for _, text in ticks)


def test_logarithmic_scale() -> None:
    scale = Scale(low=1, high=100, start=0, end=10, logarithmic=True)
    assert scale.compute_ticks() == [(0, "1"), (5, "10"), (10, "100")]
    assert (scale.locate(0), scale.locate(-3), scale.locate(1000)) == (0, 0, 10)
    few = Scale(low=2, high=9, start=0, end=10, logarithmic=True)
    assert [text for _, text in few.compute_ticks(4)] == ["2", "4", "6", "8"]


def test_one_value_stands_in_the_middle() -> None:
    scale = Scale(low=6, high=6, start=0, end=10)
    assert scale.compute_ticks() == [(5, "6")]


@examples(60)
@given(before=heights)
def test_names_are_moved_spread_heights(before: list[float]) -> None:
    after = _spread_heights(before, least=12)
    assert len(after) == len(before)
    assert all(b - a >= 12 - 1e-9 for a, b in pairwise(after))
    assert sum(after) == pytest.approx(sum(before))


@examples(40)
@given(values=st.lists(st.floats(0, 100), min_size=1))
def test_floor_is_round_number_below_values(values: list[float]) -> None:
    floor = compute_floor(values)
    assert floor % 10 == 0
    assert 0 <= floor <= 90
    assert floor <= min(values) or floor == 90
    assert floor + 10 > min(values) or floor == 90


def dots(*names: str) -> DotPanel:
    dot = Dot(value=60, low=55, high=65)
    return DotPanel(title="t", rows=tuple(DotRow(n, (dot,), 50) for n in names), low=40)


def test_rows_are_below_each_other() -> None:
    middles = [middle for _, middle, _ in dots("a", "b", "c").place_rows()]
    assert middles == [15.5, 34.5, 53.5]
    assert max(middles) < dots("a", "b", "c").bottom


def test_long_name_keeps_its_end() -> None:
    panel = dots("st:" + "x" * 50 + "/minilm")
    label = panel.shorten_label(panel.rows[0])
    assert len(label) == 21
    assert label.endswith("/minilm")


def test_up_to_four_lines_are_labelled() -> None:
    assert build_legend(number_marks("abcd")) == ()
    assert build_legend(number_marks("abcde")) == tuple(zip("abcde", range(5), strict=True))


def test_labels_stand_at_line_ends() -> None:
    lines = tuple(
        Line(name=name, mark=0, points=tuple(LinePoint(x=x, y=y, low=y, high=y) for x, y in ((0, 50), (1, end))))
        for name, end in (("low", 60), ("high", 90))
    )
    panel = LinePanel(title="t", x_label="layer", y_label="%", lines=lines, low=50, high=100, named=True)
    assert {line.name: height for line, height in panel.place_labels()} == {
        "high": panel.y.locate(90),
        "low": panel.y.locate(60),
    }
    assert [panel.compute_shift(line) for line in lines] == [-1.2, 1.2]
