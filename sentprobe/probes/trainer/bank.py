"""Many probes over the same vectors: their first layers side by side, the rest each for itself.

The products of the first layer may be made of bfloat16.

Sentence vectors are held once per distinct sentence; items index them. Probe words are looked up:
see words.py.

Gradients are written out by hand: with tens of small probes, building autograd's graph in every
step takes longer than the arithmetic.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from sentprobe.errors import UsageError
from sentprobe.probes.trainer.classifier import Activation, Masking, Precision, Start
from sentprobe.probes.trainer.one_hot import ProbeWords, add_words, word_gradients
from sentprobe.probes.trainer.presets import BankShape, GridPoint

FAST = {"amx_bf16", "avx512_bf16"}
"""The processor's instructions that make bfloat16 products faster than float32's."""


@cache
def fast_bfloat16() -> bool:
    """Return whether the processor has one of FAST (Linux says; elsewhere: no), and it is used.

    An environment may forbid it, as ``ONEDNN_MAX_CPU_ISA=AVX2`` does.
    """
    info = Path("/proc/cpuinfo")
    there = info.exists() and bool(FAST & set(info.read_text(encoding="utf-8").split()))
    return there and rounds_to_bfloat16()


def rounds_to_bfloat16() -> bool:
    """Return whether products that may be made of bfloat16 are: there, 1 + 2^-12 is 1."""
    nearly_one = torch.full((64, 64), 1 + 2.0**-12)
    with products_in(Precision.BFLOAT16):
        return bool((nearly_one @ torch.ones(64, 64) == 64).all())


def settle(precision: Precision, *, device: torch.device) -> Precision:
    """Return FLOAT32 or BFLOAT16.

    Raises:
        UsageError: bfloat16 is asked for where it is not fast.
    """
    fast = device.type == "cpu" and fast_bfloat16()
    if precision is Precision.BFLOAT16 and not fast:
        where = "this processor has no instructions for it" if device.type == "cpu" else "CPU only"
        raise UsageError(f"precision=bfloat16: {where}; use precision=auto")
    return Precision.FLOAT32 if precision is Precision.FLOAT32 or not fast else Precision.BFLOAT16


@contextmanager
def products_in(precision: Precision) -> Iterator[None]:
    """Let PyTorch make float32 matrix products of this precision; sums stay float32."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium" if precision is Precision.BFLOAT16 else "highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@dataclass(frozen=True, slots=True)
class BatchInputs:
    """A batch of items.

    - vectors: (b, dim) float32
    """

    vectors: Tensor
    words: ProbeWords


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What all probes of a bank share."""

    shape: BankShape
    activation: Activation
    masking: Masking
    precision: Precision
    """Of the first layer's products; the others are too small to gain."""


@dataclass(frozen=True, slots=True)
class Bank:
    """The weights of P probes; probe p has the units ``segments[p]`` of *units* in all.

    - sentence: (units, dim) float32, from the sentence vector
    - small: (word_rows + 1 + labels, units) float32: for each slot a row for each probe word, or
      for each number of its vector; the hidden layer's biases; and the output layer's weights
    - last: (P, labels) float32, the output layer's biases

    Without a hidden layer a probe's units are its labels, and there are no output rows and no
    *last* (P, 0).
    """

    points: tuple[GridPoint, ...]
    design: Design
    sentence: Tensor
    small: Tensor
    last: Tensor

    @property
    def segments(self) -> tuple[slice, ...]:
        """The units of each probe."""
        widths = (point.hidden or self.design.shape.labels for point in self.points)
        return tuple(slice(*ends) for ends in pairwise(accumulate(widths, initial=0)))

    @property
    def linear(self) -> bool:
        """Whether there is no hidden layer."""
        return self.last.shape[1] == 0

    @property
    def bias_row(self) -> int:
        """The row of *small* that holds the biases; above it are words, below output weights."""
        return self.design.shape.word_rows

    @property
    def words(self) -> Tensor:
        """The weights of the probe words, (word_rows, units); a view."""
        return self.small[: self.bias_row]

    def parameters(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the weights."""
        return self.sentence, self.small, self.last

    def like(self, sentence: Tensor, small: Tensor, last: Tensor) -> "Bank":
        """Return other values for the same probes, such as gradients."""
        return Bank(self.points, self.design, sentence, small, last)

    def empty(self) -> "Bank":
        """Return zeros in the same shapes."""
        return self.like(*map(torch.zeros_like, self.parameters()))

    def keep(self, places: Sequence[int]) -> "Bank":
        """Return a copy of the probes at those places."""
        segments = [self.segments[place] for place in places]
        return Bank(
            tuple(self.points[place] for place in places),
            self.design,
            torch.cat([self.sentence[segment] for segment in segments]),
            torch.cat([self.small[:, segment] for segment in segments], dim=1),
            self.last[list(places)],
        )


def make_bank(
    points: Sequence[GridPoint], design: Design, *, start: Start, device: torch.device
) -> Bank:
    """Draw the weights of each probe on the CPU, from its own seed, and join them."""
    drawn = zip(*(_draw(point, design.shape, start=start) for point in points), strict=True)
    joined = (torch.cat(parts, dim=dim) for parts, dim in zip(drawn, (0, 1, 0), strict=True))
    return Bank(tuple(points), design, *(each.to(device) for each in joined))


def _draw(point: GridPoint, shape: BankShape, *, start: Start) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(point.seed)
    width = point.hidden or shape.labels

    def uniform(rows: int, columns: int, *, fan_in: int, fan_out: int) -> Tensor:
        bound = BOUNDS[start](fan_in, fan_out)
        return torch.empty(rows, columns).uniform_(-bound, bound, generator=generator)

    first = {"fan_in": shape.inputs, "fan_out": width}
    sentence = uniform(width, shape.dim, **first)
    words = uniform(shape.word_rows + 1, width, **first)
    if not point.hidden:
        return sentence, words, torch.empty(1, 0)
    last = {"fan_in": width, "fan_out": shape.labels}
    output = uniform(shape.labels, width, **last)
    return sentence, torch.cat([words, output]), uniform(1, shape.labels, **last)


def _glorot(fan_in: int, fan_out: int) -> float:
    return math.sqrt(6 / (fan_in + fan_out))


def _fan_in(fan_in: int, fan_out: int) -> float:
    del fan_out
    return 1 / math.sqrt(fan_in)


BOUNDS = {Start.GLOROT: _glorot, Start.FAN_IN: _fan_in}
"""How far from 0 the weights begin, at most."""


Masks = Mapping[int, Tensor]
"""Factors (b, width) for the hidden units of some probes, by place: 0, or 1 / (1 - dropout)."""


def logits(bank: Bank, inputs: BatchInputs) -> Tensor:
    """Return the logits (P, b, labels) of all probes, without dropout."""
    return _output(bank, _hidden(bank, inputs, masks={})[1])


def gradients(
    bank: Bank, inputs: BatchInputs, targets: Tensor, *, masks: Masks, into: Bank
) -> Tensor:
    """Put the gradients of each probe's mean cross-entropy *into* a bank; return the losses (P,).

    - targets: (b, labels) float32, one-hot
    """
    raw, hidden = _hidden(bank, inputs, masks=masks)
    scores = functional.log_softmax(_output(bank, hidden), dim=2)  # (P, b, labels)
    losses = -(scores * targets).sum(dim=(1, 2)) / len(targets)
    error = scores.exp_().sub_(targets).div_(len(targets))  # (P, b, labels)
    if bank.linear:
        delta = error.transpose(0, 1).reshape(len(targets), -1)  # (b, units)
    else:
        delta = _through_output(bank, error, hidden, into=into)
        delta = _through_activation(bank, delta, raw, masks=masks)
    _first_layer(bank, inputs, delta, into=into)
    return losses


def _hidden(bank: Bank, inputs: BatchInputs, *, masks: Masks) -> tuple[Tensor, Tensor]:
    """Return the units (b, units) after the activation, and after dropout too.

    With no dropout after the activation they are one tensor.
    """
    sums = _product(bank, inputs.vectors, bank.sentence.T)  # (b, units)
    sums += bank.small[bank.bias_row]
    with products_in(bank.design.precision):
        add_words(inputs.words, bank.words, into=sums)
    if bank.linear:
        return sums, sums
    if bank.design.masking is Masking.BEFORE:
        _mask(bank, sums, masks)
    raw = sums.relu_() if bank.design.activation is Activation.RELU else sums.sigmoid_()
    if bank.design.masking is Masking.BEFORE or not masks:
        return raw, raw
    return raw, _mask(bank, raw.clone(), masks)


def _mask(bank: Bank, units: Tensor, masks: Masks) -> Tensor:
    segments = bank.segments
    for place, mask in masks.items():
        units[:, segments[place]] *= mask
    return units


def _output(bank: Bank, hidden: Tensor) -> Tensor:
    if bank.linear:
        return hidden.view(len(hidden), len(bank.points), -1).transpose(0, 1)
    weights = bank.small[bank.bias_row + 1 :]  # (labels, units)
    found = hidden.new_empty(len(bank.points), len(hidden), len(weights))
    for place, segment in enumerate(bank.segments):
        torch.mm(hidden[:, segment], weights[:, segment].T, out=found[place])
    return found.add_(bank.last[:, None])


def _through_output(bank: Bank, error: Tensor, hidden: Tensor, *, into: Bank) -> Tensor:
    """Return the gradient of the hidden units, (b, units)."""
    top = bank.bias_row + 1
    delta = torch.empty_like(hidden)
    for place, segment in enumerate(bank.segments):
        torch.mm(error[place], bank.small[top:, segment], out=delta[:, segment])
        torch.mm(error[place].T, hidden[:, segment], out=into.small[top:, segment])
    torch.sum(error, dim=1, out=into.last)
    return delta


def _through_activation(bank: Bank, delta: Tensor, raw: Tensor, *, masks: Masks) -> Tensor:
    _mask(bank, delta, masks)
    if bank.design.activation is Activation.RELU:
        torch.ops.aten.threshold_backward.grad_input(delta, raw, 0, grad_input=delta)
    else:
        torch.ops.aten.sigmoid_backward.grad_input(delta, raw, grad_input=delta)
    return delta


def _first_layer(bank: Bank, inputs: BatchInputs, delta: Tensor, *, into: Bank) -> None:
    torch.sum(delta, dim=0, out=into.small[bank.bias_row])
    with products_in(bank.design.precision):
        word_gradients(inputs.words, delta, into=into.words)
    _product(bank, delta.T, inputs.vectors, out=into.sentence)


def _product(bank: Bank, left: Tensor, right: Tensor, *, out: Tensor | None = None) -> Tensor:
    with products_in(bank.design.precision):
        return torch.mm(left, right, out=out)
