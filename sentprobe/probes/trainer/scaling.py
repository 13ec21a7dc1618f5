"""Scaling of sentence vectors, learned from the training sentences, each of which counts once."""

from collections.abc import Callable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from sentprobe.probes.dataset import Indices
from sentprobe.probes.encoders.protocol import Vectors
from sentprobe.probes.trainer.classifier import Scaling

Doubles = NDArray[np.float64]

ROUNDING = 1e-7
"""What varies less than this, as a share of its mean, does not vary."""

LEAST = 1e-12
"""What varies less than this, as a share of the widest direction's variance, is only rounding."""

TINY = float(np.finfo(np.float64).tiny)

PART = 4096
"""Rows that are worked on at a time, so that no second copy of all vectors is made."""


def scaled(vectors: Vectors, rows: Indices, *, scaling: Scaling) -> Vectors:
    """Return the vectors scaled, contiguous (sentences, dim) float32.

    - vectors: (sentences, dim) float32
    - rows: (n,) int64, the sentences of the training items
    """
    return SCALINGS[scaling](vectors, np.unique(rows))


def _as_is(vectors: Vectors, rows: Indices) -> Vectors:
    del rows
    return np.array(vectors, dtype=np.float32, order="C")


def _unit(vectors: Vectors, rows: Indices) -> Vectors:
    """Divide by the mean length about the mean, unless all rows are equal."""
    seen, mean = _seen(vectors, rows)
    length = np.linalg.norm(seen - mean, axis=1).mean()
    varies = length > ROUNDING * (1 + np.linalg.norm(mean))
    result: Vectors = ((vectors - mean) / (length if varies else 1.0)).astype(np.float32)
    return result


def _variance(vectors: Vectors, rows: Indices) -> Vectors:
    """Divide each column by its standard deviation, unless it does not vary."""
    seen, mean = _seen(vectors, rows)
    spread = seen.std(axis=0)
    scale = np.where(_varies(spread, mean), spread, 1.0)
    result: Vectors = ((vectors - mean) / scale).astype(np.float32)
    return result


def _seen(vectors: Vectors, rows: Indices) -> tuple[Doubles, Doubles]:
    seen = vectors[rows].astype(np.float64)
    return seen, seen.mean(axis=0)


def _varies(spread: Doubles, mean: Doubles) -> NDArray[np.bool_]:
    varies: NDArray[np.bool_] = spread > ROUNDING * (1 + np.abs(mean))
    return varies


def _whiten(vectors: Vectors, rows: Indices) -> Vectors:
    """Rotate the centred columns to their principal axes and divide by the deviations there.

    The axes are those of the correlations, so that rounding hides nothing in columns that are
    small; they are worked out in float64, since products of float32 would blur the narrow ones.
    What varies so little that it can only be rounding of the vectors becomes 0.
    """
    total = sum(vectors[part].sum(axis=0, dtype=np.float64) for part in _parts(rows))
    mean = np.asarray(total / len(rows))
    covariance = _covariance(vectors, rows, mean)
    spread = np.sqrt(covariance.diagonal())
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=_varies(spread, mean))
    values, axes = np.linalg.eigh(covariance * np.outer(scale, scale))
    kept = values > max(LEAST * values[-1], TINY)
    factors = np.divide(1.0, np.sqrt(np.abs(values)), out=np.zeros_like(values), where=kept)
    return _moved(vectors, mean, scale[:, None] * axes * factors)


def _covariance(vectors: Vectors, rows: Indices, mean: Doubles) -> Doubles:
    """Return the covariance of those rows about *mean*, (dim, dim)."""
    total = np.zeros((len(mean), len(mean)))
    for part in _parts(rows):
        centred = vectors[part] - mean
        total += centred.T @ centred
    return total / len(rows)


def _moved(vectors: Vectors, mean: Doubles, by: Doubles) -> Vectors:
    """Return (vectors - mean) @ by, (sentences, dim) float32."""
    result = torch.empty(vectors.shape)
    centre, matrix = (torch.from_numpy(each.astype(np.float32)) for each in (mean, by))
    for first in range(0, len(vectors), PART):
        part = torch.from_numpy(vectors[first : first + PART].copy())
        torch.mm(part.sub_(centre), matrix, out=result[first : first + PART])
    return result.numpy()


def _parts(rows: Indices) -> list[Indices]:
    return np.split(rows, range(PART, len(rows), PART))


SCALINGS: Mapping[Scaling, Callable[[Vectors, Indices], Vectors]] = {
    Scaling.AS_IS: _as_is,
    Scaling.UNIT: _unit,
    Scaling.VARIANCE: _variance,
    Scaling.WHITEN: _whiten,
}
"""What each scaling does."""
