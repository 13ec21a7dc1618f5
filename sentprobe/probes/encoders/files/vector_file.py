"""The content of a file of sentence vectors, its check, and the look-up format of Ettinger et al. 2018."""

import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np

from sentprobe.disk.files import decode_lines
from sentprobe.disk.unpacking import limit_unpacking
from sentprobe.errors import FormatError
from sentprobe.probes.encoders.protocol import EncoderError, Vectors

Texts = tuple[str, ...]

UNREADABLE = (
    EOFError, ValueError, RuntimeError, MemoryError, OverflowError, LookupError, TypeError,
    SyntaxError, SystemError, TokenError, lzma.LZMAError, zlib.error, BadZipFile,
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class VectorFile:
    """Sentence vectors, (n, dim) float32, with optional sentences and ids."""

    vectors: Vectors
    sentences: Texts | None = None
    ids: Texts | None = None


class VectorFileError(EncoderError):
    """A file of sentence vectors cannot be read, or contradicts itself."""


def check_vector_file(file: VectorFile, path: Path) -> VectorFile:
    """Return the content with float32 vectors if vectors and texts fit together."""
    array = file.vectors
    if not isinstance(array, np.ndarray):  # a member of an npz that is no array
        raise VectorFileError(f"{path}: 'vectors' is no array")
    if array.ndim != 2 or 0 in array.shape:
        raise VectorFileError(f"{path}: vectors of shape {array.shape}; (sentences, dim) is wanted")
    if not np.issubdtype(array.dtype, np.floating):
        raise VectorFileError(f"{path}: vectors of {array.dtype}; floating point is wanted")
    for kind, texts in (("sentences", file.sentences), ("ids", file.ids)):
        if texts is not None and len(texts) != len(array):
            raise VectorFileError(f"{path}: {len(texts)} {kind} for {len(array)} vectors")
    with np.errstate(over="ignore"):
        vectors = np.ascontiguousarray(array, dtype=np.float32)
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        texts = file.sentences or file.ids
        quoted_text = f" ({texts[bad[0]]!r})" if texts else ""
        raise VectorFileError(f"{path}: the vector in row {bad[0]}{quoted_text} is not finite")
    return VectorFile(vectors, file.sentences, file.ids)


OPENERS: Mapping[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
"""Functions that open compressed files, by suffix."""


def read_lookup(path: Path) -> VectorFile:
    """Read lines of id, sentence and numbers, separated by tabs; spaces separate numbers. Raises VectorFileError."""
    ids: list[str] = []
    sentences: list[str] = []
    rows: list[Vectors] = []
    for number, line in read_lines(path):
        place = f"{path}, line {number}"
        fields = line.split("\t")
        if len(fields) != 3:
            raise VectorFileError(
                f"{place}: {len(fields)} fields; id, sentence and vector are wanted, with tabs between them"
            )
        row = _parse_vector(fields[2], place=place)
        if rows and len(row) != len(rows[0]):
            raise VectorFileError(f"{place}: {len(row)} numbers; the lines before have {len(rows[0])}")
        ids.append(fields[0])
        sentences.append(fields[1])
        rows.append(row)
    if not rows:
        raise VectorFileError(f"{path}: no vectors in this file")
    return VectorFile(np.stack(rows), tuple(sentences), tuple(ids))


def _parse_vector(text: str, *, place: str) -> Vectors:
    try:
        numbers = [float(part) for part in text.split()]
    except ValueError as error:
        raise VectorFileError(f"{place}: {error}") from None
    if not numbers:
        raise VectorFileError(f"{place}: there are no numbers")
    with np.errstate(over="ignore"):
        row = np.array(numbers, dtype=np.float32)
    if not np.isfinite(row).all():
        raise VectorFileError(f"{place}: the vector is not finite")
    return row


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers from 1. Raises VectorFileError if a line is not UTF-8."""
    with (
        path.open("rb") as raw,
        limit_unpacking(OPENERS[path.suffix](raw), raw.tell) if path.suffix in OPENERS else raw as file,
    ):
        try:
            for number, line in enumerate(decode_lines(file), start=1):
                if text := line.rstrip("\r\n"):
                    yield number, text
        except FormatError as error:
            raise VectorFileError(f"{path}, {error}") from None


def write_lookup(temporary: Path, vectors: Vectors, sentences: Texts, path: Path) -> None:
    """Write the look-up format, compressed by suffix, with nine digits per number; ids count the rows."""
    for text in sentences:
        if not set("\t\n\r").isdisjoint(text):
            raise VectorFileError(f"{path}: {text!r} has a tab or an end of line in it")
    number_format = " ".join(["%.9g"] * vectors.shape[1])
    with temporary.open("wb") as raw, _open_packed(raw, path.suffix) as file:
        for name, (sentence, row) in enumerate(zip(sentences, vectors, strict=True)):
            file.write(f"{name}\t{sentence}\t{number_format % tuple(row.tolist())}\n".encode())


def _open_packed(raw: IO[bytes], suffix: str) -> Any:
    if suffix == ".gz":
        return gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0)
    return lzma.open(raw, "wb") if suffix == ".xz" else raw
