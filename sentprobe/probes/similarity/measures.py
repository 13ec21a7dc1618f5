"""Measures of triplets of sentence vectors: accuracy, margin, rank of the positive, and whitening."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.statistics import Floats, Interval, accuracy_interval

Bools = NDArray[np.bool_]


class NegativeKind(StrEnum):
    """Whether a triplet's negative has the form (such as voice) of the positive (``FORM``) or anchor (``ANCHOR``)."""

    FORM = "form"
    ANCHOR = "anchor"


class Nearness(StrEnum):
    """The measure by which vectors are compared. ``WHITENED`` is the cosine of whitened vectors."""

    COSINE = "cosine"
    DOT = "dot"
    EUCLID = "euclid"
    WHITENED = "whitened"


ROUNDING_TOLERANCE = 1e-5
"""Vectors count as equal if their distance is at most this share of the longer vector's length."""


class Sides:
    """Vectors of n triplets by side, (n, dim) each: anchors, positives, negatives, hard negatives, distractors."""

    def __init__(self, *sides: Vectors) -> None:
        self._vectors = [side.astype(np.float64) for side in sides]
        self._dots: dict[tuple[int, int], Floats] = {}

    def __len__(self) -> int:
        return len(self._vectors)

    def compute_dot(self, first: int, second: int) -> Floats:
        """Return the dot product of two sides in each triplet, (n,) float64; sides are indices such as ``ANCHOR``."""
        key = (min(first, second), max(first, second))
        if key not in self._dots:
            self._dots[key] = np.einsum("ij,ij->i", self._vectors[first], self._vectors[second])
        return self._dots[key]

    def compute_nearness(self, first: int, second: int, nearness: Nearness) -> Floats:
        """Return how near two sides (``ANCHOR``, ...) are in each triplet, (n,) float64. Larger values mean nearer."""
        return NEARNESS_FUNCTIONS[nearness](*self._compute_products(first, second))

    def _compute_products(self, first: int, second: int) -> tuple[Floats, Floats, Floats]:
        return self.compute_dot(first, second), self.compute_dot(first, first), self.compute_dot(second, second)

    def find_same(self, first: int, second: int) -> Bools:
        """Return, for each of n triplets, whether two of its sides have equal vectors, up to rounding, (n,) bool."""
        dot, left, right = self._compute_products(first, second)
        tolerance = ROUNDING_TOLERANCE * np.sqrt(np.maximum(left, right))
        is_same: Bools = -_compute_negative_distance(dot, left, right) <= tolerance
        return is_same


ANCHOR, POSITIVE, NEGATIVE, HARD = range(4)
"""The indices of sides. The negative has the form of the positive, the hard negative that of the anchor."""

DIRECTIONS: Mapping[NegativeKind, tuple[tuple[int, int, int], ...]] = {
    NegativeKind.FORM: ((ANCHOR, POSITIVE, NEGATIVE), (HARD, NEGATIVE, POSITIVE)),
    NegativeKind.ANCHOR: ((ANCHOR, POSITIVE, HARD), (HARD, NEGATIVE, ANCHOR)),
}
"""The sides that are anchor, positive and negative in a triplet, then in its mirror, for each form of the negative.

In the mirror, the two meanings are exchanged: the hard negative becomes the anchor.
"""


def _compute_cosine(dot: Floats, left: Floats, right: Floats) -> Floats:
    lengths = np.sqrt(left * right)
    return np.divide(dot, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def _compute_negative_distance(dot: Floats, left: Floats, right: Floats) -> Floats:
    # |a - b|^2 = |a|^2 + |b|^2 - 2ab, which rounding can make negative for equal vectors.
    return -np.sqrt(np.maximum(left + right - 2 * dot, 0.0))


NEARNESS_FUNCTIONS: Mapping[Nearness, Callable[[Floats, Floats, Floats], Floats]] = {
    Nearness.COSINE: _compute_cosine,
    Nearness.DOT: lambda dot, _left, _right: dot,
    Nearness.EUCLID: _compute_negative_distance,
    Nearness.WHITENED: _compute_cosine,
}
"""Functions that compute the nearness of two vectors from their dot product and their squared lengths."""


def score_margins(margin: Floats, tied: Bools) -> Floats:
    """Return the score of each margin, (n,): 1 if positive, 0 if negative, 0.5 if 0 or marked in *tied*."""
    return np.where(tied, 0.5, (np.sign(margin) + 1) / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class TripletMeasures:
    """Measures of triplets and of their mirrors. The anchor of a mirror is the hard negative of its triplet."""

    accuracy: float
    """The share of triplets and mirrors whose positive is nearer to the anchor than the negative; a tie counts half."""
    accuracy_interval: Interval
    paired: float
    """The share of triplets that are correct and have a correct mirror; each tie counts half."""
    paired_interval: Interval
    margin: float
    ties: int
    triplets: int
    """The number of triplets plus the number of mirrors."""
    units: int


@dataclass(frozen=True, slots=True)
class TripletScores:
    """Scores (1 right, 0.5 tie, 0 wrong), margins and ties, each (2, n). Row 0: triplets; row 1: their mirrors.

    Each triplet has one mirror, whose anchor is the triplet's hard negative (see DIRECTIONS).
    """

    scores: Floats
    margins: Floats
    ties: Bools

    def measure(self, is_chosen: Bools, units: Sequence[int]) -> TripletMeasures:
        """Measure the triplets that *is_chosen* marks, and the mirror of each. *units* has the unit of each triplet."""
        scores, chosen_units = self.scores[:, is_chosen], np.asarray(units)[is_chosen]
        pair_scores = scores[0] * scores[1]
        return TripletMeasures(
            accuracy=float(scores.mean()),
            accuracy_interval=accuracy_interval(scores.reshape(-1), np.tile(chosen_units, 2).tolist()),
            paired=float(pair_scores.mean()),
            paired_interval=accuracy_interval(pair_scores, chosen_units.tolist()),
            margin=float(self.margins[:, is_chosen].mean()),
            ties=int(self.ties[:, is_chosen].sum()),
            triplets=scores.size,
            units=len(np.unique(chosen_units)),
        )


def score_triplets(sides: Sides, raw: Sides, kind: NegativeKind, nearness: Nearness) -> TripletScores:
    """Score each triplet and its mirror. It is a tie if positive and negative are equal in *raw* (before whitening)."""
    margins = np.array(
        [
            sides.compute_nearness(anchor, nearer, nearness) - sides.compute_nearness(anchor, farther, nearness)
            for anchor, nearer, farther in DIRECTIONS[kind]
        ]
    )
    is_tied = np.array([raw.find_same(nearer, farther) for _, nearer, farther in DIRECTIONS[kind]])
    return TripletScores(score_margins(margins, is_tied), np.where(is_tied, 0.0, margins), is_tied)


def rank_positives(sides: Sides) -> tuple[Floats, Floats]:
    """Return, for each triplet, the expected rank of the positive, and the probability that its rank is 1.

    The positive and the distractors are ranked by cosine with the anchor, nearest first. Ties are ranked at random.
    """
    positive_nearness = sides.compute_nearness(ANCHOR, POSITIVE, Nearness.COSINE)
    distractors = range(HARD + 1, len(sides))
    margins = (positive_nearness - sides.compute_nearness(ANCHOR, side, Nearness.COSINE) for side in distractors)
    ties = (sides.find_same(POSITIVE, side) for side in distractors)
    scores = np.array([*map(score_margins, margins, ties)])
    tie_counts, is_beaten = (scores == 0.5).sum(axis=0), (scores == 0).any(axis=0)
    # Of m + 1 equally near texts, each is first with probability 1 / (m + 1), and half of m precede it on average.
    return 1 + (1 - scores).sum(axis=0), np.where(is_beaten, 0.0, 1 / (1 + tie_counts))


MIN_VARIANCE_SHARE = 1e-10
"""A variance below this share of the largest variance counts as a rounding error."""


@dataclass(frozen=True, slots=True)
class Whitening:
    """A linear map that centres vectors, rotates them to principal axes, and scales each axis to unit variance."""

    mean: Vectors
    axes: Vectors

    def __call__(self, vectors: Vectors) -> Vectors:
        """Return the whitened vectors, (n, number of axes) float32."""
        whitened: Vectors = np.matmul(vectors - self.mean, self.axes, dtype=np.float32)
        return whitened


def fit_whitening(vectors: Vectors) -> Whitening | None:
    """Estimate whitening from vectors, (n, dim), and drop axes of zero variance. Returns None if n <= dim + 1."""
    # Whitening would make so few vectors all equally distant.
    if len(vectors) <= vectors.shape[1] + 1:
        return None
    mean = vectors.mean(axis=0, dtype=np.float64)
    centred = vectors - mean
    values, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    is_varying = values > max(MIN_VARIANCE_SHARE * values[-1], np.finfo(np.float64).tiny)
    scaled_axes = axes[:, is_varying] / np.sqrt(values[is_varying])
    return Whitening(mean.astype(np.float32), scaled_axes.astype(np.float32))
