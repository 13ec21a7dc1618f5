"""Audits read back from files: round trips and malformed files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.runs.made_audits import make_audit, write_audit_file
from rich.text import Text

from sentprobe.common.errors import FormatError, UsageError
from sentprobe.common.tables import build_rich_table
from sentprobe.probes.audits.audit_report import build_cue_grid, read_audits

AuditChange = Callable[[list[Any]], object]


def test_audits_are_read_back(tmp_path: Path) -> None:
    audits = (make_audit(), make_audit("SemRole", "1", leaks=True))
    assert read_audits(write_audit_file(tmp_path / "audit.json", *audits)) == audits


def test_terminal_marks_leak_and_chosen_classifier() -> None:
    table = build_rich_table(build_cue_grid(make_audit(leaks=True)))
    styles = [[str(cell.style) for cell in column.cells if isinstance(cell, Text)] for column in table.columns]
    assert styles[-1] == ["", "", "bold red", ""]
    assert styles[-2] == ["", "bold", "bold", "bold"]


def test_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json: cannot read it: No such file or directory$"):
        read_audits(tmp_path / "none.json")


def change_first(name: str, value: object) -> AuditChange:
    """Give a field of the first audit another value."""
    return lambda data: data[0].update({name: value})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.clear(), "not a list of audits"),
        (lambda data: data.append("x"), "an audit is not a JSON object"),
        (change_first("format", "sentprobe-audit 0"), "the format is 'sentprobe-audit 0', not "
                                                      "'sentprobe"),
        (lambda data: data[0].pop("seed"), "the key 'seed' is missing"),
        (change_first("task", 3), "task must be a text"),
        (change_first("chance", float("nan")), "chance must be a number"),
        (change_first("chance", 2), "an accuracy is not between 0 and 1"),
        (change_first("items", {"train": 4}), "the number of test items is"),
        (change_first("items", {"exam": 4}), "'exam' is not a valid Split"),
        (change_first("structures", {"parsed": 4}), "the number of structures is"),
        (lambda data: data[0]["cues"][0].update(chosen="guess"), "'guess' is not a valid Classi"),
        (lambda data: data[0]["cues"][0]["scores"].pop("boosting"), "chosen classifier has no"),
        (lambda data: data[0]["cues"][0].update(verdict="fine"), "'fine' is not a valid Verdict"),
        (lambda data: data[0]["majority"].update(total=0), "an accuracy is not between"),
        (lambda data: data[0]["majority"].update(interval=[0.5, 1.5]), "an accuracy is not between"),
        (lambda data: data[0]["bounds"]["probe"]["test"].update(best=1001), "is not between 0"),
    ],
)  # fmt: skip
def test_malformed_audit_is_refused(change: AuditChange, message: str, tmp_path: Path) -> None:
    path = write_audit_file(tmp_path / "audit.json", make_audit())
    audits = json.loads(path.read_text("utf-8"))
    change(audits)
    path.write_text(json.dumps(audits), "utf-8")
    with pytest.raises(FormatError) as caught:
        read_audits(path)
    assert str(caught.value).startswith(f"{path}: not the output of probe audit --format json (")
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "{}", "3", '"Order: no leak found"'])
def test_another_file_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "audit.txt"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"audit\.txt: not the output of probe audit --format json"):
        read_audits(path)
