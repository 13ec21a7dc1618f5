"""Banks of probes: many probes over the same vectors, with their first layers side by side.

Gradients are written out by hand: for tens of small probes, building autograd's graph takes longer than the arithmetic.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import torch
from torch import Tensor
from torch.nn import functional

from sentprobe.probes.trainer.classifier import Activation, Masking, Precision, WeightInitialization
from sentprobe.probes.trainer.devices import multiply
from sentprobe.probes.trainer.presets import BankShape, GridPoint


@dataclass(frozen=True)
class ProbeWords:
    """Probe words of a batch of items.

    - numbers: (b, slots) int64. One-hot words are rows of the weights: word i of slot j is row j *
      (number of words) + i. With a lexicon, they are rows of the lexicon, for all slots
    - lexicon: (number of words, word_dim) float32, the word vectors; None for one-hot words
    """

    numbers: Tensor
    lexicon: Tensor | None = None

    def select_items(self, places: Tensor) -> "ProbeWords":
        """Return the probe words of the items at *places*."""
        return ProbeWords(self.numbers[places], self.lexicon)

    @cached_property
    def distinct_words(self) -> tuple[tuple[Tensor, Tensor], ...]:
        """Vectors of each slot's distinct words, and each item's place among them."""
        if self.lexicon is None:
            return ()
        words_by_slot = (torch.unique(slot, return_inverse=True) for slot in self.numbers.unbind(dim=1))
        return tuple((self.lexicon[words], places) for words, places in words_by_slot)

    def get_slot_weights(self, weights: Tensor, slot: int) -> Tensor:
        """Return a view of a slot's weights, (word_dim, units)."""
        assert self.lexicon is not None
        width = self.lexicon.shape[1]
        return weights[slot * width : (slot + 1) * width]


def add_word_contributions(words: ProbeWords, weights: Tensor, *, precision: Precision, into: Tensor) -> None:
    """Add the contribution of the probe words to the sums *into* (b, units)."""
    if words.lexicon is None:
        for slot in words.numbers.unbind(dim=1):
            into += functional.embedding(slot, weights)
        return
    for number, (vectors, places) in enumerate(words.distinct_words):
        products = multiply(vectors, words.get_slot_weights(weights, number), precision=precision)
        into += functional.embedding(places, products)


def compute_word_gradients(words: ProbeWords, delta: Tensor, *, precision: Precision, into: Tensor) -> None:
    """Write the weights' gradients (rows, units) to *into*, given those of the sums (b, units)."""
    if words.lexicon is None:
        into.zero_()
        for slot in words.numbers.unbind(dim=1):
            into.index_add_(0, slot, delta)
        return
    for number, (vectors, places) in enumerate(words.distinct_words):
        sums = delta.new_zeros(len(vectors), delta.shape[1]).index_add_(0, places, delta)
        multiply(vectors.T, sums, precision=precision, out=words.get_slot_weights(into, number))


@dataclass(frozen=True, slots=True)
class BatchInputs:
    """A batch of items; *vectors* are (b, dim), in the precision of the products."""

    vectors: Tensor
    words: ProbeWords


@dataclass(frozen=True, slots=True, kw_only=True)
class BankDesign:
    """Settings that all probes of a bank share."""

    shape: BankShape
    activation: Activation
    masking: Masking
    precision: Precision
    """Precision of the first layer's products; the others are too small to gain."""


@dataclass(frozen=True, slots=True)
class Bank:
    """Weights of P probes; probe p has the hidden units ``segments[p]``.

    - sentence: (units, dim) float32, weights of the sentence vector
    - small: (word_rows + 1 + labels, units) float32. For each slot it has a row per probe word, or
      per dimension of the word vector. Then come the hidden biases and the output weights
    - output_biases: (P, labels) float32

    Without a hidden layer, a probe's units are its labels; there are no output weights, and output_biases is (P, 0).
    """

    points: tuple[GridPoint, ...]
    design: BankDesign
    sentence: Tensor
    small: Tensor
    output_biases: Tensor

    @property
    def segments(self) -> tuple[slice, ...]:
        """Units of each probe."""
        widths = (point.hidden or self.design.shape.labels for point in self.points)
        return tuple(slice(*ends) for ends in pairwise(accumulate(widths, initial=0)))

    @property
    def is_linear(self) -> bool:
        """Whether the probes have no hidden layer."""
        return self.output_biases.shape[1] == 0

    @property
    def bias_row(self) -> int:
        """Row of *small* with the biases; words are above it, output weights below."""
        return self.design.shape.word_rows

    @property
    def word_weights(self) -> Tensor:
        """View of the weights of the probe words, (word_rows, units)."""
        return self.small[: self.bias_row]

    def list_weights(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the three weight tensors."""
        return self.sentence, self.small, self.output_biases

    def replace_weights(self, sentence: Tensor, small: Tensor, output_biases: Tensor) -> "Bank":
        """Return a bank of the same probes with other values, such as gradients."""
        return Bank(self.points, self.design, sentence, small, output_biases)

    def make_zeros(self) -> "Bank":
        """Return zeros of the same shapes."""
        return self.replace_weights(*map(torch.zeros_like, self.list_weights()))

    def select_probes(self, places: Sequence[int]) -> "Bank":
        """Return a copy of the probes at *places*."""
        segments = [self.segments[place] for place in places]
        return Bank(
            tuple(self.points[place] for place in places),
            self.design,
            torch.cat([self.sentence[segment] for segment in segments]),
            torch.cat([self.small[:, segment] for segment in segments], dim=1),
            self.output_biases[list(places)],
        )


def make_bank(
    points: Sequence[GridPoint], design: BankDesign, *, start: WeightInitialization, device: torch.device
) -> Bank:
    """Sample each probe's weights on the CPU from its own seed, and join them."""
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
    sentence = sample_uniform(width, shape.dim, **first_fans)
    words = sample_uniform(shape.word_rows + 1, width, **first_fans)
    if not point.hidden:
        return sentence, words, torch.empty(1, 0)
    output_fans = {"fan_in": width, "fan_out": shape.labels}
    output = sample_uniform(shape.labels, width, **output_fans)
    return sentence, torch.cat([words, output]), sample_uniform(1, shape.labels, **output_fans)


INITIAL_BOUNDS: Mapping[WeightInitialization, Callable[[int, int], float]] = {
    WeightInitialization.GLOROT: lambda fan_in, fan_out: math.sqrt(6 / (fan_in + fan_out)),
    WeightInitialization.FAN_IN: lambda fan_in, _: 1 / math.sqrt(fan_in),
}

Masks = Mapping[int, Tensor]
"""Dropout factors (b, width) of hidden units, by place of the probe: 0, or 1 / (1 - dropout)."""


def compute_logits(bank: Bank, inputs: BatchInputs) -> Tensor:
    """Return the logits of all probes without dropout, (P, b, labels)."""
    return _compute_output(bank, _compute_hidden(bank, inputs, masks={})[1])


def compute_gradients(bank: Bank, inputs: BatchInputs, targets: Tensor, *, masks: Masks, into: Bank) -> Tensor:
    """Write the gradients of each probe's mean cross-entropy to *into*; return the losses (P,). Targets are one-hot."""
    activations, hidden = _compute_hidden(bank, inputs, masks=masks)
    scores = functional.log_softmax(_compute_output(bank, hidden), dim=2)  # (P, b, labels)
    losses = -(scores * targets).sum(dim=(1, 2)) / len(targets)
    error = scores.exp_().sub_(targets).div_(len(targets))  # (P, b, labels)
    if bank.is_linear:
        delta = error.transpose(0, 1).reshape(len(targets), -1)  # (b, units)
    else:
        delta = _backpropagate_output(bank, error, hidden, into=into)
        _apply_masks(bank, delta, masks)
        if bank.design.activation is Activation.RELU:
            torch.ops.aten.threshold_backward.grad_input(delta, activations, 0, grad_input=delta)
        else:
            torch.ops.aten.sigmoid_backward.grad_input(delta, activations, grad_input=delta)
    torch.sum(delta, dim=0, out=into.small[bank.bias_row])
    precision = bank.design.precision
    compute_word_gradients(inputs.words, delta, precision=precision, into=into.word_weights)
    multiply(delta.T, inputs.vectors, precision=precision, out=into.sentence)
    return losses


def _compute_hidden(bank: Bank, inputs: BatchInputs, *, masks: Masks) -> tuple[Tensor, Tensor]:
    """Return the activations before and after dropout, (b, units) each: the same tensor unless dropout follows."""
    precision = bank.design.precision
    sums = multiply(inputs.vectors, bank.sentence.T, precision=precision)  # (b, units)
    sums += bank.small[bank.bias_row]
    add_word_contributions(inputs.words, bank.word_weights, precision=precision, into=sums)
    if bank.is_linear:
        return sums, sums
    if bank.design.masking is Masking.BEFORE:
        _apply_masks(bank, sums, masks)
    activations = sums.relu_() if bank.design.activation is Activation.RELU else sums.sigmoid_()
    if bank.design.masking is Masking.BEFORE or not masks:
        return activations, activations
    return activations, _apply_masks(bank, activations.clone(), masks)


def _apply_masks(bank: Bank, units: Tensor, masks: Masks) -> Tensor:
    segments = bank.segments
    for place, mask in masks.items():
        units[:, segments[place]] *= mask
    return units


def _compute_output(bank: Bank, hidden: Tensor) -> Tensor:
    if bank.is_linear:
        return hidden.view(len(hidden), len(bank.points), -1).transpose(0, 1)
    weights = bank.small[bank.bias_row + 1 :]  # (labels, units)
    output = hidden.new_empty(len(bank.points), len(hidden), len(weights))
    for place, segment in enumerate(bank.segments):
        torch.mm(hidden[:, segment], weights[:, segment].T, out=output[place])
    return output.add_(bank.output_biases[:, None])


def _backpropagate_output(bank: Bank, error: Tensor, hidden: Tensor, *, into: Bank) -> Tensor:
    first_output_row = bank.bias_row + 1
    delta = torch.empty_like(hidden)
    for place, segment in enumerate(bank.segments):
        torch.mm(error[place], bank.small[first_output_row:, segment], out=delta[:, segment])
        torch.mm(error[place].T, hidden[:, segment], out=into.small[first_output_row:, segment])
    torch.sum(error, dim=1, out=into.output_biases)
    return delta
