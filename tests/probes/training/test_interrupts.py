"""A training that a signal stops loses nothing, at any point."""

import os
import signal
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest
import torch
from helpers.thoroughness import examples
from helpers.trainings.small_trainings import SETTINGS, LengthLearner, SmallTraining, prepare, same, validate
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import ResultsError, SentprobeError
from sentprobe.probes.training import checkpoint, loop
from sentprobe.probes.training.loop import InterruptHandler
from sentprobe.probes.training.objective import Batch, Learner, Validation
from sentprobe.probes.training.schedule import StepInterval

pytest.importorskip("lightning_fabric", reason="the extra train is not installed")


SELDOM = replace(SETTINGS, checkpoint_seconds=300, probe_every=StepInterval(3))
"""Unless it is stopped, a checkpoint is written after each fourth step only."""

CALLED: Mapping[str, tuple[Any, str]] = {
    "step": (LengthLearner, "forward"),
    "optimizer": (torch.optim.Adam, "step"),
    "best": (SmallTraining, "_save"),
    "writing": (checkpoint, "_collect_optimizer_tensors"),
    "checkpoint": (checkpoint, "write_checkpoint"),
}
"""Calls of a training, besides validation and probing."""

PLACES = (*CALLED, "validation", "look")


@dataclass
class Stopped:
    """A training in a folder that is stopped at some calls and restarted until it ends."""

    folder: Path
    stops: Mapping[str, Collection[int]] = field(default_factory=dict)
    """Numbers of the calls at each place, counted from 1 over all restarts."""
    numbers: Sequence[int] = (signal.SIGINT,)
    """Signals that are sent immediately after each other."""
    bad: int | None = None
    """Step of an epoch from which losses are NaN."""
    calls: Counter[str] = field(default_factory=Counter)
    codes: list[object] = field(default_factory=list)
    """Exceptions that ended each run but the last."""
    best: set[int] = field(default_factory=set)
    points: set[int] = field(default_factory=set)

    def run(self) -> "Stopped":
        with self.watched():
            while not self.begin():
                pass
        return self

    def begin(self) -> bool:
        """Train until it is stopped; return whether training has ended."""
        prepared = prepare(bad=self.bad, validate=self._validate)
        self.last = SmallTraining(self.folder, SELDOM, prepared=prepared)
        try:
            self.last.run(lambda _: self._called("look"))
        except (KeyboardInterrupt, SystemExit) as error:
            self.codes.append(getattr(error, "code", None))
            return False
        finally:
            self.best |= {*self.last.best}
            self.points |= {*self.last.points}
        return True

    @property
    def step(self) -> int:
        """Step of the checkpoint."""
        stored = checkpoint.read_state(self.folder)
        return stored.state.step if stored else 0

    def _validate(self, learner: Learner) -> Validation:
        validation = validate(learner)
        self._called("validation")
        return validation

    def _called(self, place: str) -> None:
        self.calls[place] += 1
        if self.calls[place] in self.stops.get(place, ()):
            for number in self.numbers:
                os.kill(os.getpid(), number)

    @contextmanager
    def watched(self) -> Iterator[None]:
        with ExitStack() as stack:
            for place in CALLED:
                stack.enter_context(self._watch(place))
            yield

    def _watch(self, place: str) -> Any:
        owner, name = CALLED[place]
        usual = getattr(owner, name)

        def called(*arguments: Any, **named: Any) -> Any:
            result = usual(*arguments, **named)
            self._called(place)  # what is to be changed is, and nobody has heard of it
            return result

        return mock.patch.object(owner, name, called)


USUAL: Mapping[int, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}
"""Default signal handlers of Python; a shell's background job ignores the first signal."""


@pytest.fixture(autouse=True, scope="module")
def usual_end() -> Iterator[None]:
    """Restore default signal handlers, which an earlier command may have replaced."""
    before = {number: signal.signal(number, handler) for number, handler in USUAL.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Stopped:
    return Stopped(tmp_path_factory.mktemp("whole") / "enc").run()


def check_same_training(stopped: Stopped, uninterrupted: Stopped) -> None:
    """Check that weights and records equal those of an uninterrupted training."""
    assert same(stopped.last.weights, uninterrupted.last.weights)
    assert (stopped.best, stopped.points) == (uninterrupted.best, uninterrupted.points)
    ends = [checkpoint.read_state(training.folder) for training in (stopped, uninterrupted)]
    stopped_state, uninterrupted_state = (replace(end.state, seconds=0.0) for end in ends if end)
    assert stopped_state == uninterrupted_state
    optimizers = (
        training.folder / checkpoint.CHECKPOINT_FOLDER / checkpoint.OPTIMIZER_FILE
        for training in (stopped, uninterrupted)
    )
    assert len({path.read_bytes() for path in optimizers}) == 1


@examples(20, deadline=None)
@given(
    stops=st.dictionaries(st.sampled_from(PLACES), st.sets(st.integers(1, 12), max_size=2)),
    numbers=st.sampled_from([(signal.SIGTERM,), (signal.SIGHUP, signal.SIGTERM)]),
)
def test_stopped_training_loses_nothing(
    uninterrupted: Stopped, stops: Mapping[str, Collection[int]], numbers: Sequence[int]
) -> None:
    with TemporaryDirectory() as folder:
        stopped = Stopped(Path(folder) / "enc", stops, numbers).run()
        check_same_training(stopped, uninterrupted)
        assert stopped.calls["optimizer"] == 12  # no step is made twice


@pytest.mark.parametrize("place", PLACES)
def test_stop_keeps_last_whole_step(uninterrupted: Stopped, tmp_path: Path, place: str) -> None:
    stopped = Stopped(tmp_path / "enc", {place: {2}})
    with stopped.watched():
        assert not stopped.begin()
        assert stopped.step == stopped.calls["optimizer"] > 0
        assert stopped.begin()
    check_same_training(stopped, uninterrupted)


def test_termination_has_its_exit_code(uninterrupted: Stopped, tmp_path: Path) -> None:
    stopped = Stopped(tmp_path / "enc", {"optimizer": {6}, "step": {9}}, (signal.SIGTERM,)).run()
    assert stopped.codes == [143, 143]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    check_same_training(stopped, uninterrupted)


@pytest.mark.parametrize("numbers", [(signal.SIGHUP, signal.SIGTERM), (signal.SIGTERM,) * 2])
@pytest.mark.parametrize("stops", [{"optimizer": {7}}, {"step": {9}}, {"optimizer": {7}, "writing": {2}}])
def test_repeated_termination_counts_once(
    uninterrupted: Stopped, tmp_path: Path, numbers: Sequence[int], stops: Mapping[str, Collection[int]]
) -> None:
    stopped = Stopped(tmp_path / "enc", stops, numbers)
    with stopped.watched():
        assert not stopped.begin()
        assert stopped.step == stopped.calls["optimizer"] == 7
        assert stopped.begin()
    check_same_training(stopped, uninterrupted)


@pytest.mark.parametrize(("stops", "times"), [({"optimizer": {7}}, 2), ({"optimizer": {7}, "writing": {2}}, 1)])
def test_second_ctrl_c_ends_at_once(
    uninterrupted: Stopped, tmp_path: Path, stops: Mapping[str, Collection[int]], times: int
) -> None:
    stopped = Stopped(tmp_path / "enc", stops, (signal.SIGINT,) * times)
    with stopped.watched():
        assert not stopped.begin()
        assert (stopped.step, stopped.calls["optimizer"]) == (4, 7)
        assert stopped.begin()
    check_same_training(stopped, uninterrupted)


def test_diverged_weights_are_not_kept(tmp_path: Path) -> None:
    stopped = Stopped(tmp_path / "enc", {"optimizer": {3}}, bad=1)
    with stopped.watched(), pytest.raises(loop.DivergedError, match="not finite at step 2"):
        stopped.begin()
    assert stopped.step == 0


def test_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with InterruptHandler() as interrupts, interrupts.defer_signals():
            os.kill(os.getpid(), signal.SIGTERM)
        assert interrupts.can_save
    finally:
        signal.signal(signal.SIGTERM, before)


def test_returning_handler_is_called_once() -> None:
    received: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: received.append(number))
    try:
        with InterruptHandler() as interrupts:
            for _ in range(3):
                signal.raise_signal(signal.SIGINT)
                for _ in range(2):
                    with interrupts.defer_signals():
                        pass
            assert len(received) == 3
            with interrupts.defer_signals():
                signal.raise_signal(signal.SIGINT)
                assert len(received) == 3
            with interrupts.defer_signals():
                pass
            assert len(received) == 4
            assert interrupts.can_save
    finally:
        signal.signal(signal.SIGINT, before)


def test_unheard_signal_is_repeated() -> None:
    """A signal during an object's removal, where exceptions are ignored, is not lost."""
    with InterruptHandler() as interrupts:
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt), interrupts.defer_signals():
                signal.raise_signal(signal.SIGINT)
            assert interrupts.can_save


def test_other_thread_hears_no_signal() -> None:
    with ThreadPoolExecutor() as pool:
        assert pool.submit(lambda: InterruptHandler().__enter__().can_save).result()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("call", [1, 2, 3])
def test_model_files_are_written_together(tmp_path: Path, call: int) -> None:
    """All files of a model and its validation are written before the process stops."""
    parts: list[int] = []
    validations: list[int] = []

    def save(*_: object) -> None:
        for part in (1, 2, 3):
            if part == call:
                signal.raise_signal(signal.SIGINT)
            parts.append(part)

    prepared, folder = prepare(), tmp_path / "enc"
    folder.mkdir()
    store = loop.TrainingStore(folder, {"seed": 7}, save, lambda point: validations.append(point.step))
    with pytest.raises(KeyboardInterrupt):
        loop.train(prepared, SELDOM, store)
    assert (parts, validations) == ([1, 2, 3], [4])
    stored = checkpoint.read_state(folder)
    assert stored is not None
    assert stored.state.best is not None
    assert stored.state.best.step == stored.state.step == 4


def test_unwritable_validations_keep_better_model(tmp_path: Path) -> None:
    def refuse(_: object) -> None:
        raise ResultsError("not a training curve of sentprobe")

    saved: list[object] = []
    store = loop.TrainingStore(tmp_path, {"seed": 7}, lambda *_: saved.append(1), refuse)
    with pytest.raises(ResultsError):
        loop.train(prepare(), SELDOM, store)
    assert saved == [1]


def train_where_a_peer_is_gone(folder: Path, *, devices: int) -> RuntimeError:
    """Let the third step fail, as if another device's process ended; return the error."""
    calls = iter(range(1, 4))
    usual = LengthLearner.forward

    def forward(learner: LengthLearner, batch: Batch) -> torch.Tensor:
        if next(calls) == 3:
            raise RuntimeError("Connection closed by peer")
        return usual(learner, batch)

    count = mock.PropertyMock(return_value=devices)
    with (
        mock.patch.object(LengthLearner, "forward", forward),
        mock.patch("lightning_fabric.Fabric.world_size", count),
        pytest.raises(RuntimeError, match=r"^Connection closed by peer") as caught,
    ):
        SmallTraining(folder, SELDOM).run()
    return caught.value


@pytest.mark.parametrize(("devices", "step"), [(1, 0), (2, 2)])
def test_failure_of_other_device_keeps_steps(tmp_path: Path, devices: int, step: int) -> None:
    train_where_a_peer_is_gone(tmp_path, devices=devices)
    stored = checkpoint.read_state(tmp_path)
    assert (stored.state.step if stored else 0) == step


def test_error_notes_unsaved_steps(tmp_path: Path) -> None:
    full = SentprobeError("cannot write: no space left")
    with mock.patch.object(checkpoint, "write_checkpoint", side_effect=full):
        error = train_where_a_peer_is_gone(tmp_path, devices=2)
    assert error.__notes__ == ["the last steps are not saved: cannot write: no space left"]


def test_signal_in_destructor_stops_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    class SignalInDestructor:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    with InterruptHandler() as interrupts:
        with interrupts.defer_signals():
            pass
        SignalInDestructor()
        with pytest.raises(SystemExit) as caught, interrupts.defer_signals():
            pass
        assert (caught.value.code, interrupts.can_save) == (143, True)
