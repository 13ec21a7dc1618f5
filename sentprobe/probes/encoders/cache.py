"""The embedding cache: sentence vectors on disk, looked up by the encoder's fingerprint and the sentence.

A file has a JSON line (format, encoder, fingerprint, rows, dim), a 16-byte key for each sentence, and the vectors as
little-endian float32. The name of a file is the digest of its content. Complete files are renamed to this name, so
several processes can share a folder without locks. A cache failure does not stop a run: each type of failure is logged
once, and the sentences are encoded again.

List, clear and check the files of the embedding cache, for the command ``probe cache``.
"""

import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from sentprobe.common.errors import FormatError, SentprobeError, UsageError, suggest
from sentprobe.common.files import atomic_path
from sentprobe.common.values import parse_json
from sentprobe.lexicon.lexicon import find_kept_files
from sentprobe.probes.datasets.dataset import Indices
from sentprobe.probes.encoders.encoder import Encoder, Vectors, digest

log = logging.getLogger(__name__)

FORMAT = "sentprobe-vectors 1"
"""The format name in each file's first line. Another name counts as damage, so a new format needs a new file suffix."""
KEY_BYTES = 16
"""Number of bytes of the key that identifies a sentence."""
MAX_HEADER_BYTES = 1 << 20
"""Maximum length of the JSON line, in bytes."""
TAG = "CACHEDIR.TAG"
"""Name of the file that marks a cache folder; backup programs skip a folder with this file."""

TAG_TEXT = """\
Signature: 8a477f597d28d172789f06886806bc55
# Sentence vectors kept by sentprobe; see `probe cache --help`. Safe to remove.
# The first line is explained at https://bford.info/cachedir/
"""

_FOLDER = re.compile(r"vectors-[0-9a-f]{40}")
_FILE = re.compile(r"[0-9a-f]{32}\.vectors")
_LEFTOVER = re.compile(r"\.[0-9a-f]{32}\.vectors\.\w+\.part")


class DamagedFileError(SentprobeError):
    """The content of a cache file is damaged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHeader:
    """The first line of a cache file: name and fingerprint of the encoder, number and width of the vectors."""

    encoder: str
    fingerprint: str
    rows: int
    dim: int

    def __post_init__(self) -> None:
        texts = isinstance(self.encoder, str) and isinstance(self.fingerprint, str)
        if not (texts and all(type(n) is int and n > 0 for n in (self.rows, self.dim))):
            raise TypeError("not the head of a file of vectors")


def format_header(header: FileHeader) -> bytes:
    """Return the first line of a cache file; the inverse of :func:`parse_header`."""
    return json.dumps({"format": FORMAT} | asdict(header)).encode() + b"\n"


def parse_header(line: bytes) -> FileHeader:
    """Parse the first line of a cache file. Raises DamagedFileError."""
    try:
        value = parse_json(line)
        if value.pop("format") == FORMAT and line.endswith(b"\n"):
            return FileHeader(**value)
    except (FormatError, TypeError, KeyError, AttributeError):
        pass
    raise DamagedFileError("its first line is damaged")


def compute_sentence_key(sentence: str) -> bytes:
    text = sentence.encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).digest()[:KEY_BYTES]


class CacheFile:
    """An open cache file, whose vectors are read on demand. Raises DamagedFileError or OSError."""

    def __init__(self, file: BinaryIO, *, name: str) -> None:
        self._file = file
        self._name = name
        line = file.readline(MAX_HEADER_BYTES)
        self.header = parse_header(line)
        row_bytes = KEY_BYTES + 4 * self.header.dim
        if os.fstat(file.fileno()).st_size != len(line) + self.header.rows * row_bytes:
            raise DamagedFileError("it is not as long as its first line says")
        self._start = line + file.read(self.header.rows * KEY_BYTES)

    def read_keys(self) -> list[bytes]:
        keys = self._start[-self.header.rows * KEY_BYTES :]
        row_keys: list[bytes] = np.frombuffer(keys, f"V{KEY_BYTES}").tolist()
        return row_keys

    def read_vectors(self) -> Vectors:
        """Return the vectors, (rows, dim) float32; works only once. Raises DamagedFileError."""
        body = self._file.read()
        if _compute_file_name([self._start, body]) != self._name:
            raise DamagedFileError("its content does not fit its name")
        array = np.frombuffer(body, "<f4").reshape(self.header.rows, self.header.dim)
        return array.astype(np.float32, copy=False)


def write_vectors(folder: Path, header: FileHeader, sentences: Sequence[str], vectors: Vectors) -> Path:
    """Write the vectors of *sentences*, (rows, dim) float32, to a new cache file. Raises SentprobeError or OSError."""
    keys = b"".join(map(compute_sentence_key, sentences))
    body = np.ascontiguousarray(vectors, dtype="<f4").data.cast("B")
    parts: list[bytes | memoryview] = [format_header(header), keys, body]
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / TAG).exists():
        with atomic_path(folder / TAG) as temporary:
            temporary.write_bytes(TAG_TEXT.encode())
    path = folder / _compute_file_name(parts)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        file.writelines(parts)
    return path


@contextmanager
def open_vectors(path: Path) -> Iterator[CacheFile]:
    """Open a cache file for reading. Raises DamagedFileError or OSError."""
    with path.open("rb") as file:
        yield CacheFile(file, name=path.name)


def find_encoder_folder(directory: Path, fingerprint: str) -> Path:
    return directory / f"vectors-{digest(fingerprint)[:40]}"


def list_cache_folders(directory: Path) -> list[Path]:
    """Return the cache folders in *directory*, recognised by name and marker; none if *directory* is missing."""
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if _is_cache_folder(path))


def list_vector_files(folder: Path) -> list[Path]:
    """Return the vector files in *folder*, sorted by name; an empty list if *folder* is missing."""
    return _list_matching_files(folder, _FILE)


def list_leftovers(folder: Path) -> list[Path]:
    """Return the unfinished files in *folder*: those of killed processes, and those that are being written now."""
    return _list_matching_files(folder, _LEFTOVER)


def _list_matching_files(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if pattern.fullmatch(path.name))
    except FileNotFoundError:
        return []


def _is_cache_folder(folder: Path) -> bool:
    if not _FOLDER.fullmatch(folder.name) or folder.is_symlink():
        return False
    try:
        return (folder / TAG).read_bytes() == TAG_TEXT.encode()
    except OSError:
        return False


def _compute_file_name(parts: Sequence[bytes | memoryview]) -> str:
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(part)
    return f"{hasher.hexdigest()[:32]}.vectors"


class Cache:
    """The embedding cache in *directory*, which is created when vectors are first written."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory.absolute()
        self._warned: set[str] = set()
        self._is_writable = True

    def read(self, encoder: Encoder, sentences: Sequence[str]) -> Iterator[tuple[Indices, Vectors]]:
        """Look up distinct *sentences*, one cache file at a time; remove damaged files.

        Yields positions in *sentences*, (k,) int64, and the vectors of these k sentences, (k, dim) float32.
        """
        missing = {compute_sentence_key(text): position for position, text in enumerate(sentences)}
        for path in self._list_files(encoder):
            if not missing:
                return
            part = self._read_file(path, missing, fingerprint=encoder.fingerprint)
            if part is not None:
                yield part

    def write(self, encoder: Encoder, sentences: Sequence[str], vectors: Vectors) -> None:
        """Write the vectors of *sentences*, (n, dim) float32, to the cache; do nothing if the cache failed before."""
        if not (self._is_writable and len(sentences)):
            return
        header = FileHeader(
            encoder=encoder.name, fingerprint=encoder.fingerprint, rows=vectors.shape[0], dim=vectors.shape[1]
        )
        folder = find_encoder_folder(self.directory, encoder.fingerprint)
        try:
            write_vectors(folder, header, sentences, vectors)
        except (OSError, SentprobeError) as error:
            self._is_writable = False
            self._warn_once("%s; sentence vectors are no longer kept in the cache", _format_reason(error))

    def _list_files(self, encoder: Encoder) -> list[Path]:
        folder = find_encoder_folder(self.directory, encoder.fingerprint)
        try:
            paths = list_vector_files(folder)
        except OSError as error:
            self._is_writable = False
            self._warn_once("%s; the cache is not used", _format_reason(error))
            return []
        if paths:
            with suppress(OSError):  # the modification time of the folder says when its vectors were last used
                os.utime(folder)
        return paths

    def _read_file(self, path: Path, missing: dict[bytes, int], *, fingerprint: str) -> tuple[Indices, Vectors] | None:
        """Return the positions and the vectors of those *missing* sentences that a cache file contains.

        *missing* maps a sentence's key to its position; keys found are removed. Returns None if no vector was read.
        """
        try:
            with open_vectors(path) as file:
                rows_by_key = {k: row for row, k in enumerate(file.read_keys()) if k in missing}
                if file.header.fingerprint != fingerprint or not rows_by_key:
                    return None
                vectors = file.read_vectors()
        except FileNotFoundError:  # another process has just removed it
            return None
        except DamagedFileError:
            self._warn_once("the cache %s has damaged files; their sentences are encoded again", path.parent)
            with suppress(OSError):
                path.unlink()
            return None
        except OSError as error:
            self._warn_once("%s; its sentences are encoded again", _format_reason(error))
            return None
        positions = np.array([missing.pop(key) for key in rows_by_key], dtype=np.int64)
        return positions, vectors[list(rows_by_key.values())]

    def _warn_once(self, message: str, subject: object) -> None:
        if message not in self._warned:
            self._warned.add(message)
            log.warning(message, subject)


def _format_reason(error: OSError | SentprobeError) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


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


def list_cached_encoders(directory: Path) -> tuple[CachedEncoder, ...]:
    """Return the encoders with cached vectors, most recently used first. Raises SentprobeError on a read error."""
    with _report_failures(directory, "cannot read the cache"):
        encoders = [_summarize_folder(folder) for folder in list_cache_folders(directory)]
    return tuple(sorted(encoders, key=lambda entry: (-entry.used, entry.folder)))


def clear_vectors(directory: Path, *, encoder: str | None = None, older_than: float | None = None) -> tuple[int, int]:
    """Remove the cached vectors of the encoders that meet both conditions. Raises UsageError or SentprobeError.

    Returns the number of these encoders, and the size of the removed files in bytes.

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
        files = [*list_vector_files(folder), *list_leftovers(folder)]
        size += sum(map(_remove, [*files, folder / TAG]))  # last, the file that marks a cache folder
        with suppress(OSError):  # the folder has files that sentprobe did not write
            folder.rmdir()
    return len(chosen), size


def clear_inflected_forms(directory: Path, *, older_than: float | None) -> list[int]:
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


def check_cache_files(directory: Path) -> tuple[int, list[Path], int]:
    """Read all cache files, and remove damaged ones and old ones that killed processes had not finished.

    Returns the number of files, the removed damaged files, and the number of unfinished ones. Raises SentprobeError.
    """
    with _report_failures(directory, "cannot read the cache"):
        folders = list_cache_folders(directory)
        paths = [path for folder in folders for path in list_vector_files(folder)]
        damaged = [path for path in paths if not _is_undamaged(path)]
        old_leftovers = [path for folder in folders for path in list_leftovers(folder) if _is_old(path)]
    for path in (*damaged, *old_leftovers):
        _remove(path)
    return len(paths), damaged, len(old_leftovers)


def _summarize_folder(folder: Path) -> CachedEncoder:
    headers: list[FileHeader] = []
    keys: set[bytes] = set()
    size = 0
    for path in list_vector_files(folder):
        with suppress(DamagedFileError, FileNotFoundError):
            size += path.stat().st_size
            with open_vectors(path) as file:
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
        with open_vectors(path) as file:
            file.read_vectors()
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
