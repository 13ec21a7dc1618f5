"""The papers' rows: the figures are theirs, and stand where a run has their tasks."""

import re
import tomllib

import pytest
from helpers.shared import ROOT
from helpers.strategies.probe_strategies import make_sample_result

from sentprobe.probes.reports.tables.main_table import (
    CellStyle,
    PublishedKind,
    build_grid,
    describe_published_tables,
    find_tables,
    read_published_tables,
    to_published_records,
)
from sentprobe.probes.reports.tables.table_notes import describe_all
from sentprobe.probes.results.result import Results
from sentprobe.probes.runs.suites import list_known_tasks

CHECKED = ROOT.parent / "shared" / "papers" / "published.toml"
SHOWN = CellStyle(published=True)


@pytest.mark.skipif(not CHECKED.is_file(), reason=f"the checked figures are not at {CHECKED}")
def test_every_figure_is_one_that_was_checked_against_the_paper() -> None:
    checked = tomllib.loads(CHECKED.read_text("utf-8"))["table"]
    expected = {
        (checked_table["label"], row["name"], row["kind"], task, accuracy)
        for checked_table in checked
        for row in checked_table["row"]
        for task, accuracy in row.get("accuracies", {}).items()
    }
    packaged = {
        (row.source, row.name, row.kind.value, task, accuracy)
        for table in read_published_tables()
        for row in table.rows
        for task, accuracy in row.accuracies.items()
    }
    assert packaged == expected


def test_tasks_are_known_and_chance_is_said_of_each() -> None:
    names = {task.name for task in list_known_tasks()}
    for table in read_published_tables():
        tasks = {task for row in table.rows for task in row.accuracies}
        assert tasks == set(table.chance)
        assert tasks <= names


def test_chance_of_conneau_is_their_majority_vote() -> None:
    (table,) = find_tables(["Tense"])
    (row,) = (row for row in table.rows if row.name == "Majority vote")
    assert row.accuracies == table.chance


@pytest.mark.parametrize(
    ("task", "label"),
    [
        ("SemRole", "SDAE (Ettinger et al. 2018)"),
        ("BShift", "BiLSTM-max, NLI (Conneau et al. 2018)"),
        ("BShift", "NB-bi-tfidf (Conneau et al. 2018, baseline)"),
        ("BShift", "Hum. Eval. (Conneau et al. 2018, bound)"),
        ("AdiOrder-permuted", "skip-thought (Adi et al. 2017)"),
    ],
)
def test_rows_say_whose_they_are_and_what_they_are(task: str, label: str) -> None:
    assert label in [row.label for table in find_tables([task]) for row in table.rows]


def test_rows_of_all_papers_stand_below_and_none_is_best() -> None:
    tasks = ["SemRole", "Tense", "AdiOrder"]
    results = Results(tuple(make_sample_result("bow", task, 600) for task in tasks))
    first, *below = build_grid(results, style=SHOWN).rows
    assert first.label == "bow"
    shown = {row.label: [cell.text for cell in row.cells] for row in below}
    assert shown["ST-BI (Ettinger et al. 2018)"] == ["63.2", "", ""]
    assert shown["Hum. Eval. (Conneau et al. 2018, bound)"] == ["", "85.0", ""]
    assert shown["skip-thought (Adi et al. 2017)"] == ["", "", "81.1"]
    assert len(shown) == sum(len(table.rows) for table in read_published_tables())
    assert not any(cell.best for row in below for cell in row.cells)


def test_lines_cite_the_paper_and_name_classifier_and_chance() -> None:
    (line,) = describe_published_tables(["Tense", "WC"])
    assert re.search(
        r"^Published rows: Conneau, .* table 2, section 4; .* preset conneau, 100,000 training and "
        r"10,000 validation and 10,000 test items, chance 50\.0 on Tense, 0\.5 on WC\. "
        r"Data and encoders are the paper's; Hum\. Eval\. is human accuracy, an ",
        line,
    )
    lines = describe_all(Results((make_sample_result("bow", "Order", 600),)), style=SHOWN)
    assert "Published rows: Ettinger, " in lines
    assert "chance 50.0 on all" in lines


def test_a_run_of_other_tasks_is_told_that_there_are_none() -> None:
    results = Results((make_sample_result("bow", "mine", 600),))
    assert len(build_grid(results, style=SHOWN).rows) == 1
    assert describe_all(results, style=SHOWN).endswith(
        "No published rows: none of the papers' tables has one of these tasks.\n"
    )
    assert to_published_records(results) == []
    assert "papers" not in describe_all(results, style=CellStyle())


def test_records_have_the_keys_of_results() -> None:
    results = Results((make_sample_result("bow", "AdiLength", 600),))
    (record,) = to_published_records(results)
    assert list(record) == list(results.to_records()[0])
    assert (record["accuracy"], record["majority"]) == pytest.approx((0.821, 0.201))
    assert record["condition"] == "published"
    assert record["encoder"] == "skip-thought (Adi et al. 2017)"


def test_kinds() -> None:
    kinds = [row.kind for table in read_published_tables() for row in table.rows]
    assert kinds.count(PublishedKind.BOUND) == 1
    assert kinds.count(PublishedKind.BASELINE) == 5
