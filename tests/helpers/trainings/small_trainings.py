"""Trainings of a model with few weights, for tests of the training loop."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import nn

from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.encoders.models import trained as models
from sentprobe.probes.training import loop
from sentprobe.probes.training.objective import Batch, Learner, PreparedObjective, Validation
from sentprobe.probes.training.schedule import ADAM, Limits, OptimizerSettings, StepInterval, TrainingState

WORDS = tuple("abcdefgh")
STEPS = 5
"""Batches per epoch."""


class LengthLearner(Learner):
    """Learner of sentence length, with dropout."""

    def __init__(self, encoder: models.SentenceModel) -> None:
        super().__init__(encoder)
        self.dropout = nn.Dropout(0.3)
        self.out = nn.Linear(encoder.dim, 1)
        nn.init.constant_(self.out.weight, 0.1)
        nn.init.zeros_(self.out.bias)

    def forward(self, batch: Batch) -> torch.Tensor:
        lengths = batch.tensors["lengths"]
        vectors = self.encoder(batch.tensors["ids"], lengths)
        errors = self.out(self.dropout(vectors)).squeeze(1) - lengths * batch.tensors["scale"]
        loss: torch.Tensor = (errors**2).mean()
        return loss


@dataclass(frozen=True)
class LengthExamples:
    """Batches that the epoch decides; from step *bad* of the first epoch on, they hold NaN."""

    steps: int = STEPS
    bad: int | None = None

    def batches(self, epoch: int, *, start: int = 0) -> Iterator[Batch]:
        for place in range(start, self.steps):
            scale = float("nan") if self.bad is not None and place >= self.bad else 1.0
            yield make_batch(1000 * epoch + place, scale)


def make_batch(seed: int, scale: float = 1.0) -> Batch:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 6, (4,), generator=generator)
    ids = torch.randint(2, 2 + len(WORDS), (4, 5), generator=generator)
    ids[torch.arange(5) >= lengths[:, None]] = models.PADDING
    return Batch({"ids": ids, "lengths": lengths, "scale": torch.tensor(scale)}, 4, 4)


def validate(learner: Learner) -> Validation:
    with torch.no_grad():
        loss = float(learner(make_batch(-1)))
    return Validation("perplexity", loss, higher_is_better=False, loss=loss)


def no_better(_: Learner) -> Validation:
    return Validation("accuracy", 0.5, higher_is_better=True, loss=1.0)


def prepare(*, bad: int | None = None, validate: Callable[[Learner], Validation] = validate) -> PreparedObjective:
    model = models.make_sentence_model(
        Architecture(kind="lstm", hidden=3, inputs=2), models.ModelVocabulary(WORDS), seed=1
    )
    return PreparedObjective(LengthLearner(model), LengthExamples(bad=bad), validate)


SETTINGS = loop.TrainingSettings(
    seed=7,
    optimizer=ADAM,
    limits=Limits(steps=12),
    validate_every=StepInterval(4),
    checkpoint_seconds=0,  # after each step
)


@dataclass
class SmallTraining:
    """A training in a folder, with a record of its actions."""

    folder: Path
    settings: loop.TrainingSettings = SETTINGS
    prepared: PreparedObjective = field(default_factory=prepare)
    identity: dict[str, str | int | float | bool] = field(default_factory=lambda: {"seed": 7})
    best: list[int] = field(default_factory=list)
    """Steps after which the best model was saved."""
    points: list[int] = field(default_factory=list)
    """Steps after which the model was probed."""

    def run(self, look: Callable[[loop.ProbingPoint], None] = lambda _: None) -> TrainingState:
        self.folder.mkdir(exist_ok=True)
        store = loop.TrainingStore(self.folder, self.identity, self._save)

        def record_point(point: loop.ProbingPoint) -> None:
            self.points.append(point.step)
            look(point)

        return loop.train(self.prepared, self.settings, store, probe_model=record_point)

    def _save(self, _: models.SentenceModel, state: TrainingState) -> None:
        self.best.append(state.step)

    @property
    def weights(self) -> dict[str, torch.Tensor]:
        return {name: tensor.clone() for name, tensor in self.prepared.learner.state_dict().items()}


def until(steps: int, optimizer: OptimizerSettings = ADAM) -> loop.TrainingSettings:
    return replace(SETTINGS, limits=Limits(steps=steps), optimizer=optimizer)


def same(tensors: dict[str, torch.Tensor], other_tensors: dict[str, torch.Tensor]) -> bool:
    return tensors.keys() == other_tensors.keys() and all(
        torch.equal(tensors[name], other_tensors[name]) for name in tensors
    )
