"""Worker processes: they do their tasks, and the death of one is reported."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from helpers.processes import wait_for

from sentprobe.common import processes as processes_module
from sentprobe.common.errors import UsageError
from sentprobe.common.processes import check_count, count_cores, make_workers


@contextmanager
def start_two() -> Iterator[Executor]:
    with make_workers(2) as pool:
        assert pool is not None
        yield pool


class TwoArgumentError(Exception):
    """An error that pickle cannot restore, since it needs two arguments."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def raise_error() -> None:
    raise ValueError("not this one")


def raise_two_argument_error() -> None:
    raise TwoArgumentError("a", "b")


def raise_error_with_lock() -> None:
    raise ValueError(threading.Lock())


def make_a_lock() -> Any:
    return threading.Lock()


def test_worker_error_has_its_traceback() -> None:
    with start_two() as pool, pytest.raises(ValueError, match=r"^not this one") as caught:
        pool.submit(raise_error).result()
    assert "in raise_error" in "".join(caught.value.__notes__)


@pytest.mark.parametrize("work", [raise_two_argument_error, raise_error_with_lock, make_a_lock])
def test_unpicklable_value_kills_no_process(work: Any) -> None:
    with start_two() as pool:
        with pytest.raises((RuntimeError, TypeError), match=r"TwoArgumentError|lock"):
            pool.submit(work).result()
        (process,) = active_children()
        assert pool.submit(os.getpid).result() == process.pid


def test_idle_killed_process_is_replaced() -> None:
    with start_two() as pool:
        first = pool.submit(os.getpid).result()
        (process,) = active_children()
        os.kill(first, signal.SIGKILL)
        process.join()
        assert pool.submit(os.getpid).result() != first


def test_error_in_block_stops_work() -> None:
    with pytest.raises(KeyError), start_two() as pool:
        pool.submit(time.sleep, 600)
        while not active_children():
            time.sleep(0.01)
        raise KeyError
    assert active_children() == []


def test_number_of_jobs_must_be_positive() -> None:
    assert count_cores() >= 1
    with pytest.raises(UsageError, match="the number of jobs must be positive, not 0"):
        check_count("jobs", 0)


def wait_then_return(number: int) -> int:
    time.sleep(0.2 if number == 0 else 0)
    return number


def test_results_are_in_task_order() -> None:
    with start_two() as pool:
        assert list(pool.map(wait_then_return, range(4))) == [0, 1, 2, 3]


def test_process_exit_breaks_the_pool() -> None:
    with pytest.raises(BrokenProcessPool, match="was killed"), start_two() as pool:
        list(pool.map(os._exit, [3]))


def test_signalled_process_breaks_the_pool() -> None:
    with pytest.raises(BrokenProcessPool, match="was killed"), start_two() as pool:
        list(pool.map(sys.exit, [143]))


def hang_up(number: int) -> int:
    signal.raise_signal(signal.SIGHUP)
    return number


@pytest.mark.skipif(sys.platform == "win32", reason="no signals there")
def test_worker_ignores_hangup() -> None:
    with start_two() as pool:
        assert pool.submit(hang_up, 3).result() == 3


def test_worker_imports_nothing_of_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("multiprocessing", "pickle"):
        (tmp_path / f"{name}.py").write_text("open('imported', 'w')", "utf-8")
    monkeypatch.chdir(tmp_path)
    with start_two() as pool:
        assert pool.submit(abs, -3).result() == 3
    assert not Path("imported").exists()
    assert not os.environ.get("PYTHONSAFEPATH")


def keep_when_terminated(folder: Path, seconds: float) -> None:
    """Work until SIGTERM, then save for *seconds*; write a file at each stage."""

    def keep(*_: object) -> None:
        (folder / "keeping").touch()
        time.sleep(seconds)
        (folder / "kept").touch()
        raise SystemExit

    signal.signal(signal.SIGTERM, keep)
    (folder / "working").touch()
    time.sleep(600)


@pytest.fixture
def hung_up() -> Iterator[None]:
    """Make SIGHUP end this process as it ends a command."""
    before = signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.skipif(sys.platform == "win32", reason="no signals there")
@pytest.mark.usefixtures("hung_up")
@pytest.mark.parametrize(
    ("numbers", "is_kept"),
    [((signal.SIGINT,), True), ((signal.SIGHUP, signal.SIGHUP), True), ((signal.SIGINT, signal.SIGINT), False)],
)
def test_second_interrupt_ends_saving(tmp_path: Path, numbers: tuple[int, ...], is_kept: bool) -> None:
    def interrupt() -> None:
        for number, mark in zip(numbers, ("working", "keeping"), strict=False):
            wait_for((tmp_path / mark).exists)
            os.kill(os.getpid(), number)

    sender = threading.Thread(target=interrupt)
    with pytest.raises((KeyboardInterrupt, SystemExit)), start_two() as pool:
        pool.submit(keep_when_terminated, tmp_path, 0.2 if is_kept else 600)
        sender.start()
    sender.join()
    assert (tmp_path / "kept").exists() is is_kept
    wait_for(lambda: not active_children())


def ignore_signals(folder: Path) -> None:
    """Hang, deaf to SIGTERM, as a library does that waits for memory."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    (folder / "working").touch()
    time.sleep(600)


@pytest.mark.skipif(sys.platform == "win32", reason="no signals there")
def test_process_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes_module, "STOP_SECONDS", 0.1)
    with pytest.raises(SystemExit), start_two() as pool:
        pool.submit(ignore_signals, tmp_path)
        wait_for((tmp_path / "working").exists)
        raise SystemExit
    assert not active_children()
