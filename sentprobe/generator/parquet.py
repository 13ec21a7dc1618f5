"""Sentences as columns in Parquet.

A row is a sentence: id, text, template, index; form, lemma, upos, xpos, feats, head and deprel as
lists with an element per token; tree in Penn brackets; event as JSON; predicates and negations as
lists of structs. In bulk, the columns are made from numbers of words and Arrow looks those up, so
that no string is ever a Python object.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sentprobe.errors import FormatError, SentprobeError, first_line
from sentprobe.files import local_path
from sentprobe.generator.boxes import IndexArray
from sentprobe.generator.bulk import PART, Decoder, Ragged, Records, SentenceChunk, Store, column_of
from sentprobe.generator.columns import StringPool, Tables
from sentprobe.generator.jsonform import event_to_json
from sentprobe.generator.records import from_json, json_escape, to_json
from sentprobe.generator.sentence import Sentence
from sentprobe.generator.space import Batched
from sentprobe.values import parse_json

_TOKEN_COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel")
_VARYING = ("form", "lemma", "xpos", "feats")


def _list(element: Any) -> Any:
    return pa.list_(pa.field("element", element, nullable=False))


_WORD = pa.dictionary(pa.int32(), pa.string())
_PREDICATE = pa.struct([("verb", pa.int32()), ("agent", pa.int32()), ("patient", pa.int32())])
_NEGATION = pa.struct([("cue", pa.int32()), ("verb", pa.int32())])


def schema(size: int) -> Any:
    """Return the schema; the type of ``index`` holds the numbers below *size*.

    Beyond 38 digits Parquet's numbers end, and the index is a string of digits.
    """
    small, large = pa.int64(), pa.decimal128(38, 0)
    index = small if size <= 2**63 else large if size <= 10**38 else pa.string()
    columns = {
        "id": pa.string(),
        "text": pa.string(),
        "template": _WORD,
        "index": index,
        **{name: _list(pa.int32() if name == "head" else _WORD) for name in _TOKEN_COLUMNS},
        "tree": pa.string(),
        "event": pa.string(),
        "predicates": _list(_PREDICATE),
        "negations": _list(_NEGATION),
    }
    return pa.schema([pa.field(name, kind, name == "index") for name, kind in columns.items()])


class _Tokens:
    """The words in the lists of each shape: each a constant or a column."""

    def __init__(self, words: StringPool) -> None:
        self._words = words
        self._elements = Ragged(2 * len(_VARYING))
        self._dictionary = pa.array([], pa.string())

    def add(self, schematic: Sentence) -> frozenset[int]:
        """Add a shape; of each word either its number or its column is not 0."""
        used: set[int] = set()
        elements = []
        for token in schematic.tokens:
            texts = [getattr(token, name) for name in _VARYING]
            columns = [column_of(text) for text in texts]
            constants = [
                0 if column else self._words.number(text)
                for text, column in zip(texts, columns, strict=True)
            ]
            elements.append((*constants, *columns))
            used.update(columns)
        self._elements.add(elements)
        return frozenset(used)

    def lists(self, chunk: SentenceChunk) -> dict[str, Any]:
        """Return the columns of lists, their words as numbers in the pool."""
        bounds, rows, elements = self._elements.gather(chunk)
        width = len(_VARYING)
        if len(self._dictionary) != len(self._words.strings):
            self._dictionary = pa.array(self._words.strings, pa.string())
        offsets = pa.array(bounds.astype(np.int32))
        lists = {}
        for name, constants, columns in zip(_VARYING, elements, elements[width:], strict=False):
            numbers = (constants + chunk.words.take(rows + columns)).astype(np.int32)
            values = pa.DictionaryArray.from_arrays(pa.array(numbers), self._dictionary)
            lists[name] = pa.ListArray.from_arrays(offsets, values, type=_list(_WORD))
        return lists


class _Shared:
    """What all sentences of a shape share: rows of a table."""

    _names = ("template", "upos", "head", "deprel", "predicates", "negations")

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._columns: dict[str, Any] = {}

    def add(self, schematic: Sentence) -> frozenset[int]:
        """Add a shape."""
        record = to_json(schematic)
        record |= record["tokens"]
        self._rows.append({name: record[name] for name in self._names})
        self._columns.clear()
        return frozenset()

    def columns(self, chunk: SentenceChunk) -> dict[str, Any]:
        """Return the columns."""
        if not self._columns:
            for name in self._names:
                column = [row[name] for row in self._rows]
                self._columns[name] = pa.array(column, schema(1).field(name).type)
        shapes = pa.array(chunk.shapes)
        return {name: column.take(shapes) for name, column in self._columns.items()}


class _Strings(Records):
    """Records as a column: the bytes of all pieces, end to end."""

    _table = pa.array([], pa.string())

    def column(self, chunk: SentenceChunk) -> Any:
        """Return the records of a chunk."""
        strings = self.table(chunk)
        if len(self._table) != len(strings):
            self._table = pa.array(strings, pa.string())
        bounds, pieces = self.pieces(chunk)
        _, offsets, content = pc.take(self._table, pa.array(pieces), boundscheck=False).buffers()
        ends = np.frombuffer(offsets, dtype=np.int32)[bounds]
        return pa.StringArray.from_buffers(len(chunk), pa.py_buffer(ends), content)


def _ids(chunk: SentenceChunk) -> Any:
    first = chunk.start + 1
    numbers = pa.array(np.arange(first, first + len(chunk)))
    return pc.binary_join_element_wise("s", numbers.cast(pa.string()), "")


def write_event(sentence: Sentence) -> str:
    """Return the event of *sentence* as JSON."""
    return json.dumps(event_to_json(sentence.event), ensure_ascii=False, separators=(",", ":"))


class TableMaker:
    """Makes Arrow tables of sentences of a space, many at a time."""

    def __init__(self, space: Batched) -> None:
        tables = Tables(space)
        self._schema = schema(space.count())
        self._tokens = _Tokens(tables.pool)
        self._shared = _Shared()
        self._records = {
            "text": _Strings(tables.pool, lambda sentence: sentence.text),
            "tree": _Strings(tables.pool, lambda sentence: sentence.tree),
            "event": _Strings(tables.pool, write_event, json_escape),
        }
        stores: list[Store] = [self._tokens, self._shared, *self._records.values()]
        self._decoder = Decoder(space, tables, stores)

    def group(self, indices: IndexArray, start: int) -> Any:
        """Return the sentences at *indices* as a row group, the first of them number *start*.

        It is the same table whatever was made before.
        """
        table = pa.concat_tables(self.tables(indices, start))
        columns = [_canonical(column.combine_chunks()) for column in table.columns]
        return pa.table(columns, schema=self._schema)

    def tables(self, indices: IndexArray, start: int = 0) -> Iterator[Any]:
        """Yield the sentences at *indices*, in order; words of tokens are dictionary-encoded."""
        for chunk in self._decoder.chunks(indices, start):
            columns = {"id": _ids(chunk), "index": self._index(chunk)}
            columns |= {name: records.column(chunk) for name, records in self._records.items()}
            columns |= self._tokens.lists(chunk) | self._shared.columns(chunk)
            yield pa.table([columns[name] for name in self._schema.names], schema=self._schema)

    def _index(self, chunk: SentenceChunk) -> Any:
        kind = self._schema.field("index").type
        indices = chunk.indices
        return pa.array(map(str, indices) if pa.types.is_string(kind) else indices, kind)


def _canonical(array: Any) -> Any:
    """Return an array whose dictionary has the words in it only, in the order of the alphabet."""
    if pa.types.is_list(array.type):
        values = _canonical(array.values)
        return pa.ListArray.from_arrays(array.offsets, values, type=array.type)
    if not pa.types.is_dictionary(array.type):
        return array
    numbers = array.indices.to_numpy()
    used = np.flatnonzero(np.bincount(numbers))
    words = array.dictionary.take(pa.array(used))
    order = pc.sort_indices(words)
    places = np.zeros(len(array.dictionary), dtype=np.int32)
    places[used[order]] = np.arange(len(used))
    return pa.DictionaryArray.from_arrays(places[numbers], words.take(order))


def write_parquet(sentences: Iterable[Sentence], path: Path) -> None:
    """Write sentences one by one, whatever their origin."""
    kind = schema(10**38)
    rows = iter(sentences)
    with open_parquet(path, kind) as writer:
        while group := [_to_row(sentence) for sentence in islice(rows, PART)]:
            writer.write_table(pa.Table.from_pylist(group, kind))


def _to_row(sentence: Sentence) -> dict[str, Any]:
    record = to_json(sentence)
    event = write_event(sentence)
    return {**record, **record["tokens"], "event": event}


def pack(table: Any) -> bytes:
    """Return a table as bytes, to be sent; pickled, it would take five times as long to read."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4")  # many may wait
    with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
        stream.write_table(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpack(packed: bytes) -> Any:
    """Return the table that was packed."""
    return pa.ipc.open_stream(pa.BufferReader(packed)).read_all()


def open_parquet(path: Path, kind: Any) -> Any:
    """Return a Parquet writer whose file has plain types, whatever Arrow's encoding of them."""
    return pq.ParquetWriter(
        path,
        kind,
        compression="zstd",
        compression_level=1,
        use_dictionary=["template", *(f"{name}.list.element" for name in _TOKEN_COLUMNS)],
        write_statistics=["id", "template", "index"],
        store_schema=False,
    )


def read_parquet(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a Parquet file.

    Raises:
        FormatError: it is not Parquet, or lacks a column.
    """
    try:
        batches = pq.ParquetFile(local_path(path)).iter_batches()
        for batch in batches:
            for number, row in enumerate(batch.to_pylist(), 1):
                yield _from_row(row, number)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise FormatError(f"not a Parquet file: {first_line(error)}") from error


def _from_row(row: dict[str, Any], number: int) -> Sentence:
    try:
        index = row["index"]
        record = {
            **row,
            "index": None if index is None else int(index),
            "tokens": {name: row[name] for name in _TOKEN_COLUMNS},
        }
        event = row["event"]
    except KeyError as error:
        raise FormatError(f"there is no column {error.args[0]!r}") from error
    except (TypeError, ValueError) as error:
        raise FormatError(f"row {number}: the index is no whole number") from error
    try:
        return from_json({**record, "event": parse_json(str(event))})
    except SentprobeError as error:
        raise FormatError(f"row {number}: {error}") from error
