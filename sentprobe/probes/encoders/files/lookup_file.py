"""The look-up format of Ettinger et al. 2018: one sentence per line, plain, gzip or xz."""

import gzip
import lzma
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from sentprobe.disk.files import decode_lines
from sentprobe.disk.unpacking import limit_unpacking
from sentprobe.errors import FormatError
from sentprobe.probes.encoders.files.vector_file import VectorFile, VectorFileError
from sentprobe.probes.encoders.protocol import Vectors

OPENERS: Mapping[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
"""Functions that open compressed files, by suffix."""


def _open_unpacked(raw: IO[bytes], suffix: str) -> Any:
    return limit_unpacking(OPENERS[suffix](raw), raw.tell) if suffix in OPENERS else raw


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
    with path.open("rb") as raw, _open_unpacked(raw, path.suffix) as file:
        try:
            for number, line in enumerate(decode_lines(file), start=1):
                if text := line.rstrip("\r\n"):
                    yield number, text
        except FormatError as error:
            raise VectorFileError(f"{path}, {error}") from None


def write_lookup(temporary: Path, content: VectorFile, path: Path) -> None:
    """Write the look-up format, compressed by suffix, with nine digits per number. Raises VectorFileError."""
    if content.sentences is None:
        raise VectorFileError(f"{path}: the look-up format wants sentences")
    ids = content.ids if content.ids is not None else tuple(map(str, range(len(content.sentences))))
    for text in (*ids, *content.sentences):
        if not set("\t\n\r").isdisjoint(text):
            raise VectorFileError(f"{path}: {text!r} has a tab or an end of line in it")
    number_format = " ".join(["%.9g"] * content.vectors.shape[1])
    with temporary.open("wb") as raw, _open_packed(raw, path.suffix) as file:
        for name, sentence, row in zip(ids, content.sentences, content.vectors, strict=True):
            file.write(f"{name}\t{sentence}\t{number_format % tuple(row.tolist())}\n".encode())


def _open_packed(raw: IO[bytes], suffix: str) -> Any:
    if suffix == ".gz":
        return gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0)
    return lzma.open(raw, "wb") if suffix == ".xz" else raw
