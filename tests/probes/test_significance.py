"""Paired tests and corrections, compared with statsmodels and SciPy."""

from typing import Any

import numpy as np
import pytest
from helpers.thoroughness import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_rel
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from sentprobe.common.errors import UsageError
from sentprobe.probes.statistics import (
    Correction,
    PairedComparison,
    compare_items,
    compute_sign_test,
    compute_sign_tests,
    correct_p_values,
)


@st.composite
def paired_answers(draw: st.DrawFn) -> tuple[Any, Any, list[int]]:
    """Return correctness of two encoders, (seeds, n) each, and units."""
    count = draw(st.integers(2, 40))
    sides = [
        np.array(draw(st.lists(st.lists(st.booleans(), min_size=count, max_size=count), min_size=1, max_size=3)))
        for _ in range(2)
    ]
    units = draw(st.just([]) | st.lists(st.integers(0, 9), min_size=count, max_size=count))
    return sides[0], sides[1], units


@given(paired_answers())
def test_the_other_way_round_is_the_same_with_the_other_sign(case: tuple[Any, Any, list[int]]) -> None:
    first, second, units = case
    forward, backward = compare_items(first, second, units), compare_items(second, first, units)
    assert (forward.wins, forward.losses) == (backward.losses, backward.wins)
    assert forward.sign_p == pytest.approx(backward.sign_p)
    assert forward.t_p == pytest.approx(backward.t_p)
    assert forward.difference == pytest.approx(-backward.difference)
    assert forward.interval.low == pytest.approx(-backward.interval.high)
    assert forward.difference == pytest.approx(first.mean() - second.mean())


@given(paired_answers())
def test_one_seed_without_units_is_mcnemars_exact_test(case: tuple[Any, Any, list[int]]) -> None:
    first, second, _ = case
    a, b = first[:1], second[:1]
    table = [[int((a & b).sum()), int((a & ~b).sum())], [int((~a & b).sum()), int((~a & ~b).sum())]]
    paired = compare_items(a, b)
    assert paired.sign_p == pytest.approx(float(mcnemar(table, exact=True).pvalue))
    assert (paired.wins, paired.losses) == (table[0][1], table[1][0])


@given(paired_answers())
def test_the_t_test_is_scipys_over_means_of_units(case: tuple[Any, Any, list[int]]) -> None:
    first, second, units = case
    unit_numbers = units or list(range(first.shape[1]))
    means = [
        [side.mean(axis=0)[np.array(unit_numbers) == unit].mean() for unit in sorted(set(unit_numbers))]
        for side in (first, second)
    ]
    assume(np.ptp(np.subtract(means[0], means[1])) > 1e-9)
    expected = ttest_rel(*means).pvalue
    assert compare_items(first, second, units).t_p == pytest.approx(float(expected), rel=1e-6)


@given(paired_answers())
def test_the_interval_is_that_of_a_clustered_regression(case: tuple[Any, Any, list[int]]) -> None:
    first, second, units = case
    unit_numbers = np.array(units or list(range(first.shape[1])))
    differences = first.mean(axis=0) - second.mean(axis=0)
    assume(len(set(unit_numbers.tolist())) > 1 and np.ptp(differences) > 0)
    fitted = OLS(differences, np.ones(len(differences))).fit(
        cov_type="cluster", cov_kwds={"groups": unit_numbers}, use_t=True
    )
    low, high = fitted.conf_int()[0]
    interval = compare_items(first, second, units).interval
    assert interval.low == pytest.approx(max(-1, low), abs=1e-9)
    assert interval.high == pytest.approx(min(1, high), abs=1e-9)


def compare_lists(first: list[int], second: list[int], units: list[int] | None = None) -> PairedComparison:
    return compare_items(np.array([first]) > 0, np.array([second]) > 0, units or ())


def test_an_encoder_and_itself() -> None:
    paired = compare_lists([1, 0, 1], [1, 0, 1])
    assert (paired.difference, paired.sign_p, paired.t_p) == (0, 1, 1)
    assert (paired.interval.low, paired.interval.high) == (0, 0)


def test_always_better_by_as_much() -> None:
    paired = compare_lists([1] * 8, [0] * 8)
    assert (paired.wins, paired.losses, paired.difference, paired.t_p) == (8, 0, 1, 0)
    assert paired.sign_p == pytest.approx(2 * 0.5**8)


def test_a_unit_counts_once() -> None:
    """Eight items in two units that say the same are two observations."""
    paired = compare_lists([1] * 8, [0] * 8, [0] * 4 + [1] * 4)
    assert (paired.wins, paired.sign_p) == (2, 0.5)


def test_one_unit_shows_nothing() -> None:
    paired = compare_lists([1, 1], [0, 0], [0, 0])
    assert (paired.t_p, paired.interval.low, paired.interval.high) == (1, -1, 1)


def test_other_numbers_of_seeds_tie_exactly() -> None:
    """Right in one of three seeds and in two of six is a tie."""
    first = np.array([[1], [0], [0]]) > 0
    second = np.array([[1], [1], [0], [0], [0], [0]]) > 0
    paired = compare_items(np.hstack([first] * 3), np.hstack([second] * 3))
    assert (paired.wins, paired.losses, paired.difference) == (0, 0, 0)


def test_false_alarms_are_as_rare_as_they_should_be() -> None:
    """Two encoders that are equally good, with pairs that agree: 5% of p-values below 0.05."""
    generator = np.random.default_rng(0)
    units = (np.arange(200) // 2).tolist()
    draws = np.repeat(generator.random((400, 2, 1, 100)) < 0.7, 2, axis=3)
    comparisons = [compare_items(draw[0], draw[1], units) for draw in draws]
    assert np.mean([comparison.sign_p < 0.05 for comparison in comparisons]) < 0.07
    assert 0.02 < np.mean([comparison.t_p < 0.05 for comparison in comparisons]) < 0.08
    assert 0.92 < np.mean([0 in comparison.interval for comparison in comparisons]) < 0.98


@pytest.mark.parametrize("shape", [(1, 3), (0, 2)])
def test_items_that_cannot_be_paired(shape: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match="items cannot be paired"):
        compare_items(np.ones(shape, bool), np.ones((1, 2), bool))


@pytest.mark.slow
@examples(15)  # statsmodels takes its time
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrections_are_those_of_statsmodels(p_values: list[float]) -> None:
    for method, name in ((Correction.HOLM, "holm"), (Correction.BH, "fdr_bh")):
        expected = multipletests(p_values, method=name)[1]
        assert correct_p_values(p_values, method) == pytest.approx(expected.tolist())
    assert correct_p_values(p_values, Correction.NONE) == p_values


def test_nothing_to_correct() -> None:
    assert correct_p_values([], Correction.HOLM) == correct_p_values([], Correction.BH) == []


def test_ties_say_nothing() -> None:
    assert compute_sign_test(0, 0) == 1


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), max_size=9))
def test_many_sign_tests_at_once_are_each_that_of_scipy(counts: list[tuple[int, int]]) -> None:
    wins, losses = (np.array([pair[n] for pair in counts], dtype=np.int64) for n in (0, 1))
    expected = [float(binomtest(w, w + lost).pvalue) if w + lost else 1.0 for w, lost in counts]
    assert compute_sign_tests(wins, losses) == pytest.approx(expected, rel=1e-9, abs=0)
    assert [compute_sign_test(w, lost) for w, lost in counts] == pytest.approx(expected, rel=1e-9, abs=0)
