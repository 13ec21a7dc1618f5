"""Interface between an objective and the training loop: batches, loss and validation metric."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import nn

from sentprobe.probes.encoders.trained.sentence_model import SentenceModel


@dataclass(frozen=True, slots=True)
class Batch:
    """Items of one step, as named tensors."""

    tensors: Mapping[str, torch.Tensor]
    items: int
    targets: int
    """Number of predicted targets: tokens of a decoder, or one per item."""

    def to(self, device: torch.device) -> "Batch":
        """Return the batch on a device; tensors named ``...lengths`` stay on the CPU, where networks need them."""
        moved = {
            name: tensor.cpu() if name.endswith("lengths") else tensor.to(device, non_blocking=True)
            for name, tensor in self.tensors.items()
        }
        return Batch(moved, self.items, self.targets)


class Learner(nn.Module, ABC):
    """A sentence model with the decoder or classifier of an objective."""

    def __init__(self, encoder: SentenceModel) -> None:
        super().__init__()
        self.encoder = encoder

    @abstractmethod
    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the loss, a scalar: the mean over the batch's targets, in nats."""


class TrainingBatches(Protocol):
    """Training batches in an order that depends on the epoch alone."""

    @property
    def steps(self) -> int:
        """Number of batches per epoch."""

    def batches(self, epoch: int, *, start: int = 0) -> Iterator[Batch]:
        """Yield an epoch's batches, from batch *start*; each call yields the same ones."""


_METRIC_FORMATS: Mapping[str, str] = {"BLEU": ".1f", "accuracy": ".1%"}
"""Number formats of metrics; others have four significant digits."""


@dataclass(frozen=True, slots=True)
class Validation:
    """Result of a validation on the held-out items."""

    metric: str
    """BLEU, accuracy or perplexity."""
    value: float
    higher_is_better: bool
    loss: float
    """Mean over the targets, in nats."""

    def __str__(self) -> str:
        """Return metric and value.

        >>> print(Validation("accuracy", 0.93, higher_is_better=True, loss=0.2))
        accuracy 93.0%
        """
        return f"{self.metric} {self.value:{_METRIC_FORMATS.get(self.metric, ',.4g')}}"

    def is_better_than(self, previous: "Validation | None") -> bool:
        """Return whether this validation is better than *previous*, or is the first; the loss breaks ties."""
        if previous is None:
            return True
        if self.value == previous.value:
            return self.loss < previous.loss
        return (self.value > previous.value) is self.higher_is_better


@dataclass(frozen=True, slots=True)
class PreparedObjective:
    """An objective over texts, ready for training."""

    learner: Learner
    train: TrainingBatches
    validate: Callable[[Learner], Validation]
    """Leaves weights, gradients and random generators unchanged."""
