"""Ctrl-C: each command prints which work is kept, and how to resume."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.processes import ENVIRONMENT

from sentprobe import cli
from sentprobe.commands import build
from sentprobe.commands.shared.interruption import describe_kept_work
from sentprobe.probes.results.store import prepare_directory
from sentprobe.probes.runs import run as runs

GOES_ON = "the same command resumes from there"


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--out", "r"], "no probe is finished, so only sentence vectors in the cache are kept"),
        (["--out", "r", "--no-cache"], "no probe is finished, so nothing is kept"),
        (["--out", "kept"], f"finished work is kept in kept; {GOES_ON}"),
        ([], "only sentence vectors in the cache are kept; use --out to keep results and resume "
             "a run"),
        (["--no-cache"], "nothing is kept; use --out to keep results and resume a run"),
    ],
)  # fmt: skip
def test_a_run(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, options: list[str], kept: str
) -> None:
    monkeypatch.chdir(tmp_path)
    prepare_directory(Path("r"), "seed = 1\n")
    prepare_directory(Path("kept"))
    Path("kept/result.json").touch()
    monkeypatch.setattr(runs, "execute_request", interrupt)
    assert command("run", "compeval", *options) == (130, "", f"probe: stopped; {kept}\n")


def test_a_build(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "build_into", interrupt)
    message = f"finished datasets are in {tmp_path}; the same command rebuilds all"
    stopped = (130, "", f"probe: stopped; {message} datasets\n")
    assert command("build", "compeval", "--out", tmp_path) == stopped


@pytest.mark.parametrize(
    ("options", "kept"),
    [([], f"finished vectors are in the cache; {GOES_ON}"), (["--no-cache"], "nothing is kept with --no-cache")],
)
def test_embedding(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, options: list[str], kept: str
) -> None:
    monkeypatch.setattr("sentprobe.probes.encoders.embedding.embed", interrupt)
    (tmp_path / "in.txt").write_text("the man slept\n")
    arguments = ("embed", tmp_path / "in.txt", "--encoder", "bow", "--out", tmp_path / "v.npz")
    code, out, err = command(*arguments, *options)
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == f"probe: stopped; {kept}"


def test_a_second_interruption_while_the_first_is_reported(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_an_interruption_at_exit_has_no_traceback() -> None:
    line = [sys.executable, "-c", INTERRUPTED_AT_EXIT]
    done = subprocess.run(line, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "probe: none: no such folder of results\n"


@pytest.mark.parametrize("name", ["r.json", "geometry/g.json", "work/chunk-0.arrow"])
def test_what_is_kept_is_found_in_the_folder(name: str, tmp_path: Path) -> None:
    nothing = "no part of the work is finished: nothing is kept"
    assert describe_kept_work(tmp_path / "none") == nothing
    prepare_directory(tmp_path, "seed = 1\n")
    (tmp_path / "table.json").touch()  # of a table that --force replaces
    assert describe_kept_work(tmp_path) == nothing
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    assert describe_kept_work(tmp_path) == f"finished work is kept in {tmp_path}; {GOES_ON}"


class SignalInDestructor:
    """Sends a signal to its process when it is deleted; Python drops exceptions that are raised there."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __del__(self) -> None:
        signal.raise_signal(self._number)
        sum(range(1000))


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system cannot send a signal to a thread")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_a_destructor_drops_is_repeated(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(sys, "unraisablehook", cli._report_unraisable)
    before = signal.signal(signal.SIGTERM, cli._exit_on_signal)
    try:
        with pytest.raises((SystemExit, KeyboardInterrupt)):
            del_now = SignalInDestructor(number)
            del del_now
            time.sleep(60)
    finally:
        signal.signal(signal.SIGTERM, before)
