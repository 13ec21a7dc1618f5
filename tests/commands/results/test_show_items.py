"""``probe show --by`` and ``--wrong``, and ``--hold-out-structure``."""

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.in_process import Command, check_refusal, check_success
from helpers.runs.shown_runs import split_rows, write_first_run, write_run
from helpers.strategies.probe_strategies import make_sample_result, make_seed_score

from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.generated.assemble import build_task
from sentprobe.probes.results.data_facts import collect_data_facts
from sentprobe.probes.results.item_table import write_item_table
from sentprobe.probes.results.result import Condition, make_score, renumber_units
from sentprobe.probes.runs.completed_tasks import make_item_table

SMALL = ("--train", 56, "--test", 112, "--seed", 3)
ONE = ("--jobs", 1, "--no-cache")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results with passives held out: of each mirror pair, each of two probes has one right."""
    out = tmp_path_factory.mktemp("held-out") / "run"
    data = build_task("SemRole", train=56, test=112, hold_out_structure="passive")
    units = renumber_units(data.units(Split.TEST))
    first = [units[:at].count(unit) % 2 == 0 for at, unit in enumerate(units)]  # half of each unit
    scores = [make_seed_score(first, seed=seed) for seed in (0, 1)]
    shown = (Condition.PROBE, Condition.BAG_OF_WORDS, Condition.RANDOM_SENTENCES)
    result = replace(
        make_sample_result("bow?dim=8", "SemRole", 5),
        dim=8,
        dataset_fingerprint=data.fingerprint(),
        data=collect_data_facts(data),
        units=units,
        scores={condition: make_score(scores, units) for condition in shown},
    )
    write_run(out, result)
    write_item_table(make_item_table(data), out)
    return out


def test_both_parts_and_the_gap_are_shown(finished: Path, command: Command) -> None:
    code, out, err = command("show", finished, "--notes")
    assert (code, err) == (0, "")
    shown = {row[0]: row[1:] for row in split_rows(out)}
    assert shown["SemRole, structure"][:3] == ["test items", "bow?dim=8", "bag of words, dim 8"]
    for part in ("trained", "held out: passive"):
        assert shown[part][0] == "56"
        # Each part has whole units, of which a bag of words has half right.
        assert shown[part][2] == "50.0 ± 0.0 [50.0, 50.0]"
    assert shown["gap"][2].startswith("+0.0 [")
    assert "passive held out of training" in out
    code, again, _ = command("show", finished, "--by", "structure")
    assert {row[0]: row[1:] for row in split_rows(again)}.items() <= shown.items()


@pytest.mark.parametrize("column", ["voice", "clause", "distance", "attractors", "length", "label"])
def test_records_add_up(column: str, finished: Path, command: Command, tmp_path: Path) -> None:
    place = tmp_path / "parts.csv"
    code, out, err = command("show", finished, "--by", column, "--out", place)
    assert (code, out, err) == (0, "", "")
    code, full_output, _ = command("show", finished, "--format", "json")
    accuracy = {record["condition"]: record["accuracy"] for record in json.loads(full_output)}
    actual = [*csv.DictReader(place.read_text("utf-8").splitlines())]
    assert {record["condition"] for record in actual} == {*accuracy}
    for condition, expected in accuracy.items():
        here = [record for record in actual if record["condition"] == condition]
        assert sum(int(record["items"]) for record in here) == 112
        right = sum(int(record["items"]) * float(record["accuracy"]) for record in here)
        assert right / 112 == pytest.approx(expected)
        assert all(float(e["low"]) <= float(e["accuracy"]) <= float(e["high"]) for e in here)


def test_formats(finished: Path, command: Command) -> None:
    shown = {}
    for fmt in ("markdown", "latex", "json", "text"):
        code, shown[fmt], err = command("show", finished, "--by", "voice", "-f", fmt, "--all-rows", "--task", "sr")
        assert (code, err) == (0, "")
    assert "| SemRole, voice | test items | bow?dim=8 | random sentences, dim 8 |" in shown["markdown"]
    assert "  SemRole, voice & test items & bow?dim=8 & " in shown["latex"]
    assert "% By voice: the voice of the clause that the item asks about." in shown["latex"]
    assert {record["part"] for record in json.loads(shown["json"])} == {"active", "passive"}


def test_mistakes(finished: Path, command: Command) -> None:
    arguments = ("show", finished, "--wrong", 2, "--encoder", "bow?dim=8", "--task", "SemRole")
    code, out, err = command(*arguments)
    assert (code, err) == (0, "")
    head, first, words, answer, event, columns, *_ = out.splitlines()
    assert head.startswith("bow?dim=8 on SemRole: ")
    assert head.endswith(" of 112 test items are answered wrong; the first 2")
    assert first.startswith("1. the ")
    assert first.count("[") == words.count(",") + 1 == 2
    assert " (2 of 2 probes wrong)" in answer
    assert event.startswith("   event: ")
    assert "structure " in columns
    assert command(*arguments)[1] == out
    code, exit_code, _ = command(*arguments, "--by", "structure", "-f", "json")
    assert [record["part"] for record in json.loads(exit_code)] == [
        *["structure trained"] * 2, *["structure held out: passive"] * 2,
    ]  # fmt: skip
    code, page, _ = command(*arguments, "-f", "markdown")
    assert page.splitlines()[2].startswith("1. the ")
    assert page.splitlines()[2].count("**") == 4
    code, tex, _ = command(*arguments, "-f", "latex", "--caption", "Errors")
    assert (code, "  sentence & probe words & answer" in tex) == (0, True)


REFUSED = {
    "--by vioce": "no test items have a column 'vioce' (did you mean 'voice'?); the columns are ",
    "--wrong 3": "--wrong needs --encoder and --task",
    "--wrong 3 --encoder bow?dim=8": "--wrong needs --encoder and --task",
    "--wrong 3 --encoder bow?dim=9 --task SemRole": "(did you mean 'bow?dim=8'?)",
    "--wrong 3 --encoder bow?dim=8 --task SemRle": "(did you mean 'SemRole'?)",
    "--wrong 0 --encoder bow --task SemRole": "the number of wrong items must be positive, not 0",
    "--task SemRole": "--task needs --by or --wrong",
    "--by voice --by-length bins": "--by-length and --by cannot be combined: omit one of them",
    "--by voice --plot x.svg": "--plot and --by cannot be combined",
    "--by voice -f html": "probe show --by has no format 'html'; known: text, markdown, latex, csv, json",
}


@pytest.mark.parametrize("options", REFUSED)
def test_bad_request_is_refused(options: str, finished: Path, command: Command) -> None:
    check_refusal(command("show", finished, *options.split()), REFUSED[options])


def test_results_without_their_items(finished: Path, command: Command, tmp_path: Path) -> None:
    without = write_first_run(tmp_path)
    code, out, err = command("show", without, "--by", "voice")
    assert (code, out) == (2, "")
    assert f"{without}: does not have the test items of " in err
    assert err.endswith("run the same command again: it adds them without training\n")
    bare = tmp_path / "bare"
    shutil.copytree(finished, bare)
    shutil.rmtree(bare / "items")
    code, out, err = command("show", bare)
    assert (code, err) == (0, "")
    assert "SemRole, structure" not in out


@pytest.mark.parametrize("form", ["text", "markdown", "csv", "html"])
def test_damaged_items_are_refused_where_needed(form: str, finished: Path, command: Command, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    (file,) = (run / "items").iterdir()
    file.write_bytes(b"PAR1")
    code, out, err = command("show", run, "--format", form)
    assert code == 0
    assert "bow?dim=8" in out
    assert "SemRole, structure" not in out
    message = f"left out: test items: {file}: not an item table of sentprobe"
    assert [line.startswith(message) for line in err.splitlines()] == [True] * (form != "csv")
    code, out, err = command("show", run, "--by", "voice", "--format", form.replace("html", "csv"))
    assert (code, out) == (1, "")
    assert err.startswith(f"probe: {file}: not an item table of sentprobe")


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("build compeval --hold-out-structure pasive -o x", "no structure 'pasive' (did you mean"),
        (
            "build compeval --task Order --hold-out-structure past -f published -o x",
            "the format published cannot mark items with a held-out structure; choose",
        ),
        (
            "build compeval --task Negation --hold-out-structure negated --train 56 --test 56 -o x",
            "Negation: every sentence of its questions has the held-out structure",
        ),
        (
            "run x.csv --hold-out-structure past",
            "--hold-out-structure is for the suite compeval or structure, not for x.csv",
        ),
    ],
)
def test_impossible_held_out_structure_is_refused(line: str, message: str, command: Command) -> None:
    Path("x.csv").write_text("split,label,text\n")
    code, out, err = command(*line.split())
    assert code == 2
    assert message in out + err


def test_any_column_of_any_dataset(command: Command, tmp_path: Path) -> None:
    place = tmp_path / "mine.csv"
    lines = [
        f"{split},{n % 2},{'good' if n % 2 else 'bad'} film {n},{'news' if n % 3 else 'novel'}"
        for n, split in enumerate(["train"] * 30 + ["test"] * 12)
    ]
    place.write_text("split,label,text,genre\n" + "\n".join(lines))
    out = tmp_path / "out"
    check_success(command("run", place, "-e", "majority", "--out", out, *ONE))
    shown = check_success(command("show", out, "--by", "genre"))
    assert [row[:2] for row in split_rows(shown)] == [
        ["mine, genre", "test items"], ["news", "8"], ["novel", "4"],
    ]  # fmt: skip
    assert "By genre: a column of the items." in shown


def test_built_dataset_names_held_out_structure(command: Command, tmp_path: Path) -> None:
    sets, out = tmp_path / "sets", tmp_path / "out"
    arguments = ("--task", "Order", "--hold-out-structure", "past")
    code, shown, _ = command("build", "compeval", *arguments, *SMALL, "-f", "jsonl", "-o", sets)
    assert (code, "no training sentence has a verb in the past tense" in shown) == (0, True)
    shown = check_success(command("run", sets, "-e", "majority", "--out", out, *ONE))
    assert [row[0] for row in split_rows(shown)][-4:] == [
        "Order, structure", "trained", "held out: past", "gap",
    ]  # fmt: skip
