"""The loop: a learner is trained on lightning-fabric, validated, kept, and gone on with.

Each step draws from a generator seeded by the training's seed and the step's number, and batches
are decided by the seed and the epoch. So the weights after a step depend on nothing else: neither
on where the training was stopped before, nor on what looked at the model in between.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite
from pathlib import Path

import torch
from torch import nn

from sentprobe import progress
from sentprobe.errors import SentprobeError, UsageError
from sentprobe.probes.encoders.protocol import digest
from sentprobe.probes.encoders.sentence_model import SentenceModel
from sentprobe.probes.pretraining import checkpoint as kept
from sentprobe.probes.pretraining import machines
from sentprobe.probes.pretraining.interrupts import Interrupts
from sentprobe.probes.pretraining.objective import Batch, Prepared
from sentprobe.probes.pretraining.optimizers import OptimizerSettings, make_optimizer
from sentprobe.probes.pretraining.pace import TrainingPace
from sentprobe.probes.pretraining.schedule import Every, Limits, ScoredMoment, TrainingState
from sentprobe.versions import versions


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """How a training goes, whatever is learned."""

    seed: int
    optimizer: OptimizerSettings
    limits: Limits = field(default_factory=Limits)
    validate_every: Every = field(default_factory=Every)
    point_every: Every | None = None
    """How often the model is looked at; it is at the start and at the end, too. None: never."""
    machine: machines.TrainingMachine = field(default_factory=machines.TrainingMachine)
    keep_seconds: float = 300.0
    """A checkpoint is written so often, after each validation, when it is stopped, at the end."""


@dataclass(frozen=True, slots=True)
class Point:
    """A moment of a training at which the model is looked at."""

    step: int
    epoch: float
    model: SentenceModel


class DivergedError(SentprobeError):
    """The loss is no number any more; the message says at which step."""


def _forget(_: ScoredMoment) -> None:
    """Keep nothing."""


@dataclass(frozen=True, slots=True)
class TrainingStore:
    """Where a training is kept, and what is said of it there."""

    folder: Path
    identity: kept.Identity
    save_best: Callable[[SentenceModel, TrainingState], None]
    """Writes the best model so far."""
    keep_validation: Callable[[ScoredMoment], None] = _forget
    """Keeps each validation, once the model is written, for whoever draws the curve."""


def _ignore(_: Point) -> None:
    """Look at nothing."""


def train(
    prepared: Prepared,
    settings: TrainingSettings,
    store: TrainingStore,
    *,
    at_point: Callable[[Point], None] = _ignore,
    reporter: progress.Reporter | None = None,
) -> TrainingState:
    """Train to the end, from the checkpoint in the folder if there is one.

    One that is over is looked at again where it ended, if it is to be looked at. One that is
    stopped (Ctrl-C, SIGTERM, SIGHUP) is kept as it was after the last step that it made whole.
    The global random generators of PyTorch are as they were, afterwards.

    Raises:
        OtherTrainingError: the checkpoint is of something else.
        DivergedError: the loss is not finite; what was kept before stays.
        SentprobeError: nothing can be written (a full disk), a checkpoint is damaged.
        EncoderError: lightning-fabric is not installed.
    """
    found = kept.read_state(store.folder)
    if found is not None:
        kept.check_same(store.folder, found.identity, store.identity)
        is_over = found.state.ended(settings.limits) and found.state.is_validated
        if is_over and settings.point_every is None:
            return found.state
    with torch.random.fork_rng(devices=_seeded_gpus()):
        loop = _Loop(prepared, settings, store, at_point, reporter or progress.Silent())
        return loop.run(found.state if found else None)


def _seeded_gpus() -> list[int]:
    return list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []


class _Stepper(nn.Module):
    """A learner as Fabric takes it: called with tensors, which it finds in dictionaries only."""

    def __init__(self, learner: nn.Module) -> None:
        super().__init__()
        self.learner = learner

    def forward(self, tensors: dict[str, torch.Tensor], items: int, targets: int) -> torch.Tensor:
        """Return the loss of a batch.

        On several devices Fabric moves each tensor there, also how long sentences are.
        """
        batch = Batch(tensors, items, targets).to(next(self.parameters()).device)
        loss: torch.Tensor = self.learner(batch)
        return loss


CHECKED = 20
"""So many losses wait to be looked at, since that makes a GPU wait."""


class _Loop:
    """What a training works with."""

    def __init__(
        self,
        prepared: Prepared,
        settings: TrainingSettings,
        store: TrainingStore,
        at_point: Callable[[Point], None],
        reporter: progress.Reporter,
    ) -> None:
        self._fabric = machines.make_fabric(settings.machine)
        with machines.without_remarks():
            self._fabric.launch()
        self._prepared, self._settings, self._store = prepared, settings, store
        self._at_point = at_point
        # Adagrad makes its numbers at once, where the weights are.
        self._learner = prepared.learner.to(self._fabric.device)
        optimizer = make_optimizer(settings.optimizer, self._learner)
        self._learned = kept.Learned(self._learner, optimizer)
        self._stepper, self._optimizer = self._fabric.setup(_Stepper(self._learner), optimizer)
        self._steps = prepared.train.steps // self._fabric.world_size
        if self._steps == 0:
            raise UsageError("there are fewer batches than devices; ask for smaller ones")
        self._state = self._kept = TrainingState()
        self._interrupts = Interrupts()
        self._looked: int | None = None  # the last step after which it was looked at
        self._waiting: list[tuple[int, torch.Tensor, torch.Tensor]] = []
        first = self._fabric.is_global_zero
        self._pace = TrainingPace(
            reporter if first else progress.Silent(), settings.limits, self._steps
        )

    def run(self, state: TrainingState | None) -> TrainingState:
        """Train from a state, whose weights are in the checkpoint, or from the start."""
        if state is not None:
            kept.load_weights(self._store.folder, self._learned)
            self._state = self._kept = self._checked(state)
        with self._interrupts:
            try:
                self._train()
            except (KeyboardInterrupt, SystemExit):
                self._keep_whole()
                raise
            except RuntimeError as error:  # on several devices: another may have been stopped
                if self._fabric.world_size > 1:
                    self._try_to_keep(error)
                raise
        return self._state

    def _train(self) -> None:
        self._pace.begin(self._state)
        self._observe()
        while not self._is_over():
            for batch in self._batches():
                self._step(batch)
                if self._is_over():
                    break
        self._finish()

    def _checked(self, state: TrainingState) -> TrainingState:
        if not 0 <= state.batch < self._steps:
            path = self._store.folder / kept.FOLDER / kept.STATE
            raise kept.CheckpointError(
                f"{path}: {state.batch:,} batches of an epoch are over, which has {self._steps:,}"
            )
        return state

    def _is_over(self) -> bool:
        over: bool = self._fabric.broadcast(bool(self._state.ended(self._settings.limits)))
        return over

    def _batches(self) -> Iterator[Batch]:
        """Yield what is left of the epoch, of which each device takes its share."""
        fabric, state = self._fabric, self._state
        start = state.batch * fabric.world_size
        batches = self._prepared.train.batches(state.epoch, start=start)
        share = islice(batches, fabric.global_rank, None, fabric.world_size)
        return islice(share, self._steps - state.batch)

    def _step(self, batch: Batch) -> None:
        step = self._state.step + 1
        torch.manual_seed(step_seed(self._settings.seed, step, self._fabric.global_rank))
        self._stepper.train()
        batch = batch.to(self._fabric.device)
        loss = self._stepper(dict(batch.tensors), batch.items, batch.targets)
        self._optimizer.zero_grad(set_to_none=True)
        self._fabric.backward(loss)
        norm = self._fabric.clip_gradients(
            self._stepper,
            self._optimizer,
            max_norm=self._settings.optimizer.clip,
            error_if_nonfinite=False,
        )
        with self._interrupts.waiting():
            self._optimizer.step()
            self._waiting.append((step, loss.detach(), norm.detach()))
            self._state = self._pace.count(self._state.stepped(self._steps), batch)
        self._after_step()

    def _after_step(self) -> None:
        point, validation = self._due()
        keep = self._fabric.broadcast(self._pace.since_kept >= self._settings.keep_seconds)
        if point or validation or keep or len(self._waiting) == CHECKED:
            self._pace.loss = self._check()
        self._observe()
        if (validation or keep) and not self._is_over():  # the end is kept once it was looked at
            self._keep()

    def _due(self) -> tuple[bool, bool]:
        """Say whether it is to be looked at and validated where it is."""
        state, settings = self._state, self._settings
        point, validation = (
            every is not None and every.is_due(state.step, epoch_over=state.batch == 0)
            for every in (settings.point_every, settings.validate_every)
        )
        return point, validation and state.step > 0

    def _observe(self) -> None:
        """Look and validate where that is due; where it was stopped at that, once more."""
        point, validation = self._due()
        self._look(point)
        if validation and not self._state.is_validated:
            self._validate()

    def _check(self) -> float:
        """Return the last loss.

        Raises:
            DivergedError: one of those that wait, or the gradient's norm, is not finite.
        """
        last = 0.0
        for step, loss, norm in self._waiting:
            last = float(loss)
            if not (isfinite(last) and isfinite(float(norm))):
                what = "the gradient" if isfinite(last) else f"the loss ({last})"
                raise self._diverged(step, what)
        self._waiting.clear()
        return last

    def _diverged(self, step: int, what: str) -> DivergedError:
        best = self._state.best
        good = f"the best model, {best}" if best else "nothing, as nothing was validated yet"
        return DivergedError(
            f"{what} is no number any more at step {step:,}: {self._store.folder} keeps {good}; "
            "a lower --rate may help"
        )

    def _look(self, due: bool) -> None:  # noqa: FBT001
        if due and self._fabric.is_global_zero:
            with self._pace.paused():
                model = self._learner.encoder.eval()
                self._at_point(Point(self._state.step, self._state.epochs(self._steps), model))
        if due:
            self._looked = self._state.step
            self._fabric.barrier()

    def _validate(self) -> None:
        with self._pace.paused():
            self._learner.eval()
            found = self._prepared.validate(self._learner)
        if not (isfinite(found.value) and isfinite(found.loss)):
            raise self._diverged(self._state.step, f"the validation's {found.metric}")
        state = self._state.validated(found, steps=self._steps)
        self._pace.validated(found)
        with self._interrupts.waiting():  # several files are the model, replaced one by one
            if self._fabric.is_global_zero:
                self._save(state)
            self._state = state  # now, or what is killed while it saves would never be saved

    def _save(self, state: TrainingState) -> None:
        if state.waited == 0:
            self._store.save_best(self._learner.encoder, state)
        if state.last is not None:
            self._store.keep_validation(state.last)

    def _keep(self) -> None:
        self._write()
        self._pace.since_kept = 0.0
        self._fabric.barrier()

    def _keep_whole(self) -> None:
        """Keep what is stopped, if it is whole, waiting for no other process: it may be gone."""
        if self._interrupts.may_keep and self._state != self._kept:
            self._check()
            self._write()

    def _try_to_keep(self, error: Exception) -> None:
        """Keep what an error stopped; where that fails, the error has a note of it."""
        try:
            self._keep_whole()
        except Exception as failure:
            error.add_note(f"the last steps are not kept: {failure}")

    def _write(self) -> None:
        if self._fabric.is_global_zero:
            made = versions("torch", "lightning-fabric")
            stored = kept.StoredState(self._state, self._store.identity, made)
            kept.write_checkpoint(self._store.folder, self._learned, stored)
        self._kept = self._state

    def _finish(self) -> None:
        """Look at where the training ends, validate there, and keep that, as it is all done."""
        self._pace.loss = self._check()
        wanted = self._settings.point_every is not None
        self._look(wanted and self._looked != self._state.step)
        if not self._state.is_validated:
            self._validate()
        self._keep()


def step_seed(seed: int, step: int, rank: int) -> int:
    """Return the seed of all that a step draws, on one of several devices.

    >>> step_seed(0, 1, 0) == step_seed(0, 1, 0), step_seed(0, 1, 0) == step_seed(0, 2, 0)
    (True, False)
    """
    return int(digest("step", seed, step, rank)[:15], 16)
