"""Bold marks what is above its control and tied with no other encoder, or nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from probe_strategies import sample_result as sample
from thoroughness import examples

from sentprobe.probes.report.comparisons import Comparison, compare_encoders
from sentprobe.probes.report.marks import marked
from sentprobe.probes.report.tables import explain, grid
from sentprobe.probes.runs.results import Condition, Result, Results, Score

CONTROLS = (500, 500)


def table(*results: Result) -> Results:
    return Results(tuple(results))


def test_the_best_is_marked() -> None:
    results = table(
        sample("a", "Order", 700, *CONTROLS, 500, mirrored=True),
        sample("b", "Order", 600, *CONTROLS, 500, mirrored=True),
    )
    assert marked(results) == {("a", "Order")}
    assert [row.cells[0].best for row in grid(results).rows][:2] == [True, False]
    assert "Bold, or with a *: above its control" in explain(results)


@pytest.mark.parametrize("second", [700, 699, 697])
def test_a_tie_marks_nothing(second: int) -> None:
    results = table(
        sample("a", "Order", 700, *CONTROLS, 500, mirrored=True),
        sample("b", "Order", second, *CONTROLS, 500, mirrored=True),
        sample("c", "Order", 550, *CONTROLS, 500, mirrored=True),
    )
    assert not marked(results)
    assert "Bold" not in explain(results)


def test_what_is_at_chance_is_not_marked() -> None:
    first = sample("a", "Order", 520, *CONTROLS, 500, mirrored=True)
    assert not marked(table(first, sample("b", "Order", 450, *CONTROLS, 500, mirrored=True)))


@pytest.mark.parametrize(("bag", "told"), [(900, False), (899, False), (800, True), (500, True)])
def test_where_words_tell_it_the_control_is_the_bag_of_words(bag: int, *, told: bool) -> None:
    first = sample("a", "Tense", 900, *CONTROLS, bag)
    results = table(first, sample("b", "Tense", 700, *CONTROLS, 600))
    assert marked(results) == ({("a", "Tense")} if told else set())


def test_the_bag_of_the_same_width_counts() -> None:
    wide = replace(sample("wide", "Tense", 900, *CONTROLS, 890), dim=9)
    narrow = sample("narrow", "Tense", 950, *CONTROLS, 600)
    assert marked(table(wide, narrow)) == {("narrow", "Tense")}
    assert not marked(table(replace(narrow, scores={**narrow.scores, **bag(950)}), wide))


def bag(right: int) -> dict[Condition, Score]:
    made = sample("x", "Tense", 1, 1, 1, right)
    return {Condition.BAG_OF_WORDS: made.scores[Condition.BAG_OF_WORDS]}


def test_a_baseline_is_held_against_the_best_bag_of_words() -> None:
    encoder = sample("a", "SentLen", 600, *CONTROLS, 800)
    for right, told in ((801, False), (950, True)):
        baseline = replace(sample("length", "SentLen", right), dim=0)
        assert marked(table(encoder, baseline)) == ({("length", "SentLen")} if told else set())


def test_without_controls_nothing_is_marked_where_words_might_tell_it() -> None:
    assert not marked(table(sample("a", "Tense", 900), sample("b", "Tense", 600)))
    first = sample("a", "Order", 900, mirrored=True)
    assert marked(table(first, sample("b", "Order", 600, mirrored=True))) == {("a", "Order")}


@examples(20)
@given(st.lists(st.integers(480, 700), min_size=2, max_size=4, unique=True))
def test_what_is_marked_is_what_compare_tells_apart(rights: list[int]) -> None:
    results = table(
        *(sample(f"e{n}", "Order", right, 500, mirrored=True) for n, right in enumerate(rights))
    )
    for encoder, _ in marked(results):
        found = [each for each in compare_encoders(results) if encoder in names(each)]
        assert all(each.significant for each in found)
        assert encoder == f"e{int(np.argmax(rights))}"


def names(comparison: Comparison) -> tuple[str, str]:
    return comparison.first.encoder, comparison.second.encoder
