"""Banks of probes: many probes on the same vectors, trained together. Their first layers form one matrix.

One product computes the first layers of all probes, with their probe words and biases. Units are rows and items are
columns, so that both factors of the gradient's product, which takes most time, are contiguous.

Gradients are computed without autograd: for dozens of small probes, its graph would take longer than the arithmetic.

Scale sentence vectors by float64 statistics of the training sentences. Each sentence counts once.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sentprobe.probes.classifier.devices import multiply
from sentprobe.probes.classifier.presets import BankShape, GridPoint
from sentprobe.probes.classifier.probe import Activation, Masking, Precision, Scaling, WeightInitialization
from sentprobe.probes.datasets.dataset import Indices
from sentprobe.probes.encoders.encoder import Vectors

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
        # The running sum is the first row of the next sum, so the parts' size does not change the rounding.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class BankDesign:
    """The settings that all probes of a bank share."""

    shape: BankShape
    activation: Activation
    masking: Masking
    precision: Precision
    """Precision of the products in the first layer; those in the output layer are always float32."""


@dataclass(frozen=True)
class Bank:
    """The weights of P probes. The hidden units of all probes are numbered; probe p has those in ``segments[p]``.

    - hidden: the units' weights of the input, (units, columns) float32: of the sentence vector, of the probe words, the
      bias, and zeros
    - output: output weights, (labels, units) float32
    - output_biases: (P, labels) float32

    Without a hidden layer, a probe's units are its outputs, one for each label; then ``output``, (0, units), and
    ``output_biases``, (P, 0), are empty.
    """

    points: tuple[GridPoint, ...]
    design: BankDesign
    hidden: Tensor
    output: Tensor
    output_biases: Tensor

    @cached_property
    def segments(self) -> tuple[slice, ...]:
        """A slice for each probe: the indices of its hidden units or, without a hidden layer, of its output units."""
        widths = (point.hidden or self.design.shape.labels for point in self.points)
        return tuple(slice(*ends) for ends in pairwise(accumulate(widths, initial=0)))

    @property
    def is_linear(self) -> bool:
        """Whether the probes have no hidden layer."""
        return self.output_biases.shape[1] == 0

    @property
    def has_joint_output(self) -> bool:
        """Whether one batched product computes all output layers: on a GPU, if the probes have one width."""
        return self.hidden.device.type != "cpu" and len({point.hidden for point in self.points}) == 1

    @property
    def hidden_biases(self) -> Tensor:
        """The biases of the hidden units, (units,), a view of ``hidden``."""
        return self.hidden[:, self.design.shape.inputs]

    def list_weights(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.hidden, self.output, self.output_biases

    def replace_weights(self, hidden: Tensor, output: Tensor, output_biases: Tensor) -> "Bank":
        """Return a bank of the same probes with other values, such as gradients, in place of the weights."""
        return Bank(self.points, self.design, hidden, output, output_biases)

    def make_zeros(self) -> "Bank":
        return self.replace_weights(*map(torch.zeros_like, self.list_weights()))

    def select_probes(self, indices: Sequence[int]) -> "Bank":
        """Return a bank with copies of the probes that have these indices."""
        segments = [self.segments[index] for index in indices]
        return Bank(
            tuple(self.points[index] for index in indices),
            self.design,
            torch.cat([self.hidden[segment] for segment in segments]),
            torch.cat([self.output[:, segment] for segment in segments], dim=1),
            self.output_biases[list(indices)],
        )


def make_bank(
    points: Sequence[GridPoint], design: BankDesign, *, start: WeightInitialization, device: torch.device
) -> Bank:
    """Return a bank on *device* with random weights. Each probe's weights depend only on its own seed."""
    weights = zip(*(_sample_weights(point, design.shape, start=start) for point in points), strict=True)
    joined = (torch.cat(parts, dim=dim) for parts, dim in zip(weights, (0, 1, 0), strict=True))
    return Bank(tuple(points), design, *(tensor.to(device) for tensor in joined))


def _sample_weights(
    point: GridPoint, shape: BankShape, *, start: WeightInitialization
) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(point.seed)
    width = point.hidden or shape.labels

    def sample_uniform(rows: int, columns: int, *, fan_in: int, fan_out: int) -> Tensor:
        bound = INITIAL_BOUNDS[start](fan_in, fan_out)
        return torch.empty(rows, columns).uniform_(-bound, bound, generator=generator)

    first_fans = {"fan_in": shape.inputs, "fan_out": width}
    hidden = torch.zeros(width, shape.columns)
    hidden[:, : shape.dim] = sample_uniform(width, shape.dim, **first_fans)
    hidden[:, shape.dim : shape.inputs + 1] = sample_uniform(shape.word_rows + 1, width, **first_fans).T
    if not point.hidden:
        return hidden, torch.empty(0, width), torch.empty(1, 0)
    output_fans = {"fan_in": width, "fan_out": shape.labels}
    output = sample_uniform(shape.labels, width, **output_fans)
    return hidden, output, sample_uniform(1, shape.labels, **output_fans)


INITIAL_BOUNDS: Mapping[WeightInitialization, Callable[[int, int], float]] = {
    WeightInitialization.GLOROT: lambda fan_in, fan_out: math.sqrt(6 / (fan_in + fan_out)),
    WeightInitialization.FAN_IN: lambda fan_in, _: 1 / math.sqrt(fan_in),
}

Masks = Mapping[int, Tensor]
"""By index of the probe: the dropout factors of its hidden units, (width, b), each 0 or 1 / (1 - dropout)."""


def compute_logits(bank: Bank, inputs: Tensor) -> Tensor:
    """Return the logits of all P probes for b items, without dropout, (P, labels, b). *inputs*: (b, columns)."""
    return _compute_output(bank, _compute_hidden(bank, inputs, masks={})[1])


def compute_gradients(bank: Bank, inputs: Tensor, targets: Tensor, *, masks: Masks, into: Bank) -> Tensor:
    """Write the gradients of each probe's loss to *into*; return the losses (mean cross-entropy), (P,).

    - inputs: the inputs of b items, (b, columns)
    - targets: the one-hot label of each item, (labels, b)
    - masks: the dropout factors of probes with dropout
    """
    activations, hidden = _compute_hidden(bank, inputs, masks=masks)
    scores = functional.log_softmax(_compute_output(bank, hidden), dim=1)  # (P, labels, b)
    losses = -(scores * targets).sum(dim=(1, 2)) / len(inputs)
    # The gradient of the mean cross-entropy with respect to the logits is (softmax - one-hot) / b.
    error = scores.exp_().sub_(targets).div_(len(inputs))  # (P, labels, b)
    if bank.is_linear:
        delta = error.flatten(0, 1)  # (units, b)
    else:
        delta = _backpropagate_output(bank, error, hidden, into=into)
        # Both factors are elementwise, so this order is right for dropout before and after the activation.
        _apply_masks(bank, delta, masks)
        if bank.design.activation is Activation.RELU:
            torch.ops.aten.threshold_backward.grad_input(delta, activations, 0, grad_input=delta)
        else:
            torch.ops.aten.sigmoid_backward.grad_input(delta, activations, grad_input=delta)
    multiply(delta, inputs, precision=bank.design.precision, out=into.hidden)
    return losses


def _compute_hidden(bank: Bank, inputs: Tensor, *, masks: Masks) -> tuple[Tensor, Tensor]:
    """Return the hidden activations, (units, b), and the output layer's input: the activations after any dropout."""
    sums = multiply(bank.hidden, inputs.T, precision=bank.design.precision)  # (units, b)
    if bank.is_linear:
        return sums, sums
    if bank.design.masking is Masking.BEFORE:
        _apply_masks(bank, sums, masks)
    activations = sums.relu_() if bank.design.activation is Activation.RELU else sums.sigmoid_()
    if bank.design.masking is Masking.BEFORE or not masks:
        return activations, activations
    # A copy: the derivative of the activation needs the values without dropout.
    return activations, _apply_masks(bank, activations.clone(), masks)


def _apply_masks(bank: Bank, units: Tensor, masks: Masks) -> Tensor:
    for index, mask in masks.items():
        units[bank.segments[index]] *= mask
    return units


def _compute_output(bank: Bank, hidden: Tensor) -> Tensor:
    if bank.is_linear:
        return _split_probes(bank, hidden)
    if bank.has_joint_output:  # all probes have one width, so that one batched product gives (P, labels, b)
        weights = bank.output.view(len(bank.output), len(bank.points), -1).transpose(0, 1)  # (P, labels, width)
        return torch.baddbmm(bank.output_biases[:, :, None], weights, _split_probes(bank, hidden))
    logits = hidden.new_empty(len(bank.points), len(bank.output), hidden.shape[1])
    # One product per probe, since probes differ in width.
    for index, segment in enumerate(bank.segments):
        torch.addmm(bank.output_biases[index, :, None], bank.output[:, segment], hidden[segment], out=logits[index])
    return logits


def _split_probes(bank: Bank, units: Tensor) -> Tensor:
    """Return the units of probes that have one width, (units, b), as (P, width, b), a view."""
    return units.view(len(bank.points), -1, units.shape[1])


def _backpropagate_output(bank: Bank, error: Tensor, hidden: Tensor, *, into: Bank) -> Tensor:
    """Write the gradients of the output layers to *into*; return those of *hidden*, (units, b).

    - error: the gradient with respect to the logits, (P, labels, b)
    - hidden: the input of the output layers, (units, b)
    """
    torch.sum(error, dim=2, out=into.output_biases)
    if bank.has_joint_output:
        weights = bank.output.view(len(bank.output), len(bank.points), -1).permute(1, 2, 0)  # (P, width, labels)
        gradient = torch.bmm(error, _split_probes(bank, hidden).transpose(1, 2))  # (P, labels, width)
        into.output.copy_(gradient.transpose(0, 1).flatten(1))
        return torch.bmm(weights, error).flatten(0, 1)
    delta = torch.empty_like(hidden)
    for index, segment in enumerate(bank.segments):
        torch.mm(bank.output[:, segment].T, error[index], out=delta[segment])
        torch.mm(error[index], hidden[segment].T, out=into.output[:, segment])
    return delta
