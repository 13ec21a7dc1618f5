"""One call each in Python: to build natural-text tasks, and to audit a dataset."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.in_process import Command
from helpers.runs.natural_tables import sample_rows, write_table
from helpers.strategies.probe_strategies import make_learnable_dataset

import sentprobe
from sentprobe import SentprobeError, UsageError
from sentprobe.common.errors import ArgumentTypeError
from sentprobe.probes.corpus.table_rows import build_row
from sentprobe.probes.corpus.trees import ParsedSentence

SIZE: dict[str, Any] = {"train": 60, "test": 12, "validation": 12}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(sample_rows(), tmp_path_factory.mktemp("made") / "table").path


def test_natural_tasks_equal_those_of_command(table: Path, tmp_path: Path, command: Command) -> None:
    size = [part for name, count in SIZE.items() for part in (f"--{name}", str(count))]
    chosen = ("--task", "BShift", "--task", "SentLen", "--no-audit", "--seed", "2")
    code, _, err = command("build", "natural", table, "-o", tmp_path, *size, *chosen)
    assert code == 0, err
    built = sentprobe.build_natural(table, ["BShift", "SentLen"], seed=2, audit=False, **SIZE)
    assert [data.name for data in built] == ["BShift", "SentLen"]
    for data in built:
        read = sentprobe.read_dataset(tmp_path / data.name)
        assert read.fingerprint() == data.fingerprint()


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """A table of sentences without trees."""
    rows = [build_row(ParsedSentence(tokens=row.tokens)) for row in sample_rows(600)]
    return str(write_table(rows, tmp_path / "bare").path)


def test_unbuildable_task_is_left_out(bare: str, caplog: pytest.LogCaptureFixture) -> None:
    built = sentprobe.build_natural(bare, ["BShift", "TreeDepth"], audit=False, **SIZE)
    assert [data.name for data in built] == ["BShift"]
    (warning,) = caplog.records
    assert warning.getMessage().startswith("left out: TreeDepth: needs constituents")


def test_no_task_that_can_be_built(bare: str) -> None:
    with pytest.raises(SentprobeError, match="1 of 1 tasks could not be built:\nTreeDepth"):
        sentprobe.build_natural(bare, "TreeDepth")


@pytest.mark.parametrize(
    ("value", "options", "kind", "message"),
    [
        ("gone", {}, UsageError, "there is no table gone"),
        (3, {}, ArgumentTypeError, "a int is no path of the table of a corpus"),
        ("", {"tasks": "BShft"}, UsageError, "did you mean 'BShift'?"),
        ("", {"tasks": "BShift", "frequency_band": "9"}, UsageError, "a frequency band is"),
        ("", {"tasks": "BShift", "train": 0}, UsageError, "must be positive, not 0"),
    ],
)
def test_bad_build_is_refused(
    value: Any, options: dict[str, Any], kind: type[Exception], message: str, table: Path
) -> None:
    with pytest.raises(kind) as caught:
        sentprobe.build_natural(value or table, **{**SIZE, **options})
    assert message in str(caught.value)


def test_dataset_or_path_can_be_audited(tmp_path: Path, command: Command) -> None:
    data = replace(make_learnable_dataset(name="one", size=40), name="one")
    sentprobe.write_dataset(data, tmp_path / "one")
    audit = sentprobe.audit(data)
    assert sentprobe.audit(tmp_path / "one") == audit == sentprobe.audit(str(tmp_path / "one"))
    code, _, err = command("audit", tmp_path / "one", "--jobs", "1", "--out", tmp_path / "audit.txt")
    assert code == 0, err
    assert (tmp_path / "audit.txt").read_text("utf-8").rstrip("\n") == str(audit)


def test_progress_is_shown_when_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    data = make_learnable_dataset(name="one", size=40)
    sentprobe.audit(data)
    assert capfd.readouterr() == ("", "")
    sentprobe.audit(data, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "try cues" in err


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (3, ArgumentTypeError, "a int is neither a ProbeDataset nor a path"),
        ([], ArgumentTypeError, "a list is neither a ProbeDataset nor a path"),
        ("gone", UsageError, "gone: there is no such file or directory"),
    ],
)
def test_bad_audit_is_refused(value: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        sentprobe.audit(value)
