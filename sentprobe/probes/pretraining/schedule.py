"""When a training validates, is looked at, and ends; how far it is."""

from dataclasses import dataclass, replace
from math import isfinite

from sentprobe.errors import UsageError, check_whole, counted
from sentprobe.probes.pretraining.objective import Validation

EPOCH = "epoch"


@dataclass(frozen=True, slots=True)
class Every:
    """How often something is done: after so many steps, or (0) after each epoch."""

    steps: int = 0

    def is_due(self, step: int, *, epoch_over: bool) -> bool:
        """Say whether it is done after a step.

        >>> Every(10).is_due(20, epoch_over=False), Every().is_due(20, epoch_over=False)
        (True, False)
        """
        return step % self.steps == 0 if self.steps else epoch_over

    def __str__(self) -> str:
        return f"every {self.steps} steps" if self.steps else "every epoch"


def parse_every(text: str, option: str) -> Every:
    """Return how often an option says; the inverse of what it is written as.

    >>> parse_every("epoch", "--probe-every"), parse_every("500", "--probe-every")
    (Every(steps=0), Every(steps=500))

    Raises:
        UsageError: it is neither ``epoch`` nor a number of steps.
    """
    if text == EPOCH:
        return Every()
    if text.isdecimal() and int(text) > 0:
        return Every(int(text))
    raise UsageError(f"{option} {text}: a number of steps from 1, or {EPOCH}, is wanted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where a training ends, whichever comes first; with none of them, by its patience alone."""

    steps: int | None = None
    epochs: int | None = None
    minutes: float | None = None
    """Of the clock, those of earlier runs counted: where that ends depends on the machine."""
    patience: int = 5
    """Ends after so many validations in a row that were no better (Adi et al. 2017: 5 epochs)."""

    def __post_init__(self) -> None:
        for name in ("steps", "epochs", "patience"):
            check_whole(name, getattr(self, name))
        for name in ("steps", "epochs", "minutes", "patience"):
            value = getattr(self, name)
            if value is not None and not (value > 0 and isfinite(value)):
                raise UsageError(f"{name}={value}: a number above 0 is wanted")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredMoment:
    """A validation, and where in the training it was."""

    step: int
    epoch: float
    metric: str
    value: float
    higher_is_better: bool
    loss: float

    @property
    def validation(self) -> Validation:
        """The validation alone."""
        return Validation(self.metric, self.value, self.higher_is_better, self.loss)

    def __str__(self) -> str:
        return f"{self.validation} at step {self.step:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingState:
    """How far a training is: with the weights and the optimizer, all that it goes on from."""

    step: int = 0
    epoch: int = 0
    """Epochs that are over."""
    batch: int = 0
    """Batches of the epoch that are over."""
    seconds: float = 0.0
    """Of training, those of earlier runs counted."""
    waited: int = 0
    """Validations since the best."""
    best: ScoredMoment | None = None
    last: ScoredMoment | None = None
    """The last validation."""

    def stepped(self, steps: int) -> "TrainingState":
        """Return the state after one more step, where an epoch has so many.

        >>> TrainingState(batch=1).stepped(2)
        TrainingState(step=1, epoch=1, batch=0, seconds=0.0, waited=0, best=None, last=None)
        """
        over = self.batch + 1 == steps
        return replace(
            self,
            step=self.step + 1,
            epoch=self.epoch + over,
            batch=0 if over else self.batch + 1,
        )

    def validated(self, found: Validation, *, steps: int) -> "TrainingState":
        """Return the state after a validation."""
        now = ScoredMoment(
            step=self.step,
            epoch=self.epochs(steps),
            metric=found.metric,
            value=found.value,
            higher_is_better=found.higher_is_better,
            loss=found.loss,
        )
        if found.betters(self.best.validation if self.best else None):
            return replace(self, best=now, last=now, waited=0)
        return replace(self, last=now, waited=self.waited + 1)

    def epochs(self, steps: int) -> float:
        """Return how many epochs are over, where one has so many steps."""
        return round(self.epoch + self.batch / steps, 4)

    @property
    def is_validated(self) -> bool:
        """Whether the last validation was here."""
        return self.last is not None and self.last.step == self.step

    def share(self, limits: Limits, steps: int) -> float:
        """Return how much of the training is over, from 0 to 1, as far as its limits tell."""
        shares = [0.0]
        if limits.steps is not None:
            shares.append(self.step / limits.steps)
        if limits.epochs is not None:
            shares.append((self.epoch + self.batch / steps) / limits.epochs)
        if limits.minutes is not None:
            shares.append(self.seconds / (60 * limits.minutes))
        return min(1.0, max(shares))

    def ended(self, limits: Limits) -> str:
        """Return why the training is over; empty: it is not."""
        if limits.steps is not None and self.step >= limits.steps:
            return counted(self.step, "step")
        if limits.epochs is not None and self.epoch >= limits.epochs:
            return counted(self.epoch, "epoch")
        if limits.minutes is not None and self.seconds >= 60 * limits.minutes:
            return f"{limits.minutes:g} minutes"
        if self.best is not None and self.waited >= limits.patience:
            return f"no better {self.best.metric} in {self.waited} validations"
        return ""
