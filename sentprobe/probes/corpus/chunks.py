"""The chunks of a corpus that are done: kept so that work goes on, and made into shards.

Two texts are the same when the first 64 bits of their sha256 are. Among a hundred million different
sentences, one pair is taken for the same by accident with a probability of 0.03%.

Shards have a fixed number of rows, so they do not depend on how the work was divided.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import FormatError, SentprobeError
from sentprobe.files import atomic_path
from sentprobe.probes.corpus.table import Shard, checksum
from sentprobe.probes.corpus.work import HEAD, ChunkHead
from sentprobe.probes.syntax.row_columns import SCHEMA
from sentprobe.values import check_record, parse_json
from sentprobe.versions import own_version

if TYPE_CHECKING:
    import pyarrow as pa


Digests = NDArray[np.uint64]

LIMIT = 8_000_000
"""So many digests are held at a time."""


def parse_digests(digests: Iterable[str]) -> Digests:
    """Return strings of 16 hexadecimal digits as numbers.

    >>> [hex(number) for number in parse_digests(["00000000000000ff", "8000000000000000"])]
    ['0xff', '0x8000000000000000']
    """
    return np.frombuffer(bytes.fromhex("".join(digests)), dtype=">u8").astype(np.uint64)


def mark_first(
    parts: Callable[[], Iterable[Digests]], total: int, path: Path, *, limit: int = LIMIT
) -> NDArray[np.bool_]:
    """Return, for each of *total* rows, whether no row before it has its digest.

    *parts* gives all digests in order, each time it is called: once for each *limit* of rows, as
    the range of digests is gone through in steps. The result (total,) is kept in the file *path*.
    """
    if not total:
        return np.zeros(0, np.bool_)
    first = np.lib.format.open_memmap(path, mode="w+", dtype=np.bool_, shape=(total,))
    bits = max(0, (total - 1).bit_length() - (limit.bit_length() - 1))
    for step in range(1 << bits):
        _mark(first, parts(), step=step, bits=bits)
    first.flush()
    return first


def _mark(first: NDArray[np.bool_], parts: Iterable[Digests], *, step: int, bits: int) -> None:
    """Mark the first rows among those whose digest has *step* in its highest *bits*."""
    values, places = [], []
    start = 0
    for part in parts:
        shifted = part >> np.uint64(64 - bits) if bits else np.zeros_like(part)
        inside = np.flatnonzero(shifted == step)
        values.append(part[inside])
        places.append(inside + start)
        start += len(part)
    _, found = np.unique(np.concatenate(values), return_index=True)
    first[np.concatenate(places)[found]] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """A file of rows, how many there are, and which sentence of its source is its first."""

    path: Path
    source: str
    place: int
    sentences: int
    rows: int


def chunk_path(folder: Path, number: int) -> Path:
    """Return the file of the chunk of that number."""
    return folder / f"chunk-{number:07d}.arrow"


def store_chunk(path: Path, content: bytes) -> None:
    """Write the bytes that :func:`~sentprobe.probes.corpus.work.work_on` returned.

    Their sha256, in 64 digits, comes first, so that Arrow's data stay aligned.
    """
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        file.write(_checksum(content))
        file.write(content)


def _checksum(content: "bytes | pa.Buffer") -> bytes:
    return sha256(content).hexdigest().encode()


def find_head(path: Path, key: str) -> ChunkHead | None:
    """Return the head of a stored chunk, if it is whole and was made with this *key*, by us.

    The key says which version asked for the work; the head, which version did it.
    """
    if not path.is_file():
        return None
    try:
        head = read_head(path)
    except SentprobeError:
        return None
    return head if (head.key, head.version) == (key, own_version()) else None


def read_head(path: Path) -> ChunkHead:
    """Return the head of a stored chunk.

    Raises:
        SentprobeError: the file is damaged.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow import

    try:
        with _content(path) as content:
            head = ChunkHead.from_json(parse_json(pa.ipc.open_file(content).schema.metadata[HEAD]))
        check_record(head)
        return head
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError, FormatError) as error:
        raise _damaged(path) from error


def read_rows(path: Path, *, columns: Sequence[str] | None = None) -> "pa.Table":
    """Return the rows of a stored chunk, or some of their columns.

    Raises:
        SentprobeError: the file is damaged.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow import

    from sentprobe.probes.syntax.row_columns import SCHEMA  # noqa: PLC0415

    fields = None if columns is None else [SCHEMA.get_field_index(name) for name in columns]
    options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
    try:
        with _content(path) as content:
            return pa.ipc.open_file(content, options=options).read_all()
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path) from error


@contextmanager
def _content(path: Path) -> "Iterator[pa.Buffer]":
    """Give the bytes of a stored chunk, which are those that were stored."""
    import pyarrow as pa  # noqa: PLC0415 - slow import

    with pa.memory_map(str(path)) as file:
        whole = file.read_buffer()
        content = whole.slice(min(_DIGITS, whole.size))
        if _checksum(content) != whole.slice(0, min(_DIGITS, whole.size)).to_pybytes():
            raise _damaged(path)
        yield content


_DIGITS = 64
"""How many a checksum has."""


def _damaged(path: Path) -> SentprobeError:
    return SentprobeError(f"{path}: damaged; the same command makes it again")


SHARD_ROWS = 20_000
"""The rows of a shard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRows:
    """Which rows of the chunks are kept, and where each chunk begins among all and among those."""

    chunks: Sequence[StoredChunk]
    mask: NDArray[np.bool_]
    """(rows,) bool, over the rows of all chunks."""
    starts: Sequence[int]
    """The first row of each chunk, and the number of all."""
    kept: Sequence[int]
    """How many rows before each chunk are kept, and in all."""

    @property
    def total(self) -> int:
        """The number of rows that are kept."""
        return self.kept[-1]


def find_kept(chunks: Sequence[StoredChunk], scratch: Path) -> KeptRows:
    """Return which rows are kept: the first of each text; *scratch* is a file to work in."""
    starts = [0, *accumulate(chunk.rows for chunk in chunks)]

    def digests() -> Iterator[Digests]:
        for chunk in chunks:
            column = read_rows(chunk.path, columns=("digest",))["digest"]
            yield parse_digests(column.to_pylist())

    mask = mark_first(digests, starts[-1], scratch)
    counts = (int(mask[a:b].sum()) for a, b in pairwise(starts))
    return KeptRows(chunks=chunks, mask=mask, starts=starts, kept=[0, *accumulate(counts)])


def write_shards(
    kept: KeptRows, folder: Path, *, threads: int, done: Callable[[], object]
) -> tuple[Shard, ...]:
    """Write the rows that are kept into *folder*, so many at a time; *done* is called for each.

    Raises:
        SentprobeError: a file cannot be written.
    """
    pool = ThreadPoolExecutor(threads)
    try:
        found = []
        numbers = range(shard_count(kept.total))
        for shard in pool.map(lambda number: _write_shard(kept, folder, number), numbers):
            found.append(shard)
            done()
        return tuple(found)
    finally:
        pool.shutdown(cancel_futures=True)


def shard_count(rows: int) -> int:
    """Return the number of shards for so many rows."""
    return -(-rows // SHARD_ROWS)


def _write_shard(kept: KeptRows, folder: Path, number: int) -> Shard:
    import pyarrow.parquet as pq  # noqa: PLC0415 - slow import

    low = number * SHARD_ROWS
    table = _rows(kept, low, min(low + SHARD_ROWS, kept.total))
    name = f"part-{number:05d}.parquet"
    with atomic_path(folder / name) as temporary:
        pq.write_table(table, temporary, compression="zstd", row_group_size=SHARD_ROWS)
    path = folder / name
    return Shard(file=name, rows=table.num_rows, size=path.stat().st_size, sha256=checksum(path))


def _rows(kept: KeptRows, low: int, high: int) -> "pa.Table":
    """Return the kept rows from *low* up to *high*, with their ids."""
    import pyarrow as pa  # noqa: PLC0415 - slow import

    parts = []
    number = bisect_right(kept.kept, low) - 1
    while number < len(kept.chunks) and kept.kept[number] < high:
        mask = kept.mask[kept.starts[number] : kept.starts[number + 1]]
        wanted = np.flatnonzero(mask)
        before = kept.kept[number]
        wanted = wanted[max(0, low - before) : high - before]
        if len(wanted):
            parts.append(_chunk_rows(kept.chunks[number], wanted, first=max(low, before)))
        number += 1
    return pa.concat_tables(parts).combine_chunks()


def _chunk_rows(chunk: StoredChunk, wanted: NDArray[np.int64], *, first: int) -> "pa.Table":
    """Return some rows of a chunk, with ids from *first* and places in the whole source."""
    import pyarrow as pa  # noqa: PLC0415 - slow import

    table = read_rows(chunk.path)
    if len(wanted) < table.num_rows:
        table = table.take(wanted)
    ids = np.arange(first, first + table.num_rows, dtype=np.int64)
    places = table["place"].to_numpy() + chunk.place
    columns = {"id": pa.array(ids), "place": pa.array(places)}
    arrays = [columns.get(field.name, table[field.name]) for field in SCHEMA]
    return pa.table(arrays, schema=SCHEMA)
