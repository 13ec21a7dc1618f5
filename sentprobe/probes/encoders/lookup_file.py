"""The look-up format of Ettinger et al. 2018: a line a sentence, plain or packed by gzip or xz."""

import gzip
import lzma
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from sentprobe.errors import FormatError
from sentprobe.files import decode_lines
from sentprobe.probes.encoders.protocol import Vectors
from sentprobe.probes.encoders.vector_file import VectorFile, VectorFileError
from sentprobe.unpacking import proportionate

OPENERS: Mapping[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
"""How a packed file is opened, by its last suffix."""


def _unpacker(raw: IO[bytes], suffix: str) -> Any:
    return proportionate(OPENERS[suffix](raw), raw.tell) if suffix in OPENERS else raw


def read_lookup(path: Path) -> VectorFile:
    """Read lines of id, sentence and numbers: tabs between the three, spaces between numbers.

    Empty lines are passed over.

    Raises:
        VectorFileError: a line is wrong; says which.
    """
    ids: list[str] = []
    sentences: list[str] = []
    rows: list[Vectors] = []
    for number, line in lines_of(path):
        place = f"{path}, line {number}"
        fields = line.split("\t")
        if len(fields) != 3:
            raise VectorFileError(
                f"{place}: {len(fields)} fields; id, sentence and vector are wanted, with tabs "
                "between them"
            )
        row = _numbers(fields[2], place=place)
        if rows and len(row) != len(rows[0]):
            raise VectorFileError(
                f"{place}: {len(row)} numbers; the lines before have {len(rows[0])}"
            )
        ids.append(fields[0])
        sentences.append(fields[1])
        rows.append(row)
    if not rows:
        raise VectorFileError(f"{path}: no vectors in this file")
    return VectorFile(np.stack(rows), tuple(sentences), tuple(ids))


def _numbers(text: str, *, place: str) -> Vectors:
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


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, counted from 1, without their ends.

    Raises:
        VectorFileError: a line is not UTF-8; says which.
    """
    with path.open("rb") as raw, _unpacker(raw, path.suffix) as file:
        try:
            for number, line in enumerate(decode_lines(file), start=1):
                if text := line.rstrip("\r\n"):
                    yield number, text
        except FormatError as error:
            raise VectorFileError(f"{path}, {error}") from None


def write_lookup(temporary: Path, made: VectorFile, path: Path) -> None:
    """Write the look-up format, packed as the suffix of *path* says.

    Nine digits give back each float32 exactly.

    Raises:
        VectorFileError: there are no sentences; a text has a tab or an end of line in it.
    """
    if made.sentences is None:
        raise VectorFileError(f"{path}: the look-up format wants sentences")
    ids = made.ids if made.ids is not None else tuple(map(str, range(len(made.sentences))))
    for text in (*ids, *made.sentences):
        if not set("\t\n\r").isdisjoint(text):
            raise VectorFileError(f"{path}: {text!r} has a tab or an end of line in it")
    form = " ".join(["%.9g"] * made.vectors.shape[1])
    with temporary.open("wb") as raw, _packer(raw, path.suffix) as file:
        for name, sentence, row in zip(ids, made.sentences, made.vectors, strict=True):
            file.write(f"{name}\t{sentence}\t{form % tuple(row.tolist())}\n".encode())


def _packer(raw: IO[bytes], suffix: str) -> Any:
    if suffix == ".gz":
        return gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0)
    return lzma.open(raw, "wb") if suffix == ".xz" else raw
