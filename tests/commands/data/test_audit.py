"""The command ``probe audit``: output, files and errors."""

import json
import sys
from functools import cache, partial
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.strategies.probe_strategies import make_learnable_dataset

from sentprobe.lexicon import english
from sentprobe.probes.audits.audit_report import audit_from_json
from sentprobe.probes.datasets.dataset import ProbeDataset, Size
from sentprobe.probes.datasets.formats import read_dataset, write_dataset
from sentprobe.probes.datasets.known_task import Cue
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.generated.tasks import TASKS

LEAKY = make_learnable_dataset(name="leaky", size=60)
"""Whether the probe word is in the sentence: the bag of words gives it away."""


@cache
def order() -> ProbeDataset:
    return build(TASKS["Order"], english(), size=Size(336, 112), seed=1)


@pytest.fixture
def probe(command: Command) -> Command:
    """Run ``probe audit`` in this process."""
    return partial(command, "audit")


def saved(data: ProbeDataset, path: Path) -> Path:
    write_dataset(data, path)
    return path


def test_a_dataset_is_audited_and_the_verdict_printed(tmp_path: Path, probe: Command) -> None:
    code, out, _ = probe(saved(order(), tmp_path / "Order"), "--jobs", 1)
    assert code == 0
    assert "bound, bag of words and probe: train exactly 50.0%" in out
    assert "Order: no leak found" in out


def test_datasets_in_a_folder_are_audited_into_their_cards(tmp_path: Path, probe: Command) -> None:
    for data in (order(), LEAKY):
        saved(data, tmp_path / data.name)
    (tmp_path / "notes.md").write_text("not a dataset")
    code, out, err = probe(tmp_path, "--format", "json", "--write", "--strict", "--jobs", 1)
    assert code == 1
    assert err.splitlines()[-1] == "probe: leaks in 1 of 2 datasets: leaky"
    audits = {record["task"]: record for record in json.loads(out)}
    for data in (order(), LEAKY):
        again = read_dataset(tmp_path / data.name)
        assert again.fingerprint() == data.fingerprint()
        assert again.card.audit == audits[data.name]
        assert audit_from_json(again.card.audit).fingerprint == data.fingerprint()
    assert "bag-of-words" in audits["leaky"]["leaks"]


def test_another_format_is_read_and_the_audit_written_to_a_file(tmp_path: Path, probe: Command) -> None:
    out_file = tmp_path / "audit.md"
    source = saved(LEAKY, tmp_path / "leaky.jsonl")
    code, out, _ = probe(source, "-f", "markdown", "-o", out_file, "--jobs", 1)
    assert code == 0
    assert out.startswith("leaky: LEAK: bag of words and probe gives ")
    assert out.endswith(f"audit: {out_file}\n")
    assert "| bag of words and probe | " in out_file.read_text("utf-8")


def test_what_is_expected_is_no_failure_and_what_is_not_is_one(tmp_path: Path, probe: Command) -> None:
    source = saved(LEAKY, tmp_path / "leaky.jsonl")
    _, stderr, _ = probe(source, "--format", "json", "--jobs", 1)
    leaks = json.loads(stderr)[0]["leaks"]
    assert len(leaks) > 1
    options = [part for cue in leaks for part in ("--expect", cue)]
    code, out, err = probe(source, *options, "--strict", "--jobs", 1)
    assert (code, err.count("leaks in")) == (0, 0)
    assert "leaky: no leak found" in out
    assert out.count("(you expect it)") == len(leaks)
    code, out, err = probe(source, *options[:2], "--jobs", 1)
    assert (code, err.splitlines()[-1]) == (1, "probe: leaks in 1 of 1 datasets: leaky")
    assert "leaky: LEAK: " in out


def test_what_is_expected_and_not_found_is_said(tmp_path: Path, probe: Command) -> None:
    source = saved(order(), tmp_path / "Order")
    expect = ("--expect", "probe", "--expect", "position")
    code, out, _ = probe(source, *expect, "--format", "json", "--jobs", 1)
    assert code == 0
    (record,) = json.loads(out)
    assert (record["expect"], record["not_found"]) == (["probe", "position"], ["probe"])
    assert audit_from_json(record).not_found == (Cue.PROBE,)
    out = probe(source, *expect, "--jobs", 1)[1]
    assert "  expected, but not found: probe only gives 50.0%\n" in out
    assert "the task is about the order of words" in out


SPLITS = ("train", "test")


def test_a_cue_that_the_dataset_does_not_have_is_not_found(tmp_path: Path, probe: Command) -> None:
    source = tmp_path / "unprobed.csv"
    words = ("no", "yes")
    rows = (f"{split}{n} {words[n % 2]},{n % 2},{split}" for split in SPLITS for n in range(60))
    source.write_text("\n".join(["text,label,split", *rows]))
    code, out, _ = probe(source, "--expect", "position", "--expect", "length", "--jobs", 1)
    assert code == 1
    assert "unprobed: LEAK: bag of words gives 100.0%" in out
    assert "  expected, but not found: length gives 50.0%\n" in out
    assert "  expected, but not tried here: position of the probe words\n" in out


LACKING = "libgomp.so.1: cannot open shared object file: No such file or directory"


def test_a_system_without_openmp_is_said_in_a_line(
    tmp_path: Path, probe: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lightgbm.py").write_text(f"raise OSError({LACKING!r})")
    monkeypatch.delitem(sys.modules, "lightgbm", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    code, out, err = probe(saved(LEAKY, tmp_path / "leaky.jsonl"), "--jobs", 1)
    assert (code, out) == (1, "")
    assert err.splitlines()[-1] == (
        "probe: LightGBM is installed, but cannot be loaded; it needs the OpenMP library of the "
        f"system, libgomp (of macOS: libomp): {LACKING}"
    )


def test_bad_requests_are_refused_in_a_line(tmp_path: Path, probe: Command) -> None:
    source = saved(LEAKY, tmp_path / "leaky.jsonl")
    empty = tmp_path / "empty"
    empty.mkdir()
    requests: list[tuple[tuple[object, ...], int, str]] = [
        ((tmp_path / "none",), 2, "there is no such file or directory"),
        ((empty,), 2, "there is no dataset in it"),
        ((source, "--format", "jsn"), 2, "there is no format 'jsn' (did you mean 'json'?)"),
        ((source, "--read-as", "json"), 2, "there is no format 'json' of datasets"),
        ((source, "--jobs", "0"), 2, "the number of jobs must be positive, not 0"),
        ((source, "--expect", "bag"), 2, "there is no cue 'bag'; known: probe, length, bag-of-"),
        ((source, "--expect", "n-gram"), 2, "there is no cue 'n-gram' (did you mean 'n-grams'?)"),
        ((source, "--write"), 2, "only a dataset in the format 'directory' has a card"),
        ((source, "--lexicon", tmp_path / "no.toml"), 2, "no.toml"),
        ((source, "--out", tmp_path / "no" / "audit.txt"), 2, "audit.txt: cannot write there"),
    ]
    before = source.read_bytes()
    requests += [
        ((source, "--out", source), 2, "leaky.jsonl: is an input"),
        ((tmp_path, "--out", empty / "audit.txt"), 2, f"lies inside {tmp_path}, which is read"),
    ]
    for arguments, expected, message in requests:
        code, out, err = probe(*arguments)
        assert message in err, arguments
        assert (code, out, err.count("\n")) == (expected, "", 1), arguments
    assert source.read_bytes() == before
