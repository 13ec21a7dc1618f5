"""The command ``gen minimal``: its formats hold the same pairs, with the fields of BLiMP."""

import json
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest
import yaml
from helpers.in_process import run_command

from sentprobe.generator.pairs.paradigms import load_paradigms

BLIMP = {
    "sentence_good": str,
    "sentence_bad": str,
    "field": str,
    "linguistics_term": str,
    "UID": str,
    "simple_LM_method": bool,
    "one_prefix_method": bool,
    "two_prefix_method": bool,
    "lexically_identical": bool,
    "pairID": str,
}
"""The fields of BLiMP's files, but for the words of its prefix methods."""


@pytest.fixture
def gen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    return lambda *words: run_command("gen", *words, monkeypatch=monkeypatch, capture=capsys)


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_jsonl_has_the_fields_of_blimp_and_the_annotation(gen: Any) -> None:
    code, shown, err = gen("minimal", "-p", "all", "-n", "3")
    rows = [json.loads(line) for line in shown.splitlines()]
    usual = [row for row in load_paradigms().values() if not row.on_request]
    assert (code, err, len(rows)) == (0, "", 3 * len(usual))
    for number, row in enumerate(rows):
        assert {name: type(row[name]) for name in BLIMP} == BLIMP
        assert [*row] == [*BLIMP, "critical", "annotation"]
        assert row["pairID"] == str(number % 3)
        assert row["annotation"]["text"] == row["sentence_good"]
        good, bad = row["sentence_good"].split(), row["sentence_bad"].split()
        assert row["lexically_identical"] == (sorted(good) == sorted(bad))
        assert not (row["one_prefix_method"] and row["two_prefix_method"])
        if row["one_prefix_method"]:
            at = row["critical"] - 1
            assert at > 0
            assert good[:at] + good[at + 1 :] == bad[:at] + bad[at + 1 :]


def test_parquet_has_the_same_pairs(gen: Any, tmp_path: Path) -> None:
    options = ("minimal", "-p", "passive_1", "-p", "transitive", "-n", "40", "--seed", "7")
    assert gen(*options, "-o", str(tmp_path / "a.jsonl"))[0] == gen(*options, "-o", str(tmp_path / "a.parquet"))[0] == 0
    rows = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert [row | {"annotation": json.loads(row["annotation"])} for row in rows] == read_lines(tmp_path / "a.jsonl")


def test_folder_for_the_harness_and_the_hub(gen: Any, tmp_path: Path) -> None:
    folder = tmp_path / "pairs"
    options = ("minimal", "-p", "passive_1", "-p", "transitive", "-n", "5", "-f", "lm-eval", "-o", str(folder))
    assert gen(*options)[0] == 0
    group = yaml.safe_load((folder / "sentprobe_minimal.yaml").read_text("utf-8"))
    template = yaml.safe_load((folder / "_template_yaml").read_text("utf-8"))
    assert group["task"] == ["sentprobe_passive_1", "sentprobe_transitive"]
    assert template["target_delimiter"] == ""  # else the harness scores a space in front of each sentence
    assert template["doc_to_choice"] == "{{[sentence_good, sentence_bad]}}"
    for uid in ("passive_1", "transitive"):
        task = yaml.safe_load((folder / f"{uid}.yaml").read_text("utf-8"))
        assert task["task"] == f"sentprobe_{uid}"
        rows = read_lines(folder / task["dataset_kwargs"]["data_files"])
        loaded = datasets.load_dataset(str(folder), uid, cache_dir=str(tmp_path / "cache"))["train"]
        assert loaded.to_list() == rows
        assert [*rows[0]] == [*BLIMP, "critical"]
    assert gen(*options)[0] == 0  # the same files are already there
    (folder / "passive_1.yaml").write_text("task: mine", "utf-8")
    code, _, err = gen(*options)
    assert (code, "not a new or empty folder" in err) == (2, True)


def test_list_shows_examples_and_numbers_of_pairs(gen: Any) -> None:
    code, shown, _ = gen("minimal", "--list", "-v", "compeval")
    assert code == 0
    assert "transitive" in shown
    assert "same words" in shown
    assert all(name in shown for name in ("frequency", "length", "50.0", "100.0"))
    assert "animate_subject_exchange" not in shown
    _, shown, _ = gen("minimal", "--list", "-p", "passive_1")
    assert ("passive_1" in shown, "transitive" in shown) == (True, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--list"),
        (("-p", "transitiv"), "did you mean 'transitive'?"),
        (("-p", "ditransitive", "-v", "compeval"), "no words for the paradigm 'ditransitive'"),
        (("-p", "transitive", "-n", "0"), "from 1 to"),
        (("-p", "transitive", "-v", "none"), "unknown vocabulary 'none'"),
        (("-p", "all", "-v", "none"), "unknown vocabulary 'none'"),
        (("-p", "transitive", "-f", "parquet"), "standard output"),
        (("-p", "transitive", "-o", "pairs.txt"), ".jsonl, .parquet or --format"),
        (("--list", "-o", "pairs.jsonl"), "--list prints a table, and --out is for pairs"),
    ],
)
def test_errors_are_one_sentence(gen: Any, arguments: tuple[str, ...], message: str) -> None:
    code, _, err = gen("minimal", *arguments)
    assert (code, message in err, err.count("\n")) == (2, True, 1)
