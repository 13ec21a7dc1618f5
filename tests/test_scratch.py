"""Folders that processes share: gone at the end and, after a kill, at the next start."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from sentprobe import cli, scratch
from sentprobe.files import atomic_path, write_atomically
from sentprobe.locks import take
from sentprobe.scratch import HOUR, PREFIX, part_of, scratch_folder

KILLED = """
import time
from sentprobe.scratch import scratch_folder
with scratch_folder() as folder:
    (folder / "0.npy").write_bytes(b"0" * 9)
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def dead() -> int:
    """The id of a process that is no more."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait(timeout=60)
    return process.pid


def test_it_is_there_and_then_not(temporary: Path) -> None:
    with scratch_folder() as folder:
        assert folder.parent == temporary
        assert folder.name.startswith(f"{PREFIX}{os.getpid()}-")
        (folder / "x").touch()
    assert list(temporary.iterdir()) == []


def test_what_a_killed_process_left_goes_at_the_next_start(temporary: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().decode().strip())
        with scratch_folder():
            assert left.is_dir()
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    assert left.parent == temporary
    assert (left / "0.npy").exists()
    with scratch_folder() as folder:
        assert list(temporary.iterdir()) == [folder]


def test_only_folders_of_ours_and_of_dead_processes_go(temporary: Path) -> None:
    gone = dead()
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    kept = [
        f"{PREFIX}{os.getpid()}-abc",
        f"{PREFIX}{gone}",
        f"{PREFIX}mine-abc",
        f"sentprobe-another-machine-{gone}-abc",
        f"{gone}-abc",
    ]
    for name in [*kept, f"{PREFIX}{gone}-abc"]:
        (temporary / name).mkdir()
    (temporary / f"{PREFIX}{gone}-link").symlink_to(elsewhere)
    (temporary / f"{PREFIX}{gone}-file").touch()
    with scratch_folder():
        pass
    more = ["elsewhere", f"{PREFIX}{gone}-link", f"{PREFIX}{gone}-file"]
    assert {each.name for each in temporary.iterdir()} == {*kept, *more}


def test_a_folder_of_another_user_stays(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = temporary / f"{PREFIX}{dead()}-abc"
    left.mkdir()
    other = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other)
    with scratch_folder():
        assert left.is_dir()


def test_what_is_locked_stays_whatever_process_has_its_number(temporary: Path) -> None:
    """Two containers may have one name and one temporary folder, and each its own processes."""
    live = temporary / f"{PREFIX}{dead()}-abc"
    live.mkdir()
    file = os.open(live, os.O_RDONLY)
    assert take(file)
    with scratch_folder():
        assert live.is_dir()
    os.utime(live, (0, 0))
    with scratch_folder():
        assert live.is_dir()
    os.close(file)
    with scratch_folder():
        assert not live.is_dir()


@pytest.mark.parametrize("name", [PREFIX, "sentprobe-elsewhere-"])
def test_what_may_be_of_a_process_that_cannot_be_seen_goes_after_an_hour(
    temporary: Path, name: str
) -> None:
    left = temporary / f"{name}{os.getpid()}-abc"
    left.mkdir()
    for age, there in ((0.0, True), (HOUR - 60, True), (HOUR + 60, False)):
        os.utime(left, (time.time() - age,) * 2)
        with scratch_folder():
            assert left.is_dir() == there


def test_without_locks_only_what_is_a_day_old_goes(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "take", lambda _, **__: None)
    left = temporary / f"{PREFIX}{dead()}-abc"
    left.mkdir()
    for age, there in ((2 * HOUR, True), (25 * HOUR, False)):
        os.utime(left, (time.time() - age,) * 2)
        with scratch_folder():
            assert left.is_dir() == there


def part(folder: Path, name: str = "a.txt", machine: str = "01234567") -> Path:
    """What another machine left half-written."""
    return folder / f".{name}.sentprobe_{machine}_abcdefgh.part"


@pytest.mark.parametrize("folder", [False, True])
def test_what_is_half_written_and_nobodys_goes_after_an_hour(tmp_path: Path, folder: bool) -> None:
    left = part(tmp_path)
    if folder:
        (left / "new").mkdir(parents=True)
        (left / "new" / "file").write_text("half")
    else:
        left.write_text("half")
    for age, there in ((0.0, True), (HOUR - 60, True), (HOUR + 60, False)):
        os.utime(left, (time.time() - age,) * 2)
        write_anew(tmp_path)
        assert left.exists() == there


def test_what_is_being_written_stays_however_old(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "a") as mine, part_of(tmp_path / "b", folder=True) as other:
        for path in (mine, other):
            os.utime(path, (0, 0))
        write_anew(tmp_path)
        assert (mine.is_file(), other.is_dir()) == (True, True)


def test_nothing_else_goes(tmp_path: Path) -> None:
    others = [".a.txt.part", ".a.txt.abcdefgh.part", "a.sentprobe_01234567_abcdefgh.part", ".swp"]
    for name in others:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    part(tmp_path, "link").symlink_to(tmp_path / ".swp")
    write_anew(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*others, part(tmp_path, "link").name, "x"}


def write_anew(folder: Path) -> None:
    """Write a file there, as another process would."""
    scratch.sweep.cache_clear()
    write_atomically(folder / "x", "")


WRITING = """
import sys, time
from pathlib import Path
from sentprobe.cli import _prepare
from sentprobe.files import atomic_folder, atomic_path
from sentprobe.scratch import scratch_folder
_prepare()
place = Path(sys.argv[1])
with atomic_path(place / "a"), atomic_folder(place / "b") as folder, scratch_folder():
    (folder / "c").touch()
    print("ready", flush=True)
    time.sleep(60)
"""


def stopped(tmp_path: Path, number: signal.Signals, *before: str) -> int:
    """Have a process write, and send it a signal; return how it ended."""
    line = [*before, sys.executable, "-c", WRITING, str(tmp_path)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        return process.wait(timeout=60)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_a_process_leaves_nothing(
    temporary: Path, number: signal.Signals
) -> None:
    assert stopped(temporary, number) == 128 + number
    assert list(temporary.iterdir()) == []


def test_where_a_hangup_is_ignored_it_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """As under nohup."""
    before = {each: signal.getsignal(each) for each in (signal.SIGHUP, signal.SIGTERM)}
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        monkeypatch.setattr(sys, "argv", ["gen", "--version"])
        with pytest.raises(SystemExit):
            cli.gen()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@pytest.mark.slow
def test_none_is_left_after_a_hundred_kills_and_reruns(temporary: Path) -> None:
    for _ in range(100):
        assert stopped(temporary, signal.SIGKILL) == -signal.SIGKILL
    assert stopped(temporary, signal.SIGTERM) == 128 + signal.SIGTERM
    assert list(temporary.iterdir()) == []
