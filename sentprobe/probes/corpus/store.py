"""The chunks that are done, each in a file, so that work that was stopped goes on."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sentprobe import __version__
from sentprobe.errors import SentprobeError
from sentprobe.generator.files import atomic_path
from sentprobe.probes.corpus.work import HEAD, ChunkHead

if TYPE_CHECKING:
    import pyarrow as pa


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
    """Write the bytes that :func:`~sentprobe.probes.corpus.work.work_on` returned."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


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
    return head if (head.key, head.version) == (key, __version__) else None


def read_head(path: Path) -> ChunkHead:
    """Return the head of a stored chunk.

    Raises:
        SentprobeError: the file is damaged.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow import

    try:
        with pa.memory_map(str(path)) as file:
            return ChunkHead.from_json(json.loads(pa.ipc.open_file(file).schema.metadata[HEAD]))
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        raise _damaged(path) from error


def read_rows(path: Path, *, columns: Sequence[str] | None = None) -> "pa.Table":
    """Return the rows of a stored chunk, or some of their columns.

    Raises:
        SentprobeError: the file is damaged.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow import

    from sentprobe.probes.corpus.columns import SCHEMA  # noqa: PLC0415

    fields = None if columns is None else [SCHEMA.get_field_index(name) for name in columns]
    options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
    try:
        with pa.memory_map(str(path)) as file:
            return pa.ipc.open_file(file, options=options).read_all()
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> SentprobeError:
    return SentprobeError(f"{path}: damaged; remove it, and the same command makes it again")
