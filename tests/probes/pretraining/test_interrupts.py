"""A training that is stopped by a signal loses nothing, wherever it was."""

import os
import signal
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
from hypothesis import given
from hypothesis import strategies as st
from small_trainings import SETTINGS, LengthLearner, SmallTraining, prepare, same, validate
from thoroughness import examples

from sentprobe.errors import ResultsError, SentprobeError
from sentprobe.probes.pretraining import checkpoint, loop
from sentprobe.probes.pretraining.interrupts import Interrupts
from sentprobe.probes.pretraining.objective import Batch, Learner, Validation
from sentprobe.probes.pretraining.schedule import Every

pytest.importorskip("lightning_fabric", reason="the extra train is not installed")

SELDOM = replace(SETTINGS, keep_seconds=300, point_every=Every(3))
"""Unless it is stopped, it is kept after each fourth step alone."""

CALLED: Mapping[str, tuple[Any, str]] = {
    "step": (LengthLearner, "forward"),
    "optimizer": (torch.optim.Adam, "step"),
    "best": (SmallTraining, "_save"),
    "writing": (checkpoint, "_numbers"),
    "checkpoint": (checkpoint, "write_checkpoint"),
}
"""What is called in a training, beside its validation and its looks."""

PLACES = (*CALLED, "validation", "look")


@dataclass
class Stopped:
    """A training in a folder, begun again until it is over, and stopped at some calls."""

    folder: Path
    stops: Mapping[str, Collection[int]] = field(default_factory=dict)
    """By place: the calls, counted from 1 over all beginnings."""
    numbers: Sequence[int] = (signal.SIGINT,)
    """The signals that come, one at once after the other."""
    bad: int | None = None
    """The step of an epoch from which on losses are no numbers."""
    calls: Counter[str] = field(default_factory=Counter)
    codes: list[object] = field(default_factory=list)
    """How each beginning but the last ended."""
    best: set[int] = field(default_factory=set)
    points: set[int] = field(default_factory=set)

    def run(self) -> "Stopped":
        with self.watched():
            while not self.begin():
                pass
        return self

    def begin(self) -> bool:
        """Train until it is stopped; say whether it is over."""
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
        """The step that the checkpoint is of."""
        stored = checkpoint.read_state(self.folder)
        return stored.state.step if stored else 0

    def _validate(self, learner: Learner) -> Validation:
        found = validate(learner)
        self._called("validation")
        return found

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

        def called(*given: Any, **named: Any) -> Any:
            found = usual(*given, **named)
            self._called(place)  # what is to be changed is, and nobody has heard of it
            return found

        return mock.patch.object(owner, name, called)


USUAL: Mapping[int, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}
"""Who takes signals in a process of Python; a shell's background job ignores the first."""


@pytest.fixture(autouse=True, scope="module")
def usual_end() -> Iterator[None]:
    """Have signals end this process as usual: a command that ran in it may take them."""
    before = {number: signal.signal(number, handler) for number, handler in USUAL.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Stopped:
    return Stopped(tmp_path_factory.mktemp("whole") / "enc").run()


def check_same(found: Stopped, whole: Stopped) -> None:
    """Check that the weights and all else came out as if it had not been stopped."""
    assert same(found.last.weights, whole.last.weights)
    assert (found.best, found.points) == (whole.best, whole.points)
    ends = [checkpoint.read_state(each.folder) for each in (found, whole)]
    one, other = (replace(end.state, seconds=0.0) for end in ends if end)
    assert one == other
    optimizers = (each.folder / checkpoint.FOLDER / checkpoint.OPTIMIZER for each in (found, whole))
    assert len({path.read_bytes() for path in optimizers}) == 1


@examples(20, deadline=None)
@given(
    stops=st.dictionaries(st.sampled_from(PLACES), st.sets(st.integers(1, 12), max_size=2)),
    numbers=st.sampled_from([(signal.SIGTERM,), (signal.SIGHUP, signal.SIGTERM)]),
)
def test_wherever_it_is_stopped_nothing_is_lost(
    whole: Stopped, stops: Mapping[str, Collection[int]], numbers: Sequence[int]
) -> None:
    with TemporaryDirectory() as folder:
        found = Stopped(Path(folder) / "enc", stops, numbers).run()
        check_same(found, whole)
        assert found.calls["optimizer"] == 12  # no step is made twice


@pytest.mark.parametrize("place", PLACES)
def test_what_is_kept_is_the_last_step_that_is_whole(
    whole: Stopped, tmp_path: Path, place: str
) -> None:
    found = Stopped(tmp_path / "enc", {place: {2}})
    with found.watched():
        assert not found.begin()
        assert found.step == found.calls["optimizer"] > 0
        assert found.begin()
    check_same(found, whole)


def test_a_signal_that_ends_a_process_at_once_ends_it_with_its_code(
    whole: Stopped, tmp_path: Path
) -> None:
    found = Stopped(tmp_path / "enc", {"optimizer": {6}, "step": {9}}, (signal.SIGTERM,)).run()
    assert found.codes == [143, 143]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    check_same(found, whole)


@pytest.mark.parametrize("numbers", [(signal.SIGHUP, signal.SIGTERM), (signal.SIGTERM,) * 2])
@pytest.mark.parametrize(
    "stops", [{"optimizer": {7}}, {"step": {9}}, {"optimizer": {7}, "writing": {2}}]
)
def test_what_a_closed_terminal_sends_twice_means_one_thing(
    whole: Stopped, tmp_path: Path, numbers: Sequence[int], stops: Mapping[str, Collection[int]]
) -> None:
    found = Stopped(tmp_path / "enc", stops, numbers)
    with found.watched():
        assert not found.begin()
        assert found.step == found.calls["optimizer"] == 7
        assert found.begin()
    check_same(found, whole)


@pytest.mark.parametrize(
    ("stops", "times"), [({"optimizer": {7}}, 2), ({"optimizer": {7}, "writing": {2}}, 1)]
)
def test_ctrl_c_once_more_ends_it_at_once(
    whole: Stopped, tmp_path: Path, stops: Mapping[str, Collection[int]], times: int
) -> None:
    found = Stopped(tmp_path / "enc", stops, (signal.SIGINT,) * times)
    with found.watched():
        assert not found.begin()
        assert (found.step, found.calls["optimizer"]) == (4, 7)
        assert found.begin()
    check_same(found, whole)


def test_what_may_be_no_number_any_more_is_not_kept(tmp_path: Path) -> None:
    found = Stopped(tmp_path / "enc", {"optimizer": {3}}, bad=1)
    with found.watched(), pytest.raises(loop.DivergedError, match="no number any more at step 2"):
        found.begin()
    assert found.step == 0


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts, interrupts.waiting():
            os.kill(os.getpid(), signal.SIGTERM)
        assert interrupts.may_keep
    finally:
        signal.signal(signal.SIGTERM, before)


def test_whoever_takes_a_signal_and_returns_is_told_once() -> None:
    taken: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: taken.append(number))
    try:
        with Interrupts() as interrupts:
            for _ in range(3):
                signal.raise_signal(signal.SIGINT)
                for _ in range(2):
                    with interrupts.waiting():
                        pass
            assert len(taken) == 3
            with interrupts.waiting():
                signal.raise_signal(signal.SIGINT)
                assert len(taken) == 3
            with interrupts.waiting():
                pass
            assert len(taken) == 4
            assert interrupts.may_keep
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_signal_that_nobody_heard_is_not_the_last() -> None:
    """As one that came while an object was removed: what is raised there goes nowhere."""
    with Interrupts() as interrupts:
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt), interrupts.waiting():
                signal.raise_signal(signal.SIGINT)
            assert interrupts.may_keep


def test_a_thread_of_its_own_hears_no_signal() -> None:
    with ThreadPoolExecutor() as pool:
        assert pool.submit(lambda: Interrupts().__enter__().may_keep).result()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("call", [1, 2, 3])
def test_no_signal_parts_the_files_of_a_model(tmp_path: Path, call: int) -> None:
    """What is written in three parts is whole, with its validation, before it is stopped."""
    parts: list[int] = []
    validations: list[int] = []

    def save(*_: object) -> None:
        for part in (1, 2, 3):
            if part == call:
                signal.raise_signal(signal.SIGINT)
            parts.append(part)

    prepared, folder = prepare(), tmp_path / "enc"
    folder.mkdir()
    store = loop.TrainingStore(
        folder, {"seed": 7}, save, lambda found: validations.append(found.step)
    )
    with pytest.raises(KeyboardInterrupt):
        loop.train(prepared, SELDOM, store)
    assert (parts, validations) == ([1, 2, 3], [4])
    stored = checkpoint.read_state(folder)
    assert stored is not None
    assert stored.state.best is not None
    assert stored.state.best.step == stored.state.step == 4


def test_validations_that_cannot_be_kept_stop_no_better_model(tmp_path: Path) -> None:
    def refuse(_: object) -> None:
        raise ResultsError("not validations of a training")

    saved: list[object] = []
    store = loop.TrainingStore(tmp_path, {"seed": 7}, lambda *_: saved.append(1), refuse)
    with pytest.raises(ResultsError):
        loop.train(prepare(), SELDOM, store)
    assert saved == [1]


def train_where_a_peer_is_gone(folder: Path, *, devices: int) -> RuntimeError:
    """Let the third step fail, as where another of so many devices ends; return the error."""
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
def test_what_another_device_stopped_is_kept(tmp_path: Path, devices: int, step: int) -> None:
    train_where_a_peer_is_gone(tmp_path, devices=devices)
    stored = checkpoint.read_state(tmp_path)
    assert (stored.state.step if stored else 0) == step


def test_an_error_is_told_even_if_nothing_can_be_kept(tmp_path: Path) -> None:
    full = SentprobeError("cannot write: no space left")
    with mock.patch.object(checkpoint, "write_checkpoint", side_effect=full):
        error = train_where_a_peer_is_gone(tmp_path, devices=2)
    assert error.__notes__ == ["the last steps are not kept: cannot write: no space left"]
