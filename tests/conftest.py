"""Settings of Hypothesis (no deadlines; under CI the same examples each time), and fixtures.

Tested commands, here or in other processes, use a temporary embedding cache. Each test process has its own.
"""

import gc
import io
import os
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from helpers.encoders.embedding_server import Server, start_server
from helpers.encoders.openai_client import SECRET
from helpers.gen_command import Gen, Outcome
from helpers.in_process import Command, probe, run_command
from helpers.runs.shown_runs import write_first_run
from hypothesis import HealthCheck, settings
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

# The first example of a test may load a lexicon and a grammar, on a machine with other work.
settings.register_profile("always", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("always"), derandomize=True, database=None)
default_settings = settings.get_profile("ci" if os.environ.get("CI") else "always")
# --hypothesis-profile=thorough, as in make test-slow, wins.
settings.register_profile("thorough", default_settings, max_examples=50)
settings.register_profile("quick", default_settings, max_examples=10)
settings.load_profile("quick")

# In a shell's background job Ctrl-C is ignored, and under nohup SIGHUP; tests start processes that need them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("SIGHUP", "SIGTERM"):
    number = getattr(signal, name, None)  # Windows has no SIGHUP
    if number is not None and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)  # a started process does not inherit it

_cache = TemporaryDirectory(prefix="sentprobe-tests-")
os.environ["SENTPROBE_CACHE"] = _cache.name


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run ``probe`` in this process, as in a pipe; return exit code, stdout and stderr."""
    monkeypatch.delenv("COLUMNS", raising=False)  # set by pytest-xdist
    return partial(probe, monkeypatch=monkeypatch, capsys=capsys)


@pytest.fixture
def run_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a program, which the first argument names, in this process; return exit code, stdout and stderr."""
    return partial(run_command, monkeypatch=monkeypatch, capture=capsys)


@pytest.fixture
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder of a test, which is the working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def gen(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Gen:
    """Run ``gen`` in this process."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        return Outcome(*run_command("gen", *arguments, monkeypatch=monkeypatch, capture=capfd))

    return run


class TextFile(SingleFileSnapshotExtension):
    """A snapshot in a text file of its own, under ``__snapshots__``; ``pytest --snapshot-update`` writes it anew."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def stored_text(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Equal to a text if the stored text of this test, a file, is the same."""
    return snapshot.use_extension(TextFile)


@pytest.fixture
def server() -> Iterator[Server]:
    """A local server with OpenAI's interface."""
    with start_server() as running_server:
        yield running_server


@pytest.fixture
def openai_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a key and unset proxies."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A run directory with results of two encoders."""
    return write_first_run(tmp_path)


def pytest_collection_finish() -> None:
    """Exempt imported modules from garbage collection, which would take most of its time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


def pytest_unconfigure() -> None:
    _cache.cleanup()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their parameter: compressed bytes contain a time, which would change ids."""
    return argname if isinstance(val, bytes) else None
