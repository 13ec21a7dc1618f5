"""Files of word vectors: which format a file has, and the formats that are text."""

import gzip
import hashlib
import math
import zlib
from collections.abc import Iterator, Sequence
from enum import StrEnum
from io import BufferedReader
from pathlib import Path

import numpy as np

from sentprobe.errors import SentprobeError, path_error
from sentprobe.probes.encoders.protocol import EncoderError, Vectors
from sentprobe.probes.encoders.wordvectors import WordVectors

SAMPLE = 4096
"""How many bytes after the first line decide whether a file is text."""

CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\r\f\v")
"""Bytes that are in no text, and in nearly every few binary numbers."""

FASTTEXT_MAGIC = (793712314).to_bytes(4, "little")
"""The first bytes of a fastText model (Bojanowski et al. 2017), as its own program writes it."""


class WordFormat(StrEnum):
    """The formats of word vectors; text is GloVe's and word2vec's, and fastText's ``.vec``."""

    TEXT = "text"
    WORD2VEC = "word2vec binary"
    FASTTEXT = "fastText binary"


def read_word_vectors(path: Path) -> WordVectors:
    """Read a file of word vectors in any of the formats, by what is in it; gzip or not.

    Raises:
        EncoderError: it is not such a file, or damaged; a binary one needs the extra ``gensim``.
    """
    found = word_format(path)
    if found is WordFormat.TEXT:
        return read_text(path)
    from sentprobe.probes.encoders.wordbinary import read_binary  # noqa: PLC0415

    return read_binary(path, fasttext=found is WordFormat.FASTTEXT)


def word_format(path: Path) -> WordFormat:
    """Say which format a file of word vectors has, by its first bytes."""
    try:
        with open_plain(path) as file:
            header = file.readline(SAMPLE)
            sample = file.read(SAMPLE)
    except (OSError, EOFError, zlib.error) as error:
        raise cannot_read(path, error) from None
    if header.startswith(FASTTEXT_MAGIC):
        return WordFormat.FASTTEXT
    if is_header(header.split()) and _is_binary(sample):
        return WordFormat.WORD2VEC
    return WordFormat.TEXT


def _is_binary(sample: bytes) -> bool:
    return not CONTROLS.isdisjoint(sample)


def read_text(path: Path) -> WordVectors:
    """Read a text file of word vectors: GloVe, or word2vec's with its line of counts; gzip or not.

    A line is the word, then dim numbers, separated by single spaces. A word may have spaces in
    it (some in GloVe 840B have). When a word comes twice, the first line counts.

    Raises:
        EncoderError: the file cannot be read, or a line of it is wrong; says which.
    """
    table: dict[str, Vectors] = {}
    hasher = hashlib.sha256()
    dim = 0
    squares = 0.0
    for number, line in _lines(path):
        hasher.update(line)
        fields = line.split()
        if number == 1 and is_header(fields):
            dim = int(fields[1])
            continue
        dim = dim or len(fields) - 1
        word, vector = _entry(fields, dim, place=f"{path}, line {number}")
        if table.setdefault(word, vector) is vector:
            squares += float(np.square(vector, dtype=np.float64).mean())
    if not table:
        raise EncoderError(f"{path}: no word vectors in this file")
    scale = math.sqrt(squares / len(table))
    return WordVectors(str(path), dim, hasher.hexdigest(), table.get, scale)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines, counted from 1."""
    try:
        with open_plain(path) as file:
            yield from enumerate(file, start=1)
    except (OSError, EOFError, zlib.error) as error:
        raise cannot_read(path, error) from None


def open_plain(path: Path) -> gzip.GzipFile | BufferedReader:
    """Open a file for reading, through gzip where its content is."""
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if zipped else path.open("rb")


def cannot_read(path: Path, error: Exception) -> SentprobeError:
    """Return the error that says why the file cannot be read."""
    what = "cannot read the word vectors"
    if isinstance(error, OSError):
        return path_error(path, what, error, otherwise=EncoderError)
    return EncoderError(f"{path}: {what}: {error}")


def is_header(fields: Sequence[bytes]) -> bool:
    """Say whether these are word2vec's number of words and width."""
    return len(fields) == 2 and all(text.isdigit() for text in fields)


def _entry(fields: Sequence[bytes], dim: int, *, place: str) -> tuple[str, Vectors]:
    """Return the word and its vector, (dim,) float32."""
    if dim < 1 or len(fields) <= dim:
        raise EncoderError(f"{place}: a word and {max(dim, 1)} numbers are wanted")
    try:
        word = b" ".join(fields[:-dim]).decode()
        numbers = [float(text) for text in fields[-dim:]]
    except UnicodeDecodeError:
        raise EncoderError(f"{place}: the word is not UTF-8") from None
    except ValueError as error:
        raise EncoderError(f"{place}: {error}") from None
    with np.errstate(over="ignore"):
        vector = np.array(numbers, dtype=np.float32)
    if not math.isfinite(float(np.abs(vector).max())):
        raise EncoderError(f"{place}: the vector of {word!r} is not finite")
    return word, vector
