"""Marks: a cell is bold if it is above its control and not tied with another encoder."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from probe_strategies import make_sample_result as sample
from thoroughness import examples

from sentprobe.probes.report.findings.comparisons import Comparison, compare_encoders
from sentprobe.probes.report.findings.table_findings import find_marked_cells
from sentprobe.probes.report.tables.complete_notes import describe_all
from sentprobe.probes.report.tables.main_table import build_grid
from sentprobe.probes.results.result import Condition, Result, Results, Score

CONTROLS = (500, 500)


def make_table(*results: Result) -> Results:
    return Results(tuple(results))


def test_the_best_is_marked() -> None:
    results = make_table(
        sample("a", "Order", 700, *CONTROLS, 500, mirrored=True),
        sample("b", "Order", 600, *CONTROLS, 500, mirrored=True),
    )
    assert find_marked_cells(results) == {("a", "Order")}
    assert [row.cells[0].best for row in build_grid(results).rows][:2] == [True, False]
    assert "Bold, or with a *: above its control" in describe_all(results)


@pytest.mark.parametrize("second", [700, 699, 697])
def test_a_tie_marks_nothing(second: int) -> None:
    results = make_table(
        sample("a", "Order", 700, *CONTROLS, 500, mirrored=True),
        sample("b", "Order", second, *CONTROLS, 500, mirrored=True),
        sample("c", "Order", 550, *CONTROLS, 500, mirrored=True),
    )
    assert not find_marked_cells(results)
    assert "Bold" not in describe_all(results)


def test_what_is_at_chance_is_not_marked() -> None:
    first = sample("a", "Order", 520, *CONTROLS, 500, mirrored=True)
    assert not find_marked_cells(make_table(first, sample("b", "Order", 450, *CONTROLS, 500, mirrored=True)))


@pytest.mark.parametrize(("bag", "is_marked"), [(900, False), (899, False), (800, True), (500, True)])
def test_where_words_tell_it_the_control_is_the_bag_of_words(bag: int, *, is_marked: bool) -> None:
    first = sample("a", "Tense", 900, *CONTROLS, bag)
    results = make_table(first, sample("b", "Tense", 700, *CONTROLS, 600))
    assert find_marked_cells(results) == ({("a", "Tense")} if is_marked else set())


def test_the_bag_of_the_same_width_counts() -> None:
    wide = replace(sample("wide", "Tense", 900, *CONTROLS, 890), dim=9)
    narrow = sample("narrow", "Tense", 950, *CONTROLS, 600)
    assert find_marked_cells(make_table(wide, narrow)) == {("narrow", "Tense")}
    assert not find_marked_cells(make_table(replace(narrow, scores={**narrow.scores, **make_bag_score(950)}), wide))


def make_bag_score(right: int) -> dict[Condition, Score]:
    sample_scores = sample("x", "Tense", 1, 1, 1, right)
    return {Condition.BAG_OF_WORDS: sample_scores.scores[Condition.BAG_OF_WORDS]}


def test_a_baseline_is_held_against_the_best_bag_of_words() -> None:
    encoder = sample("a", "SentLen", 600, *CONTROLS, 800)
    for right, is_marked in ((801, False), (950, True)):
        baseline = replace(sample("length", "SentLen", right), dim=0)
        assert find_marked_cells(make_table(encoder, baseline)) == ({("length", "SentLen")} if is_marked else set())


def test_without_controls_nothing_is_marked_where_words_might_tell_it() -> None:
    assert not find_marked_cells(make_table(sample("a", "Tense", 900), sample("b", "Tense", 600)))
    first = sample("a", "Order", 900, mirrored=True)
    assert find_marked_cells(make_table(first, sample("b", "Order", 600, mirrored=True))) == {("a", "Order")}


@examples(20)
@given(st.lists(st.integers(480, 700), min_size=2, max_size=4, unique=True))
def test_what_is_marked_is_what_compare_tells_apart(rights: list[int]) -> None:
    results = make_table(*(sample(f"e{n}", "Order", right, 500, mirrored=True) for n, right in enumerate(rights)))
    for encoder, _ in find_marked_cells(results):
        comparisons = [comparison for comparison in compare_encoders(results) if encoder in list_encoders(comparison)]
        assert all(comparison.significant for comparison in comparisons)
        assert encoder == f"e{int(np.argmax(rights))}"


def list_encoders(comparison: Comparison) -> tuple[str, str]:
    return comparison.first.encoder, comparison.second.encoder
