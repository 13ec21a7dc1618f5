"""Additional item columns, which formats keep and probes do not use."""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from helpers.oracles.format_checks import check_round_trip
from helpers.strategies.dataset_strategies import datasets_with_columns
from helpers.strategies.probe_strategies import make_learnable_dataset
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.probes.datasets.dataset import DatasetError, Items, ProbeDataset, Split
from sentprobe.probes.datasets.formats import read_dataset, write_dataset

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
def test_a_name_that_would_not_be_read_back(fmt: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        write_dataset(make_with_column(name), tmp_path / "data", format=fmt)
    assert str(caught.value) == f"the format {fmt} cannot hold a column named {name!r}"


def test_a_line_of_ours_has_no_other_keys_than_its_columns(tmp_path: Path) -> None:
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


def test_columns_that_do_not_fit() -> None:
    with pytest.raises(DatasetError, match="column 'genre': 1 values for 2 items"):
        Items([0, 1], [], [0, 1], {"genre": ("x",)})  # type: ignore[arg-type]
    data = make_with_column("genre")
    splits = {**data.splits, Split.TEST: replace(data.splits[Split.TEST], columns={})}
    with pytest.raises(DatasetError, match="split test and train have different columns"):
        replace(data, splits=splits)
