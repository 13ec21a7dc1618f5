"""Dataset formats: round trips, equal bytes for equal data, and recognition."""

import codecs
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from helpers.oracles.format_checks import check_round_trip, list_texts, read_bytes_by_file
from helpers.shared import SHARED, needs_shared
from helpers.strategies.dataset_strategies import any_datasets, names
from helpers.strategies.probe_strategies import make_learnable_dataset
from helpers.thoroughness import examples
from hypothesis import given

from sentprobe.probes.datasets.dataset import Card, ProbeDataset, Split
from sentprobe.probes.datasets.directory import write_card
from sentprobe.probes.datasets.formats import FORMATS, read_dataset, read_datasets, recognise, write_dataset

PUBLISHED = SHARED / "compeval" / "published"


@examples(40)
@given(any_datasets(texts=names))
def test_directory_keeps_everything(data: ProbeDataset) -> None:
    with TemporaryDirectory() as folder:
        back = check_round_trip(data, "directory", Path(folder))
        assert back == data
        assert back.fingerprint() == data.fingerprint()


@examples(40)
@given(any_datasets(texts=names))
def test_jsonl_keeps_items_labels_name_and_card(data: ProbeDataset) -> None:
    if "" in (*data.labels, *data.probe_words):
        return
    with TemporaryDirectory() as folder:
        back = check_round_trip(data, "jsonl", Path(folder))
        assert list_texts(back) == list_texts(data)
        assert (back.name, back.labels, back.card) == (data.name, data.labels, data.card)


@examples(40)
@given(any_datasets())
def test_published_keeps_items_labels_name_and_card(data: ProbeDataset) -> None:
    with TemporaryDirectory() as folder:
        back = check_round_trip(data, "published", Path(folder))
        assert list_texts(back) == list_texts(data)
        assert (back.name, back.labels, back.card) == (data.name, data.labels, data.card)


@examples(40)
@given(any_datasets(slots=0))
def test_senteval_keeps_items(data: ProbeDataset) -> None:
    with TemporaryDirectory() as folder:
        back = check_round_trip(data, "senteval", Path(folder))
        assert list_texts(back) == list_texts(data)
        used = {label for split in list_texts(data).values() for _, label, _ in split}
        assert back.labels == tuple(sorted(used))


def test_formats_agree(tmp_path: Path) -> None:
    """Sentences, labels and words in the order of the items: the very same dataset each time."""
    write_dataset(make_learnable_dataset(size=40), tmp_path / "first.jsonl")
    data = read_dataset(tmp_path / "first.jsonl")
    for name in ("directory", "jsonl", "published"):
        path = tmp_path / f"{name}{FORMATS[name].suffix}"
        write_dataset(data, path, format=name)
        assert read_dataset(path) == data


def test_the_suffix_says_the_format(tmp_path: Path) -> None:
    data = make_learnable_dataset(size=40)
    for name, format_name in (("a", "directory"), ("a.jsonl", "jsonl"), ("Order.v2", "directory")):
        write_dataset(data, tmp_path / name)
        assert recognise(tmp_path / name) == format_name


def test_equal_data_gives_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_dataset(make_learnable_dataset(size=60), tmp_path / name)
    assert read_bytes_by_file(tmp_path / "one") == read_bytes_by_file(tmp_path / "two")


def test_the_card_can_be_replaced(tmp_path: Path) -> None:
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


def test_the_columns_of_our_directory_are_for_other_tools(tmp_path: Path) -> None:
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
def test_bom_line_ends_blank_lines_and_odd_spaces(tmp_path: Path, start: bytes, end: str) -> None:
    data = read_dataset(write_senteval_lines(tmp_path / "length.txt", LINES, start=start, end=end))
    assert (data.name, data.labels, data.slots) == ("length", ("0", "1"), 0)
    assert list_texts(data) == {
        Split.TRAIN: [("a b", "1", ()), ("c c", "0", ())],
        Split.VALIDATION: [("b c", "0", ())],
        Split.TEST: [("a c", "0", ())],
    }
    assert data.card == Card("length", source=str(tmp_path / "length.txt"))


def test_jsonl_without_first_line(tmp_path: Path) -> None:
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


def test_read_datasets_in_a_directory(tmp_path: Path) -> None:
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
def test_the_published_datasets_read_as_they_are() -> None:
    datasets = {data.name: data for data in read_datasets(PUBLISHED)}
    assert list(datasets) == ["order", "sr"]
    for name, data in datasets.items():
        for split, file in ((Split.TRAIN, "train.txt"), (Split.TEST, "test.txt")):
            lines = (PUBLISHED / name / file).read_text("utf-8").splitlines()
            fields = [line.split("\t") for line in lines]
            expected = [(text, label, (noun, verb)) for label, _, text, noun, verb in fields]
            assert list_texts(data)[split] == expected
        assert data.labels == ("FALSE", "TRUE")
        assert set(data.probe_words) == set((PUBLISHED / "vocab.txt").read_text().split())
        assert not data.mirrored
        assert len(set(data.units(Split.TEST).tolist())) == 500  # each sentence is asked about twice


@needs_shared
def test_published_lines_are_written_as_they_were(tmp_path: Path) -> None:
    """But for the ids of the sentences, which are ours."""
    write_dataset(read_dataset(PUBLISHED / "sr"), tmp_path / "sr", format="published")
    for name in ("train.txt", "test.txt"):
        old, new = (
            [line.split("\t") for line in (folder / name).read_text("utf-8").splitlines()]
            for folder in (PUBLISHED / "sr", tmp_path / "sr")
        )
        assert [line[:1] + line[2:] for line in new] == [line[:1] + line[2:] for line in old]
        pairs = {(line[1], mine[1]) for line, mine in zip(old, new, strict=True)}
        assert len(pairs) == len({line[1] for line in old})


@pytest.mark.slow  # the file is a big one
def test_a_big_file_is_read_in_little_memory(tmp_path: Path) -> None:
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
