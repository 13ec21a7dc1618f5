"""The command ``probe lm``: output, exit codes and errors."""

import csv
import importlib
import io
import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from helpers.encoders.language_models import make_bert, make_gpt2
from helpers.in_process import Command, check_refusal, check_success

PAIRS = [
    {"sentence_good": "the men sleep .", "sentence_bad": "the men sleeps .", "UID": "sva", "linguistics_term": "agr"},
    {"sentence_good": "the man sleeps .", "sentence_bad": "the man sleep .", "UID": "sva", "linguistics_term": "agr"},
    {"sentence_good": "who sleeps ?", "sentence_bad": "sleeps who ?", "UID": "order", "linguistics_term": "order"},
]


@pytest.fixture
def pairs(working_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = working_folder / "pairs.jsonl"
    path.write_text("".join(f"{json.dumps(pair)}\n" for pair in PAIRS), encoding="utf-8")
    (working_folder / "empty.jsonl").touch()
    (working_folder / "lm_scores.py").write_text(
        "def score(texts):\n    return [[-float(len(word)) for word in text.split()] for text in texts]\n"
        "def flip(texts):\n    return [-sum(row) for row in score(texts)]\n"
        "number = 3\n"
    )
    monkeypatch.syspath_prepend(working_folder)
    return path


def test_models_of_each_kind_in_one_table(command: Command, pairs: Path) -> None:
    make_gpt2(Path("gpt2"))
    make_bert(Path("bert"))
    models = ("hf:gpt2", "hf:bert?name=tiny BERT", "python:lm_scores:score")
    code, shown, _ = command("lm", *models, "--pairs", pairs, "-f", "json", "--scores", "s.csv")
    records = json.loads(shown)
    assert code == 0
    assert {record["model"] for record in records} == {"hf:gpt2", "tiny BERT", "python:lm_scores:score", None}
    accuracies = {
        record["paradigm"]: record["accuracy"] for record in records if record["model"] == "python:lm_scores:score"
    }
    assert accuracies == {"sva": 0.5, "order": 0.5, "": 0.5}
    assert sum(record["first"] is not None for record in records) == 6
    assert len(Path("s.csv").read_text().splitlines()) == 10
    again = command("lm", *models, "--pairs", pairs, "-f", "json", "--device", "cpu")[1]
    assert json.loads(again) == records


def test_paths_need_no_kind(command: Command, pairs: Path, caplog: pytest.LogCaptureFixture) -> None:
    make_gpt2(Path("gpt2"))
    options = ("--pairs", pairs, "-f", "json", "--scores", "s.csv")
    shown = check_success(command("lm", "./gpt2", *options))
    reason = "./gpt2 is read as hf:./gpt2: a folder with the config.json of a transformers model"
    assert [record.getMessage() for record in caplog.records] == [reason]
    assert check_success(command("lm", "hf:./gpt2", *options)) == shown
    shown_scores = check_success(command("lm", "s.csv", *options[:4]))
    assert shown_scores == check_success(command("lm", "scores:s.csv", *options[:4]))


def test_stored_scores_give_the_same_table(command: Command, pairs: Path) -> None:
    options = ("--pairs", pairs, "-f", "json")
    models = ("python:lm_scores:score", "python:lm_scores:flip")
    shown = check_success(command("lm", *models, *options, "--scores", "s.csv"))
    stored = [f"scores:s.csv?model={model}" for model in models]
    assert command("lm", *stored, *options) == (0, shown, "")
    check_refusal(
        command("lm", "scores:s.csv", *options),
        "s.csv has scores of python:lm_scores:score, python:lm_scores:flip: name one",
        progress=True,
    )
    check_refusal(
        command("lm", stored[0], *options, "--score", "token"),
        "s.csv has no token score of python:lm_scores:score for the pair",
        progress=True,
    )
    text = Path("s.csv").read_text()
    last, count = text.splitlines(keepends=True)[-1], len(text.splitlines())
    numbers = ",".join(last.split(",")[4:6])
    for changed, message in [
        (text.replace("model,", "modell,", 1), "not a file that --scores wrote"),
        (text.replace("-12.0", "-1_2.0", 1), "line 2: 8 columns, two of them numbers, are expected"),
        (text.replace("-12.0", "high", 1), "line 2: 8 columns, two of them numbers, are expected"),
        (text.replace("-12.0", "nan", 1), "line 2: a score of the pair"),
        (text + last.replace(numbers, "-1.0,-2.5"), f"t.csv: line {count + 1}: other scores of python"),
        (text + last.replace(numbers, "-1.0,-2.5"), f" than in line {count}"),
        (text + "x" * 131_073, "field larger than field limit (131072)"),
    ]:
        Path("t.csv").write_text(changed)
        code, shown, err = command("lm", "scores:t.csv?model=python:lm_scores:score", *options)
        assert (code, shown, message in err) == (1, "", True), err
    Path("t.csv").write_text(text + last)  # rows that agree
    assert command("lm", *(spec.replace("s.csv", "t.csv") for spec in stored), *options)[0] == 0
    assert command("lm", "scores:none.csv", *options)[0] == 2
    code, shown, err = command("lm", *models, stored[0], *options)
    assert (code, shown, f"model '{models[0]}' is given twice" in err) == (2, "", True)


def test_scores_have_no_formulas(command: Command, pairs: Path) -> None:
    texts = [("=1+1", "=1+11"), ("-x", "-xx"), ("\u202e@", "\u202e@@"), ("@a", "'=aa")]
    records = [{"sentence_good": good, "sentence_bad": bad, "UID": "+u"} for good, bad in texts]
    pairs.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    options = ("--pairs", pairs, "-f", "json")
    shown = check_success(command("lm", "python:lm_scores:score?name==m", *options, "--scores", "s.csv"))
    cells = [cell for row in csv.reader(io.StringIO(Path("s.csv").read_text("utf-8"))) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "\t")) or cell.startswith("-x")]
    assert "\u202e" not in Path("s.csv").read_text("utf-8")
    again = command("lm", "scores:s.csv?model==m&name==m", *options)
    assert (again[0], json.loads(again[1])) == (0, json.loads(shown)), again[2]


def test_formats_and_file(command: Command, pairs: Path) -> None:
    shown = check_success(command("lm", "python:lm_scores:flip", "--pairs", pairs, "--intervals", "-f", "markdown"))
    assert "| sva | 2 | 50.0 | " in shown
    assert "50.0 \\[9.5, 90.5]" in shown
    assert "Ties count half." in command("lm", "python:lm_scores:flip", "--pairs", pairs)[1]
    assert command("lm", "python:lm_scores:score", "--pairs", pairs, "-o", "x.csv", "--score", "critical")[1] == ""
    rows = list(csv.DictReader(io.StringIO(Path("x.csv").read_text())))
    assert [(row["paradigm"], row["score"], row["accuracy"]) for row in rows] == [
        ("sva", "critical", "0.5"), ("order", "critical", "0.5"), ("", "critical", "0.5"),
    ]  # fmt: skip


def test_pairs_are_those_of_gen_minimal(command: Command, pairs: Path, run_program: Command) -> None:
    assert pairs.is_file()
    options = ("-p", "transitive", "-p", "double_modal", "-n", "30", "--seed", "4")
    made = run_program("gen", "minimal", *options, "-o", "made.jsonl")
    assert made[0] == 0
    arguments = ("lm", "python:lm_scores:score", "-f", "csv", "--scores")
    assert command(*arguments, "a.csv", *options) == command(*arguments, "b.csv", "--pairs", "made.jsonl")
    assert Path("a.csv").read_text() == Path("b.csv").read_text()


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("lm_eval") is None and "CI" not in os.environ, reason="lm-evaluation-harness is not installed"
)
def test_accuracies_equal_those_of_harness(
    command: Command, pairs: Path, monkeypatch: pytest.MonkeyPatch, run_program: Command
) -> None:
    lm_eval: Any = importlib.import_module("lm_eval")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    make_gpt2(pairs.with_name("gpt2"))
    options = ("-p", "transitive", "-p", "double_modal", "-n", "30", "-v", "compeval", "-f", "lm-eval")
    made = run_program("gen", "minimal", *options, "-o", "made")
    assert made[0] == 0
    records = json.loads(command("lm", "hf:gpt2", "--pairs", "made", "-f", "json")[1])
    expected = {record["paradigm"]: record["accuracy"] for record in records if record["paradigm"]}
    model = pairs.with_name("gpt2")
    monkeypatch.chdir("made")
    results = lm_eval.simple_evaluate(
        model="hf",
        model_args={"pretrained": str(model), "dtype": "float32"},
        tasks=["sentprobe_minimal"],
        task_manager=importlib.import_module("lm_eval.tasks").TaskManager(include_path="."),
        device="cpu",
    )["results"]
    actual = {uid: results[f"sentprobe_{uid}"]["acc,none"] for uid in expected}
    assert actual == pytest.approx(expected)


def test_known_words_leaves_pairs_out(command: Command, pairs: Path) -> None:
    words = "\n".join(f"-1 {word}" for word in ("the", "men", "man", "sleep", "sleeps", "."))
    Path("m.arpa").write_text(f"\\data\\\nngram 1=6\n\n\\1-grams:\n{words}\n\n\\end\\\n")
    options = ("lm", "ngram:m.arpa", "python:lm_scores:score", "--pairs", pairs)
    assert "m.arpa lacks the word 'who', and has no entry <unk>; see --known-words" in command(*options)[2]
    code, shown, err = command(*options, "--known-words", "-f", "json")
    assert (code, "left out: 1 of 3 pairs" in err) == (0, True)
    assert {record["paradigm"] for record in json.loads(shown)} == {"sva"}
    Path("m.arpa").write_text(Path("m.arpa").read_text().replace("-1 the", "-1 <unk>"))
    assert "ngram:m.arpa does not know words of 3 pairs, such as '?'." in command(*options)[1]
    code, shown, err = command(*options, "--known-words")
    assert (code, shown, "--known-words: every pair has words that a model does not" in err) == (2, "", True)


def test_accuracy_by_attractors(command: Command, pairs: Path) -> None:
    assert pairs.is_file()
    paradigms = ("-p", "distractor_agreement_by_phrase", "-p", "transitive", "-n", "20")
    options = (*paradigms, "--by", "attractors", "-f", "json")
    records = json.loads(command("lm", "python:lm_scores:score", *options)[1])
    assert [(record["attractors"], record["pairs"]) for record in records] == [("1", 20), ("not known", 20), ("", 40)]


@pytest.mark.usefixtures("pairs")
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("st:gpt2 --pairs pairs.jsonl", 2, "unknown language model 'st:gpt2'; known: hf:MODEL, ngram:FILE, python:"),
        ("bow --pairs pairs.jsonl", 2, "unknown language model 'bow'; known: hf:MODEL, ngram:FILE, python:"),
        ("./gpt2 --pairs pairs.jsonl", 2, "gpt2: there is no such file or folder"),
        ("pairs.jsonl --pairs pairs.jsonl", 2, "write ngram:pairs.jsonl or scores:pairs.jsonl"),
        ("ngrams:x --pairs pairs.jsonl", 2, "unknown language model 'ngrams:x' (did you mean 'ngram'?)"),
        ("hf: --pairs pairs.jsonl", 2, "unknown language model 'hf'"),
        ("scores: --pairs pairs.jsonl", 2, "scores: needs a file"),
        ("python:lm_scores:score -p transitive -n 3 --by distance", 2, "only paradigms of subject-verb agreement have"),
        ("ngram:x ngram:x --pairs pairs.jsonl", 2, "'ngram:x' is given twice"),
        ("ngram:none.arpa --pairs pairs.jsonl", 2, "none.arpa: cannot read it: No such file or directory"),
        ("ngram:pairs.jsonl --pairs pairs.jsonl", 1, "pairs.jsonl: line 3: not an ARPA file"),
        ("hf:./none --pairs pairs.jsonl", 2, "no model at ./none: there is no such directory"),
        ("python:lm_scores:score", 2, "name minimal pairs: either by --pairs"),
        ("python:lm_scores:score --pairs pairs.jsonl -p transitive", 2, "name minimal pairs: either by --pairs"),
        ("python:lm_scores:score --pairs pairs.jsonl -n 5", 2, "--n counts pairs of a --paradigm"),
        ("python:lm_scores:score -p transitiv", 2, "(did you mean 'transitive'?)"),
        ("python:lm_scores:none --pairs pairs.jsonl", 2, "lm_scores has no attribute 'none'"),
        ("python:lm_scores:number --pairs pairs.jsonl", 2, "name a function, as in python:module:function"),
        ("python:lm_scores:score?x=1 --pairs pairs.jsonl", 2, "python has no option 'x'"),
        ("python:lm_scores:score --pairs none.jsonl", 2, "none.jsonl: "),
        ("python:lm_scores:score --pairs empty.jsonl", 1, "empty.jsonl: there are no minimal pairs in it"),
        ("python:lm_scores:score --pairs pairs.jsonl --by attractors", 2, "the pairs have no field 'attractors'; they"),
        ("python:lm_scores:score --pairs pairs.jsonl --known-words", 2, "do not say which words a model knows"),
        ("python:lm_scores:score --pairs pairs.jsonl --score sum", 2, "there is no score 'sum'"),
        ("python:lm_scores:score --pairs pairs.jsonl -f html", 2, "lm has no format 'html'"),
        ("python:lm_scores:score --pairs pairs.jsonl -f foo", 2, "known: text, markdown, latex, csv, json"),
        ("python:lm_scores:score --pairs pairs.jsonl -o x.foo", 2, "x.foo: no format has the suffix '.foo'"),
        ("python:lm_scores:score --pairs pairs.jsonl -o none/x.csv", 2, "there is no directory none"),
        ("python:lm_scores:score --pairs pairs.jsonl --scores none/x.csv", 2, "there is no directory none"),
        ("python:lm_scores:score --pairs pairs.jsonl -f csv -o pairs.jsonl", 2, "pairs.jsonl: is an input"),
        ("python:lm_scores:score --pairs pairs.jsonl -o x.csv --scores x.csv", 2, "x.csv: is the path of"),
        ("python:lm_scores:flip --pairs pairs.jsonl --score token", 2, "--score token needs one for each word"),
    ],
)
def test_bad_request_is_refused(arguments: str, code: int, message: str, command: Command) -> None:
    check_refusal(command("lm", *arguments.split()), message, code, progress=True)
