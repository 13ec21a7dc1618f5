"""Spearman's rank correlation of few values, with its interval and p-value.

Formulas for many values do not hold for the few encoders that are compared. So the interval is a percentile bootstrap,
and the p-value is by permutation: exact if there are few orders, else by a random sample. Both are seeded.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import factorial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sentprobe.probes.statistics import Floats, Interval

Orders = NDArray[np.int64]

MIN_VALUES = 3
"""The correlation of two values is always 1 or -1."""

RESAMPLE_COUNT = 2_000
MAX_ORDERS = 10_000
"""The maximum number of orders for an exact p-value; of more orders, a sample is used."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCorrelation:
    """Spearman's correlation of two rankings."""

    rho: float
    """From -1 to 1; ties have the mean of their ranks."""
    interval: Interval
    p: float
    """The share of random orders whose correlation is at least as far from 0."""
    n: int


def compute_rank_correlation(first: ArrayLike, second: ArrayLike, *, seed: int) -> RankCorrelation | None:
    """Return Spearman's correlation of two sequences, (n,); None for fewer than three values or constant ones."""
    first_values, second_values = (np.asarray(values, np.float64) for values in (first, second))
    if len(first_values) < MIN_VALUES or np.ptp(first_values) == 0 or np.ptp(second_values) == 0:
        return None
    a, b = _standardize_ranks(first_values[None])[0], _standardize_ranks(second_values[None])[0]
    rho = float(np.clip(a @ b, -1.0, 1.0))  # but for rounding
    return RankCorrelation(
        rho=rho,
        interval=bootstrap_interval(first_values, second_values, seed=seed),
        p=_compute_p_value(a, b, rho, seed=seed),
        n=len(first_values),
    )


def bootstrap_interval(first: Floats, second: Floats, *, seed: int) -> Interval:
    """Return the 95% percentile interval over resamples without constant sequences (-1 to 1 if there are none)."""
    n = len(first)
    drawn = np.random.default_rng([seed, n]).integers(0, n, (RESAMPLE_COUNT, n))
    correlations = np.einsum("ij,ij->i", _standardize_ranks(first[drawn]), _standardize_ranks(second[drawn]))
    correlations = correlations[np.isfinite(correlations)]
    if not len(correlations):
        return Interval(-1.0, 1.0)
    low, high = np.clip(np.quantile(correlations, [0.025, 0.975]), -1.0, 1.0)  # but for rounding
    return Interval(float(low), float(high))


def _standardize_ranks(values: Floats) -> Floats:
    """Return the ranks in each row, (m, n), with mean 0 and length 1; NaN where all are equal."""
    from scipy.stats import rankdata

    ranks = rankdata(values, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    lengths = np.sqrt((ranks * ranks).sum(axis=1, keepdims=True))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(lengths > _ROUNDING, ranks / lengths, np.nan), np.float64)


def _compute_p_value(a: Floats, b: Floats, rho: float, *, seed: int) -> float:
    orders = _list_orders(len(a), seed)
    beyond = int((np.abs(b[orders] @ a) >= abs(rho) - _ROUNDING).sum())
    if factorial(len(a)) <= MAX_ORDERS:
        return beyond / len(orders)
    return (beyond + 1) / (len(orders) + 1)


@lru_cache(maxsize=8)
def _list_orders(n: int, seed: int) -> Orders:
    """Return orders of n values, (m, n): all, or a random sample."""
    if factorial(n) <= MAX_ORDERS:
        return np.array(list(permutations(range(n))), np.int64)
    rng = np.random.default_rng([seed, n, 1])
    return rng.permuted(np.tile(np.arange(n), (MAX_ORDERS, 1)), axis=1)
