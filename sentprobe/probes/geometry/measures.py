"""Measures of triplets of vectors: which is nearer, by how much, and at which rank.

Vectors are (n, dim) float32, one a triplet; what is computed is float64.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from sentprobe.probes.encoders import Vectors
from sentprobe.probes.statistics import Floats, Interval, accuracy_interval

Bools = NDArray[np.bool_]


class NegativeKind(StrEnum):
    """In whose form a negative is."""

    FORM = "form"
    """In the positive's."""
    ANCHOR = "anchor"


class Nearness(StrEnum):
    """What near means; the more, the nearer."""

    COSINE = "cosine"
    DOT = "dot"
    EUCLID = "euclid"
    """The distance, negative."""
    WHITENED = "whitened"
    """The cosine after whitening."""


SAME = 1e-5
"""Vectors that differ by less than this share of their length differ by rounding only."""


class Sides:
    """The vectors of a set of triplets, and how near they are to each other.

    They are anchors, positives, negatives in the positive's form and in the anchor's, and maybe
    variants, (n, dim) each. Each dot product is worked out once.
    """

    def __init__(self, *sides: Vectors) -> None:
        self._vectors = [each.astype(np.float64) for each in sides]
        self._dots: dict[tuple[int, int], Floats] = {}

    def __len__(self) -> int:
        return len(self._vectors)

    def dot(self, one: int, other: int) -> Floats:
        """Return the dot product of two sides, by their numbers, (n,) float64."""
        key = (min(one, other), max(one, other))
        if key not in self._dots:
            self._dots[key] = dots(self._vectors[one], self._vectors[other])
        return self._dots[key]

    def near(self, one: int, other: int, nearness: Nearness) -> Floats:
        """Return how near two sides are, (n,) float64."""
        return NEARNESS[nearness](self.dot(one, other), self.dot(one, one), self.dot(other, other))

    def same(self, one: int, other: int) -> Bools:
        """Say where two sides have the same vector but for rounding, (n,) bool."""
        return _same(self.dot(one, other), self.dot(one, one), self.dot(other, other))


ANCHOR, POSITIVE, NEGATIVE, HARD = range(4)

DIRECTIONS: Mapping[NegativeKind, tuple[tuple[int, int, int], ...]] = {
    NegativeKind.FORM: ((ANCHOR, POSITIVE, NEGATIVE), (HARD, NEGATIVE, POSITIVE)),
    NegativeKind.ANCHOR: ((ANCHOR, POSITIVE, HARD), (HARD, NEGATIVE, ANCHOR)),
}
"""By kind the triplet and its mirror: what is the anchor, what should be near, what should not."""


def dots(left: Floats, right: Floats) -> Floats:
    """Return the dot product of each row of one with that of the other, (n,) float64."""
    found: Floats = np.einsum("ij,ij->i", left, right)
    return found


def _dot(dot: Floats, left: Floats, right: Floats) -> Floats:  # noqa: ARG001 - as the others
    return dot


def _cosine(dot: Floats, left: Floats, right: Floats) -> Floats:
    """Return the cosine, given the dot product and the squares; 0 where a vector is zero."""
    lengths = np.sqrt(left * right)
    return np.divide(dot, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def _euclid(dot: Floats, left: Floats, right: Floats) -> Floats:
    return -np.sqrt(np.maximum(left + right - 2 * dot, 0.0))


def _same(dot: Floats, left: Floats, right: Floats) -> Bools:
    found: Bools = -_euclid(dot, left, right) <= SAME * np.sqrt(np.maximum(left, right))
    return found


NEARNESS: Mapping[Nearness, Callable[[Floats, Floats, Floats], Floats]] = {
    Nearness.COSINE: _cosine,
    Nearness.DOT: _dot,
    Nearness.EUCLID: _euclid,
    Nearness.WHITENED: _cosine,
}
"""How near two vectors are, by their dot product and the squares of their lengths."""


def right(margin: Floats, tied: Bools) -> Floats:
    """Return 1 for what is right, 0.5 for a tie, 0 for what is wrong, (n,) float64.

    >>> right(np.array([0.2, -0.1, 0.0, 0.3]), np.array([False, False, False, True])).tolist()
    [1.0, 0.0, 0.5, 0.5]
    """
    return np.where(tied, 0.5, (np.sign(margin) + 1) / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class TripletMeasures:
    """What was measured of some triplets, in both directions."""

    accuracy: float
    accuracy_interval: Interval
    paired: float
    paired_interval: Interval
    margin: float
    ties: int
    triplets: int
    units: int


@dataclass(frozen=True, slots=True)
class TripletAnswers:
    """How right each triplet and its mirror are, (2, n) float64, and by how much."""

    scores: Floats
    margins: Floats
    ties: Bools

    def over(self, chosen: Bools, units: Sequence[int]) -> TripletMeasures:
        """Return the measures of some of the triplets."""
        scores, belong = self.scores[:, chosen], np.asarray(units)[chosen]
        both = scores[0] * scores[1]
        return TripletMeasures(
            accuracy=float(scores.mean()),
            accuracy_interval=accuracy_interval(scores.reshape(-1), np.tile(belong, 2).tolist()),
            paired=float(both.mean()),
            paired_interval=accuracy_interval(both, belong.tolist()),
            margin=float(self.margins[:, chosen].mean()),
            ties=int(self.ties[:, chosen].sum()),
            triplets=scores.size,
            units=len(np.unique(belong)),
        )


def answers(sides: Sides, raw: Sides, kind: NegativeKind, nearness: Nearness) -> TripletAnswers:
    """Return the answers of the triplets and their mirrors; *raw* says which vectors are the same.

    Whitening blows rounding up, so that ties are looked for before.
    """
    by = np.array(
        [
            sides.near(anchor, good, nearness) - sides.near(anchor, bad, nearness)
            for anchor, good, bad in DIRECTIONS[kind]
        ]
    )
    tied = np.array([raw.same(good, bad) for _, good, bad in DIRECTIONS[kind]])
    return TripletAnswers(right(by, tied), np.where(tied, 0.0, by), tied)


def ranks(sides: Sides) -> tuple[Floats, Floats]:
    """Return the rank of each positive among the variants, from 1, and its chance to be first.

    They are ranked by cosine. A tie counts half a rank; of several that are nearest, each has the
    same chance.
    """
    near = sides.near(ANCHOR, POSITIVE, Nearness.COSINE)
    scores = np.array(
        [
            right(near - sides.near(ANCHOR, each, Nearness.COSINE), sides.same(POSITIVE, each))
            for each in range(HARD + 1, len(sides))
        ]
    )
    tied, beaten = (scores == 0.5).sum(axis=0), (scores == 0).any(axis=0)
    return 1 + (1 - scores).sum(axis=0), np.where(beaten, 0.0, 1 / (1 + tied))


LEAST = 1e-10
"""What varies less than this share of the widest direction's variance is only rounding."""


@dataclass(frozen=True, slots=True)
class Whitening:
    """Centres vectors, turns them to the principal axes of others, and scales them there."""

    mean: Vectors
    axes: Vectors

    def __call__(self, vectors: Vectors) -> Vectors:
        """Return vectors whitened, (n, dim')."""
        moved: Vectors = np.matmul(vectors - self.mean, self.axes, dtype=np.float32)
        return moved


def whitening(vectors: Vectors) -> Whitening | None:
    """Return what whitens as these vectors demand; directions in which nothing varies are left out.

    None if they are no more than their dimensions: all would be equally far from each other.
    """
    if len(vectors) <= vectors.shape[1] + 1:
        return None
    mean = vectors.mean(axis=0, dtype=np.float64)
    centred = vectors - mean
    values, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    kept = values > max(LEAST * values[-1], np.finfo(np.float64).tiny)
    scaled = axes[:, kept] / np.sqrt(values[kept])
    return Whitening(mean.astype(np.float32), scaled.astype(np.float32))
