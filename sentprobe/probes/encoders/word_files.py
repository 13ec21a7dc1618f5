"""Files of word vectors: text, and the binary ones of word2vec and fastText, read by gensim.

A file is checked before gensim gets it, which loops for ever on a fastText model that was cut off
in its vocabulary, and allocates whatever a damaged header asks for. gensim's own formats, which
are pickles, are never read.
"""

import gzip
import hashlib
import math
import shutil
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from importlib.util import find_spec
from io import BufferedReader
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.errors import SentprobeError, first_line, path_error
from sentprobe.probes.encoders.protocol import EncoderError, Vectors, missing_extra
from sentprobe.probes.encoders.word_vectors import Bow, BowOptions, WordVectors, random_vectors
from sentprobe.scratch import scratch_folder
from sentprobe.specs import Natural, Spec, read_options
from sentprobe.unpacking import proportionate

FASTTEXT_VERSION = 12
"""The only version of fastText's file format that has its magic number."""

WORDS_AT = 64
"""Where the vocabulary of a fastText model starts: after magic, version and arguments."""


class DamagedError(Exception):
    """What is in the file is not what its format says; the message goes behind the file's name."""


def read_binary(path: Path, *, fasttext: bool) -> WordVectors:
    """Read word2vec's or fastText's binary word vectors, gzip or not.

    A fastText model has a vector for most unknown words, from their parts (Bojanowski et al.
    2017, section 3.2).

    Raises:
        EncoderError: the extra ``gensim`` is not installed; the file cannot be read or is damaged.
    """
    _check_gensim(path)
    try:
        # What overflows is not finite, and found afterwards.
        with _unzipped(path) as plain, np.errstate(all="ignore"):
            vectors = _fasttext(plain) if fasttext else _word2vec(plain)
            with plain.open("rb") as file:
                fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
    except DamagedError as error:
        raise EncoderError(f"{path}: {error}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise cannot_read(path, error) from None
    return _word_vectors(vectors, source=str(path), fingerprint=fingerprint)


def binary_width(path: Path, *, fasttext: bool) -> int:
    """Return how wide binary word vectors are, by what stands before them.

    Raises:
        EncoderError: see :func:`read_binary`; what is wrong with the vectors themselves is not
            seen.
    """
    _check_gensim(path)
    try:
        with _unzipped(path) as plain:
            return _fasttext_width(plain) if fasttext else _word2vec_width(plain)
    except DamagedError as error:
        raise EncoderError(f"{path}: {error}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise cannot_read(path, error) from None


def _check_gensim(path: Path) -> None:
    if find_spec("gensim") is None:
        raise missing_extra(f"the binary word vectors {path}", extra="gensim")


def _word_vectors(vectors: Any, *, source: str, fingerprint: str) -> WordVectors:
    matrix = vectors.vectors  # (words, dim) float32
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(bad):
        word = vectors.index_to_key[bad[0]]
        raise EncoderError(f"{source}: the vector of {word!r} is not finite")
    scale = float(np.sqrt(np.square(matrix, dtype=np.float64).mean()))

    def find(word: str) -> Vectors | None:
        try:
            with np.errstate(all="ignore"):
                vector: Vectors = vectors.get_vector(word)
        except KeyError:
            return None
        # A word too short to have parts gets zeros from gensim.
        known = word in vectors.key_to_index or vector.any()
        return vector.astype(np.float32) if known and np.isfinite(vector).all() else None

    return WordVectors(source, int(matrix.shape[1]), fingerprint, find, scale)


@contextmanager
def _unzipped(path: Path) -> Iterator[Path]:
    """Give the file itself, or the path of a copy without gzip while it is needed."""
    with open_plain(path) as file, scratch_folder() as directory:
        if not _is_zipped(path):
            yield path.absolute()  # absolute: gensim takes some other paths for addresses
            return
        copy = Path(directory, "vectors.bin")
        with copy.open("wb") as out:
            shutil.copyfileobj(file, out)
        yield copy


def _word2vec(path: Path) -> Any:
    from gensim.models import KeyedVectors  # noqa: PLC0415

    _word2vec_width(path)
    try:
        return KeyedVectors.load_word2vec_format(str(path), binary=True, unicode_errors="replace")
    except Exception as error:  # gensim has no exception of its own for a damaged file
        raise DamagedError(
            f"not word2vec's binary format, or damaged: {first_line(error)}"
        ) from None


def _word2vec_width(path: Path) -> int:
    with path.open("rb") as file:
        fields = file.readline().split()
    if not is_header(fields):
        raise DamagedError("the first line is not word2vec's number of words and width")
    words, dim = map(int, fields)
    if not (words and dim):
        raise DamagedError("no word vectors in this file")
    _check_size(path, words * (4 * dim + 2))
    return dim


def _fasttext_width(path: Path) -> int:
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        try:
            return _check_fasttext(content)
        except (struct.error, OverflowError):
            raise DamagedError("the fastText model is cut off") from None


def _fasttext(path: Path) -> Any:
    from gensim.models.fasttext import load_facebook_vectors  # noqa: PLC0415

    _fasttext_width(path)
    try:
        return load_facebook_vectors(str(path))
    except Exception as error:  # see above
        raise DamagedError(
            f"not a fastText model that gensim reads, or damaged: {first_line(error)}"
        ) from None


def _check_fasttext(content: mmap) -> int:
    """Walk through the model up to the end of its word vectors, and return their width.

    The order of what is in it is that of ``FastText::saveModel``.
    """
    (version,) = struct.unpack_from("<i", content, 4)
    if version != FASTTEXT_VERSION:
        raise DamagedError(f"fastText's format in version {version}; {FASTTEXT_VERSION} is wanted")
    words, _, labels, _, pruned = struct.unpack_from("<3i2q", content, WORDS_AT)
    if labels:
        raise DamagedError("a fastText classifier; a model of word vectors is wanted")
    place = WORDS_AT + 28
    for _ in range(words):
        end = content.find(b"\0", place)
        if end < 0:
            raise DamagedError("the fastText model is cut off in its vocabulary")
        place = end + 10  # the zero, a count of 8 bytes and the kind of entry
    place += 8 * max(0, pruned)
    quantised, rows, dim = struct.unpack_from("<?2q", content, place)
    if quantised:
        raise DamagedError("a quantised fastText model (.ftz), which gensim does not read")
    if rows < words or dim < 1:
        raise DamagedError(
            f"the fastText model says {rows} vectors of width {dim} for {words} words"
        )
    if len(content) < place + 17 + 4 * rows * dim:
        raise DamagedError("the fastText model is cut off in its vectors")
    return int(dim)


def _check_size(path: Path, least: int) -> None:
    size = path.stat().st_size
    if size < least:
        raise DamagedError(f"the file is cut off: {size} bytes, and at least {least} are wanted")


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


def read_width(path: Path) -> int:
    """Return how wide the vectors of a file are, without reading them all.

    Raises:
        EncoderError: it is not such a file, as far as its beginning tells; a binary one needs the
            extra ``gensim``.
    """
    if (found := word_format(path)) is not WordFormat.TEXT:
        return binary_width(path, fasttext=found is WordFormat.FASTTEXT)
    for number, line in _lines(path):
        fields = line.split()
        if not (number == 1 and is_header(fields)):
            _entry(fields, len(fields) - 1, place=f"{path}, line {number}")
            return len(fields) - 1
        if width := int(fields[1]):
            return width
    raise EncoderError(f"{path}: no word vectors in this file")


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


def open_plain(path: Path) -> BufferedReader:
    """Open a file for reading, through gzip where its content is."""
    if not _is_zipped(path):
        return path.open("rb")
    unpacked: Any = gzip.open(path, "rb")  # noqa: SIM115 - closed with what is returned
    return proportionate(unpacked, unpacked.fileobj.tell)


def _is_zipped(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def cannot_read(path: Path, error: Exception) -> SentprobeError:
    """Return the error that says why the file cannot be read."""
    what = "cannot read the word vectors"
    if isinstance(error, OSError):
        return path_error(path, what, error, otherwise=EncoderError)
    return EncoderError(f"{path}: {what}: {error}")


def is_header(fields: Sequence[bytes]) -> bool:
    """Say whether these are word2vec's number of words and width."""
    return len(fields) == 2 and all(text.isdigit() and len(text) < 19 for text in fields)


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


def build_bow(spec: Spec, *, seed: int) -> Bow:
    """Return the encoder of a spec ``bow`` or ``bow:FILE``; the run's *seed*, if it has none."""
    options = read_options(spec, BowOptions(seed=Natural(seed)))
    return Bow(spec.name, word_vectors(spec.argument, seed=options.seed, dim=options.dim))


def word_vectors(path: str, *, seed: int, dim: int) -> WordVectors:
    """Return the word vectors of a file, or random ones of width *dim* when *path* is empty."""
    if not path:
        return random_vectors(seed=seed, dim=dim)

    return read_word_vectors(Path(path).expanduser())
