"""How Hypothesis runs here: no deadlines, and under CI the same examples each time; fixtures.

The embedding cache of commands that are tested, here or in other processes, is a temporary one,
and another one for each process that runs tests.
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
from embedding_server import Server, serving
from gen_command import Gen, Outcome
from hypothesis import HealthCheck, settings
from in_process import Command, probe, run_command
from openai_client import SECRET
from shown_runs import a_first_run

# The first example of a test may load a lexicon and a grammar, on a machine with other work.
settings.register_profile("always", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("always"), derandomize=True, database=None)
everywhere = settings.get_profile("ci" if os.environ.get("CI") else "always")
# --hypothesis-profile=thorough, as in make test-slow, wins.
settings.register_profile("thorough", everywhere, max_examples=100)
settings.register_profile("quick", everywhere, max_examples=25)
settings.load_profile("quick")

# A shell's background job ignores Ctrl-C, and so would every command that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_cache = TemporaryDirectory(prefix="sentprobe-tests-")
os.environ["SENTPROBE_CACHE"] = _cache.name


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run ``probe`` in this process, as in a pipe; gives exit code, stdout and stderr."""
    monkeypatch.delenv("COLUMNS", raising=False)  # which pytest-xdist sets
    return partial(probe, monkeypatch=monkeypatch, capsys=capsys)


@pytest.fixture
def gen(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Gen:
    """Run ``gen`` in this process."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        return Outcome(*run_command("gen", *arguments, monkeypatch=monkeypatch, capture=capfd))

    return run


@pytest.fixture
def server() -> Iterator[Server]:
    """An endpoint of the OpenAI kind on loopback."""
    with serving() as made:
        yield made


@pytest.fixture
def openai_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a key, and no proxies."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A run directory with results of two encoders."""
    return a_first_run(tmp_path)


def pytest_collection_finish() -> None:
    """Spare the garbage collector what was imported: it stays, and is most of what there is."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


def pytest_unconfigure() -> None:
    _cache.cleanup()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their parameter: packed ones have a time in them, and no two runs agree."""
    return argname if isinstance(val, bytes) else None
