"""Engines: killed workers and unreachable clusters."""

import os
import signal
import socket
import tempfile
import threading
from collections.abc import Container, Iterator
from concurrent import futures
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from helpers.clusters import DASK
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common import engines
from sentprobe.common.engines import (
    Engine,
    EngineChoice,
    EngineError,
    EngineName,
    InlineExecutor,
    make_engine,
    run_tasks_on_engine,
)
from sentprobe.common.errors import UsageError


def divide(number: int) -> float:
    return 1 / number


def check_refused(scheduler: str | None, message: str, error: type[Exception], engine: EngineName) -> None:
    with pytest.raises(error, match=message), make_engine(EngineChoice(engine=engine, scheduler=scheduler)):
        pass


@DASK
@pytest.mark.filterwarnings("ignore")
def test_silent_scheduler_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "CONNECT_SECONDS", 1)
    check_refused(
        "tcp://127.0.0.1:1", r"no Dask scheduler answers at tcp://127.0.0.1:1: ", EngineError, EngineName.DASK
    )


@DASK
@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9, b"\xff" * 999])
def test_other_server_is_refused(says: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A silent server, and servers whose bytes Dask reads as the size of an answer."""
    monkeypatch.setattr(engines, "ANSWER_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = "tcp://{}:{}".format(*server.getsockname())

        def answer() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with suppress(OSError):
                        connection.sendall(says)

        threading.Thread(target=answer, daemon=True).start()
        check_refused(address, f"^no Dask scheduler answers at {address}: .", EngineError, EngineName.DASK)


@DASK
@pytest.mark.parametrize(
    "address", ["", "foo", "tcp://", "http://127.0.0.1:1", "tls://127.0.0.1:1", "tcp://x:port",
                "tcp://127.0.0.1:1/x", "inproc://1", "tcp://x y:1"]
)  # fmt: skip
def test_malformed_address_is_refused(address: str) -> None:
    check_refused(address, "--scheduler tcp://HOST:PORT is expected, not ", UsageError, EngineName.DASK)


def test_dask_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    check_refused(
        "tcp://localhost:8786", r"--engine dask needs the extra: pip install .*\[dask\]", EngineError, EngineName.DASK
    )


@pytest.mark.parametrize(("name", "scheduler"), [(EngineName.DASK, None), (EngineName.LOCAL, "tcp://localhost:1")])
def test_scheduler_goes_with_dask(name: EngineName, scheduler: str | None) -> None:
    check_refused(scheduler, "--engine dask and --scheduler tcp://HOST:PORT need each other", UsageError, name)


class BreakingExecutor(Executor):
    """An executor that loses its worker at the tasks with the numbers in *kills*."""

    def __init__(self, kills: Container[int]) -> None:
        self.kills = kills
        self.submitted = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        self.submitted += 1
        return InlineExecutor().submit(raise_broken_pool if self.submitted in self.kills else fn, *args, **kwargs)


def raise_broken_pool(_: int) -> None:
    raise BrokenProcessPool


@given(st.integers(0, 20), st.integers(1, 5), st.sets(st.integers(1, 40), max_size=2))
def test_tasks_are_done_despite_kills(tasks: int, ahead: int, kills: set[int]) -> None:
    done = list(run_tasks_on_engine(lambda n: n * n, iter(range(tasks)), Engine(BreakingExecutor(kills), ahead)))
    assert sorted(done) == [(n, n * n) for n in range(tasks)]


def test_workers_killed_at_once_are_reported() -> None:
    pool = BreakingExecutor(range(1000))
    with pytest.raises(EngineError, match="worker processes were killed 3 times in a row"):
        list(run_tasks_on_engine(divide, iter([1, 2]), Engine(pool, 2)))
    assert pool.submitted <= 6


def test_workers_killed_together_lose_nothing() -> None:
    done = list(run_tasks_on_engine(divide, iter([1] * 10), Engine(BreakingExecutor(range(1, 11)), 10)))
    assert done == [(1, 1.0)] * 10


def test_tasks_are_taken_as_needed() -> None:
    numbers_taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(1, 100):
            numbers_taken.append(number)
            yield number

    results = run_tasks_on_engine(divide, tasks(), Engine(InlineExecutor(), 3))
    next(results)
    assert len(numbers_taken) <= 4
    results.close()


def make_large_result(_: int) -> bytes:
    return bytes(1_000_000)


def test_kills_amid_large_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one shared pipe this hangs: the reader waits for the end of a result."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with make_engine(EngineChoice(jobs=2)) as local:
        results = run_tasks_on_engine(make_large_result, iter(range(60)), local)
        killed = 0
        for number, value in results:
            assert len(value) == 1_000_000
            if number % 20 == 0:
                os.kill(active_children()[0].pid or 0, signal.SIGKILL)
                killed += 1
        assert killed == 3
        assert list(tmp_path.iterdir()) == []
    assert active_children() == []
    assert list(tmp_path.iterdir()) == []


def test_engine_takes_process_pool() -> None:
    with ProcessPoolExecutor(1) as pool:
        assert list(run_tasks_on_engine(divide, iter([1, 2]), Engine(pool, 1))) == [(1, 1.0), (2, 0.5)]


def raise_missing_module(_: int) -> None:
    raise ModuleNotFoundError("No module named 'sentprobe'")


def test_cluster_without_sentprobe_is_named() -> None:
    with futures.ThreadPoolExecutor(1) as pool:
        engine = Engine(pool, max_waiting=2, share=lambda value: value)
        with pytest.raises(EngineError, match=r"cannot read the work \(No module .* need sentprobe"):
            list(engines.run_tasks_on_engine(raise_missing_module, iter([1]), engine))
        here = Engine(pool, max_waiting=2)  # in this process it is our own fault: show the original error
        with pytest.raises(ModuleNotFoundError):
            list(engines.run_tasks_on_engine(raise_missing_module, iter([1]), here))
