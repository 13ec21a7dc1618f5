"""Temporary folders, removed at the end or, after a kill, at the next start; and locks of folders."""

import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe import cli
from sentprobe.common import scratch
from sentprobe.common.files import atomic_path, write_atomically
from sentprobe.common.scratch import (
    HOUR,
    LOCK,
    PREFIX,
    hold_lock,
    lock_file,
    make_part,
    make_scratch_folder,
    read_holder,
)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such locks")

KILLED = """
import time
from sentprobe.common.scratch import make_scratch_folder
with make_scratch_folder() as folder:
    (folder / "0.npy").write_bytes(b"0" * 9)
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def start_scratch() -> None:
    """Make a scratch folder, which removes what others left."""
    with make_scratch_folder():
        pass


def check_ages(left: Path, start: Callable[[], None], exists_by_age: Mapping[float, bool]) -> None:
    """Check whether a file or folder of each age, in seconds, is still there after a start."""
    for age, exists in exists_by_age.items():
        os.utime(left, (time.time() - age,) * 2)
        start()
        assert left.exists() == exists, age


def find_dead_process_id() -> int:
    """Return the id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait(timeout=60)
    return process.pid


def test_scratch_folder_is_removed(temporary: Path) -> None:
    with make_scratch_folder() as folder:
        assert folder.parent == temporary
        assert folder.name.startswith(f"{PREFIX}{os.getpid()}-")
        (folder / "x").touch()
    assert list(temporary.iterdir()) == []


def test_folder_of_killed_process_is_removed(temporary: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().decode().strip())
        with make_scratch_folder():
            assert left.is_dir()
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    assert left.parent == temporary
    assert (left / "0.npy").exists()
    with make_scratch_folder() as folder:
        assert list(temporary.iterdir()) == [folder]


def test_only_our_dead_folders_are_removed(temporary: Path) -> None:
    dead_id = find_dead_process_id()
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    kept_names = [
        f"{PREFIX}{os.getpid()}-abc",
        f"{PREFIX}{dead_id}",
        f"{PREFIX}mine-abc",
        f"sentprobe-another-machine-{dead_id}-abc",
        f"{dead_id}-abc",
    ]
    for name in [*kept_names, f"{PREFIX}{dead_id}-abc"]:
        (temporary / name).mkdir()
    (temporary / f"{PREFIX}{dead_id}-link").symlink_to(elsewhere)
    (temporary / f"{PREFIX}{dead_id}-file").touch()
    start_scratch()
    other_names = ["elsewhere", f"{PREFIX}{dead_id}-link", f"{PREFIX}{dead_id}-file"]
    assert {path.name for path in temporary.iterdir()} == {*kept_names, *other_names}


def test_folder_of_another_user_stays(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = temporary / f"{PREFIX}{find_dead_process_id()}-abc"
    left.mkdir()
    other_user = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other_user)
    start_scratch()
    assert left.is_dir()


def test_locked_folder_stays(temporary: Path) -> None:
    """Two containers may have one name and one temporary folder, and each its own processes."""
    live = temporary / f"{PREFIX}{find_dead_process_id()}-abc"
    live.mkdir()
    file = os.open(live, os.O_RDONLY)
    assert lock_file(file)
    check_ages(live, start_scratch, {0: True, time.time(): True})
    os.close(file)
    start_scratch()
    assert not live.is_dir()


@pytest.mark.parametrize("name", [PREFIX, "sentprobe-elsewhere-"])
def test_unseen_process_keeps_folder_an_hour(temporary: Path, name: str) -> None:
    left = temporary / f"{name}{os.getpid()}-abc"
    left.mkdir()
    check_ages(left, start_scratch, {0: True, HOUR - 60: True, HOUR + 60: False})


def test_without_locks_folders_stay_a_day(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "lock_file", lambda _, **__: None)
    left = temporary / f"{PREFIX}{find_dead_process_id()}-abc"
    left.mkdir()
    check_ages(left, start_scratch, {2 * HOUR: True, 25 * HOUR: False})


def make_part_path(folder: Path, name: str = "a.txt", machine: str = "01234567") -> Path:
    """Return the path of a half-written file of another machine."""
    return folder / f".{name}.sentprobe_{machine}_abcdefgh.part"


@pytest.mark.parametrize("folder", [False, True])
def test_half_written_part_stays_an_hour(tmp_path: Path, folder: bool) -> None:
    left = make_part_path(tmp_path)
    if folder:
        (left / "new").mkdir(parents=True)
        (left / "new" / "file").write_text("half")
    else:
        left.write_text("half")
    check_ages(left, lambda: write_again(tmp_path), {0: True, HOUR - 60: True, HOUR + 60: False})


def test_part_being_written_stays(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "a") as file_part, make_part(tmp_path / "b", folder=True) as folder_part:
        for path in (file_part, folder_part):
            os.utime(path, (0, 0))
        write_again(tmp_path)
        assert (file_part.is_file(), folder_part.is_dir()) == (True, True)


def test_unrelated_files_stay(tmp_path: Path) -> None:
    unrelated_names = [".a.txt.part", ".a.txt.abcdefgh.part", "a.sentprobe_01234567_abcdefgh.part", ".swp"]
    for name in unrelated_names:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    make_part_path(tmp_path, "link").symlink_to(tmp_path / ".swp")
    write_again(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*unrelated_names, make_part_path(tmp_path, "link").name, "x"}


def write_again(folder: Path) -> None:
    """Write a file there, as another process would."""
    scratch.remove_left_parts.cache_clear()
    write_atomically(folder / "x", "")


WRITING = """
import sys, time
from pathlib import Path
from sentprobe.cli import _prepare_streams_and_signals
from sentprobe.common.files import atomic_folder, atomic_path
from sentprobe.common.scratch import make_scratch_folder
_prepare_streams_and_signals()
place = Path(sys.argv[1])
with atomic_path(place / "a"), atomic_folder(place / "b") as folder, make_scratch_folder():
    (folder / "c").touch()
    print("ready", flush=True)
    for _ in range(600):  # a signal just before a long sleep would wait for its end
        time.sleep(0.1)
"""


def stop_writer(tmp_path: Path, number: signal.Signals, *before: str) -> int:
    """Start a process that writes, send it a signal, and return its exit status."""
    line = [*before, sys.executable, "-c", WRITING, str(tmp_path)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        return process.wait(timeout=60)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signal_leaves_nothing(temporary: Path, number: signal.Signals) -> None:
    assert stop_writer(temporary, number) == 128 + number
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_after_creation_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    def make_and_signal(**options: Any) -> tuple[int, str]:
        made = make_file(**options)
        signal.raise_signal(number)
        return made

    make_file = tempfile.mkstemp
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    monkeypatch.setattr(tempfile, "mkstemp", make_and_signal)
    try:
        with pytest.raises((KeyboardInterrupt, SystemExit)), make_part(tmp_path / "x"):
            pass
    finally:
        signal.signal(signal.SIGTERM, before)
    assert list(tmp_path.iterdir()) == []


def test_ignored_hangup_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGHUP is ignored under nohup."""
    before = {number: signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGTERM)}
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        monkeypatch.setattr(sys, "argv", ["gen", "--version"])
        with pytest.raises(SystemExit):
            cli.gen()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.slow
def test_hundred_kills_leave_nothing(temporary: Path) -> None:
    for _ in range(100):
        assert stop_writer(temporary, signal.SIGKILL) == -signal.SIGKILL
    assert stop_writer(temporary, signal.SIGTERM) == 128 + signal.SIGTERM
    assert list(temporary.iterdir()) == []


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


def test_lock_names_its_holder(tmp_path: Path) -> None:
    with hold_lock(tmp_path, command="probe run compeval -o r"):
        assert read_holder(tmp_path) == f"process {os.getpid()} on {platform.node()}: probe run compeval -o r"
    with hold_lock(tmp_path):
        assert read_holder(tmp_path) == f"process {os.getpid()} on {platform.node()}"
    assert read_holder(tmp_path) == "another process"


@given(command=st.text(), leftover=st.binary(max_size=400))
def test_lock_holder_is_one_short_line(tmp_path_factory: pytest.TempPathFactory, command: str, leftover: bytes) -> None:
    folder = tmp_path_factory.mktemp("locked")
    (folder / LOCK).write_bytes(leftover)  # of a killed process
    with hold_lock(folder, command=command):
        holder = read_holder(folder)
    assert holder.startswith(f"process {os.getpid()} on ")
    assert len(holder) <= 300
    assert len(holder.splitlines()) == 1


def test_released_lock_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    lock = hold_lock(tmp_path, wait=60, report=reported.append)
    with hold_until(tmp_path, 30.0, monkeypatch=monkeypatch) as clock, lock as is_locked:
        assert is_locked
        assert 30 <= clock.now - 100 < 31
    assert len(reported) == 1
    assert reported[0].startswith(f"process {os.getpid()} on ")


def test_short_wait_is_not_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    lock = hold_lock(tmp_path, wait=60, report=reported.append)
    with hold_until(tmp_path, 0.5, monkeypatch=monkeypatch), lock as is_locked:
        assert (is_locked, reported) == (True, [])


@pytest.mark.parametrize("wait", [0.0, 0.01, 0.5, 60.0])
def test_waiting_for_lock_ends(wait: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hold_until(tmp_path, monkeypatch=monkeypatch) as clock:
        with hold_lock(tmp_path, wait=wait) as is_locked:
            assert not is_locked
            assert clock.now - 100 == pytest.approx(wait, abs=0.03)
        assert (tmp_path / LOCK).exists()


def test_wait_starts_anew_for_each_holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = [40.0, 80.0, 120.0]
    with hold_until(tmp_path, *ends, monkeypatch=monkeypatch), hold_lock(tmp_path, wait=60) as is_locked:
        assert is_locked
    with hold_until(tmp_path, *ends, 200.0, monkeypatch=monkeypatch), hold_lock(tmp_path, wait=60) as is_locked:
        assert not is_locked
