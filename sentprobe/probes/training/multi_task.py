"""Several objectives on one encoder, as Ettinger et al. (2018, section 9) ask for: each batch is of one objective."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import nn

from sentprobe.probes.training.objective import Batch, Learner, Metric, PreparedObjective, TrainingBatches, Validation


class MultiTaskLearner(Learner):
    """A sentence model that the learners of several objectives share."""

    uses_all_weights = False

    def __init__(self, learners: Mapping[str, Learner]) -> None:
        encoder = next(iter(learners.values())).encoder
        super().__init__(encoder)
        for learner in learners.values():
            # Registered here only: else a checkpoint would hold the encoder once more for each objective.
            del learner.encoder
            object.__setattr__(learner, "encoder", encoder)
        self.learners = nn.ModuleDict(learners)

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the mean loss over a batch's targets, a scalar, in nats, by the learner of the batch's objective."""
        loss: torch.Tensor = self.learners[batch.objective](batch)
        return loss

    def find_learner(self, objective: str) -> Learner:
        """Return the learner of an objective."""
        learner = self.learners[objective]
        assert isinstance(learner, Learner)
        return learner


@dataclass(frozen=True, slots=True, eq=False)
class MixedBatches:
    """Batches of several objectives in random order, in the form of :class:`.objective.TrainingBatches`.

    An epoch has as many batches as the epochs of all objectives have together, in proportion to the weights. Each
    objective goes through its own epochs in order, however many of its batches an epoch has.
    """

    parts: Mapping[str, TrainingBatches]
    weights: Mapping[str, float]
    seed: int

    @property
    def steps(self) -> int:
        return sum(part.steps for part in self.parts.values())

    def batches(self, epoch: int, *, start: int = 0) -> Iterator[Batch]:
        counts = self.count_batches()
        order = np.random.default_rng((self.seed, 6, epoch)).permutation(np.repeat(np.arange(len(counts)), counts))
        earlier_counts = np.bincount(order[:start], minlength=len(counts)).tolist()
        streams = [
            iterate_epochs(part, epoch * count + earlier)
            for part, count, earlier in zip(self.parts.values(), counts, earlier_counts, strict=True)
        ]
        names = [*self.parts]
        for number in order[start:].tolist():
            yield replace(next(streams[number]), objective=names[number])

    def count_batches(self) -> list[int]:
        """Return the number of batches of each objective in an epoch: at least one, else in proportion to the weights.

        >>> from sentprobe.probes.training.objective import ItemBatches
        >>> parts = dict.fromkeys(("autoencoder", "nli"), ItemBatches(np.arange(50), 10, 0, None))
        >>> MixedBatches(parts, {"autoencoder": 2.0, "nli": 1.0}, seed=0).count_batches()
        [7, 3]
        """
        weights = np.array([self.weights[name] for name in self.parts])
        exact = self.steps * weights / weights.sum()
        counts = np.maximum(np.floor(exact).astype(np.int64), 1)
        while counts.sum() < self.steps:
            counts[np.argmax(exact - counts)] += 1
        while counts.sum() > self.steps:
            counts[np.argmax(np.where(counts > 1, counts - exact, -np.inf))] -= 1
        return [int(count) for count in counts]


def iterate_epochs(batches: TrainingBatches, start: int) -> Iterator[Batch]:
    """Yield the batches of all epochs, one epoch after the other, beginning with batch number *start*; never end."""
    epoch, place = divmod(start, batches.steps)
    while True:
        yield from batches.batches(epoch, start=place)
        epoch, place = epoch + 1, 0


@dataclass(frozen=True, slots=True)
class MultiTaskValidator:
    """Validates each objective on its own held-out items; the mean of their losses by the weights is the metric."""

    validators: Mapping[str, Callable[[Learner], Validation]]
    weights: Mapping[str, float]

    def __call__(self, learner: Learner) -> Validation:
        """Return the mean loss, which training lowers in expectation, with the validation of each objective."""
        assert isinstance(learner, MultiTaskLearner)
        parts = {name: validate(learner.find_learner(name)) for name, validate in self.validators.items()}
        weighted_loss = sum(self.weights[name] * part.loss for name, part in parts.items())
        loss = weighted_loss / sum(self.weights[name] for name in parts)
        return Validation(Metric.LOSS.value, loss, higher_is_better=False, loss=loss, parts=parts)


def combine_objectives(
    prepared: Mapping[str, PreparedObjective], weights: Mapping[str, float], *, seed: int
) -> PreparedObjective:
    """Return several objectives, prepared for one sentence model, as one; a single objective is returned unchanged."""
    if len(prepared) == 1:
        return next(iter(prepared.values()))
    return PreparedObjective(
        MultiTaskLearner({name: part.learner for name, part in prepared.items()}),
        MixedBatches({name: part.train for name, part in prepared.items()}, weights, seed),
        MultiTaskValidator({name: part.validate for name, part in prepared.items()}, weights),
    )
