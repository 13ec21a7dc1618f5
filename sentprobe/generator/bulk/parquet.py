"""Parquet files of sentences. For speed, Arrow looks words up by index, and Python builds no string for a sentence."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sentprobe.common.errors import FormatError, SentprobeError, first_line
from sentprobe.common.inputs import to_input_path
from sentprobe.common.reading import iterate_batches, report_parquet_errors
from sentprobe.common.values import format_json, parse_json
from sentprobe.generator.bulk import generation
from sentprobe.generator.bulk.word_tables import StringPool, WordTables
from sentprobe.generator.events.event import Frame
from sentprobe.generator.events.event_json import event_to_json
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import from_json, json_escape, to_json
from sentprobe.generator.spaces.counting import IndexArray
from sentprobe.generator.spaces.space import NumberedEvents, Space

_TOKEN_COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel")
_VARYING = ("form", "lemma", "xpos", "feats")


def _list_type(element: Any) -> Any:
    return pa.list_(pa.field("element", element, nullable=False))


_WORD = pa.dictionary(pa.int32(), pa.string())
_PREDICATE = pa.struct([(name, pa.int32()) for name in ("verb", "agent", "patient")])
_DITRANSITIVE_PREDICATE = pa.struct([*_PREDICATE, ("recipient", pa.int32())])
_NEGATION = pa.struct([("cue", pa.int32()), ("verb", pa.int32())])


def build_schema(size: int, *, has_recipients: bool = False) -> Any:
    """Return the Arrow schema of a file of sentences whose indices are below *size*.

    Indices are int64 if *size* allows it, else decimals of 38 digits, else strings. If *has_recipients* is True, each
    predicate has the field ``recipient``.
    """
    small, large = pa.int64(), pa.decimal128(38, 0)
    # 38 digits are the most that Arrow's decimal128 holds.
    index = small if size <= 2**63 else large if size <= 10**38 else pa.string()
    columns = {
        "id": pa.string(),
        "text": pa.string(),
        "template": _WORD,
        "index": index,
        **{name: _list_type(pa.int32() if name == "head" else _WORD) for name in _TOKEN_COLUMNS},
        "tree": pa.string(),
        "event": pa.string(),
        "predicates": _list_type(_DITRANSITIVE_PREDICATE if has_recipients else _PREDICATE),
        "negations": _list_type(_NEGATION),
    }
    return pa.schema([pa.field(name, kind, name == "index") for name, kind in columns.items()])


class _TokenStore:
    """A store of all shapes' tokens. A field, such as lemma, is a fixed text or, if it varies by sentence, a column."""

    def __init__(self, words: StringPool) -> None:
        self._words = words
        self._elements = generation.RaggedRows(2 * len(_VARYING))
        self._dictionary = pa.array([], pa.string())

    def add(self, marked: Sentence) -> frozenset[int]:
        """Add the tokens of a shape. Return the numbers of the columns that the tokens need.

        In *marked*, a mark with a column number replaces each field that varies between sentences, such as a lemma.
        Such a field is stored as (0, column number). Any other field is stored as (index of its text, 0).
        """
        used: set[int] = set()
        elements = []
        for token in marked.tokens:
            texts = [getattr(token, name) for name in _VARYING]
            columns = [generation.parse_column(text) for text in texts]
            constants = [0 if column else self._words.number(text) for text, column in zip(texts, columns, strict=True)]
            elements.append((*constants, *columns))
            used.update(columns)
        self._elements.add(elements)
        return frozenset(used)

    def build_lists(self, chunk: generation.SentenceChunk) -> dict[str, Any]:
        """Return the list columns of a chunk by name, with words as indices into the word pool."""
        bounds, rows, elements = self._elements.gather(chunk)
        width = len(_VARYING)
        if len(self._dictionary) != len(self._words.strings):
            self._dictionary = pa.array(self._words.strings, pa.string())
        offsets = pa.array(bounds.astype(np.int32))
        lists = {}
        for name, constants, columns in zip(_VARYING, elements, elements[width:], strict=False):
            numbers = (constants + chunk.words.take(rows + columns)).astype(np.int32)
            values = pa.DictionaryArray.from_arrays(pa.array(numbers), self._dictionary)
            lists[name] = pa.ListArray.from_arrays(offsets, values, type=_list_type(_WORD))
        return lists


class _SharedStore:
    """A table of the sentence fields that depend only on the shape, such as ``upos``. It has one row for each shape."""

    _names = ("template", "upos", "head", "deprel", "predicates", "negations")

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._rows: list[dict[str, Any]] = []
        self._columns: dict[str, Any] = {}

    def add(self, marked: Sentence) -> frozenset[int]:
        record = to_json(marked)
        record |= record["tokens"]
        self._rows.append({name: record[name] for name in self._names})
        self._columns.clear()
        return frozenset()

    def build_columns(self, chunk: generation.SentenceChunk) -> dict[str, Any]:
        if not self._columns:
            for name in self._names:
                self._columns[name] = pa.array([row[name] for row in self._rows], self._schema.field(name).type)
        shapes = pa.array(chunk.shapes)
        return {name: column.take(shapes) for name, column in self._columns.items()}


class _StringStore(generation.RecordStore):
    """A store of records that returns the records of a chunk of sentences as an Arrow column of strings."""

    _table = pa.array([], pa.string())

    def build_column(self, chunk: generation.SentenceChunk) -> Any:
        strings = self.build_strings(chunk)
        if len(self._table) != len(strings):
            self._table = pa.array(strings, pa.string())
        bounds, pieces = self.build_pieces(chunk)
        _, offsets, content = pc.take(self._table, pa.array(pieces), boundscheck=False).buffers()
        ends = np.frombuffer(offsets, dtype=np.int32)[bounds]
        return pa.StringArray.from_buffers(len(chunk), pa.py_buffer(ends), content)


def format_event_json(sentence: Sentence) -> str:
    """Return the event of *sentence* as JSON text."""
    return format_json(event_to_json(sentence.event), separators=(",", ":"))


def has_recipients(space: NumberedEvents) -> bool:
    layouts = space.layouts if isinstance(space, Space) else ()
    return any(site.frame is Frame.DITRANSITIVE for layout in layouts for site in layout.clauses)


class TableMaker:
    """Builder of Arrow tables with many sentences of a space."""

    def __init__(self, space: NumberedEvents) -> None:
        tables = WordTables(space)
        self.schema = build_schema(space.count(), has_recipients=has_recipients(space))
        self._tokens = _TokenStore(tables.pool)
        self._shared = _SharedStore(self.schema)
        self._records = {
            "text": _StringStore(tables.pool, lambda sentence: sentence.text),
            "tree": _StringStore(tables.pool, lambda sentence: sentence.tree),
            "event": _StringStore(tables.pool, format_event_json, json_escape),
        }
        stores: list[generation.ShapeStore] = [self._tokens, self._shared, *self._records.values()]
        self._decoder = generation.Decoder(space, tables, stores)

    def build_row_group(self, indices: IndexArray, start: int) -> Any:
        """Return the sentences at *indices* as a row group with sorted Arrow dictionaries. Ids begin at *start* + 1."""
        table = pa.concat_tables(self.build_tables(indices, start))
        columns = [_sort_dictionaries(column.combine_chunks()) for column in table.columns]
        return pa.table(columns, schema=self.schema)

    def build_tables(self, indices: IndexArray, start: int = 0) -> Iterator[Any]:
        """Yield tables of the sentences at *indices*, in order; words are dictionary-encoded."""
        kind = self.schema.field("index").type
        for chunk in self._decoder.decode_chunks(indices, start):
            numbers = pa.array(np.arange(chunk.start + 1, chunk.start + 1 + len(chunk)))
            ids = pc.binary_join_element_wise("s", numbers.cast(pa.string()), "")
            index = map(str, chunk.indices) if pa.types.is_string(kind) else chunk.indices
            columns = {"id": ids, "index": pa.array(index, kind)}
            columns |= {name: records.build_column(chunk) for name, records in self._records.items()}
            columns |= self._tokens.build_lists(chunk) | self._shared.build_columns(chunk)
            yield pa.table([columns[name] for name in self.schema.names], schema=self.schema)


def _sort_dictionaries(array: Any) -> Any:
    """Return an equal array whose Arrow dictionary has only the words that occur, in alphabetical order."""
    if pa.types.is_list(array.type):
        values = _sort_dictionaries(array.values)
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
    """Write sentences to a Parquet file. Indices are text if any of the first PART_SIZE is at least 10**38."""
    iterator = iter(sentences)
    groups = iter(lambda: [*islice(iterator, generation.PART_SIZE)], [])
    first = next(groups, [])
    size = 1 + max((sentence.index or 0 for sentence in first), default=0)
    # Never int64: only the first group has been read, and later indices may be larger than its own.
    kind = build_schema(max(10**38, size), has_recipients=True)
    convert_index: Callable[[int], int | str] = str if pa.types.is_string(kind.field("index").type) else int
    with open_parquet(path, kind) as writer:
        for group in chain([first] if first else [], groups):
            rows: list[dict[str, Any]] = []
            for sentence in group:
                record = to_json(sentence)
                index = {} if sentence.index is None else {"index": convert_index(sentence.index)}
                rows.append({**record, **record["tokens"], **index, "event": format_event_json(sentence)})
            writer.write_table(pa.Table.from_pylist(rows, kind))


def open_parquet(path: Path, kind: Any) -> Any:
    """Return a writer of a Parquet file. It stores no Arrow schema, so that readers see strings, not dictionaries."""
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
    """Yield the sentences of a Parquet file. Raises FormatError if the file is not Parquet, or lacks a column."""
    number = 0
    with report_parquet_errors(path):
        for batch in iterate_batches(pq.ParquetFile(to_input_path(path)), path):
            for row in batch.to_pylist():
                number += 1
                try:
                    yield _sentence_from_row(row)
                except SentprobeError as error:
                    raise FormatError(f"{path}: row {number}: {first_line(error)}") from error


def _sentence_from_row(row: dict[str, Any]) -> Sentence:
    try:
        index = None if row["index"] is None else int(row["index"])
        record = {**row, "index": index, "tokens": {name: row[name] for name in _TOKEN_COLUMNS}}
        event = str(row["event"])
    except KeyError as error:
        raise FormatError(f"there is no column {error.args[0]!r}") from error
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError("the index is not an integer") from error
    return from_json({**record, "event": parse_json(event)})
