"""The command ``probe annotate``: sheets, their answers, and the row Human of the tables."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.in_process import Command, check_refusal, check_success
from helpers.runs.shown_runs import split_rows, write_run
from helpers.strategies.probe_strategies import make_learnable_dataset, make_sample_result

from sentprobe.common.screen import SilentReporter
from sentprobe.probes.annotation.study import read_study
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.runs.targets import find_datasets, find_targets

QUESTION = "Is {probe1} in the sentence?"
DATA = make_learnable_dataset()


@pytest.fixture
def folder(tmp_path: Path, command: Command) -> Path:
    """A dataset, and a study with three empty sheets."""
    write_dataset(DATA, tmp_path / "data")
    arguments = ("annotate", tmp_path / "data", "--n", 40, "--question", QUESTION, "--out", tmp_path / "study")
    shown = check_success(command(*arguments))
    assert shown == f"40 items and 10 control items of {DATA.name} for 3 annotators: {tmp_path / 'study'}\n"
    return tmp_path


def fill(folder: Path, mistakes: dict[int, int], *, careless: int = 0) -> None:
    """Fill the sheets. *mistakes*: wrong test items of each annotator; the first *careless* get the controls wrong."""
    study = read_study(folder / "study")
    other = {"TRUE": "FALSE", "FALSE": "TRUE"}
    for number, count in mistakes.items():
        wrong = {item.name for item in study.test_items[number * 10 : number * 10 + count]}
        wrong |= {item.name for item in study.controls if number <= careless}
        path = folder / "study" / "sheets" / f"annotator-{number}.csv"
        lines = [f"{other[i.label] if i.name in wrong else i.label},{i.name}" for i in study.items]
        path.write_text("\n".join(["answer,item", *lines]), "utf-8")


def test_answers_become_a_row_beside_encoders(folder: Path, command: Command) -> None:
    fill(folder, {1: 0, 2: 2, 3: 4})
    results, labels = folder / "results", folder / "labels.csv"
    shown = check_success(command("annotate", "--read", folder / "study", "--out", results, "--labels", labels))
    assert split_rows(shown)[1:] == [
        ["annotator-1", "100.0 [91.2, 100.0]", "0 of 10"],
        ["annotator-2", "95.0 [83.5, 98.6]", "0 of 10"],
        ["annotator-3", "90.0 [76.9, 96.0]", "0 of 10"],
        ["majority", "100.0 [91.2, 100.0]", ""],
    ]
    assert "Krippendorff's alpha (nominal) of 3 annotators: 0.798" in shown
    with labels.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert len(rows) == 40
    assert {row["majority"] == row["right"] == row["answer: annotator-1"] for row in rows} == {True}
    assert sum(row["answer: annotator-3"] != row["right"] for row in rows) == 4

    write_run(results, replace(make_sample_result("bow", DATA.name, 900), dataset_fingerprint=DATA.fingerprint()))
    table = check_success(command("show", results))
    assert [row for row in split_rows(table) if row[0] == "Human"] == [["Human", "100.0 [91.2, 100.0]"]]
    assert "Human: the majority of annotators on a sample of the test items." in " ".join(table.split())
    notes = check_success(command("show", results, "--notes", "--format", "markdown"))
    assert "Human: the majority of 3 annotators on 40 test items of toy, Krippendorff's alpha 0.80." in notes
    records = json.loads(check_success(command("show", results, "--format", "json")))
    assert [(record["condition"], record["accuracy"], record["total"]) for record in records][-1] == ("human", 1, 40)
    check_success(command("report", results, "--out", folder / "page.html"))
    assert "Human" in (folder / "page.html").read_text("utf-8")


def test_people_on_other_data_have_their_own_table(folder: Path, command: Command) -> None:
    fill(folder, {1: 0, 2: 0, 3: 0})
    results = folder / "results"
    check_success(command("annotate", "--read", folder / "study", "--out", results))
    alone = check_success(command("show", results))
    assert alone.startswith("people\n")
    write_run(results, make_sample_result("bow", DATA.name, 900))
    table = check_success(command("show", results))
    assert "people, on other data than the encoders" in table
    assert "sample of the test items" not in table
    check_success(command("report", results, "--out", folder / "page.html"))
    assert "People, on other data than the encoders" in (folder / "page.html").read_text("utf-8")


def test_careless_annotators_are_left_out(folder: Path, command: Command) -> None:
    fill(folder, {1: 9, 2: 0, 3: 0}, careless=1)
    shown = check_success(command("annotate", "--read", folder / "study"))
    assert ["annotator-1", "77.5 [62.5, 87.7]", "10 of 10, left out"] in split_rows(shown)
    records = json.loads(check_success(command("annotate", "--read", folder / "study", "-f", "json")))
    assert [record["kept"] for record in records] == [False, True, True, None]
    records = json.loads(check_success(command("annotate", "--read", folder / "study", "-f", "json", "--at-least", 0)))
    assert [record["kept"] for record in records] == [True, True, True, None]
    fill(folder, {1: 0, 2: 0, 3: 0}, careless=3)
    outcome = command("annotate", "--read", folder / "study")
    check_refusal(outcome, "no annotator has 90% of the control items right; the best, annotator-1, has 0 of 10", 1)


def test_empty_sheet_is_refused(folder: Path, command: Command) -> None:
    path = folder / "study" / "sheets" / "annotator-1.csv"
    check_refusal(command("annotate", "--read", folder / "study"), f"{path}: line 2: the item ", 1)


@pytest.mark.slow
def test_generated_task_has_the_data_of_a_run(tmp_path: Path, command: Command) -> None:
    check_success(command("annotate", "Content1Probe", "--seed", 3, "--out", tmp_path / "study"))
    targets = find_targets("compeval", tasks=["Content1Probe", "Content2Probe"], seed=3)
    datasets, _ = find_datasets(targets, command="probe run compeval --seed 3", reporter=SilentReporter())
    assert read_study(tmp_path / "study").dataset_fingerprint == datasets[0].fingerprint()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a task or dataset to write sheets for, or --read FOLDER"),
        (("{0}/data", "--read", "{0}/study"), "name a task or dataset to write sheets for, or --read FOLDER"),
        (("{0}/data",), "name a new folder for the sheets with --out"),
        (("{0}/data", "--out", "{0}/new"), "toy is a task of your own: state its question with --question"),
        (("{0}/data", "--out", "{0}/new", "--labels", "x.csv"), "--labels is for --read"),
        (("{0}/data", "--out", "{0}/study", "--question", QUESTION, "--n", "39"), "not a new or empty folder"),
        (("{0}/data", "--out", "{0}/new", "--question", QUESTION, "--annotators", "0"), "annotators"),
        (("{0}/data", "--out", "{0}/new", "--question", QUESTION, "--n", "9999"), "--n 9999: toy has"),
        (("SemRol", "--out", "{0}/new"), "there is no task 'SemRol' (did you mean 'SemRole'?), nor such a dataset"),
        (("{0}/two", "--out", "{0}/new"), "name one of its datasets: other, toy"),
        (("--read", "{0}/data"), "key.json: a study of probe annotate has this file"),
        (("--read", "{0}/study", "--n", "5"), "--n is for the writing of sheets, without --read"),
        (("--read", "{0}/study", "--at-least", "half"), "--at-least half: a share from 0% to 100% is expected"),
        (("--read", "{0}/study", "--out", "{0}/data"), "not empty, and not a directory of sentprobe's results"),
        (("--read", "{0}/study", "--format", "html"), "html"),
    ],
)
def test_bad_usage_is_one_sentence(folder: Path, command: Command, arguments: tuple[str, ...], message: str) -> None:
    for name in ("toy", "other"):
        write_dataset(replace(DATA, name=name), folder / "two" / name)
    check_refusal(command("annotate", *(part.format(folder, probe1="{probe1}") for part in arguments)), message)
