"""The footer of a Parquet file: its schema, as Arrow's, and where the columns of row groups are."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import pyarrow as pa

from sentprobe.generator.pages import ColumnChunk
from sentprobe.generator.thrift import Long, Struct, Value, struct
from sentprobe.versions import own_version

_MAGIC = b"PAR1"
_REQUIRED, _OPTIONAL, _REPEATED = range(3)
_INT32, _INT64, _BYTES, _FIXED = 1, 2, 6, 7
_UTF8, _LIST, _DECIMAL = 0, 3, 5
_ZSTD = 6
"""Parquet's numbers of repetitions, types, converted types and codecs."""

DECIMAL = 16
"""How many bytes a decimal number has."""


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Columns of so many rows, in the order of the schema."""

    rows: int
    columns: tuple[ColumnChunk, ...]


class GroupWriter:
    """Writes row groups to a file one after another, and at last what they are."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        self._file = file
        self._schema = schema
        self._leaves = [leaf for column in schema for leaf in _leaves(column)]
        self._groups: list[Struct] = []
        self._rows = 0
        self._at = file.write(_MAGIC)

    def add(self, group: RowGroup) -> None:
        """Write a row group."""
        columns: list[Value] = []
        size = sum(column.unpacked for column in group.columns)
        for (path, kind), column in zip(self._leaves, group.columns, strict=True):
            columns.append({2: Long(0), 3: _column(path, kind, column, self._at)})
            self._at += self._file.write(column.pages)
        self._groups.append({1: columns, 2: Long(size), 3: Long(group.rows)})
        self._rows += group.rows

    def finish(self) -> None:
        """Write the footer."""
        ordered: Struct = {1: {}}  # as the type of each column orders its values
        footer = struct(
            {
                1: 2,
                2: [{3: _REQUIRED, 4: "schema", 5: len(self._schema)}, *_elements(self._schema)],
                3: Long(self._rows),
                4: self._groups,
                6: f"sentprobe version {own_version()}",
                7: [ordered] * len(self._leaves),
            }
        )
        self._file.write(footer + len(footer).to_bytes(4, "little") + _MAGIC)


def _column(path: tuple[str, ...], kind: int, column: ColumnChunk, at: int) -> Struct:
    found: dict[int, Value] = {1: kind, 2: column.encodings, 3: path, 4: _ZSTD}
    found |= {5: Long(column.values), 6: Long(column.unpacked), 7: Long(len(column.pages))}
    found[9] = Long(at + column.dictionary)
    if column.dictionary:
        found[11] = Long(at)
    if column.bounds is not None:
        least, most = column.bounds
        found[12] = {3: Long(0), 5: most, 6: least}
    return found


def _leaves(column: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the names that lead to each column of Parquet, and its type's number."""
    path = (*path, column.name)
    if pa.types.is_list(column.type):
        yield from _leaves(column.type.value_field, (*path, "list"))
    elif pa.types.is_struct(column.type):
        for part in column.type:
            yield from _leaves(part, path)
    else:
        yield path, _number(column.type)


def _elements(columns: Any) -> Iterator[Struct]:
    """Yield the elements of a schema, each before those in it."""
    for column in columns:
        repetition = _OPTIONAL if column.nullable else _REQUIRED
        if pa.types.is_list(column.type):
            yield {3: repetition, 4: column.name, 5: 1, 6: _LIST, 10: {3: {}}}
            yield {3: _REPEATED, 4: "list", 5: 1}
            yield from _elements([column.type.value_field])
        elif pa.types.is_struct(column.type):
            yield {3: repetition, 4: column.name, 5: column.type.num_fields}
            yield from _elements(column.type)
        else:
            yield dict(sorted({3: repetition, 4: column.name, **_plain_type(column.type)}.items()))


def _plain_type(kind: Any) -> dict[int, Value]:
    """Return what the element of a plain type has."""
    number = _number(kind)
    if number == _BYTES:
        return {1: number, 6: _UTF8, 10: {1: {}}}
    if number == _FIXED:
        shape: Struct = {1: kind.scale, 2: kind.precision}
        return {
            1: number,
            2: DECIMAL,
            6: _DECIMAL,
            7: kind.scale,
            8: kind.precision,
            10: {5: shape},
        }
    return {1: number}


def _number(kind: Any) -> int:
    if pa.types.is_decimal(kind):
        return _FIXED
    return {pa.int32(): _INT32, pa.int64(): _INT64}.get(kind, _BYTES)
