"""The cache of sentence vectors on disk, by encoder fingerprint and sentence.

A file is a line of JSON (format, encoder, fingerprint, rows, dim), then a 16-byte key for each
sentence, then the vectors, (rows, dim) little-endian float32. It is named after the digest of all
that, so a file that was damaged no longer fits its name. It is written beside its place and then
renamed: under its name it is whole, whatever is killed when.

A folder holds the files of one encoder and a tag that says whose it is. What is named otherwise is
not ours and is never touched.

Several processes may share it: files are added and removed whole, and there are no locks. No
trouble with it ends a run: it is told once, and the sentences are encoded again.
"""

import hashlib
import json
import logging
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from sentprobe.errors import FormatError, SentprobeError
from sentprobe.files import atomic_path
from sentprobe.probes.dataset import Indices
from sentprobe.probes.encoders.protocol import Encoder, Vectors, digest
from sentprobe.values import parse_json

FORMAT = "sentprobe-vectors 1"
"""The first value in each file. A later format needs another suffix too: what is not as here counts
as damaged, and is removed."""

KEY_BYTES = 16
"""What a sentence is found by: this much of a digest of its text."""

LONGEST_HEAD = 1 << 20
"""More bytes than the line of JSON can have."""

TAG = "CACHEDIR.TAG"
"""The file that makes a folder ours; by its first line, backup programs leave the folder out."""

TAG_TEXT = """\
Signature: 8a477f597d28d172789f06886806bc55
# Sentence vectors kept by sentprobe; see `probe cache --help`. Safe to remove.
# The first line is explained at https://bford.info/cachedir/
"""

_FOLDER = re.compile(r"vectors-[0-9a-f]{40}")
_FILE = re.compile(r"[0-9a-f]{32}\.vectors")
_LEFTOVER = re.compile(r"\.[0-9a-f]{32}\.vectors\.\w+\.part")


class DamagedFileError(SentprobeError):
    """A file of the cache is not as it was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The first line of a file: whose vectors, how many and how wide."""

    encoder: str
    fingerprint: str
    rows: int
    dim: int

    def __post_init__(self) -> None:
        texts = isinstance(self.encoder, str) and isinstance(self.fingerprint, str)
        if not (texts and all(type(n) is int and n > 0 for n in (self.rows, self.dim))):
            raise TypeError("not the head of a file of vectors")


def format_head(head: Head) -> bytes:
    """Write the first line of a file; the inverse of parse_head.

    >>> head = Head(encoder="bow", fingerprint="f00", rows=2, dim=3)
    >>> parse_head(format_head(head)) == head
    True
    """
    return json.dumps({"format": FORMAT} | asdict(head)).encode() + b"\n"


def parse_head(line: bytes) -> Head:
    """Read the first line of a file, or raise DamagedFileError."""
    try:
        value = parse_json(line)
        if value.pop("format") == FORMAT and line.endswith(b"\n"):
            return Head(**value)
    except (FormatError, TypeError, KeyError, AttributeError):
        pass
    raise DamagedFileError("its first line is damaged")


def sentence_key(sentence: str) -> bytes:
    """Return what a sentence is found by."""
    text = sentence.encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).digest()[:KEY_BYTES]


class CacheFile:
    """An open file of the cache: head and keys are read, the vectors on demand.

    Raises:
        DamagedFileError: the head cannot be read, or the size is not what it says.
        OSError: the file cannot be read.
    """

    def __init__(self, file: BinaryIO, *, name: str) -> None:
        self._file = file
        self._name = name
        line = file.readline(LONGEST_HEAD)
        self.head = parse_head(line)
        row_bytes = KEY_BYTES + 4 * self.head.dim
        if os.fstat(file.fileno()).st_size != len(line) + self.head.rows * row_bytes:
            raise DamagedFileError("it is not as long as its first line says")
        self._start = line + file.read(self.head.rows * KEY_BYTES)

    def keys(self) -> list[bytes]:
        """Return the key of each row."""
        keys = self._start[-self.head.rows * KEY_BYTES :]
        found: list[bytes] = np.frombuffer(keys, f"V{KEY_BYTES}").tolist()
        return found

    def vectors(self) -> Vectors:
        """Return the vectors, (rows, dim) float32, or raise DamagedFileError; call it once."""
        body = self._file.read()
        if _name([self._start, body]) != self._name:
            raise DamagedFileError("its content does not fit its name")
        array = np.frombuffer(body, "<f4").reshape(self.head.rows, self.head.dim)
        return array.astype(np.float32, copy=False)


def write_vectors(folder: Path, head: Head, sentences: Sequence[str], vectors: Vectors) -> Path:
    """Write the vectors of *sentences*, (rows, dim) float32, into a new file of *folder*.

    Raises:
        SentprobeError, OSError: it cannot be written; nothing is left behind.
    """
    keys = b"".join(map(sentence_key, sentences))
    body = np.ascontiguousarray(vectors, dtype="<f4").data.cast("B")
    parts: list[bytes | memoryview] = [format_head(head), keys, body]
    _prepare(folder)
    path = folder / _name(parts)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        file.writelines(parts)
    return path


@contextmanager
def open_vectors(path: Path) -> Iterator[CacheFile]:
    """Open a file of the cache for reading.

    Raises:
        DamagedFileError, OSError: see :class:`VectorFile`.
    """
    with path.open("rb") as file:
        yield CacheFile(file, name=path.name)


def folder_of(directory: Path, fingerprint: str) -> Path:
    """Return the folder for the vectors of the encoder with that fingerprint."""
    return directory / f"vectors-{digest(fingerprint)[:40]}"


def our_folders(directory: Path) -> list[Path]:
    """Return the folders in *directory* that are ours by name and tag; none if it is not there."""
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if _is_ours(path))


def our_files(folder: Path) -> list[Path]:
    """Return the files of vectors in *folder*, sorted; none if it is not there."""
    return _matching(folder, _FILE)


def leftovers(folder: Path) -> list[Path]:
    """Return what was being written into *folder* when a process was killed, or is right now."""
    return _matching(folder, _LEFTOVER)


def _matching(folder: Path, name: re.Pattern[str]) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if name.fullmatch(path.name))
    except FileNotFoundError:
        return []


def _is_ours(folder: Path) -> bool:
    if not _FOLDER.fullmatch(folder.name) or folder.is_symlink():
        return False
    try:
        return (folder / TAG).read_bytes() == TAG_TEXT.encode()
    except OSError:
        return False


def _prepare(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / TAG).exists():
        with atomic_path(folder / TAG) as temporary:
            temporary.write_bytes(TAG_TEXT.encode())


def _name(parts: Sequence[bytes | memoryview]) -> str:
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(part)
    return f"{hasher.hexdigest()[:32]}.vectors"


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class CachedVectors:
    """Some vectors, (k, dim) float32, and the places (k,) int64 of their sentences."""

    places: Indices
    vectors: Vectors


class Cache:
    """Sentence vectors kept in *directory*, which is made when something is first written.

    >>> Cache(Path("vectors")).directory.name
    'vectors'
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory.absolute()
        self._told: set[str] = set()
        self._writes = True

    def read(self, encoder: Encoder, sentences: Sequence[str]) -> Iterator[CachedVectors]:
        """Yield the vectors that are kept for *sentences* (all different), each at most once.

        A damaged file is removed; it is as if it had not been there.
        """
        wanted = {sentence_key(text): place for place, text in enumerate(sentences)}
        for path in self._files(encoder):
            if not wanted:
                return
            part = self._take(path, wanted, fingerprint=encoder.fingerprint)
            if part is not None:
                yield part

    def write(self, encoder: Encoder, sentences: Sequence[str], vectors: Vectors) -> None:
        """Keep the vectors of *sentences*, (n, dim) float32; after a failure, none any more."""
        if not (self._writes and len(sentences)):
            return
        head = Head(
            encoder=encoder.name,
            fingerprint=encoder.fingerprint,
            rows=vectors.shape[0],
            dim=vectors.shape[1],
        )
        folder = folder_of(self.directory, encoder.fingerprint)
        try:
            write_vectors(folder, head, sentences, vectors)
        except (OSError, SentprobeError) as error:
            self._writes = False
            self._tell("%s; sentence vectors are no longer kept in the cache", _reason(error))

    def _files(self, encoder: Encoder) -> list[Path]:
        folder = folder_of(self.directory, encoder.fingerprint)
        try:
            paths = our_files(folder)
        except OSError as error:
            self._writes = False
            self._tell("%s; the cache is not used", _reason(error))
            return []
        if paths:
            with suppress(OSError):  # the time of the folder says when it was last used
                os.utime(folder)
        return paths

    def _take(
        self, path: Path, wanted: dict[bytes, int], *, fingerprint: str
    ) -> CachedVectors | None:
        """Return what is wanted from one file, and strike it off *wanted*."""
        try:
            with open_vectors(path) as file:
                found = {k: row for row, k in enumerate(file.keys()) if k in wanted}
                if file.head.fingerprint != fingerprint or not found:
                    return None
                vectors = file.vectors()
        except FileNotFoundError:  # another process has just removed it
            return None
        except DamagedFileError:
            self._discard(path)
            return None
        except OSError as error:
            self._tell("%s; its sentences are encoded again", _reason(error))
            return None
        places = np.array([wanted.pop(key) for key in found], dtype=np.int64)
        return CachedVectors(places, vectors[list(found.values())])

    def _discard(self, path: Path) -> None:
        self._tell("the cache %s has damaged files; their sentences are encoded again", path.parent)
        with suppress(OSError):
            path.unlink()

    def _tell(self, message: str, subject: object) -> None:
        """Warn once of each kind of trouble."""
        if message not in self._told:
            self._told.add(message)
            log.warning(message, subject)


def _reason(error: OSError | SentprobeError) -> str:
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    return str(error)
