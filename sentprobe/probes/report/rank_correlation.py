"""Spearman's rank correlation of few values: the figure, its interval, and its p-value.

With as few encoders as people compare, formulas for many values do not hold. So the interval is by
bootstrap (percentiles over values drawn with replacement), and the p-value is by permutation: exact
where there are few orders, else by a random sample of them. All that is random has a seed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import factorial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sentprobe.probes.statistics import Floats, Interval

Orders = NDArray[np.int64]

LEAST = 3
"""Of two values the correlation is 1 or -1, whatever they are."""

RESAMPLES = 2_000
ORDERS = 10_000
"""Where there are no more orders than these, all are tried."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCorrelation:
    """How alike two rankings are."""

    rho: float
    """From -1 (one is the other turned round) to 1; ties have the mean of their ranks."""
    interval: Interval
    """95%; see :func:`bootstrap`."""
    p: float
    """How often a random order is as far from 0."""
    n: int
    """Of how many values."""


def rank_correlation(first: ArrayLike, second: ArrayLike, *, seed: int) -> RankCorrelation | None:
    """Return Spearman's correlation of two sequences, (n,); None where it is not defined.

    It is not where there are fewer than three values, or all of one sequence are equal.
    """
    one, other = (np.asarray(values, np.float64) for values in (first, second))
    if len(one) < LEAST or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    a, b = _standard(one[None])[0], _standard(other[None])[0]
    rho = float(np.clip(a @ b, -1.0, 1.0))  # but for rounding
    return RankCorrelation(
        rho=rho,
        interval=bootstrap(one, other, seed=seed),
        p=_p_value(a, b, rho, seed=seed),
        n=len(one),
    )


def bootstrap(first: Floats, second: Floats, *, seed: int) -> Interval:
    """Return the percentile interval (95%) of the correlation over resampled values.

    Resamples in which all values of one sequence are equal have no correlation, and do not count;
    if none is left, the interval is from -1 to 1.
    """
    found = np.concatenate([*_resampled(first, second, seed=seed)])
    found = found[np.isfinite(found)]
    if not len(found):
        return Interval(-1.0, 1.0)
    low, high = np.clip(np.quantile(found, [0.025, 0.975]), -1.0, 1.0)  # but for rounding
    return Interval(float(low), float(high))


def _resampled(first: Floats, second: Floats, *, seed: int) -> Iterator[Floats]:
    """Yield the correlations of the resamples, a block at a time to bound the memory."""
    n = len(first)
    drawn = np.random.default_rng([seed, n]).integers(0, n, (RESAMPLES, n))
    block = max(1, 4_000_000 // (n * n))
    for start in range(0, RESAMPLES, block):
        rows = drawn[start : start + block]
        yield np.einsum("ij,ij->i", _standard(first[rows]), _standard(second[rows]))


def _standard(values: Floats) -> Floats:
    """Return the ranks in each row, (m, n), of mean 0 and length 1; NaN where all are equal."""
    above = (values[:, :, None] > values[:, None, :]).sum(axis=2)
    equal = (values[:, :, None] == values[:, None, :]).sum(axis=2)
    ranks = above + (equal - 1) / 2
    ranks -= ranks.mean(axis=1, keepdims=True)
    lengths = np.sqrt((ranks * ranks).sum(axis=1, keepdims=True))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(lengths > _ROUNDING, ranks / lengths, np.nan), np.float64)


def _p_value(a: Floats, b: Floats, rho: float, *, seed: int) -> float:
    orders = _orders(len(a), seed)
    beyond = int((np.abs(b[orders] @ a) >= abs(rho) - _ROUNDING).sum())
    if factorial(len(a)) <= ORDERS:
        return beyond / len(orders)
    return (beyond + 1) / (len(orders) + 1)


@lru_cache(maxsize=8)
def _orders(n: int, seed: int) -> Orders:
    """Return orders of n values, (m, n): all, or a random sample."""
    if factorial(n) <= ORDERS:
        return np.array(list(permutations(range(n))), np.int64)
    rng = np.random.default_rng([seed, n, 1])
    return rng.permuted(np.tile(np.arange(n), (ORDERS, 1)), axis=1)
