"""Runs on natural text: default classifiers and omitted tasks."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.in_process import Command, check_success
from helpers.runs.natural_tables import sample_rows, write_table
from helpers.strategies.probe_strategies import make_learnable_dataset, to_items

from sentprobe.common.specs import Size, TaskGroup
from sentprobe.lexicon import english
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.classifier.probe import Preset
from sentprobe.probes.datasets.dataset import Card, ProbeDataset, Split
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.generated.tasks import TASKS as COMPEVAL
from sentprobe.probes.natural.datasets import TASKS
from sentprobe.probes.reports.tables.main_table import sort_results
from sentprobe.probes.reports.tables.table_notes import describe_all
from sentprobe.probes.results.store import read_results
from sentprobe.probes.runs.controls import WordSource
from sentprobe.probes.runs.run import run
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.suites import USUAL_PRESET, find_preset_name
from sentprobe.probes.runs.task import make_tasks

SMALL = ("--train", "60", "--test", "12", "--validation", "12")
QUICK = (*SMALL, "-e", "majority", "--jobs", "1", "--no-cache")
TRAINED = ("-e", "bow?dim=4", "--no-controls")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_table(sample_rows(), tmp_path_factory.mktemp("made") / "table", shards=2).path)


def briefly(data: ProbeDataset) -> Preset:
    """The usual classifier, after two epochs."""
    return override(USUAL_PRESET(data), [("max_epochs", "2")])


def named(name: str, *, task: str = "") -> ProbeDataset:
    data = make_learnable_dataset(size=20)
    return replace(data, name=name, card=Card(task or name))


@pytest.fixture
def built(table: str, tmp_path: Path, command: Command) -> Path:
    """A folder with BShift in our own format and in SentEval's."""
    for format_ in ("directory", "senteval"):
        chosen = ("--task", "BShift", "--no-audit", "--format", format_)
        check_success(command("build", "natural", table, "-o", tmp_path, *SMALL, *chosen))
    return tmp_path


# Which classifier


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_natural_task_has_classifier_of_paper(task: object) -> None:
    suite, name = task.suite, task.name  # type: ignore[attr-defined]
    assert find_preset_name(name) == ("conneau" if suite in {TaskGroup.CONNEAU, TaskGroup.UNIVERSAL} else "adi")


def test_other_datasets_have_ettinger() -> None:
    order = build(COMPEVAL["Order"], english(), size=Size(84, 28))
    assert USUAL_PRESET(order) == find_preset("ettinger")
    assert all(find_preset_name(name) == "ettinger" for name in (*COMPEVAL, "sr", "mine"))


def test_card_comes_before_name() -> None:
    assert USUAL_PRESET(named("mine", task="SubjNum")).name == "conneau"
    assert USUAL_PRESET(named("AdiOrder", task="toy")).name == "adi"
    assert USUAL_PRESET(named("mine", task="toy")).name == "ettinger"


def test_task_has_classifier_and_probe_words() -> None:
    data = [named(name) for name in ("WC", "AdiOrder", "bigram_shift", "mine")]

    def chosen(**options: Any) -> list[tuple[str, str]]:
        tasks = make_tasks(data, run=Run(), **options)
        return [(task.preset.name, task.words.name) for task in tasks]

    usual = [("conneau", "one-hot"), ("adi", "encoder"), ("conneau", "one-hot"), ("ettinger", "one-hot")]
    assert chosen() == usual
    logreg = find_preset("logreg")
    bow = WordSource("bow")
    assert chosen(preset=logreg, words=bow) == [("logreg", "bow")] * 4
    assert chosen(preset=logreg) == [("logreg", words) for _, words in usual]


def test_probe_words_of_adi_are_vectors() -> None:
    def words(**options: str) -> dict[str, str]:
        datasets = [named("mine"), named("AdiOrder")]
        records = run(datasets, ["bow?dim=4"], preset=briefly, controls=False, **options).records  # type: ignore[arg-type]
        return {record.task: record.probe_vectors for record in records}

    assert words() == {"mine": "one-hot", "AdiOrder": "encoder"}
    assert words(probe_vectors="one-hot") == {"mine": "one-hot", "AdiOrder": "one-hot"}


def test_run_in_python_has_usual_classifiers() -> None:
    results = run([named("mine"), named("SOMO")], ["majority"])
    assert {r.task: r.preset.name for r in results.records} == {"mine": "ettinger", "SOMO": "conneau"}
    arguments = run([named("SOMO")], ["majority"], preset=find_preset("adi"))
    assert arguments.records[0].preset.name == "adi"


def test_table_names_classifier_of_task(table: str, tmp_path: Path, command: Command) -> None:
    chosen = ("--task", "SentLen", "--task", "AdiOrder", "--set", "max_epochs=7", *TRAINED)
    out = check_success(command("run", "natural", table, "-o", tmp_path / "run", *QUICK, *chosen, "--notes"))
    assert out.count("classifier: ") == 2
    assert out.index("SentLen") < out.index("classifier: conneau (")
    assert out.index("classifier: conneau (") < out.index("classifier: adi (")
    actual = {r.task: r.preset for r in read_results(tmp_path / "run").records}
    assert {task: (preset.name, preset.max_epochs) for task, preset in actual.items()} == {
        "SentLen": ("conneau", 7),
        "AdiOrder": ("adi", 7),
    }


def test_columns_are_in_order_of_paper() -> None:
    results = run([named(name) for name in ("BShift", "CoordInv", "SentLen", "WC")], ["majority"])
    assert sort_results(results).tasks == ("SentLen", "WC", "BShift", "CoordInv")


def test_named_preset_is_for_all_tasks(table: str, command: Command) -> None:
    chosen = ("--task", "SentLen", "--task", "AdiOrder", "--preset", "logreg", *TRAINED)
    out = check_success(command("run", "natural", table, *QUICK, *chosen, "--notes"))
    assert out.count("classifier: ") == out.count("classifier: logreg (") == 1


def test_notes_of_cards_are_printed(table: str, command: Command) -> None:
    chosen = ("--task", "SentLen", "--task", "AdiOrder", "--preset", "logreg")
    out = check_success(command("run", "natural", table, *QUICK, *chosen, "--notes"))
    assert "note: AdiOrder: scaled down: 60 train, 12 validation, 12 test items were" in out
    assert "Accuracy in % on 12 test items of SentLen, 8 of AdiOrder. Chance, " in out
    assert "classifier: " not in out
    assert "anity" not in out


@pytest.mark.parametrize(
    ("old", "new", "preset"),
    [
        ("BShift", "BShift", "conneau"),
        ("BShift", "mine", "conneau"),
        ("bigram_shift.txt", "BShift.txt", "conneau"),
        ("bigram_shift.txt", "mine.txt", "ettinger"),
    ],
)
def test_card_or_name_chooses_classifier(old: str, new: str, preset: str, built: Path, command: Command) -> None:
    (built / old).rename(built / new)
    quick = ("-e", "bow?dim=4", "--set", "max_epochs=1", "--no-controls", "--jobs", 1)
    out = check_success(command("run", built / new, *quick, "--no-cache", "--notes"))
    assert f"classifier: {preset} " in out


@pytest.mark.parametrize(
    ("task", "removed", "found"),
    [
        ("bigram_shift", "", "bigram_shift"),
        ("BShift", "", "BShift"),
        ("bigram_shift", "bigram_shift.txt", "BShift"),
        ("BigramShift", "bigram_shift.txt", "BShift"),
        ("BShift", "BShift", "bigram_shift"),
    ],
)
def test_task_may_have_name_of_file(task: str, removed: str, found: str, built: Path, command: Command) -> None:
    if removed:
        (built / removed).rename(built.parent / f"{built.name}-{removed}")
    write_dataset(named("other"), built / "other")
    run = built.parent / f"{built.name}-run"
    check_success(command("run", built, "--task", task, "-e", "majority", "-o", run))
    assert [result.task for result in read_results(run).records] == [found]


def test_built_task_may_have_name_of_file(table: str, tmp_path: Path, command: Command) -> None:
    arguments = ("--task", "sentence_length", "-e", "majority", "-o", tmp_path / "run")
    for _ in "ab":
        check_success(command("run", "natural", table, *SMALL, *arguments))
    assert [result.task for result in read_results(tmp_path / "run").records] == ["SentLen"]


def test_impossible_setting_is_refused_early(table: str, command: Command) -> None:
    chosen = ("--task", "SentLen", "--set", "optimizer=lbfgs")
    code, out, err = command("run", "natural", table, *QUICK, *chosen, "--notes")
    assert (code, out) == (2, "")
    assert "preset conneau: optimizer=lbfgs needs activation=none" in " ".join(err.split())


def test_controls_name_probe_words_if_any() -> None:
    bare = ProbeDataset(
        name="toy",
        sentences=tuple(f"{word} sleeps {n}" for n in range(20) for word in "ab"),
        labels=("x", "y"),
        probe_words=(),
        splits={
            split: to_items([(row, [], row % 2) for row in rows])
            for split, rows in ((Split.TRAIN, range(28)), (Split.TEST, range(28, 40)))
        },
        card=Card("toy"),
    )
    quick = replace(find_preset("ettinger"), max_epochs=2)
    for data, spoken in ((bare, False), (named("toy"), True)):
        text = describe_all(run([data], ["bow?dim=4"], preset=quick))
        assert ("random words replace the probe words" in text) == spoken
        assert "Random sentences: random vectors replace the sentence vectors" in text


# What cannot be built


def test_omitted_task_is_named(table: str, tmp_path: Path, command: Command) -> None:
    chosen = ("--task", "Tense", "--task", "SentLen", "--frequency-band", "4000-4001")
    code, out, err = command("run", "natural", table, "-o", tmp_path / "run", *QUICK, *chosen, "--notes")
    assert code == 1
    assert "SentLen" in out
    assert "Tense" not in out
    assert "probe: 1 of 2 tasks could not be built:\nTense: the corpus has too few sent" in err
    assert [result.task for result in read_results(tmp_path / "run").records] == ["SentLen"]


def test_tables_without_language_are_refused(table: str, tmp_path: Path, command: Command) -> None:
    second = write_table(sample_rows()[:9], tmp_path / "other").path
    code, out, err = command("run", "natural", table, second, *QUICK)
    assert (code, out) == (2, "")
    assert f"{table}: its language is not known; analyse it again with --language and --force" in err
    assert "build the tasks" not in err


def test_run_without_any_task_says_why(table: str, command: Command) -> None:
    chosen = ("--task", "Tense", "--frequency-band", "4000-4001")
    code, out, err = command("run", "natural", table, *QUICK, *chosen, "--notes")
    assert (code, out) == (1, "")
    assert "probe: 1 of 1 tasks could not be built:\nTense: the corpus has too few sent" in err
