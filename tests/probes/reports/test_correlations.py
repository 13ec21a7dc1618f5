"""Spearman's correlation agrees with SciPy and with its own properties."""

from itertools import permutations

import numpy as np
import pytest
from helpers.thoroughness import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from sentprobe.probes.reports.correlations import compute_rank_correlation

values = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=3, max_size=12)


@examples(60)
@given(values)
def test_correlation_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    correlation = compute_rank_correlation(first, second, seed=0)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert correlation is None
        return
    assert correlation is not None
    assert correlation.rho == pytest.approx(spearmanr(first, second).statistic, abs=1e-12)
    assert -1 <= correlation.interval.low <= correlation.interval.high <= 1
    assert 0 < correlation.p <= 1


@examples(20)
@given(values, st.integers(0, 5))
def test_only_ranks_count(pairs: list[tuple[int, int]], seed: int) -> None:
    first, second = (np.array(values_of_side, float) for values_of_side in zip(*pairs, strict=True))
    assume(np.ptp(first) > 0)
    assume(np.ptp(second) > 0)
    plain = compute_rank_correlation(first, second, seed=seed)
    assert plain == compute_rank_correlation(np.exp(first), 3 * second + 1, seed=seed)
    turned = compute_rank_correlation(-first, second, seed=seed)
    assert plain is not None
    assert turned is not None
    assert turned.rho == pytest.approx(-plain.rho)
    assert turned.p == plain.p


@pytest.mark.parametrize(("n", "p"), [(3, 2 / 6), (4, 2 / 24), (5, 2 / 120)])
def test_p_value_counts_all_orders(n: int, p: float) -> None:
    """One order agrees and one is turned round."""
    correlation = compute_rank_correlation(range(n), range(n), seed=0)
    assert correlation is not None
    assert correlation.rho == pytest.approx(1)
    assert correlation.p == pytest.approx(p)


def test_sampled_p_value_is_near_scipys() -> None:
    rng = np.random.default_rng(2)
    first = rng.normal(size=40)
    second = first + 2 * rng.normal(size=40)
    correlation = compute_rank_correlation(first, second, seed=1)
    assert correlation is not None
    assert correlation.p == pytest.approx(spearmanr(first, second).pvalue, abs=0.01)
    assert correlation.interval.low < correlation.rho < correlation.interval.high
    assert correlation == compute_rank_correlation(first, second, seed=1)


def test_p_values_of_noise_are_uniform() -> None:
    rng = np.random.default_rng(0)
    correlations = [compute_rank_correlation(rng.normal(size=6), rng.normal(size=6), seed=0) for _ in range(200)]
    assert sum(correlation is not None and correlation.p < 0.1 for correlation in correlations) / 200 == pytest.approx(
        0.1, abs=0.07
    )


@pytest.mark.parametrize("few", [[], [1.0], [1.0, 2.0]])
def test_fewer_than_three_have_none(few: list[float]) -> None:
    assert compute_rank_correlation(few, few, seed=0) is None


def test_all_orders_of_four() -> None:
    """By hand: 1 - 6 * sum of squared differences of ranks / (n * (n * n - 1))."""
    for order in permutations(range(4)):
        correlation = compute_rank_correlation(range(4), order, seed=0)
        expected = 1 - 6 * sum((a - b) ** 2 for a, b in enumerate(order)) / 60
        assert correlation is not None
        assert correlation.rho == pytest.approx(expected, abs=1e-12)
