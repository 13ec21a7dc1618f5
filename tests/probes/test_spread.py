"""Variance components over draws, by hand and compared with SciPy; paired draws."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sentprobe.common.errors import UsageError
from sentprobe.probes.statistics import compare_draws, decompose_spread, student_quantile, two_sided_t_p_value

accuracy = st.integers(0, 1000).map(lambda right: right / 1000)
draws = st.lists(st.lists(accuracy, min_size=1, max_size=5), min_size=2, max_size=5)


def test_by_hand() -> None:
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
def test_one_probe_in_each_draw_cannot_be_taken_apart(values: list[float]) -> None:
    spread = decompose_spread([[value] for value in values])
    assert spread.probes is None
    assert spread.draws == pytest.approx(spread.total, abs=1e-9)


def test_variances_of_a_known_model_are_found() -> None:
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


def test_too_few_draws() -> None:
    with pytest.raises(UsageError, match="1 draw has no spread between draws"):
        decompose_spread([[0.5, 0.6]])
    for first, second in (([0.5], [0.6]), ([0.5, 0.5], [0.5])):
        with pytest.raises(UsageError, match="draws cannot be paired"):
            compare_draws(first, second, items=100)


def test_equal_gains_have_the_spread_of_one_item() -> None:
    paired = compare_draws([0.50, 0.52], [0.49, 0.51], items=100)
    assert paired.t_p == pytest.approx(2 * stats.t.sf(sqrt(2), 1))
    assert paired.interval.low < 0 < paired.interval.high
    for gain, items in ((0.1, 100), (0.02, 1000), (0.01, 100)):
        again = compare_draws([0.5 + gain] * 3, [0.5] * 3, items=items)
        assert again.t_p == pytest.approx(2 * stats.t.sf(gain * items * sqrt(3), 2), rel=1e-6)
        half_width = stats.t.ppf(0.975, 2) / items / sqrt(3)
        assert again.interval.high - again.difference == pytest.approx(half_width)


@given(st.lists(st.tuples(accuracy, accuracy), min_size=2, max_size=6), st.integers(1, 1000))
def test_no_draws_are_certain(pairs: list[tuple[float, float]], items: int) -> None:
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
