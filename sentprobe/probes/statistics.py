"""Confidence intervals of accuracies, and paired tests of whether two encoders differ.

Both are over units: items of one unit are not independent.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
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
    """
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
    over the units, as in Adi et al. 2017, section 4. The interval is that of a ratio of unit totals
    with Student's t for units - 1 degrees of freedom.

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


def sign_test(wins: int, losses: int) -> float:
    """Return the two-sided p-value of the exact sign test; 1 when there is nothing but ties.

    >>> round(sign_test(9, 1), 5)
    0.02148
    """
    from scipy.special import bdtr  # noqa: PLC0415 - slow import, and scipy.stats thrice as slow

    return min(1.0, 2 * float(bdtr(min(wins, losses), wins + losses, 0.5)))


def _t_test(gains: Floats) -> float:
    """Return the p-value of the paired t-test; where all gains are equal, 1 for zero, else 0."""
    from scipy.special import stdtr  # noqa: PLC0415 - slow import

    if np.ptp(gains) == 0 or len(gains) < 2:
        return 1.0 if len(gains) < 2 or gains[0] == 0 else 0.0
    with np.errstate(all="ignore"):  # nearly equal gains: nothing is left of their spread
        error = gains.std(ddof=1) / np.sqrt(len(gains))
        return float(2 * stdtr(len(gains) - 1, -abs(gains.mean() / error)))


def _interval(gains: Floats, sizes: Floats, difference: float) -> Interval:
    from scipy.special import stdtrit  # noqa: PLC0415 - slow import

    count, total = len(gains), sizes.sum()
    if count < 2:
        return Interval(-1.0, 1.0)
    spread = np.sqrt(((gains - difference * sizes) ** 2).sum() * count / (count - 1)) / total
    half = float(stdtrit(count - 1, 0.975) * spread)
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
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in corrected]


def _bh(p_values: list[float]) -> list[float]:
    from scipy.stats import false_discovery_control  # noqa: PLC0415 - slow import

    return [float(value) for value in false_discovery_control(p_values, method="bh")]


CORRECTIONS: Mapping[Correction, Callable[[list[float]], list[float]]] = {
    Correction.HOLM: _holm,
    Correction.BH: _bh,
    Correction.NONE: list,
}
"""How each correction is computed."""
