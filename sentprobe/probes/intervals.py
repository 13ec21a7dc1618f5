"""Confidence intervals for an accuracy."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from sentprobe.errors import UsageError


@dataclass(frozen=True, slots=True)
class Interval:
    """From *low* to *high*, both included."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def wilson(correct: int, total: int, *, confidence: float = 0.95) -> Interval:
    """Return the Wilson score interval of a proportion (Wilson 1927, equation 4).

    >>> interval = wilson(50, 100)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.4038, 0.5962)
    """
    if total < 1 or not 0 <= correct <= total:
        raise UsageError(f"{correct} correct of {total} is not a proportion")
    if not 0 < confidence < 1:
        raise UsageError(f"confidence {confidence} is not between 0 and 1")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = correct / total
    scale = 1 + z * z / total
    centre = (share + z * z / (2 * total)) / scale
    half = z / scale * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    low = 0.0 if correct == 0 else max(0.0, centre - half)
    high = 1.0 if correct == total else min(1.0, centre + half)
    return Interval(low, high)


def around(share: float, total: int, *, confidence: float = 0.95) -> Interval:
    """Return where the accuracy on *total* items should be if each is right with chance *share*.

    Its ends are the accuracies whose Wilson interval just reaches *share*.

    >>> interval = around(0.5, 1000, confidence=0.99)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.459, 0.541)
    """
    half = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(share * (1 - share) / total)
    return Interval(max(0.0, share - half), min(1.0, share + half))
