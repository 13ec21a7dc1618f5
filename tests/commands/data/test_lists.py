"""The commands ``probe tasks`` and ``probe encoders``."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.in_process import Command, check_success
from helpers.runs.natural_tables import sample_rows, write_table

import sentprobe
from sentprobe.commands.lists import PAPERS, describe_extra, list_tasks
from sentprobe.common.specs import TaskGroup
from sentprobe.probes.datasets.formats import read_dataset
from sentprobe.probes.encoders.kinds import ENCODERS
from sentprobe.probes.generated.tasks import STRUCTURE_TASKS
from sentprobe.probes.generated.tasks import TASKS as COMPEVAL
from sentprobe.probes.natural.datasets import TASKS as NATURAL

EVERY = [*COMPEVAL, *STRUCTURE_TASKS, *NATURAL]


def test_each_task_is_listed_once() -> None:
    listed = list_tasks()
    assert [task.name for task in listed] == EVERY
    assert all(task.question.endswith(("?", ")")) and task.classes for task in listed)
    assert list(PAPERS) == ["compeval", "structure", *TaskGroup]


def test_tasks_as_json(command: Command) -> None:
    code, out, err = command("tasks", "--json")
    assert (code, err) == (0, "")
    entries = {entry["name"]: entry for entry in json.loads(out)}
    assert list(entries) == EVERY
    assert entries["SemRole"] == {
        "name": "SemRole",
        "suite": "compeval",
        "question": "n and v occur in s; is n the agent of v?",
        "classes": "FALSE, TRUE",
        "items": {"train": 4000, "test": 2000},
        "paper": "Ettinger et al. 2018",
        "published": "sr",
        "classifier": "ettinger",
        "probe_words": "one-hot",
        "languages": ["en", "de"],
    }
    assert (entries["Mood"]["languages"], entries["Tense"]["languages"]) == (["en"], [])
    assert entries["AdiOrder"]["items"] == {"train": 100000, "validation": 10000, "test": 10000}
    assert entries["AdiOrder"]["probe_words"] == "encoder"


@pytest.mark.parametrize("width", [80, 200])
def test_tasks_are_readable(command: Command, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, err = command("tasks")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in out
    for task in list_tasks():
        assert any(task.name in line for line in lines)
        longest = max((task.question + " " + task.classes).split(), key=len)
        assert longest in out, longest
    for paper in PAPERS.values():
        assert paper in out
    assert "--language de lacks Modality, Recipient, Question, Mood." in lines


def test_classes_of_compeval_are_those_of_datasets() -> None:
    for task in list_tasks()[:1]:
        data = sentprobe.build_task(task.name, train=48, test=16)
        assert ", ".join(data.labels) == task.classes


def test_classes_of_natural_are_those_of_datasets(tmp_path: Path, command: Command) -> None:
    write_table(sample_rows()[:1200], tmp_path / "table")
    names = {"SentLen", "BShift", "Tense", "SubjNum", "AdiContent"}
    chosen = [part for name in names for part in ("--task", name)]
    small = ("--train", 60, "--validation", 12, "--test", 12, "--no-audit")
    command("build", "natural", tmp_path / "table", *chosen, *small, "--out", tmp_path / "made")
    actual = [task for task in list_tasks() if (tmp_path / "made" / task.name).is_dir()]
    assert len(actual) >= 3
    for task in actual:
        message = {word.split(" ")[0] for word in task.classes.split(", ")}
        assert set(read_dataset(tmp_path / "made" / task.name).labels) == message, task.name


def test_encoders_lists_each_kind(command: Command) -> None:
    code, out, err = command("encoders")
    assert (code, err) == (0, "")
    for kind in ENCODERS:
        assert kind.example in out
        assert kind.summary in out


def test_encoders_as_json(command: Command) -> None:
    out = check_success(command("encoders", "--format", "json"))
    entries = {entry["name"]: entry for entry in json.loads(out)}
    assert list(entries) == [kind.name for kind in ENCODERS]
    assert entries["bow"]["argument"] == "optional"
    assert entries["bow"]["extra"] == "gensim"
    assert entries["file"] == {
        "name": "file",
        "example": "file:vectors.npz",
        "summary": next(kind.summary for kind in ENCODERS if kind.name == "file"),
        "argument": "required",
        "extra": "",
        "extra_for": "",
        "installed": True,
    }


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    rows = {row.name: row for row in ENCODERS}
    assert describe_extra(rows["st"]) == "sentence-transformers: not installed"
    assert describe_extra(rows["file"]) == "none needed"


def test_encoders_refuses_unknown_format(command: Command) -> None:
    message = "there is no format 'jsn' (did you mean 'json'?); known: text, json\n"
    assert command("encoders", "--format", "jsn") == (2, "", f"probe: {message}")


def test_encoders_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom sentprobe.commands.lists import encoders\n"
        "encoders()\n"
        "heavy = {'torch', 'sklearn', 'scipy', 'pyarrow', 'gensim', 'transformers'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
