"""List, clear and check the files of the embedding cache, for the command ``probe cache``."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sentprobe.errors import SentprobeError, UsageError, suggest
from sentprobe.lexicon.memory import find_kept_files
from sentprobe.probes.encoders.cache import vector_cache

DAY = 24 * 60 * 60
HOUR = 60 * 60
"""One hour in seconds. An older unfinished file counts as left by a killed process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedEncoder:
    """A summary of the cached vectors of one encoder, that is, of one fingerprint."""

    folder: Path
    encoders: tuple[str, ...]
    """All names under which the encoder wrote vectors."""
    fingerprint: str
    sentences: int
    dim: int
    size: int
    """Total size of the files in bytes."""
    used: float
    """Time of the last read or write, in seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedFiles:
    """The number of encoders whose vectors were removed, and the size of the removed files."""

    encoders: int
    size: int
    """Total size of the files in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheCheck:
    """The number of checked files, the paths of removed damaged files, and the number of removed unfinished files."""

    files: int
    damaged: tuple[Path, ...]
    leftovers: int
    """Number of removed files that killed processes had not finished."""


def list_cached_encoders(directory: Path) -> tuple[CachedEncoder, ...]:
    """Return the encoders with cached vectors, most recently used first. Raises SentprobeError on a read error."""
    with _report_failures(directory, "cannot read the cache"):
        encoders = [_summarize_folder(folder) for folder in vector_cache.list_cache_folders(directory)]
    return tuple(sorted(encoders, key=lambda entry: (-entry.used, entry.folder)))


def clear_vectors(directory: Path, *, encoder: str | None = None, older_than: float | None = None) -> RemovedFiles:
    """Remove the cached vectors of the encoders that meet both conditions. Raises UsageError or SentprobeError.

    - encoder: an encoder's name, or at least the first eight digits of its fingerprint; None: all encoders
    - older_than: only encoders that were last used more than this number of days ago; None: all encoders
    """
    chosen = list_cached_encoders(directory)
    if encoder is not None:
        chosen = _select_encoder(chosen, encoder)
    if older_than is not None:
        before = time.time() - older_than * DAY
        chosen = tuple(entry for entry in chosen if entry.used < before)
    size = 0
    for folder in [entry.folder for entry in chosen]:
        files = [*vector_cache.list_vector_files(folder), *vector_cache.list_leftovers(folder)]
        size += sum(map(_remove, [*files, folder / vector_cache.TAG]))  # last, the file that marks a cache folder
        with suppress(OSError):  # the folder has files that sentprobe did not write
            folder.rmdir()
    return RemovedFiles(encoders=len(chosen), size=size)


def clear_inflected_forms(directory: Path, *, older_than: float | None = None) -> list[int]:
    """Remove cached files of word forms that are over *older_than* days old (None: all); return the sizes in bytes."""
    limit = time.time() - DAY * (older_than or 0)
    with _report_failures(directory, "cannot read the cache"):
        paths = find_kept_files(directory)
        if older_than is not None:
            paths = [path for path in paths if path.stat().st_mtime < limit]
    sizes = [_remove(path) for path in paths]
    for folder in {path.parent for path in paths}:
        with suppress(OSError):  # the folder has files that sentprobe did not write
            folder.rmdir()
    return sizes


def check_cache_files(directory: Path) -> CacheCheck:
    """Read all cache files, and remove damaged files and old unfinished files. Raises SentprobeError."""
    with _report_failures(directory, "cannot read the cache"):
        folders = vector_cache.list_cache_folders(directory)
        paths = [path for folder in folders for path in vector_cache.list_vector_files(folder)]
        damaged = tuple(path for path in paths if not _is_undamaged(path))
        old_leftovers = [path for folder in folders for path in vector_cache.list_leftovers(folder) if _is_old(path)]
    for path in (*damaged, *old_leftovers):
        _remove(path)
    return CacheCheck(files=len(paths), damaged=damaged, leftovers=len(old_leftovers))


def _summarize_folder(folder: Path) -> CachedEncoder:
    headers: list[vector_cache.FileHeader] = []
    keys: set[bytes] = set()
    size = 0
    for path in vector_cache.list_vector_files(folder):
        with suppress(vector_cache.DamagedFileError, FileNotFoundError):
            size += path.stat().st_size
            with vector_cache.open_vectors(path) as file:
                headers.append(file.header)
                keys.update(file.read_keys())
    return CachedEncoder(
        folder=folder,
        encoders=tuple(sorted({header.encoder for header in headers})),
        fingerprint=min((header.fingerprint for header in headers), default=""),
        sentences=len(keys),
        dim=max((header.dim for header in headers), default=0),
        size=size,
        used=folder.stat().st_mtime,
    )


def _select_encoder(entries: Sequence[CachedEncoder], encoder: str) -> tuple[CachedEncoder, ...]:
    selected = tuple(
        entry
        for entry in entries
        if encoder in entry.encoders or (len(encoder) >= 8 and entry.fingerprint.startswith(encoder))
    )
    if not selected:
        cached_names = sorted({name for entry in entries for name in entry.encoders})
        near = suggest(encoder, cached_names)
        names = f"it has: {', '.join(cached_names)}" if cached_names else "it is empty"
        raise UsageError(f"encoder {encoder!r} is not in the cache{near}; {names}")
    return selected


def _is_undamaged(path: Path) -> bool:
    try:
        with vector_cache.open_vectors(path) as file:
            file.read_vectors()
    except vector_cache.DamagedFileError:
        return False
    except FileNotFoundError:  # another process has just removed it
        pass
    return True


def _is_old(path: Path) -> bool:
    try:
        return path.stat().st_mtime < time.time() - HOUR
    except FileNotFoundError:
        return False


def _remove(path: Path) -> int:
    """Remove a file; return its size in bytes, or 0 if another process has removed it."""
    with _report_failures(path, "cannot remove it"):
        try:
            size = path.stat().st_size
            path.unlink()
        except FileNotFoundError:
            return 0
    return size


@contextmanager
def _report_failures(path: Path, problem: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SentprobeError(f"{error.filename or path}: {problem}: {error.strerror}") from error
