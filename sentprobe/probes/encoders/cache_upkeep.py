"""What is in the cache, and clearing and checking it."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sentprobe.errors import SentprobeError, UsageError, suggest
from sentprobe.lexicon.memory import kept_files
from sentprobe.probes.encoders.cache import (
    TAG,
    DamagedFileError,
    leftovers,
    open_vectors,
    our_files,
    our_folders,
)

DAY = 24 * 60 * 60
"""Seconds."""

HOUR = 60 * 60
"""Seconds; what was being written for longer was left by a process that was killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedEncoder:
    """What is kept of one encoder (by fingerprint)."""

    folder: Path
    encoders: tuple[str, ...]
    """The names under which it was used."""
    fingerprint: str
    sentences: int
    dim: int
    size: int
    """Bytes."""
    used: float
    """When it was last read or added to, in seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What was taken away."""

    encoders: int
    size: int
    """Bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """How many files were read, and which of them were damaged and are gone."""

    files: int
    damaged: tuple[Path, ...]
    leftovers: int
    """Parts of files that a killed process had left, now gone."""


def entries(directory: Path) -> tuple[CachedEncoder, ...]:
    """Return what is in the cache, the last used first; nothing if there is no cache there.

    Raises:
        SentprobeError: *directory* cannot be read.
    """
    with _failing(directory, "cannot read the cache"):
        found = [_entry(folder) for folder in our_folders(directory)]
    return tuple(sorted(found, key=lambda entry: (-entry.used, entry.folder)))


def clear(
    directory: Path, *, encoder: str | None = None, older_than: float | None = None
) -> Removed:
    """Remove what is kept of all encoders, or of those chosen; nothing that is not ours.

    *encoder* is the name of one or the beginning of its fingerprint (8 characters or more);
    *older_than* chooses those last used so many days ago.

    Raises:
        UsageError: there is no such encoder in the cache.
        SentprobeError: something cannot be removed.
    """
    chosen = entries(directory)
    if encoder is not None:
        chosen = _of_encoder(chosen, encoder)
    if older_than is not None:
        before = time.time() - older_than * DAY
        chosen = tuple(entry for entry in chosen if entry.used < before)
    removed = [_remove(path) for entry in chosen for path in _removable(entry.folder)]
    for entry in chosen:
        with suppress(OSError):  # something in it is not ours
            entry.folder.rmdir()
    return Removed(encoders=len(chosen), size=sum(removed))


def clear_forms(directory: Path, *, older_than: float | None = None) -> list[int]:
    """Remove the inflected forms that are kept for lexicons; return the size of each file.

    *older_than* chooses those that were written so many days ago.

    Raises:
        SentprobeError: something cannot be read or removed.
    """
    limit = time.time() - DAY * (older_than or 0)
    with _failing(directory, "cannot read the cache"):
        paths = kept_files(directory)
        if older_than is not None:
            paths = [path for path in paths if path.stat().st_mtime < limit]
    sizes = [_remove(path) for path in paths]
    for folder in {path.parent for path in paths}:
        with suppress(OSError):  # something in it is not ours
            folder.rmdir()
    return sizes


def check(directory: Path) -> Checked:
    """Read every file; remove those that are damaged and what killed processes left.

    Raises:
        SentprobeError: something cannot be read or removed.
    """
    with _failing(directory, "cannot read the cache"):
        folders = our_folders(directory)
        paths = [path for folder in folders for path in our_files(folder)]
        damaged = tuple(path for path in paths if not _is_whole(path))
        old = [path for folder in folders for path in leftovers(folder) if _is_old(path)]
    for path in (*damaged, *old):
        _remove(path)
    return Checked(files=len(paths), damaged=damaged, leftovers=len(old))


def _entry(folder: Path) -> CachedEncoder:
    names: set[str] = set()
    fingerprints: set[str] = set()
    keys: set[bytes] = set()
    dims: set[int] = set()
    size = 0
    for path in our_files(folder):
        with suppress(DamagedFileError, FileNotFoundError):
            size += path.stat().st_size
            with open_vectors(path) as file:
                names.add(file.head.encoder)
                fingerprints.add(file.head.fingerprint)
                dims.add(file.head.dim)
                keys.update(file.keys())
    return CachedEncoder(
        folder=folder,
        encoders=tuple(sorted(names)),
        fingerprint=min(fingerprints, default=""),
        sentences=len(keys),
        dim=max(dims, default=0),
        size=size,
        used=folder.stat().st_mtime,
    )


def _of_encoder(chosen: Sequence[CachedEncoder], encoder: str) -> tuple[CachedEncoder, ...]:
    found = tuple(entry for entry in chosen if _is_called(entry, encoder))
    if not found:
        known = sorted({name for entry in chosen for name in entry.encoders})
        near = suggest(encoder, known)
        names = f"in it: {', '.join(known)}" if known else "it is empty"
        raise UsageError(f"encoder {encoder!r} is not in the cache{near}; {names}")
    return found


def _is_called(entry: CachedEncoder, encoder: str) -> bool:
    return encoder in entry.encoders or (
        len(encoder) >= 8 and entry.fingerprint.startswith(encoder)
    )


def _removable(folder: Path) -> Iterable[Path]:
    """Yield what is ours in a folder; the tag last, since it is what says so."""
    yield from our_files(folder)
    yield from leftovers(folder)
    yield folder / TAG


def _is_whole(path: Path) -> bool:
    try:
        with open_vectors(path) as file:
            file.vectors()
    except DamagedFileError:
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
    """Remove a file and return its size; 0 if another process was quicker."""
    with _failing(path, "cannot remove it"):
        try:
            size = path.stat().st_size
            path.unlink()
        except FileNotFoundError:
            return 0
    return size


@contextmanager
def _failing(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SentprobeError(f"{error.filename or path}: {what}: {error.strerror}") from error
