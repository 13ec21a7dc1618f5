"""Number of PyTorch threads in encoding and in training."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.in_process import Command
from helpers.strategies.probe_strategies import make_learnable_dataset
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common import processes
from sentprobe.common.processes import choose_jobs, limit_threads
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.runs.run import run

FAST = override(find_preset("ettinger"), [("max_epochs", "1")])


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@given(st.one_of(st.none(), st.integers(1, 4)))
def test_threads_are_limited_for_a_while(count: int | None) -> None:
    before = torch.get_num_threads()
    with limit_threads(count):
        assert torch.get_num_threads() == (count or before)
    assert torch.get_num_threads() == before


def test_threads_are_restored_after_an_error() -> None:
    with pytest.raises(KeyError), limit_threads(1):
        raise KeyError
    assert torch.get_num_threads() == 2


@given(st.integers(1, 300), st.one_of(st.none(), st.integers(1, 400)))
def test_default_threads_fit_cores(cores: int, threads: int | None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "count_cores", lambda: cores)
        jobs = choose_jobs(threads)
    threads_per_job = threads or 1
    assert jobs == 1 or jobs * threads_per_job <= cores
    assert (jobs + 1) * threads_per_job > cores


class ThreadSpy:
    """An encoder that records the number of threads."""

    name = "spy"
    fingerprint = ""

    def __init__(self) -> None:
        self.threads: set[int] = set()

    def encode(self, sentences: Sequence[str]) -> Vectors:
        self.threads.add(torch.get_num_threads())
        return np.ones((len(sentences), 2), dtype=np.float32)


@pytest.mark.parametrize(("threads", "seen"), [(None, 2), (1, 1), (3, 3)])
def test_encoding_uses_given_threads(threads: int | None, seen: int) -> None:
    spy = ThreadSpy()
    data = [make_learnable_dataset(name="one", size=40)]
    run(data, [spy], preset=FAST, encoding_threads=threads, controls=False)
    assert spy.threads == {seen}


MODULE = """
import numpy as np
import torch

def encode(sentences):
    print("threads:", torch.get_num_threads())
    return np.ones((len(sentences), 2), dtype=np.float32)
"""


@pytest.mark.parametrize("subcommand", ["run", "embed"])
def test_commands_take_threads(
    subcommand: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "threadspy.py").write_text(MODULE)
    write_dataset(make_learnable_dataset(name="one", size=40), tmp_path / "one.jsonl")
    more = {"run": ("--set", "max_epochs=1", "--jobs", "1", "--no-controls"), "embed": ("--out", "x.npz")}[subcommand]
    request = (subcommand, "one.jsonl", "--encoder", "python:threadspy:encode", "--no-cache", *more)
    for option, seen in (((), 2), (("--threads", "1"), 1)):
        code, stdout, _ = command(*request, *option)
        assert code == 0
        assert f"threads: {seen}\n" in stdout


@pytest.mark.parametrize("subcommand", ["run", "embed"])
def test_zero_threads_are_refused(subcommand: str, tmp_path: Path, command: Command) -> None:
    write_dataset(make_learnable_dataset(name="one", size=40), tmp_path / "one.jsonl")
    more = ("--out", tmp_path / "x.npz") if subcommand == "embed" else ()
    request = (subcommand, tmp_path / "one.jsonl", "--encoder", "bow?dim=4", *more, "--threads", "0")
    code, _, stderr = command(*request)
    assert (code, stderr) == (2, "probe: the number of threads must be positive, not 0\n")
