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


@dataclass(frozen=True, slots=True)
class Sides:
    """The vectors of a set of triplets, (n, dim) each; *hard* is the negative in the other form."""

    anchor: Vectors
    positive: Vectors
    negative: Vectors
    hard: Vectors

    def mirrored(self) -> "Sides":
        """Return the triplets whose anchors are the hard negatives."""
        return Sides(self.hard, self.negative, self.positive, self.anchor)

    def wrong(self, kind: NegativeKind) -> Vectors:
        """Return the negatives of a kind."""
        return self.negative if kind is NegativeKind.FORM else self.hard


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


def dots(left: Vectors, right: Vectors) -> Floats:
    """Return the dot product of each row of one with that of the other, (n,) float64."""
    found: Floats = np.einsum("...j,...j->...", left, right, dtype=np.float64)
    return found


def _cosine(left: Vectors, right: Vectors) -> Floats:
    lengths = np.sqrt(dots(left, left) * dots(right, right))
    found: Floats = dots(left, right)
    return np.divide(found, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def _euclid(left: Vectors, right: Vectors) -> Floats:
    apart = left.astype(np.float64) - right
    found: Floats = np.sqrt(np.einsum("...j,...j->...", apart, apart))
    return -found


NEARNESS: Mapping[Nearness, Callable[[Vectors, Vectors], Floats]] = {
    Nearness.COSINE: _cosine,
    Nearness.DOT: dots,
    Nearness.EUCLID: _euclid,
    Nearness.WHITENED: _cosine,
}
"""How near each row of one is to that of the other."""


def margins(sides: Sides, kind: NegativeKind, nearness: Nearness) -> Floats:
    """Return by how much the positive is nearer than the negative, (n,) float64."""
    near = NEARNESS[nearness]
    return near(sides.anchor, sides.positive) - near(sides.anchor, sides.wrong(kind))


def ties(sides: Sides, kind: NegativeKind) -> Bools:
    """Say where the positive and the negative have the same vector but for rounding, (n,) bool."""
    return _same(sides.positive, sides.wrong(kind))


def _same(left: Vectors, right: Vectors) -> Bools:
    found: Bools = -_euclid(left, right) <= SAME * np.sqrt(dots(left, left))
    return found


def right(margin: Floats, tied: Bools) -> Floats:
    """Return 1 for what is right, 0.5 for a tie, 0 for what is wrong, (n,) float64.

    >>> right(np.array([0.2, -0.1, 0.0, 0.3]), np.array([False, False, False, True])).tolist()
    [1.0, 0.0, 0.5, 0.5]
    """
    return np.where(tied, 0.5, (np.sign(margin) + 1) / 2)


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
    both = [(sides, raw), (sides.mirrored(), raw.mirrored())]
    by = np.array([margins(each, kind, nearness) for each, _ in both])
    tied = np.array([ties(each, kind) for _, each in both])
    return TripletAnswers(right(by, tied), np.where(tied, 0.0, by), tied)


def ranks(anchor: Vectors, positive: Vectors, variants: Sequence[Vectors]) -> tuple[Floats, Floats]:
    """Return the rank of each positive among the variants, from 1, and its chance to be first.

    They are ranked by cosine. A tie counts half a rank; of several that are nearest, each has the
    same chance.
    """
    near = _cosine(anchor, positive)
    scores = np.array(
        [right(near - _cosine(anchor, each), _same(positive, each)) for each in variants]
    )
    tied, beaten = (scores == 0.5).sum(axis=0), (scores == 0).any(axis=0)
    return 1 + (1 - scores).sum(axis=0), np.where(beaten, 0.0, 1 / (1 + tied))


LEAST = 1e-10
"""What varies less than this share of the widest direction's variance is only rounding."""


def whitened(vectors: Vectors) -> Vectors | None:
    """Return the vectors centred, turned to their principal axes and scaled there; (n, dim').

    Directions in which nothing varies are left out. None if the vectors are not more than these:
    all would be equally far from each other.
    """
    if len(vectors) <= vectors.shape[1] + 1:
        return None
    centred = vectors - vectors.mean(axis=0, dtype=np.float64)
    values, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    kept = values > max(LEAST * values[-1], np.finfo(np.float64).tiny)
    scaled: Vectors = (centred @ (axes[:, kept] / np.sqrt(values[kept]))).astype(np.float32)
    return scaled
