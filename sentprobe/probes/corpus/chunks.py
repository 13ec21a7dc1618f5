"""The files of finished chunks. Their rows, without duplicate sentences, become the shards (files) of a table."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sentprobe.disk.files import atomic_path
from sentprobe.errors import FormatError, SentprobeError
from sentprobe.probes.corpus.chunk_work import HEAD_KEY, ChunkHead
from sentprobe.probes.corpus.table import Shard, compute_checksum
from sentprobe.probes.syntax.table_columns import SCHEMA
from sentprobe.values import check_record, parse_json
from sentprobe.versions import get_own_version

Digests = NDArray[np.uint64]
_CHECKSUM_DIGITS = 64  # these bytes also keep Arrow's data aligned
MAX_DIGESTS = 8_000_000
"""The approximate number of digests that are in memory at a time."""


def parse_digests(digests: Iterable[str]) -> Digests:
    """Convert strings of 16 hexadecimal digits to numbers, (n,) uint64."""
    return np.frombuffer(bytes.fromhex("".join(digests)), dtype=">u8").astype(np.uint64)


def mark_first_rows(
    read_parts: Callable[[], Iterable[Digests]], total: int, path: Path, *, limit: int = MAX_DIGESTS
) -> NDArray[np.bool_]:
    """Return a mask of the rows whose digest no earlier row has, (total,) bool. It is a memory map of *path*."""
    if not total:
        return np.zeros(0, np.bool_)
    is_first = np.lib.format.open_memmap(path, mode="w+", dtype=np.bool_, shape=(total,))
    bits = max(0, (total - 1).bit_length() - (limit.bit_length() - 1))
    for step in range(1 << bits):
        values, positions, start = [], [], 0
        for part in read_parts():  # only digests whose highest bits are this number are compared in this step
            inside = np.flatnonzero(part >> np.uint64(64 - bits) == step) if bits else np.arange(len(part))
            values.append(part[inside])
            positions.append(inside + start)
            start += len(part)
        _, first_indices = np.unique(np.concatenate(values), return_index=True)
        is_first[np.concatenate(positions)[first_indices]] = True
    is_first.flush()
    return is_first


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """The Arrow file of a finished chunk."""

    path: Path
    source: str
    place: int
    """The number of sentences that precede the chunk in its source."""
    sentences: int
    rows: int


def find_chunk_path(folder: Path, number: int) -> Path:
    return folder / f"chunk-{number:07d}.arrow"


def store_chunk(path: Path, content: bytes) -> None:
    """Write the Arrow data of a chunk to a file, after 64 hexadecimal digits, which are the SHA-256 of the data."""
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        file.write(_compute_checksum(content))
        file.write(content)


def _compute_checksum(content: bytes | pa.Buffer) -> bytes:
    return sha256(content).hexdigest().encode()


def find_head(path: Path, key: str) -> ChunkHead | None:
    """Return the header of a chunk's file; None if the file is missing or damaged, or of another key or version."""
    if not path.is_file():
        return None
    try:
        head = read_head(path)
    except SentprobeError:
        return None
    return head if (head.key, head.version) == (key, get_own_version()) else None


def read_head(path: Path) -> ChunkHead:
    """Return the head of a stored chunk; raise SentprobeError if the file is damaged."""
    try:
        with _open_content(path) as content:
            head = ChunkHead.from_json(parse_json(pa.ipc.open_file(content).schema.metadata[HEAD_KEY]))
        check_record(head)
        return head
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError, FormatError) as error:
        raise _make_damaged_error(path) from error


def read_rows(path: Path, *, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the rows of a stored chunk, or only some columns; raise SentprobeError if the file is damaged."""
    fields = None if columns is None else [SCHEMA.get_field_index(name) for name in columns]
    options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
    try:
        with _open_content(path) as content:
            return pa.ipc.open_file(content, options=options).read_all()
    except (pa.ArrowException, OSError) as error:
        raise _make_damaged_error(path) from error


@contextmanager
def _open_content(path: Path) -> Iterator[pa.Buffer]:
    with pa.memory_map(str(path)) as file:
        stored = file.read_buffer()
        content = stored.slice(min(_CHECKSUM_DIGITS, stored.size))
        if _compute_checksum(content) != stored.slice(0, min(_CHECKSUM_DIGITS, stored.size)).to_pybytes():
            raise _make_damaged_error(path)
        yield content


def _make_damaged_error(path: Path) -> SentprobeError:
    return SentprobeError(f"{path}: damaged; run the same command again: it replaces the file")


SHARD_ROWS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRows:
    """The chunk rows that the table keeps: the first row of each distinct text."""

    chunks: Sequence[StoredChunk]
    mask: NDArray[np.bool_]
    """Whether each row of all chunks is kept, (rows,) bool."""
    chunk_starts: Sequence[int]
    """The number of rows before each chunk, followed by the number of all rows."""
    kept_starts: Sequence[int]
    """The number of kept rows before each chunk, followed by the number of all kept rows."""
    sentence_ids: Mapping[str, list[str]]
    """The ids (``sent_id``) of sentences with the same text, by the text's digest; only texts with several ids."""

    @property
    def total(self) -> int:
        """The number of kept rows."""
        return self.kept_starts[-1]


def find_kept_rows(chunks: Sequence[StoredChunk], scratch: Path) -> KeptRows:
    """Find the first row of each distinct text; *scratch* is the path of a temporary file."""
    starts = [0, *accumulate(chunk.rows for chunk in chunks)]

    def read_digests() -> Iterator[Digests]:
        for chunk in chunks:
            column = read_rows(chunk.path, columns=("digest",))["digest"]
            yield parse_digests(column.to_pylist())

    mask = mark_first_rows(read_digests, starts[-1], scratch)
    counts = (int(mask[a:b].sum()) for a, b in pairwise(starts))
    return KeptRows(
        chunks=chunks,
        mask=mask,
        chunk_starts=starts,
        kept_starts=[0, *accumulate(counts)],
        sentence_ids=_collect_sentence_ids(chunks, mask),
    )


def _collect_sentence_ids(chunks: Sequence[StoredChunk], mask: NDArray[np.bool_]) -> dict[str, list[str]]:
    if mask.all():
        return {}
    ids: dict[str, list[str]] = {}
    for chunk in chunks:
        rows = read_rows(chunk.path, columns=("digest", "sentence_ids")).drop_null()
        for digest, row_ids in zip(rows["digest"].to_pylist(), rows["sentence_ids"].to_pylist(), strict=True):
            ids.setdefault(digest, []).extend(row_ids)
    return {digest: text_ids for digest, text_ids in ids.items() if len(text_ids) > 1}


def write_shards(
    kept_rows: KeptRows, folder: Path, *, threads: int, on_shard_written: Callable[[], object]
) -> tuple[Shard, ...]:
    """Write the kept rows into shards in *folder*; call *on_shard_written* after each shard."""
    pool = ThreadPoolExecutor(threads)
    try:
        shards = []
        numbers = range(count_shards(kept_rows.total))
        for shard in pool.map(lambda number: _write_shard(kept_rows, folder, number), numbers):
            shards.append(shard)
            on_shard_written()
        return tuple(shards)
    finally:
        pool.shutdown(cancel_futures=True)


def count_shards(rows: int) -> int:
    return -(-rows // SHARD_ROWS)


def _write_shard(kept_rows: KeptRows, folder: Path, number: int) -> Shard:
    low = number * SHARD_ROWS
    table = _read_kept_rows(kept_rows, low, min(low + SHARD_ROWS, kept_rows.total))
    name = f"part-{number:05d}.parquet"
    with atomic_path(folder / name) as temporary:
        pq.write_table(table, temporary, compression="zstd", row_group_size=SHARD_ROWS)
    path = folder / name
    return Shard(file=name, rows=table.num_rows, size=path.stat().st_size, sha256=compute_checksum(path))


def _read_kept_rows(kept_rows: KeptRows, low: int, high: int) -> pa.Table:
    """Return kept rows *low* to *high* - 1, with ``id`` (index among kept rows) and ``place`` (index in the source)."""
    parts = []
    number = bisect_right(kept_rows.kept_starts, low) - 1
    while number < len(kept_rows.chunks) and kept_rows.kept_starts[number] < high:
        mask = kept_rows.mask[kept_rows.chunk_starts[number] : kept_rows.chunk_starts[number + 1]]
        indices = np.flatnonzero(mask)
        first_kept = kept_rows.kept_starts[number]
        indices = indices[max(0, low - first_kept) : high - first_kept]
        if len(indices):
            chunk = kept_rows.chunks[number]
            table = read_rows(chunk.path)
            if len(indices) < table.num_rows:
                table = table.take(indices)
            ids = np.arange(table.num_rows, dtype=np.int64) + max(low, first_kept)
            columns = {"id": pa.array(ids), "place": pa.array(table["place"].to_numpy() + chunk.place)}
            if kept_rows.sentence_ids:
                pairs = zip(table["digest"].to_pylist(), table["sentence_ids"].to_pylist(), strict=True)
                all_ids = [kept_rows.sentence_ids.get(digest, row_ids) for digest, row_ids in pairs]
                columns["sentence_ids"] = pa.array(all_ids, SCHEMA.field("sentence_ids").type)
            parts.append(pa.table([columns.get(field.name, table[field.name]) for field in SCHEMA], schema=SCHEMA))
        number += 1
    return pa.concat_tables(parts).combine_chunks()
