"""Word vectors, and the bag-of-words encoder, which averages or adds them.

Read word vectors from text files and, with gensim, from binary files of word2vec and fastText.
"""

import gzip
import hashlib
import logging
import math
import shutil
import struct
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.util import find_spec
from io import BufferedReader
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from sentprobe.common.errors import FormatError, first_line, format_count, path_error
from sentprobe.common.reading import iterate_lines, limit_unpacking, open_input, parse_numbers
from sentprobe.common.scratch import make_scratch_folder
from sentprobe.common.specs import Natural, Spec, read_options
from sentprobe.probes.encoders.encoder import Capabilities, EncoderError, Vectors, digest, missing_extra

log = logging.getLogger(__name__)
MAX_WORDS_SHOWN = 5
"""Maximum number of words that a message lists."""


def list_some_words(words: Sequence[str]) -> str:
    """Return the first five words as ``a, b, c, d, e``, followed by ``, ...`` if there are more."""
    return ", ".join(words[:MAX_WORDS_SHOWN]) + (", ..." if len(words) > MAX_WORDS_SHOWN else "")


def note_unknown_words(words: Iterable[str], *, total: int, effect: str) -> tuple[str, ...]:
    """Return a note such as ``2 of 9 different words EFFECT: foo, bar``; an empty tuple if *words* is empty."""
    unknown = sorted(words)
    if not unknown:
        return ()
    return (f"{len(unknown)} of {total} different words {effect}: {list_some_words(unknown)}",)


@dataclass(frozen=True, slots=True)
class WordVectors:
    """A map from word to vector, (dim,) float32; unknown words map to None."""

    source: str
    dim: int
    fingerprint: str
    find: Callable[[str], Vectors | None] = field(repr=False)
    scale: float = 1.0
    """The root mean square of all numbers in the vectors."""
    seed: int | None = None
    """The seed of random vectors; None for vectors from a file."""
    _looked_up: dict[str, Vectors | None] = field(default_factory=dict, repr=False, compare=False)
    """The vectors of all words looked up so far; None for an unknown word."""
    _warned: set[str] = field(default_factory=set, repr=False, compare=False)
    """The unknown words that the logged warning counts; empty if no warning was logged."""

    def look_up(self, sentences: Sequence[str], *, leaves_out: bool = True) -> Iterator[Vectors]:
        """Yield each sentence's word vectors, (words, dim). Raises EncoderError if a sentence has none.

        - leaves_out: whether unknown words are left out; otherwise, their vectors are 0
        """
        new = {word for sentence in sentences for word in sentence.split()} - self._looked_up.keys()
        self._looked_up.update((word, self.find(word)) for word in new)
        if not self._warned and (notes := self.notes):
            self._warned.update(self._list_unknown_words())
            log.warning("%s", notes[0])
        for sentence in sentences:
            vectors = [vector for word in sentence.split() if (vector := self._looked_up[word]) is not None]
            if not vectors:
                raise EncoderError(f"no word of the sentence {sentence!r} is in {self.source}")
            if len(vectors) < len(sentence.split()) and not leaves_out:
                zeros = np.zeros(self.dim, np.float32)
                found = map(self._looked_up.__getitem__, sentence.split())
                vectors = [zeros if vector is None else vector for vector in found]
            yield np.stack(vectors)

    def average_words(self, texts: Sequence[str]) -> Vectors:
        """Return the average vector of each text's known words, (n, dim) float32; zeros if no word is known."""
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors = [vector for vector in map(self.find, sorted(text.split())) if vector is not None]
            if vectors:
                out[row] = np.stack(vectors).mean(axis=0, dtype=np.float64)
        return out

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on all unknown words so far. Empty if there are none, or if a warning named all."""
        unknown = self._list_unknown_words()
        if len(unknown) == len(self._warned):
            return ()
        effect = f"are not in {self.source} and are left out"
        return note_unknown_words(unknown, total=len(self._looked_up), effect=effect)

    def _list_unknown_words(self) -> list[str]:
        return [word for word, vector in self._looked_up.items() if vector is None]


class BagPooling(StrEnum):
    """The sentence vector of a bag of words: the average of its word vectors, or their sum."""

    MEAN = "mean"
    SUM = "sum"


@dataclass(frozen=True, slots=True, kw_only=True)
class BowOptions:
    """The options of the encoder ``bow``."""

    dim: int = 300
    """Width of random word vectors; ignored if the word vectors are from a file."""
    seed: Natural
    """Seed of random word vectors; by default, the seed of the run."""
    pool: BagPooling = BagPooling.MEAN


@dataclass(frozen=True, slots=True)
class Bow:
    """The bag-of-words encoder: the average or sum of the word vectors (BOW in Ettinger et al. 2018, section 7.1)."""

    name: str
    words: WordVectors
    pool: BagPooling = BagPooling.MEAN

    @property
    def fingerprint(self) -> str:
        """A digest of the word vectors and, unless it is the mean, of their pooling."""
        pooling = [] if self.pool is BagPooling.MEAN else [self.pool]  # as in stored results and caches
        return digest("bow", self.words.fingerprint, *pooling)

    @property
    def capabilities(self) -> Capabilities:
        """The seed, the word vectors, and a note on unknown words. Vectors are not cached, since pooling is fast."""
        return Capabilities(
            cacheable=False, seed=self.words.seed, notes=self.words.notes, word_vectors=self.words.average_words
        )

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return pooled word vectors, (n, dim) float32; word order does not change them, not even by rounding."""
        pool = np.mean if self.pool is BagPooling.MEAN else np.sum
        out = np.empty((len(sentences), self.words.dim), dtype=np.float32)
        sorted_words = [" ".join(sorted(sentence.split())) for sentence in sentences]
        for row, matrix in enumerate(self.words.look_up(sorted_words)):
            out[row] = pool(matrix, axis=0, dtype=np.float64)
        return out


def sample_word_vectors(*, seed: int, dim: int) -> WordVectors:
    """Return standard Gaussian word vectors of width *dim*; each vector's seed depends on *seed* and the word."""

    def find(word: str) -> Vectors:
        key = int(digest("word", seed, word), 16)
        return np.random.default_rng(key).standard_normal(dim, dtype=np.float32)

    source = f"random vectors (seed {seed})"
    return WordVectors(source, dim, digest("gauss", seed, dim), find, seed=seed)


FASTTEXT_VERSION = 12
"""The supported version of fastText's binary format."""
VOCABULARY_OFFSET = 64
"""Byte at which the vocabulary of a fastText model starts, after magic number, version and arguments."""


class DamagedWordFileError(Exception):
    """The content of a file of word vectors contradicts its format. The caller adds the file's name to the message."""


def read_binary(path: Path, *, fasttext: bool) -> WordVectors:
    """Read a binary file of word2vec or fastText, plain or gzip. Raises EncoderError."""
    # Overflowing numbers become infinite, and infinite numbers are reported later.
    with _report_read_errors(path), _unzip(path) as plain, np.errstate(all="ignore"):
        words = (_count_fasttext_words if fasttext else _count_word2vec_words)(plain)
        vectors = _read_by_gensim(plain, fasttext=fasttext)
        with plain.open("rb") as file:
            fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
    _warn_of_repeated_words(path, words - len(vectors.key_to_index), "vector")
    matrix = vectors.vectors  # (words, dim) float32
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(bad):
        word = vectors.index_to_key[bad[0]]
        raise EncoderError(f"{path}: the vector of {word!r} is not finite")
    scale = float(np.sqrt(np.square(matrix, dtype=np.float64).mean()))

    def find(word: str) -> Vectors | None:
        try:
            with np.errstate(all="ignore"):
                vector: Vectors = vectors.get_vector(word)
        except KeyError:
            return None
        # gensim returns zeros for an unknown word that is too short to have character n-grams.
        has_vector = word in vectors.key_to_index or vector.any()
        return vector.astype(np.float32) if has_vector and np.isfinite(vector).all() else None

    return WordVectors(str(path), int(matrix.shape[1]), fingerprint, find, scale)


@contextmanager
def _unzip(path: Path) -> Iterator[Path]:
    """Yield *path* or, for a gzip file, the path of a temporary uncompressed copy."""
    if find_spec("gensim") is None:
        raise missing_extra(f"the binary word vectors {path}", "gensim")
    with open_input(path) as raw:
        is_zipped = _is_zipped(raw)
    if not is_zipped:
        yield path.absolute()  # gensim takes some relative paths for URLs
        return
    with _open_unpacked(path) as file, make_scratch_folder() as directory:
        copy = Path(directory, "vectors.bin")
        with copy.open("wb") as out:
            shutil.copyfileobj(file, out)
        yield copy


def _read_by_gensim(path: Path, *, fasttext: bool) -> Any:
    """Load the word vectors of a binary file with gensim. Raises DamagedWordFileError."""
    from gensim.models import KeyedVectors
    from gensim.models.fasttext import load_facebook_vectors

    try:
        if fasttext:
            return load_facebook_vectors(str(path))
        return KeyedVectors.load_word2vec_format(str(path), binary=True, unicode_errors="replace")
    except Exception as error:  # gensim raises various exceptions for a damaged file
        file_format = "a fastText model that gensim reads" if fasttext else "word2vec's binary format"
        raise DamagedWordFileError(f"not {file_format}, or damaged: {first_line(error)}") from None


def _read_word2vec_width(path: Path) -> int:
    with path.open("rb") as file:
        fields = file.readline(SAMPLE_BYTES).split()
    if not is_header(fields):
        raise DamagedWordFileError("the first line is not word2vec's number of words and width")
    words, dim = map(int, fields)
    if not (words and dim):
        raise DamagedWordFileError("no word vectors in this file")
    size, min_bytes = path.stat().st_size, words * (4 * dim + 2)
    if size < min_bytes:
        raise DamagedWordFileError(f"the file is cut off: it has {size} bytes, but needs at least {min_bytes}")
    return dim


def _count_word2vec_words(path: Path) -> int:
    """Return the number of vectors. Raises DamagedWordFileError unless the first line states it, and their width."""
    dim = _read_word2vec_width(path)
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        offset = content.find(b"\n") + 1
        words = int(content[:offset].split()[0])
        for number in range(words):
            blank = content.find(b" ", offset)
            offset = blank + 1 + 4 * dim
            if blank < 0 or offset > len(content):
                raise DamagedWordFileError(
                    f"the file ends in vector {number + 1} of {words}: cut off, or not {dim} wide"
                )
            has_end = content[offset : offset + 1] == b"\n"  # which some programs write after each vector
            if number == 0:
                all_have_ends = has_end
            elif has_end is not all_have_ends:
                raise DamagedWordFileError(
                    f"{'a' if has_end else 'no'} line break follows vector {number + 1} of {words}, unlike those before"
                )
            offset += has_end
        if offset < len(content):
            raise DamagedWordFileError(f"{len(content) - offset} bytes follow the {words} vectors of width {dim}")
    return words


def _count_fasttext_words(path: Path) -> int:
    return _read_fasttext_sizes(path)[0]


def _read_fasttext_sizes(path: Path) -> tuple[int, int]:
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        try:
            return _check_fasttext(content)
        except (struct.error, OverflowError):
            raise DamagedWordFileError("the fastText model is cut off") from None


def _check_fasttext(content: mmap) -> tuple[int, int]:
    """Check the sizes in a file of ``FastText::saveModel``; return the number of words and their vectors' width."""
    (version,) = struct.unpack_from("<i", content, 4)
    if version != FASTTEXT_VERSION:
        raise DamagedWordFileError(f"fastText's format in version {version}; {FASTTEXT_VERSION} is expected")
    words, _, labels, _, pruned = struct.unpack_from("<3i2q", content, VOCABULARY_OFFSET)
    if labels:
        raise DamagedWordFileError("a fastText classifier; a model of word vectors is expected")
    offset = VOCABULARY_OFFSET + 28
    for _ in range(words):
        end = content.find(b"\0", offset)
        if end < 0:
            raise DamagedWordFileError("the fastText model is cut off in its vocabulary")
        offset = end + 10  # after the null byte, a count of 8 bytes and a byte for the type of entry
    offset += 8 * max(0, pruned)
    quantised, rows, dim = struct.unpack_from("<?2q", content, offset)
    if quantised:
        raise DamagedWordFileError("a quantised fastText model (.ftz), which gensim does not read")
    if rows < words or dim < 1:
        raise DamagedWordFileError(f"the fastText model declares {rows} vectors of width {dim} for {words} words")
    offset += 17 + 4 * rows * dim
    if len(content) < offset:
        raise DamagedWordFileError("the fastText model is cut off in its vectors")
    # The weights of its output are not used, but a file without all of them is not whole.
    _, rows, width = struct.unpack_from("<?2q", content, offset)
    rest = len(content) - (offset + 17 + 4 * rows * width)
    if rest < 0:
        raise DamagedWordFileError("the fastText model is cut off in the weights of its output")
    if rest:
        raise DamagedWordFileError(f"{rest} bytes follow the fastText model")
    return int(words), int(dim)


SAMPLE_BYTES = 4096
"""Number of bytes after the first line that are searched for control characters."""
CONTROL_BYTES = frozenset(range(32)) - frozenset(b"\t\n\r\f\v")
"""Control characters: nearly every binary file of word vectors contains some, and text contains none."""
FASTTEXT_MAGIC = (793712314).to_bytes(4, "little")
"""The first four bytes of a fastText model (Bojanowski et al. 2017)."""


class WordFormat(StrEnum):
    """A file format of word vectors; the text format is that of GloVe, word2vec and fastText (``.vec``)."""

    TEXT = "text"
    WORD2VEC = "word2vec binary"
    FASTTEXT = "fastText binary"


def read_word_vectors(path: Path) -> WordVectors:
    """Read a file of word vectors, plain or gzip, after its format is detected. Raises UsageError or EncoderError."""
    file_format = detect_word_format(path)
    if file_format is WordFormat.TEXT:
        return read_text(path)
    return read_binary(path, fasttext=file_format is WordFormat.FASTTEXT)


def detect_word_format(path: Path) -> WordFormat:
    """Detect the format of a file of word vectors from its first bytes. Raises UsageError or EncoderError."""
    with _report_read_errors(path), _open_unpacked(path) as file:
        header = file.readline(SAMPLE_BYTES).removeprefix(BOM_UTF8)
        sample = file.read(SAMPLE_BYTES)
    if header.startswith(FASTTEXT_MAGIC):
        return WordFormat.FASTTEXT
    if is_header(header.split()) and not CONTROL_BYTES.isdisjoint(sample):
        return WordFormat.WORD2VEC
    return WordFormat.TEXT


def read_width(path: Path) -> int:
    """Read only the width of the word vectors in a file. Raises UsageError or EncoderError."""
    if (file_format := detect_word_format(path)) is not WordFormat.TEXT:
        with _report_read_errors(path), _unzip(path) as plain:
            return _read_fasttext_sizes(plain)[1] if file_format is WordFormat.FASTTEXT else _read_word2vec_width(plain)
    dim = 0
    for number, line in _read_lines(path):
        fields = line.split()
        if number == 1 and is_header(fields):
            _, dim = _parse_header(fields, path)
            continue
        dim = dim or len(fields) - 1
        _parse_entry(fields, dim, place=f"{path}, line {number}")
        return dim
    raise EncoderError(f"{path}: no word vectors in this file")


def read_text(path: Path) -> WordVectors:
    """Read a text file, plain or gzip, with a word and the numbers of its vector on each line. Raises EncoderError.

    The first line may be word2vec's header, whose number of words and width must be true. If a word is repeated, its
    first vector is used. Words may contain spaces, as some in GloVe 840B do.
    """
    table: dict[str, Vectors] = {}
    hasher = hashlib.sha256()
    dim = count = 0
    stated_count: int | None = None
    squares = 0.0
    for number, line in _read_lines(path):
        hasher.update(line)
        fields = line.split()
        if number == 1 and is_header(fields):
            stated_count, dim = _parse_header(fields, path)
            continue
        count += 1
        dim = dim or len(fields) - 1
        word, vector = _parse_entry(fields, dim, place=f"{path}, line {number}")
        if table.setdefault(word, vector) is vector:
            squares += float(np.square(vector, dtype=np.float64).mean())
    if not table:
        raise EncoderError(f"{path}: no word vectors in this file")
    if stated_count not in (None, count):
        raise EncoderError(f"{path}: line 1 states {stated_count} words, and the file has {count}: is it cut off?")
    _warn_of_repeated_words(path, count - len(table), "line")
    scale = math.sqrt(squares / len(table))
    return WordVectors(str(path), dim, hasher.hexdigest(), table.get, scale)


def _warn_of_repeated_words(path: Path, count: int, part: str) -> None:
    if count:
        parts = format_count(count, part)
        log.warning("%s: %s with a word that an earlier %s has; its first vector is used", path, parts, part)


def _read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with _report_read_errors(path), _open_unpacked(path) as file:
        for number, line in enumerate(iterate_lines(file), start=1):
            yield number, line.removeprefix(BOM_UTF8) if number == 1 else line


@contextmanager
def _open_unpacked(path: Path) -> Iterator[BufferedReader]:
    """Open a file to read bytes; a gzip file is decompressed."""
    with open_input(path) as raw:
        if not _is_zipped(raw):
            yield raw
        else:
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield limit_unpacking(cast("IO[bytes]", unpacked), raw.tell)


def _is_zipped(raw: BufferedReader) -> bool:
    return raw.peek(2)[:2] == b"\x1f\x8b"


@contextmanager
def _report_read_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except DamagedWordFileError as error:
        raise EncoderError(f"{path}: {error}") from None
    except FormatError as error:
        raise EncoderError(f"{path}, {error}") from None
    except OSError as error:
        raise path_error(path, "cannot read the word vectors", error, otherwise=EncoderError) from None
    except (EOFError, zlib.error) as error:
        raise EncoderError(f"{path}: cannot read the word vectors: {first_line(error)}") from None


def is_header(fields: Sequence[bytes]) -> bool:
    """Return whether the fields of a line are word2vec's header: number of words and width, such as ``9000 300``."""
    return len(fields) == 2 and all(text.isdigit() and len(text) < 19 for text in fields)


def _parse_header(fields: Sequence[bytes], path: Path) -> tuple[int, int]:
    words, dim = map(int, fields)
    if dim == 0:
        raise EncoderError(f"{path}: no word vectors in this file: line 1 states {words} words of width 0")
    return words, dim


def _parse_entry(fields: Sequence[bytes], dim: int, *, place: str) -> tuple[str, Vectors]:
    """Return a line's word and its vector, (dim,) float32. Raises EncoderError."""
    if dim < 1 or len(fields) <= dim:
        raise EncoderError(f"{place}: a word and {max(dim, 1)} numbers are expected")
    try:
        word = b" ".join(fields[:-dim]).decode()
        numbers = parse_numbers(b" ".join(fields[-dim:]).decode(errors="replace"))
    except UnicodeDecodeError:
        raise EncoderError(f"{place}: the word is not UTF-8") from None
    except ValueError as error:
        raise EncoderError(f"{place}: {error}") from None
    if len(fields) > dim + 1 and any(map(_is_number, fields[1:-dim])):  # a word with blanks, or a lost line break
        raise EncoderError(f"{place}: more than {dim} numbers, which is the width of the vectors")
    with np.errstate(over="ignore"):
        vector = np.array(numbers, dtype=np.float32)
    if not math.isfinite(float(np.abs(vector).max())):
        raise EncoderError(f"{place}: the vector of {word!r} is not finite")
    return word, vector


def _is_number(text: bytes) -> bool:
    try:
        parse_numbers(text.decode())
    except ValueError:
        return False
    return True


def build_bow(spec: Spec, *, seed: int) -> Bow:
    """Return the encoder of a spec ``bow`` or ``bow:FILE``; *seed* is the default of its option ``seed``."""
    options = read_options(spec, BowOptions(seed=Natural(seed)))
    return Bow(spec.name, read_or_sample_word_vectors(spec.argument, seed=options.seed, dim=options.dim), options.pool)


def read_or_sample_word_vectors(path: str, *, seed: int, dim: int) -> WordVectors:
    """Return the word vectors of a file or, if *path* is empty, random word vectors of width *dim*."""
    return read_word_vectors(Path(path).expanduser()) if path else sample_word_vectors(seed=seed, dim=dim)
