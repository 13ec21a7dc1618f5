"""Malformed dataset files: each is refused with file, line and reason."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.oracles.format_checks import list_written_files
from helpers.strategies.dataset_strategies import any_datasets
from helpers.strategies.probe_strategies import make_learnable_dataset
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.datasets.dataset import Card, DatasetError, Items, ProbeDataset, Split
from sentprobe.probes.datasets.directory import write_card
from sentprobe.probes.datasets.formats import FORMATS, read_dataset, read_datasets, write_dataset

GOOD = "tr\t1\ta b\ntr\t0\tb c\nte\t1\tc d\n"

SENTEVAL: list[tuple[str, str]] = [
    (GOOD + "te\t1\n", "{}: line 4: 2 fields between tabs; expected split, label, sentence"),
    (GOOD + "te 1 c d\n", "{}: line 4: 1 fields between tabs"),
    (GOOD + "te\t1\tc\td\n", "{}: line 4: 4 fields between tabs"),
    (GOOD + "tst\t1\tc d\n", "{}: line 4: unknown split 'tst'; the splits are tr, va, te"),
    (GOOD + "\n\nte\t1\t \n", "{}: line 6: the sentence is empty"),
    (GOOD + "te\t\tc d\n", "{}: line 4: the label is empty"),
    ("tr\t1\ta\ntr\t1\tb\nte\t1\tc\n", "{}: dataset 'bad' has one label only: ['1']"),
    ("tr\t1\ta\ntr\t1\tb\nte\t0\tc\n", "{}: all training items have one label, '1'"),
    ("tr\t1\ta\ntr\t0\tb\nte\t2\tc\n", "{}: label '2' occurs in test but never in training"),
    ("tr\tyes\ta\ntr\tno\tb\nte\tYes\tc\n", "'Yes' differs from 'yes' (line 1) in case only"),
    ("tr\t1\ta\ntr\t0\tb\nva\t1\tc\n", "{}: dataset 'bad' has no test split"),
    ("te\t1\ta\nte\t0\tb\nva\t1\tc\n", "{}: dataset 'bad' has no train split"),
    ("the man\nslept\n", "{}: not a dataset in a known format (directory, jsonl,"),
    ("the man slept\n", "; name the format with probe audit --read-as or read_dataset(format=)"),
    ("", "{}: is empty"),
]


@pytest.mark.parametrize(("text", "message"), SENTEVAL, ids=[text for _, text in SENTEVAL])
def test_senteval(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text)
    check_refused(path, message.format(path))


def check_refused(path: Path, message: str) -> None:
    with pytest.raises(DatasetError) as caught:
        read_dataset(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["bad.txt", "bad.jsonl"])
def test_not_utf8(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(GOOD.encode() + "te\t1\tcafé\n".encode("latin-1"))
    check_refused(path, f"{path}: line 4: not UTF-8" if name == "bad.txt" else f"{path}: line 1: not JSON")
    path.write_bytes(b"\xff\xfe\x00")
    check_refused(path, f"{path}: line 1: not UTF-8")


ITEM = {"split": "train", "label": "no", "sentence": "a b", "probes": ["a"]}
HEAD = {"format": "sentprobe-items 1", "name": "x", "labels": ["no", "yes"]}

JSONL: list[tuple[list[object], str]] = [
    ([ITEM, "{"], "line 2: not an object with the keys split, label, sentence, probes"),
    ([ITEM, {**ITEM, "probe": ["b"]}], "line 2: unknown key 'probe' (did you mean 'probes'?)"),
    ([ITEM, {**ITEM, "split": "tain"}], "line 2: unknown split 'tain' (did you mean 'train'?)"),
    ([ITEM, {**ITEM, "label": 1.5}], "line 2: 'label' must be a text or a whole number"),
    ([ITEM, {"split": "train", "label": "no"}], "line 2: 'sentence' is missing"),
    ([ITEM, {**ITEM, "probes": "a"}], "line 2: 'probes' must be a list of texts"),
    ([ITEM, {**ITEM, "probes": []}], "line 2: 0 probe words, the items before have 1"),
    ([{**ITEM, "probes": ["a", "b", "c"]}], "line 1: 3 probe words for an item, at most 2"),
    ([{**ITEM, "probes": ["a", ""]}], "line 1: probe word 2 is empty"),
    ([HEAD, {**ITEM, "label": "yess"}], "line 2: unknown label 'yess' (did you mean 'yes'?)"),
    ([{**HEAD, "format": "items 9"}], "line 1: format 'items 9' is not 'sentprobe-items 1'"),
    ([{**HEAD, "nam": "x"}], "line 1: unknown key 'nam' (did you mean 'name'?)"),
    ([{**HEAD, "labels": [1]}], "line 1: labels must be a list of texts, and name a text"),
    ([{**HEAD, "card": {}}], "line 1: a card must be an object that has at least the key 'task'"),
    ([{**HEAD, "card": {"task": 1}}], "line 1: card: task must be text, not 1"),
    ([HEAD], "dataset 'x' has no train split"),
    (
        [ITEM, {**ITEM, "label": "yes"}, {**ITEM, "split": "test", "probes": ["b"]}],
        "probe word 'b' occurs in test but never in training (slot 1)",
    ),
]


@pytest.mark.parametrize(("values", "message"), JSONL, ids=[text for _, text in JSONL])
def test_jsonl(tmp_path: Path, values: list[object], message: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    check_refused(path, f"{path}: {message}")


def test_jsonl_that_is_not_json(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    for text, message in (
        (json.dumps(ITEM) + '\n{"split": \n', "line 2: not JSON (Expecting value"),
        ("[" * 100_000, "line 1: not JSON"),
        ("\n\n", "the file is empty"),
    ):
        path.write_text(text)
        check_refused(path, f"{path}: {message}")


TRAIN = "TRUE\ts1\tthe man slept\tman\tsleep\nFALSE\ts2\tthe man danced\tman\tsleep\n"

PUBLISHED: list[tuple[dict[str, str], str]] = [
    ({"train.txt": TRAIN}, "{}: there is no test.txt: no test split"),
    ({"test.txt": TRAIN}, "{}: there is no train.txt: no train split"),
    ({"train.txt": TRAIN, "test.txt": ""}, "{}/test.txt: there are no items: the test split is"),
    (
        {"train.txt": TRAIN, "test.txt": TRAIN + "TRUE\ts3\n"},
        "{}/test.txt: line 3: 2 fields between tabs; expected label, id, sentence and probe words",
    ),
    (
        {"train.txt": TRAIN, "test.txt": "TRUE\ts3\tthe man slept\tman\n"},
        "{}/test.txt: line 1: 1 probe word, the items before have 2",
    ),
    (
        {"train.txt": TRAIN, "test.txt": "True\ts3\tthe man slept\tman\tsleep\n"},
        "{}/test.txt: line 1: label 'True' differs from 'TRUE' (line 1) in case only",
    ),
    (
        {"train.txt": TRAIN, "test.txt": "TRUE\ts3\tthe man slept\tman\tdance\n"},
        "{}: probe word 'dance' occurs in test but never in training (slot 2)",
    ),
    ({"train.txt": TRAIN, "test.txt": TRAIN, "dev.txt": "\n"}, "{}/dev.txt: there are no items"),
]


@pytest.mark.parametrize(("files", "message"), PUBLISHED, ids=[text for _, text in PUBLISHED])
def test_published(tmp_path: Path, files: dict[str, str], message: str) -> None:
    path = tmp_path / "bad"
    path.mkdir()
    for name, text in files.items():
        (path / name).write_text(text)
    check_refused(path, message.format(path))


def test_published_file_alone(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text(TRAIN)
    with pytest.raises(DatasetError, match=r"is a directory with train\.txt and test\.txt"):
        read_dataset(tmp_path / "train.txt", format="published")


def edit_json(name: str, change: Callable[[dict[str, object]], object]) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        value = json.loads((path / name).read_text())
        (path / name).write_text(json.dumps(change(value)))

    return apply


def edit_parquet(name: str, **columns: object) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pq.read_table(path / name)
        for column, values in columns.items():
            place = table.column_names.index(column)
            table = table.remove_column(place)
            if values is not None:
                array = pa.array([values] * len(table))
                table = table.add_column(place, column, array)
        pq.write_table(table, path / name)

    return apply


DIRECTORY: list[tuple[Callable[[Path], object], str]] = [
    (lambda path: (path / "card.json").unlink(), "{}/card.json: cannot read it: No such file"),
    (lambda path: (path / "items.parquet").unlink(), "{}/items.parquet: there is no such file"),
    (
        lambda path: (path / "sentences.parquet").write_bytes(b"PAR1"),
        "{}/sentences.parquet: not a Parquet file that can be read",
    ),
    (
        lambda path: (path / "items.parquet").write_bytes((path / "items.parquet").read_bytes()[:-40]),
        "{}/items.parquet: not a Parquet file that can be read",
    ),
    (lambda path: (path / "card.json").write_text("{"), "{}/card.json: "),
    (edit_json("card.json", lambda v: {**v, "name": 3}), "{}/card.json: name and fingerprint must be"),
    (edit_json("card.json", lambda v: {**v, "labels": "ab"}), "labels and probe_words lists of texts"),
    (edit_json("card.json", lambda v: {**v, "card": []}), "{}/card.json: a card must be an object"),
    (
        edit_json("card.json", lambda v: {**v, "card": {"task": "x", "sede": 1}}),
        "{}/card.json: a card has no field 'sede' (did you mean 'seed'?)",
    ),
    (
        edit_json("card.json", lambda v: {**v, "labels": ["FALSE", "NO"]}),
        "{}/items.parquet: item 1: label 'TRUE' is not one of those in card.json",
    ),
    (edit_json("card.json", lambda v: {**v, "name": "another"}), "{}: the files do not belong together"),
    (edit_parquet("sentences.parquet", sentence=None), "there is no column 'sentence'"),
    (edit_parquet("items.parquet", row="1"), "column 'row' must be of int64, with no value missing"),
    (edit_parquet("items.parquet", row=1000), "{}: split train, item 0: row 1000 is not in 0.."),
    (edit_parquet("items.parquet", split="dev"), "item 0: split 'dev' is not one of those in card.json"),
    (edit_parquet("items.parquet", split="train"), "{}: dataset 'toy' has no test split"),
]


@pytest.mark.parametrize(("damage", "message"), DIRECTORY, ids=[text for _, text in DIRECTORY])
def test_directory(tmp_path: Path, damage: Callable[[Path], object], message: str) -> None:
    path = tmp_path / "data"
    write_dataset(make_learnable_dataset(size=40), path)
    damage(path)
    with pytest.raises(DatasetError) as caught:
        read_dataset(path, format="directory")
    assert message.format(path) in str(caught.value)


def test_unknown_format_and_path(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such file or directory"):
        read_dataset(tmp_path / "none")
    for act in (
        lambda: read_dataset(tmp_path, format="jsnol"),
        lambda: write_dataset(make_learnable_dataset(size=40), tmp_path / "x", format="jsnol"),
    ):
        with pytest.raises(UsageError, match=r"no format 'jsnol' of datasets \(did you mean 'jsonl'"):
            act()


def test_no_dataset_and_two_of_one_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no dataset in it"):
        read_datasets(tmp_path)
    for name in ("a", "b"):
        write_dataset(make_learnable_dataset(size=40), tmp_path / name)
    with pytest.raises(DatasetError, match=r"b: the dataset is named toy, as is .*/a"):
        read_datasets(tmp_path)


@pytest.mark.parametrize("name", ["directory", "published"])
def test_what_is_not_ours_is_not_overwritten(tmp_path: Path, name: str) -> None:
    data = make_learnable_dataset(size=40)
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "main.tex").write_text("done")
    with pytest.raises(UsageError, match="is not empty and not a dataset of sentprobe"):
        write_dataset(data, thesis, format=name)
    with pytest.raises(UsageError, match="is not a directory, as a dataset must be"):
        write_dataset(data, thesis / "main.tex", format=name)
    (tmp_path / "link").symlink_to(thesis)
    with pytest.raises(UsageError, match="is not a directory, as a dataset must be"):
        write_dataset(data, tmp_path / "link", format=name)
    assert (thesis / "main.tex").read_text() == "done"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "thesis"]


@pytest.mark.parametrize("name", ["directory", "published", "jsonl"])
def test_a_failure_leaves_what_was_there(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a full disk: the old dataset is whole, and no half of a new one lies about."""
    path = tmp_path / f"data{FORMATS[name].suffix}"
    old = make_learnable_dataset(size=40)
    write_dataset(old, path, format=name)

    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("json.dumps", full)
    with pytest.raises(SentprobeError, match="No space left on device"):
        write_dataset(make_learnable_dataset(seed=1, size=40), path, format=name)
    monkeypatch.undo()
    assert {child.name for child in tmp_path.iterdir()} == list_written_files(path)
    assert [len(part) for part in read_dataset(path).splits.values()] == [len(part) for part in old.splits.values()]


def test_unwritable_texts(tmp_path: Path) -> None:
    items = Items([0, 0], [[0], [0]], [0, 1])  # type: ignore[arg-type]

    def make(*, labels: tuple[str, str] = ("a", "b"), word: str = "w", slots: int = 1) -> ProbeDataset:
        part = Items(items.rows, items.probes[:, :slots], items.targets)
        splits = {Split.TRAIN: part, Split.TEST: part}
        words = (word,) if slots else ()
        return ProbeDataset("x", ("s",), labels, words, splits, Card("x"))

    for data, name, message in (
        (make(), "senteval", "x has probe words, which the format senteval cannot hold"),
        (make(labels=("a", "b\tc"), slots=0), "senteval", "cannot hold the label 'b\\tc'"),
        (make(labels=("a", "A"), slots=0), "senteval", "labels that differ in case only"),
        (make(word=""), "published", "cannot hold the probe word ''"),
        (make(word="two\nlines"), "published", "cannot hold the probe word 'two\\nlines'"),
        (make(labels=("\ufeffa", "b")), "published", "cannot hold the label '\\ufeffa'"),
    ):
        with pytest.raises(UsageError) as caught:
            write_dataset(data, tmp_path / "x", format=name)
        assert message in str(caught.value)
    for name in ("directory", "jsonl", "published"):
        with pytest.raises(DatasetError, match="not valid Unicode"):
            write_dataset(make(word="\ud800"), tmp_path / "x", format=name)
    assert not [*tmp_path.iterdir()]


def test_a_card_of_another_dataset(tmp_path: Path) -> None:
    write_dataset(make_learnable_dataset(size=40), tmp_path / "data")
    with pytest.raises(DatasetError, match="holds another dataset than toy"):
        write_card(make_learnable_dataset(seed=1, size=40), tmp_path / "data")


@examples(60)
@given(any_datasets(slots=0), st.data())
def test_any_damage_to_a_file_is_a_plain_error(
    tmp_path_factory: pytest.TempPathFactory, data: ProbeDataset, choice: st.DataObject
) -> None:
    """Whatever a byte is changed to: the file reads, or the error is ours."""
    name = choice.draw(st.sampled_from([*FORMATS]))
    path = tmp_path_factory.mktemp("x") / f"data{FORMATS[name].suffix}"
    write_dataset(data, path, format=name)
    files = sorted(child for child in path.rglob("*") if child.is_file()) or [path]
    file = choice.draw(st.sampled_from(files))
    content = bytearray(file.read_bytes())
    place = choice.draw(st.integers(0, len(content) - 1))
    content[place] = choice.draw(st.integers(0, 255))
    file.write_bytes(bytes(content))
    try:
        read_dataset(path, format=name)
    except SentprobeError as error:
        assert str(path) in str(error)
        assert "\n" not in str(error)
