"""A training that is stopped by a signal loses nothing, wherever it was."""

import os
import signal
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
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

from sentprobe.probes.pretraining import checkpoint, loop
from sentprobe.probes.pretraining.interrupts import Interrupts
from sentprobe.probes.pretraining.objective import Learner, Validation
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
    number: int = signal.SIGINT
    times: int = 1
    """How often the signal comes."""
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
            for _ in range(self.times):
                os.kill(os.getpid(), self.number)

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
@given(stops=st.dictionaries(st.sampled_from(PLACES), st.sets(st.integers(1, 12), max_size=2)))
def test_wherever_it_is_stopped_nothing_is_lost(
    whole: Stopped, stops: Mapping[str, Collection[int]]
) -> None:
    with TemporaryDirectory() as folder:
        found = Stopped(Path(folder) / "enc", stops).run()
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


@pytest.fixture
def usual_end() -> Iterator[None]:
    """Have the system end this process by SIGTERM, which a command that ran in it may take."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("usual_end")
def test_a_signal_that_ends_a_process_at_once_ends_it_with_its_code(
    whole: Stopped, tmp_path: Path
) -> None:
    found = Stopped(tmp_path / "enc", {"optimizer": {6}, "step": {9}}, signal.SIGTERM).run()
    assert found.codes == [143, 143]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    check_same(found, whole)


@pytest.mark.parametrize(
    ("stops", "times"), [({"optimizer": {7}}, 2), ({"optimizer": {7}, "writing": {2}}, 1)]
)
def test_the_second_signal_ends_it_at_once(
    whole: Stopped, tmp_path: Path, stops: Mapping[str, Collection[int]], times: int
) -> None:
    found = Stopped(tmp_path / "enc", stops, times=times)
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


def test_a_thread_of_its_own_hears_no_signal() -> None:
    with ThreadPoolExecutor() as pool:
        assert pool.submit(lambda: Interrupts().__enter__().may_keep).result()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
