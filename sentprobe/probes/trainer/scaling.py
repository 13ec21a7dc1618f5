"""Scale sentence vectors by float64 statistics of the training sentences. Each sentence counts once."""

from collections.abc import Callable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sentprobe.probes.dataset import Indices
from sentprobe.probes.encoders.protocol import Vectors
from sentprobe.probes.trainer.classifier import Scaling

Doubles = NDArray[np.float64]

ScalePart = Callable[[Vectors], Vectors]
MIN_RELATIVE_DEVIATION = 1e-7
"""A dimension counts as constant if its standard deviation is at most this multiple of 1 + abs(mean)."""
MIN_RELATIVE_VARIANCE = 1e-12
"""A variance below this share of the largest variance counts as a rounding error."""
ROWS_PER_PART = 128
ROWS_PER_PRODUCT = 512
"""Number of rows in a matrix product in float64, which is slow with fewer rows."""
CPU = torch.device("cpu")


def scale_to_tensor(
    vectors: Vectors, rows: Indices, *, scaling: Scaling, device: torch.device = CPU, dtype: torch.dtype = torch.float32
) -> Tensor:
    """Return all vectors, scaled, as a tensor on *device*, (sentences, dim).

    - rows: for each training item, the row of its sentence in *vectors*, (n,) int64; only these rows set the scale
    """
    scale_part = SCALINGS[scaling](vectors, np.unique(rows))
    table = torch.empty(vectors.shape, device=device, dtype=dtype)
    for first in range(0, len(vectors), ROWS_PER_PART):
        part = scale_part(vectors[first : first + ROWS_PER_PART])
        table[first : first + ROWS_PER_PART].copy_(torch.from_numpy(part))
    return table


def _learn_unit_length(vectors: Vectors, rows: Indices) -> ScalePart:
    """Return a function that subtracts the mean of *rows*, then divides by the mean length of the centred *rows*."""
    mean = _compute_mean(vectors, rows)
    lengths = [np.linalg.norm(vectors[row_part] - mean, axis=1) for row_part in _split_rows(rows)]
    length = np.concatenate(lengths).mean()
    divisor = length if length > MIN_RELATIVE_DEVIATION * (1 + np.linalg.norm(mean)) else 1.0
    return lambda part: ((part - mean) / divisor).astype(np.float32)


def _learn_unit_variance(vectors: Vectors, rows: Indices) -> ScalePart:
    """Return a function that subtracts the mean and divides each column, unless constant, by its standard deviation."""
    mean = _compute_mean(vectors, rows)
    deviations = np.sqrt(_compute_mean(vectors, rows, lambda part: np.square(part - mean)))
    scale = np.where(_exceeds_rounding(deviations, mean), deviations, 1.0)
    return lambda part: ((part - mean) / scale).astype(np.float32)


def _compute_mean(
    vectors: Vectors, rows: Indices, transform: Callable[[Doubles], Doubles] = lambda part: part
) -> Doubles:
    """Return the mean of each column over *rows* after *transform*, (dim,). Rows are added one by one, in order."""
    total = np.zeros((1, vectors.shape[1]))
    for row_part in _split_rows(rows):
        part = transform(vectors[row_part].astype(np.float64))
        total = np.concatenate([total, part]).sum(axis=0, keepdims=True)
    return np.asarray(total[0] / len(rows))


def _exceeds_rounding(deviations: Doubles, mean: Doubles) -> NDArray[np.bool_]:
    return deviations > MIN_RELATIVE_DEVIATION * (1 + np.abs(mean))


def _learn_whitening(vectors: Vectors, rows: Indices) -> ScalePart:
    """Return a function that maps vectors to their principal axes and divides by the standard deviation on each axis.

    The axes are those of the correlation matrix, so that rounding errors of large columns do not hide small columns.
    They are computed in float64, since float32 is too imprecise for axes of small variance. Axes whose variance is only
    a rounding error become 0.
    """
    mean = _compute_mean(vectors, rows)
    covariance = np.zeros((len(mean), len(mean)))
    for row_part in _split_rows(rows, size=ROWS_PER_PRODUCT):
        centred = vectors[row_part] - mean
        covariance += centred.T @ centred
    covariance /= len(rows)
    deviations = np.sqrt(covariance.diagonal())
    scale = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=_exceeds_rounding(deviations, mean))
    covariance *= np.outer(scale, scale)
    values, axes = np.linalg.eigh(covariance)
    exceeds_rounding = values > max(MIN_RELATIVE_VARIANCE * values[-1], np.finfo(np.float64).tiny)
    factors = np.divide(1.0, np.sqrt(np.abs(values)), out=np.zeros_like(values), where=exceeds_rounding)
    centre = mean.astype(np.float32)
    matrix = torch.from_numpy((scale[:, None] * axes * factors).astype(np.float32))
    return lambda part: torch.mm(torch.from_numpy(part - centre), matrix).numpy()


def _split_rows(rows: Indices, size: int = ROWS_PER_PART) -> list[Indices]:
    return np.split(rows, range(size, len(rows), size))


SCALINGS: Mapping[Scaling, Callable[[Vectors, Indices], ScalePart]] = {
    Scaling.AS_IS: lambda _vectors, _rows: lambda part: np.array(part, dtype=np.float32),
    Scaling.UNIT: _learn_unit_length,
    Scaling.VARIANCE: _learn_unit_variance,
    Scaling.WHITEN: _learn_whitening,
}
