"""Many sentences at once: the fast path of generation.

Sentences of the same shape differ in their words only. For each shape the record of a sentence is
written once, by the same writer that writes single sentences, with marks where words go. That gives
a list of pieces, by turns a literal string and a column; a record is those pieces end to end.
Pieces and words are numbers until the end: NumPy finds the numbers of all pieces of many sentences,
and one look-up turns them into text.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sentprobe.generator import columns
from sentprobe.generator.boxes import IndexArray
from sentprobe.generator.sentence import Sentence
from sentprobe.generator.space import Batched, EventBatch

CHUNK = 65_536
"""How many sentences are decoded at a time."""

PART = 4_096
"""How many sentences are put together at a time."""

_MARK = re.compile(f"{columns.OPEN}(\\d+){columns.CLOSE}")


@dataclass(frozen=True, slots=True)
class SentenceChunk:
    """Consecutive sentences of a request, the first of them number *start* (from 0).

    ``shapes`` has the number of each one's shape; ``words`` the words, by sentence and column.
    """

    start: int
    indices: IndexArray
    shapes: columns.Numbers
    words: NDArray[np.int32]  # (sentences, columns)

    def __len__(self) -> int:
        return len(self.indices)


class Store(Protocol):
    """Keeps what it needs of each shape; shapes are added in the order of their numbers."""

    def add(self, schematic: Sentence) -> frozenset[int]:
        """Add a shape by its schematic sentence, and return the columns that it uses."""


class Decoder:
    """Works out the shapes and words of sentences of a space, for *stores* of shapes."""

    def __init__(self, space: Batched, tables: columns.Tables, stores: Sequence[Store]) -> None:
        self._space = space
        self._tables = tables
        self._stores = stores
        self._finite_table = columns.FiniteTable(tables.pool)
        self._layouts: dict[int, columns.LayoutColumns] = {}
        self._numbers: dict[tuple[int, int], int] = {}
        self._finite: list[dict[str, columns.Finite]] = []
        self._used: dict[int, set[int]] = {}

    def chunks(self, indices: IndexArray, start: int = 0) -> Iterator[SentenceChunk]:
        """Yield the sentences at *indices*, in order, PART at a time, the first number *start*."""
        for first in range(0, len(indices), CHUNK):
            yield from self.parts(indices[first : first + CHUNK], start + first)

    def parts(self, indices: IndexArray, start: int) -> Iterator[SentenceChunk]:
        """Yield the sentences at *indices*, PART at a time; all of their shapes are found first."""
        batches = list(self._space.batches(indices))
        width = columns.FIRST + max(len(self._layout(batch).columns) for batch in batches)
        words = np.zeros((width, len(indices)), dtype=np.int32)
        shapes = np.empty(len(indices), dtype=np.int64)
        chunk = SentenceChunk(start, indices, shapes, words.T)
        for batch in batches:
            self._fill(chunk, batch)
        for first in range(0, len(chunk), PART):
            yield self._part(chunk, first)

    def _layout(self, batch: EventBatch) -> columns.LayoutColumns:
        key = id(batch.layout)
        if key not in self._layouts:
            self._layouts[key] = columns.LayoutColumns(
                batch.layout, self._tables, self._finite_table
            )
        return self._layouts[key]

    def _fill(self, chunk: SentenceChunk, batch: EventBatch) -> None:
        layout = self._layout(batch)
        keys, which = _different(layout.shape_keys(batch.values))
        shapes = [self._shape(id(batch.layout), layout, key) for key in keys.tolist()]
        chunk.shapes[batch.places] = np.array(shapes)[which]
        clauses = self._finite[shapes[0]]
        finite = {path: [self._finite[shape][path] for shape in shapes] for path in clauses}
        rows = columns.Rows(batch.values, self._tables, which, finite)
        used = self._used[id(batch.layout)]
        for number, column in enumerate(layout.columns.values(), columns.FIRST):
            if number in used:
                chunk.words[:, number][batch.places] = column(rows)

    def _part(self, chunk: SentenceChunk, first: int) -> SentenceChunk:
        """Return PART sentences of a chunk, with the columns that every layout has."""
        rows = slice(first, first + PART)
        words = np.ascontiguousarray(chunk.words[rows])
        part = SentenceChunk(chunk.start + first, chunk.indices[rows], chunk.shapes[rows], words)
        words[:, columns.EMPTY] = len(self._tables.pool.strings)
        words[:, columns.ID] = words[:, columns.EMPTY] + 1 + np.arange(len(part))
        words[:, columns.INDEX] = words[:, columns.ID] + len(part)
        return part

    def _shape(self, layout_key: int, layout: columns.LayoutColumns, key: int) -> int:
        if (layout_key, key) not in self._numbers:
            schematic, finite = layout.schematic(key)
            self._numbers[layout_key, key] = len(self._finite)
            self._finite.append(finite)
            self._used.setdefault(layout_key, set()).update(
                *(store.add(schematic) for store in self._stores)
            )
        return self._numbers[layout_key, key]


def _different(keys: columns.Numbers) -> tuple[columns.Numbers, columns.Numbers]:
    """Return the different ones of numbers from 0, in order, and which of them each one is."""
    most = int(keys.max(initial=0))
    if most > len(keys):  # many more than there can be: a table would be too long
        return np.unique(keys, return_inverse=True)
    found = np.flatnonzero(np.bincount(keys))
    places = np.zeros(most + 1, dtype=np.int64)
    places[found] = np.arange(len(found))
    return found, places[keys]


class Ragged:
    """Rows of different lengths, one for each shape; an element is a tuple of *width* numbers."""

    def __init__(self, width: int) -> None:
        self._new: list[NDArray[np.int32]] = []
        self._flat = np.empty((width, 0), dtype=np.int32)
        self._ends = np.zeros(1, dtype=np.int64)

    def add(self, elements: Sequence[tuple[int, ...]]) -> None:
        """Add a row."""
        self._new.append(np.array(elements, dtype=np.int32).T)

    def _settle(self) -> None:
        """Put the new rows behind the others."""
        ends = np.cumsum([row.shape[1] for row in self._new])
        self._ends = np.concatenate([self._ends, self._ends[-1] + ends])
        self._flat = np.concatenate([self._flat, *self._new], axis=1)
        self._new.clear()

    def gather(
        self, chunk: SentenceChunk
    ) -> tuple[columns.Numbers, columns.Numbers, NDArray[np.int32]]:
        """Return the elements for the shapes of a chunk's sentences, one sentence after another.

        Three arrays: where each sentence begins, and at last where they end; where the words of
        each element's sentence begin in those of the chunk; and the elements, along its last axis.
        """
        if self._new:
            self._settle()
        count, width = chunk.words.shape
        starts = self._ends[chunk.shapes]
        lengths = self._ends[chunk.shapes + 1] - starts
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(starts - bounds[:-1], lengths)
        places += np.arange(bounds[-1])
        rows = np.repeat(np.arange(0, count * width, width), lengths)
        return bounds, rows, self._flat.take(places, axis=1)


class Records:
    """Sentences as strings: *write* makes one, *escape* says how a word stands in it."""

    def __init__(
        self,
        words: columns.StringPool,
        write: Callable[[Sentence], str],
        escape: Callable[[str], str] = str,
    ) -> None:
        self._words = words
        self._write = write
        self._escape = escape
        self._literals = columns.StringPool()
        self._pieces = Ragged(2)
        self._escaped: list[str] = []
        self._numbered = False

    def add(self, schematic: Sentence) -> frozenset[int]:
        """Add the record of a shape; it ends with an empty column."""
        text = self._write(schematic).replace(
            str(columns.INDEX_MARKER), columns.mark(columns.INDEX)
        )
        parts = [*_MARK.split(text), str(columns.EMPTY)]
        places = [int(part) for part in parts[1::2]]
        literals = self._literals.numbers(parts[::2]).tolist()
        self._pieces.add(list(zip(literals, places, strict=True)))
        self._numbered |= not {columns.ID, columns.INDEX}.isdisjoint(places)
        return frozenset(places)

    def table(self, chunk: SentenceChunk) -> list[str]:
        """Return the strings that the pieces of a chunk number."""
        if len(self._escaped) != len(self._words.strings):
            self._escaped = list(map(self._escape, self._words.strings))
        strings = [*self._literals.strings, *self._escaped, ""]
        if self._numbered:
            first = chunk.start + 1
            strings += [f"s{number}" for number in range(first, first + len(chunk))]
            strings += map(str, chunk.indices.tolist())
        return strings

    def pieces(self, chunk: SentenceChunk) -> tuple[columns.Numbers, NDArray[np.int32]]:
        """Return the pieces of the sentences of a chunk, end to end, as places in its table.

        The first array says where each sentence begins, and at last where they end.
        """
        bounds, rows, (literals, places) = self._pieces.gather(chunk)
        found = np.empty((len(rows), 2), dtype=np.int32)
        found[:, 0] = literals
        np.add(chunk.words.take(rows + places), len(self._literals.strings), out=found[:, 1])
        return 2 * bounds, found.reshape(-1)


class Renderer:
    """Writes sentences of a space, many at a time, as records of text.

    *write* turns one sentence into its record and *escape* a word into how it stands in one.
    """

    def __init__(
        self,
        space: Batched,
        write: Callable[[Sentence], str],
        *,
        escape: Callable[[str], str] = str,
    ) -> None:
        tables = columns.Tables(space)
        self._records = Records(tables.pool, write, escape)
        self._decoder = Decoder(space, tables, [self._records])

    def chunks(self, indices: IndexArray, start: int = 0) -> Iterator[tuple[int, str]]:
        """Yield the records of the sentences at *indices*, in order; the first is number *start*.

        They come as strings of many records, each with how many those are. Ids count from s1.
        """
        for chunk in self._decoder.chunks(indices, start):
            table = np.array(self._records.table(chunk), dtype=object)
            _, pieces = self._records.pieces(chunk)
            yield len(chunk), "".join(table[pieces].tolist())


def column_of(text: str) -> int:
    """Return the column whose mark *text* is, or NOTHING."""
    found = _MARK.fullmatch(text)
    return int(found[1]) if found else columns.NOTHING
