"""Pace of a training: its speed and progress, reported while it runs."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sentprobe import progress
from sentprobe.probes.pretraining.objective import Batch, Validation
from sentprobe.probes.pretraining.schedule import Limits, TrainingState


class TrainingPace:
    """Speed and progress of a training, sent to a reporter."""

    def __init__(self, reporter: progress.Reporter, limits: Limits, steps_per_epoch: int) -> None:
        self._reporter, self._limits, self._steps_per_epoch = reporter, limits, steps_per_epoch
        self._reported = 0
        self._targets, self._seconds = 0, 0.0
        self._clock = time.monotonic()
        self.validation: Validation | None = None
        self.seconds_since_checkpoint = 0.0
        self.loss = 0.0

    def begin(self, state: TrainingState) -> None:
        """Start reporting, from *state*."""
        end_limits = (self._limits.steps, self._limits.epochs, self._limits.minutes)
        self._reporter.begin("train", PROGRESS_UNITS if any(end_limits) else 0)
        self.validation = state.last.validation if state.last else None
        self._report_progress(state)
        self._clock = time.monotonic()

    def add_step_time(self, state: TrainingState, batch: Batch) -> TrainingState:
        """Return the state with the time of its last step added."""
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
        """Exclude the time of the block from the training time."""
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
"""Number of units of the progress bar."""
