"""The command ``probe gate``: output, exit codes and errors."""

import csv
import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from in_process import Command

ROLE = ("gate", "bow?dim=8", "-c", "role", "-n", "60", "--no-cache")


def test_the_sentence_and_the_table(command: Command) -> None:
    code, shown, _ = command(*ROLE, "-f", "markdown")
    assert code == 0
    assert re.search(
        r"At a cosine of 0\.\d{4}, where \d+\.\d% of paraphrases pass, 100\.0% of sentences in which agent and patient "
        r"of one clause are exchanged pass, too\.",
        shown,
    )
    rows = [line.strip("| ").split(" | ") for line in shown.splitlines() if line.startswith("| role: ")]
    assert [(row[1], row[2], row[4]) for row in rows] == [("anchor", "100.0", "0.0"), ("form", rows[1][2], "50.0")]
    assert float(rows[1][2]) + float(rows[1][3]) == pytest.approx(100)
    assert "role (form): 60 negatives have exactly the score of their positive." in shown
    assert "[" in command(*ROLE, "--intervals", "-f", "markdown")[1]


def test_records_and_draws(command: Command) -> None:
    records = json.loads(command(*ROLE, "--draws", "2", "-f", "json")[1])
    rows = list(csv.DictReader(io.StringIO(command(*ROLE, "--draws", "2", "-f", "csv")[1])))
    assert [record["seed"] for record in records] == [0, 0, 10, 10] == [int(row["seed"]) for row in rows]
    assert {record["auc"] for record in records if record["form"] == "form"} == {0.5}
    text = command(*ROLE, "--draws", "2")[1]
    assert "Mean ± standard deviation of 2 draws." in text


def test_too_many_false_hits_end_with_an_exit_code_and_one_sentence(command: Command) -> None:
    code, shown, err = command(*ROLE, "--max-false-hits", "5%")
    assert code == 1
    assert "paraphrases pass" in shown
    assert re.search(r"^probe: more false hits than 5%: role \(anchor\) 100\.0%, role \(form\) \d+\.\d%$", err, re.M)
    assert command(*ROLE, "--threshold", "1", "--max-false-hits", "1.0")[0] == 0


def test_junit(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "gate.xml"
    code, shown, _ = command(*ROLE, "--max-false-hits", "0.99", "--out", path)
    assert (code, shown) == (1, "")
    suites = ET.parse(path).getroot()
    assert (suites.tag, suites.get("tests"), suites.get("failures")) == ("testsuites", "2", "1")
    cases = suites.findall("testsuite/testcase")
    assert [case.get("name") for case in cases] == ["role (anchor)", "role (form)"]
    assert [case.find("failure") is not None for case in cases] == [True, False]
    ET.fromstring(command(*ROLE, "--format", "junit")[1])


def test_own_pairs(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("a,b,same\nthe man slept,the man slept,1\nthe man slept,the woman slept,0\n", encoding="utf-8")
    code, shown, _ = command("gate", "bow", "--pairs", path, "--threshold", "0.99", "-f", "csv")
    (row,) = csv.DictReader(io.StringIO(shown))
    assert (code, row["misses"], row["false_hits"], row["contrast"]) == (0, "0.0", "0.0", "")
    code, _, err = command("gate", "bow", "--pairs", path)
    assert (code, err.count("\n")) == (2, 1)
    assert "too few pairs to choose a threshold" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--keep 105%", "--keep 105%: a share from 0% to 100% is wanted, such as 5% or 0.05"),
        ("--max-false-hits few", "--max-false-hits few: a share from 0% to 100% is wanted"),
        ("--threshold 0.8 --keep 90%", "--threshold and --keep: give one of them"),
        ("--threshold 2", "the threshold 2 is outside the range of the cosine, -1 to 1"),
        ("--format html", "gate has no format 'html'"),
        ("--format xml", "there is no format 'xml'"),
        ("--pairs x.csv", "--contrast is for generated triplets, not for the pairs of x.csv"),
        ("--nearness whitened", "the measure whitened is not for single pairs"),
    ],
)
def test_bad_usage_gets_a_sentence(arguments: str, message: str, command: Command) -> None:
    code, out, err = command(*ROLE, *arguments.split())
    assert (code, out) == (2, "")
    assert message in err
