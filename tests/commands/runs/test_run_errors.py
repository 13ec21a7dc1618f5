"""Errors of the command ``probe run``."""

import os
import platform
import sys
from pathlib import Path

import pytest
from helpers.clusters import DASK
from helpers.in_process import Command
from helpers.shared import ROOT
from helpers.strategies.probe_strategies import make_learnable_dataset

from sentprobe.common import engines
from sentprobe.common.errors import ResultsError, UsageError, format_install
from sentprobe.common.scratch import hold_lock
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.results.store import lock_directory
from sentprobe.probes.runs.suite_options import ItemOptions
from sentprobe.probes.runs.targets import find_targets

TINY = ("--train", "56", "--test", "28", "--set", "max_epochs=2", "--jobs", "1", "--no-cache")
BOW = ("--encoder", "bow?dim=8")
FAST = ("--set", "max_epochs=2", "--jobs", "1", "--no-cache")


BAD: list[tuple[list[str], int, str]] = [
    (["compevel"], 2, "there is no suite 'compevel' (did you mean 'compeval'?)"),
    (["compeval", "--encoder", "bwo"], 2, "unknown encoder 'bwo' (did you mean 'bow'?)"),
    (["compeval", "--encoder", "st"], 2, "encoder 'st' wants an argument"),
    (["compeval", "--encoder", "bow?dmi=3"], 2, "bow has no option 'dmi' (did you mean 'dim'?)"),
    (["compeval", *BOW, *BOW], 2, "encoder 'bow?dim=8' is given twice"),
    (["compeval", "--encoder", "bow:none.txt"], 2, "none.txt: cannot read the word vectors: No"),
    (["compeval", "--encoder", "st:./none"], 2, "there is no such directory"),
    (["compeval", "--task", "Ordr"], 2, "no compeval task 'Ordr' (did you mean 'Order'?)"),
    (["compeval", "--task", "Order", "--task", "Order"], 2, "task 'Order' is given twice"),
    (["compeval", "--preset", "etinger"], 2, "unknown preset 'etinger' (did you mean 'ettinger'?)"),
    (["compeval", "--set", "batches=3"], 2, "no option 'batches' (did you mean 'batch'?)"),
    (["compeval", "--set", "batch"], 2, "option 'batch' is not of the form key=value"),
    (["compeval", "--set", "batch=many"], 2, "batch=many: a whole number from 1 is expected"),
    (["compeval", "--vocabulary", "engilsh"], 2, "did you mean 'english'?"),
    (["compeval", "--train", "0"], 2, "must be a positive multiple of 4"),
    (["compeval", "--test", "-4"], 2, "must be a positive multiple of 4"),
    (["compeval", "--train", "401"], 2, "must be a positive multiple of 4"),
    (["compeval", "--train", "402"], 2, "Content1Probe: the number of train items must be"),
    (["compeval", "--seeds", "0"], 2, "the number of seeds must be positive, not 0"),
    (["compeval", "--threads", "0"], 2, "the number of threads must be positive, not 0"),
    (["compeval", "--sampling", "papr"], 2, "no sampling 'papr' (did you mean 'paper'?)"),
    (["compeval", "--validation", "3"], 2, "must be a positive multiple of 4"),
    (["compeval", "compeval"], 2, "target 'compeval' is given twice"),
    (["no/such/file"], 2, "there is no suite 'no/such/file', nor such a file or directory"),
    ([str(ROOT / "pyproject.toml")], 1, "pyproject.toml: not a dataset in a known format"),
    ([str(ROOT / "tests")], 2, "tests: there is no dataset in it"),
    (["compeval", "--jobs", "0"], 2, "the number of jobs must be positive, not 0"),
    (["compeval", "--engine", "spark"], 2, "there is no engine 'spark'; known: local, dask"),
    (["compeval", "--engine", "dask"], 2, "--engine dask and --scheduler tcp://HOST:PORT need each"),
    (["compeval", "--scheduler", "tcp://x:1"], 2, "--engine dask and --scheduler tcp://HOST:PORT"),
    (["compeval", "--engine", "dask", "--scheduler", "x"], 2, "--scheduler tcp://HOST:PORT is expected, not 'x'"),
    (["compeval", "--device", "gpu"], 2, "unknown device 'gpu' (did you mean 'cuda'?); known: auto, cpu, cuda, mps"),
    (["compeval", "--device", "cuda:99"], 2, "device 'cuda:99' cannot be used: "),
    (["compeval", "--device", "meta"], 2, "unknown device 'meta'; known: auto"),
    (["compeval", "--words", "9"], 2, "--words is for the suite natural, not for compeval"),
    (["compeval", "--odd-band", "4-40"], 2, "--odd-band is for the suite natural, not for comp"),
    (["compeval", "--first-rank", "3"], 2, "--first-rank is for the suite natural"),
    (["compeval", "--sequences", "9"], 2, "--sequences is for the suite natural"),
    (["compeval", "--lexicon", "none.toml"], 2, "none.toml: cannot read the lexicon: No"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), BAD, ids=[text for *_, text in BAD])
def test_refused_request(arguments: list[str], code: int, message: str, command: Command) -> None:
    got, stdout, stderr = command("run", *arguments)
    check_refusal(got, stdout, stderr, code=code, message=message)


def test_paper_sampling_balances_in_twos() -> None:
    find_targets(["compeval"], items=ItemOptions(train=402, sampling="paper"))
    with pytest.raises(UsageError, match="must be a positive multiple of 4"):
        find_targets(["compeval"], items=ItemOptions(train=402, sampling="mirror"))


def check_refusal(got: int, stdout: str, stderr: str, *, code: int, message: str) -> None:
    last = stderr.splitlines()[-1]
    assert (got, stdout) == (code, "")
    assert last.startswith("probe: ")
    assert message in last
    assert "Traceback" not in stderr


@pytest.mark.parametrize("what", [("run",), ("build", "-o", "sets")])
def test_too_few_items_for_every_task(
    what: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    tasks = ("--task", "Content2Probe", "--task", "Order", "--task", "SemRole")
    got, stdout, stderr = command(what[0], "compeval", *tasks, "--train", "4", *what[1:])
    assert (got, stdout) == (2, "")
    assert "probe: 3 of 3 tasks could not be built:\n" in stderr
    assert stderr.count("too few training items for every probe word") == 3
    assert "Traceback" not in stderr


def test_no_gpu(command: Command) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    got, stdout, stderr = command("run", "compeval", "--device", "cuda")
    check_refusal(got, stdout, stderr, code=2, message="device 'cuda' cannot be used: ")


CLUSTER = ("run", "compeval", *BOW, "--engine", "dask", "--scheduler", "tcp://127.0.0.1:1")


def test_dask_is_an_extra(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, stderr = command(*CLUSTER)
    expected = f"probe: this needs Dask, which is not installed: {format_install('dask')}\n"
    assert (code, stderr) == (1, expected)


@DASK
@pytest.mark.filterwarnings("ignore")
def test_no_scheduler_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    """It is said before anything is built or written."""
    monkeypatch.setattr(engines, "CONNECT_SECONDS", 0.5)
    code, stdout, stderr = command(*CLUSTER, "--out", tmp_path / "results")
    assert (code, stdout) == (1, "")
    assert stderr.startswith("probe: no Dask scheduler answers at tcp://127.0.0.1:1: ")
    assert stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_out_is_not_ours(tmp_path: Path, command: Command) -> None:
    thesis = tmp_path / "thesis.tex"
    thesis.write_text("done")
    for out, message in (
        (thesis, "cannot write results here: "),
        (tmp_path, "not empty, and not a directory of sentprobe's results"),
    ):
        got, stdout, stderr = command(
            "run", "compeval", *TINY, *BOW, "--out", str(out))  # fmt: skip
        check_refusal(got, stdout, stderr, code=2, message=message)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    assert thesis.read_text() == "done"


IDLE = {
    ("--vocabulary", "compeval"): "suite compeval or structure",
    ("-v", "compeval"): "suite compeval or structure",
    ("--lexicon", "mine.toml"): "suite compeval or structure",
    ("--sampling", "mirror"): "suite compeval, structure or natural",
    ("--train", "4000"): "suite compeval, structure or natural",
    ("--test", "56"): "suite compeval, structure or natural",
    ("--validation", "0"): "suite compeval, structure or natural",
    ("--frequency-band", "100-5000"): "suite natural",
    ("--words", "9"): "suite natural",
}


@pytest.mark.parametrize(("option", "whose"), IDLE.items(), ids=[name for name, _ in IDLE])
def test_an_option_that_would_do_nothing_for_datasets(
    option: tuple[str, str], whose: str, tmp_path: Path, command: Command
) -> None:
    path = tmp_path / "one.jsonl"
    write_dataset(make_learnable_dataset(name="one", size=40), path)
    got = command("run", str(path), *FAST, *BOW, *option)
    name = "--vocabulary" if option[0] == "-v" else option[0]
    check_refusal(*got, code=2, message=f"{name} is for the {whose}, not for {path}")


def test_a_lock_of_another_process_is_waited_for_and_named(tmp_path: Path, command: Command) -> None:
    write_dataset(make_learnable_dataset(name="one", size=40), tmp_path / "one.jsonl")
    out = tmp_path / "results"
    line = ("run", tmp_path / "one.jsonl", *FAST, *BOW, "--no-controls", "--out", out)
    out.mkdir()
    with hold_lock(out):
        code, stdout, stderr = command(*line, "--wait", 0)
        held_by = f"process {os.getpid()} on {platform.node()}\n"
        assert (code, stdout) == (1, "")
        assert f"\nprobe: {out}: waited 0 minutes (--wait) for its lock, held by {held_by}" in stderr
    assert command(*line, "--wait", 0)[0] == 0


def test_waiting_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sentprobe.common.scratch._SECONDS_BEFORE_REPORT", 0.0)
    refused = pytest.raises(ResultsError, match=r"waited 0 minutes \(--wait\) for its lock, held by")
    with hold_lock(tmp_path), refused, lock_directory(tmp_path, wait=0.05):
        pass
    assert f"{tmp_path}: waiting at most 0 minutes (--wait) for its lock, held by process" in caplog.text
