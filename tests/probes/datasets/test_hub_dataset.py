"""The hub format: ``load_dataset``, the README's head, and round trips."""

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from helpers.in_process import Command
from helpers.oracles.format_checks import check_round_trip, list_texts
from helpers.strategies.dataset_strategies import any_datasets
from helpers.strategies.probe_strategies import make_learnable_dataset
from helpers.thoroughness import examples
from hypothesis import given

from sentprobe.common.errors import UsageError
from sentprobe.probes.datasets.dataset import DatasetError, ProbeDataset, Split
from sentprobe.probes.datasets.formats import read_dataset, read_datasets, recognise, write_dataset
from sentprobe.probes.datasets.hub_dataset import write_hub_readme

yaml = pytest.importorskip("yaml")
needs_datasets = pytest.mark.skipif(find_spec("datasets") is None, reason="Hugging Face datasets is not installed")
BUILD = ("build", "compeval", "--train", 56, "--test", 28, "--format", "hub")


def read_head(folder: Path) -> dict[str, Any]:
    text = (folder / "README.md").read_text("utf-8").removeprefix("---\n")
    head: dict[str, Any] = yaml.safe_load(text.partition("---\n")[0])
    return head


@examples(40)
@given(any_datasets())
def test_items_labels_name_and_card_are_kept(data: ProbeDataset) -> None:
    if "" in (*data.labels, *data.probe_words):
        return
    with TemporaryDirectory() as folder:
        back = check_round_trip(data, "hub", Path(folder))
        assert list_texts(back) == list_texts(data)
        assert (back.name, back.labels, back.card) == (data.name, data.labels, data.card)
        names = read_head(Path(folder) / "data")["dataset_info"][0]["features"][1]["dtype"]
        assert tuple(names["class_label"]["names"].values()) == data.labels


def load_folder(path: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> Any:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    import datasets

    return datasets.load_dataset(str(path), *names, cache_dir=str(path.parent / "cache"))


def list_rows(items: Any, labels: tuple[str, ...]) -> list[tuple[str, str, tuple[str, ...]]]:
    words = [name for name in items.features if name.startswith("probe")]
    return [(row["sentence"], labels[row["label"]], tuple(row[name] for name in words)) for row in items]


@needs_datasets
@pytest.mark.filterwarnings("default")
def test_datasets_loads_each_task_of_a_folder(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = tmp_path / "sets"
    for task in ("Order", "Negation"):  # one after the other, into one folder
        assert command(*BUILD, "--task", task, "--out", sets)[0] == 0
    for task in ("Order", "Negation"):
        data = read_dataset(sets / task)
        dataset = load_folder(sets, monkeypatch, task)
        assert {split: list_rows(items, data.labels) for split, items in dataset.items()} == list_texts(data)
        assert dataset["test"].features["label"].names == list(data.labels)
    assert [data.name for data in read_datasets(sets)] == ["Negation", "Order"]


@needs_datasets
@pytest.mark.filterwarnings("default")
def test_datasets_loads_a_folder_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = make_learnable_dataset(size=40)
    write_dataset(data, tmp_path / "sets" / "toy", format="hub")
    assert write_hub_readme(tmp_path / "sets")
    for folder in (tmp_path / "sets", tmp_path / "sets" / "toy"):
        dataset = load_folder(folder, monkeypatch)
        assert {split: list_rows(items, data.labels) for split, items in dataset.items()} == list_texts(data)


def test_the_head_says_what_the_hub_asks(tmp_path: Path, command: Command) -> None:
    line = (*BUILD, "--task", "Order", "--task", "Content1Probe", "--out", tmp_path)
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


def test_a_licence_that_is_not_named_is_unknown(tmp_path: Path, command: Command) -> None:
    assert command(*BUILD, "--task", "Order", "--out", tmp_path)[0] == 0
    assert read_head(tmp_path)["license"] == "unknown"
    assert "Before you publish" in (tmp_path / "README.md").read_text("utf-8")


def test_another_readme_of_the_folder_is_left(tmp_path: Path, command: Command) -> None:
    (tmp_path / "README.md").write_text("mine")
    code, _, err = command(*BUILD, "--task", "Order", "--out", tmp_path)
    message = f"{tmp_path / 'README.md'}: not written by sentprobe, so it is not changed"
    assert (code, message in err.splitlines()) == (0, True)
    assert (tmp_path / "README.md").read_text() == "mine"


@pytest.mark.parametrize("place", ["README.md", "mine.txt", "parquet"])
def test_what_others_put_there_is_not_lost(tmp_path: Path, place: str) -> None:
    write_dataset(make_learnable_dataset(size=40), tmp_path / "toy", format="hub")
    write_dataset(make_learnable_dataset(size=40), tmp_path / "toy", format="hub")
    (tmp_path / "toy" / place).write_text("mine")
    with pytest.raises(UsageError, match="not a file of the dataset, so not overwritten"):
        write_dataset(make_learnable_dataset(size=40), tmp_path / "toy", format="hub")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "splits", "--license", "mit"], "--license is for --format hub, not for spl"),
        (["--format", "hub", "--license", "MIT, or so"], "--license 'MIT, or so': the hub has no"),
        (["--format", "hub", "--license", ""], "--license '': the hub has no licence of that name;"),
        (["--format", "hub", "--license", "CC-BY-4"], "of that name (did you mean 'cc-by-4.0'?);"),
    ],
)
def test_a_licence_that_cannot_be(tmp_path: Path, command: Command, options: list[str], message: str) -> None:
    code, _, err = command("build", "compeval", *options, "--out", tmp_path / "sets")
    assert (code, message in err) == (2, True), err
    assert not (tmp_path / "sets").exists()


def write_parquet(path: Path, **columns: list[str | None]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), path)


def test_files_that_are_wrong(tmp_path: Path) -> None:
    toy = tmp_path / "toy"
    write_dataset(make_learnable_dataset(size=40), toy, format="hub")
    assert recognise(toy) == "hub"
    for columns, message in (
        ({"sentence": ["a"], "probe1": ["a"]}, "there is no column 'label'"),
        ({"sentence": ["a"], "label": [None]}, "'label' must be of string, with no value missing"),
        ({"sentence": ["a"], "label": ["TRUE"], "probe1": [None]}, "'probe1' must be of string"),
        ({"sentence": ["a"], "label": ["True"], "probe1": ["a"]}, "item 1: unknown label 'True'"),
        ({"sentence": ["a"], "label": ["TRUE"]}, "item 1: 0 probe words, the items before have 1"),
    ):
        write_parquet(toy / "test.parquet", **columns)
        with pytest.raises(DatasetError, match=rf"test\.parquet.*{message}"):
            read_dataset(toy)
    (toy / "train.parquet").write_bytes(b"PAR1")
    with pytest.raises(DatasetError, match=r"train\.parquet: not a Parquet file"):
        read_dataset(toy)
    (toy / "train.parquet").unlink()
    with pytest.raises(DatasetError, match=r"there is no train\.parquet"):
        write_hub_readme(tmp_path)


def test_a_dataset_without_training_is_refused(tmp_path: Path) -> None:
    write_dataset(make_learnable_dataset(size=40), tmp_path / "toy", format="hub")
    (tmp_path / "toy" / f"{Split.TRAIN.value}.parquet").unlink()
    with pytest.raises(DatasetError, match="has no train split"):
        read_dataset(tmp_path / "toy")
