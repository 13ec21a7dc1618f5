"""Several probes of one seed, and what they say together: a code, a curve, information.

The online code of Voita & Titov (2020, section 3.2): training items are in a random order. The
labels of the first portion are sent as they are; those of each next portion by the probabilities
of a probe that was trained on all before. What is sent in all is the description length.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sentprobe.errors import UsageError

SHARES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25, 50, 100)
"""The portions of Voita & Titov (2020, section 4), in percent of the training items."""

FEWEST = 4
"""A curve has at least so many portions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One of several probes of one seed: what is special about it, and how it did."""

    at: int
    """The training items that it had; or the width of its hidden layer, 0: there is none."""
    correct: int
    """The test items that it is right on."""
    bits: float = 0.0
    """What the labels of the next portion cost by its probabilities; 0 after the last portion."""


def portions_of(items: int, *, labels: int) -> tuple[int, ...]:
    """Return how many items each portion has, in order; the last has all.

    A portion has at least as many items as there are labels; shares that are smaller are left out.

    >>> portions_of(1000, labels=4)
    (4, 8, 16, 32, 63, 125, 250, 500, 1000)

    Raises:
        UsageError: there are too few items.
    """
    sizes = (math.ceil(items * share / 100) for share in SHARES)
    found = tuple(size for size in dict.fromkeys(sizes) if size >= labels)
    if len(found) < FEWEST:
        least = 8 * (labels - 1) + 1  # an eighth of them is rounded up
        raise UsageError(
            f"{items} training items of {labels} labels are too few for portions; at least {least} "
            "are wanted"
        )
    return found


def code_length(readings: Sequence[Reading], *, labels: int) -> float:
    """Return the bits of the online code of all training labels.

    >>> code_length([Reading(at=4, correct=0, bits=3.5), Reading(at=8, correct=0)], labels=2)
    7.5
    """
    return readings[0].at * math.log2(labels) + sum(each.bits for each in readings)


def compression(readings: Sequence[Reading], *, labels: int) -> float:
    """Return how many times as long the labels are when they are sent as they are.

    >>> compression([Reading(at=4, correct=0, bits=0.0), Reading(at=8, correct=0)], labels=2)
    2.0
    """
    return readings[-1].at * math.log2(labels) / code_length(readings, labels=labels)


def area(readings: Sequence[Reading], *, total: int) -> float:
    """Return the area under the accuracy on *total* items by the logarithm of training items.

    It is divided by the width of the curve, and so is a mean accuracy.

    >>> area([Reading(at=at, correct=at // 4) for at in (1, 4, 16)], total=4)
    0.375
    """
    steps = [
        (math.log2(right.at / left.at), (left.correct + right.correct) / 2 / total)
        for left, right in pairwise(readings)
    ]
    return sum(width * height for width, height in steps) / sum(width for width, _ in steps)


def pointwise(
    targets: Iterable[int], bits: Iterable[float], counts: Sequence[int]
) -> tuple[float, ...]:
    """Return the V-information of each item in bits (Ethayarajh et al. 2022, section 3).

    - bits: what each item's label costs by the probe's probabilities
    - counts: how often each label is in training; by these a label costs what it does without the
      sentence. One is added to each, so that none costs infinitely much

    >>> pointwise([0, 1], [0.5, 3.0], [7, 7])
    (0.5, -2.0)
    """
    total = sum(counts) + len(counts)
    known = [-math.log2((count + 1) / total) for count in counts]
    return tuple(known[target] - cost for target, cost in zip(targets, bits, strict=True))
