"""Where accuracies of a table stand: above their controls, and in groups."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probe_strategies import sample_result
from thoroughness import examples

from sentprobe.probes.report.marks import marked, told_apart
from sentprobe.probes.report.standings import group_lines, rank_groups, standings
from sentprobe.probes.runs.results import Results

counts = st.lists(st.integers(300, 1000), min_size=1, max_size=5)


def table(right: list[int], bag: int = 500) -> Results:
    """Encoders with so many of 1000 right, and a bag of words with its own."""
    records = (
        sample_result(f"e{place}", "Order", each, 500, 500, bag) for place, each in enumerate(right)
    )
    return Results(tuple(records))


@examples(40)
@given(right=counts)
def test_a_group_is_what_is_not_told_apart_from_its_best(right: list[int]) -> None:
    results = table(right)
    groups, told = rank_groups(results), told_apart(results)
    assert {cell for cell, _ in groups.items()} == {each.cell for each in results.records}
    assert {*groups.values()} == {*range(1, max(groups.values()) + 1)}
    for number in {*groups.values()}:
        rest = [each for each in results.records if groups[each.cell] >= number]
        best = max(rest, key=lambda each: each.accuracy)
        tied = {each.cell for each in rest if frozenset((best.cell, each.cell)) not in told}
        assert tied == {cell for cell, group in groups.items() if group == number}


@examples(40)
@given(right=counts)
def test_what_is_marked_is_alone_in_the_first_group(right: list[int]) -> None:
    results = table(right)
    groups = rank_groups(results)
    first = [cell for cell, group in groups.items() if group == 1]
    assert {*marked(results)} <= {*(first if len(first) == 1 else [])}


def named(**right: int) -> Results:
    found = (sample_result(n, "Order", each, 500, 500, 500) for n, each in right.items())
    return Results(tuple(found))


def test_an_encoder_is_not_tied_with_itself_cut() -> None:
    results = named(**{"a": 900, "a, int8": 899, "b": 700})
    assert [*rank_groups(results).values()] == [1, 1, 2]
    assert marked(results) == {("a", "Order")}
    assert marked(named(**{"a": 900, "x, int8": 899, "b": 700})) == set()


def test_cuts_are_not_corrected_for_with_what_tells_encoders_apart() -> None:
    """Of a difference in seven items p is 1/64: three times that is below 0.05, not six times."""
    pair = frozenset([("a", "Order"), ("b", "Order")])
    assert pair in told_apart(named(**{"a": 507, "a, 1 dims": 507, "a, 2 dims": 507, "b": 500}))
    assert pair not in told_apart(named(a=507, x=507, y=507, b=500))


def test_groups_of_three() -> None:
    results = table([900, 895, 700, 500])
    assert [*rank_groups(results).values()] == [1, 1, 2, 3]
    assert [each.groups for each in standings(results).values()] == [3] * 4
    (line,) = group_lines(standings(results))
    assert line.startswith("A 1 in a circle: tied with the best")


def test_where_nobody_is_told_apart() -> None:
    (line,) = group_lines(standings(table([900, 899])))
    assert line.startswith("On every task all are tied: no paired test of probe compare")
    assert [*group_lines(standings(table([900])))] == []
    tied = [replace(each, task="SemRole") for each in table([600, 601]).records]
    both = Results((*table([900, 600]).records, *tied))
    assert [*group_lines(standings(both))][1].startswith("On SemRole all are tied")


@pytest.mark.parametrize(("bag", "by_words", "shade"), [(500, False, 0.8), (700, True, 0.4)])
def test_the_control_that_counts(bag: int, shade: float, *, by_words: bool) -> None:
    (standing,) = standings(table([900], bag)).values()
    assert standing.by_words is by_words
    assert standing.above == pytest.approx(0.9 - (bag / 1000))
    assert standing.shade == pytest.approx(shade)
    name = "bag of words 70.0" if by_words else "chance 50.0"
    assert standing.control_name == name


def test_below_its_control_nothing_is_shaded() -> None:
    (standing,) = standings(table([690], 700)).values()
    assert standing.above < 0
    assert standing.shade == 0
