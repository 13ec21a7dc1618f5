"""Datasets of other authors: CSV, JSONL, and a file for each split."""

import csv
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from helpers.oracles.format_checks import list_texts
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.datasets.dataset import DatasetError, Split
from sentprobe.probes.datasets.formats import read_dataset, read_datasets, recognise
from sentprobe.probes.datasets.records import read_table, read_table_rows, write_table

ROWS = [
    ("train", "the man slept", 1),
    ("train", 'she said "no", and left', 0),
    ("dev", "the man\nran", 0),
    ("test", "a dog barked", 1),
]
EXPECTED = {
    Split.TRAIN: [("the man slept", "1", ()), ('she said "no", and left', "0", ())],
    Split.VALIDATION: [("the man ran", "0", ())],
    Split.TEST: [("a dog barked", "1", ())],
}


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_formulas_are_padded_and_read_back(tmp_path: Path, suffix: str) -> None:
    given_path, path = tmp_path / "given.csv", tmp_path / f"out{suffix}"
    given_path.write_text(
        "split,label,sentence,=x\n"
        + "".join(
            f"{split},{label},{sentence},@{label}\n"
            for split in ("train", "test")
            for label, sentence in (("+1", "=1+1"), ("-1", "'=no"), ("no", "@me - yes"))
        ),
        encoding="utf-8",
    )
    data = read_dataset(given_path)
    write_table(data, path)
    back = read_table(path)
    assert (list_texts(back), back.columns) == (list_texts(data), data.columns)
    lines = path.read_text("utf-8").splitlines()
    cells = [cell for line in lines for cell in line.split("\t" if suffix == ".tsv" else ",")]
    assert {" =x", " =1+1", "'=no", " @me - yes", " +1", " -1"} <= {*cells}
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


@pytest.mark.parametrize("separator", [",", "\t", ";"])
@pytest.mark.parametrize("names", [("split", "text", "label"), ("Split", " Sentence", "LABEL")])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt"])
def test_table_is_read_whatever_its_form(tmp_path: Path, separator: str, names: tuple[str, ...], suffix: str) -> None:
    path = tmp_path / f"mine{suffix}"
    rows = [["", *names, "id"], *([str(number), *map(str, row), "x"] for number, row in enumerate(ROWS))]
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        if separator == "\t":  # without quoting
            file.writelines("\t".join(cell.replace("\n", " ") for cell in row) + "\n" for row in rows)
        else:
            csv.writer(file, delimiter=separator).writerows(rows)
    assert recognise(path) == "csv"
    data = read_dataset(path)
    assert list_texts(data) == EXPECTED
    assert data.card.notes == (make_note(f"mine{suffix}", "'id'"),)
    assert data.splits[Split.TEST].columns == {"id": ("x",) * len(data.splits[Split.TEST])}
    assert read_datasets(tmp_path) == [data]


CELLS = st.text(st.sampled_from("ab\"',; "), min_size=1, max_size=6).filter(str.strip)
TABLES = st.lists(st.tuples(CELLS, CELLS), min_size=2, max_size=6)


@given(TABLES)
def test_tab_separated_cells_keep_their_quotes(rows: list[tuple[str, str]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.tsv")
        path.write_text("a\tb\n" + "".join("\t".join(row) + "\n" for row in rows))
        assert [tuple(row) for _, row in read_table_rows(path)] == [("a", "b"), *rows]


@given(TABLES, st.data())
def test_csv_quote_never_swallows_row(rows: list[tuple[str, str]], data: st.DataObject) -> None:
    """A quote before a cell, which was not quoted, is refused or changes only its own row."""
    lines = ["a,b", *(",".join(f'"{cell.replace(chr(34), "")}"' for cell in row) for row in rows)]
    number = data.draw(st.integers(1, len(lines) - 1))
    first, _, second = lines[number].partition('","')
    plain = [cell.strip('"').replace(",", "") for cell in (first, second)]
    plain[data.draw(st.integers(0, 1))] = '"' + plain[0]
    lines[number] = ",".join(plain)
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        path.write_text("\n".join(lines) + "\n")
        try:
            assert len([*read_table_rows(path)]) == len(lines)
        except DatasetError as error:
            assert f"{path}: line {number + 1}: " in str(error)


def make_note(name: str, fields: str) -> str:
    return f"Further fields of {name}, available to probe show --by: {fields}."


@given(
    st.permutations(["text", "label", "split", "idx", "label_text"]),
    st.sampled_from([("train", "dev", "test"), ("Train", "VAL", "test"), ("tr", "va", "te")]),
)
def test_jsonl_keys_have_any_order_and_name(keys: list[str], splits: tuple[str, ...]) -> None:
    split_names = dict(zip(("train", "dev", "test"), splits, strict=True))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mine.jsonl"
        with path.open("w") as file:
            for number, (split, text, label) in enumerate(ROWS):
                values = {"text": text, "label": label, "split": split_names[split], "idx": number}
                value = {**values, "label_text": "yes" if label else "no"}
                file.write(json.dumps({key: value[key] for key in keys}) + "\n")
        data = read_dataset(path)
    assert list_texts(data) == EXPECTED
    column_names = [key for key in keys if key in ("idx", "label_text")]
    assert data.card.notes == (make_note("mine.jsonl", ", ".join(map(repr, column_names))),)
    assert data.columns == tuple(column_names)
    numbers = [int(n) for part in data.splits.values() for n in part.columns["idx"]]
    assert sorted(numbers) == [*range(len(ROWS))]


def test_labels_may_be_true_and_false(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    rows = [(split, value) for split in ("train", "test") for value in (True, False)]
    path.write_text("".join(json.dumps({"split": s, "label": v, "sentence": f"it {v}"}) + "\n" for s, v in rows))
    assert read_dataset(path).labels == ("false", "true")


def test_split_files_are_one_dataset(tmp_path: Path) -> None:
    folder = tmp_path / "polarity"
    folder.mkdir()
    (folder / "train.csv").write_text("text,label\nthe man slept,1\nshe left,0\n")
    (folder / "valid.tsv").write_text("label\tsentence\n0\tthe man ran\n")
    (folder / "test.jsonl").write_text('{"text": "a dog barked", "label": 1, "idx": 0}\n')
    (folder / "notes.csv").write_text("a,b\n")
    assert recognise(folder) == "splits"
    data = read_dataset(folder)
    assert (data.name, data.labels) == ("polarity", ("0", "1"))
    assert [len(part) for part in data.splits.values()] == [2, 1, 1]
    assert data.card.notes == (make_note("polarity", "'idx'"),)
    assert [part.columns["idx"] for part in data.splits.values()] == [("", ""), ("",), ("0",)]
    (folder / "dev.csv").write_text("text,label\nit ran,1\n")
    with pytest.raises(DatasetError, match=r"polarity: dev\.csv and valid\.tsv are both of the validation split"):
        read_dataset(folder)


def test_probe_words_have_columns(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(
        "sentence,probe1,probe2,label,split\n"
        "the man slept,man,sleep,yes,train\nthe man ran,man,sleep,no,train\n"
        "the man left,man,sleep,no,test\n"
    )
    data = read_dataset(path)
    assert list_texts(data)[Split.TEST] == [("the man left", "no", ("man", "sleep"))]


def test_malformed_split_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text('{"text": "a", "label": "x"}\n')
    (tmp_path / "train.jsonl").write_text("")
    with pytest.raises(DatasetError, match=r"train\.jsonl: the file is empty"):
        read_dataset(tmp_path)
    (tmp_path / "train.jsonl").write_text('{"text": "a"}\n')
    with pytest.raises(DatasetError, match=r"train\.jsonl: line 1: 'label' is missing"):
        read_dataset(tmp_path)
    with pytest.raises(DatasetError, match="is a directory with train"):
        read_dataset(tmp_path / "train.jsonl", format="splits")


def test_senteval_lines_may_have_more_fields(tmp_path: Path) -> None:
    """ "(At least)" three, says the README of its data: partition, class, and last the sentence."""
    path = tmp_path / "odd_man_out.txt"
    path.write_text("tr\tO\t12\ta b\ntr\tC\t13\tb c\nva\tC\t1\tb d\nte\tO\t9\tc d\n")
    assert recognise(path) == "senteval"
    assert list_texts(read_dataset(path))[Split.TEST] == [("c d", "O", ())]
    path.write_text("tr\tO\t12\ta b\ntr\tC\tb c\n")
    with pytest.raises(DatasetError, match=r"line 2: 3 fields .* \(4 fields in the lines before\)"):
        read_dataset(path)


@pytest.mark.parametrize("count", [1000, 1001])
def test_another_key_in_each_item_is_limited(tmp_path: Path, count: int) -> None:
    """A value is kept for each item and key: thousands of keys would take the square of the file."""
    path = tmp_path / "mine.jsonl"
    items = (
        {"split": ("train", "test")[n < 2], "label": str(n % 2), "sentence": f"s {n}", f"key{n}": "x"}
        for n in range(count)
    )
    path.write_text("".join(f"{json.dumps(item)}\n" for item in items), encoding="utf-8")
    if count == 1000:
        assert len(read_dataset(path).splits[Split.TRAIN].columns) == count
    else:
        with pytest.raises(DatasetError, match=r"1,001 columns \(keys\) in its items; at most 1,000 are read"):
            read_dataset(path)
