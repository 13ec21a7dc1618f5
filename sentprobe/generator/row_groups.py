"""Sentences of a space as row groups of Parquet, made from the numbers of their words.

What is in a row group depends on its sentences alone, and not on those that were made before: its
dictionaries have the words in it, in the order of the alphabet. So any process may make it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sentprobe.generator import pages
from sentprobe.generator.boxes import IndexArray
from sentprobe.generator.bulk import Decoder, Ragged, SentenceChunk, Store, column_of
from sentprobe.generator.columns import StringPool, Tables
from sentprobe.generator.footer import DECIMAL, RowGroup
from sentprobe.generator.parquet import StringRecords, ids, schema, write_event
from sentprobe.generator.records import json_escape
from sentprobe.generator.sentence import Sentence
from sentprobe.generator.space import Batched

ByName: TypeAlias = dict[str, pages.ColumnChunk]
"""Columns by their names."""

_VARYING = ("form", "lemma", "xpos", "feats")
_FIXED = ("upos", "deprel")


class _ColumnStore(Store, Protocol):
    """Keeps of each shape what some columns need."""

    def columns(self, parts: Sequence[SentenceChunk]) -> ByName:
        """Return the columns."""


class _TokenLists:
    """The words in the lists of each shape: each a constant or a column; and the heads."""

    def __init__(self, words: StringPool) -> None:
        self._words = words
        self._elements = Ragged(2 * len(_VARYING) + len(_FIXED) + 1)

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
            fixed = [self._words.number(getattr(token, name)) for name in _FIXED]
            elements.append((*constants, *columns, *fixed, token.head))
            used.update(columns)
        self._elements.add(elements)
        return frozenset(used)

    def columns(self, parts: Sequence[SentenceChunk]) -> ByName:
        """Return the columns of lists."""
        sizes, *numbers = map(np.concatenate, zip(*map(self._numbers, parts), strict=True))
        levels = pages.list_levels(np.concatenate([[0], np.cumsum(sizes)]))
        *words, heads = numbers
        made = {
            name: _words(self._words, found, levels)
            for name, found in zip(_VARYING + _FIXED, words, strict=True)
        }
        return {**made, "head": _small(heads, levels)}

    def _numbers(self, chunk: SentenceChunk) -> list[NDArray[Any]]:
        """Return how many tokens each sentence has, then the numbers of each column's."""
        bounds, rows, elements = self._elements.gather(chunk)
        width = len(_VARYING)
        found = [
            constants + chunk.words.take(rows + columns)
            for constants, columns in zip(elements[:width], elements[width:], strict=False)
        ]
        return [np.diff(bounds), *found, *elements[2 * width :]]


class _NumberLists:
    """A list of structs of numbers that all sentences of a shape share; a number may be missing."""

    def __init__(self, name: str, parts: Sequence[str]) -> None:
        self._name = name
        self._parts = parts
        self._elements = Ragged(1 + 2 * len(parts))

    def add(self, schematic: Sentence) -> frozenset[int]:
        """Add a shape; of each number, how far it is there and what it is."""
        elements: list[tuple[int, ...]] = []
        for value in getattr(schematic, self._name):
            numbers = [getattr(value, part) for part in self._parts]
            there = [(1, 0) if number is None else (2, number) for number in numbers]
            elements.append((int(bool(elements)), *sum(there, ())))
        self._elements.add(elements or [(0,) * (1 + 2 * len(self._parts))])
        return frozenset()

    def columns(self, parts: Sequence[SentenceChunk]) -> ByName:
        """Return a column for each number."""
        elements = np.concatenate([self._elements.gather(part)[2] for part in parts], axis=1)
        inner = elements[0].astype(np.uint8)
        made = {}
        for at, part in enumerate(self._parts):
            there, numbers = elements[1 + 2 * at], elements[2 + 2 * at]
            levels = pages.any_levels(inner, there.astype(np.uint8))
            made[f"{self._name}.{part}"] = _small(numbers[there == 2], levels)
        return made


class _TemplateNames:
    """The names of the templates."""

    def __init__(self, words: StringPool) -> None:
        self._words = words
        self._numbers: list[int] = []

    def add(self, schematic: Sentence) -> frozenset[int]:
        """Add a shape."""
        self._numbers.append(self._words.number(schematic.template))
        return frozenset()

    def columns(self, parts: Sequence[SentenceChunk]) -> ByName:
        """Return the column."""
        shapes = np.concatenate([part.shapes for part in parts])
        numbers = np.array(self._numbers)[shapes]
        return {"template": _words(self._words, numbers, pages.Levels(len(shapes)), bounded=True)}


class _TextPages(StringRecords):
    """Records, each chunk a page."""

    def column(self, parts: Sequence[SentenceChunk]) -> pages.ColumnChunk:
        """Return the column of records."""
        writer = pages.ChunkWriter()
        for part in parts:
            ends, content = self.ends(part)
            packed = pages.write_strings(ends, content)
            writer.add_data(pages.Levels(len(part)), packed, pages.LENGTHS)
        return writer.finish()


class RowGroups:
    """Makes row groups of sentences of a space."""

    def __init__(self, space: Batched) -> None:
        tables = Tables(space)
        self._schema = schema(space.count())
        self._lists: list[_ColumnStore] = [
            _TokenLists(tables.pool),
            _TemplateNames(tables.pool),
            _NumberLists("predicates", ("verb", "agent", "patient")),
            _NumberLists("negations", ("cue", "verb")),
        ]
        self._records = {
            "text": _TextPages(tables.pool, lambda sentence: sentence.text),
            "tree": _TextPages(tables.pool, lambda sentence: sentence.tree),
            "event": _TextPages(tables.pool, write_event, json_escape),
        }
        stores: list[Store] = [*self._lists, *self._records.values()]
        self._decoder = Decoder(space, tables, stores)

    def group(self, indices: IndexArray, start: int = 0) -> RowGroup:
        """Return the sentences at *indices*, in order, the first of them number *start*."""
        return RowGroup(len(indices), self._columns(list(self._decoder.parts(indices, start))))

    def _columns(self, parts: Sequence[SentenceChunk]) -> tuple[pages.ColumnChunk, ...]:
        made = {"id": _ids(parts), "index": self._index(parts)}
        made |= {name: records.column(parts) for name, records in self._records.items()}
        for store in self._lists:
            made |= store.columns(parts)
        return tuple(made[name] for name in self._names())

    def _names(self) -> Iterator[str]:
        for column in self._schema:
            inner = column.type.value_type if pa.types.is_list(column.type) else column.type
            if pa.types.is_struct(inner):
                yield from (f"{column.name}.{part.name}" for part in inner)
            else:
                yield column.name

    def _index(self, parts: Sequence[SentenceChunk]) -> pages.ColumnChunk:
        kind = self._schema.field("index").type
        indices = np.concatenate([part.indices for part in parts])
        levels = pages.optional_levels(len(indices))
        if pa.types.is_string(kind):
            return _one_page(levels, _packed(pa.array(map(str, indices))), pages.LENGTHS)
        if pa.types.is_decimal(kind):
            numbers = b"".join(int(i).to_bytes(DECIMAL, "big") for i in indices)
            return _one_page(levels, [numbers], pages.PLAIN)
        values = indices.astype("<i8")
        bounds = values.min().tobytes(), values.max().tobytes()
        return _one_page(levels, [values.tobytes()], pages.PLAIN, bounds)


def _ids(parts: Sequence[SentenceChunk]) -> pages.ColumnChunk:
    names = pa.concat_arrays([ids(part) for part in parts])
    ends = pc.min_max(names).as_py()
    bounds = ends["min"].encode(), ends["max"].encode()
    return _one_page(pages.Levels(len(names)), _packed(names), pages.LENGTHS, bounds)


def _packed(strings: Any) -> list[pages.Buffer]:
    _, ends, content = strings.buffers()
    return pages.write_strings(np.frombuffer(ends, np.int32)[: len(strings) + 1], content)


def _one_page(
    levels: pages.Levels,
    values: list[pages.Buffer],
    encoding: int,
    bounds: tuple[bytes, bytes] | None = None,
) -> pages.ColumnChunk:
    writer = pages.ChunkWriter(bounds)
    writer.add_data(levels, values, encoding)
    return writer.finish()


def _words(
    pool: StringPool, numbers: NDArray[Any], levels: pages.Levels, *, bounded: bool = False
) -> pages.ColumnChunk:
    """Return a column of words of a pool, numbered anew in the order of the alphabet."""
    is_used = np.zeros(len(pool.strings), dtype=np.bool_)
    is_used[numbers] = True
    used = np.flatnonzero(is_used).tolist()
    used.sort(key=pool.strings.__getitem__)
    places = np.zeros(len(is_used), dtype=pages.packed_type(len(used)))
    places[used] = np.arange(len(used))
    words = [pool.strings[number].encode() for number in used]
    writer = pages.ChunkWriter((words[0], words[-1]) if bounded else None)
    values = pages.plain_strings(words)
    return pages.write_numbered(values, len(words), levels, places.take(numbers), writer)


def _small(numbers: NDArray[Any], levels: pages.Levels) -> pages.ColumnChunk:
    """Return a column of small numbers, each its own place in the dictionary."""
    values = np.arange(numbers.max(initial=0) + 1, dtype="<i4")
    writer = pages.ChunkWriter()
    return pages.write_numbered(values.tobytes(), len(values), levels, numbers, writer)
