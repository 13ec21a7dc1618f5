"""Hugging Face ``datasets`` loads each written folder, split by split; the hub format and its README."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from helpers.in_process import Command
from helpers.oracles.format_checks import check_round_trip, list_texts
from helpers.strategies.dataset_strategies import any_datasets
from helpers.strategies.probe_strategies import make_learnable_dataset
from helpers.thoroughness import examples
from hypothesis import given

from sentprobe.common.errors import UsageError
from sentprobe.probes.datasets.dataset import DatasetError, ProbeDataset
from sentprobe.probes.datasets.formats import FORMATS, read_dataset, read_datasets, recognise, write_dataset
from sentprobe.probes.datasets.hub_dataset import write_hub_readme

BUILD = ("build", "compeval", "--train", 56, "--test", 28)
HUB = (*BUILD, "--format", "hub")
OTHERS = sorted(name for name, format_ in FORMATS.items() if not format_.suffix and name != "hub")
"""The formats of a directory but for the hub's."""

Load = Callable[..., Any]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Load:
    """``load_dataset``, offline, with a cache of its own."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    load_dataset = pytest.importorskip("datasets").load_dataset
    return lambda path, *names, **files: load_dataset(str(path), *names, **files, cache_dir=str(tmp_path / "cache"))


loads = pytest.mark.filterwarnings("default")


def write_toy(path: Path, *, format: str | None = None) -> ProbeDataset:
    data = make_learnable_dataset(size=40)
    write_dataset(data, path, format=format)
    return data


def list_rows(items: Any) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(row["sentence"], row["label"], tuple(row["probes"])) for row in items]


def list_hub_rows(items: Any, labels: tuple[str, ...]) -> list[tuple[str, str, tuple[str, ...]]]:
    words = [name for name in items.features if name.startswith("probe")]
    return [(row["sentence"], labels[row["label"]], tuple(row[name] for name in words)) for row in items]


@loads
@pytest.mark.parametrize("name", OTHERS)
def test_each_directory_format_loads(name: str, tmp_path: Path, load: Load) -> None:
    data = write_toy(tmp_path / "toy", format=name)
    dataset = load(tmp_path / "toy")
    assert {split: list_rows(items) for split, items in dataset.items()} == list_texts(data)
    assert set(dataset["train"]["task"]) == {"toy"}


@loads
@pytest.mark.parametrize("name", ["directory", "jsonl", "published", "csv", "splits"])
def test_built_folder_loads(name: str, tmp_path: Path, command: Command, load: Load) -> None:
    sets = tmp_path / "sets"
    for task in ("Order", "Negation"):
        outcome = command(*BUILD, "--validation", 28, "--task", task, "-f", name, "--out", sets)
        assert outcome[0] == 0, outcome
    order = read_dataset(sets / f"Order{FORMATS[name].suffix}")
    assert {split: list_rows(items) for split, items in load(sets, "Order").items()} == list_texts(order)
    both = load(sets)
    assert {split: len(items) for split, items in both.items()} == {"train": 112, "validation": 56, "test": 56}
    assert set(both["test"]["task"]) == {"Order", "Negation"}


@loads
def test_lone_jsonl_file_loads(tmp_path: Path, load: Load) -> None:
    data = write_toy(tmp_path / "toy.jsonl")
    rows = load("json", data_files=str(tmp_path / "toy.jsonl"))["train"]
    for split, texts in list_texts(data).items():
        assert list_rows(row for row in rows if row["split"] == split.value) == texts


@loads
def test_hub_folder_loads_each_task(tmp_path: Path, command: Command, load: Load) -> None:
    sets = tmp_path / "sets"
    for task in ("Order", "Negation"):  # one after the other, into one folder
        assert command(*HUB, "--task", task, "--out", sets)[0] == 0
    for task in ("Order", "Negation"):
        data = read_dataset(sets / task)
        dataset = load(sets, task)
        assert {split: list_hub_rows(items, data.labels) for split, items in dataset.items()} == list_texts(data)
        assert dataset["test"].features["label"].names == list(data.labels)
    assert [data.name for data in read_datasets(sets)] == ["Negation", "Order"]


@loads
def test_hub_folder_of_one_loads(tmp_path: Path, load: Load) -> None:
    data = write_toy(tmp_path / "sets" / "toy", format="hub")
    assert write_hub_readme(tmp_path / "sets")
    for folder in (tmp_path / "sets", tmp_path / "sets" / "toy"):
        loaded = {split: list_hub_rows(items, data.labels) for split, items in load(folder).items()}
        assert loaded == list_texts(data)


def read_head(folder: Path) -> dict[str, Any]:
    text = (folder / "README.md").read_text("utf-8").removeprefix("---\n")
    head: dict[str, Any] = yaml.safe_load(text.partition("---\n")[0])
    return head


@examples(40)
@given(any_datasets())
def test_hub_keeps_items_labels_name_and_card(data: ProbeDataset) -> None:
    if "" in (*data.labels, *data.probe_words):
        return
    with TemporaryDirectory() as folder:
        back = check_round_trip(data, "hub", Path(folder))
        assert list_texts(back) == list_texts(data)
        assert (back.name, back.labels, back.card) == (data.name, data.labels, data.card)
        names = read_head(Path(folder) / "data")["dataset_info"][0]["features"][1]["dtype"]
        assert tuple(names["class_label"]["names"].values()) == data.labels


@pytest.mark.parametrize("name", OTHERS)
def test_readme_describes_dataset(name: str, tmp_path: Path) -> None:
    write_toy(tmp_path / "toy", format=name)
    text = (tmp_path / "toy" / "README.md").read_text("utf-8")
    head, _, body = text.removeprefix("---\n").partition("---\n")
    assert head.startswith("# Written by sentprobe")
    assert '    path: "parquet/train.parquet"\n' in head
    assert body.startswith("\n# toy\n")
    assert "| train | " in body
    assert "- 2 labels: FALSE, TRUE\n" in body


def test_hub_readme_has_metadata_and_text(tmp_path: Path, command: Command) -> None:
    line = (*HUB, "--task", "Order", "--task", "Content1Probe", "--out", tmp_path)
    assert command(*line, "--license", "cc-by-4.0")[0] == 0
    head = read_head(tmp_path)
    assert head["license"] == "cc-by-4.0"
    assert (head["size_categories"], head["language"]) == (["n<1K"], ["en"])
    assert (head["task_categories"], head["tags"][0]) == (["text-classification"], "probing")
    assert [config["config_name"] for config in head["configs"]] == ["Content1Probe", "Order"]
    columns = [[feature["name"] for feature in info["features"]] for info in head["dataset_info"]]
    assert columns == [["sentence", "label", "probe1"], ["sentence", "label", "probe1", "probe2"]]
    text = (tmp_path / "README.md").read_text("utf-8").partition("\n---\n")[2]
    assert "Licence: cc-by-4.0.\n" in text
    assert "## Order\n\nQuestion: n and v occur in s; does n come before v? (s is" in text
    assert "| train | 56 |" in text
    assert "- Made by: `probe build compeval --train 56" in text


def test_unnamed_licence_is_unknown(tmp_path: Path, command: Command) -> None:
    assert command(*HUB, "--task", "Order", "--out", tmp_path)[0] == 0
    assert read_head(tmp_path)["license"] == "unknown"
    assert "Before you publish" in (tmp_path / "README.md").read_text("utf-8")


def test_same_command_gives_same_readme(tmp_path: Path, command: Command) -> None:
    line = (*BUILD, "--validation", 28, "--task", "Order", "--out", tmp_path / "sets")
    assert command(*line)[0] == 0
    first = (tmp_path / "sets" / "README.md").read_bytes()
    assert command(*line)[0] == 0
    assert (tmp_path / "sets" / "README.md").read_bytes() == first


@pytest.mark.parametrize("build", [BUILD, HUB], ids=["directory", "hub"])
def test_other_readme_of_folder_is_left(tmp_path: Path, command: Command, build: tuple[object, ...]) -> None:
    (tmp_path / "README.md").write_text("mine")
    code, _, err = command(*build, "--task", "Order", "--out", tmp_path)
    message = f"{tmp_path / 'README.md'}: not written by sentprobe, so it is not changed"
    assert (code, message in err.splitlines()) == (0, True)
    assert (tmp_path / "README.md").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "place"),
    [*product(OTHERS, ("README.md", "parquet/mine.txt")), *product(["hub"], ("README.md", "mine.txt", "parquet"))],
)
def test_files_of_others_are_not_lost(tmp_path: Path, name: str, place: str) -> None:
    write_toy(tmp_path / "toy", format=name)
    write_toy(tmp_path / "toy", format=name)
    (tmp_path / "toy" / place).write_text("mine")
    with pytest.raises(UsageError, match="not a file of the dataset, so not overwritten"):
        write_toy(tmp_path / "toy", format=name)
    assert (tmp_path / "toy" / place).read_text() == "mine"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "splits", "--license", "mit"], "--license is for --format hub, not for spl"),
        (["--format", "hub", "--license", "MIT, or so"], "--license 'MIT, or so': the hub has no"),
        (["--format", "hub", "--license", ""], "--license '': the hub has no licence of that name;"),
        (["--format", "hub", "--license", "CC-BY-4"], "of that name (did you mean 'cc-by-4.0'?);"),
    ],
)
def test_impossible_licence_is_refused(tmp_path: Path, command: Command, options: list[str], message: str) -> None:
    code, _, err = command("build", "compeval", *options, "--out", tmp_path / "sets")
    assert (code, message in err) == (2, True), err
    assert not (tmp_path / "sets").exists()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"sentence": ["a"], "probe1": ["a"]}, "there is no column 'label'"),
        ({"sentence": ["a"], "label": [None]}, "'label' must be of string, with no value missing"),
        ({"sentence": ["a"], "label": ["TRUE"], "probe1": [None]}, "'probe1' must be of string"),
        ({"sentence": ["a"], "label": ["True"], "probe1": ["a"]}, "item 1: unknown label 'True'"),
        ({"sentence": ["a"], "label": ["TRUE"]}, "item 1: 0 probe words, the items before have 1"),
        (None, "not a Parquet file"),
    ],
)
def test_malformed_hub_file_is_refused(
    columns: dict[str, list[str | None]] | None, message: str, tmp_path: Path
) -> None:
    toy = tmp_path / "toy"
    write_toy(toy, format="hub")
    assert recognise(toy) == "hub"
    if columns is None:
        (toy / "test.parquet").write_bytes(b"PAR1")
    else:
        pq.write_table(pa.table(columns), toy / "test.parquet")
    with pytest.raises(DatasetError, match=rf"test\.parquet.*{message}"):
        read_dataset(toy)


def test_hub_dataset_without_training_is_refused(tmp_path: Path) -> None:
    write_toy(tmp_path / "toy", format="hub")
    (tmp_path / "toy" / "train.parquet").unlink()
    with pytest.raises(DatasetError, match="has no train split"):
        read_dataset(tmp_path / "toy")
    with pytest.raises(DatasetError, match=r"there is no train\.parquet"):
        write_hub_readme(tmp_path)


def test_every_line_of_jsonl_is_an_item(tmp_path: Path) -> None:
    data = write_toy(tmp_path / "toy.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "toy.jsonl").read_text("utf-8").splitlines()]
    assert {tuple(line) for line in lines} == {("split", "label", "sentence", "probes")}
    assert len(lines) == sum(len(items) for items in data.splits.values())


def test_jsonl_of_earlier_versions_is_read(tmp_path: Path) -> None:
    """The first line is the object that is now in the card beside the file."""
    write_toy(tmp_path / "toy.jsonl")
    card = json.loads((tmp_path / "toy.card.json").read_text("utf-8"))
    lines = (tmp_path / "toy.jsonl").read_text("utf-8")
    old = tmp_path / "old.jsonl"
    old.write_text(f"{json.dumps(card)}\n{lines}", "utf-8")
    assert read_dataset(old) == read_dataset(tmp_path / "toy.jsonl")


def test_card_of_others_is_ignored_broken_named(tmp_path: Path) -> None:
    write_toy(tmp_path / "toy.jsonl")
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
def test_card_of_others_is_not_replaced(tmp_path: Path, text: str) -> None:
    card = tmp_path / "toy.card.json"
    card.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=r"toy\.card\.json: not a card of sentprobe, so not"):
        write_toy(tmp_path / "toy.jsonl")
    assert [child.name for child in tmp_path.iterdir()] == [card.name]
    assert card.read_text("utf-8") == text


def test_card_of_ours_is_replaced(tmp_path: Path) -> None:
    for seed in (0, 1):
        data = make_learnable_dataset(size=40, seed=seed)
        write_dataset(data, tmp_path / "toy.jsonl")
        assert read_dataset(tmp_path / "toy.jsonl").card == data.card
