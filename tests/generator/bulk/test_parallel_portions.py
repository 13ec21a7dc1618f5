"""Sentences in portions: the bytes do not tell how many processes made them."""

import os
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from space_strategies import spaces
from thoroughness import examples

from sentprobe import processes
from sentprobe.errors import SentprobeError, UsageError
from sentprobe.generator.bulk import parallel_portions
from sentprobe.generator.bulk.generate import generate
from sentprobe.generator.bulk.sentence_files import write_file
from sentprobe.generator.sentences.sentence_records import FORMAT_NAMES
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english


class Threads(ThreadPoolExecutor):
    """Threads that, like processes, exchange work as pickles and share no cache."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Do it as another process would, which has just started."""
        return super().submit(_do, pickle.dumps((fn, args, kwargs)))


def _do(message: bytes) -> Any:
    parallel_portions._get_maker.cache_clear()
    fn, args, kwargs = pickle.loads(message)
    return pickle.loads(pickle.dumps(fn(*args, **kwargs)))


@contextmanager
def threads(jobs: int) -> Iterator[Executor]:
    with Threads(jobs) as pool:
        yield pool


@examples(10)
@given(space=spaces(), seed=st.integers(0, 2**32), portion=st.integers(1, 12), fmt=st.sampled_from(FORMAT_NAMES))
def test_bytes_are_the_same_for_any_number_of_jobs(space: Space, seed: int, portion: int, fmt: str) -> None:
    """Also of makers that have made nothing before, where one process has made it all."""
    indices = space.sample(min(30, space.count()), seed=seed)
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel_portions, "PORTION_SIZE", portion)
        patch.setattr(processes, "make_workers", threads)
        files = [Path(name) / f"{jobs}.{fmt}" for jobs in (1, 2, 3)]
        for jobs, path in enumerate(files, 1):
            write_file(space, indices, path, fmt, jobs=jobs)
        assert len({path.read_bytes() for path in files}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("fmt", FORMAT_NAMES)
def test_processes_write_what_one_would(fmt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_portions, "PORTION_SIZE", 20)
    for jobs in (1, 2):
        generate(tmp_path / f"{jobs}", template="transitive-rc", n=50, format=fmt, jobs=jobs)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def kill_worker(pickled_request: bytes, portion: object) -> None:  # noqa: ARG001 - as what it stands for
    os._exit(3)


@pytest.mark.parametrize("fmt", ["jsonl", pytest.param("parquet", marks=pytest.mark.slow)])
def test_a_process_that_dies_leaves_what_was_there(fmt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_portions, "_make_portion", kill_worker)
    path = tmp_path / f"x.{fmt}"
    path.write_text("what was there")
    with pytest.raises(SentprobeError, match=r"^a worker process was killed .*fewer --jobs"):
        generate(path, n=50, jobs=2)
    assert path.read_text() == "what was there"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("jobs", [0, -1])
def test_no_such_number_of_jobs(jobs: int, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the number of jobs must be positive"):
        generate(tmp_path / "x.txt", n=5, jobs=jobs)
    assert list(tmp_path.iterdir()) == []


def test_by_default_a_process_must_be_worth_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "count_cores", lambda: 4)
    counts = (10, 399_999, 400_000, 700_000, 5_000_000)
    assert [parallel_portions.choose_job_count(count, "jsonl") for count in counts] == [1, 1, 2, 3, 3]
    assert [parallel_portions.choose_job_count(count, "text") for count in counts] == [1, 1, 1, 1, 3]


@pytest.mark.parametrize("few", [1, 2])
def test_of_two_cores_one_writes(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a second process would not be worth its start."""
    monkeypatch.setattr(processes, "count_cores", lambda: few)
    assert parallel_portions.choose_job_count(5_000_000, "jsonl") == 1


def test_one_process_starts_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "make_workers", None)
    space = Space(english(), templates=["intransitive"], vocabulary="compeval")
    write_file(space, space.sample(20, seed=1), tmp_path / "x.jsonl", jobs=None)
    assert len((tmp_path / "x.jsonl").read_text().splitlines()) == 20
