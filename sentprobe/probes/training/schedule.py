"""The schedule of a training: when to validate, probe and end; and measurement of its progress and speed.

Optimizers with the settings of published papers, and presets of published trainings of encoders.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from math import isfinite
from typing import Any

import torch
from torch import nn

from sentprobe.common import screen
from sentprobe.common.errors import UsageError, check_whole, format_count, suggest
from sentprobe.probes.training.objective import Batch, Validation
from sentprobe.probes.training.objective_options import DEFAULTS


class OptimizerKind(StrEnum):
    """The optimizers, all from PyTorch."""

    ADAM = "adam"
    SGD = "sgd"
    """Stochastic gradient descent with Nesterov momentum."""
    ADAGRAD = "adagrad"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerSettings:
    """An optimizer and its settings."""

    kind: OptimizerKind
    rate: float
    """The learning rate."""
    momentum: float = 0.0
    clip: float
    """Maximum norm of the gradient; larger gradients are scaled down to it."""

    def __post_init__(self) -> None:
        for name in ("rate", "clip"):
            if not 0 < getattr(self, name) < float("inf"):
                raise UsageError(f"{name}={getattr(self, name)}: a number above 0 is expected")


ADAM = OptimizerSettings(kind=OptimizerKind.ADAM, rate=1e-3, clip=5.0)
"""The optimizer of recurrent encoders (Conneau et al. 2018, appendix), with PyTorch's default learning rate."""
SGD = OptimizerSettings(kind=OptimizerKind.SGD, rate=0.25, momentum=0.99, clip=0.1)
"""The optimizer of convolutional encoders (Conneau et al. 2018; values: Gehring et al. 2017, section 4.2)."""
ADAGRAD = OptimizerSettings(kind=OptimizerKind.ADAGRAD, rate=1e-2, clip=5.0)
"""The optimizer of Adi et al. 2017, appendix II; gradients are clipped as in Sutskever et al. 2014."""

DEFAULT_SETTINGS: Mapping[OptimizerKind, OptimizerSettings] = {
    settings.kind: settings for settings in (ADAM, SGD, ADAGRAD)
}


def make_optimizer(settings: OptimizerSettings, model: nn.Module) -> torch.optim.Optimizer:
    """Return a PyTorch optimizer for the weights of a model that are not frozen."""
    weights = [parameter for parameter in model.parameters() if parameter.requires_grad]
    rate, momentum = settings.rate, settings.momentum
    if settings.kind is OptimizerKind.SGD:
        return torch.optim.SGD(weights, lr=rate, momentum=momentum, nesterov=momentum > 0)
    optimizer = torch.optim.Adam if settings.kind is OptimizerKind.ADAM else torch.optim.Adagrad
    return optimizer(weights, lr=rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPreset:
    """The settings of a published training; each can be changed by an option of ``probe train``.

    The defaults are those of Conneau et al. 2018, except the batch size, which is our choice.
    """

    batch: int = DEFAULTS.batch
    dropout: float = DEFAULTS.dropout
    decoder_layers: int = DEFAULTS.decoder_layers
    decoder_hidden: int | None = DEFAULTS.decoder_hidden
    """Number of hidden units of each decoder layer; None: as many as the encoder has."""
    inputs: int | None = 300
    """Dimension of the encoder's word vectors; None: the number of the encoder's hidden units."""
    reverse: bool = False
    """Whether the encoder reads sentences from the last word to the first."""
    optimizer: OptimizerSettings | None = None

    def choose_optimizer(self, architecture: str) -> OptimizerSettings:
        """Return the preset's optimizer or, if it has none, SGD for ``gated-conv`` and ADAM for other architectures."""
        return self.optimizer or (SGD if architecture == "gated-conv" else ADAM)


PRESETS: Mapping[str, TrainingPreset] = {
    # Adi et al. 2017, appendix II.
    "adi": TrainingPreset(
        batch=32, dropout=0.1, decoder_layers=1, decoder_hidden=None, inputs=None, reverse=True, optimizer=ADAGRAD
    )
}


def find_training_preset(name: str | None) -> TrainingPreset:
    """Return the preset of this name, such as "adi"; None: the default settings. Raises UsageError."""
    if name is None:
        return TrainingPreset()
    if name not in PRESETS:
        raise UsageError(f"there is no training preset {name!r}{suggest(name, PRESETS)}; known: {', '.join(PRESETS)}")
    return PRESETS[name]


EPOCH = "epoch"
MAX_STEP_DIGITS = 18
"""Maximum number of digits of a number of steps, so that it fits 63 bits."""


@dataclass(frozen=True, slots=True)
class StepInterval:
    """The interval at which an action, such as validation, is repeated: a number of steps, or 0 for one epoch."""

    steps: int = 0

    def is_due(self, step: int, *, epoch_over: bool) -> bool:
        """Return whether the action is due after step *step*. *epoch_over*: whether this step ends an epoch."""
        return step % self.steps == 0 if self.steps else epoch_over


def parse_step_interval(text: str, option: str) -> StepInterval:
    """Parse a value of the command-line *option*: a number of steps, or "epoch" for one epoch. Raises UsageError.

    >>> parse_step_interval("epoch", "--probe-every"), parse_step_interval("500", "--probe-every")
    (StepInterval(steps=0), StepInterval(steps=500))
    """
    if text == EPOCH:
        return StepInterval()
    if text.isascii() and text.isdecimal() and len(text) <= MAX_STEP_DIGITS and int(text) > 0:
        return StepInterval(int(text))
    raise UsageError(f"{option} {text}: a number of steps from 1, or {EPOCH}, is expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a training, which ends as soon as one is reached; None: no limit."""

    steps: int | None = None
    epochs: int | None = None
    minutes: float | None = None
    """Maximum training time, including time before interruptions; a limit makes results depend on the machine."""
    patience: int = 5
    """Number of consecutive validations without improvement that end the training (Adi et al. 2017: 5 epochs)."""

    def __post_init__(self) -> None:
        for name in ("steps", "epochs", "patience"):
            check_whole(name, getattr(self, name))
        for name, value in asdict(self).items():
            if value is not None and not (value > 0 and isfinite(value)):
                raise UsageError(f"{name}={value}: a number above 0 is expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationPoint:
    """The result of a validation, with the number of steps and epochs before it."""

    step: int
    epoch: float
    metric: str
    value: float
    higher_is_better: bool
    loss: float
    permuted_bleu: float | None = None
    parts: Mapping[str, Validation] = field(default_factory=dict)

    @property
    def validation(self) -> Validation:
        """The scores of this validation, without its step and epoch."""
        return Validation(**{entry.name: getattr(self, entry.name) for entry in fields(Validation)})

    def to_record(self) -> dict[str, Any]:
        """Return the values in JSON form; ``parts`` only if there are any, as nowhere within a part."""
        record = asdict(self)
        for part in (*record["parts"].values(), *([] if self.parts else [record])):
            del part["parts"]
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "ValidationPoint":
        """Return the inverse of :meth:`to_record`. Raises TypeError or ValueError for another record."""
        parts = {name: Validation(**part) for name, part in dict(record.get("parts", {})).items()}
        return cls(**{**record, "parts": parts})

    def __str__(self) -> str:
        return f"{self.validation} at step {self.step:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingState:
    """The progress of a training, which a checkpoint stores with the weights and the optimizer."""

    step: int = 0
    epoch: int = 0
    """Number of complete epochs."""
    batch: int = 0
    """Number of complete batches in the current epoch."""
    seconds: float = 0.0
    """Training time in seconds, including the time before interruptions."""
    waited: int = 0
    """Number of validations since the best one."""
    best: ValidationPoint | None = None
    last: ValidationPoint | None = None

    def count_step(self, steps_per_epoch: int) -> "TrainingState":
        completed_epochs, batch = divmod(self.batch + 1, steps_per_epoch)
        return replace(self, step=self.step + 1, epoch=self.epoch + completed_epochs, batch=batch)

    def record_validation(self, validation: Validation, *, steps_per_epoch: int) -> "TrainingState":
        values = {entry.name: getattr(validation, entry.name) for entry in fields(validation)}
        point = ValidationPoint(step=self.step, epoch=self.compute_epochs(steps_per_epoch), **values)
        if validation.is_better_than(self.best.validation if self.best else None):
            return replace(self, best=point, last=point, waited=0)
        return replace(self, last=point, waited=self.waited + 1)

    def compute_epochs(self, steps_per_epoch: int) -> float:
        """Return the number of epochs so far as a decimal, such as 2.5 in the middle of the third epoch."""
        return round(self.epoch + self.batch / steps_per_epoch, 4)

    @property
    def is_validated(self) -> bool:
        """Whether the model has been validated at the current step."""
        return self.last is not None and self.last.step == self.step

    def compute_progress(self, limits: Limits, steps_per_epoch: int) -> float:
        """Return the largest completed share of any limit (steps, epochs or minutes), from 0 to 1; 0 without limits."""
        steps, epochs, minutes = limits.steps, limits.epochs, limits.minutes
        completed_epochs = self.epoch + self.batch / steps_per_epoch  # not rounded, unlike compute_epochs
        pairs = (self.step, steps), (completed_epochs, epochs), (self.seconds, minutes and 60 * minutes)
        return min(1.0, max((completed / limit for completed, limit in pairs if limit is not None), default=0.0))

    def find_end_reason(self, limits: Limits) -> str:
        """Return why the training has ended, such as "500 steps"; an empty text if it has not."""
        if limits.steps is not None and self.step >= limits.steps:
            return format_count(self.step, "step")
        if limits.epochs is not None and self.epoch >= limits.epochs:
            return format_count(self.epoch, "epoch")
        if limits.minutes is not None and self.seconds >= 60 * limits.minutes:
            return f"{limits.minutes:g} minutes"
        # Checked last: a training that reaches its limit at the last validation is said to have reached its limit.
        if self.best is not None and self.waited >= limits.patience:
            return f"no better {self.best.metric} in {self.waited} validations"
        return ""


class TrainingPace:
    """Measures the speed of a training, and sends its progress to a reporter."""

    def __init__(self, reporter: screen.Reporter, limits: Limits, steps_per_epoch: int) -> None:
        self._reporter, self._limits, self._steps_per_epoch = reporter, limits, steps_per_epoch
        self._reported = 0
        self._targets, self._seconds = 0, 0.0
        self._clock = time.monotonic()
        self.validation: Validation | None = None
        self.seconds_since_checkpoint = 0.0
        self.loss = 0.0

    def begin(self, state: TrainingState) -> None:
        """Start measuring and reporting from *state*, which is the initial state or a checkpoint's."""
        has_end = self._limits.steps or self._limits.epochs or self._limits.minutes
        self._reporter.begin("train", PROGRESS_UNITS if has_end else 0)
        self.validation = state.last.validation if state.last else None
        self._report_progress(state)
        self._clock = time.monotonic()

    def add_step_time(self, state: TrainingState, batch: Batch) -> TrainingState:
        """Return *state* with the time of the last step added to its seconds; send the progress to the reporter."""
        previous, self._clock = self._clock, time.monotonic()
        elapsed = self._clock - previous
        self._targets += batch.targets
        self._seconds += elapsed
        self.seconds_since_checkpoint += elapsed
        state = replace(state, seconds=state.seconds + elapsed)
        self._report_progress(state)
        return state

    @contextmanager
    def pause_clock(self) -> Iterator[None]:
        """Exclude the time of the ``with`` block from the training time."""
        try:
            yield
        finally:
            self._clock = time.monotonic()

    def _report_progress(self, state: TrainingState) -> None:
        progress_units = int(PROGRESS_UNITS * state.compute_progress(self._limits, self._steps_per_epoch))
        self._reporter.advance(progress_units - self._reported)
        self._reported = progress_units
        speed_text = f", {self._targets / self._seconds:,.0f} tokens/s" if self._seconds else ""
        loss_text = f", loss {self.loss:.3f}" if self.loss else ""
        metric_text = f", {self.validation}" if self.validation else ""
        self._reporter.note(f"step {state.step:,}{loss_text}{speed_text}{metric_text}")


PROGRESS_UNITS = 10_000
