"""Parquet as it is written in bulk: any reader finds what the other formats have."""

import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from space_strategies import spaces
from thoroughness import examples

from sentprobe.generator import bulk, pages, portions
from sentprobe.generator.constraints import Choices
from sentprobe.generator.footer import GroupWriter, RowGroup
from sentprobe.generator.generate import generate
from sentprobe.generator.sentence_files import read_file, write_annotated, write_file
from sentprobe.generator.space import Space
from sentprobe.lexicon import english


def as_row(record: dict[str, Any]) -> dict[str, Any]:
    """A record of JSON as a row: a column for each field of tokens, the event as text."""
    event = json.dumps(record["event"], ensure_ascii=False, separators=(",", ":"))
    rest = {key: value for key, value in record.items() if key != "tokens"}
    return {**rest, **record["tokens"], "event": event}


@examples(8)
@given(
    space=spaces(),
    seed=st.integers(0, 2**32),
    part=st.integers(1, 9),
    portion=st.integers(1, 20),
)
def test_rows_are_the_records_of_json(space: Space, seed: int, part: int, portion: int) -> None:
    """In pages and row groups of any length."""
    indices = space.sample(min(40, space.count()), seed=seed)
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk, "PART", part)
        patch.setattr(portions, "PORTION", portion)
        rows, lines = Path(name) / "x.parquet", Path(name) / "x.jsonl"
        for path in (rows, lines):
            write_file(space, indices, path)
        wanted = [as_row(json.loads(line)) for line in lines.read_text("utf-8").splitlines()]
        found = [{**row, "index": int(row["index"])} for row in pq.read_table(rows).to_pylist()]
        assert found == wanted


@examples(6)
@given(space=spaces())
def test_the_schema_is_that_of_arrow(space: Space) -> None:
    """Names, types, and what may be missing; but for the index, which is as long as it must be."""
    indices = space.sample(1, seed=1)
    with TemporaryDirectory() as name:
        bulk_file, arrow_file = Path(name) / "x.parquet", Path(name) / "y.parquet"
        write_file(space, indices, bulk_file)
        write_annotated(read_file(bulk_file, space.lexicon), arrow_file)
        ours, arrows = (str(pq.ParquetFile(path).schema) for path in (bulk_file, arrow_file))
        kept = [
            [line for line in text.splitlines()[1:] if " index" not in line]
            for text in (ours, arrows)
        ]
        assert kept[0] == kept[1]


def test_readers_may_leave_row_groups_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the smallest and largest id, template and index of each."""
    monkeypatch.setattr(portions, "PORTION", 20)
    path = tmp_path / "x.parquet"
    generate(path, template="transitive-rc", n=50)
    rows, file = pq.read_table(path).to_pylist(), pq.ParquetFile(path)
    assert [file.metadata.row_group(i).num_rows for i in range(3)] == [20, 20, 10]
    for column, name in ((0, "id"), (2, "template"), (3, "index")):
        values = [row[name] for row in rows[20:40]]
        found = file.metadata.row_group(1).column(column).statistics
        assert (found.min, found.max, found.null_count) == (min(values), max(values), 0)


def test_other_readers(tmp_path: Path) -> None:
    """DuckDB and pandas have readers of their own, or ways of their own with Arrow's."""
    duckdb, pandas = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
    path = tmp_path / "x.parquet"
    generate(path, template="all", n=60, seed=3)
    wanted = pq.read_table(path).to_pylist()
    asked = duckdb.sql(f"SELECT * FROM '{path}'")
    assert [dict(zip(asked.columns, row, strict=True)) for row in asked.fetchall()] == wanted
    frame = pandas.read_parquet(path)
    assert frame["text"].tolist() == [row["text"] for row in wanted]
    assert [list(forms) for forms in frame["form"]] == [row["form"] for row in wanted]


@pytest.mark.slow
def test_datasets_reads_it(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    path = tmp_path / "x.parquet"
    generate(path, template="all", n=60, seed=3)
    found = datasets.load_dataset(
        "parquet", data_files=str(path), cache_dir=str(tmp_path / "cache"), split="train"
    )
    assert found.to_list() == pq.read_table(path).to_pylist()


def read_column(kind: Any, column: pages.ColumnChunk, rows: int) -> list[Any]:
    """What Arrow reads of a file of one column, whose values none is missing of."""
    schema = pa.schema([pa.field("x", kind, nullable=False)])
    file = io.BytesIO()
    writer = GroupWriter(file, schema)
    writer.add(RowGroup(rows, (column,)))
    writer.finish()
    found: list[Any] = pq.read_table(io.BytesIO(file.getvalue())).column("x").to_pylist()
    return found


@given(st.lists(st.text(max_size=300), min_size=1, max_size=300))
def test_strings_of_any_lengths(texts: list[str]) -> None:
    content = [text.encode("utf-8", "replace") for text in texts]
    ends = np.cumsum([0, *map(len, content)], dtype=np.int32)
    writer = pages.ChunkWriter()
    packed = pages.write_strings(ends, b"".join(content))
    writer.add_data(pages.Levels(len(texts)), packed, pages.LENGTHS)
    wanted = [text.decode() for text in content]
    assert read_column(pa.string(), writer.finish(), len(texts)) == wanted


def test_a_string_among_short_ones_may_be_long() -> None:
    """Lengths whose differences want 32 bits."""
    content = [b"", b"x" * 200_000, b"y"]
    ends = np.cumsum([0, *map(len, content)], dtype=np.int32)
    writer = pages.ChunkWriter()
    packed = pages.write_strings(ends, b"".join(content))
    writer.add_data(pages.Levels(3), packed, pages.LENGTHS)
    wanted = [text.decode() for text in content]
    assert read_column(pa.string(), writer.finish(), 3) == wanted


@pytest.mark.parametrize("size", [1, 255, 256, 257, 65_536, 65_537])
def test_numbers_of_any_width(size: int) -> None:
    """Where a byte, two or four hold the number of a word."""
    words = [f"w{number}" for number in range(size)]
    numbers = np.array([0, size - 1, size // 2, 0, size - 1])
    values = pages.plain_strings([word.encode() for word in words])
    levels = pages.list_levels(np.array([0, 1, 4, 5]))
    column = pages.write_numbered(values, size, levels, numbers, pages.ChunkWriter())
    kind = pa.list_(pa.field("element", pa.string(), nullable=False))
    chosen = [words[number] for number in numbers]
    assert read_column(kind, column, 3) == [chosen[:1], chosen[1:4], chosen[4:]]


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
