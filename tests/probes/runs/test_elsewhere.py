"""Runs on workers elsewhere: the same results, errors in a sentence, and what is done is kept."""

import json
import os
import pickle
import signal
from collections.abc import Container, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from clusters import DASK, cluster
from model_files import tiny_model
from probe_strategies import Counting, learnable

from sentprobe.engines import Engine, EngineError, Here, Machines
from sentprobe.errors import SentprobeError, UsageError
from sentprobe.probes.encoders import Vectors, make_encoder
from sentprobe.probes.encoders import kinds as encoder_kinds
from sentprobe.probes.runs import errands
from sentprobe.probes.runs.results import Result, Results
from sentprobe.probes.runs.run import run
from sentprobe.probes.trainer import fit as trainer
from sentprobe.probes.trainer.presets import find_preset
from sentprobe.progress import Silent
from sentprobe.specs import Spec

FAST = replace(find_preset("ettinger"), max_epochs=2)
FEW = [learnable(name="one", size=30), learnable(name="two", size=40)]
SPECS = ("bow?dim=4", "bow?dim=4&seed=7&name=other", "majority", "bow?dim=3&name=narrow")
AWAY: dict[str, Any] = {"engine": "dask", "scheduler": "tcp://cluster:8786"}


class Elsewhere(Executor):
    """Workers that share nothing with this process but what travels; some may be killed."""

    def __init__(self, kills: Container[int] = ()) -> None:
        self.kills = kills
        self.given = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        self.given += 1
        if self.given in self.kills:
            return Here().submit(be_killed)
        return Here().submit(travel, pickle.dumps((fn, args, kwargs)))


def travel(message: bytes) -> Any:
    fn, args, kwargs = pickle.loads(message)
    return pickle.loads(pickle.dumps(fn(*args, **kwargs)))


def be_killed() -> None:
    raise BrokenExecutor


def use(pool: Executor, monkeypatch: pytest.MonkeyPatch, *, ahead: int = 3) -> None:
    @contextmanager
    def make(_: Machines) -> Iterator[Engine]:
        yield Engine(pool, ahead=ahead)

    monkeypatch.setattr("sentprobe.probes.runs.run.make_engine", make)


def timeless(results: Results) -> list[Result]:
    return [replace(record, seconds={}) for record in results.records]


def contents(directory: Path) -> dict[str, Any]:
    """What the files of results say, without the time that it took."""
    found = {path.name: json.loads(path.read_bytes()) for path in directory.glob("[!.]*.json")}
    return {name: {k: v for k, v in each.items() if k != "seconds"} for name, each in found.items()}


def test_the_files_are_the_same_as_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = run(FEW, SPECS, preset=FAST, seeds=2, out=tmp_path / "here")
    use(Elsewhere(), monkeypatch)
    away = run(FEW, SPECS, preset=FAST, seeds=2, out=tmp_path / "away", **AWAY)
    assert timeless(away) == timeless(here)
    assert contents(tmp_path / "away") == contents(tmp_path / "here")
    seconds = [record.seconds.keys() for record in away.records]
    assert seconds == [record.seconds.keys() for record in here.records]


SMALL: dict[str, Any] = {"tasks": ["Order"], "train": 28, "test": 28, "preset": FAST}


def test_a_draw_has_its_own_data_and_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    here = run("compeval", "bow?dim=4", draws=2, **SMALL)
    use(Elsewhere(), monkeypatch)
    away = run("compeval", "bow?dim=4", draws=2, **SMALL, **AWAY)
    assert timeless(away) == timeless(here)
    assert len({record.seed for record in away.records}) == 2


@pytest.mark.slow  # transformers is slow to import
def test_one_spec_may_be_several_encoders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = f"hf:{tiny_model(tmp_path / 'model', kind='Bert')}?layer=all"
    here = run("compeval", spec, draws=2, **SMALL)
    use(Elsewhere(), monkeypatch)
    away = run("compeval", spec, draws=2, **SMALL, **AWAY)
    assert timeless(away) == timeless(here)
    assert len({record.encoder for record in away.records}) > 2


@pytest.mark.parametrize("words", ["encoder", "bow?dim=5"])
def test_probe_words_with_vectors(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = run(FEW[:1], SPECS, preset=FAST, probe_vectors=words)
    use(Elsewhere(), monkeypatch)
    away = run(FEW[:1], SPECS, preset=FAST, probe_vectors=words, **AWAY)
    assert timeless(away) == timeless(here)


def test_what_encoders_of_a_width_share_is_trained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trained = []
    fit = trainer.fit

    def spying(*args: Any, **kwargs: Any) -> Any:
        trained.append(kwargs["seeds"])
        return fit(*args, **kwargs)

    use(Elsewhere(), monkeypatch)
    monkeypatch.setattr(trainer, "fit", spying)
    run(FEW[:1], SPECS, preset=FAST, **AWAY)
    # The probe and random probes of three encoders; random sentences and bags of words of two
    # widths; no sentence.
    assert len(trained) == 3 * 2 + 2 * 2 + 1


def test_it_goes_on_where_another_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(FEW, SPECS, preset=FAST, seeds=2)
    run(FEW[:1], SPECS[:1], preset=FAST, controls=False, out=tmp_path)
    use(pool := Elsewhere(), monkeypatch)
    again = run(FEW, SPECS, preset=FAST, seeds=2, out=tmp_path, **AWAY)
    assert timeless(again) == timeless(whole)
    pool.given = 0
    assert timeless(run(FEW, SPECS, preset=FAST, seeds=2, out=tmp_path, **AWAY)) == timeless(whole)
    assert pool.given == 0


@pytest.mark.parametrize("first", [1, 2, 5])
def test_workers_killed_again_and_again_lose_nothing_that_was_done(
    first: int, tmp_path: Path
) -> None:
    """The run ends in a sentence; the same command then makes what is left, here as elsewhere."""
    out = tmp_path / "run"
    with pytest.MonkeyPatch.context() as patch:
        use(Elsewhere(range(first, 99)), patch, ahead=1)
        with pytest.raises(EngineError, match=r"were killed 3 times in a row .* what was done is"):
            run(FEW[:1], SPECS[:2], preset=FAST, out=out, **AWAY)
    before = {path: path.read_bytes() for path in out.glob("bow*.json")}
    assert (len(before) > 0) == (first > 1)
    whole = run(FEW[:1], SPECS[:2], preset=FAST)
    assert timeless(run(FEW[:1], SPECS[:2], preset=FAST, out=out)) == timeless(whole)


@pytest.mark.parametrize("machines", [{"jobs": 2}, AWAY])
def test_one_killed_worker_is_not_noticed(
    machines: dict[str, Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    whole = run(FEW[:1], SPECS, preset=FAST)
    use(Elsewhere({1, 4}), monkeypatch)
    assert timeless(run(FEW[:1], SPECS, preset=FAST, **machines)) == timeless(whole)
    assert caplog.messages == ["a worker process was killed; its work is done again"] * 2


def test_without_a_folder_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    use(Elsewhere(range(99)), monkeypatch)
    with pytest.raises(EngineError, match=r"; results are kept, and a run goes on, with --out$"):
        run(FEW[:1], ["bow?dim=4"], preset=FAST, **AWAY)


def encode(sentences: Sequence[str]) -> Vectors:
    return make_encoder("bow?dim=4").encode(sentences)


OBJECTS = {
    "encode": encode,
    "counting": Counting(make_encoder("bow?dim=4")),
    "bow?dim=4": make_encoder("bow?dim=4"),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_of_this_process_cannot_travel(name: str) -> None:
    """It is said before anything is done: there is no such cluster."""
    with pytest.raises(UsageError) as caught:
        run(FEW, [OBJECTS[name]], **AWAY)
    assert str(caught.value) == (
        f"{name} is an object of this process, and the workers of --engine dask make their "
        "encoders themselves; give a spec, such as python:MODULE:FUNCTION"
    )


def test_nor_can_those_of_probe_words() -> None:
    with pytest.raises(UsageError, match=r"^bow is an object of this process, and the workers of "):
        run(FEW, ["bow?dim=4"], probe_vectors=make_encoder("bow"), **AWAY)


def test_a_worker_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    use(Elsewhere(), monkeypatch)
    monkeypatch.setattr(errands, "own_version", lambda: "0.0.7")
    with pytest.raises(EngineError, match=r"^a worker has sentprobe 0\.0\.7 and this process "):
        run(FEW[:1], ["bow?dim=4"], preset=FAST, **AWAY)


def test_a_worker_with_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same spec is another model there: its fingerprint says so."""

    def other(known: Sequence[Spec], *, seed: int) -> list[Any]:
        return [each for spec in known for each in encoder_kinds.make_encoders(spec, seed=seed + 1)]

    use(Elsewhere(), monkeypatch)
    monkeypatch.setattr(errands, "make_known", other)
    with pytest.raises(SentprobeError, match=r"^encoder bow\?dim=4: a worker finds another model"):
        run(FEW[:1], ["bow?dim=4"], preset=FAST, **AWAY)


def test_an_encoder_that_fails_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "failing.py").write_text("def encode(sentences):\n    raise OSError('no more')\n")
    monkeypatch.syspath_prepend(tmp_path)
    use(Elsewhere(), monkeypatch)
    with pytest.raises(
        SentprobeError, match=r"^encoder python:failing:encode raised OSError: no more$"
    ):
        run(FEW[:1], ["python:failing:encode"], preset=FAST, **AWAY)


def test_progress_counts_results(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []

    class Telling(Silent):
        def begin(self, step: str, total: int) -> None:
            told.append((step, total))

        def advance(self, amount: int = 1) -> None:
            told.append(amount)

    use(Elsewhere(), monkeypatch)
    run(FEW, SPECS, preset=FAST, reporter=Telling(), **AWAY)
    begin = told.index(("probe on the cluster", 8))
    assert told[begin + 1 :] == [1] * 8


class KillsOne(Silent):
    """Kills a worker of a cluster when the first result is there."""

    def __init__(self, victim: int) -> None:
        self.victim: int | None = victim

    def advance(self, amount: int = 1) -> None:  # noqa: ARG002
        if self.victim is not None:
            os.kill(self.victim, signal.SIGKILL)
            self.victim = None


@DASK
@pytest.mark.slow  # a cluster of processes, one of which is killed
@pytest.mark.filterwarnings("ignore")  # distributed's own
def test_a_dask_cluster(tmp_path: Path) -> None:
    from distributed import Client

    run(FEW, SPECS, preset=FAST, out=tmp_path / "here")
    with cluster() as made:
        address = made.scheduler_address
        connect: Any = Client
        with connect(address, set_as_default=False) as client:
            victim = KillsOne(next(iter(client.run(os.getpid).values())))
        where: dict[str, Any] = {"engine": "dask", "scheduler": address}
        run(FEW, SPECS, preset=FAST, out=tmp_path / "away", reporter=victim, **where)
        assert victim.victim is None
    assert contents(tmp_path / "away") == contents(tmp_path / "here")
