"""Dataset formats: round trips, equal bytes, recognition, columns, and malformed files, refused with file and line."""

import codecs
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from helpers.oracles.format_checks import check_round_trip, list_texts, list_written_files, read_bytes_by_file
from helpers.shared import SHARED, needs_shared
from helpers.strategies.dataset_strategies import any_datasets, datasets_with_columns, names
from helpers.strategies.probe_strategies import make_learnable_dataset
from helpers.thoroughness import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.datasets.dataset import Card, DatasetError, Items, ProbeDataset, Split
from sentprobe.probes.datasets.directory import write_card
from sentprobe.probes.datasets.formats import FORMATS, read_dataset, read_datasets, recognise, write_dataset

PUBLISHED_DATA = SHARED / "compeval" / "published"


DATASETS = {
    **dict.fromkeys(("directory", "jsonl"), any_datasets(texts=names)),
    **dict.fromkeys(("published", "csv", "splits"), any_datasets()),
    "senteval": any_datasets(slots=0),
}
"""Datasets that the formats can hold; the hub's has a test of its own."""


@pytest.mark.parametrize("name", DATASETS)
@examples(40)
@given(draw=st.data())
def test_format_keeps_dataset(name: str, draw: st.DataObject) -> None:
    data = draw.draw(DATASETS[name])
    assume(name != "jsonl" or "" not in (*data.labels, *data.probe_words))
    with TemporaryDirectory() as folder:
        back = check_round_trip(data, name, Path(folder))
    assert list_texts(back) == list_texts(data)
    if name == "directory":
        assert back == data
        assert back.fingerprint() == data.fingerprint()
    if name == "senteval":
        used = {label for split in list_texts(data).values() for _, label, _ in split}
        assert back.labels == tuple(sorted(used))
    elif name != "csv":
        assert (back.name, back.labels, back.card) == (data.name, data.labels, data.card)


def test_formats_agree(tmp_path: Path) -> None:
    """Sentences, labels and words in the order of the items: the very same dataset each time."""
    write_dataset(make_learnable_dataset(size=40), tmp_path / "first.jsonl")
    data = read_dataset(tmp_path / "first.jsonl")
    for name in ("directory", "jsonl", "published"):
        path = tmp_path / f"{name}{FORMATS[name].suffix}"
        write_dataset(data, path, format=name)
        assert read_dataset(path) == data


def test_suffix_decides_format(tmp_path: Path) -> None:
    data = make_learnable_dataset(size=40)
    for name, format_name in (("a", "directory"), ("a.jsonl", "jsonl"), ("Order.v2", "directory")):
        write_dataset(data, tmp_path / name)
        assert recognise(tmp_path / name) == format_name


def test_equal_data_gives_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_dataset(make_learnable_dataset(size=60), tmp_path / name)
    assert read_bytes_by_file(tmp_path / "one") == read_bytes_by_file(tmp_path / "two")


def test_card_can_be_replaced(tmp_path: Path) -> None:
    data = make_learnable_dataset(size=40)
    path = tmp_path / "data"
    write_dataset(data, path)
    before = read_bytes_by_file(path)
    card = Card("toy", audit={"bag of words": {"accuracy": 0.5}})
    changed = ProbeDataset(**{field: getattr(data, field) for field in data.__slots__ if field != "card"}, card=card)
    write_card(changed, path)
    after = read_bytes_by_file(path)
    assert read_dataset(path) == changed
    assert {name for name in after if after[name] != before[name]} == {"card.json"}


def test_directory_columns_are_as_documented(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    data = make_learnable_dataset(size=40)
    write_dataset(data, tmp_path / "data")
    sentences = pq.read_table(tmp_path / "data" / "sentences.parquet")
    items = pq.read_table(tmp_path / "data" / "items.parquet")
    assert sentences["sentence"].to_pylist() == list(data.sentences)
    assert items.column_names == ["split", "row", "label", "probe1"]
    rows = [
        (data.sentences[row], label, (probe,))
        for row, label, probe in zip(*(items[name].to_pylist() for name in items.column_names[1:]), strict=True)
    ]
    expected = list_texts(data)
    assert rows == [*expected[Split.TRAIN], *expected[Split.TEST]]
    card = json.loads((tmp_path / "data" / "card.json").read_text("utf-8"))
    assert (card["name"], card["card"]["task"]) == ("toy", "toy")


def write_senteval_lines(path: Path, lines: Sequence[str], *, start: bytes = b"", end: str = "\n") -> Path:
    path.write_bytes(start + "".join(line + end for line in lines).encode())
    return path


LINES = ("tr\t1\ta  b ", "te\t0\ta c", "", "va\t0\tb\xa0c", "tr\t0\tc c")


@pytest.mark.parametrize("start", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_senteval_tolerates_bom_and_spaces(tmp_path: Path, start: bytes, end: str) -> None:
    data = read_dataset(write_senteval_lines(tmp_path / "length.txt", LINES, start=start, end=end))
    assert (data.name, data.labels, data.slots) == ("length", ("0", "1"), 0)
    assert list_texts(data) == {
        Split.TRAIN: [("a b", "1", ()), ("c c", "0", ())],
        Split.VALIDATION: [("b c", "0", ())],
        Split.TEST: [("a c", "0", ())],
    }
    assert data.card == Card("length", source=str(tmp_path / "length.txt"))


def test_jsonl_without_head_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    items = [
        {"split": split, "label": label, "sentence": "the man slept"}
        for split in ("test", "train")
        for label in ("yes", "no")
    ]
    path.write_text("".join(json.dumps(item) + "\r\n" for item in items), newline="")
    data = read_dataset(path)
    assert (data.name, data.labels, data.sentences) == ("mine", ("no", "yes"), ("the man slept",))
    assert [len(part) for part in data.splits.values()] == [2, 2]


def test_read_datasets_finds_all_formats(tmp_path: Path) -> None:
    for name in ("b", "a.jsonl"):
        write_dataset(make_learnable_dataset(name=name, size=40), tmp_path / name)
    write_dataset(make_learnable_dataset(name="c", size=40), tmp_path / "c", format="published")
    write_senteval_lines(tmp_path / "length.txt", LINES)
    (tmp_path / "README.md").write_text("What these are.\n")
    (tmp_path / "picture.png").write_bytes(bytes(range(128, 256)))
    (tmp_path / "empty").mkdir()
    names_ = [data.name for data in read_datasets(tmp_path)]
    assert names_ == ["a.jsonl", "b", "c", "length"]
    assert [data.name for data in read_datasets(tmp_path / "b")] == ["b"]
    assert [data.name for data in read_datasets(tmp_path / "length.txt")] == ["length"]


@needs_shared
def test_published_datasets_read_as_they_are() -> None:
    datasets = {data.name: data for data in read_datasets(PUBLISHED_DATA)}
    assert list(datasets) == ["order", "sr"]
    for name, data in datasets.items():
        for split, file in ((Split.TRAIN, "train.txt"), (Split.TEST, "test.txt")):
            lines = (PUBLISHED_DATA / name / file).read_text("utf-8").splitlines()
            fields = [line.split("\t") for line in lines]
            expected = [(text, label, (noun, verb)) for label, _, text, noun, verb in fields]
            assert list_texts(data)[split] == expected
        assert data.labels == ("FALSE", "TRUE")
        assert set(data.probe_words) == set((PUBLISHED_DATA / "vocab.txt").read_text().split())
        assert not data.mirrored
        assert len(set(data.units(Split.TEST).tolist())) == 500  # each sentence is asked about twice


@needs_shared
def test_published_lines_are_written_as_they_were(tmp_path: Path) -> None:
    """But for the ids of the sentences, which are ours."""
    write_dataset(read_dataset(PUBLISHED_DATA / "sr"), tmp_path / "sr", format="published")
    for name in ("train.txt", "test.txt"):
        old, new = (
            [line.split("\t") for line in (folder / name).read_text("utf-8").splitlines()]
            for folder in (PUBLISHED_DATA / "sr", tmp_path / "sr")
        )
        assert [line[:1] + line[2:] for line in new] == [line[:1] + line[2:] for line in old]
        pairs = {(line[1], mine[1]) for line, mine in zip(old, new, strict=True)}
        assert len(pairs) == len({line[1] for line in old})


@pytest.mark.slow  # the file is a big one
def test_big_file_is_read_in_little_memory(tmp_path: Path) -> None:
    import tracemalloc

    lines = [f"{'tr' if i % 10 else 'te' if i % 20 else 'va'}\t{i % 3}\tthe {i}" for i in range(100_000)]
    path = write_senteval_lines(tmp_path / "big.txt", lines)
    del lines
    tracemalloc.start()
    data = read_dataset(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(map(len, data.splits.values())) == 100_000
    assert peak < 60e6


FORMATS_WITH_COLUMNS = ("directory", "jsonl", "csv", "splits")


@examples(16)
@given(datasets_with_columns(), st.sampled_from(FORMATS_WITH_COLUMNS), st.data())
def test_formats_keep_columns(data: ProbeDataset, name: str, choice: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        back = check_round_trip(data, name, Path(folder))
    for split, items in data.splits.items():
        assert dict(back.splits[split].columns) == dict(items.columns)
    without_columns = {split: replace(items, columns={}) for split, items in data.splits.items()}
    assert replace(data, splits=without_columns).fingerprint() == data.fingerprint()
    items = data.splits[Split.TEST]
    places = choice.draw(st.lists(st.integers(0, len(items) - 1), min_size=1))
    chosen = items.select(places)
    assert chosen.rows.tolist() == [items.rows[place] for place in places]
    for key, column in items.columns.items():
        assert chosen.columns[key] == tuple(column[place] for place in places)


def make_with_column(name: str) -> ProbeDataset:
    data = make_learnable_dataset(size=60)
    splits = {split: replace(items, columns={name: ("x",) * len(items)}) for split, items in data.splits.items()}
    return replace(data, splits=splits)


@pytest.mark.parametrize(("fmt", "name"), [("directory", "row"), ("jsonl", "sentence"), ("csv", "Label"), ("csv", " ")])
def test_unreadable_column_name_is_refused(fmt: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        write_dataset(make_with_column(name), tmp_path / "data", format=fmt)
    assert str(caught.value) == f"the format {fmt} cannot hold a column named {name!r}"


def test_jsonl_line_has_only_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "toy.jsonl"
    write_dataset(make_with_column("genre"), path)
    assert read_dataset(path).columns == ("genre",)
    path.write_text(path.read_text().replace('"genre"', '"gender"', 1))
    with pytest.raises(DatasetError, match=r"line 1: unknown key 'gender' \(did you mean 'genre'"):
        read_dataset(path)
    card = tmp_path / "toy.card.json"
    card.write_text(json.dumps({**json.loads(card.read_text()), "columns": "genre"}))
    with pytest.raises(DatasetError, match=r"card\.json: columns must be a list of texts"):
        read_dataset(path)


def test_columns_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DatasetError, match="column 'genre': 1 values for 2 items"):
        Items([0, 1], [], [0, 1], {"genre": ("x",)})  # type: ignore[arg-type]
    data = make_with_column("genre")
    splits = {**data.splits, Split.TEST: replace(data.splits[Split.TEST], columns={})}
    with pytest.raises(DatasetError, match="split test and train have different columns"):
        replace(data, splits=splits)


GOOD = "tr\t1\ta b\ntr\t0\tb c\nte\t1\tc d\n"

MALFORMED_SENTEVAL = [
    (GOOD + "te\t1\n", "line 4: 2 fields between tabs; expected split, label, sentence"),
    (GOOD + "te 1 c d\n", "line 4: 1 fields between tabs"),
    (GOOD + "te\t1\tc\td\n", "line 4: 4 fields between tabs"),
    (GOOD + "tst\t1\tc d\n", "line 4: unknown split 'tst'; the splits are tr, va, te"),
    (GOOD + "\n\nte\t1\t \n", "line 6: the sentence is empty"),
    (GOOD + "te\t\tc d\n", "line 4: the label is empty"),
    ("tr\t1\ta\ntr\t1\tb\nte\t1\tc\n", "dataset 'bad' has one label only: ['1']"),
    ("tr\t1\ta\ntr\t1\tb\nte\t0\tc\n", "all training items have one label, '1'"),
    ("tr\t1\ta\ntr\t0\tb\nte\t2\tc\n", "label '2' occurs in test but never in training"),
    ("tr\tyes\ta\ntr\tno\tb\nte\tYes\tc\n", "line 3: label 'Yes' differs from 'yes' (line 1) in case only"),
    ("tr\t1\ta\ntr\t0\tb\nva\t1\tc\n", "dataset 'bad' has no test split"),
    ("te\t1\ta\nte\t0\tb\nva\t1\tc\n", "dataset 'bad' has no train split"),
    ("the man\nslept\n", "not a dataset in a known format (directory, jsonl,"),
    (
        "the man slept\n",
        f"not a dataset in a known format ({', '.join(FORMATS)}); "
        "name the format with probe audit --read-as or read_dataset(format=)",
    ),
    ("", "is empty"),
    (GOOD + "te\t1\tcaf\udce9\n", "line 4: not UTF-8"),
    ("\udcff\udcfe\x00", "line 1: not UTF-8"),
]

ITEM = {"split": "train", "label": "no", "sentence": "a b", "probes": ["a"]}
HEAD = {"format": "sentprobe-items 1", "name": "x", "labels": ["no", "yes"]}


def write_lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


MALFORMED_JSONL = [
    (write_lines(ITEM, "{"), "line 2: not an object with the keys split, label, sentence, probes"),
    (write_lines(ITEM, {**ITEM, "probe": ["b"]}), "line 2: unknown key 'probe' (did you mean 'probes'?)"),
    (write_lines(ITEM, {**ITEM, "split": "tain"}), "line 2: unknown split 'tain' (did you mean 'train'?)"),
    (write_lines(ITEM, {**ITEM, "label": 1.5}), "line 2: 'label' must be a text or a whole number"),
    (write_lines(ITEM, {"split": "train", "label": "no"}), "line 2: 'sentence' is missing"),
    (write_lines(ITEM, {**ITEM, "probes": "a"}), "line 2: 'probes' must be a list of texts"),
    (write_lines(ITEM, {**ITEM, "probes": []}), "line 2: 0 probe words, the items before have 1"),
    (write_lines({**ITEM, "probes": ["a", "b", "c"]}), "line 1: 3 probe words for an item, at most 2"),
    (write_lines({**ITEM, "probes": ["a", ""]}), "line 1: probe word 2 is empty"),
    (write_lines(HEAD, {**ITEM, "label": "yess"}), "line 2: unknown label 'yess' (did you mean 'yes'?)"),
    (write_lines({**HEAD, "format": "items 9"}), "line 1: format 'items 9' is not 'sentprobe-items 1'"),
    (write_lines({**HEAD, "nam": "x"}), "line 1: unknown key 'nam' (did you mean 'name'?)"),
    (write_lines({**HEAD, "labels": [1]}), "line 1: labels must be a list of texts, and name a text"),
    (write_lines({**HEAD, "card": {}}), "line 1: a card must be an object that has at least the key 'task'"),
    (write_lines({**HEAD, "card": {"task": 1}}), "line 1: card: task must be text, not 1"),
    (write_lines(HEAD), "dataset 'x' has no train split"),
    (
        write_lines(ITEM, {**ITEM, "label": "yes"}, {**ITEM, "split": "test", "probes": ["b"]}),
        "probe word 'b' occurs in test but never in training (slot 1)",
    ),
    (GOOD + "te\t1\tcaf\udce9\n", "line 1: not JSON"),
    ("\udcff\udcfe\x00", "line 1: not UTF-8"),
    (write_lines(ITEM) + '{"split": \n', "line 2: not JSON (Expecting value"),
    (write_lines(ITEM)[:-2] + ', "label": "0"}\n', "line 1: not JSON (the key 'label' is stated twice in one object)"),
    ("[" * 100_000, "line 1: not JSON"),
    ("\n\n", "the file is empty"),
]

TABLE_HEAD = "split,label,text\n"
GOOD_TABLE = TABLE_HEAD + "train,1,a b\ntrain,0,b c\ntest,1,c d\n"

MALFORMED_CSV = [
    (GOOD_TABLE + "test,1\n", "line 5: 2 fields, the first line names 3"),
    (GOOD_TABLE + "tset,1,c\n", "line 5: unknown split 'tset' (did you mean 'test'?); the splits are"),
    (GOOD_TABLE + "test,,c\n", "line 5: the label is empty"),
    (GOOD_TABLE + "test,1, \n", "line 5: the sentence is empty"),
    (GOOD_TABLE + 'test,1,"c\n', "line 5: a quote opens here, and is not closed in this line: unexpected end of data"),
    (GOOD_TABLE + "test,Yes,c\ntest,yes,c\n", "line 6: label 'yes' differs from 'Yes' (line 5) in case"),
    ("label,text\n1,a\n", "line 1: 'split' is missing: give each item its split (train, "),
    ("split,text\ntrain,a\n", "line 1: 'label' is missing; the fields are 'split', 'text'"),
    ("split,label\ntrain,a\n", "line 1: 'sentence' is missing (it may be called 'text'); the"),
    ("split,labels,text\n", "line 1: unknown key 'labels' (did you mean 'label'?); the keys are"),
    ("split,label,text,sentence\n", "line 1: both 'text' and 'sentence'; only one is allowed"),
    ("split,label,text,note,note\n", "line 1: both 'note' and 'note'; only one is allowed"),
    (TABLE_HEAD, "there are no items"),
    ("\n", "the file is empty"),
    (TABLE_HEAD + "train,1,caf\udce9\n", "line 2: not UTF-8"),
    ("a,b\n1,2\n", "line 1: 'split' is missing"),
]

MALFORMED = [
    *(("bad.txt", *row) for row in MALFORMED_SENTEVAL),
    *(("bad.jsonl", *row) for row in MALFORMED_JSONL),
    *(("bad.csv", *row) for row in MALFORMED_CSV),
]


@pytest.mark.parametrize(("name", "text", "message"), MALFORMED, ids=[message for _, _, message in MALFORMED])
def test_malformed_file_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    check_refused(path, f"{path}: {message}")


def check_refused(path: Path, message: str, *, format: str | None = None) -> None:
    with pytest.raises(DatasetError) as caught:
        read_dataset(path, format=format)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


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
def test_malformed_published_folder_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    path = tmp_path / "bad"
    path.mkdir()
    for name, text in files.items():
        (path / name).write_text(text)
    check_refused(path, message.format(path))


def test_published_file_alone_is_refused(tmp_path: Path) -> None:
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
def test_damaged_directory_is_refused(tmp_path: Path, damage: Callable[[Path], object], message: str) -> None:
    path = tmp_path / "data"
    write_dataset(make_learnable_dataset(size=40), path)
    damage(path)
    check_refused(path, message.format(path), format="directory")


def rotate_labels(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    labels = table["label"].to_pylist()
    place = table.column_names.index("label")
    pq.write_table(table.set_column(place, "label", pa.array(labels[1:] + labels[:1])), path)


CHANGES: list[tuple[str, str, Callable[[Path], object]]] = [
    ("hub", "test.parquet", rotate_labels),
    ("hub", "validation.parquet", Path.unlink),
    *((fmt, file, lambda path: path.write_text("".join(path.read_text().splitlines(keepends=True)[:-2])))
      for fmt, file in (("published", "test.txt"), ("splits", "test.jsonl"), ("splits", "train.jsonl"))),
    ("published", "dev.txt", Path.unlink),
    ("splits", "test.jsonl", lambda path: path.write_text(path.read_text().replace('"FALSE"', '"TRUE"', 1))),
    ("published", "train.txt", lambda path: path.write_text("\n".join(reversed(path.read_text().splitlines())))),
]  # fmt: skip


@pytest.mark.parametrize(("fmt", "file", "change"), CHANGES)
def test_changed_items_are_refused(tmp_path: Path, fmt: str, file: str, change: Callable[[Path], object]) -> None:
    data = make_learnable_dataset(size=40)
    data = replace(data, splits=dict(data.splits) | {Split.VALIDATION: data.splits[Split.TEST]})
    data = replace(data, sentences=(*data.sentences, "an unused sentence"))
    write_dataset(data, tmp_path / "data", format=fmt)
    assert list_texts(read_dataset(tmp_path / "data")) == list_texts(data)
    change(tmp_path / "data" / file)
    with pytest.raises(DatasetError, match=r"data: the items are not those that card.json was written for") as caught:
        read_dataset(tmp_path / "data")
    assert "\n" not in str(caught.value)
    if fmt != "hub":
        (tmp_path / "data" / "card.json").unlink()
        read_dataset(tmp_path / "data")


COUNT_KEYS = ("{}: {}", "{} {}")
"""The keys of a card's counts: of generated and of natural tasks."""


@pytest.mark.parametrize("key", COUNT_KEYS)
@pytest.mark.parametrize("fmt", ["directory", "jsonl", "published", "splits", "hub"])
def test_counts_that_contradict_items_are_refused(tmp_path: Path, fmt: str, key: str) -> None:
    data = make_learnable_dataset(size=40)
    path = tmp_path / f"data{FORMATS[fmt].suffix}"
    numbers = Counter((split.value, data.labels[i]) for split in data.splits for i in data.splits[split].targets)
    counts = {key.format(*names): number for names, number in numbers.items()}
    write_dataset(replace(data, card=Card("toy", counts=counts)), path, format=fmt)
    assert dict(read_dataset(path).card.counts) == counts
    stated = {**counts, key.format("test", "TRUE"): 77}
    write_dataset(replace(data, card=Card("toy", counts=stated)), path, format=fmt)
    found = numbers["test", "TRUE"]
    message = f"{path}: {found} items of the split test and the label 'TRUE', but its card counts 77: write the dataset"
    with pytest.raises(DatasetError, match="^" + re.escape(message)):
        read_dataset(path)


CUTS: Mapping[str, Callable[[list[str]], list[str]]] = {
    "cut": lambda lines: lines[:-2],
    "an item deleted": lambda lines: lines[1:],
    "an item doubled": lambda lines: [*lines, lines[0]],
    "no test item of a label": lambda lines: [
        line for line in lines if not {'"TRUE"', '"test"'} <= {*re.findall(r'"\w+"', line)}
    ],
    "a label changed": lambda lines: [lines[0].replace("TRUE", "FALSE"), *lines[1:]],
}


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("change", CUTS)
def test_cut_jsonl_with_counts_is_refused(tmp_path: Path, change: str, *, inline: bool) -> None:
    path, card_path = tmp_path / "toy.jsonl", tmp_path / "toy.card.json"
    data = make_learnable_dataset(size=40)
    numbers = Counter((split.value, data.labels[i]) for split in data.splits for i in data.splits[split].targets)
    card = Card("toy", counts={": ".join(names): number for names, number in numbers.items()})
    write_dataset(replace(data, card=card), path)
    lines = sorted(path.read_text("utf-8").splitlines(), key=lambda line: '"TRUE"' not in line)
    head = [json.dumps(json.loads(card_path.read_text("utf-8")))] if inline else []
    path.write_text("\n".join([*head, *CUTS[change](lines)]), "utf-8")
    if inline:
        card_path.unlink()
    with pytest.raises(DatasetError, match=r"toy\.jsonl: \d+ items of the split \w+ and .* its card counts \d+: "):
        read_dataset(path)


def test_unknown_format_and_path_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such file or directory"):
        read_dataset(tmp_path / "none")
    for act in (
        lambda: read_dataset(tmp_path, format="jsnol"),
        lambda: write_dataset(make_learnable_dataset(size=40), tmp_path / "x", format="jsnol"),
    ):
        with pytest.raises(UsageError, match=r"no format 'jsnol' of datasets \(did you mean 'jsonl'"):
            act()


def test_folder_without_or_with_equal_datasets(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no dataset in it"):
        read_datasets(tmp_path)
    for name in ("a", "b"):
        write_dataset(make_learnable_dataset(size=40), tmp_path / name)
    with pytest.raises(DatasetError, match=r"b: the dataset is named toy, as is .*/a"):
        read_datasets(tmp_path)


@pytest.mark.parametrize("name", ["directory", "published"])
def test_files_of_others_are_not_overwritten(tmp_path: Path, name: str) -> None:
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
def test_failed_write_leaves_old_dataset(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_unwritable_texts_are_refused(tmp_path: Path) -> None:
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


def test_card_of_another_dataset_is_refused(tmp_path: Path) -> None:
    write_dataset(make_learnable_dataset(size=40), tmp_path / "data")
    with pytest.raises(DatasetError, match="holds another dataset than toy"):
        write_card(make_learnable_dataset(seed=1, size=40), tmp_path / "data")


@examples(60)
@given(any_datasets(slots=0), st.data())
def test_damaged_byte_is_plain_error(
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
