"""Limits of memory and of file handles, closed streams, and a working folder that was deleted."""

import errno
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.processes import ENVIRONMENT

from sentprobe.commands.shared.interruption import describe_failure

resource = pytest.importorskip("resource")

SENTPROBE = (sys.executable, "-m", "sentprobe")
SMALL_RUN = "run compeval --task Order --train 56 --test 28 -e bow?dim=4 --set max_epochs=1 --no-cache --jobs 2"


def run_limited(
    line: str, folder: Path, *, limits: dict[int, int] | None = None, prepare: Callable[[], None] = lambda: None
) -> subprocess.CompletedProcess[str]:
    """Run a command under limits of the system, by their number in ``resource``."""

    def set_limits() -> None:
        for name, limit in (limits or {}).items():
            resource.setrlimit(name, (limit, limit))
        prepare()

    return subprocess.run(
        [*SENTPROBE, *line.split()], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False,
        preexec_fn=set_limits, timeout=300,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "not enough memory; reduce the size of the work"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "not enough memory; reduce the size of the work"),
        (RuntimeError("can't start new thread"), "not enough memory; reduce the size of the work"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to"), "not enough memory; reduce the "),
        (ImportError("libarrow.so: failed to map segment from shared object"), "not enough memory; reduce the "),
        (OSError(errno.EMFILE, "Too many open files"), "too many open files; raise the limit (ulimit -n)"),
        (OSError(errno.EMFILE, "Too many", "a/b"), "a/b: too many open files; raise the limit (ulimit -n)"),
        (OSError(errno.ENOSPC, "No space left on device"), "standard output: No space left on device"),
        (OSError(errno.EACCES, "Permission denied", "a/b"), "a/b: Permission denied"),
        (OSError(errno.ENOENT, "No such file or directory"), "No such file or directory"),
    ],
)
def test_the_message_of_a_failure(error: Exception, message: str) -> None:
    described = describe_failure(error)
    assert described is not None
    assert described.startswith(message)


@pytest.mark.parametrize(
    "error", [RuntimeError("shapes differ"), ImportError("no module named a"), ValueError("bad_alloc.txt")]
)
def test_other_errors_are_left_to_python(error: Exception) -> None:
    assert describe_failure(error) is None


@pytest.mark.parametrize("handles", [8, 12])
def test_too_few_file_handles(tmp_path: Path, handles: int) -> None:
    done = run_limited(f"{SMALL_RUN} -o run", tmp_path, limits={resource.RLIMIT_NOFILE: handles})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].startswith("sentprobe: ")
    assert "too many open files" in done.stderr.splitlines()[-1].lower()
    assert "Traceback" not in done.stderr
    assert "standard output" not in done.stderr


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has no limit of the address space")
def test_too_little_memory(tmp_path: Path) -> None:
    """The numbers of so many sentences alone fill four gigabytes."""
    line = "gen --template transitive-rc -n 500000000 --out sentences.txt"
    done = run_limited(line, tmp_path, limits={resource.RLIMIT_AS: 1_000_000 * 1024})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == "sentprobe: not enough memory; reduce the size of the work"
    assert [*tmp_path.iterdir()] == []


CLOSE = "import os, sys; os.close(2); os.execv(sys.executable, [sys.executable, '-m', 'sentprobe', *sys.argv[1:]])"


@pytest.mark.parametrize("line", ["gen --template nope", "gen --nope", "gen --lexicon none.toml"])
def test_a_closed_stderr_sends_errors_nowhere(tmp_path: Path, line: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CLOSE, *line.split()], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")


def test_no_file_takes_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    """A library that writes to the number of stderr must not write into an output file."""
    code = """
import os, sys
os.close(2), os.close(0)
sys.stderr = sys.stdin = None
from sentprobe.commands.shared.interruption import open_missing_streams
open_missing_streams()
print(open('a.txt', 'w').fileno() > 2, sys.stderr is not None)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.stdout == "True True\n"


@pytest.mark.parametrize("line", ["gen -n 2 --out a.txt", "show run", f"{SMALL_RUN} -o run"])
def test_a_deleted_working_folder_is_named(tmp_path: Path, line: str) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    done = run_limited(line, folder, prepare=folder.rmdir)
    assert done.returncode in {1, 2}
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].endswith(" (the working folder has been deleted)")
    assert "Traceback" not in done.stderr
