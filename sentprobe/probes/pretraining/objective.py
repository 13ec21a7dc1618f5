"""What an objective is to the loop that trains: batches, a loss, and a figure on validation."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import nn

from sentprobe.probes.encoders.sentence_model import SentenceModel


@dataclass(frozen=True, slots=True)
class Batch:
    """Items that are learned from in one step, as tensors that a learner knows by name."""

    tensors: Mapping[str, torch.Tensor]
    items: int
    """How many there are."""
    targets: int
    """How many answers are asked for: tokens of a decoder, or an answer an item."""

    def to(self, device: torch.device) -> "Batch":
        """Return the same on another device; how long sentences are is known here.

        Those are the tensors whose names end in ``lengths``: networks ask for them on the CPU.
        """
        moved = {
            name: each.cpu() if name.endswith("lengths") else each.to(device, non_blocking=True)
            for name, each in self.tensors.items()
        }
        return Batch(moved, self.items, self.targets)


class Learner(nn.Module, ABC):
    """A sentence model, and on top of it what an objective needs: a decoder, a classifier."""

    def __init__(self, encoder: SentenceModel) -> None:
        super().__init__()
        self.encoder = encoder

    @abstractmethod
    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the loss, a scalar: the mean over a batch's targets, in nats."""


class Examples(Protocol):
    """What is learned from, in an order that the epoch alone decides."""

    @property
    def steps(self) -> int:
        """How many batches an epoch has."""

    def batches(self, epoch: int, *, start: int = 0) -> Iterator[Batch]:
        """Yield an epoch's batches from the batch *start* on: the same ones at each call."""


_FORMATS: Mapping[str, str] = {"BLEU": ".1f", "accuracy": ".1%"}
"""How figures are told that are of 100, or are shares; others have four digits."""


@dataclass(frozen=True, slots=True)
class Validation:
    """How well an objective is met on what was held out of the training."""

    metric: str
    """Its name: BLEU, accuracy, perplexity."""
    value: float
    higher_is_better: bool
    loss: float
    """Mean over the targets, in nats."""

    def __str__(self) -> str:
        """Return the figure as it is told.

        >>> print(Validation("accuracy", 0.93, higher_is_better=True, loss=0.2))
        accuracy 93.0%
        """
        return f"{self.metric} {self.value:{_FORMATS.get(self.metric, ',.4g')}}"

    def betters(self, other: "Validation | None") -> bool:
        """Say whether it is better than another, or the first; of equals, by the loss.

        At first BLEU and accuracy are 0 for a while, and yet something is learned.
        """
        if other is None:
            return True
        if self.value == other.value:
            return self.loss < other.loss
        return (self.value > other.value) is self.higher_is_better


@dataclass(frozen=True, slots=True)
class Prepared:
    """An objective over given texts, ready to be trained."""

    learner: Learner
    train: Examples
    validate: Callable[[Learner], Validation]
    """Leaves weights, gradients and random generators as they are."""
