"""Language models in a results folder: ``probe lm --out``, and the commands that read the folder."""

import csv
import io
import json
from pathlib import Path

import pytest
from helpers.encoders.language_models import make_gpt2
from helpers.in_process import Command
from helpers.strategies.probe_strategies import make_sample_result

from sentprobe.probes.results.store import prepare_directory, write_result

MODELS = ("python:shown_lm:score", "python:shown_lm:flip?name=<b>flip</b>")
PAIRS = ("-p", "transitive", "-p", "double_modal", "-n", "20")


@pytest.fixture
def run(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "shown_lm.py").write_text(
        "def score(texts):\n    return [[-float(len(word)) for word in text.split()] for text in texts]\n"
        "def flip(texts):\n    return [-sum(row) for row in score(texts)]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    code, shown, stderr = command("lm", *MODELS, *PAIRS, "--out", "run")
    assert (code, "transitive" in shown, "results: run" in stderr) == (0, True, True)
    return Path("run")


def test_show_prints_the_accuracies_of_lm(command: Command, run: Path) -> None:
    records = json.loads(command("lm", *MODELS, *PAIRS, "-f", "json")[1])
    keys = ("paradigm", "model", "accuracy", "accuracy_low", "ties", "unigram")
    expected = {tuple(record[key] for key in keys) for record in records if record["model"]}
    assert {
        tuple(record[key] for key in keys) for record in json.loads(command("show", run, "-f", "json")[1])
    } == expected
    code, shown, _ = command("show", run, "-f", "markdown", "--intervals")
    assert (code, "language models" in shown, "Ties count half." in shown) == (0, True, True)
    command("lm", MODELS[0], *PAIRS, "--score", "token", "--out", run)
    assert "language models, table 2 of 2" in command("show", run)[1]


def test_the_page_has_a_section_and_escapes_names(command: Command, run: Path) -> None:
    assert command("report", run, "-o", "page.html")[0] == 0
    page = Path("page.html").read_text()
    assert "<h2>Language models</h2>" in page
    assert "&lt;b&gt;flip" in page
    assert "<b>flip" not in page
    assert "probe lm" in page.partition("How to reproduce the results")[2]


def test_compare_tests_the_models_of_one_run_or_of_two(command: Command, run: Path) -> None:
    rows = [*csv.DictReader(io.StringIO(command("compare", run, "-f", "csv")[1]))]
    assert [(row["first"], row["paradigm"]) for row in rows] == [
        ("<b>flip</b>", "transitive"), ("<b>flip</b>", "double_modal"),
    ]  # fmt: skip
    against = [*csv.DictReader(io.StringIO(command("compare", run, "-f", "csv", "--against", "<b>flip</b>")[1]))]
    assert [float(row["difference"]) for row in against] == [-float(row["difference"]) for row in rows]
    command("lm", MODELS[1], *PAIRS, "--out", "second")
    code, shown, _ = command("compare", "run#python:shown_lm:score", "second", "--correction", "bh")
    assert (code, "python:shown_lm:score - <b>flip</b>" in shown, "Holm" in shown) == (0, True, False)
    assert "no language model 'x'" in command("compare", run, "--against", "x")[2]
    assert "no encoder 'x'" in command("compare", "run#x", "second")[2]
    command("lm", MODELS[1], "-p", "transitive", "-n", "5", "--out", "third")
    code, _, stderr = command("compare", "run", "third")
    assert (code, "have no common pairs" in stderr) == (1, True)
    assert command("compare", "third")[0] == 2


def test_probes_and_language_models_share_a_folder(command: Command, run: Path) -> None:
    assert "no results of probes" in command("show", run, "--published")[2]
    assert "nothing to plot" in command("show", run, "--plot", "x.svg")[2]
    prepare_directory(run)
    for encoder in ("bow", "random"):
        write_result(make_sample_result(encoder, "order", 500), run)
    shown = command("show", run)[1]
    assert shown.index("bow") < shown.index("language models")
    assert command("check", run)[1].endswith("by 22 checks\n")
    text = command("methods", run)[1]
    assert text.index("we probed") < text.index("we scored minimal pairs") < text.index("@misc{sentprobe,\n")
    assert text.count("@misc") == text.count("@article{wilson1927") == 1
    code, shown, stderr = command("compare", run)
    assert (code, "bow - random" in shown, "transitive" in shown, stderr) == (0, True, True, "")
    code, _, stderr = command("compare", run, "--against", "bow")
    assert (code, "left out: language models: run has no language model 'bow'" in stderr) == (0, True)


def test_check_and_methods_describe_language_models(command: Command, run: Path) -> None:
    code, shown, stderr = command("check", run)
    assert (code, stderr) == (1, "")
    assert "severe: unigram: language models; python:shown_lm:score\n  On 2 of 2 paradigms, the model is not" in shown
    assert "    double_modal: 0.0, unigram 100.0, chance 50.0; difference -100.0" in shown
    assert shown.endswith("by 6 checks\n")
    assert {finding["check"] for finding in json.loads(command("check", run, "-f", "json")[1])} >= {"unigram", "few"}
    code, shown, stderr = command("methods", run, "-f", "markdown")
    assert (code, stderr) == (0, "")
    assert "transitive and double\\_modal" in shown
    assert "20 pairs of each paradigm, sampled by sentprobe from everyday words with seed 0. " in shown
    assert "\\<b>flip" in shown
    command("lm", MODELS[0], *PAIRS, "--score", "token", "--out", run)
    assert "table 2 (40 pairs, token): python:shown_lm:score" in command("check", run)[1]
    assert command("methods", run, "-f", "latex")[1].count("we scored minimal pairs") == 2


def test_the_same_command_scores_no_sentence_again(command: Command, run: Path) -> None:
    make_gpt2(Path("gpt2"))
    first = command("lm", "hf:gpt2", *PAIRS, "--out", run)
    again = command("lm", "hf:gpt2", *PAIRS, "--out", run)
    assert again[:2] == first[:2] == (0, first[1])
    assert ("1 result found" in first[2], "1 result found" in again[2]) == (False, True)


def test_bad_folders_are_refused(command: Command, run: Path) -> None:
    Path("notes").mkdir()
    Path("notes", "x.txt").write_text("x")
    Path("file").write_text("x")
    for out, message in [("notes", "not a directory of sentprobe's results"), ("file", "file"), ("x.dat", "suffix")]:
        code, shown, stderr = command("lm", MODELS[0], *PAIRS, "--out", out)
        assert (code, shown, message in stderr) == (2, "", True), stderr
    for path in (run / "lm").glob("*.json"):
        path.write_text("{}")
    for name in ("show", "compare"):
        code, _, stderr = command(name, run)
        assert (code, "not a result of probe lm" in stderr) == (1, True)
