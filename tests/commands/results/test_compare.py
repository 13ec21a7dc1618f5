"""The command ``probe compare``, and errors shared with ``probe show``."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.runs.shown_runs import LAYERS, split_rows, write_run
from helpers.strategies.probe_strategies import make_sample_result

from sentprobe.common.tables import escape_markdown
from sentprobe.probes.results.store import MARKER


def test_compare_the_encoders_of_a_run(first: Path, command: Command) -> None:
    code, stdout, _ = command("compare", first)
    assert code == 0
    (row,) = split_rows(stdout)[1:]
    assert row[:4] == ["bow - st<b>", "Order", "50.0", "69.0"]
    assert row[5:] == ["0/95", "<0.001", "<0.001"]
    assert "1 of 1 differences is significant" in stdout
    assert "over units" in stdout


def test_compare_two_runs(first: Path, tmp_path: Path, command: Command) -> None:
    other_run = write_run(tmp_path / "other", make_sample_result("lstm", "Order", 690, mirrored=True))
    code, stdout, _ = command("compare", f"{first}#st<b>", other_run, "-f", "json")
    assert code == 0
    (record,) = json.loads(stdout)
    assert (record["first"], record["second"], record["difference"]) == ("st<b>", "lstm", 0)
    assert (record["sign_p"], record["t_p"]) == (1, 1)


def test_one_of_several_tables(tmp_path: Path, command: Command) -> None:
    """A run with two seeds, as ``probe show`` numbers them."""
    results = [
        replace(make_sample_result(name, "Order", 600 + seed), seed=seed) for seed in (0, 1) for name in ("bow", "lstm")
    ]
    run = write_run(tmp_path / "run", *results)
    for table in (1, 2):
        out = command("compare", run, "--table", table, "-f", "json")[1]
        assert [record["first_accuracy"] for record in json.loads(out)] == [0.599 + table / 1000]
    both = command("compare", f"{run}#bow", f"{run}#lstm", "--table", 2, "-f", "json")
    assert json.loads(both[1])[0]["first_accuracy"] == 0.601


SIGNIFICANT = "1 of 1 differences is significant (p (sign) < 0.05; {})."


@pytest.mark.parametrize("style", ["text", "markdown", "latex", "csv", "json"])
@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
def test_compare_formats(first: Path, command: Command, style: str, correction: str) -> None:
    code, stdout, _ = command("compare", first, "-f", style, "--correction", correction)
    assert code == 0
    assert "Order" in stdout
    signs = {"text": "", "markdown": "- ", "latex": "% "}
    message = [line for line in stdout.splitlines() if "differences is significant" in line]
    line = SIGNIFICANT.format("bold, or with a *")
    assert message == (
        [signs[style] + (escape_markdown(line) if style == "markdown" else line)] if style in signs else []
    )
    assert bool(re.search(r"\* [+-]\d.*\]", stdout)) == (style == "text")


@pytest.mark.parametrize(("suffix", "style"), [("md", "markdown"), ("tex", "latex"),
    ("csv", "csv"), ("JSON", "json")])  # fmt: skip
def test_a_file_has_what_is_printed(first: Path, tmp_path: Path, command: Command, suffix: str, style: str) -> None:
    out = tmp_path / f"differences.{suffix}"
    printed = command("compare", first, "-f", style)[1]
    assert command("compare", first, "-o", out) == (0, "", "")
    assert out.read_text("utf-8") == printed
    assert command("compare", first, "-o", tmp_path / "other.txt", "-f", style)[0] == 0
    assert (tmp_path / "other.txt").read_text("utf-8") == printed


def test_a_file_of_text_has_stars_where_a_terminal_has_bold(first: Path, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "differences.txt"
    assert command("compare", first, "-o", out)[0] == 0
    text = out.read_text("utf-8")
    assert re.search(r"\* [+-]\d.*\]", text)
    assert SIGNIFICANT.format("bold, or with a *") in text


def test_a_caption_and_a_label(first: Path, command: Command) -> None:
    options = ("-f", "latex", "--caption", "50% of  a_b & more", "--label", "tab:a_b")
    lines = command("compare", first, *options)[1].splitlines()
    assert lines[:5] == [
        r"\begin{table}",
        r"  \centering",
        r"  \caption{50\% of a\_b \& more}",
        r"  \label{tab:a_b}",
        r"\begin{tabular}{lrrrrrrr}",
    ]
    assert lines.index(r"\end{table}") == lines.index(r"\end{tabular}") + 1
    assert all(line.startswith("% ") for line in lines[lines.index(r"\end{table}") + 1 :])


def test_several_tables_have_labels_of_their_own(tmp_path: Path, command: Command) -> None:
    results = [replace(make_sample_result("bow", "Order", 600), seed=seed) for seed in (0, 1)]
    run = write_run(tmp_path / "run", *results)
    text = command("show", run, "-f", "latex", "--caption", "All", "--label", "tab:all")[1]
    for number in (1, 2):
        assert f"\\caption{{All ({number} of 2)}}\n  \\label{{tab:all-{number}}}\n" in text


def test_against_one(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "r#n", *LAYERS)
    read = json.loads(command("compare", run, "--against", "hf:m?layer=2", "-f", "json")[1])
    assert [record["second"] for record in read] == ["hf:m?layer=2"] * 2
    assert len(json.loads(command("compare", run, "-f", "json")[1])) == 3
    message = command("compare", run)[1]
    assert "Corrected for 3 comparisons: Holm; the intervals are not corrected." in message
    both = command("compare", f"{run}#hf:m?layer=2", f"{run}#hf:m?layer=10", "-f", "json")
    assert len(json.loads(both[1])) == 1


def check(got: tuple[int, str, str], code: int, message: str) -> None:
    last = got[2].splitlines()[-1]
    assert got[:2] == (code, "")
    assert last.startswith("probe: ")
    assert message in last
    assert "Traceback" not in got[2]


def test_refused(first: Path, tmp_path: Path, command: Command) -> None:
    other_result = replace(make_sample_result("lstm", "Order", 690), dataset_fingerprint="1" * 64)
    data = write_run(tmp_path / "data", other_result)
    tasks = write_run(tmp_path / "tasks", make_sample_result("lstm", "Negation", 690))
    twice = write_run(tmp_path / "twice", *(replace(LAYERS[0], seed=seed) for seed in (0, 1)), LAYERS[1])
    empty = write_run(tmp_path / "empty")
    mine = tmp_path / "mine"
    mine.mkdir()
    cases: list[tuple[list[object], int, str]] = [
        (["show", mine], 2, f"{mine}: not a directory of sentprobe's results"),
        (["show", tmp_path / "none"], 2, "none: no such folder of results"),
        (["show", empty], 2, "empty: no results yet"),
        (["show", first, "-f", "txt"], 2, "there is no format 'txt' (did you mean 'text'?)"),
        (["show", first, "--plot", tmp_path / "p.svg"], 2, "there is nothing to plot"),
        (["show", first, "--plot", tmp_path / "p.gif"], 2, "p.gif: the suffix of a plot must be one of .svg"),
        (["show", first, "-o", tmp_path / "no" / "x.txt"], 2, "x.txt: cannot write there"),
        (["compare", first, data], 2, "first has 2 encoders; name one, as in"),
        (["compare", f"{first}#bwo", data], 2, "no encoder 'bwo' (did you mean 'bow'?); it has:"),
        (["compare", f"{first}#bow", data], 1, "Order: bow ("),
        (["compare", f"{first}#bow", data], 1, "were tested on different data (fingerprints 0 and"),
        (["compare", f"{first}#bow", tasks], 1, "have no task in common"),
        (["compare", data], 2, "data has 1 encoder; a comparison needs two"),
        (["compare", empty, data], 2, "empty has no results"),
        (["compare", f"{first}#bow"], 2, "name a second run to compare it with"),
        (["compare", first, data, data], 2, "give one or two runs, not 3"),
        (["compare", first, data, "--against", "bow"], 2, "--against is for the encoders of one"),
        (["compare", first, "--against", "bwo"], 2, "no encoder 'bwo'"),
        (["compare", first, "-f", "html"], 2, "a comparison has no format 'html'"),
        (["compare", first, "--correction", "hlm"], 2, "no correction 'hlm' (did you mean 'holm'?)"),
        (["compare", twice], 2, "two results of hf:m?layer=10 on Order that differ in classifier, data or"),
        (["compare", twice], 2, "choose one of its 2 tables, as probe show numbers them, with --t"),
        (["compare", twice, "--table", "3"], 2, "twice has the tables 1 to 2, and no table 3"),
        (["compare", first, "--table", "5"], 2, "first has one table, not a table 5"),
        (["compare", first, "--table", "0"], 2, "first has one table, not a table 0"),
        (["compare", f"{first}#bow", tasks, "--table", "2"], 2, "has one table, not a table 2"),
        (["compare", mine], 2, "mine: not a directory of sentprobe's results"),
        (["compare", first, "-o", tmp_path / "x.html"], 2, "a comparison has no format 'html'"),
        (["compare", first, "-o", tmp_path / "no" / "x.md"], 2, "x.md: cannot write there"),
        (["compare", first, "-o", first], 2, "first: is a directory, not a file to write"),
        (["show", first, "--caption", "A"], 2, "--caption is for --format latex, not for text"),
        (["compare", first, "-f", "csv", "--label", "a"], 2, "--label is for --format latex"),
        (["show", first, "-f", "latex", "--label", "a"], 2, "--label needs a --caption"),
        (["show", first, "-f", "latex", "--caption", " "], 2, "--caption is empty"),
        (
            ["compare", first, "-f", "latex", "--caption", "A", "--label", "a{b"],
            2,
            "--label 'a{b': use letters, digits and the signs : . + / - _",
        ),
    ]
    for arguments, code, message in cases:
        check(command(*arguments), code, message)


def test_a_damaged_file_is_named(first: Path, command: Command) -> None:
    path = next(path for path in first.glob("[!.]*.json") if path.name != MARKER)
    path.write_text(path.read_text()[:-9])
    for name in ("show", "compare"):
        check(command(name, first), 1, f"{path}: not a result of sentprobe")
