"""The command ``probe show``."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.runs.shown_runs import TagChecker, split_rows, write_run
from helpers.strategies.probe_strategies import make_sample_result

from sentprobe.common.tables import escape_markdown


def test_show(first: Path, command: Command) -> None:
    code, stdout, stderr = command("show", first, "--notes")
    assert (code, stderr) == (0, "")
    assert split_rows(stdout)[:3] == [
        ["encoder", "Content1Probe", "Order"],
        ["bow", "90.0", "50.0"],
        ["st<b>", "", "* 69.0"],
    ]
    assert "classifier: ettinger" in stdout
    assert "the words alone (bags of random word vectors, as wide as each encoder's vectors) reach 90.0" in stdout


def test_several_runs_in_one_table(first: Path, tmp_path: Path, command: Command) -> None:
    more = write_run(tmp_path / "more", make_sample_result("lstm", "Order", 600, mirrored=True))
    _, stdout, _ = command("show", first, more)
    assert split_rows(stdout)[1:4] == [["bow", "90.0", "50.0"], ["lstm", "", "60.0"], ["st<b>", "", "* 69.0"]]


def test_the_folders_are_named_where_there_are_several(first: Path, tmp_path: Path, command: Command) -> None:
    more = write_run(tmp_path / "more", make_sample_result("lstm", "Order", 600, mirrored=True))
    messages = [f"from {first}: bow, st<b>", f"from {more}: lstm"]
    for style, sign in (("text", ""), ("markdown", "- "), ("latex", "% ")):
        lines = command("show", first, more, "-f", style, "--notes")[1].splitlines()
        expected = [escape_markdown(line) if style == "markdown" else line for line in messages]
        assert [line for line in lines if "from " in line and "from one probe" not in line] == [
            f"{sign}{line}" for line in expected
        ]
    page = TagChecker()
    page.feed(command("show", first, more, "-f", "html")[1])
    assert set(messages) <= set(page.texts)
    assert f"from {first}" not in command("show", first)[1]
    records = json.loads(command("show", first, more, "-f", "json")[1])
    assert {(record["encoder"], record["run"]) for record in records} == {
        ("bow", str(first)), ("st<b>", str(first)), ("lstm", str(more)),
    }  # fmt: skip
    read = list(csv.DictReader(io.StringIO(command("show", first, "-f", "csv")[1])))
    assert {(record["run"], record["precision"]) for record in read} == {(str(first), "float32")}


TITLES = {
    "text": "table {} of 2\n", "markdown": "**table {} of 2**\n\n", "latex": "% table {} of 2\n",
    "html": "<h2>Accuracy: table {} of 2</h2>",
}  # fmt: skip


@pytest.mark.parametrize("style", TITLES)
def test_several_tables_are_numbered(style: str, first: Path, tmp_path: Path, command: Command) -> None:
    other_result = replace(make_sample_result("bow", "Order", 600), dataset_fingerprint="1")
    out = command("show", first, write_run(tmp_path / "other", other_result), "-f", style)[1]
    assert all(TITLES[style].format(number) in out for number in (1, 2))
    assert "of 1" not in command("show", first, "-f", style)[1]


def test_tables_of_other_seeds_say_so(first: Path, tmp_path: Path, command: Command) -> None:
    other_result = replace(make_sample_result("bow", "Order", 600), seed=7)
    out = command("show", first, write_run(tmp_path / "other", other_result))[1]
    assert "table 1 of 2, seed 0\n" in out
    assert "table 2 of 2, seed 7\n" in out


def test_a_table_for_each_setting(first: Path, tmp_path: Path, command: Command) -> None:
    other_result = replace(make_sample_result("bow", "Order", 600), dataset_fingerprint="1")
    _, stdout, _ = command("show", first, write_run(tmp_path / "other", other_result), "--notes")
    assert stdout.count("classifier: ") == 2
    assert [row for row in split_rows(stdout) if row[0] == "encoder"] == [
        ["encoder", "Content1Probe", "Order"],
        ["encoder", "Order"],
    ]


def test_show_formats(first: Path, command: Command, tmp_path: Path) -> None:
    assert "| bow | 90.0 | 50.0 |\n" in command("show", first, "-f", "markdown")[1]
    latex = command("show", first, "-f", "latex")[1]
    assert r"\textbf{69.0}" in latex
    assert all(line.startswith("%") for line in latex.partition("\\end{tabular}\n")[2].splitlines())
    read = list(csv.DictReader(io.StringIO(command("show", first, "-f", "csv")[1])))
    assert len(read) == 12
    assert len(json.loads(command("show", first, "-f", "json")[1])) == 12
    out = tmp_path / "table.txt"
    assert command("show", first, "--intervals", "-o", out)[:2] == (0, "")
    assert "69.0 [" in out.read_text()


@pytest.mark.parametrize("suffix", ["md", "tex", "csv", "json", "html", "TEX", "txt"])
def test_the_suffix_says_the_format(suffix: str, first: Path, command: Command, tmp_path: Path) -> None:
    named = {"md": "markdown", "tex": "latex", "txt": "text"}
    out, expected = tmp_path / f"table.{suffix}", tmp_path / "wanted"
    assert command("show", first, "-o", out)[0] == 0
    assert "x.dat: no format has the suffix '.dat'" in command("show", first, "-o", tmp_path / "x.dat")[2]
    style = named.get(suffix.lower(), suffix)
    assert command("show", first, "-o", expected, "-f", style)[0] == 0
    assert out.read_text() == expected.read_text()
    assert command("show", first, "-o", out, "-f", "csv")[0] == 0
    assert len(list(csv.DictReader(io.StringIO(out.read_text())))) == 12


@pytest.mark.parametrize("style", ["text", "markdown", "latex", "html"])
def test_published_rows(style: str, first: Path, command: Command) -> None:
    code, stdout, _ = command("show", first, "--published", "--notes", "-f", style)
    assert code == 0
    for message in ("ST-UNI (Ettinger et al. 2018)", "93.2", "table 2, section 7.2"):
        assert message in stdout
    assert "Ettinger" not in command("show", first, "-f", style)[1]


def test_published_rows_among_records(first: Path, command: Command) -> None:
    records = json.loads(command("show", first, "--published", "-f", "json")[1])
    papers = [record for record in records if record["condition"] == "published"]
    assert {record["task"] for record in papers} == {"Content1Probe", "Order"}
    assert len(papers) == 10
    read = csv.DictReader(io.StringIO(command("show", first, "--published", "-f", "csv")[1]))
    assert [record["condition"] for record in read].count("published") == 10
