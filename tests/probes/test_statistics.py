"""Intervals, paired tests, corrections and variance components, compared with statsmodels and SciPy."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest
from helpers.thoroughness import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest, ttest_rel
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from sentprobe.common.errors import UsageError
from sentprobe.probes.statistics import (
    Correction,
    accuracy_interval,
    chance_interval,
    compare_draws,
    compare_items,
    compare_unit_sums,
    compute_sign_test,
    compute_sign_tests,
    correct_p_values,
    decompose_spread,
    design_effect,
    has_balanced_labels,
    normal_quantile,
    student_quantile,
    sum_by_unit,
    two_sided_t_p_value,
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
def test_chance_interval_agrees_with_wilson(total: int, data: st.DataObject) -> None:
    correct = data.draw(st.integers(0, total))
    share = data.draw(st.sampled_from([0.5, 0.6, 0.9]))
    inside = correct / total in chance_interval(share, total, confidence=0.99)
    assert inside is (share in wilson(correct, total, confidence=0.99))


@given(st.integers(2, 1000))
def test_equal_labels_are_balanced(labels: int) -> None:
    assert has_balanced_labels(1 / labels, labels)
    assert has_balanced_labels(1 / labels)
    assert not has_balanced_labels(min(1.0, 1.5 / labels), labels)
    assert not has_balanced_labels(1 / labels, labels + 50)


@given(answers_in_units())
def test_interval_is_at_least_wilsons(case: tuple[list[bool], list[int]]) -> None:
    right, units = case
    wide, narrow = accuracy_interval(right, units), accuracy_interval(right, ())
    assert wide.low <= narrow.low + 1e-12
    assert wide.high >= narrow.high - 1e-12
    assert float(np.mean(right)) in wide


@given(answers_in_units())
def test_design_effect_is_clustered_variance_ratio(case: tuple[list[bool], list[int]]) -> None:
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
def test_different_items_have_no_design_effect(right: list[bool]) -> None:
    assert design_effect(right, ()) == 1
    assert design_effect(right, range(len(right))) == 1


def test_pairs_that_agree_count_as_one() -> None:
    right = [bool(pair % 2) for pair in range(500) for _ in range(2)]
    units = [pair for pair in range(500) for _ in range(2)]
    assert design_effect(right, units) == pytest.approx(2, rel=0.01)
    single = accuracy_interval(right[::2], ())
    assert accuracy_interval(right, units).low == pytest.approx(single.low, abs=1e-4)


@pytest.mark.parametrize(
    ("right", "units", "effect"),
    [
        ([True, False] * 50, [item // 2 for item in range(100)], 1),  # as a bag of words on mirror pairs
        ([True] * 6, [0, 0, 0, 1, 1, 2], 14 / 6),  # when all are right, the worst is assumed
        ([True, False, True], [4, 4, 4], 3),
    ],
)
def test_design_effect_by_hand(right: list[bool], units: list[int], effect: float) -> None:
    assert design_effect(right, units) == pytest.approx(effect)


def test_interval_of_means_over_seeds() -> None:
    assert accuracy_interval([0.5, 1.0, 0.0, 0.5], ()) == wilson(2, 4)
    sums, sizes = sum_by_unit([1, 0, 1, 1], [7, 3, 7, 3])
    assert (sums.tolist(), sizes.tolist()) == ([1, 2], [2, 2])


def test_interval_has_its_coverage() -> None:
    """Over 1,000 draws of 100 pairs that agree, between 92% and 98% of intervals hold the truth."""
    generator = np.random.default_rng(0)
    units = np.arange(200) // 2
    draws = np.repeat(generator.random((1000, 100)) < 0.7, 2, axis=1)
    covered = [0.7 in accuracy_interval(draw, units) for draw in draws]  # type: ignore[arg-type]
    assert 0.92 < np.mean(covered) < 0.98


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wilson(1, 0), "is not a proportion"),
        (lambda: wilson(-1, 5), "is not a proportion"),
        (lambda: wilson(6, 5), "is not a proportion"),
        (lambda: normal_quantile(1.5), r"confidence 1\.5 is not between 0 and 1"),
        (lambda: compare_items(np.ones((1, 3), bool), np.ones((1, 2), bool)), "items cannot be paired"),
        (lambda: compare_items(np.ones((0, 2), bool), np.ones((1, 2), bool)), "items cannot be paired"),
        (lambda: decompose_spread([[0.5, 0.6]]), "1 draw has no spread between draws"),
        (lambda: compare_draws([0.5], [0.6], items=100), "draws cannot be paired"),
        (lambda: compare_draws([0.5, 0.5], [0.5], items=100), "draws cannot be paired"),
    ],
)
def test_statistics_refuse_bad_numbers(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()


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
def test_swapped_sides_change_the_sign(case: tuple[Any, Any, list[int]]) -> None:
    first, second, units = case
    forward, backward = compare_items(first, second, units), compare_items(second, first, units)
    assert (forward.wins, forward.losses) == (backward.losses, backward.wins)
    assert forward.sign_p == pytest.approx(backward.sign_p)
    assert forward.t_p == pytest.approx(backward.t_p)
    assert forward.difference == pytest.approx(-backward.difference)
    assert forward.interval.low == pytest.approx(-backward.interval.high)
    assert forward.difference == pytest.approx(first.mean() - second.mean())


@given(st.integers(2, 30), st.integers(1, 5), st.integers(1, 3), st.integers(0, 99))
def test_pairs_together_equal_pairs_alone(count: int, pairs: int, seeds: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    units = generator.integers(0, 9, count).tolist()
    sides = [[generator.random((seeds + side, count)) < 0.7 for _ in range(pairs)] for side in (0, 1)]
    sizes = sum_by_unit(np.ones(count), units)[1]
    first, second = ([(sum_by_unit(a.sum(axis=0), units)[0], len(a)) for a in side] for side in sides)
    alone = [compare_items(a, b, units) for a, b in zip(*sides, strict=True)]
    assert compare_unit_sums(first, second, sizes) == alone


@given(paired_answers())
def test_single_seed_is_mcnemars_test(case: tuple[Any, Any, list[int]]) -> None:
    first, second, _ = case
    a, b = first[:1], second[:1]
    table = [[int((a & b).sum()), int((a & ~b).sum())], [int((~a & b).sum()), int((~a & ~b).sum())]]
    paired = compare_items(a, b)
    assert paired.sign_p == pytest.approx(float(mcnemar(table, exact=True).pvalue))
    assert (paired.wins, paired.losses) == (table[0][1], table[1][0])


@given(paired_answers())
def test_t_test_is_scipys_over_units(case: tuple[Any, Any, list[int]]) -> None:
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
def test_interval_is_that_of_clustered_regression(case: tuple[Any, Any, list[int]]) -> None:
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


@pytest.mark.parametrize(
    ("first", "second", "units", "expected"),
    [
        ([1, 0, 1], [1, 0, 1], [], (0, 0, 0, 0, 0, 1, 1)),
        ([1] * 8, [0] * 8, [], (1, 1, 1, 8, 0, 2 * 0.5**8, 0)),
        ([1] * 8, [0] * 8, [0] * 4 + [1] * 4, (1, 1, 1, 2, 0, 0.5, 0)),
        ([1, 1], [0, 0], [0, 0], (1, -1, 1, 1, 0, 1, 1)),
    ],
    ids=["itself", "always-better", "two-units", "one-unit"],
)
def test_paired_comparison_by_hand(
    first: list[int], second: list[int], units: list[int], expected: tuple[float, ...]
) -> None:
    """Difference with its interval, wins and losses, and p-values of the sign test and the t-test."""
    paired = compare_items(np.array([first]) > 0, np.array([second]) > 0, units)
    difference = (paired.difference, paired.interval.low, paired.interval.high)
    assert (*difference, paired.wins, paired.losses, paired.sign_p, paired.t_p) == pytest.approx(expected)


def test_other_numbers_of_seeds_tie_exactly() -> None:
    """Right in one of three seeds and in two of six is a tie."""
    first = np.array([[1], [0], [0]]) > 0
    second = np.array([[1], [1], [0], [0], [0], [0]]) > 0
    paired = compare_items(np.hstack([first] * 3), np.hstack([second] * 3))
    assert (paired.wins, paired.losses, paired.difference) == (0, 0, 0)


def test_false_alarms_are_rare() -> None:
    """Two encoders that are equally good, with pairs that agree: 5% of p-values below 0.05."""
    generator = np.random.default_rng(0)
    units = (np.arange(200) // 2).tolist()
    draws = np.repeat(generator.random((400, 2, 1, 100)) < 0.7, 2, axis=3)
    comparisons = [compare_items(draw[0], draw[1], units) for draw in draws]
    assert np.mean([comparison.sign_p < 0.05 for comparison in comparisons]) < 0.07
    assert 0.02 < np.mean([comparison.t_p < 0.05 for comparison in comparisons]) < 0.08
    assert 0.92 < np.mean([0 in comparison.interval for comparison in comparisons]) < 0.98


@pytest.mark.slow
@examples(15)  # statsmodels takes its time
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrections_are_those_of_statsmodels(p_values: list[float]) -> None:
    for method, name in ((Correction.HOLM, "holm"), (Correction.BH, "fdr_bh")):
        expected = multipletests(p_values, method=name)[1]
        assert correct_p_values(p_values, method) == pytest.approx(expected.tolist())
    assert correct_p_values(p_values, Correction.NONE) == p_values


def test_no_p_values_need_no_correction() -> None:
    assert correct_p_values([], Correction.HOLM) == correct_p_values([], Correction.BH) == []
    assert compute_sign_test(0, 0) == 1


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), max_size=9))
def test_sign_tests_are_those_of_scipy(counts: list[tuple[int, int]]) -> None:
    wins, losses = (np.array([pair[n] for pair in counts], dtype=np.int64) for n in (0, 1))
    expected = [float(binomtest(w, w + lost).pvalue) if w + lost else 1.0 for w, lost in counts]
    assert compute_sign_tests(wins, losses) == pytest.approx(expected, rel=1e-9, abs=0)
    assert [compute_sign_test(w, lost) for w, lost in counts] == pytest.approx(expected, rel=1e-9, abs=0)


accuracy = st.integers(0, 1000).map(lambda right: right / 1000)
draws = st.lists(st.lists(accuracy, min_size=1, max_size=5), min_size=2, max_size=5)


def test_spread_by_hand() -> None:
    """Means 2, 4, 9 over 5; MSB = 2 (9 + 1 + 16) / 2 = 26, MSW = (2 + 2 + 8) / 3 = 4."""
    spread = decompose_spread([[1, 3], [3, 5], [7, 11]])
    assert spread.mean == 5
    assert spread.draws == pytest.approx(sqrt((26 - 4) / 2))
    assert spread.probes == pytest.approx(2)
    assert spread.total == pytest.approx(sqrt((16 + 4 + 4 + 0 + 4 + 36) / 5))


@given(draws.filter(lambda groups: sum(map(len, groups)) > len(groups)))
def test_mean_squares_are_those_of_scipy(groups: list[list[float]]) -> None:
    """F is the ratio of SciPy's mean squares: MSB = MSW F, whatever the numbers of probes."""
    spread = decompose_spread(groups)
    assert spread.probes is not None
    sizes = np.array([len(group) for group in groups])
    effective_size = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (len(groups) - 1)
    if spread.probes < 1e-9:
        return  # all probes of a draw are equal, and F is infinite
    f = float(stats.f_oneway(*groups).statistic)
    between = spread.probes**2 * f
    expected = sqrt(max(0.0, between - spread.probes**2) / effective_size)
    assert spread.draws == pytest.approx(expected, abs=1e-7)


@given(draws)
def test_mean_spread_and_interval(groups: list[list[float]]) -> None:
    spread = decompose_spread(groups)
    means = [float(np.mean(group)) for group in groups]
    values = [value for group in groups for value in group]
    assert spread.mean == pytest.approx(np.mean(means))
    assert spread.total == pytest.approx(np.std(values, ddof=1))
    assert spread.draws >= 0
    assert spread.mean in spread.interval or spread.mean == pytest.approx(spread.interval.low)
    if np.ptp(means) > 1e-6:
        low, high = stats.t.interval(0.95, len(means) - 1, np.mean(means), stats.sem(means))
        assert spread.interval.low == pytest.approx(max(0.0, low), abs=1e-9)
        assert spread.interval.high == pytest.approx(min(1.0, high), abs=1e-9)


@given(st.lists(accuracy, min_size=2, max_size=5))
def test_single_probes_cannot_be_decomposed(values: list[float]) -> None:
    spread = decompose_spread([[value] for value in values])
    assert spread.probes is None
    assert spread.draws == pytest.approx(spread.total, abs=1e-9)


def test_variances_of_known_model_are_found() -> None:
    generator = np.random.default_rng(0)
    means = generator.normal(0.7, 0.03, size=3000)
    spread = decompose_spread([generator.normal(mean, 0.01, size=5).tolist() for mean in means])
    assert spread.draws == pytest.approx(0.03, rel=0.05)
    assert spread.probes == pytest.approx(0.01, rel=0.05)


def test_draws_are_paired() -> None:
    first, second = [0.9, 0.8, 0.85, 0.7], [0.8, 0.75, 0.85, 0.72]
    paired = compare_draws(first, second, items=100)
    assert (paired.wins, paired.losses) == (2, 1)
    assert paired.difference == pytest.approx(0.0325)
    assert paired.t_p == pytest.approx(stats.ttest_rel(first, second).pvalue)
    low, high = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert (paired.interval.low, paired.interval.high) == pytest.approx((low, high))
    assert paired.sign_p == 1


@given(st.floats(0, 60), st.integers(1, 40) | st.sampled_from([999, 10_000, 400_001]))
def test_student_is_that_of_scipy(t: float, freedom: int) -> None:
    p_value = two_sided_t_p_value(t, freedom)
    assert p_value == pytest.approx(2 * stats.t.sf(t, freedom), rel=1e-9, abs=1e-290)
    assert 0 <= p_value <= 1
    for confidence in (0.5, 0.95, 0.99):
        expected = stats.t.ppf((1 + confidence) / 2, freedom)
        assert student_quantile(confidence, freedom) == pytest.approx(expected, rel=1e-9)


def test_equal_gains_have_spread_of_item() -> None:
    paired = compare_draws([0.50, 0.52], [0.49, 0.51], items=100)
    assert paired.t_p == pytest.approx(2 * stats.t.sf(sqrt(2), 1))
    assert paired.interval.low < 0 < paired.interval.high
    for gain, items in ((0.1, 100), (0.02, 1000), (0.01, 100)):
        again = compare_draws([0.5 + gain] * 3, [0.5] * 3, items=items)
        assert again.t_p == pytest.approx(2 * stats.t.sf(gain * items * sqrt(3), 2), rel=1e-6)
        half_width = stats.t.ppf(0.975, 2) / items / sqrt(3)
        assert again.interval.high - again.difference == pytest.approx(half_width)


@given(st.lists(st.tuples(accuracy, accuracy), min_size=2, max_size=6), st.integers(1, 1000))
def test_draws_are_never_certain(pairs: list[tuple[float, float]], items: int) -> None:
    first, second = zip(*pairs, strict=True)
    paired = compare_draws(first, second, items=items)
    assert 0 < paired.t_p <= 1
    assert paired.interval.low < paired.interval.high


@pytest.mark.parametrize("draws_", [2, 3, 5])
@pytest.mark.parametrize(("items", "differ"), [(20, 0.4), (100, 0.03), (400, 0.01)])
def test_false_alarms_over_draws_are_rare(draws_: int, items: int, differ: float) -> None:
    """Two equally good encoders that differ on few items: their gains are often equal by chance."""
    generator = np.random.default_rng(0)
    different = generator.binomial(items, differ, size=(2000, draws_))
    differences = (2 * generator.binomial(different, 0.5) - different) / items
    p_values = [compare_draws(draw_gains, [0.0] * draws_, items=items).t_p for draw_gains in differences]
    assert np.mean(np.array(p_values) < 0.05) < 0.06
