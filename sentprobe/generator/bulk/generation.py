"""Bulk generation: a shape is built once, with marks in place of words; columns hold the words of many sentences."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sentprobe.generator.bulk import columns, word_tables
from sentprobe.generator.bulk.word_tables import NumberArray
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.spaces.counting import IndexArray
from sentprobe.generator.spaces.space import EventBatch, NumberedEvents

CHUNK_SIZE = 262_144
"""The number of sentences that are decoded at a time."""
PART_SIZE = 4_096
"""The number of sentences that are rendered at a time."""
_MARK = re.compile(f"{columns.MARK_START}(\\d+){columns.MARK_END}")


@dataclass(frozen=True, slots=True)
class SentenceChunk:
    """Consecutive sentences of a request, numbered from ``start``; ``shapes`` has each sentence's shape as a number."""

    start: int
    indices: IndexArray
    shapes: NumberArray
    words: NDArray[np.int32]  # (sentences, columns)

    def __len__(self) -> int:
        return len(self.indices)


class ShapeStore(Protocol):
    """A store that keeps data about all shapes; shapes are added in the order of their numbers."""

    def add(self, marked: Sentence) -> frozenset[int]:
        """Add a shape, given as a marked sentence (see MARK_START). Return the numbers of the columns that it needs."""


class Decoder:
    """Decoder of sentence indices into shapes and words. Each shape that it meets is added once to all *stores*."""

    def __init__(self, space: NumberedEvents, tables: word_tables.WordTables, stores: Sequence[ShapeStore]) -> None:
        self._space = space
        self._tables = tables
        self._stores = stores
        self._finite_table = columns.FiniteTable(tables.pool, tables.language)
        self._layouts: dict[int, columns.LayoutColumns] = {}
        self._numbers: dict[tuple[int, int], int] = {}
        self._finite: list[dict[str, columns.FiniteForms]] = []
        self._used: dict[int, set[int]] = {}

    def decode_chunks(self, indices: IndexArray, start: int = 0) -> Iterator[SentenceChunk]:
        """Yield the sentences at *indices*, PART_SIZE at a time; the first sentence has number *start*."""
        for first in range(0, len(indices), CHUNK_SIZE):
            chunk = self._decode_chunk(indices[first : first + CHUNK_SIZE], start + first)
            yield from (self._cut_part(chunk, at) for at in range(0, len(chunk), PART_SIZE))
            del chunk  # two chunks are never in memory together

    def _decode_chunk(self, indices: IndexArray, start: int) -> SentenceChunk:
        batches = list(self._space.batches(indices))
        width = columns.FIRST + max(len(self._get_layout_columns(batch).columns) for batch in batches)
        words = np.zeros((width, len(indices)), dtype=np.int32)  # transposed: a batch writes whole columns
        chunk = SentenceChunk(start, indices, np.empty(len(indices), dtype=np.int64), words.T)
        for batch in batches:
            layout = self._get_layout_columns(batch)
            keys, which = _find_unique(layout.compute_shape_keys(batch.values))
            shapes = [self._number_shape(id(batch.layout), layout, key) for key in keys.tolist()]
            chunk.shapes[batch.positions] = np.array(shapes)[which]
            # All shapes of a layout have the same clauses, so that any shape names their paths.
            clauses = self._finite[shapes[0]]
            finite = {path: [self._finite[shape][path] for shape in shapes] for path in clauses}
            rows = columns.LayoutRows(batch.values, self._tables, which, finite)
            used = self._used[id(batch.layout)]  # known only when all shapes of the batch have been added to the stores
            for number, column in enumerate(layout.columns.values(), columns.FIRST):
                if number in used:
                    chunk.words[:, number][batch.positions] = column(rows)
        return chunk

    def _get_layout_columns(self, batch: EventBatch) -> columns.LayoutColumns:
        key = id(batch.layout)
        if key not in self._layouts:
            self._layouts[key] = columns.LayoutColumns(batch.layout, self._tables, self._finite_table)
        return self._layouts[key]

    def _cut_part(self, chunk: SentenceChunk, first: int) -> SentenceChunk:
        """Return up to PART_SIZE sentences of a chunk, from position *first*. Fill the columns EMPTY, ID and INDEX."""
        rows = slice(first, first + PART_SIZE)
        words = np.ascontiguousarray(chunk.words[rows])
        part = SentenceChunk(chunk.start + first, chunk.indices[rows], chunk.shapes[rows], words)
        # Ids and indices differ in every sentence: their strings follow the pool's, which would grow without end.
        words[:, columns.EMPTY] = len(self._tables.pool.strings)
        words[:, columns.ID] = words[:, columns.EMPTY] + 1 + np.arange(len(part))
        words[:, columns.INDEX] = words[:, columns.ID] + len(part)
        return part

    def _number_shape(self, layout_key: int, layout: columns.LayoutColumns, key: int) -> int:
        if (layout_key, key) not in self._numbers:
            marked, finite = layout.build_marked_sentence(key)
            self._numbers[layout_key, key] = len(self._finite)
            self._finite.append(finite)
            self._used.setdefault(layout_key, set()).update(*(store.add(marked) for store in self._stores))
        return self._numbers[layout_key, key]


def _find_unique(keys: NumberArray) -> tuple[NumberArray, NumberArray]:
    largest = int(keys.max(initial=0))
    if largest > len(keys):  # the table of np.bincount would be too long
        return np.unique(keys, return_inverse=True)
    # Counting takes one pass; np.unique would sort the keys of all sentences.
    unique_keys = np.flatnonzero(np.bincount(keys))
    places = np.zeros(largest + 1, dtype=np.int64)
    places[unique_keys] = np.arange(len(unique_keys))
    return unique_keys, places[keys]


class RaggedRows:
    """A table with a row for each shape; rows differ in length, and their elements are tuples of *width* numbers."""

    def __init__(self, width: int) -> None:
        self._new: list[NDArray[np.int32]] = []
        self._flat = np.empty((width, 0), dtype=np.int32)
        self._ends = np.zeros(1, dtype=np.int64)

    def add(self, elements: Sequence[tuple[int, ...]]) -> None:
        """Append *elements* as the row of the next shape; the first call adds the row of shape 0."""
        self._new.append(np.array(elements, dtype=np.int32).T)

    def gather(self, chunk: SentenceChunk) -> tuple[NumberArray, NumberArray, NDArray[np.int32]]:
        """Return the row of each sentence in a chunk, as three arrays. The row of a sentence is the row of its shape.

        - bounds, (sentences + 1,): sentence i has the elements from bounds[i] to bounds[i + 1] - 1
        - word starts, (elements,): for each element, where its sentence's words start in the flattened ``chunk.words``
        - elements, (width, elements): one element in each column, first those of sentence 0, then of sentence 1, ...
        """
        if self._new:
            ends = np.cumsum([row.shape[1] for row in self._new])
            self._ends = np.concatenate([self._ends, self._ends[-1] + ends])
            self._flat = np.concatenate([self._flat, *self._new], axis=1)
            self._new.clear()
        count, width = chunk.words.shape
        starts = self._ends[chunk.shapes]
        lengths = self._ends[chunk.shapes + 1] - starts
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        # An element's place in the table is its place in the result, shifted as far as its row is.
        places = np.repeat(starts - bounds[:-1], lengths)
        places += np.arange(bounds[-1])
        rows = np.repeat(np.arange(0, count * width, width), lengths)
        return bounds, rows, self._flat.take(places, axis=1)


class RecordStore:
    """Store of each shape's record (text with blanks for words). *write* makes a record; *escape* encodes a word."""

    def __init__(
        self, words: word_tables.StringPool, write: Callable[[Sentence], str], escape: Callable[[str], str] = str
    ) -> None:
        self._words = words
        self._write = write
        self._escape = escape
        self._literals = word_tables.StringPool()
        self._pieces = RaggedRows(2)
        self._escaped: list[str] = []
        self._numbered = False

    def add(self, marked: Sentence) -> frozenset[int]:
        """Add a shape's record, made from a marked sentence (see MARK_START). Return the record's column numbers."""
        text = self._write(marked).replace(str(columns.INDEX_MARKER), columns.format_mark(columns.INDEX))
        # The last literal has no word behind it, and is paired with the empty string.
        parts = [*_MARK.split(text), str(columns.EMPTY)]
        places = [int(part) for part in parts[1::2]]
        literals = self._literals.numbers(parts[::2]).tolist()
        self._pieces.add(list(zip(literals, places, strict=True)))
        self._numbered |= not {columns.ID, columns.INDEX}.isdisjoint(places)
        return frozenset(places)

    def build_strings(self, chunk: SentenceChunk) -> list[str]:
        """Return the strings of which a chunk's records consist; ``build_pieces`` returns indices into this list."""
        if len(self._escaped) != len(self._words.strings):
            self._escaped = list(map(self._escape, self._words.strings))
        # In the order of the numbers that Decoder._cut_part gives: the pool's words, EMPTY, the ids, the indices.
        strings = [*self._literals.strings, *self._escaped, ""]
        if self._numbered:
            first = chunk.start + 1
            strings += [f"s{number}" for number in range(first, first + len(chunk))]
            strings += map(str, chunk.indices.tolist())
        return strings

    def build_pieces(self, chunk: SentenceChunk) -> tuple[NumberArray, NDArray[np.int32]]:
        """Return (bounds, pieces): ``pieces[bounds[i]:bounds[i + 1]]`` index the strings of record i, in order."""
        bounds, rows, (literals, places) = self._pieces.gather(chunk)
        numbers = np.empty((len(rows), 2), dtype=np.int32)
        numbers[:, 0] = literals
        np.add(chunk.words.take(rows + places), len(self._literals.strings), out=numbers[:, 1])
        return 2 * bounds, numbers.reshape(-1)

    def join_records(self, chunk: SentenceChunk) -> str:
        """Return the records of a chunk as one text."""
        table = np.array(self.build_strings(chunk), dtype=object)
        _, pieces = self.build_pieces(chunk)
        return "".join(table[pieces].tolist())


class Renderer:
    """Renderer of sentences as records. *write* makes a record from a sentence; *escape* encodes a word in a record."""

    def __init__(
        self, space: NumberedEvents, write: Callable[[Sentence], str], *, escape: Callable[[str], str] = str
    ) -> None:
        tables = word_tables.WordTables(space)
        self._records = RecordStore(tables.pool, write, escape)
        self._decoder = Decoder(space, tables, [self._records])

    def render_chunks(self, indices: IndexArray) -> Iterator[tuple[int, str]]:
        """Yield the records of the sentences at *indices* in chunks: (number of records, their joined text)."""
        for chunk in self._decoder.decode_chunks(indices):
            yield len(chunk), self._records.join_records(chunk)


def parse_column(text: str) -> int:
    """Return the column number in a mark (see :func:`~.columns.format_mark`), or NOTHING if *text* is no mark."""
    match = _MARK.fullmatch(text)
    return int(match[1]) if match else columns.NOTHING
