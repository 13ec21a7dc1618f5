"""Confidence intervals and variance components of accuracies, and paired tests of two encoders.

Items of one unit, such as a mirror pair, are not independent. Therefore, statistics of items are computed per unit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from math import hypot, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sentprobe.common.errors import UsageError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval from *low* to *high*."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def format_percent(self) -> str:
        """Return both ends in percent, such as "47.0 to 53.0"."""
        return f"{100 * self.low:.1f} to {100 * self.high:.1f}"


def wilson(correct: float, total: float, *, confidence: float = 0.95) -> Interval:
    """Return the Wilson score interval of a proportion (Wilson 1927, equation 4).

    - correct: number of correct answers, or its mean over several probes
    - total: number of answers; see :func:`accuracy_interval` for a case in which it is not an integer

    >>> interval = wilson(50, 100)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.4038, 0.5962)
    """
    if total <= 0 or not 0 <= correct <= total:
        raise UsageError(f"{correct} correct of {total} is not a proportion")
    z = normal_quantile(confidence)
    share = correct / total
    scale = 1 + z * z / total
    centre = (share + z * z / (2 * total)) / scale
    half_width = z / scale * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    # The formula may miss 0 and 1 by a rounding error.
    low = 0.0 if correct == 0 else max(0.0, centre - half_width)
    high = 1.0 if correct == total else min(1.0, centre + half_width)
    return Interval(low, high)


def compute_upper_bound(counts: ArrayLike, total: float, *, confidence: float = 0.95) -> Floats:
    """Return the one-sided upper confidence bound of each proportion *counts* / *total* (Clopper and Pearson 1934).

    The bound is exact for independent items. *counts* and *total* need not be integers: see :func:`wilson`.
    """
    from scipy.special import betaincinv

    array = np.asarray(counts, np.float64)
    misses = np.maximum(total - array, 0.0)
    bounds = betaincinv(array + 1, np.maximum(misses, 1e-300), confidence)
    return np.where(misses > 0, bounds, 1.0)


def chance_interval(share: float, total: float, *, confidence: float = 0.95) -> Interval:
    """Return the range in which an accuracy on *total* items does not differ significantly from *share*.

    The range consists of all accuracies whose Wilson interval includes *share*.

    >>> interval = chance_interval(0.5, 1000, confidence=0.99)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.459, 0.541)
    """
    half_width = normal_quantile(confidence) * sqrt(share * (1 - share) / total)
    return Interval(max(0.0, share - half_width), min(1.0, share + half_width))


def binomial_p_value(correct: float, total: float, share: float) -> float:
    """Return the two-sided p-value (twice the smaller tail) of the binomial test with an expected accuracy of *share*.

    *correct* and *total* need not be integers: see :func:`wilson`.

    >>> round(binomial_p_value(9, 10, 0.5), 4)
    0.0215
    """
    from scipy.special import betainc

    above = betainc(correct, total - correct + 1, share) if correct > 0 else 1.0
    below = betainc(total - correct, correct + 1, 1 - share) if correct < total else 1.0
    return min(1.0, 2 * float(min(above, below)))


def has_balanced_labels(majority: float, labels: int | None = None) -> bool:
    """Return whether labels are about equally common: *majority* differs from 1 / *labels* by less than 2%.

    - majority: share of test items with the most common label of training (or of test); if it is 0, return False
    - labels: number of labels; None: 1 / *majority*, rounded to an integer

    >>> [has_balanced_labels(*args) for args in ((167 / 1000, 6), (0.5, 3), (0.5,), (0.6,))]
    [True, False, True, False]
    >>> has_balanced_labels(0.0)  # no test item has the most common training label
    False
    """
    if not majority:
        return False
    expected = 1 / (labels or round(1 / majority))
    return abs(majority - expected) < 0.02 * expected


def normal_quantile(confidence: float) -> float:
    """Return the z such that a standard normal variable is in [-z, z] with probability *confidence*."""
    if not 0 < confidence < 1:
        raise UsageError(f"confidence {confidence} is not between 0 and 1")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def sum_by_unit(values: ArrayLike, units: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the sum of values in each unit, and the number of items in each unit, both (units,) float64.

    - values: (n,), value of each item
    - units: (n,), unit number of each item; if empty, each item is a unit of its own
    """
    array = np.asarray(values, dtype=np.float64)
    if not len(units):
        return array, np.ones(len(array))
    unit_numbers, sizes = _number_units(tuple(units))
    return np.bincount(unit_numbers, weights=array).astype(np.float64), sizes.copy()


@lru_cache(maxsize=16)  # a table has few datasets, and many results on each dataset
def _number_units(units: tuple[int, ...]) -> tuple[NDArray[np.int64], Floats]:
    """Renumber units from 0; return the new unit number of each item, (n,), and each unit's size, (units,)."""
    _, unit_numbers = np.unique(np.array(units), return_inverse=True)
    return unit_numbers, np.bincount(unit_numbers).astype(np.float64)


def design_effect(scores: ArrayLike, units: Sequence[int]) -> float:
    """Return the design effect (Kish 1965, section 8.2), at least 1: the factor by which units raise a mean's variance.

    The design effect is the quotient of two variances of the mean score p of n items. The first variance assumes that
    U units are sampled. It is the usual estimate for a ratio, here the sum of scores divided by the number of items.
    This estimate has the factor U / (U - 1). The second variance assumes that all items are independent. It is
    p (1 - p) / n.

    If p is 0 or 1, the design effect cannot be estimated. In this case, the worst case is assumed: all items of a unit
    agree. The result is then the sum of squared unit sizes, divided by n. For a single unit, the result is n.

    - scores: (n,), score of each item, between 0 and 1
    - units: (n,), unit number of each item; if empty, each item is a unit of its own

    >>> design_effect([1, 1, 0, 0], [0, 0, 1, 1]), design_effect([1, 0, 1, 0], [0, 0, 1, 1])
    (4.0, 1.0)
    """
    sums, sizes = sum_by_unit(scores, units)
    count, total = len(sums), sizes.sum()
    if count == total:
        return 1.0
    if count == 1:
        return float(total)
    share = sums.sum() / total
    independent = share * (1 - share) / total
    if independent < 1e-15:  # p is 0 or 1, but for rounding
        return float((sizes**2).sum() / total)
    clustered = ((sums - sizes * share) ** 2).sum() / total**2 * count / (count - 1)
    return float(max(1.0, clustered / independent))


def count_effective(units: ArrayLike) -> float:
    """Return the effective number of items in the worst case, in which all items of a unit agree.

    It is n^2 divided by the sum of squared unit sizes (Kish 1965). *units* are the unit numbers of n items, at least 1.

    >>> count_effective([1, 2, 3, 4]), count_effective([1, 1, 2, 2])
    (4.0, 2.0)
    """
    sizes = np.unique(np.asarray(units), return_counts=True)[1].astype(np.float64)
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def accuracy_interval(scores: ArrayLike, units: Sequence[int], *, confidence: float = 0.95) -> Interval:
    """Return the Wilson interval of the mean score. It covers only the uncertainty due to the choice of test items.

    The number of items is replaced by an effective number, n / :func:`design_effect`. The interval is therefore at
    least as wide as for independent items. If each score is a mean over several probes, it is wider than necessary:
    such a mean is treated as one probe's answer. *scores* and *units* are as in :func:`design_effect`.
    """
    array = np.asarray(scores, dtype=np.float64)
    share = float(np.clip(array.mean(), 0.0, 1.0))
    effective = len(array) / design_effect(array, units)
    return wilson(share * effective, effective, confidence=confidence)


def difference_interval(first: tuple[float, Interval], second: tuple[float, Interval]) -> Interval:
    """Return the interval of *first* minus *second*, two proportions that were measured on different items.

    The method is Newcombe 1998, method 10 (hybrid score). Each argument is a proportion and its Wilson interval.
    """
    (first_share, first_interval), (second_share, second_interval) = first, second
    # Lowest if the first is at its low end and the second at its high end; the two errors are independent.
    below = hypot(first_share - first_interval.low, second_interval.high - second_share)
    above = hypot(first_interval.high - first_share, second_share - second_interval.low)
    return Interval(first_share - second_share - below, first_share - second_share + above)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadParts:
    """The spread of accuracies over several draws, from :func:`decompose_spread`."""

    mean: float
    total: float
    """Sample standard deviation of the accuracies of all probes of all draws."""
    draws: float
    """Standard deviation due to differences between draws (and between probes, if each draw has only one probe)."""
    probes: float | None
    """Standard deviation of the probes of one draw; None if each draw has only one probe."""
    interval: Interval


def decompose_spread(groups: Sequence[Sequence[float]]) -> SpreadParts:
    """Decompose the spread of accuracies into the spread between draws and the spread between probes of a draw.

    - groups: for each draw, the accuracies of its probes; raises UsageError for fewer than two draws

    The model has one-way random effects, y_ij = m + a_i + e_ij, and is estimated by analysis of variance (Searle,
    Casella and McCulloch 1992, Variance Components, chapter 3). With n_i probes in draw i, d draws and N probes:

    - mean squares: MSB = sum n_i (y_i. - y..)^2 / (d - 1), MSW = sum (y_ij - y_i.)^2 / (N - d)
    - ``probes``: the square root of the estimated variance of e, MSW
    - ``draws``: the square root of the estimated variance of a, (MSB - MSW) / n_0, or 0 if that is negative, with
      n_0 = (N - sum n_i^2 / N) / (d - 1), which is n if each draw has n probes

    ``interval`` is the 95% t interval of the mean of the draws' means, with d - 1 degrees of freedom.

    >>> spread = decompose_spread([[0.80, 0.82], [0.90, 0.92], [0.85, 0.87]])
    >>> round(spread.mean, 3), round(spread.draws, 4), round(spread.probes, 4)
    (0.86, 0.049, 0.0141)
    """
    if len(groups) < 2:
        raise UsageError(f"{len(groups)} draw has no spread between draws")
    values = np.concatenate([np.asarray(group, dtype=np.float64) for group in groups])
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    means = np.array([np.mean(group) for group in groups])
    total, draws = len(values), len(groups)
    between = float((sizes * (means - values.mean()) ** 2).sum()) / (draws - 1)
    residuals = ((values - np.repeat(means, sizes.astype(int))) ** 2).sum()
    within = float(residuals) / (total - draws) if total > draws else None
    # n_0 in the docstring, by which the variance between draws enters MSB.
    effective_size = (total - float((sizes**2).sum()) / total) / (draws - 1)
    return SpreadParts(
        mean=float(means.mean()),
        total=float(values.std(ddof=1)),
        draws=sqrt(max(0.0, between - (within or 0.0)) / effective_size),
        probes=None if within is None else sqrt(within),
        interval=_draws_interval(means, low=0.0),
    )


def _draws_interval(values: Floats, *, low: float, min_spread: float = 0.0) -> Interval:
    """Return the 95% t interval of a mean, clipped to [*low*, 1]; its standard deviation is at least *min_spread*."""
    count, mean, spread = len(values), float(values.mean()), max(min_spread, float(values.std(ddof=1)))
    half_width = student_quantile(0.95, count - 1) * spread / sqrt(count)
    return Interval(max(low, mean - half_width), min(1.0, mean + half_width))


def two_sided_t_p_value(t: float, freedom: float) -> float:
    """Return the two-sided p-value of Student's t with *freedom* degrees of freedom; tiny values are accurate, too."""
    from scipy.special import stdtr

    return 2 * float(stdtr(freedom, -abs(t)))


def student_quantile(confidence: float, freedom: float) -> float:
    """Return the t such that a variable with Student's distribution is in [-t, t] with probability *confidence*."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + confidence) / 2))


class Correction(StrEnum):
    """Methods to correct p-values for the number of comparisons."""

    HOLM = "holm"
    """Holm (1979): controls the family-wise error rate."""
    BH = "bh"
    """Benjamini and Hochberg (1995): controls the false discovery rate."""
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedComparison:
    """Paired tests of the difference between two encoders."""

    difference: float
    """Mean accuracy of the first encoder minus that of the second."""
    interval: Interval
    wins: int
    losses: int
    sign_p: float
    """P-value of the exact sign test (if units are single items: McNemar's exact test)."""
    t_p: float
    """P-value of the paired t-test, as in Adi et al. 2017."""


def compare_items(first: NDArray[np.bool_], second: NDArray[np.bool_], units: Sequence[int] = ()) -> PairedComparison:
    """Compare two encoders by the test items that their probes answer correctly.

    - first, second: whether each item is answered correctly, (seeds, n) bool; the numbers of seeds may differ
    - units: (n,), unit number of each item; if empty, each item is a unit of its own

    See :func:`compare_unit_sums`. Raises UsageError if the numbers of items differ or are zero.
    """
    if first.shape[1] != second.shape[1] or not first.size or not second.size:
        raise UsageError(f"{first.shape[1]} and {second.shape[1]} items cannot be paired")
    (sums, sizes), (other_sums, _) = (sum_by_unit(right.sum(axis=0), units) for right in (first, second))
    (comparison,) = compare_unit_sums([(sums, len(first))], [(other_sums, len(second))], sizes)
    return comparison


def compare_unit_sums(
    first: Sequence[tuple[Floats, int]], second: Sequence[tuple[Floats, int]], sizes: Floats
) -> list[PairedComparison]:
    """Compare pairs of encoders whose probes were tested on the same items.

    - first, second: for each pair, an encoder's number of correct answers in each unit, (units,), summed over seeds,
      and its number of seeds
    - sizes: the number of items of each unit, (units,)

    An observation is an encoder's accuracy on one unit, over all seeds. The sign test (exact binomial test) counts the
    units in which the first encoder is better and those in which the second is; it ignores ties. For one seed and
    units of one item, it is McNemar's exact test (McNemar 1947). The t-test is paired over units, as in Adi et al.
    2017, appendix III. The interval of the difference in accuracy allows for units of unequal size (it is that of a
    ratio, see :func:`design_effect`). It uses Student's t with (number of units) - 1 degrees of freedom.
    """
    first_sums, second_sums = (np.stack([sums for sums, _ in side]) for side in (first, second))
    seeds, other_seeds = (np.array([[count] for _, count in side]) for side in (first, second))
    # Each encoder's sums are multiplied by the other's number of seeds: integers, so that ties are exact.
    gains = first_sums * other_seeds - second_sums * seeds  # (pairs, units)
    wins, losses = (gains > 0).sum(axis=1), (gains < 0).sum(axis=1)
    count, total = len(sizes), float(sizes.sum())
    differences = gains / (seeds * other_seeds)
    mean_differences = gains.sum(axis=1) / (seeds * other_seeds)[:, 0] / total
    # One unit has no variance: its interval, once clipped, is all of [-1, 1].
    half_widths = np.full(len(gains), 2.0)
    if count > 1:
        squares = ((differences - mean_differences[:, np.newaxis] * sizes) ** 2).sum(axis=1)
        half_widths = student_quantile(0.95, count - 1) * (np.sqrt(squares * count / (count - 1)) / total)
    figures = (
        mean_differences,
        np.maximum(-1.0, mean_differences - half_widths),
        np.minimum(1.0, mean_differences + half_widths),
        wins,
        losses,
        compute_sign_tests(wins, losses),
        compute_t_tests(differences / sizes),
    )
    return [
        PairedComparison(
            difference=difference, interval=Interval(low, high), wins=won, losses=lost, sign_p=sign_p, t_p=t_p
        )
        for difference, low, high, won, lost, sign_p, t_p in zip(*(values.tolist() for values in figures), strict=True)
    ]


def compare_draws(first: Sequence[float], second: Sequence[float], *, items: int) -> PairedComparison:
    """Compare two encoders by their mean accuracies in the same draws; raise UsageError for fewer than two draws.

    - first, second: mean accuracy of each draw
    - items: number of test items of a draw; if draws differ, the smallest number

    An observation is an encoder's accuracy in a draw, so the tests and the interval generalise to other draws. The sign
    test compares the numbers of draws in which each encoder is better. The t-test is paired over draws.

    In the t-test and the interval, the standard deviation is at least 1 / items. With few draws, all differences may
    be equal by chance. Without this minimum, two draws wrongly show a significant difference in up to 11% of cases.
    """
    if len(first) != len(second) or len(first) < 2:
        raise UsageError(f"{len(first)} and {len(second)} draws cannot be paired")
    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    return PairedComparison(
        difference=float(differences.mean()),
        interval=_draws_interval(differences, low=-1.0, min_spread=1 / items),
        wins=wins,
        losses=losses,
        sign_p=compute_sign_test(wins, losses),
        t_p=float(compute_t_tests(differences[np.newaxis], min_spread=1 / items)[0]),
    )


def compute_sign_test(wins: int, losses: int) -> float:
    """Return the two-sided p-value of the exact sign test; 1 if *wins* and *losses* are both 0."""
    return float(compute_sign_tests(np.array([wins]), np.array([losses]))[0])


def compute_sign_tests(wins: NDArray[np.int64], losses: NDArray[np.int64]) -> Floats:
    """Return the two-sided p-values of n exact sign tests, (n,) float64, for (n,) wins and losses."""
    from scipy.special import bdtr

    total = wins + losses
    # With p = 1/2 both tails are equal. With as many wins as losses they overlap, and twice one tail exceeds 1.
    p_values = 2 * bdtr(np.minimum(wins, losses).astype(np.float64), total, 0.5)
    return np.asarray(np.minimum(1.0, p_values), np.float64)


def compute_t_tests(differences: Floats, *, min_spread: float = 0.0) -> Floats:
    """Return the p-values of paired t-tests, (tests,), of (tests, n) differences.

    A standard deviation below *min_spread* is replaced by *min_spread*. With fewer than two differences or a mean of 0,
    p is 1. Otherwise, if all are equal and *min_spread* is 0, p is 0.
    """
    from scipy.special import stdtr

    count, means = differences.shape[1], np.abs(differences.mean(axis=1))
    if count < 2:
        return np.ones(len(differences))
    # Rounding may give equal differences a tiny standard deviation, and so a huge t.
    spreads = np.where(np.ptp(differences, axis=1) > 0, differences.std(axis=1, ddof=1), 0.0)
    spreads = np.maximum(min_spread, spreads)
    t = np.divide(means * sqrt(count), spreads, out=np.full_like(means, np.inf), where=spreads > 0)
    return np.asarray(np.where(means > 0, 2 * stdtr(count - 1, -t), 1.0), np.float64)


def correct_p_values(p_values: Sequence[float], method: Correction) -> list[float]:
    """Correct p-values for multiple testing by a method such as Holm's; return them in the given order.

    >>> [round(p, 4) for p in correct_p_values([0.01, 0.04, 0.03], Correction.HOLM)]
    [0.03, 0.06, 0.06]
    """
    method = Correction(method)
    if method is Correction.NONE or not p_values:
        return list(p_values)
    values = np.asarray(p_values)
    if method is Correction.BH:
        from scipy.stats import false_discovery_control

        return [float(value) for value in false_discovery_control(values)]
    # Holm: the k-th smallest of m p-values is multiplied by m - k + 1, and is at least as large as those before it.
    order = np.argsort(values, kind="stable")
    corrected = np.empty_like(values)
    corrected[order] = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    return [float(value) for value in np.minimum(corrected, 1.0)]
