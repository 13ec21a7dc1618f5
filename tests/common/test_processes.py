"""Worker processes: they do their tasks, and the death of one is reported."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from helpers.processes import wait_for

from sentprobe.common import processes as processes_module
from sentprobe.common.errors import UsageError
from sentprobe.common.processes import check_count, count_cores, make_workers


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


def test_an_error_comes_out_with_what_happened() -> None:
    with make_workers(2) as pool:
        assert pool is not None
        with pytest.raises(ValueError, match=r"^not this one") as caught:
            pool.submit(raise_error).result()
    assert "in raise_error" in "".join(caught.value.__notes__)


@pytest.mark.parametrize("work", [raise_two_argument_error, raise_error_with_lock, make_a_lock])
def test_what_cannot_be_sent_is_told_and_kills_no_process(work: Any) -> None:
    with make_workers(2) as pool:
        assert pool is not None
        with pytest.raises((RuntimeError, TypeError), match=r"TwoArgumentError|lock"):
            pool.submit(work).result()
        (process,) = active_children()
        assert pool.submit(os.getpid).result() == process.pid


def test_a_process_that_is_killed_when_idle_is_replaced() -> None:
    with make_workers(2) as pool:
        assert pool is not None
        first = pool.submit(os.getpid).result()
        (process,) = active_children()
        os.kill(first, signal.SIGKILL)
        process.join()
        assert pool.submit(os.getpid).result() != first


def test_work_is_stopped_when_the_block_is_left_by_an_error() -> None:
    with pytest.raises(KeyError), make_workers(2) as pool:
        assert pool is not None
        pool.submit(time.sleep, 600)
        while not active_children():
            time.sleep(0.01)
        raise KeyError
    assert active_children() == []


def test_numbers_of_processes() -> None:
    assert count_cores() >= 1
    with pytest.raises(UsageError, match="the number of jobs must be positive, not 0"):
        check_count("jobs", 0)


def wait_then_return(number: int) -> int:
    time.sleep(0.2 if number == 0 else 0)
    return number


def test_the_order_is_that_of_the_tasks_whoever_ends_first() -> None:
    with make_workers(2) as pool:
        assert pool is not None
        assert list(pool.map(wait_then_return, range(4))) == [0, 1, 2, 3]


def test_a_process_that_is_killed_in_order() -> None:
    with pytest.raises(BrokenProcessPool, match="was killed"), make_workers(2) as pool:
        assert pool is not None
        list(pool.map(os._exit, [3]))


def test_a_process_that_a_signal_ends_in_order() -> None:
    with pytest.raises(BrokenProcessPool, match="was killed"), make_workers(2) as pool:
        assert pool is not None
        list(pool.map(sys.exit, [143]))


def hang_up(number: int) -> int:
    signal.raise_signal(signal.SIGHUP)
    return number


@pytest.mark.skipif(sys.platform == "win32", reason="no signals there")
def test_a_closed_terminal_is_for_the_process_that_started_the_others() -> None:
    with make_workers(2) as pool:
        assert pool is not None
        assert pool.submit(hang_up, 3).result() == 3


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
def test_only_ctrl_c_once_more_ends_what_still_keeps_its_work(
    tmp_path: Path, numbers: tuple[int, ...], is_kept: bool
) -> None:
    def interrupt() -> None:
        for number, mark in zip(numbers, ("working", "keeping"), strict=False):
            wait_for((tmp_path / mark).exists)
            os.kill(os.getpid(), number)

    sender = threading.Thread(target=interrupt)
    with pytest.raises((KeyboardInterrupt, SystemExit)), make_workers(2) as pool:
        assert pool is not None
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
def test_a_process_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes_module, "STOP_SECONDS", 0.1)
    with pytest.raises(SystemExit), make_workers(2) as pool:
        assert pool is not None
        pool.submit(ignore_signals, tmp_path)
        wait_for((tmp_path / "working").exists)
        raise SystemExit
    assert not active_children()
