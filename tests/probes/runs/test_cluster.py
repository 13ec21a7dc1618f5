"""Runs on workers elsewhere: same results as here, errors of one line, finished jobs are stored."""

import json
import os
import pickle
import signal
from collections.abc import Container, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.clusters import DASK, cluster
from helpers.encoders.model_files import tiny_model
from helpers.strategies.probe_strategies import CountingEncoder, make_learnable_dataset
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.engines import Engine, EngineChoice, EngineError, InlineExecutor
from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.common.screen import SilentReporter
from sentprobe.common.specs import Spec
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.encoders import kinds as encoder_kinds
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.runs import cluster as worker_jobs
from sentprobe.probes.runs.cluster import EncodeAndTrainJob, JobRequest, RequestedCondition, split_by_task
from sentprobe.probes.runs.run import run

FAST = replace(find_preset("ettinger"), max_epochs=2)
DATASETS = [make_learnable_dataset(name="one", size=30), make_learnable_dataset(name="two", size=40)]
DISJOINT = [make_learnable_dataset(name="first", size=30), make_learnable_dataset(name="last", seed=1, size=30)]
SPECS = ("bow?dim=4", "bow?dim=4&seed=7&name=other", "majority", "bow?dim=3&name=narrow")
CLUSTER_OPTIONS: dict[str, Any] = {"engine": "dask", "scheduler": "tcp://cluster:8786"}


class RemoteExecutor(Executor):
    """Workers that share only pickled messages with this process; some may be killed."""

    def __init__(self, kills: Container[int] = ()) -> None:
        self.kills = kills
        self.submitted = 0
        self.jobs: list[Any] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        self.submitted += 1
        self.jobs.append(args[0])
        if self.submitted in self.kills:
            return InlineExecutor().submit(be_killed)
        return InlineExecutor().submit(run_pickled, pickle.dumps((fn, args, kwargs)))


def run_pickled(message: bytes) -> Any:
    fn, args, kwargs = pickle.loads(message)
    return pickle.loads(pickle.dumps(fn(*args, **kwargs)))


def be_killed() -> None:
    raise BrokenExecutor


def patch_engine(pool: Executor, monkeypatch: pytest.MonkeyPatch, *, ahead: int = 3, workers: int = 1) -> None:
    @contextmanager
    def make(_: EngineChoice) -> Iterator[Engine]:
        yield Engine(pool, max_waiting=ahead, workers=workers)

    monkeypatch.setattr("sentprobe.probes.runs.run.make_engine", make)


def drop_seconds(results: Results) -> list[Result]:
    return [replace(record, seconds={}) for record in results.records]


def read_results_without_seconds(directory: Path) -> dict[str, Any]:
    """The contents of the result files, without durations."""
    values_by_file = {path.name: json.loads(path.read_bytes()) for path in directory.glob("[!.]*.json")}
    return {name: {k: v for k, v in value.items() if k != "seconds"} for name, value in values_by_file.items()}


def test_cluster_writes_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = run(DATASETS, SPECS, preset=FAST, seeds=2, out=tmp_path / "here")
    patch_engine(RemoteExecutor(), monkeypatch)
    away = run(DATASETS, SPECS, preset=FAST, seeds=2, out=tmp_path / "away", **CLUSTER_OPTIONS)
    assert drop_seconds(away) == drop_seconds(here)
    assert read_results_without_seconds(tmp_path / "away") == read_results_without_seconds(tmp_path / "here")
    seconds = [record.seconds.keys() for record in away.records]
    assert seconds == [record.seconds.keys() for record in here.records]


SMALL: dict[str, Any] = {"tasks": ["Order"], "train": 28, "test": 28, "preset": FAST}


def test_draw_has_own_data_and_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    here = run("compeval", "bow?dim=4", draws=2, **SMALL)
    patch_engine(RemoteExecutor(), monkeypatch)
    away = run("compeval", "bow?dim=4", draws=2, **SMALL, **CLUSTER_OPTIONS)
    assert drop_seconds(away) == drop_seconds(here)
    assert len({record.seed for record in away.records}) == 2


@pytest.mark.slow  # transformers is slow to import
def test_one_spec_may_be_several_encoders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = f"hf:{tiny_model(tmp_path / 'model', kind='Bert')}?layer=all"
    here = run("compeval", spec, draws=2, **SMALL)
    patch_engine(RemoteExecutor(), monkeypatch)
    away = run("compeval", spec, draws=2, **SMALL, **CLUSTER_OPTIONS)
    assert drop_seconds(away) == drop_seconds(here)
    assert len({record.encoder for record in away.records}) > 2


@pytest.mark.parametrize("words", ["encoder", "bow?dim=5"])
def test_probe_words_with_vectors(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = run(DATASETS[:1], SPECS, preset=FAST, probe_vectors=words)
    patch_engine(RemoteExecutor(), monkeypatch)
    away = run(DATASETS[:1], SPECS, preset=FAST, probe_vectors=words, **CLUSTER_OPTIONS)
    assert drop_seconds(away) == drop_seconds(here)


def test_shared_controls_are_trained_once(fits: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    patch_engine(RemoteExecutor(), monkeypatch)
    run(DATASETS[:1], SPECS, preset=FAST, **CLUSTER_OPTIONS)
    # The probe and random probes of three encoders; random sentences, bags of words, and words and positions of two
    # widths; no sentence and fixed positions.
    assert len(fits) == 3 * 2 + 2 * 3 + 2


def test_cluster_resumes_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    complete = run(DATASETS, SPECS, preset=FAST, seeds=2)
    run(DATASETS[:1], SPECS[:1], preset=FAST, controls=False, out=tmp_path)
    patch_engine(pool := RemoteExecutor(), monkeypatch)
    again = run(DATASETS, SPECS, preset=FAST, seeds=2, out=tmp_path, **CLUSTER_OPTIONS)
    assert drop_seconds(again) == drop_seconds(complete)
    pool.submitted = 0
    assert drop_seconds(run(DATASETS, SPECS, preset=FAST, seeds=2, out=tmp_path, **CLUSTER_OPTIONS)) == drop_seconds(
        complete
    )
    assert pool.submitted == 0


@pytest.mark.parametrize("first", [1, 2, 5])
def test_killed_workers_lose_no_finished_work(first: int, tmp_path: Path) -> None:
    """The run ends with an error of one line; the same command then completes it."""
    out = tmp_path / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch_engine(RemoteExecutor(range(first, 99)), patch, ahead=1)
        with pytest.raises(EngineError, match=r"were killed 3 times in a row .* finished work is saved"):
            run(DATASETS[:1], SPECS[:2], preset=FAST, out=out, **CLUSTER_OPTIONS)
    before = {path: path.read_bytes() for path in out.glob("bow*.json")}
    assert (len(before) > 0) == (first > 1)
    complete = run(DATASETS[:1], SPECS[:2], preset=FAST)
    assert drop_seconds(run(DATASETS[:1], SPECS[:2], preset=FAST, out=out)) == drop_seconds(complete)


@pytest.mark.parametrize("machines", [{"jobs": 2}, CLUSTER_OPTIONS])
def test_one_killed_worker_is_not_noticed(
    machines: dict[str, Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    complete = run(DATASETS[:1], SPECS, preset=FAST)
    patch_engine(RemoteExecutor({1, 4}), monkeypatch)
    assert drop_seconds(run(DATASETS[:1], SPECS, preset=FAST, **machines)) == drop_seconds(complete)
    assert caplog.messages == ["a worker process was killed; its work is repeated"] * 2


def list_sent_tasks(pool: RemoteExecutor) -> list[tuple[str, ...]]:
    """The tasks of each job that was sent with an encoder."""
    requests = [job.requests for job in pool.jobs if isinstance(job, EncodeAndTrainJob)]
    return [tuple(dict.fromkeys(task for request in group for task in request.results)) for group in requests]


@pytest.mark.parametrize(
    ("workers", "jobs"), [(1, [("one", "two")]), (2, [("two",), ("one",)]), (9, [("two",), ("one",)])]
)
def test_jobs_are_split_by_task_where_workers_outnumber_encoders(
    workers: int, jobs: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job with most training is sent first."""
    here = run(DATASETS, SPECS[:1], preset=FAST, seeds=2)
    patch_engine(pool := RemoteExecutor(), monkeypatch, workers=workers)
    assert drop_seconds(run(DATASETS, SPECS[:1], preset=FAST, seeds=2, **CLUSTER_OPTIONS)) == drop_seconds(here)
    assert list_sent_tasks(pool) == jobs


@pytest.mark.parametrize("workers", [1, 2])
def test_vectors_without_sentences_are_in_the_order_of_the_run(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job with one of the tasks, or a resumed run without one task, takes the same rows as a run of all."""
    sentences = list(dict.fromkeys(text for dataset in DISJOINT for text in dataset.sentences))
    np.save(tmp_path / "vectors.npy", make_encoder("bow?dim=4").encode(sentences))
    spec = f"file:{tmp_path / 'vectors.npy'}"
    here = run(DISJOINT, spec, preset=FAST, out=tmp_path / "here")
    patch_engine(pool := RemoteExecutor(), monkeypatch, workers=workers)
    out = tmp_path / "away"
    assert drop_seconds(run(DISJOINT, spec, preset=FAST, out=out, **CLUSTER_OPTIONS)) == drop_seconds(here)
    assert len(list_sent_tasks(pool)) == workers
    pool.jobs.clear()
    (last,) = out.glob("*last*.json")
    last.unlink()
    assert drop_seconds(run(DISJOINT, spec, preset=FAST, out=out, **CLUSTER_OPTIONS)) == drop_seconds(here)
    assert list_sent_tasks(pool) == [("last",)]
    assert read_results_without_seconds(out) == read_results_without_seconds(tmp_path / "here")


@pytest.mark.parametrize(("specs", "split"), [(SPECS[:2], True), (SPECS[:3], False)])
def test_as_many_encoders_as_workers_are_not_split(
    specs: Sequence[str], split: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch_engine(pool := RemoteExecutor(), monkeypatch, workers=3)
    run(DATASETS, specs, preset=FAST, **CLUSTER_OPTIONS)
    assert (len(list_sent_tasks(pool)) > len(specs)) == split


def test_a_killed_worker_repeats_only_its_part(monkeypatch: pytest.MonkeyPatch) -> None:
    complete = run(DATASETS, SPECS[:1], preset=FAST)
    patch_engine(pool := RemoteExecutor({2}), monkeypatch, workers=2)
    assert drop_seconds(run(DATASETS, SPECS[:1], preset=FAST, **CLUSTER_OPTIONS)) == drop_seconds(complete)
    assert list_sent_tasks(pool) == [("two",), ("one",), ("one",)]


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=6),
    st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=3),
    st.integers(1, 8),
)
def test_parts_hold_each_condition_once(sizes: list[int], encoders: list[set[int]], parts: int) -> None:
    tasks: Any = [
        SimpleNamespace(
            name=str(number),
            training="shared" if number in (1, 4) else "",
            data=SimpleNamespace(sentences=(str(number),)),
            items=SimpleNamespace(train=range(size)),
        )
        for number, size in enumerate(sizes)
    ]
    requests = []
    for number, wanted in enumerate(encoders):
        names = [task.name for task in tasks if int(task.name) in wanted]
        results: Any = dict.fromkeys(names)
        conditions = tuple(RequestedCondition(name, condition, (0,)) for name in names for condition in Condition)
        requests.append(JobRequest(f"encoder{number}", results, conditions))
    split = split_by_task(requests, tasks, parts)
    pairs = [(request.encoder, c) for part in split for request in part for c in request.conditions]
    assert sorted(pairs, key=repr) == sorted(((r.encoder, c) for r in requests for c in r.conditions), key=repr)
    assert len(split) <= parts
    assert all({c.task for c in request.conditions} == request.results.keys() for part in split for request in part)
    places = [{task for request in part for task in request.results} for part in split]
    assert all(places)
    assert sum(not names.isdisjoint({"1", "4"}) for names in places) <= 1


def test_without_a_folder_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    patch_engine(RemoteExecutor(range(99)), monkeypatch)
    with pytest.raises(EngineError, match=r"; use --out to keep results and resume a run$"):
        run(DATASETS[:1], ["bow?dim=4"], preset=FAST, **CLUSTER_OPTIONS)


def encode(sentences: Sequence[str]) -> Vectors:
    return make_encoder("bow?dim=4").encode(sentences)


OBJECTS = {
    "encode": encode,
    "counting": CountingEncoder(make_encoder("bow?dim=4")),
    "bow?dim=4": make_encoder("bow?dim=4"),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_of_this_process_cannot_travel(name: str) -> None:
    """The error comes before any connection: there is no such cluster."""
    with pytest.raises(UsageError) as caught:
        run(DATASETS, [OBJECTS[name]], **CLUSTER_OPTIONS)
    assert str(caught.value) == (
        f"{name} is an object of this process, and the workers of --engine dask make their "
        "encoders themselves; give a spec, such as python:MODULE:FUNCTION"
    )


def test_objects_of_probe_words_cannot_travel() -> None:
    with pytest.raises(UsageError, match=r"^bow is an object of this process, and the workers of "):
        run(DATASETS, ["bow?dim=4"], probe_vectors=make_encoder("bow"), **CLUSTER_OPTIONS)


def test_worker_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    patch_engine(RemoteExecutor(), monkeypatch)
    monkeypatch.setattr(worker_jobs, "get_own_version", lambda: "0.0.7")
    with pytest.raises(EngineError, match=r"^a worker has sentprobe 0\.0\.7 and this process "):
        run(DATASETS[:1], ["bow?dim=4"], preset=FAST, **CLUSTER_OPTIONS)


def test_worker_with_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The spec is another model on the worker: its fingerprint differs."""

    def build_other_encoders(specs: Sequence[Spec], *, seed: int) -> list[Any]:
        return [encoder for spec in specs for encoder in encoder_kinds.make_encoders(spec, seed=seed + 1)]

    patch_engine(RemoteExecutor(), monkeypatch)
    monkeypatch.setattr(worker_jobs, "build_encoders", build_other_encoders)
    with pytest.raises(SentprobeError, match=r"^encoder bow\?dim=4: a worker finds another model"):
        run(DATASETS[:1], ["bow?dim=4"], preset=FAST, **CLUSTER_OPTIONS)


def test_encoder_that_fails_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "failing.py").write_text("def encode(sentences):\n    raise OSError('no more')\n")
    monkeypatch.syspath_prepend(tmp_path)
    patch_engine(RemoteExecutor(), monkeypatch)
    with pytest.raises(SentprobeError, match=r"^encoder python:failing:encode raised OSError: no more$"):
        run(DATASETS[:1], ["python:failing:encode"], preset=FAST, **CLUSTER_OPTIONS)


def test_progress_counts_results(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[object] = []

    class RecordingReporter(SilentReporter):
        def begin(self, step: str, total: int) -> None:
            reported.append((step, total))

        def advance(self, amount: int = 1) -> None:
            reported.append(amount)

    patch_engine(RemoteExecutor(), monkeypatch)
    run(DATASETS, SPECS, preset=FAST, reporter=RecordingReporter(), **CLUSTER_OPTIONS)
    begin = reported.index(("do jobs on the cluster", 8))
    assert reported[begin + 1 :] == [1] * 8


class WorkerKiller(SilentReporter):
    """Kills a worker of a cluster after the first result."""

    def __init__(self, victim: int) -> None:
        self.victim: int | None = victim

    def advance(self, amount: int = 1) -> None:  # noqa: ARG002
        if self.victim is not None:
            os.kill(self.victim, signal.SIGKILL)
            self.victim = None


@DASK
@pytest.mark.slow  # a cluster of processes, one of which is killed
@pytest.mark.filterwarnings("ignore")  # distributed's own
def test_dask_cluster(tmp_path: Path) -> None:
    from distributed import Client

    run(DATASETS, SPECS, preset=FAST, out=tmp_path / "here")
    with cluster() as dask_cluster:
        address = dask_cluster.scheduler_address
        connect: Any = Client
        with connect(address, set_as_default=False) as client:
            victim = WorkerKiller(next(iter(client.run(os.getpid).values())))
        where: dict[str, Any] = {"engine": "dask", "scheduler": address}
        run(DATASETS, SPECS, preset=FAST, out=tmp_path / "away", reporter=victim, **where)
        assert victim.victim is None
    assert read_results_without_seconds(tmp_path / "away") == read_results_without_seconds(tmp_path / "here")
