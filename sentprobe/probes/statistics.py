"""Confidence intervals of accuracies, what their spread is due to, and paired tests of encoders.

Of items, all is over units: items of one unit are not independent.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from math import exp, hypot, lgamma, log, pi, sqrt, tan
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sentprobe.errors import UsageError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """From *low* to *high*, both included."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def wilson(correct: float, total: float, *, confidence: float = 0.95) -> Interval:
    """Return the Wilson score interval of a proportion (Wilson 1927, equation 4).

    Neither number needs to be whole: *correct* may be a mean over several probes, *total* an
    effective number of items.

    >>> interval = wilson(50, 100)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.4038, 0.5962)
    """
    if total <= 0 or not 0 <= correct <= total:
        raise UsageError(f"{correct} correct of {total} is not a proportion")
    z = quantile(confidence)
    share = correct / total
    scale = 1 + z * z / total
    centre = (share + z * z / (2 * total)) / scale
    half = z / scale * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    low = 0.0 if correct == 0 else max(0.0, centre - half)
    high = 1.0 if correct == total else min(1.0, centre + half)
    return Interval(low, high)


def around(share: float, total: float, *, confidence: float = 0.95) -> Interval:
    """Return where the accuracy on *total* items should be if each is right with chance *share*.

    Its ends are the accuracies whose Wilson interval just reaches *share*.

    >>> interval = around(0.5, 1000, confidence=0.99)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.459, 0.541)
    """
    half = quantile(confidence) * sqrt(share * (1 - share) / total)
    return Interval(max(0.0, share - half), min(1.0, share + half))


def balanced(majority: float, labels: int | None = None) -> bool:
    """Say whether the commonest of so many labels is about as common as the others.

    If not, answers that know nothing are right less often than always giving that label. Where
    the number of labels is not known (None), *majority* is compared with the nearest 1 / n.

    >>> balanced(167 / 1000, 6), balanced(0.5, 3), balanced(0.5), balanced(0.6)
    (True, False, True, False)
    >>> balanced(0.0)  # the label that is commonest in training, in no test item
    False
    """
    if not majority:
        return False
    expected = 1 / (labels or round(1 / majority))
    return abs(majority - expected) < 0.02 * expected


def quantile(confidence: float) -> float:
    """Return how many standard deviations to either side hold that share of a normal variable."""
    if not 0 < confidence < 1:
        raise UsageError(f"confidence {confidence} is not between 0 and 1")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def per_unit(values: ArrayLike, units: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the sum of *values* over each unit, and its number of items: (units,) float64 each.

    *units* says for each item to which unit it belongs; none at all means that all differ.
    """
    array = np.asarray(values, dtype=np.float64)
    if not len(units):
        return array, np.ones(len(array))
    _, places = np.unique(np.asarray(units), return_inverse=True)
    sums = np.bincount(places, weights=array).astype(np.float64)
    return sums, np.bincount(places).astype(np.float64)


def design_effect(scores: ArrayLike, units: Sequence[int]) -> float:
    """Return by how much belonging together widens the variance of a mean; 1 at the least.

    Kish (1965, section 8.2): the variance of the mean of the items as they were sampled, in
    units, over that of as many independent ones. The numerator is the usual estimate for a ratio
    of unit totals (with the factor U / (U - 1) for U units), the denominator p (1 - p) / n for a
    mean score p. Where all scores are equal it cannot be estimated, and the worst case
    (all items of a unit agree) is returned, the sum of squared sizes over n; for a single unit, n.

    - scores: (n,), how right each item is, between 0 and 1
    - units: (n,), items of one number belong together; empty: all differ

    >>> design_effect([1, 1, 0, 0], [0, 0, 1, 1]), design_effect([1, 0, 1, 0], [0, 0, 1, 1])
    (4.0, 1.0)
    """
    sums, sizes = per_unit(scores, units)
    count, total = len(sums), sizes.sum()
    if count == total:
        return 1.0
    if count == 1:
        return float(total)
    share = sums.sum() / total
    independent = share * (1 - share) / total
    if independent < 1e-15:
        return float((sizes**2).sum() / total)
    clustered = ((sums - sizes * share) ** 2).sum() / total**2 * count / (count - 1)
    return float(max(1.0, clustered / independent))


def accuracy_interval(
    scores: ArrayLike, units: Sequence[int], *, confidence: float = 0.95
) -> Interval:
    """Return Wilson's interval of the mean score, with the effective number of items.

    That is n over :func:`design_effect`, so the interval is never narrower than for independent
    items. It speaks of the choice of test items; scores that are means over several probes are
    treated as if each were one answer, which errs on the wide side.
    """
    array = np.asarray(scores, dtype=np.float64)
    share = float(np.clip(array.mean(), 0.0, 1.0))
    effective = len(array) / design_effect(array, units)
    return wilson(share * effective, effective, confidence=confidence)


def difference_interval(first: tuple[float, Interval], second: tuple[float, Interval]) -> Interval:
    """Return the interval of a difference of two shares of different items, each with its own.

    Newcombe 1998, method 10 (hybrid score): from the ends of both intervals, of Wilson's kind.

    >>> interval = difference_interval((56 / 70, wilson(56, 70)), (48 / 80, wilson(48, 80)))
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0524, 0.3339)
    """
    (one, own), (other, others) = first, second
    difference = one - other
    low = difference - hypot(one - own.low, others.high - other)
    high = difference + hypot(own.high - one, other - others.low)
    return Interval(low, high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The spread of accuracies over several draws, taken apart by :func:`take_apart`."""

    mean: float
    """Of the draws' means."""
    total: float
    """The standard deviation over all probes (of a sample)."""
    draws: float
    """The part of the draws, as a standard deviation; with one probe a draw, that of both."""
    probes: float | None
    """The part of the probes of one draw; None where each draw has one probe."""
    interval: Interval
    """95%, of the mean, in other draws."""


def take_apart(groups: Sequence[Sequence[float]]) -> Spread:
    """Take the spread of accuracies apart: *groups* has those of the probes of each draw.

    One-way random effects, y_ij = m + a_i + e_ij, estimated by analysis of variance (Searle,
    Casella and McCulloch 1992, Variance Components, chapter 3). For d draws with n_i probes each,
    N in all:

    - mean squares: MSB = sum n_i (y_i. - y..)^2 / (d - 1), MSW = sum (y_ij - y_i.)^2 / (N - d)
    - probes: the variance of e is MSW
    - draws: the variance of a is (MSB - MSW) / n_0, or 0 if that is negative, with
      n_0 = (N - sum n_i^2 / N) / (d - 1), which is n where all n_i are n

    The interval of the mean is Student's t over the draws' means, with d - 1 degrees of freedom.

    >>> spread = take_apart([[0.80, 0.82], [0.90, 0.92], [0.85, 0.87]])
    >>> round(spread.mean, 3), round(spread.draws, 4), round(spread.probes, 4)
    (0.86, 0.049, 0.0141)

    Raises:
        UsageError: there are fewer than two draws.
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
    usual = (total - float((sizes**2).sum()) / total) / (draws - 1)
    return Spread(
        mean=float(means.mean()),
        total=float(values.std(ddof=1)),
        draws=sqrt(max(0.0, between - (within or 0.0)) / usual),
        probes=None if within is None else sqrt(within),
        interval=_over_draws(means, low=0.0),
    )


def _over_draws(values: Floats, *, low: float, least: float = 0.0) -> Interval:
    """Return the 95% interval of the mean of independent values, between *low* and 1.

    Their standard deviation is taken to be *least* if it is smaller.
    """
    count, mean = len(values), float(values.mean())
    spread = max(least, float(values.std(ddof=1)))
    half = student_quantile(0.95, count - 1) * spread / sqrt(count)
    return Interval(max(low, mean - half), min(1.0, mean + half))


def student_beyond(t: float, freedom: int) -> float:
    """Return how much of Student's distribution is not between -t and t, as exactly if it is tiny.

    The incomplete beta function of freedom / (freedom + t^2), by its continued fraction (DLMF
    8.17.22) on the side where that converges. Without SciPy, as all here, so that results are
    shown and compared where it is not installed.

    >>> round(student_beyond(2.0, 10), 4)
    0.0734
    """
    ratio = t * t / freedom
    if not 1e-300 < ratio < 1e300:
        return 1.0 if ratio < 1 else 0.0
    outside, inside, half = 1 / (1 + ratio), 1 / (1 + 1 / ratio), freedom / 2
    if outside < (half + 1) / (half + 2.5):
        return _beta_share(half, 0.5, outside, inside)
    return 1 - _beta_share(0.5, half, inside, outside)


def _beta_share(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularized incomplete beta function of x, *rest* being 1 - x."""
    fraction = 1.0
    for m in range(30 + int(5 * sqrt(max(a, b))), -1, -1):
        even = (m + 1) * (b - m - 1) * x / ((a + 2 * m + 1) * (a + 2 * m + 2))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        fraction = 1 + odd / (1 + even / fraction)
    logs = a * log(x) + b * log(rest) - _log_beta(max(a, b))
    return min(1.0, exp(logs) / (a * fraction))


def _log_beta(half: float) -> float:
    """Return the logarithm of B(half, 1/2).

    Of a large number it is a series (DLMF 5.11.13): of two logarithms of gamma, which are huge,
    little is left that is exact.
    """
    if half < 1000:
        return lgamma(half) + lgamma(0.5) - lgamma(half + 0.5)
    return lgamma(0.5) - (log(half) / 2 - 1 / (8 * half) + 1 / (192 * half**3))


@cache
def student_quantile(confidence: float, freedom: int) -> float:
    """Return the t between whose negative and itself that share of Student's distribution is."""
    low, high = 0.0, pi / 2  # of the angle whose tangent is t over the root of the freedom
    for _ in range(60):
        middle = (low + high) / 2
        below = student_beyond(tan(middle) * sqrt(freedom), freedom) > 1 - confidence
        low, high = (middle, high) if below else (low, middle)
    return tan(low) * sqrt(freedom)


class Correction(StrEnum):
    """How p-values are corrected for the number of comparisons."""

    HOLM = "holm"
    """Holm (1979): the chance of any false claim among all stays below the level."""
    BH = "bh"
    """Benjamini and Hochberg (1995): the share of false claims does."""
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """What tests say of the difference between two encoders on the same items."""

    difference: float
    """Mean accuracy of the first less that of the second."""
    interval: Interval
    """95%, of the difference."""
    wins: int
    """Units in which the first has more right."""
    losses: int
    """Units in which the second has."""
    sign_p: float
    """The exact sign test over units (McNemar's exact test where each item is a unit)."""
    t_p: float
    """The paired t-test over units, as Adi et al. 2017 used it."""


def compare_items(
    first: NDArray[np.bool_], second: NDArray[np.bool_], units: Sequence[int] = ()
) -> Paired:
    """Compare two encoders by which test items their probes have right.

    - first, second: (seeds, n) bool, the numbers of seeds may differ
    - units: (n,), items of one number belong together and count as one observation; empty: all
      differ

    An observation is the mean over a unit's items and over the seeds. The sign test (the
    exact binomial test) counts the units in which either is better, ties left out: for one seed and
    units of one item it is McNemar's exact test (McNemar 1947). The paired t-test is
    over the units, as in Adi et al. 2017, appendix III. The interval is that of a ratio of unit
    totals with Student's t for units - 1 degrees of freedom.

    Raises:
        UsageError: the items are not as many, or there are none.
    """
    if first.shape[1] != second.shape[1] or not first.size or not second.size:
        raise UsageError(f"{first.shape[1]} and {second.shape[1]} items cannot be paired")
    # Whole numbers, so that a tie is exactly a tie: each side times the other's number of seeds.
    scale = len(first) * len(second)
    left, sizes = per_unit(first.sum(axis=0) * len(second), units)
    right, _ = per_unit(second.sum(axis=0) * len(first), units)
    wins, losses = int((left > right).sum()), int((left < right).sum())
    gains = (left - right) / scale
    difference = float((left.sum() - right.sum()) / scale / sizes.sum())
    return Paired(
        difference=difference,
        interval=_interval(gains, sizes, difference),
        wins=wins,
        losses=losses,
        sign_p=sign_test(wins, losses),
        t_p=_t_test(gains / sizes),
    )


def compare_draws(first: Sequence[float], second: Sequence[float], *, items: int) -> Paired:
    """Compare two encoders by their mean accuracies in the same draws, two or more of them.

    A draw is one observation, so the tests and the interval speak of other draws: the sign test
    counts the draws in which either is better, the t-test is paired over draws, and in both
    t-test and interval the spread is never below one item of a draw: see :func:`t_over_draws`.

    - items: the test items of a draw, the fewest if they are not as many in each

    Raises:
        UsageError: the draws are not as many, or fewer than two.
    """
    if len(first) != len(second) or len(first) < 2:
        raise UsageError(f"{len(first)} and {len(second)} draws cannot be paired")
    gains = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    wins, losses = int((gains > 0).sum()), int((gains < 0).sum())
    return Paired(
        difference=float(gains.mean()),
        interval=_over_draws(gains, low=-1.0, least=1 / items),
        wins=wins,
        losses=losses,
        sign_p=sign_test(wins, losses),
        t_p=t_over_draws(gains, items=items),
    )


def t_over_draws(gains: Floats, *, items: int) -> float:
    """Return the p-value of the paired t-test over draws, as ``compare_items`` does over units.

    Accuracies are multiples of 1 / items, so that a few gains may be equal by chance, as if they
    had no spread. Hence their standard deviation is taken to be 1 / items at the least: without
    that, two equally good encoders differ "significantly" in up to 11% of pairs of draws. Of one
    draw it is 1.
    """
    return _t_test(gains, least=1 / items)


def sign_test(wins: int, losses: int) -> float:
    """Return the two-sided p-value of the exact sign test; 1 when there is nothing but ties.

    >>> round(sign_test(9, 1), 5)
    0.02148
    """
    return float(sign_tests(np.array([wins]), np.array([losses]))[0])


def sign_tests(wins: NDArray[np.int64], losses: NDArray[np.int64]) -> Floats:
    """Return the p-values of many sign tests at once, (n,) float64 of (n,) and (n,) int64."""
    counts = np.arange(1, int(np.max(wins + losses, initial=0)) + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(counts))])  # of the factorials

    def one(fewer: int, total: int) -> float:
        below = np.arange(fewer + 1)
        ways = logs[total] - logs[below] - logs[total - below]
        return min(1.0, 2 * float(np.exp(ways - total * np.log(2)).sum()))

    pairs = zip(np.minimum(wins, losses).tolist(), (wins + losses).tolist(), strict=True)
    return np.array([one(*each) for each in pairs], dtype=np.float64)


def _t_test(gains: Floats, *, least: float = 0.0) -> float:
    """Return the p-value of the paired t-test, with a standard deviation of *least* or more.

    Where there is none, as all gains are equal, it is 1 for zero, else 0.
    """
    count, mean = len(gains), abs(float(gains.mean()))
    if count < 2 or mean == 0:
        return 1.0
    spread = max(least, float(gains.std(ddof=1)) if np.ptp(gains) else 0.0)
    return student_beyond(mean / spread * sqrt(count), count - 1) if spread else 0.0


def _interval(gains: Floats, sizes: Floats, difference: float) -> Interval:
    count, total = len(gains), sizes.sum()
    if count < 2:
        return Interval(-1.0, 1.0)
    spread = np.sqrt(((gains - difference * sizes) ** 2).sum() * count / (count - 1)) / total
    half = float(student_quantile(0.95, count - 1) * spread)
    return Interval(max(-1.0, difference - half), min(1.0, difference + half))


def correct(p_values: Sequence[float], method: Correction) -> list[float]:
    """Return p-values corrected for their number, in their order.

    >>> [round(p, 4) for p in correct([0.01, 0.04, 0.03], Correction.HOLM)]
    [0.03, 0.06, 0.06]
    """
    return CORRECTIONS[method](list(p_values)) if p_values else []


def _holm(p_values: list[float]) -> list[float]:
    values = np.asarray(p_values)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    return _back_in_order(stepped, order)


def _bh(p_values: list[float]) -> list[float]:
    values = np.asarray(p_values)
    order = np.argsort(values, kind="stable")[::-1]
    stepped = np.minimum.accumulate(values[order] * len(values) / np.arange(len(values), 0, -1))
    return _back_in_order(stepped, order)


def _back_in_order(stepped: Floats, order: NDArray[np.intp]) -> list[float]:
    corrected = np.empty_like(stepped)
    corrected[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in corrected]


CORRECTIONS: Mapping[Correction, Callable[[list[float]], list[float]]] = {
    Correction.HOLM: _holm,
    Correction.BH: _bh,
    Correction.NONE: list,
}
"""How each correction is computed."""
