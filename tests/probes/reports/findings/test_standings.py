"""Standings: margins over controls, and groups."""

from dataclasses import replace

import pytest
from helpers.strategies.probe_strategies import make_sample_result
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.reports.table_findings import (
    compute_standings,
    describe_groups,
    find_marked_cells,
    find_table,
    rank_groups,
)
from sentprobe.probes.results.result import Condition, Results

counts = st.lists(st.integers(300, 1000), min_size=1, max_size=5)


def make_table(right: list[int], bag: int = 500, positions: int = 500, order: int = 500) -> Results:
    """Make encoders with these numbers of 1000 items right, and the controls with theirs."""
    records = (
        make_sample_result(f"e{place}", "Order", count, 500, 500, bag, 500, positions, order)
        for place, count in enumerate(right)
    )
    return Results(tuple(records))


@examples(40)
@given(right=counts)
def test_a_group_is_what_is_not_told_apart_from_its_best(right: list[int]) -> None:
    results = make_table(right)
    groups, significant = rank_groups(results), find_table(results).significant_pairs
    assert {cell for cell, _ in groups.items()} == {record.cell for record in results.records}
    assert {*groups.values()} == {*range(1, max(groups.values()) + 1)}
    for number in {*groups.values()}:
        remaining = [record for record in results.records if groups[record.cell] >= number]
        best = max(remaining, key=lambda record: record.accuracy)
        tied = {record.cell for record in remaining if frozenset((best.cell, record.cell)) not in significant}
        assert tied == {cell for cell, group in groups.items() if group == number}


@examples(40)
@given(right=counts)
def test_what_is_marked_is_alone_in_the_first_group(right: list[int]) -> None:
    results = make_table(right)
    groups = rank_groups(results)
    first = [cell for cell, group in groups.items() if group == 1]
    assert {*find_marked_cells(results)} <= {*(first if len(first) == 1 else [])}


def make_named_table(**right: int) -> Results:
    records = (make_sample_result(n, "Order", count, 500, 500, 500) for n, count in right.items())
    return Results(tuple(records))


def test_an_encoder_is_not_tied_with_itself_cut() -> None:
    results = make_named_table(**{"a": 900, "a, int8": 899, "b": 700})
    assert [*rank_groups(results).values()] == [1, 1, 2]
    assert find_marked_cells(results) == {("a", "Order")}
    assert find_marked_cells(make_named_table(**{"a": 900, "x, int8": 899, "b": 700})) == set()


def test_cuts_are_not_corrected_for_with_what_tells_encoders_apart() -> None:
    """Of a difference in seven items p is 1/64: three times that is below 0.05, not six times."""
    pair = frozenset([("a", "Order"), ("b", "Order")])
    assert (
        pair
        in find_table(make_named_table(**{"a": 507, "a, 1 dims": 507, "a, 2 dims": 507, "b": 500})).significant_pairs
    )
    assert pair not in find_table(make_named_table(a=507, x=507, y=507, b=500)).significant_pairs


def test_groups_of_three() -> None:
    results = make_table([900, 895, 700, 500])
    assert [*rank_groups(results).values()] == [1, 1, 2, 3]
    assert [standing.groups for standing in compute_standings(results).values()] == [3] * 4
    (line,) = describe_groups(compute_standings(results))
    assert line.startswith("A circled 1: not significantly worse than the best")


def test_where_nobody_is_told_apart() -> None:
    (line,) = describe_groups(compute_standings(make_table([900, 899])))
    assert line.startswith("On every task, no encoder is significantly worse than the best")
    assert [*describe_groups(compute_standings(make_table([900])))] == []
    tied = [replace(record, task="SemRole") for record in make_table([600, 601]).records]
    both = Results((*make_table([900, 600]).records, *tied))
    assert [*describe_groups(compute_standings(both))][1].startswith("On SemRole, no encoder is significantly worse")


@pytest.mark.parametrize(
    ("controls", "name", "shade"),
    [
        ((500, 500, 500), "chance 50.0", 0.8),
        ((700, 500, 500), "bag of words 70.0", 0.4),
        ((500, 700, 500), "fixed positions 70.0", 0.4),
        ((700, 800, 600), "fixed positions 80.0", 0.2),
        ((800, 700, 500), "bag of words 80.0", 0.2),
        ((700, 600, 800), "words and positions 80.0", 0.2),
    ],
)
def test_the_control_that_counts(controls: tuple[int, int, int], name: str, shade: float) -> None:
    (standing,) = compute_standings(make_table([900], *controls)).values()
    assert standing.control_name == name
    assert standing.margin == pytest.approx(0.9 - standing.control)
    assert standing.shade == pytest.approx(shade)


@pytest.mark.parametrize(("positions", "is_marked"), [(500, True), (700, True), (898, False), (950, False)])
def test_a_marked_cell_exceeds_fixed_positions(positions: int, *, is_marked: bool) -> None:
    assert bool(find_marked_cells(make_table([900], positions=positions))) == is_marked


@pytest.mark.parametrize("controls", [(900, 700, 700), (700, 900, 700), (700, 700, 900)])
def test_a_marked_cell_exceeds_all_controls(controls: tuple[int, int, int]) -> None:
    assert find_marked_cells(make_table([905], *controls)) == set()
    assert find_marked_cells(make_table([990], *controls)) == {("e0", "Order")}


def test_a_variant_is_compared_with_a_control_of_its_width() -> None:
    (wide, narrow) = make_table([900], order=650).records[0], make_table([880], order=600).records[0]
    wide, narrow = replace(wide, encoder="wide", dim=4096), replace(narrow, encoder="narrow")
    variant = replace(narrow, encoder="narrow, int8", scores={Condition.PROBE: narrow.scores[Condition.PROBE]})
    standings = compute_standings(Results((wide, narrow, variant)))
    assert {name: standing.control_name for (name, _), standing in standings.items()} == {
        "wide": "words and positions 65.0",
        "narrow": "words and positions 60.0",
        "narrow, int8": "words and positions 60.0",
    }


def test_below_its_control_nothing_is_shaded() -> None:
    (standing,) = compute_standings(make_table([690], 700)).values()
    assert standing.margin < 0
    assert standing.shade == 0
