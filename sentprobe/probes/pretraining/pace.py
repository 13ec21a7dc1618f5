"""The pace of a training: how fast it is and how far, as it is told while it goes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sentprobe import progress
from sentprobe.probes.pretraining.objective import Batch, Validation
from sentprobe.probes.pretraining.schedule import Limits, TrainingState


class TrainingPace:
    """How fast a training is, and how far; tells a reporter."""

    def __init__(self, reporter: progress.Reporter, limits: Limits, steps: int) -> None:
        self._reporter, self._limits, self._steps = reporter, limits, steps
        self._told = 0
        self._targets, self._seconds = 0, 0.0
        self._clock = time.monotonic()
        self._validation: Validation | None = None
        self.since_kept = 0.0
        self.loss = 0.0

    def begin(self, state: TrainingState) -> None:
        """Begin to tell, from a state on."""
        limited = (self._limits.steps, self._limits.epochs, self._limits.minutes)
        self._reporter.begin("train", UNITS if any(limited) else 0)
        self._validation = state.last.validation if state.last else None
        self._tell(state)
        self._clock = time.monotonic()

    def count(self, state: TrainingState, batch: Batch) -> TrainingState:
        """Return the state with the time that its last step took."""
        passed = self._passed()
        self._targets += batch.targets
        self._seconds += passed
        self.since_kept += passed
        state = replace(state, seconds=state.seconds + passed)
        self._tell(state)
        return state

    def validated(self, found: Validation) -> None:
        """Take what was found, to be told."""
        self._validation = found

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let what is done meanwhile count as no training."""
        try:
            yield
        finally:
            self._clock = time.monotonic()

    def _passed(self) -> float:
        before, self._clock = self._clock, time.monotonic()
        return self._clock - before

    def _tell(self, state: TrainingState) -> None:
        done = int(UNITS * state.share(self._limits, self._steps))
        self._reporter.advance(done - self._told)
        self._told = done
        speed = f", {self._targets / self._seconds:,.0f} tokens/s" if self._seconds else ""
        loss = f", loss {self.loss:.3f}" if self.loss else ""
        found = self._validation
        metric = f", {found}" if found else ""
        self._reporter.note(f"step {state.step:,}{loss}{speed}{metric}")


UNITS = 10_000
"""A training is told of in parts of this."""
