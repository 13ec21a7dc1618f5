"""Hugging Face ``datasets`` loads each written folder, split by split."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from helpers.in_process import Command
from helpers.oracles.format_checks import list_texts
from helpers.strategies.probe_strategies import make_learnable_dataset

from sentprobe.common.errors import UsageError
from sentprobe.probes.datasets.dataset import DatasetError
from sentprobe.probes.datasets.formats import FORMATS, read_dataset, recognise, write_dataset

needs_datasets = pytest.mark.skipif(find_spec("datasets") is None, reason="Hugging Face datasets is not installed")
SMALL = ("--train", 56, "--test", 28, "--validation", 28)
DIRECTORY_FORMATS = sorted(name for name, format_ in FORMATS.items() if not format_.suffix and name != "hub")


def load_folder(path: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> Any:
    """Return the result of load_dataset for a folder, offline, with a cache of its own."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    import datasets

    return datasets.load_dataset(str(path), *names, cache_dir=str(path.parent / "cache"))


def list_rows(items: Any) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(row["sentence"], row["label"], tuple(row["probes"])) for row in items]


@needs_datasets
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", DIRECTORY_FORMATS)
def test_a_dataset_loads(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = make_learnable_dataset(size=40)
    write_dataset(data, tmp_path / "toy", format=name)
    dataset = load_folder(tmp_path / "toy", monkeypatch)
    assert {split: list_rows(items) for split, items in dataset.items()} == list_texts(data)
    assert set(dataset["train"]["task"]) == {"toy"}


@needs_datasets
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", ["directory", "jsonl", "published", "csv", "splits"])
def test_a_folder_that_was_built_loads(
    name: str, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = tmp_path / "sets"
    for task in ("Order", "Negation"):
        outcome = command("build", "compeval", *SMALL, "--task", task, "-f", name, "--out", sets)
        assert outcome[0] == 0, outcome
    order = read_dataset(sets / f"Order{FORMATS[name].suffix}")
    dataset = load_folder(sets, monkeypatch, "Order")
    assert {split: list_rows(items) for split, items in dataset.items()} == list_texts(order)
    both = load_folder(sets, monkeypatch)
    assert {split: len(items) for split, items in both.items()} == {"train": 112, "validation": 56, "test": 56}
    assert set(both["test"]["task"]) == {"Order", "Negation"}


@pytest.mark.parametrize("name", DIRECTORY_FORMATS)
def test_a_card_says_what_it_is(name: str, tmp_path: Path) -> None:
    write_dataset(make_learnable_dataset(size=40), tmp_path / "toy", format=name)
    text = (tmp_path / "toy" / "README.md").read_text("utf-8")
    head, _, body = text.removeprefix("---\n").partition("---\n")
    assert head.startswith("# Written by sentprobe")
    assert '    path: "parquet/train.parquet"\n' in head
    assert body.startswith("\n# toy\n")
    assert "| train | " in body
    assert "- 2 labels: FALSE, TRUE\n" in body


@pytest.mark.parametrize("name", DIRECTORY_FORMATS)
@pytest.mark.parametrize("place", ["README.md", "parquet/mine.txt"])
def test_what_others_put_there_is_not_lost(tmp_path: Path, name: str, place: str) -> None:
    data = make_learnable_dataset(size=40)
    write_dataset(data, tmp_path / "toy", format=name)
    write_dataset(data, tmp_path / "toy", format=name)
    (tmp_path / "toy" / place).write_text("mine")
    with pytest.raises(UsageError, match="not a file of the dataset, so not overwritten"):
        write_dataset(data, tmp_path / "toy", format=name)
    assert (tmp_path / "toy" / place).read_text() == "mine"


def test_another_readme_of_a_folder_is_left(tmp_path: Path, command: Command) -> None:
    (tmp_path / "README.md").write_text("mine")
    line = ("build", "compeval", *SMALL, "--task", "Order", "--out", tmp_path)
    code, _, err = command(*line)
    message = f"{tmp_path / 'README.md'}: not written by sentprobe, so it is not changed"
    assert (code, message in err.splitlines()) == (0, True)
    assert (tmp_path / "README.md").read_text() == "mine"


def test_the_same_command_gives_the_same_readme(tmp_path: Path, command: Command) -> None:
    line = ("build", "compeval", *SMALL, "--task", "Order", "--out", tmp_path / "sets")
    assert command(*line)[0] == 0
    first = (tmp_path / "sets" / "README.md").read_bytes()
    assert command(*line)[0] == 0
    assert (tmp_path / "sets" / "README.md").read_bytes() == first


def test_every_line_of_jsonl_is_an_item(tmp_path: Path) -> None:
    data = make_learnable_dataset(size=40)
    write_dataset(data, tmp_path / "toy.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "toy.jsonl").read_text("utf-8").splitlines()]
    assert {tuple(line) for line in lines} == {("split", "label", "sentence", "probes")}
    assert len(lines) == sum(len(items) for items in data.splits.values())


@needs_datasets
@pytest.mark.filterwarnings("default")
def test_a_lone_file_of_jsonl_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets

    data = make_learnable_dataset(size=40)
    write_dataset(data, tmp_path / "toy.jsonl")
    files, cache = str(tmp_path / "toy.jsonl"), str(tmp_path / "cache")
    rows_ = datasets.load_dataset("json", data_files=files, cache_dir=cache)["train"]
    for split, texts in list_texts(data).items():
        assert list_rows(row for row in rows_ if row["split"] == split.value) == texts


def test_jsonl_of_earlier_versions_is_read(tmp_path: Path) -> None:
    """The first line is the object that is now in the card beside the file."""
    data = make_learnable_dataset(size=40)
    write_dataset(data, tmp_path / "toy.jsonl")
    card = json.loads((tmp_path / "toy.card.json").read_text("utf-8"))
    lines = (tmp_path / "toy.jsonl").read_text("utf-8")
    old = tmp_path / "old.jsonl"
    old.write_text(f"{json.dumps(card)}\n{lines}", "utf-8")
    assert read_dataset(old) == read_dataset(tmp_path / "toy.jsonl")


def test_a_card_that_is_not_ours_is_passed_over_and_a_broken_one_is_named(tmp_path: Path) -> None:
    write_dataset(make_learnable_dataset(size=40), tmp_path / "toy.jsonl")
    card = tmp_path / "toy.card.json"
    for text in ('{"title": "mine"}', '{"format": "deck of cards"}', '{"format": 3, "x": 1}'):
        card.write_text(text, "utf-8")
        assert read_dataset(tmp_path / "toy.jsonl").card.source == str(tmp_path / "toy.jsonl")
    for text, message in (
        ("{", "not JSON"),
        ('{"format": "sentprobe-items 9"}', "format 'sentprobe-items 9' is not 'sentprobe-items"),
    ):
        card.write_text(text, "utf-8")
        with pytest.raises(DatasetError, match=f"toy.card.json: {message}"):
            read_dataset(tmp_path / "toy.jsonl")
    assert recognise(card) is None


@pytest.mark.parametrize("text", ['{"title": "mine"}', '{"format": "deck of cards"}', "[]", "{"])
def test_a_card_that_is_not_ours_is_not_replaced(tmp_path: Path, text: str) -> None:
    card = tmp_path / "toy.card.json"
    card.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=r"toy\.card\.json: not a card of sentprobe, so not"):
        write_dataset(make_learnable_dataset(size=40), tmp_path / "toy.jsonl")
    assert [child.name for child in tmp_path.iterdir()] == [card.name]
    assert card.read_text("utf-8") == text


def test_a_card_of_ours_is_replaced(tmp_path: Path) -> None:
    for seed in (0, 1):
        data = make_learnable_dataset(size=40, seed=seed)
        write_dataset(data, tmp_path / "toy.jsonl")
        assert read_dataset(tmp_path / "toy.jsonl").card == data.card
