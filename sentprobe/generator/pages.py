"""The pages of Parquet: a column of a row group from offsets and values in NumPy.

Arrow's own writer works out where lists begin anew for each column and packs numbers one by one; of
sentences it writes half as many a second. Here the numbers of words are packed in whole bytes, and
the columns of one list share its levels; zstd brings the unused bits to nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sentprobe.generator.thrift import Struct, struct, varint, zigzag

Buffer: TypeAlias = bytes | memoryview

PLAIN, RLE, LENGTHS, NUMBERED = 0, 3, 6, 8
"""Parquet's names of encodings: plain; of levels; lengths, then all bytes; numbers of values."""

_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_BLOCK = 128
"""Lengths are packed in blocks of a multiple of so many."""


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """A column of a row group: its pages, end to end, and what the footer says of them."""

    pages: bytes
    values: int
    unpacked: int
    encodings: tuple[int, ...]
    dictionary: int
    """How long its first page is, if that holds the values that the others number; or 0."""
    bounds: tuple[bytes, bytes] | None = None
    """The smallest and the largest value, where readers may like to know."""


@dataclass(frozen=True, slots=True)
class Levels:
    """Where the values of a column are in its lists, packed; *count* has what is missing, too."""

    count: int
    packed: bytes = b""


@dataclass(slots=True)
class ChunkWriter:
    """Puts pages of a column end to end."""

    bounds: tuple[bytes, bytes] | None = None
    _pages: list[bytes] = field(default_factory=list)
    _values: int = 0
    _unpacked: int = 0
    _dictionary: int = 0
    _encodings: set[int] = field(default_factory=lambda: {RLE})

    def add_dictionary(self, values: bytes, count: int) -> None:
        """Add the page of the values that the data pages number."""
        self._add(_DICTIONARY_PAGE, values, {7: {1: count, 2: PLAIN}})
        self._encodings.add(PLAIN)
        self._dictionary = len(self._pages[0])

    def add_data(self, levels: Levels, values: Sequence[Buffer], encoding: int) -> None:
        """Add a page of values, whose bytes come in pieces."""
        header = {5: {1: levels.count, 2: encoding, 3: RLE, 4: RLE}}
        self._add(_DATA_PAGE, b"".join([levels.packed, *values]), header)
        self._encodings.add(encoding)
        self._values += levels.count

    def _add(self, kind: int, content: bytes, more: Struct) -> None:
        packed = pa.Codec("zstd", compression_level=1).compress(content, asbytes=True)
        header = struct({1: kind, 2: len(content), 3: len(packed), **more})
        self._pages.append(header + packed)
        self._unpacked += len(header) + len(content)

    def finish(self) -> ColumnChunk:
        """Return the column."""
        return ColumnChunk(
            b"".join(self._pages),
            self._values,
            self._unpacked,
            tuple(sorted(self._encodings)),
            self._dictionary,
            self.bounds,
        )


def list_levels(starts: NDArray[np.int64]) -> Levels:
    """Return the levels of lists of which none is empty, by where they begin and at last end."""
    count = int(starts[-1])
    inner = np.ones(count, dtype=np.uint8)
    inner[starts[:-1]] = 0
    return Levels(count, _sized(*_packed(inner, 1)) + _sized(_all_of(1, count)))


def any_levels(inner: NDArray[np.uint8], defined: NDArray[np.uint8]) -> Levels:
    """Return levels: whether each entry goes on a list, and how far it is there (0 to 2)."""
    packed = _sized(*_packed(inner, 1)) + _sized(*_packed(defined, 2))
    return Levels(len(inner), packed)


def optional_levels(count: int) -> Levels:
    """Return the levels of a column that may lack values and does not."""
    return Levels(count, _sized(_all_of(1, count)))


def write_numbered(
    values: bytes, size: int, levels: Levels, numbers: NDArray[np.integer], writer: ChunkWriter
) -> ColumnChunk:
    """Write a column whose values are those of a dictionary, *size* of them, by their numbers."""
    width = 8 * packed_type(size).itemsize
    writer.add_dictionary(values, size)
    writer.add_data(levels, [bytes([width]), *_packed(numbers, width)], NUMBERED)
    return writer.finish()


def packed_type(size: int) -> np.dtype[Any]:
    """Return the type of whole bytes that holds the numbers below *size*."""
    return np.dtype("<u1" if size <= 1 << 8 else "<u2" if size <= 1 << 16 else "<u4")


def plain_strings(texts: Sequence[bytes]) -> bytes:
    """Return strings, each after its length."""
    return b"".join(len(text).to_bytes(4, "little") + text for text in texts)


def write_strings(ends: NDArray[np.int32], content: Buffer) -> list[Buffer]:
    """Return strings by where they end in their content; the first begins at ``ends[0]``."""
    return [_lengths(np.diff(ends)), memoryview(content)[ends[0] : ends[-1]]]


def _lengths(lengths: NDArray[np.int32]) -> bytes:
    """Pack lengths as steps from one to the next, in one block and in whole bytes."""
    first, steps = int(lengths[0]), np.diff(lengths)
    least = int(steps.min(initial=0))
    steps = steps - least
    block = -(-max(len(steps), 1) // _BLOCK) * _BLOCK
    kind = packed_type(int(steps.max(initial=0)) + 1)
    head = varint(block) + varint(1) + varint(len(lengths)) + zigzag(first)
    if len(steps) == 0:
        return head
    packed = np.zeros(block, dtype=kind)
    packed[: len(steps)] = steps
    return head + zigzag(least) + bytes([8 * kind.itemsize]) + packed.tobytes()


def _sized(*levels: Buffer) -> bytes:
    found = b"".join(levels)
    return len(found).to_bytes(4, "little") + found


def _all_of(value: int, count: int) -> bytes:
    return varint(count << 1) + bytes([value])


def _packed(values: NDArray[np.integer], width: int) -> list[Buffer]:
    """Pack numbers below 2**width, the lowest bits first, in groups of eight."""
    groups = -(-len(values) // 8)
    padded = np.zeros(8 * groups, dtype=f"<u{max(width, 8) // 8}")
    padded[: len(values)] = values
    if width < 8:
        bits = padded if width == 1 else padded[:, None] >> np.arange(width, dtype=np.uint8) & 1
        padded = np.packbits(bits, bitorder="little")
    return [varint(groups << 1 | 1), padded.data]
