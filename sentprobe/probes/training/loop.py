"""Train an encoder with lightning-fabric: seeded steps, validation, checkpoints, and resuming."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import nn

from sentprobe.common import screen
from sentprobe.common.errors import SentprobeError, UsageError, find_versions
from sentprobe.probes.encoders.encoder import digest
from sentprobe.probes.encoders.models.trained import SentenceModel
from sentprobe.probes.training import checkpoint, devices_and_precision
from sentprobe.probes.training.objective import Batch, PreparedObjective
from sentprobe.probes.training.schedule import (
    Limits,
    OptimizerSettings,
    StepInterval,
    TrainingPace,
    TrainingState,
    ValidationPoint,
    make_optimizer,
)

_SIGNAL_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class InterruptHandler:
    """A context manager that delays signals such as Ctrl-C while a training step changes the model.

    After the step, a delayed signal goes to the handler that was installed before; if there is none, SystemExit is
    raised. While the process stops, further signals are ignored, except for a second Ctrl-C. If the exception is lost,
    for example in a destructor, the next step raises it again.
    """

    def __init__(self) -> None:
        self._previous_handlers: dict[int, Any] = {}
        self._is_consistent = True
        self._pending_signal: int | None = None
        self._is_stopping = False
        self._interrupt_count = 0  # how often Ctrl-C was pressed

    @property
    def can_save(self) -> bool:
        """Whether a checkpoint may be written: no step is half done, and Ctrl-C was pressed at most once."""
        return self._is_consistent and self._interrupt_count < 2

    def __enter__(self) -> "InterruptHandler":
        """Install handlers for signals that are not ignored, if this is the main thread."""
        if threading.current_thread() is threading.main_thread():
            for signal_number in (getattr(signal, name) for name in _SIGNAL_NAMES if hasattr(signal, name)):
                previous_handler = signal.getsignal(signal_number)
                if previous_handler not in (signal.SIG_IGN, None):  # None: the handler was not installed by Python
                    self._previous_handlers[signal_number] = previous_handler
                    signal.signal(signal_number, self._handle_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for signal_number, previous_handler in self._previous_handlers.items():
            signal.signal(signal_number, previous_handler)

    @contextmanager
    def defer_signals(self) -> Iterator[None]:
        """Delay signals until the end of the block. ``can_save`` is false in the block and after a block that fails."""
        self._stop_if_pending()  # a signal whose exception was lost, for example in a destructor
        self._reset()
        self._is_consistent = False
        yield
        self._is_consistent = True
        self._stop_if_pending()

    def _stop_if_pending(self) -> None:
        if self._pending_signal is not None:
            self._stop_process(self._pending_signal, None)

    def _handle_signal(self, signal_number: int, frame: FrameType | None) -> None:
        self._interrupt_count += signal_number == signal.SIGINT
        self._pending_signal = signal_number
        if not self._is_consistent:
            return
        if not self._is_stopping or (signal_number == signal.SIGINT and self._interrupt_count > 1):
            self._stop_process(signal_number, frame)

    def _stop_process(self, signal_number: int, frame: FrameType | None) -> None:
        self._is_stopping = True
        previous_handler = self._previous_handlers[signal_number]
        if not callable(previous_handler):
            raise SystemExit(128 + signal_number)
        previous_handler(signal_number, frame)
        self._pending_signal = None  # the previous handler did not stop the process
        self._reset()

    def _reset(self) -> None:
        self._is_stopping, self._interrupt_count = False, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """The settings of a training that do not depend on the objective."""

    seed: int
    optimizer: OptimizerSettings
    limits: Limits = field(default_factory=Limits)
    validate_every: StepInterval = field(default_factory=StepInterval)
    probe_every: StepInterval | None = None
    """Interval at which the model is probed; it is also probed at the start and the end. None: it is never probed."""
    machine: devices_and_precision.TrainingMachine = field(default_factory=devices_and_precision.TrainingMachine)
    checkpoint_seconds: float = 300.0
    """Seconds between checkpoints; further checkpoints follow each validation, an interruption, and the end."""


@dataclass(frozen=True, slots=True)
class ProbingPoint:
    """The model at a training step at which it is probed, with the number of steps and epochs so far."""

    step: int
    epoch: float
    model: SentenceModel


class DivergedError(SentprobeError):
    """The loss or the gradient of a training is not finite."""


@dataclass(frozen=True, slots=True)
class TrainingStore:
    """The folder and identity of a training, and functions that save its results."""

    folder: Path
    identity: checkpoint.Identity
    save_best: Callable[[SentenceModel, TrainingState], None]
    """Function that saves the model after each validation with the best result so far."""
    save_validation: Callable[[ValidationPoint], None] = lambda _: None
    """Function that saves the result of each validation; it is called after ``save_best``."""


def train(
    prepared: PreparedObjective,
    settings: TrainingSettings,
    store: TrainingStore,
    *,
    probe_model: Callable[[ProbingPoint], None] = lambda _: None,
    reporter: screen.Reporter | None = None,
) -> TrainingState:
    """Train until a limit is reached; return the final state. A checkpoint in ``store.folder`` is resumed.

    If the checkpoint comes from a finished training, no step follows, but the model may be probed. When Ctrl-C, SIGTERM
    or SIGHUP stop a training, a checkpoint of its last complete step is written. PyTorch's global random generators are
    restored at the end.

    - probe_model: function that probes the model; it is called at the steps of ``settings.probe_every``

    Raises OtherTrainingError if the checkpoint belongs to another training, and DivergedError if the loss or gradient
    is not finite; the last checkpoint then remains.
    """
    stored = checkpoint.read_state(store.folder)
    if stored is not None:
        checkpoint.check_same_training(store.folder, stored.identity, store.identity)
        is_over = stored.state.find_end_reason(settings.limits) and stored.state.is_validated
        if is_over and settings.probe_every is None:
            return stored.state
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        loop = _TrainingLoop(prepared, settings, store, probe_model, reporter or screen.SilentReporter())
        return loop.run(stored)


class _FabricLearner(nn.Module):
    """Wrapper of a learner: makes a Batch from a dictionary of tensors, because Fabric cannot process a Batch."""

    def __init__(self, learner: nn.Module) -> None:
        super().__init__()
        self.learner = learner

    def forward(self, tensors: dict[str, torch.Tensor], items: int, targets: int, objective: str) -> torch.Tensor:
        # With several devices, Fabric moves all tensors to the device, also lengths, which networks need on the CPU.
        batch = Batch(tensors, items, targets, objective).to(next(self.parameters()).device)
        loss: torch.Tensor = self.learner(batch)
        return loss


LOSSES_PER_CHECK = 20
"""Number of steps between checks that losses are finite; each check waits for the GPU."""


class _TrainingLoop:
    """Runs a training in this process, on one device.

    A checkpoint may be written only outside the ``with`` blocks of ``defer_signals``. Inside such a block, weights,
    optimizer and state may belong to different steps.
    """

    def __init__(
        self,
        prepared: PreparedObjective,
        settings: TrainingSettings,
        store: TrainingStore,
        probe_model: Callable[[ProbingPoint], None],
        reporter: screen.Reporter,
    ) -> None:
        self._fabric = devices_and_precision.make_fabric(
            settings.machine, uses_all_weights=prepared.learner.uses_all_weights
        )
        with devices_and_precision.suppress_fabric_messages():
            self._fabric.launch()
        self._prepared, self._settings, self._store, self._probe_model = prepared, settings, store, probe_model
        # Before the optimizer is made: AdaGrad allocates its state on the device of the weights.
        self._learner = prepared.learner.to(self._fabric.device)
        self._plain_optimizer = make_optimizer(settings.optimizer, self._learner)  # which checkpoints store
        self._stepper, self._optimizer = self._fabric.setup(_FabricLearner(self._learner), self._plain_optimizer)
        self._steps_per_epoch = prepared.train.steps // self._fabric.world_size
        if self._steps_per_epoch == 0:
            raise UsageError("there are fewer batches than devices; use smaller batches")
        self._state = self._saved_state = TrainingState()
        self._interrupts = InterruptHandler()
        self._last_probed_step: int | None = None
        self._unchecked_losses: list[tuple[int, torch.Tensor, torch.Tensor]] = []
        reporter = reporter if self._fabric.is_global_zero else screen.SilentReporter()
        self._pace = TrainingPace(reporter, settings.limits, self._steps_per_epoch)

    def run(self, stored: checkpoint.StoredState | None) -> TrainingState:
        """Train from a checkpoint or, without one, from the start; return the final state."""
        if stored is not None:
            self._check_progress(stored.state)
            checkpoint.load_weights(self._store.folder, stored, self._learner, self._plain_optimizer)
            self._state = self._saved_state = stored.state
        with self._interrupts:
            try:
                self._train()
            except (KeyboardInterrupt, SystemExit):
                self._save_if_consistent()
                raise
            except RuntimeError as error:  # the process of another device may have stopped
                if self._fabric.world_size > 1:
                    try:
                        self._save_if_consistent()
                    except Exception as failure:
                        error.add_note(f"the last steps are not saved: {failure}")
                raise
        return self._state

    def _check_progress(self, state: TrainingState) -> None:
        """Raise CheckpointError if a checkpoint's numbers of steps, epochs and batches contradict each other."""
        path = self._store.folder / checkpoint.CHECKPOINT_FOLDER / checkpoint.STATE_FILE
        epoch_text = f"but an epoch has {self._steps_per_epoch:,}"
        if not state.batch < self._steps_per_epoch:
            raise checkpoint.CheckpointError(f"{path}: {state.batch:,} completed batches, {epoch_text}")
        if state.step != state.epoch * self._steps_per_epoch + state.batch:
            progress_text = f"{state.step:,} steps in {state.epoch:,} epochs and {state.batch:,} batches"
            raise checkpoint.CheckpointError(f"{path}: {progress_text}, {epoch_text}")

    def _train(self) -> None:
        self._pace.begin(self._state)
        self._probe_and_validate()
        while not self._is_over():
            for batch in self._iterate_batches():
                self._run_step(batch)
                if self._is_over():
                    break
        self._pace.loss = self._check_losses()
        self._probe(self._settings.probe_every is not None and self._last_probed_step != self._state.step)
        if not self._state.is_validated:
            self._validate()
        self._save_checkpoint()

    def _is_over(self) -> bool:
        # The seconds of the processes differ, so the first process decides for all.
        return bool(self._fabric.broadcast(bool(self._state.find_end_reason(self._settings.limits))))

    def _iterate_batches(self) -> Iterator[Batch]:
        """Yield the batches of the current epoch that this device has yet to train on."""
        fabric, state = self._fabric, self._state
        # The devices take the batches in turns; those left at the end of an epoch, fewer than devices, go unused.
        start = state.batch * fabric.world_size
        batches = self._prepared.train.batches(state.epoch, start=start)
        share = islice(batches, fabric.global_rank, None, fabric.world_size)
        return islice(share, self._steps_per_epoch - state.batch)

    def _run_step(self, batch: Batch) -> None:
        step = self._state.step + 1
        # A seed for each step and device, so that a resumed training draws the same dropout as an uninterrupted one.
        torch.manual_seed(int(digest("step", self._settings.seed, step, self._fabric.global_rank)[:15], 16))
        self._stepper.train()
        batch = batch.to(self._fabric.device)
        loss = self._stepper(dict(batch.tensors), batch.items, batch.targets, batch.objective)
        self._optimizer.zero_grad(set_to_none=True)
        self._fabric.backward(loss)
        norm = self._fabric.clip_gradients(
            self._stepper, self._optimizer, max_norm=self._settings.optimizer.clip, error_if_nonfinite=False
        )
        with self._interrupts.defer_signals():
            self._optimizer.step()
            self._unchecked_losses.append((step, loss.detach(), norm.detach()))
            self._state = self._pace.add_step_time(self._state.count_step(self._steps_per_epoch), batch)
        probe_due, validation_due = self._find_due_actions()
        checkpoint_due = self._fabric.broadcast(
            self._pace.seconds_since_checkpoint >= self._settings.checkpoint_seconds
        )
        # Losses are checked before anything is stored, so that a divergence leaves the last checkpoint as it was.
        if probe_due or validation_due or checkpoint_due or len(self._unchecked_losses) == LOSSES_PER_CHECK:
            self._pace.loss = self._check_losses()
        self._probe_and_validate()
        if (validation_due or checkpoint_due) and not self._is_over():  # at the end, _train writes a checkpoint
            self._save_checkpoint()

    def _find_due_actions(self) -> tuple[bool, bool]:
        state, settings = self._state, self._settings
        probe_due, validation_due = (
            every is not None and every.is_due(state.step, epoch_over=state.batch == 0)
            for every in (settings.probe_every, settings.validate_every)
        )
        return probe_due, validation_due and state.step > 0

    def _probe_and_validate(self) -> None:
        """Probe and validate the model if due, but do not validate it again if a checkpoint has the result."""
        probe_due, validation_due = self._find_due_actions()
        self._probe(probe_due)
        if validation_due and not self._state.is_validated:
            self._validate()

    def _check_losses(self) -> float:
        """Return the loss of the last step. Raises DivergedError if a loss or a gradient's norm is not finite."""
        last_loss = 0.0
        for step, loss, norm in self._unchecked_losses:
            last_loss = float(loss)
            if not (isfinite(last_loss) and isfinite(float(norm))):
                quantity = "the gradient" if isfinite(last_loss) else f"the loss ({last_loss})"
                raise self._make_diverged_error(step, quantity)
        self._unchecked_losses.clear()
        return last_loss

    def _make_diverged_error(self, step: int, quantity: str) -> DivergedError:
        best = self._state.best
        saved_model = f"the best model, {best}" if best else "no model, since nothing was validated yet"
        return DivergedError(
            f"{quantity} is not finite at step {step:,}: {self._store.folder} keeps {saved_model}; "
            "a lower --rate may help"
        )

    def _probe(self, is_due: bool) -> None:  # noqa: FBT001
        if is_due and self._fabric.is_global_zero:
            epochs = self._state.compute_epochs(self._steps_per_epoch)
            with self._pace.pause_clock():
                self._probe_model(ProbingPoint(self._state.step, epochs, self._learner.encoder.eval()))
        if is_due:
            self._last_probed_step = self._state.step
            self._fabric.barrier()

    def _validate(self) -> None:
        with self._pace.pause_clock():
            self._learner.eval()
            validation = self._prepared.validate(self._learner)
        if not (isfinite(validation.value) and isfinite(validation.loss)):
            raise self._make_diverged_error(self._state.step, f"the validation's {validation.metric}")
        state = self._state.record_validation(validation, steps_per_epoch=self._steps_per_epoch)
        self._pace.validation = validation
        with self._interrupts.defer_signals():  # the files of a model are replaced one by one
            if self._fabric.is_global_zero:
                if state.waited == 0:
                    self._store.save_best(self._learner.encoder, state)
                if state.last is not None:
                    self._store.save_validation(state.last)
            self._state = state  # set last: if the process is killed before, the validation is repeated

    def _save_checkpoint(self) -> None:
        self._write_checkpoint()
        self._pace.seconds_since_checkpoint = 0.0
        self._fabric.barrier()

    def _save_if_consistent(self) -> None:
        """Write a checkpoint if the last step is complete and not saved yet; do not wait for other processes."""
        if self._interrupts.can_save and self._state != self._saved_state:
            self._check_losses()
            self._write_checkpoint()

    def _write_checkpoint(self) -> None:
        if self._fabric.is_global_zero:
            versions = find_versions("torch", "lightning-fabric")
            stored = checkpoint.StoredState(self._state, self._store.identity, versions, digests={})
            checkpoint.write_checkpoint(self._store.folder, self._learner, self._plain_optimizer, stored)
        self._saved_state = self._state
