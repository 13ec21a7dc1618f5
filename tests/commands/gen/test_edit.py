"""The command ``gen edit``: its formats, the review sheet, the notes on stderr, and errors."""

import csv
import json
import re
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from helpers.edit_parses import FOLDER
from helpers.in_process import Command, check_refusal, check_success

import sentprobe

QUESTIONS = """Is there a 20% discount?
Are you open on Monday?
Can I cancel within 14 days?

Is the app free?
"""
PARSED = FOLDER / "en.conllu"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text(QUESTIONS, "utf-8")
    return path


def test_lines_have_edits_of_the_kinds_without_parser(texts: Path, run_program: Command) -> None:
    code, out, err = run_program("gen", "edit", texts)
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["b"], row["kind"], row["same"]) for row in rows] == [
        ("Is there a 30% discount?", "number", 0),
        ("Are you open on Wednesday?", "calendar", 0),
        ("Can I cancel within 30 days?", "number", 0),
        ("Can I cancel within 14 weeks?", "unit", 0),
    ]
    assert rows[0] == {"a": "Is there a 20% discount?", "b": "Is there a 30% discount?", "same": 0, "kind": "number",
                       "rule": "number.percent", "changed": "20% > 30%"}  # fmt: skip
    assert err.splitlines() == [
        "4 edits of 3 of 4 texts: number 2, calendar 1, unit 1",
        "      1 without an edit: no rule's pattern occurs",
    ]


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file, in the format of its suffix."""
    if path.suffix == ".parquet":
        return [*pq.read_table(path).to_pylist()]
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ",")]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_formats_have_the_same_rows(suffix: str, texts: Path, tmp_path: Path, run_program: Command) -> None:
    path = tmp_path / f"edits.{suffix}"
    assert check_success(run_program("gen", "edit", texts, "--out", path)) == ""
    rows = read_rows(path)
    assert [row["kind"] for row in rows] == ["number", "calendar", "number", "unit"]
    assert list(rows[0]) == ["a", "b", "same", "kind", "rule", "changed"]


def test_column_of_a_table_is_read(tmp_path: Path, run_program: Command) -> None:
    path = tmp_path / "faq.csv"
    path.write_text("id,question\n1,Are you open on Monday?\n2,\n", "utf-8")
    code, out, err = run_program("gen", "edit", path, "--column", "question")
    assert (code, json.loads(out)["b"]) == (0, "Are you open on Wednesday?")
    assert "1 without an edit: the text is empty" in err
    records = tmp_path / "faq.jsonl"
    records.write_text('{"q": "Are you open on Monday?"}\n', "utf-8")
    assert "Wednesday" in check_success(run_program("gen", "edit", records, "--column", "q"))


def test_conllu_has_edits_of_all_default_kinds(run_program: Command) -> None:
    code, out, err = run_program("gen", "edit", PARSED, "--kind", "negation", "--kind", "indirect")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert {row["kind"] for row in rows} == {"negation", "indirect"}
    assert ("The basic plan is not free.", 0) in [(row["b"], row["same"]) for row in rows]
    assert ("Could you tell me where the station is?", 1) in [(row["b"], row["same"]) for row in rows]
    assert "without an edit: the text has a negation" in err


def test_objects_are_exchanged_within_the_texts(run_program: Command) -> None:
    """No phrase comes from elsewhere; a text whose verb has one object in the file has no edit."""
    code, out, err = run_program("gen", "edit", PARSED, "--kind", "object")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert ("Can I reset my router?", "Can I reset my password?", 0) in [(r["a"], r["b"], r["same"]) for r in rows]
    texts = PARSED.read_text("utf-8").casefold()
    assert all(row["changed"].split(" > ")[1].casefold() in texts for row in rows)
    assert "without an edit: no other text has an object of the verb that could replace this one" in err


def test_groups_of_kinds(run_program: Command) -> None:
    variants = [
        json.loads(line) for line in check_success(run_program("gen", "edit", PARSED, "-k", "variants")).splitlines()
    ]
    assert {row["same"] for row in variants} == {1}
    opposites = check_success(run_program("gen", "edit", PARSED, "-k", "opposites")).splitlines()
    assert {json.loads(line)["same"] for line in opposites} == {0}


def test_review_sheet_is_written_and_read(tmp_path: Path, run_program: Command) -> None:
    sheet = tmp_path / "sheet.csv"
    check_success(run_program("gen", "edit", PARSED, "--review", 30, "--out", sheet))
    again = check_success(run_program("gen", "edit", PARSED, "--review", 30))
    assert again == sheet.read_text("utf-8")
    assert again != check_success(run_program("gen", "edit", PARSED, "--review", 30, "--seed", 1))
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert len(rows) == 30
    assert {row["right"] for row in rows} == {""}
    assert len({row["kind"] for row in rows}) >= 9
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows({**row, "right": int(row["kind"] != "tense")} for row in rows)
    shown = check_success(run_program("gen", "edit", "--reviewed", sheet)).splitlines()
    assert any(line.startswith("tense: 0 of ") and line.endswith("; below 95%, dropped") for line in shown)
    assert any(line.startswith("negation: ") and " right, 100.0% [" in line for line in shown)
    code, out, err = run_program("gen", "edit", PARSED, "--reviewed", sheet)
    assert code == 0
    assert "tense" not in {json.loads(line)["kind"] for line in out.splitlines()}
    assert "tense: 0 of " in err
    out = check_success(run_program("gen", "edit", PARSED, "--reviewed", sheet, "--at-least", "0%"))
    assert "tense" in {json.loads(line)["kind"] for line in out.splitlines()}


def test_list_shows_every_kind(run_program: Command) -> None:
    out = check_success(run_program("gen", "edit", "--list"))
    assert all(text in out for text in ("negation", "default", "by name", "Do you ship to France?"))
    assert "tense: no rules for German" in check_success(run_program("gen", "edit", "--list", "--language", "de"))


def test_gate_reads_the_output(tmp_path: Path, run_program: Command) -> None:
    opposites, variants = tmp_path / "a.csv", tmp_path / "b.csv"
    check_success(run_program("gen", "edit", PARSED, "-o", opposites))
    check_success(run_program("gen", "edit", PARSED, "-k", "variants", "-o", variants))
    both = tmp_path / "both.csv"
    both.write_text(opposites.read_text("utf-8") + variants.read_text("utf-8").partition("\n")[2], "utf-8")
    shown = check_success(
        run_program(
            "probe", "gate", "bow?dim=8", "--pairs", both, "-c", "role", "-n", 40, "--no-cache", "--format", "json"
        )
    )
    assert "negation" in {row.get("kind") for row in json.loads(shown)["rates"]}


def test_gate_measures_edits_of_texts(run_program: Command) -> None:
    line = ("probe", "gate", "bow?dim=8", "--no-cache", "--threshold", "0.9", "--texts", PARSED)
    out = check_success(run_program(*line))
    assert f"edits of the texts in {PARSED}" in " ".join(out.split())
    assert "Misses, AUC and EER are against variants" in out
    assert "paraphrases pass" not in out
    assert all(kind in out for kind in ("negation", "calendar"))
    assert "with an edit or variant." in out
    assert "role" not in out
    assert re.search(r"role: ", check_success(run_program(*line, "-c", "role", "-n", 40)))
    compared = " ".join(check_success(run_program(*line, "--against", "bow?dim=4")).split())
    assert re.search(r"│ variants │ (\* )?misses │", compared)
    assert "Misses and AUC are measured by variants, which are far easier than real paraphrases." in compared
    junit = check_success(run_program(*line, "-f", "junit"))
    assert re.search(r"misses [\d.]+% of variants, which are far easier than real paraphrases\n", junit)
    for words, message in (
        ((*line, "-n", 40), "--n is for generated pairs, which --texts measures only with --contrast"),
        (line[:-4] + line[-2:], "--texts: its variants are easier than real paraphrases, and set no threshold; give"),
        ((*line, "--pairs", "p.csv"), "--texts: leave out --pairs"),
    ):
        check_refusal(run_program(*words), message)


def test_gate_takes_texts_in_python(texts: Path, tmp_path: Path) -> None:
    """The same figures from a file, from a column of a table, and from a list."""
    lines = [line for line in QUESTIONS.splitlines() if line]
    table = tmp_path / "faq.csv"
    table.write_text("\n".join(["id,question", *(f"{n},{line}" for n, line in enumerate(lines))]), "utf-8")
    results = [
        sentprobe.gate("bow?dim=8", threshold=0.9, texts=source, column=column)
        for source, column in ((texts, None), (table, "question"), (lines, None))
    ]
    records = [result.to_records() for result in results]
    assert records[0] == records[1] == records[2]
    assert {row["kind"]: row["pairs"] for row in records[0]} == {"": 4, "calendar": 1, "number": 2, "unit": 1}
    assert results[2].to_markdown().startswith("**Of edits of your texts: at a cosine of 0.9000")
    assert results[2].to_frame()["pairs"].tolist() == [4, 1, 2, 1]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_refused_texts_are_listed_with_the_reason(
    suffix: str, texts: Path, tmp_path: Path, run_program: Command
) -> None:
    """The texts without an edit are those that the notes count; the others are those in the edits."""
    path = tmp_path / f"refused.{suffix}"
    code, out, err = run_program("gen", "edit", texts, "--refused", "--out", path)
    assert (code, out) == (0, "")
    assert err.endswith("      1 without an edit: no rule's pattern occurs\n")
    rows = read_rows(path)
    assert rows == [{"text": "Is the app free?", "reason": "no rule's pattern occurs"}]
    texts.write_text("Are you open on Monday?\n", "utf-8")
    check_success(run_program("gen", "edit", texts, "--refused", "--out", path))
    if suffix == "parquet":
        assert pq.read_table(path).to_pydict() == {"text": [], "reason": []}
    else:
        header = {"csv": "text,reason\n", "tsv": "text\treason\n", "jsonl": ""}
        assert path.read_text("utf-8") == header[suffix]


def test_every_text_has_an_edit_or_a_reason(run_program: Command) -> None:
    edited = {json.loads(line)["a"] for line in check_success(run_program("gen", "edit", PARSED)).splitlines()}
    refused = [json.loads(line) for line in check_success(run_program("gen", "edit", PARSED, "--refused")).splitlines()]
    lines = PARSED.read_text("utf-8").splitlines()
    written = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
    assert edited | {row["text"] for row in refused} == {*written}
    assert all(row["reason"] for row in refused)


BAD_INPUT = [
    ("{texts} --language de --kind variants", "German"),
    ("", "name a file of texts, or --list to see the kinds"),
    ("{folder}/none.txt", "none.txt: there is no such file"),
    ("{texts} --refused --review 9", "--refused and --review: give one of them"),
    ("{texts} --kind negation", "the kind 'negation' needs a parse: add --parser spacy:MODEL or --parser stanza"),
    ("{texts} --kind negatoin", "there is no kind 'negatoin' (did you mean 'negation'?)"),
    ("{texts} --language fr", "there are no edits for the language 'fr'; known: en, de"),
    ("{texts} --language de --kind tense", "kind 'tense': no rules for German"),
    ("{texts} --format xml", "there is no format 'xml'; known: jsonl, csv, tsv, parquet"),
    ("{texts} --out {folder}/edits.xml", "no format goes with the suffix '.xml'; use .jsonl, .csv, .tsv, .parquet"),
    ("{texts} --format parquet", "Parquet cannot be written to standard output; name a file with --out"),
    ("{table} --column q", "there is no column 'q'; it has id, question"),
    ("{table}", "there is no column 'text'; it has id, question; name the column with --column"),
    ("{parsed} --parser spacy", "en.conllu is parsed already; leave out --parser"),
    ("{texts} --parser spaci", "there is no parser 'spaci' (did you mean 'spacy'?)"),
    ("{texts} --reviewed {table}", "faq.csv: the column kind is missing (did you mean 'id'?); the first line"),
    ("--reviewed {table} --at-least 2", "--at-least 2: a share from 0% to 100% is expected"),
]


@pytest.mark.parametrize(("words", "message"), BAD_INPUT)
def test_bad_usage_is_one_sentence(words: str, message: str, texts: Path, tmp_path: Path, run_program: Command) -> None:
    table = tmp_path / "faq.csv"
    table.write_text("id,question\n1,Is it free?\n", "utf-8")
    line = words.format(folder=tmp_path, texts=texts, table=table, parsed=PARSED)
    code = 1 if "spaci" not in words and "--reviewed {table}" in words and "at-least" not in words else 2
    check_refusal(run_program("gen", "edit", *line.split()), message, code, program="gen")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.txt", "", "empty.txt: there is no text in it"),
        ("empty.csv", "text\n", "empty.csv: there is no text in it"),
        ("bad.jsonl", "{\n", "bad.jsonl: line 1: not JSON"),
        ("bad.csv", "text,id,text\na b,1,c d\n", "bad.csv: the column 'text' is given twice"),
        ("other.jsonl", '{"x": "y"}\n', "other.jsonl: line 1: no text under 'text'; the record has 'x'"),
        ("bad.conllu", "1\tx\n", "bad.conllu: line 1: 2 columns, expected 10"),
        ("bad.csv", "text,n\nx\n", "bad.csv: line 2: 1 fields, the first line names 2"),
        ("german.txt", "Kein Fehler.\n", "no text has an edit; the most frequent reason: the text is too short"),
    ],
)
def test_bad_files_are_named(name: str, content: str, message: str, tmp_path: Path, run_program: Command) -> None:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    check_refusal(run_program("gen", "edit", path, "--out", tmp_path / "edits.jsonl"), message, 1, program="gen")


def test_missing_parser_names_its_extra(texts: Path, run_program: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stanza", None)
    monkeypatch.setattr("sentprobe.probes.corpus.parsers.find_spec", lambda _: None)
    check_refusal(
        run_program("gen", "edit", texts, "-p", "stanza"), "the parser stanza needs the extra: ", 1, program="gen"
    )
