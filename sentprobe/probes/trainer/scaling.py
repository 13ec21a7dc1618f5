"""Scaling of sentence vectors, learned from the training sentences, each counted once."""

from collections.abc import Callable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from sentprobe.probes.dataset import Indices
from sentprobe.probes.encoders.protocol import Vectors
from sentprobe.probes.trainer.classifier import Scaling

Doubles = NDArray[np.float64]

MIN_RELATIVE_DEVIATION = 1e-7
"""Deviations below this share of the mean count as no variation."""

MIN_RELATIVE_VARIANCE = 1e-12
"""Variances below this share of the largest one are rounding errors."""

TINY = float(np.finfo(np.float64).tiny)

ROWS_PER_PART = 4096


def scale_vectors(vectors: Vectors, rows: Indices, *, scaling: Scaling) -> Vectors:
    """Return the scaled vectors, contiguous (sentences, dim) float32.

    - vectors: (sentences, dim) float32
    - rows: (n,) int64, the sentences of the training items
    """
    return SCALINGS[scaling](vectors, np.unique(rows))


def _scale_to_unit_length(vectors: Vectors, rows: Indices) -> Vectors:
    """Subtract the mean and divide by the mean length, unless all rows are equal."""
    training_vectors, mean = _select_training_vectors(vectors, rows)
    length = np.linalg.norm(training_vectors - mean, axis=1).mean()
    varies = length > MIN_RELATIVE_DEVIATION * (1 + np.linalg.norm(mean))
    return ((vectors - mean) / (length if varies else 1.0)).astype(np.float32)


def _scale_to_unit_variance(vectors: Vectors, rows: Indices) -> Vectors:
    """Divide each column by its standard deviation, unless it is constant."""
    training_vectors, mean = _select_training_vectors(vectors, rows)
    deviations = training_vectors.std(axis=0)
    scale = np.where(_exceeds_rounding(deviations, mean), deviations, 1.0)
    return ((vectors - mean) / scale).astype(np.float32)


def _select_training_vectors(vectors: Vectors, rows: Indices) -> tuple[Doubles, Doubles]:
    training_vectors = vectors[rows].astype(np.float64)
    return training_vectors, training_vectors.mean(axis=0)


def _exceeds_rounding(deviations: Doubles, mean: Doubles) -> NDArray[np.bool_]:
    return deviations > MIN_RELATIVE_DEVIATION * (1 + np.abs(mean))


def _whiten(vectors: Vectors, rows: Indices) -> Vectors:
    """Rotate centred columns to their principal axes and divide by the standard deviations there.

    The axes are those of the correlations, so that rounding hides nothing in small columns. They are computed in
    float64, because float32 products would blur narrow axes. Axes whose variance is only rounding of the vectors become
    0.
    """
    total = sum(vectors[row_part].sum(axis=0, dtype=np.float64) for row_part in _split_rows(rows))
    mean = np.asarray(total / len(rows))
    covariance = _covariance(vectors, rows, mean)
    deviations = np.sqrt(covariance.diagonal())
    scale = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=_exceeds_rounding(deviations, mean))
    values, axes = np.linalg.eigh(covariance * np.outer(scale, scale))
    exceeds_rounding = values > max(MIN_RELATIVE_VARIANCE * values[-1], TINY)
    factors = np.divide(1.0, np.sqrt(np.abs(values)), out=np.zeros_like(values), where=exceeds_rounding)
    return _apply_linear_map(vectors, mean, scale[:, None] * axes * factors)


def _covariance(vectors: Vectors, rows: Indices, mean: Doubles) -> Doubles:
    """Return the covariance of *rows* about *mean*, (dim, dim)."""
    total = np.zeros((len(mean), len(mean)))
    for row_part in _split_rows(rows):
        centred = vectors[row_part] - mean
        total += centred.T @ centred
    return total / len(rows)


def _apply_linear_map(vectors: Vectors, mean: Doubles, linear_map: Doubles) -> Vectors:
    """Return (vectors - mean) @ linear_map, (sentences, dim) float32."""
    result = torch.empty(vectors.shape)
    centre, matrix = (torch.from_numpy(array.astype(np.float32)) for array in (mean, linear_map))
    for first in range(0, len(vectors), ROWS_PER_PART):
        part = torch.from_numpy(vectors[first : first + ROWS_PER_PART].copy())
        torch.mm(part.sub_(centre), matrix, out=result[first : first + ROWS_PER_PART])
    return result.numpy()


def _split_rows(rows: Indices) -> list[Indices]:
    return np.split(rows, range(ROWS_PER_PART, len(rows), ROWS_PER_PART))


SCALINGS: Mapping[Scaling, Callable[[Vectors, Indices], Vectors]] = {
    Scaling.AS_IS: lambda vectors, _: np.array(vectors, dtype=np.float32, order="C"),
    Scaling.UNIT: _scale_to_unit_length,
    Scaling.VARIANCE: _scale_to_unit_variance,
    Scaling.WHITEN: _whiten,
}
