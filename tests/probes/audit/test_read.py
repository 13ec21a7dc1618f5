"""Audits read back from files: all of them as they were, and nothing that no audit says."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_audits import audit_file, made_audit

from sentprobe.errors import FormatError, UsageError
from sentprobe.probes.audit.read import read_audits

Change = Callable[[list[Any]], object]


def test_audits_are_read_back(tmp_path: Path) -> None:
    audits = (made_audit(), made_audit("SemRole", "1", leaks=True))
    assert read_audits(audit_file(tmp_path / "audit.json", *audits)) == audits


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json: cannot read it: No such file or directory$"):
        read_audits(tmp_path / "none.json")


def first(name: str, value: object) -> Change:
    """Give a field of the first audit another value."""
    return lambda found: found[0].update({name: value})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda found: found.clear(), "a list of audits is wanted"),
        (lambda found: found.append("x"), "string indices must be integers"),
        (first("format", "sentprobe-audit 0"), "the format is 'sentprobe-audit 0', not 'sentprobe"),
        (lambda found: found[0].pop("seed"), "'seed'"),
        (first("task", 3), "task must be a text"),
        (first("chance", float("nan")), "chance must be a number"),
        (first("chance", 2), "an accuracy is no share of the items"),
        (first("items", {"train": 4}), "there is no number of test items"),
        (first("items", {"exam": 4}), "'exam' is not a valid Split"),
        (first("structures", {"parsed": 4}), "there is no number of test items, or of structures"),
        (lambda found: found[0]["cues"][0].update(chosen="guess"), "'guess' is not a valid Classi"),
        (lambda found: found[0]["cues"][0]["scores"].pop("boosting"), "classifier was chosen that"),
        (lambda found: found[0]["cues"][0].update(verdict="fine"), "'fine' is not a valid Verdict"),
        (lambda found: found[0]["majority"].update(total=0), "an accuracy is no share"),
        (lambda found: found[0]["majority"].update(interval=[0.5, 1.5]), "an accuracy is no share"),
        (lambda found: found[0]["bounds"]["probe"]["test"].update(best=1001), "is no share"),
    ],
)  # fmt: skip
def test_what_no_audit_says_is_refused(change: Change, message: str, tmp_path: Path) -> None:
    path = audit_file(tmp_path / "audit.json", made_audit())
    found = json.loads(path.read_text("utf-8"))
    change(found)
    path.write_text(json.dumps(found), "utf-8")
    with pytest.raises(FormatError) as caught:
        read_audits(path)
    assert str(caught.value).startswith(f"{path}: not what probe audit --format json writes (")
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "{}", "3", '"Order: no leak found"'])
def test_another_file_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "audit.txt"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"audit\.txt: not what probe audit --format json writes"):
        read_audits(path)
