"""Parquet as it is written in bulk: any reader finds what the other formats have."""

import json
import re
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.strategies.space_strategies import spaces
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.bulk import generate as sentence_files
from sentprobe.generator.bulk import generation
from sentprobe.generator.bulk.generate import generate, read_file, write_annotated, write_file
from sentprobe.generator.bulk.parquet import TableMaker, has_recipients
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english


def to_row(record: dict[str, Any]) -> dict[str, Any]:
    """A record of JSON as a row: a column for each field of tokens, the event as text."""
    event = json.dumps(record["event"], ensure_ascii=False, separators=(",", ":"))
    fields = {key: value for key, value in record.items() if key != "tokens"}
    return {**fields, **record["tokens"], "event": event}


@examples(8)
@given(space=spaces(), seed=st.integers(0, 2**32), part=st.integers(1, 9), portion=st.integers(1, 20))
def test_rows_are_records_of_json(space: Space, seed: int, part: int, portion: int) -> None:
    """In parts and row groups of any length."""
    indices = space.sample(min(40, space.count()), seed=seed)
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(generation, "PART_SIZE", part)
        patch.setattr(sentence_files, "ROW_GROUP_SIZE", portion)
        rows, lines = Path(name) / "x.parquet", Path(name) / "x.jsonl"
        for path in (rows, lines):
            write_file(space, indices, path)
        expected = [to_row(json.loads(line)) for line in lines.read_text("utf-8").splitlines()]
        actual = [{**row, "index": int(row["index"])} for row in pq.read_table(rows).to_pylist()]
        for predicate in chain.from_iterable(row["predicates"] for row in actual):
            if predicate.get("recipient", 0) is None:  # absent in JSON
                del predicate["recipient"]
        assert actual == expected


@pytest.mark.slow
@examples(8)
@given(space=spaces(), seed=st.integers(0, 2**32), part=st.integers(1, 9))
def test_table_is_independent_of_earlier_ones(space: Space, seed: int, part: int) -> None:
    """Not by its dictionaries either, whose order decides the bytes of the file."""
    indices = space.sample(min(40, space.count()), seed=seed)
    half = len(indices) // 2
    experienced = TableMaker(space)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generation, "PART_SIZE", part)
        patch.setattr(generation, "CHUNK_SIZE", 3 * part)
        experienced.build_row_group(indices[half:], half)
        tables = [maker.build_row_group(indices, 0) for maker in (experienced, TableMaker(space))]
    first, second = ([list_words(column) for column in table.columns] for table in tables)
    assert tables[0].equals(tables[1])
    assert first == second


def list_words(column: pa.ChunkedArray) -> list[str] | None:
    """The dictionary of a column, if it has one: its own words, sorted."""
    (array,) = column.chunks
    inner = array.values if pa.types.is_list(array.type) else array
    if not pa.types.is_dictionary(inner.type):
        return None
    dictionary_words: list[str] = inner.dictionary.to_pylist()
    assert dictionary_words == sorted(set(inner.to_pylist()), key=str.encode)
    return dictionary_words


@examples(6)
@given(space=spaces())
def test_schema_equals_arrows(space: Space) -> None:
    """Names, types, and what may be missing; but for the index, which is as long as it must be.

    A file of a space has recipients where the space has some, a file of sentences always.
    """
    indices = space.sample(1, seed=1)
    with TemporaryDirectory() as name:
        bulk_file, arrow_file = Path(name) / "x.parquet", Path(name) / "y.parquet"
        write_file(space, indices, bulk_file)
        write_annotated(read_file(bulk_file, space.lexicon), arrow_file)
        ours, arrows = (str(pq.ParquetFile(path).schema) for path in (bulk_file, arrow_file))
        assert (" recipient;" in ours, " recipient;" in arrows) == (has_recipients(space), True)
        own = re.compile(" (index|recipient)")
        written_fields = [[line for line in text.splitlines()[1:] if not own.search(line)] for text in (ours, arrows)]
        assert written_fields[0] == written_fields[1]


def test_row_groups_have_statistics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the smallest and largest id, template and index of each."""
    monkeypatch.setattr(sentence_files, "ROW_GROUP_SIZE", 20)
    path = tmp_path / "x.parquet"
    generate(path, template="transitive-rc", n=50)
    rows, file = pq.read_table(path).to_pylist(), pq.ParquetFile(path)
    assert [file.metadata.row_group(i).num_rows for i in range(3)] == [20, 20, 10]
    for column, name in ((0, "id"), (2, "template"), (3, "index")):
        values = [row[name] for row in rows[20:40]]
        statistics = file.metadata.row_group(1).column(column).statistics
        assert (statistics.min, statistics.max, statistics.null_count) == (min(values), max(values), 0)


def test_duckdb_and_pandas_read_it(tmp_path: Path) -> None:
    """DuckDB and pandas have readers of their own, or ways of their own with Arrow's."""
    duckdb, pandas = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
    path = tmp_path / "x.parquet"
    generate(path, template="all", n=60, seed=3)
    expected = pq.read_table(path).to_pylist()
    query = duckdb.sql(f"SELECT * FROM '{path}'")
    assert [dict(zip(query.columns, row, strict=True)) for row in query.fetchall()] == expected
    frame = pandas.read_parquet(path)
    assert frame["text"].tolist() == [row["text"] for row in expected]
    assert [list(forms) for forms in frame["form"]] == [row["form"] for row in expected]


@pytest.mark.slow
def test_datasets_reads_it(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    path = tmp_path / "x.parquet"
    generate(path, template="all", n=60, seed=3)
    loaded = datasets.load_dataset("parquet", data_files=str(path), cache_dir=str(tmp_path / "cache"), split="train")
    assert loaded.to_list() == pq.read_table(path).to_pylist()


@pytest.mark.parametrize("adverbs", [2, 4])
def test_large_indices_are_missing_nowhere(adverbs: int, tmp_path: Path) -> None:
    """A decimal, or a string of digits."""
    choices = Choices(adverbs=(adverbs,))
    space = Space(english(), templates=["transitive-rc-both"], choices=choices)
    indices = space.sample(9, seed=1)
    write_file(space, indices, tmp_path / "x.parquet")
    column = pq.read_table(tmp_path / "x.parquet").column("index")
    assert [int(value) for value in column.to_pylist()] == indices.tolist()
    assert column.null_count == 0
