"""A new task takes one file and one entry: it is then built, audited, run, listed and shown."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.oracles import commas
from helpers.runs.natural_tables import sample_rows, write_table

from sentprobe.common import specs
from sentprobe.probes.datasets.dataset import ONE_HOT
from sentprobe.probes.datasets.formats import read_dataset
from sentprobe.probes.datasets.known_task import Cue
from sentprobe.probes.generated.tasks import TASKS as COMPEVAL
from sentprobe.probes.natural.datasets import TASKS
from sentprobe.probes.natural.natural_task import NaturalTask
from sentprobe.probes.runs.suites import explain_expected_cue, find_preset_name, find_usual_words, list_known_tasks

SMALL = ("--train", 120, "--test", 60, "--validation", 20)
QUICK = ("--jobs", 1, "--no-cache", "--no-controls", "--set", "max_epochs=2")


@pytest.fixture
def row(monkeypatch: pytest.MonkeyPatch) -> NaturalTask:
    """Add the made-up task to the list of tasks."""
    monkeypatch.setitem(TASKS, commas.TASK.name, commas.TASK)
    monkeypatch.setattr(specs, "NATURAL_TASKS", (*specs.NATURAL_TASKS, commas.TASK.name))
    return commas.TASK


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(sample_rows()[:1200], tmp_path_factory.mktemp("made") / "table").path


@pytest.fixture
def built(row: NaturalTask, table: Path, tmp_path: Path, command: Command) -> Path:
    options = ("--task", row.name, "--out", tmp_path / "tasks")
    code, out, err = command("build", "natural", table, *options, *SMALL)
    assert code == 0, err
    assert "Commas" in out
    return tmp_path / "tasks" / "Commas"


def test_new_task_is_built_and_audited(built: Path, command: Command) -> None:
    data = read_dataset(built)
    assert data.labels == ("NONE", "SOME")
    for items in data.splits.values():
        for row, target in zip(items.rows, items.targets, strict=True):
            assert ("," in data.sentences[row].split(" ")) == bool(target)
    assert data.card.audit["baselines"]["majority"] == 0.5
    code, out, err = command("audit", built, "--format", "json", "--strict", "--jobs", 1)
    assert code == 0, err
    (audit,) = json.loads(out)
    reasons = {cue["cue"]: (cue["verdict"], cue["reason"]) for cue in audit["cues"]}
    assert reasons["bag-of-words"] == ("expected", "the task is about which words there are")
    assert reasons["length"][0] == "expected"


def test_unnamed_cue_is_a_leak(built: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    may_answer: dict[Cue, str] = dict(commas.TASK.may_answer)
    del may_answer[Cue.LENGTH]
    monkeypatch.setitem(TASKS, "Commas", replace(commas.TASK, may_answer=may_answer))
    code, out, _ = command("audit", built, "--strict", "--jobs", 1)
    assert code == 1
    assert "Commas: LEAK: length gives" in out


@pytest.mark.usefixtures("row")
def test_new_task_is_run_and_shown(table: Path, tmp_path: Path, command: Command) -> None:
    tasks = ("--task", "Commas", "--task", "SentLen", *SMALL)
    where = ("-o", tmp_path / "run", "-e", "bow?dim=4")
    code, _, err = command("run", "natural", table, *tasks, *where, *QUICK)
    assert code == 0, err
    code, out, err = command("show", tmp_path / "run", "--format", "markdown", "--notes")
    assert code == 0, err
    # After the tasks that stand before it in the list, with the classifier that it says.
    assert "| encoder | SentLen | Commas |" in out
    assert "classifier: conneau (" in out


@pytest.mark.usefixtures("row")
def test_new_task_compares_two_tables(table: Path, command: Command) -> None:
    code, out, err = command("agree", table, table, "--format", "json")
    assert code == 0, err
    records = {(record["kind"], record["name"]): record for record in json.loads(out)}
    assert records["task", "Commas"]["rate"] == records["label", "comma"]["rate"] == 1
    assert records["task", "Commas"]["same"] > records["label", "comma"]["same"] > 0


@pytest.mark.usefixtures("row")
def test_new_task_is_listed(table: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("build", "run"):
        code, out, _ = command(name, "--help")
        assert code == 0
        assert "Commas; task groups: conneau, adi," in " ".join(out.split())
    options = ("--task", "Coma", "--out", "nowhere")
    code, _, err = command("build", "natural", table, *options)
    assert code == 2
    assert "there is no natural-text task 'Coma' (did you mean 'Commas'?); the tasks are" in err
    assert ", Commas; the suites are" in err


def test_descriptions_come_from_task_value(built: Path) -> None:
    data = read_dataset(built)
    assert find_preset_name("mine", "CommaCounts") == find_preset_name("comma_counts") == "conneau"
    assert find_usual_words(data) == ONE_HOT
    assert explain_expected_cue("comma_counts", Cue.BAG) == commas.TASK.may_answer[Cue.BAG]
    assert not explain_expected_cue("Commas", Cue.POSITION)


def test_unlisted_task_is_unknown(table: Path, command: Command) -> None:
    code, _, err = command("build", "natural", table, "--task", "Commas", "--out", "nowhere")
    assert (code, "there is no natural-text task 'Commas'" in err) == (2, True)
    assert not explain_expected_cue("Commas", Cue.BAG)
    assert find_preset_name("Commas") == "ettinger"


def test_task_names_module_of_its_code() -> None:
    """Some tasks are functions with bound arguments; the code decides whether a finished result can be reused."""
    assert {task.module.rpartition(".")[0] for task in TASKS.values()} == {"sentprobe.probes.natural"}
    assert commas.TASK.module == "helpers.oracles.commas"


# A task of compeval


def test_new_compeval_task_is_built_and_run(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    task = replace(COMPEVAL["Order"], name="Sequence", published="seq", preset="logreg")
    monkeypatch.setitem(COMPEVAL, task.name, task)
    monkeypatch.setattr(specs, "COMPEVAL_TASKS", (*specs.COMPEVAL_TASKS, task.name))
    assert [known_task.name for known_task in list_known_tasks()].index("Sequence") == len(COMPEVAL) - 1
    options = ("--task", "Sequence", "--train", 84, "--test", 28)
    code, _, err = command("build", "compeval", *options, "--out", tmp_path / "tasks")
    assert code == 0, err
    built = tmp_path / "tasks" / "Sequence"
    assert read_dataset(built).card.task == "Sequence"
    code, out, err = command("run", built, "-e", "bow?dim=4", "--jobs", 1, "--no-cache", "--notes")
    assert code == 0, err
    assert "classifier: logreg (" in out
    assert explain_expected_cue("seq", Cue.POSITION) == explain_expected_cue("Order", Cue.POSITION) != ""
    code, out, _ = command("build", "--help")
    assert "Sequence" in out
