"""Folders that processes share: gone at the end and, after a kill, at the next start."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sentprobe.scratch import PREFIX, scratch_folder

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
