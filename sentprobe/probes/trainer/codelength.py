"""Codelength, area under the learning curve, and pointwise V-information."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sentprobe.errors import UsageError

PORTION_PERCENTAGES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25, 50, 100)
"""Sizes of the portions of Voita & Titov (2020, section 4), in percent of the training items."""
MIN_PORTIONS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """The result of one probe: a point of a curve whose x-axis is the number of training items or the hidden width."""

    at: int
    """Number of training items, or width of the hidden layer (0: no hidden layer)."""
    correct: int
    """Number of correct test items."""
    bits: float = 0.0
    """Cost in bits, with this probe, of the labels that the next portion of training items adds; 0 if there is none."""


def compute_portion_sizes(items: int, *, labels: int) -> tuple[int, ...]:
    """Return the sizes of growing portions of the training items, each about twice as large as the one before.

    A portion has at least as many items as there are labels. Raises UsageError if this leaves fewer than 4 portions.

    >>> compute_portion_sizes(1000, labels=4)
    (4, 8, 16, 32, 63, 125, 250, 500, 1000)
    """
    sizes = (math.ceil(items * share / 100) for share in PORTION_PERCENTAGES)
    portions = tuple(size for size in dict.fromkeys(sizes) if size >= labels)
    if len(portions) < MIN_PORTIONS:
        min_items = 8 * (labels - 1) + 1  # the smallest number of which 12.5%, rounded up, are as many as labels
        raise UsageError(
            f"{items} training items of {labels} labels are too few for portions; at least {min_items} are needed"
        )
    return portions


def compute_codelength(readings: Sequence[CurvePoint], *, labels: int) -> float:
    """Return the codelength of all training labels in bits, by the online code of Voita & Titov (2020, section 3.2).

    The labels of the first portion are transmitted uncompressed. The labels that a later portion adds are transmitted
    with a probe that was trained on the portion before.

    >>> readings = [CurvePoint(at=4, correct=0, bits=3.5), CurvePoint(at=8, correct=0)]
    >>> compute_codelength(readings, labels=2)
    7.5
    """
    return readings[0].at * math.log2(labels) + sum(reading.bits for reading in readings)


def compute_compression(readings: Sequence[CurvePoint], *, labels: int) -> float:
    """Return the compression: the uncompressed length of the training labels, divided by their codelength."""
    return readings[-1].at * math.log2(labels) / compute_codelength(readings, labels=labels)


def compute_curve_area(readings: Sequence[CurvePoint], *, total: int) -> float:
    """Return the area under the learning curve, divided by the curve's width: a mean accuracy from 0 to 1.

    The curve shows accuracy against log2 of the number of training items. *total* is the number of test items.

    >>> compute_curve_area([CurvePoint(at=at, correct=at // 4) for at in (1, 4, 16)], total=4)
    0.375
    """
    segments = [
        (math.log2(right.at / left.at), (left.correct + right.correct) / 2 / total)
        for left, right in pairwise(readings)
    ]
    return sum(width * height for width, height in segments) / sum(width for width, _ in segments)


def compute_pointwise_information(
    targets: Iterable[int], bits: Iterable[float], counts: Sequence[int]
) -> tuple[float, ...]:
    """Return the pointwise V-information of each item in bits (Ethayarajh et al. 2022, section 3).

    An item's information is -log2 of its label's frequency in training, minus the label's cost with the probe.

    - targets: the label of each item
    - bits: the cost of each item's label with the probe, in bits
    - counts: for each label, its number of training items; 1 is added to it, so that no information is infinite

    >>> compute_pointwise_information([0, 1], [0.5, 3.0], [7, 7])
    (0.5, -2.0)
    """
    total = sum(counts) + len(counts)
    prior_bits = [-math.log2((count + 1) / total) for count in counts]
    return tuple(prior_bits[target] - cost for target, cost in zip(targets, bits, strict=True))
