"""Early stopping: the rule that decides after each pass whether a probe goes on training."""

import math
from dataclasses import dataclass

from sentprobe.errors import SentprobeError
from sentprobe.probes.trainer.classifier import Preset, StopCriterion


@dataclass(frozen=True, slots=True)
class ValidationCheck:
    """Accuracy and mean loss of a probe on the validation items; None without validation items."""

    accuracy: float | None = None
    loss: float | None = None


class TrainingProgress:
    """Passes, losses and stopping decision of one probe during training."""

    def __init__(self, preset: Preset, max_epochs: int | None = None) -> None:
        self.epochs = 0
        self.loss = math.inf
        """Mean training loss of the last pass."""
        self.converged = False
        """Whether the stopping rule ended training, rather than a limit of passes."""
        self._preset = preset
        self._max_epochs = min(preset.max_epochs, max_epochs or preset.max_epochs)
        self._record = -math.inf
        """The value that the next check must exceed by the tolerance.

        On validation, it belongs to the kept weights, so small gains add up. On training loss, it is the best value so
        far, as in scikit-learn.
        """
        self._checks_without_gain = 0

    @property
    def is_over(self) -> bool:
        """Whether training has ended."""
        return self.converged or self.epochs >= self._max_epochs

    @property
    def pass_limit(self) -> int | None:
        """The limit of passes that ended training, if it is below the preset's."""
        is_limited = not self.converged and self.epochs >= self._max_epochs < self._preset.max_epochs
        return self._max_epochs if is_limited else None

    def add_pass(self, loss: float) -> None:
        """Record the mean training loss of a pass."""
        if not math.isfinite(loss):
            raise SentprobeError(f"training diverged (loss {loss}): try a lower learning_rate")
        self.loss = loss
        self.epochs += 1
        self.converged = loss < self._preset.enough

    def add_check(self, check: ValidationCheck) -> bool:
        """Record a check; return whether it is better than all earlier ones."""
        value = _compute_criterion(self._preset.stop, check, self.loss)
        is_better = value > self._record + self._preset.tolerance
        if is_better or self._preset.stop is StopCriterion.TRAINING_LOSS:
            self._record = max(self._record, value)
        if not is_better:
            self._checks_without_gain += 1
        elif self._preset.patience_resets:
            self._checks_without_gain = 0
        self.converged = self.converged or self._checks_without_gain > self._preset.patience
        return is_better


def _compute_criterion(stop: StopCriterion, check: ValidationCheck, loss: float) -> float:
    if stop is StopCriterion.VALIDATION_ACCURACY and check.accuracy is not None:
        return check.accuracy
    if stop is StopCriterion.VALIDATION_LOSS and check.loss is not None:
        return -check.loss
    return -loss
