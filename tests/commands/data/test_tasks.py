"""The command ``probe tasks``: the listed fields agree with built datasets."""

import json
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.runs.natural_tables import sample_rows, write_table

import sentprobe
from sentprobe.commands.lists import PAPERS, list_tasks
from sentprobe.probes.datasets.formats import read_dataset
from sentprobe.probes.generated.tasks import STRUCTURE_TASKS
from sentprobe.probes.generated.tasks import TASKS as COMPEVAL
from sentprobe.probes.natural.datasets import TASKS as NATURAL
from sentprobe.probes.natural.natural_task import TaskGroup

EVERY = [*COMPEVAL, *STRUCTURE_TASKS, *NATURAL]


def test_every_task_is_listed_once_and_says_something() -> None:
    listed = list_tasks()
    assert [task.name for task in listed] == EVERY
    assert all(task.question.endswith(("?", ")")) and task.classes for task in listed)
    assert list(PAPERS) == ["compeval", "structure", *TaskGroup]


def test_json(command: Command) -> None:
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
def test_it_is_readable(command: Command, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_the_classes_of_compeval_are_those_of_the_datasets() -> None:
    for task in list_tasks()[:1]:
        data = sentprobe.build_task(task.name, train=48, test=16)
        assert ", ".join(data.labels) == task.classes


def test_the_classes_of_natural_text_are_those_of_the_datasets(tmp_path: Path, command: Command) -> None:
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
