"""Confidence intervals for an accuracy, also where items are not independent."""

from collections.abc import Sequence
from dataclasses import dataclass
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
