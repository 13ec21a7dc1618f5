"""Ctrl-C, limits of memory and of file handles, closed streams, and a deleted working folder."""

import errno
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.in_process import Command, check_refusal
from helpers.processes import ENVIRONMENT

from sentprobe import cli
from sentprobe.commands.shared.interruption import describe_failure, describe_kept_work
from sentprobe.probes.results.store import prepare_directory

RESUMES = "the same command resumes from there"


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


NO_RUN = "no probe is finished, so"
EMBED = "embed in.txt --encoder bow --out v.npz"


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("run compeval --out r", f"{NO_RUN} only sentence vectors in the cache are kept"),
        ("run compeval --out r --no-cache", f"{NO_RUN} nothing is kept"),
        ("run compeval --out kept", f"finished work is kept in kept; {RESUMES}"),
        ("run compeval", "only sentence vectors in the cache are kept; use --out to keep results and resume a run"),
        ("run compeval --no-cache", "nothing is kept; use --out to keep results and resume a run"),
        ("build compeval --out sets", "finished datasets are in sets; the same command rebuilds all datasets"),
        (EMBED, f"finished vectors are in the cache; {RESUMES}"),
        (f"{EMBED} --no-cache", "nothing is kept with --no-cache"),
    ],
)
def test_interrupted_command_names_kept_work(
    line: str, kept: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_directory(Path("r"), "seed = 1\n")
    prepare_directory(Path("kept"))
    Path("kept/result.json").touch()
    Path("in.txt").write_text("the man slept\n")
    for function in (
        "sentprobe.probes.runs.run.execute_request",
        "sentprobe.commands.build.build_into",
        "sentprobe.probes.encoders.embedding.embed",
    ):
        monkeypatch.setattr(function, interrupt)
    check_refusal(command(*line.split()), f"probe: stopped; {kept}", 130, progress=line.startswith("embed"))


def test_second_interruption_during_report(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = iter([KeyboardInterrupt()])

    def interrupt_once(*texts: object, **named: object) -> None:
        for error in lines:
            raise error
        print(*texts, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(cli, "print", interrupt_once, raising=False)
    assert command("show", "none") == (130, "", "probe: stopped\n")


INTERRUPTED_AT_EXIT = """
import atexit, signal, sys
from sentprobe.cli import probe

class Freed:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

atexit.register(signal.raise_signal, signal.SIGINT)
atexit.register(Freed)
sys.argv = ["probe", "show", "none"]
probe()
"""


def test_interruption_at_exit_has_no_traceback() -> None:
    line = [sys.executable, "-c", INTERRUPTED_AT_EXIT]
    done = subprocess.run(line, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "probe: none: no such folder of results\n"


@pytest.mark.parametrize("name", ["r.json", "geometry/g.json", "work/chunk-0.arrow"])
def test_kept_work_is_found_in_folder(name: str, tmp_path: Path) -> None:
    nothing = "no part of the work is finished: nothing is kept"
    assert describe_kept_work(tmp_path / "none") == nothing
    prepare_directory(tmp_path, "seed = 1\n")
    (tmp_path / "table.json").touch()  # of a table that --force replaces
    assert describe_kept_work(tmp_path) == nothing
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    assert describe_kept_work(tmp_path) == f"finished work is kept in {tmp_path}; {RESUMES}"


class SignalInDestructor:
    """Sends a signal to its process when it is deleted; Python drops exceptions that are raised there."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __del__(self) -> None:
        signal.raise_signal(self._number)
        sum(range(1000))


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system cannot send a signal to a thread")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_in_destructor_is_repeated(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(sys, "unraisablehook", cli._report_unraisable)
    before = signal.signal(signal.SIGTERM, cli._exit_on_signal)
    try:
        with pytest.raises((SystemExit, KeyboardInterrupt)):
            del_now = SignalInDestructor(number)
            del del_now
            time.sleep(60)
    finally:
        signal.signal(signal.SIGTERM, before)


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
def test_message_of_a_failure(error: Exception, message: str) -> None:
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
    """The numbers of these sentences alone fill four gigabytes."""
    line = "gen --template transitive-rc -n 500000000 --out sentences.txt"
    done = run_limited(line, tmp_path, limits={resource.RLIMIT_AS: 1_000_000 * 1024})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == "sentprobe: not enough memory; reduce the size of the work"
    assert [*tmp_path.iterdir()] == []


CLOSE = "import os, sys; os.close(2); os.execv(sys.executable, [sys.executable, '-m', 'sentprobe', *sys.argv[1:]])"


@pytest.mark.parametrize("line", ["gen --template nope", "gen --nope", "gen --lexicon none.toml"])
def test_closed_stderr_sends_errors_nowhere(tmp_path: Path, line: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CLOSE, *line.split()], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")


def test_file_does_not_replace_closed_stream(tmp_path: Path) -> None:
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
def test_deleted_working_folder_is_named(tmp_path: Path, line: str) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    done = run_limited(line, folder, prepare=folder.rmdir)
    assert done.returncode in {1, 2}
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].endswith(" (the working folder has been deleted)")
    assert "Traceback" not in done.stderr
