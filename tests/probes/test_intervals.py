"""Intervals and design effects, compared with statsmodels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.proportion import proportion_confint

from sentprobe.common.errors import UsageError
from sentprobe.probes.statistics import (
    accuracy_interval,
    chance_interval,
    design_effect,
    has_balanced_labels,
    normal_quantile,
    sum_by_unit,
    wilson,
)

right_answers = st.lists(st.booleans(), min_size=1, max_size=60)


@st.composite
def answers_in_units(draw: st.DrawFn) -> tuple[list[bool], list[int]]:
    """Answers, and the unit of each."""
    right = draw(right_answers)
    units = draw(st.lists(st.integers(0, 12), min_size=len(right), max_size=len(right)))
    return right, units


@given(right_answers, st.sampled_from([0.9, 0.95, 0.99]))
def test_wilson_is_that_of_statsmodels(right: list[bool], confidence: float) -> None:
    interval = wilson(sum(right), len(right), confidence=confidence)
    low, high = proportion_confint(sum(right), len(right), alpha=1 - confidence, method="wilson")
    assert interval.low == pytest.approx(max(0, low), abs=1e-9)
    assert interval.high == pytest.approx(min(1, high), abs=1e-9)


@given(st.integers(1, 2000), st.data())
def test_around_and_wilson_are_two_sides_of_one_test(total: int, data: st.DataObject) -> None:
    correct = data.draw(st.integers(0, total))
    share = data.draw(st.sampled_from([0.5, 0.6, 0.9]))
    inside = correct / total in chance_interval(share, total, confidence=0.99)
    assert inside is (share in wilson(correct, total, confidence=0.99))


@given(st.integers(2, 1000))
def test_equal_labels_are_balanced_whether_their_number_is_known_or_not(labels: int) -> None:
    assert has_balanced_labels(1 / labels, labels)
    assert has_balanced_labels(1 / labels)
    assert not has_balanced_labels(min(1.0, 1.5 / labels), labels)
    assert not has_balanced_labels(1 / labels, labels + 50)


@given(answers_in_units())
def test_an_interval_is_never_narrower_than_for_independent_items(case: tuple[list[bool], list[int]]) -> None:
    right, units = case
    wide, narrow = accuracy_interval(right, units), accuracy_interval(right, ())
    assert wide.low <= narrow.low + 1e-12
    assert wide.high >= narrow.high - 1e-12
    assert float(np.mean(right)) in wide


@given(answers_in_units())
def test_the_design_effect_is_the_variance_of_clusters_over_that_of_items(case: tuple[list[bool], list[int]]) -> None:
    """The clustered variance is that of statsmodels' regression on a constant."""
    right, units = case
    share = np.mean(right)
    if share in (0, 1) or len(set(units)) in (1, len(units)):
        return
    model = OLS(np.array(right, float), np.ones(len(right)))
    clustered = model.fit(cov_type="cluster", cov_kwds={"groups": np.array(units)})
    ratio = float(clustered.bse[0] ** 2) / (share * (1 - share) / len(right))
    assert design_effect(right, units) == pytest.approx(max(1, ratio))


@given(right_answers)
def test_items_that_are_all_different_have_no_design_effect(right: list[bool]) -> None:
    assert design_effect(right, ()) == 1
    assert design_effect(right, range(len(right))) == 1


def test_pairs_that_agree_count_as_one() -> None:
    right = [bool(pair % 2) for pair in range(500) for _ in range(2)]
    units = [pair for pair in range(500) for _ in range(2)]
    assert design_effect(right, units) == pytest.approx(2, rel=0.01)
    single = accuracy_interval(right[::2], ())
    assert accuracy_interval(right, units).low == pytest.approx(single.low, abs=1e-4)


def test_pairs_of_which_one_is_right_are_not_better_than_independent() -> None:
    """A bag of words is right on exactly one item of each mirror pair."""
    assert design_effect([True, False] * 50, [item // 2 for item in range(100)]) == 1


def test_when_all_are_right_the_worst_is_assumed() -> None:
    assert design_effect([True] * 6, [0, 0, 0, 1, 1, 2]) == pytest.approx(14 / 6)


def test_one_unit_counts_as_one_item() -> None:
    assert design_effect([True, False, True], [4, 4, 4]) == 3


def test_means_over_seeds_are_taken() -> None:
    interval = accuracy_interval([0.5, 1.0, 0.0, 0.5], ())
    assert interval == wilson(2, 4)


def test_the_interval_covers_as_often_as_it_says() -> None:
    """Over 1,000 draws of 100 pairs that agree, between 92% and 98% of intervals hold the truth."""
    generator = np.random.default_rng(0)
    units = np.arange(200) // 2
    draws = np.repeat(generator.random((1000, 100)) < 0.7, 2, axis=1)
    covered = [0.7 in accuracy_interval(draw, units) for draw in draws]  # type: ignore[arg-type]
    assert 0.92 < np.mean(covered) < 0.98


def test_sums_over_units() -> None:
    sums, sizes = sum_by_unit([1, 0, 1, 1], [7, 3, 7, 3])
    assert (sums.tolist(), sizes.tolist()) == ([1, 2], [2, 2])


@pytest.mark.parametrize(("correct", "total"), [(1, 0), (-1, 5), (6, 5)])
def test_not_a_proportion(correct: int, total: int) -> None:
    with pytest.raises(UsageError, match="is not a proportion"):
        wilson(correct, total)


def test_not_a_confidence() -> None:
    with pytest.raises(UsageError, match=r"confidence 1\.5 is not between 0 and 1"):
        normal_quantile(1.5)
