"""The command ``probe audit``: what it prints and writes, and how it refuses a bad request."""

import json
from functools import cache, partial
from pathlib import Path

import pytest
from in_process import Command
from probe_strategies import learnable
from read_audit import from_json

from sentprobe.lexicon import english
from sentprobe.probes.compeval import TASKS, build
from sentprobe.probes.dataset import ProbeDataset, Size
from sentprobe.probes.formats import read_dataset, write_dataset

LEAKY = learnable(name="leaky", size=60)
"""Whether the probe word is in the sentence: the bag of words gives it away."""


@cache
def order() -> ProbeDataset:
    return build(TASKS["Order"], english(), size=Size(84, 28), seed=1)


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
    audits = {each["task"]: each for each in json.loads(out)}
    for data in (order(), LEAKY):
        again = read_dataset(tmp_path / data.name)
        assert again.fingerprint() == data.fingerprint()
        assert again.card.audit == audits[data.name]
        assert from_json(again.card.audit).fingerprint == data.fingerprint()
    assert "bag-of-words" in audits["leaky"]["leaks"]


def test_another_format_is_read_and_the_audit_written_to_a_file(
    tmp_path: Path, probe: Command
) -> None:
    out_file = tmp_path / "audit.md"
    source = saved(LEAKY, tmp_path / "leaky.jsonl")
    code, out, _ = probe(source, "-f", "markdown", "-o", out_file, "--jobs", 1)
    assert code == 0
    assert out.startswith("leaky: LEAK: bag of words and probe gives ")
    assert out.endswith(f"audit: {out_file}\n")
    assert "| bag of words and probe | " in out_file.read_text("utf-8")


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
        ((source, "--write"), 2, "only a dataset in the format 'directory' has a card"),
        ((source, "--lexicon", tmp_path / "no.toml"), 2, "no.toml"),
        ((source, "--out", tmp_path / "no" / "audit.txt"), 2, "audit.txt: cannot write there"),
    ]
    before = source.read_bytes()
    requests += [
        ((source, "--out", source), 2, "leaky.jsonl: is what is read"),
        ((tmp_path, "--out", empty / "audit.txt"), 2, f"lies inside {tmp_path}, which is read"),
    ]
    for arguments, expected, message in requests:
        code, out, err = probe(*arguments)
        assert message in err, arguments
        assert (code, out, err.count("\n")) == (expected, "", 1), arguments
    assert source.read_bytes() == before
