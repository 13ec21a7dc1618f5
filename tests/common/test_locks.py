"""Locks of folders: the lock file names its holder, and waiting ends."""

import os
import platform
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common import scratch
from sentprobe.common.scratch import LOCK, hold_lock, read_holder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such locks")


class FakeTime:
    """A clock that moves when somebody sleeps; *on_sleep* receives the time."""

    def __init__(self, on_sleep: Callable[[float], None] = lambda _: None) -> None:
        self.now, self._on_sleep = 100.0, on_sleep

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds
        self._on_sleep(self.now - 100)


@contextmanager
def hold_until(folder: Path, *ends: float, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeTime]:
    """Hold the lock of a folder; at each of the times, the next holder replaces the last one."""
    stack, remaining = ExitStack(), [*ends]
    stack.enter_context(hold_lock(folder))

    def replace_holder(now: float) -> None:
        if remaining and now >= remaining[0]:
            remaining.pop(0)
            stack.close()
            if remaining:
                stack.enter_context(hold_lock(folder))

    clock = FakeTime(replace_holder)
    monkeypatch.setattr(scratch, "time", clock)
    with stack:
        yield clock


def test_the_holder_is_named(tmp_path: Path) -> None:
    with hold_lock(tmp_path, command="probe run compeval -o r"):
        assert read_holder(tmp_path) == f"process {os.getpid()} on {platform.node()}: probe run compeval -o r"
    with hold_lock(tmp_path):
        assert read_holder(tmp_path) == f"process {os.getpid()} on {platform.node()}"
    assert read_holder(tmp_path) == "another process"


@given(command=st.text(), leftover=st.binary(max_size=400))
def test_any_command_is_one_short_line(tmp_path_factory: pytest.TempPathFactory, command: str, leftover: bytes) -> None:
    folder = tmp_path_factory.mktemp("locked")
    (folder / LOCK).write_bytes(leftover)  # of a killed process
    with hold_lock(folder, command=command):
        holder = read_holder(folder)
    assert holder.startswith(f"process {os.getpid()} on ")
    assert len(holder) <= 300
    assert len(holder.splitlines()) == 1


def test_a_lock_that_is_released_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    lock = hold_lock(tmp_path, wait=60, report=reported.append)
    with hold_until(tmp_path, 30.0, monkeypatch=monkeypatch) as clock, lock as is_locked:
        assert is_locked
        assert 30 <= clock.now - 100 < 31
    assert len(reported) == 1
    assert reported[0].startswith(f"process {os.getpid()} on ")


def test_a_short_wait_is_not_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    lock = hold_lock(tmp_path, wait=60, report=reported.append)
    with hold_until(tmp_path, 0.5, monkeypatch=monkeypatch), lock as is_locked:
        assert (is_locked, reported) == (True, [])


@pytest.mark.parametrize("wait", [0.0, 0.01, 0.5, 60.0])
def test_waiting_ends(wait: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hold_until(tmp_path, monkeypatch=monkeypatch) as clock:
        with hold_lock(tmp_path, wait=wait) as is_locked:
            assert not is_locked
            assert clock.now - 100 == pytest.approx(wait, abs=0.03)
        assert (tmp_path / LOCK).exists()


def test_each_holder_has_the_whole_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = [40.0, 80.0, 120.0]
    with hold_until(tmp_path, *ends, monkeypatch=monkeypatch), hold_lock(tmp_path, wait=60) as is_locked:
        assert is_locked
    with hold_until(tmp_path, *ends, 200.0, monkeypatch=monkeypatch), hold_lock(tmp_path, wait=60) as is_locked:
        assert not is_locked
