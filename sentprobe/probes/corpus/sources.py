"""The files of a corpus, which may be compressed, their formats, and their division into chunks.

The main process splits a file into pieces (such as lines) and groups them into chunks; workers read the pieces.
"""

import bz2
import gzip
import io
import lzma
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from glob import glob, has_magic
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, cast
from zlib import error as ZlibError  # noqa: N812 - it is a class

from sentprobe.common.conllu import read_head
from sentprobe.common.errors import (
    FormatError,
    SentprobeError,
    UsageError,
    first_line,
    path_error,
    suggest,
    suggest_path,
)
from sentprobe.common.reading import (
    MAX_DOCUMENT,
    iterate_batches,
    iterate_lines,
    limit_unpacking,
    open_input,
    report_parquet_errors,
    shorten_line,
    unpack_streams,
)
from sentprobe.common.values import BadSyntaxError, format_json, parse_json
from sentprobe.probes.corpus.tree_files import FilePiece, read_block, read_trees, split_trees
from sentprobe.probes.corpus.trees import Mistake, ParsedSentence

MAX_PARAGRAPH = 100_000
"""The number of characters after which a paragraph is cut at the end of a line."""


class TextUnit(StrEnum):
    """Whether a text is running text, a sentence, or a tokenised sentence."""

    TEXT = "text"
    SENTENCE = "sentence"
    TOKENS = "tokens"


class RawText(NamedTuple):
    """A text that is not parsed: running text, a sentence, or tokens separated by spaces."""

    text: str
    holds: TextUnit
    written: tuple[str, ...] = ()
    """The original spelling of the tokens, before quotes and dashes were normalised; empty if it is the same."""


ReadPiece: TypeAlias = ParsedSentence | RawText | Mistake


@dataclass(frozen=True, slots=True)
class RecordFields:
    """The settings for reading JSONL and Parquet files: the name of the column or key, and the unit of its texts."""

    column: str = "text"
    """The Parquet column or JSON key of the text."""
    holds: TextUnit = TextUnit.TEXT


@dataclass(frozen=True, slots=True)
class CorpusFormat:
    """A file format of a corpus."""

    name: str
    suffixes: tuple[str, ...]
    split: Callable[[Iterable[str]], Iterator[FilePiece | Mistake]]
    read: Callable[[FilePiece, RecordFields], Iterable[ReadPiece]]
    parsed: bool = False
    """Whether files of this format contain parses, so that no parser is needed."""


def split_lines(lines: Iterable[str]) -> Iterator[FilePiece | Mistake]:
    """Yield each non-empty line as a piece."""
    for number, line in enumerate(lines, 1):
        if text := line.strip():
            yield FilePiece(text, number)


def split_paragraphs(lines: Iterable[str]) -> Iterator[FilePiece | Mistake]:
    """Yield each block of lines between empty lines as a piece in which line breaks are replaced by spaces."""
    paragraph: list[str] = []
    first = size = 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if paragraph and (not text or size > MAX_PARAGRAPH):
            yield FilePiece(" ".join(paragraph), first)
            paragraph, size = [], 0
        if text:
            # Mistakes are reported by the number of a paragraph's first line.
            first = first if paragraph else number
            paragraph.append(text)
            size += len(text)
    if paragraph:
        yield FilePiece(" ".join(paragraph), first)


def split_blocks(lines: Iterable[str]) -> Iterator[FilePiece | Mistake]:
    """Yield one piece for each block of lines, such as a sentence in CoNLL-U. Blank lines separate blocks."""
    for has_text, group in groupby(enumerate(lines, 1), key=lambda entry: bool(entry[1].strip())):
        if has_text:
            block = list(group)
            yield FilePiece("".join(line for _, line in block), block[0][0])


def _read_trees(piece: FilePiece, _: RecordFields) -> Iterator[ReadPiece]:
    for tree in read_trees(piece):
        yield tree if isinstance(tree, Mistake) else ParsedSentence(tree=tree)


def _read_conllu(piece: FilePiece, _: RecordFields) -> Iterator[ReadPiece]:
    yield read_block([line.rstrip("\r") for line in piece.text.removesuffix("\n").split("\n")], piece.line)


def _make_text_reader(holds: TextUnit) -> Callable[[FilePiece, RecordFields], list[ReadPiece]]:
    return lambda piece, _: [RawText(piece.text, holds)]


def _read_json(piece: FilePiece, reading: RecordFields) -> list[ReadPiece]:
    try:
        record = parse_json(piece.text)
    except BadSyntaxError as error:
        return [_make_mistake(piece, f"not JSON: {error.reason}")]
    if not isinstance(record, dict):
        return [_make_mistake(piece, "not a JSON object with a text")]
    tokens, text = record.get("tokens"), record.get(reading.column)
    # In the JSONL of gen, the columns of the tokens are in an object; in its Parquet, they stand beside the other
    # fields.
    columns = tokens if isinstance(tokens, dict) else record
    if "tree" in record and "xpos" in columns and "form" in columns:
        return [_read_generated(piece, columns, record["tree"])]
    if isinstance(text, list) and text and all(isinstance(word, str) for word in text):
        # A token with a space would become two.
        return [RawText(" ".join("_".join(word.split()) for word in text), TextUnit.TOKENS)]
    if not isinstance(text, str):
        keys = ", ".join(map(repr, record)) or "nothing"
        return [_make_mistake(piece, f"no text under {reading.column!r}; the record has {keys}")]
    return [RawText(text, reading.holds) if text.strip() else _make_mistake(piece, "an empty text")]


def _read_generated(piece: FilePiece, columns: Mapping[str, Any], tree: object) -> ReadPiece:
    try:
        return ParsedSentence(
            tokens=tuple(map(str, columns["form"])),
            tags=tuple(map(str, columns["xpos"])),
            tree=str(tree),
            heads=tuple(map(read_head, map(str, columns.get("head", ())))),
            relations=tuple(map(str, columns.get("deprel", ()))),
        )
    except (TypeError, ValueError) as error:
        return _make_mistake(piece, f"not a sentence as written by gen: {error}")


def _make_mistake(piece: FilePiece, message: str) -> Mistake:
    return Mistake(piece.line, message, shorten_line(piece.text))


PARQUET = "parquet"
TREE_SUFFIXES = (".mrg", ".trees", ".tree", ".prd", ".penn", ".ptb", ".parse", ".brackets")

FORMATS: Mapping[str, CorpusFormat] = {
    fmt.name: fmt
    for fmt in (
        CorpusFormat("text", (".txt", ".text"), split_paragraphs, _make_text_reader(TextUnit.TEXT)),
        CorpusFormat("lines", (), split_lines, _make_text_reader(TextUnit.SENTENCE)),
        CorpusFormat("tokens", (".tok",), split_lines, _make_text_reader(TextUnit.TOKENS)),
        CorpusFormat("trees", TREE_SUFFIXES, split_trees, _read_trees, parsed=True),
        CorpusFormat("conllu", (".conllu", ".conll"), split_blocks, _read_conllu, parsed=True),
        CorpusFormat("jsonl", (".jsonl", ".ndjson"), split_lines, _read_json),
        CorpusFormat(PARQUET, (".parquet",), split_lines, _read_json),
    )
}
"""All formats by name. ``text`` is running text, ``lines`` has a sentence per line, and ``tokens`` a tokenised sentence
per line. The rows of Parquet files are read as lines of JSON (:class:`_ParquetRows`)."""


STDIN = "-"
PACKED_SUFFIXES = (".gz", ".xz", ".zst", ".zstd", ".bz2")


class SourceError(SentprobeError):
    """A file of the corpus is unreadable. The message names the file and the line."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file of a corpus, or standard input ("-"), with the name of its format."""

    name: str
    format: str

    @property
    def size(self) -> int:
        """The size of the file in bytes; 0 if unknown."""
        path = Path(self.name)
        return path.stat().st_size if self.name != STDIN and path.is_file() else 0


def find_sources(patterns: Sequence[str], *, format: str | None = None) -> tuple[Source, ...]:
    """Return the distinct files that match names or glob patterns; raise UsageError if there are none."""
    if format is not None and format not in FORMATS:
        near = suggest(format, FORMATS)
        raise UsageError(f"there is no format {format!r}{near}; known: {', '.join(FORMATS)}")
    names = dict.fromkeys(name for pattern in patterns for name in _expand_pattern(pattern))
    if not names:
        raise UsageError("name at least one file of the corpus")
    return tuple(Source(name, format or _guess_format(name)) for name in names)


_TREEBANK_FILE = re.compile(r"([a-z]{2,3})_[a-z0-9]+-s?ud-")


def find_file_language(name: str) -> str:
    """Return the code of the language that the name of a treebank's file begins with, or "" if it has none.

    >>> find_file_language("ud/de_gsd-ud-dev.conllu"), find_file_language("all.conllu")
    ('de', '')
    """
    match = _TREEBANK_FILE.match(Path(name).name)
    return match[1] if match else ""


def _expand_pattern(pattern: str) -> list[str]:
    path = Path(pattern)
    if pattern == STDIN or (path.exists() and not path.is_dir()):
        return [pattern]
    if path.is_dir():
        raise UsageError(f"{pattern}: is a folder; name the files in it, such as '{pattern}/*.txt'")
    if not has_magic(pattern):
        raise UsageError(f"{pattern}: there is no such file{suggest_path(path)}")
    names = sorted(name for name in glob(pattern, recursive=True) if Path(name).is_file())  # noqa: PTH207
    if not names:
        raise UsageError(f"{pattern}: no file matches this pattern")
    return names


def _guess_format(name: str) -> str:
    path = Path(name)
    if path.suffix.lower() in PACKED_SUFFIXES:
        path = path.with_suffix("")
    for format_name, corpus_format in FORMATS.items():
        if path.suffix.lower() in corpus_format.suffixes:
            return format_name
    place = "standard input" if name == STDIN else name
    raise UsageError(
        f"{place}: the format is unknown; name it with --format (gen edit: --input-format): {', '.join(FORMATS)}"
    )


@dataclass(frozen=True, slots=True)
class OpenSource:
    """An open file of a corpus."""

    source: Source
    stream: IO[bytes]
    position: Callable[[], int]
    """A function that returns the number of bytes read from disk so far; 0 if the file is a pipe."""


@contextmanager
def open_source(source: Source) -> Iterator[OpenSource]:
    """Open and, if necessary, decompress a source; raise SourceError if it is unreadable."""
    try:
        with _open_raw(source) as raw:
            start = raw.peek(6)[:6]
            unpack = next((unpacker for magic, unpacker in _UNPACKERS.items() if start.startswith(magic)), None)
            position = raw.tell if raw.seekable() else lambda: 0
            if unpack is None or source.format == PARQUET:
                yield OpenSource(source, raw, position)
                return
            with unpack(raw) as stream:
                if raw.seekable():  # otherwise the number of compressed bytes read so far is unknown
                    stream = limit_unpacking(stream, position)  # noqa: PLW2901
                yield OpenSource(source, stream, position)
    except OSError as error:
        raise path_error(source.name, "cannot read it", error, otherwise=SourceError) from error
    except (EOFError, lzma.LZMAError, ZlibError) as error:
        raise SourceError(f"{source.name}: cannot read it: {first_line(error)}") from error


def _open_raw(source: Source) -> AbstractContextManager[io.BufferedReader]:
    if source.name != STDIN:
        return open_input(source.name)
    if sys.stdin is None:  # the parent process closed it
        raise UsageError("standard input is closed; name a file of the corpus")
    return nullcontext(cast("io.BufferedReader", sys.stdin.buffer))


def _unpack_zstd(raw: IO[bytes]) -> IO[bytes]:
    import pyarrow as pa

    return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd"))


_UNPACKERS: Mapping[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b": lambda raw: cast("IO[bytes]", gzip.GzipFile(fileobj=raw)),
    b"\xfd7zXZ\x00": lambda raw: unpack_streams(raw, lzma.LZMADecompressor),
    b"\x28\xb5\x2f\xfd": _unpack_zstd,
    b"BZh": lambda raw: unpack_streams(raw, bz2.BZ2Decompressor),
}
"""Decompressors by the first bytes of a file."""


def check_encoding(encoding: str) -> None:
    """Raise UsageError if Python does not know an encoding."""
    try:
        "".encode(encoding)
    except LookupError:
        raise UsageError(f"there is no encoding {encoding!r}; examples: utf-8, latin-1, cp1252") from None


def decode_lines(opened: OpenSource, encoding: str, *, limit: int = MAX_DOCUMENT) -> Iterator[str]:
    """Yield the lines of a file as text, without a byte-order mark.

    Raises SourceError if a line cannot be decoded, or is longer than *limit*, in bytes.
    """
    number = 0
    try:
        for number, line in enumerate(_decode_stream(opened.stream, encoding, limit), 1):
            yield line.removeprefix("\ufeff") if number == 1 else line
    except FormatError as error:
        raise SourceError(f"{opened.source.name}, {error}") from None
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{opened.source.name}, line {number + 1}: not {encoding}; save it as UTF-8, or name the encoding where a "
            "command has --encoding, such as --encoding latin-1"
        ) from error


def _decode_stream(stream: IO[bytes], encoding: str, limit: int) -> Iterator[str]:
    if "\n".encode(encoding) == b"\n":
        for line in iterate_lines(stream, limit):
            yield line.decode(encoding)
        return
    decoder = io.TextIOWrapper(stream, encoding=encoding, newline="\n")
    try:
        yield from iterate_lines(decoder, limit)
    finally:
        decoder.detach()


_GENERATED_COLUMNS = ("form", "xpos", "head", "deprel", "tree")


@dataclass(frozen=True, slots=True)
class ChunkSize:
    """The size at which a chunk ends: *pieces* lines, paragraphs or trees, or more than *characters* characters."""

    pieces: int
    characters: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive pieces (lines, paragraphs or trees) of one source. A worker analyses one chunk at a time."""

    number: int
    source: Source
    pieces: tuple[FilePiece | Mistake, ...]
    size: int
    """The number of bytes on disk that the pieces take up."""

    def compute_key(self, recipe: str) -> str:
        """Return a digest of everything that determines the chunk's rows: source, pieces and settings (*recipe*)."""
        parts = [f"{recipe}\n{self.source}\n"]
        for piece in self.pieces:
            broken = piece.message if isinstance(piece, Mistake) else ""
            parts.append(f"{piece.line} {len(piece.text)} {len(broken)} {piece.text}{broken}")
        return sha256("".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def make_chunks(sources: Sequence[Source], *, reading: RecordFields, encoding: str, size: ChunkSize) -> Iterator[Chunk]:
    """Divide sources into consecutive chunks of the given size; raise SourceError if a file is unreadable."""
    number = 0
    for source in sources:
        with open_source(source) as opened:
            previous_position = 0
            if source.format == PARQUET:
                rows = _ParquetRows(opened, reading)
                pieces, find_position = iter(rows), rows.find_position
            else:
                pieces = FORMATS[source.format].split(decode_lines(opened, encoding))
                find_position = opened.position
            for group in _group_pieces(pieces, size):
                current_position = find_position()
                yield Chunk(number, source, group, current_position - previous_position)
                previous_position, number = current_position, number + 1


def _group_pieces(pieces: Iterator[FilePiece | Mistake], limit: ChunkSize) -> Iterator[tuple[FilePiece | Mistake, ...]]:
    group: list[FilePiece | Mistake] = []
    size = 0
    for piece in pieces:
        group.append(piece)
        size += len(piece.text)
        if len(group) == limit.pieces or size > limit.characters:
            yield tuple(group)
            group, size = [], 0
    if group:
        yield tuple(group)


class _ParquetRows:
    """The rows of a Parquet file as lines of JSON, with the columns that the analysis needs."""

    def __init__(self, opened: OpenSource, reading: RecordFields) -> None:
        self._opened = opened
        self._reading = reading
        self._number = 0
        self._total = 1

    def find_position(self) -> int:
        # An estimate by rows: a Parquet file is not read from front to back.
        return self._opened.source.size * self._number // self._total

    def __iter__(self) -> Iterator[FilePiece | Mistake]:
        import pyarrow.parquet as pq

        source = self._opened.source
        with report_parquet_errors(source.name, SourceError):
            file = pq.ParquetFile(self._opened.stream)
            self._total = max(1, file.metadata.num_rows)
            names = file.schema_arrow.names
            column = self._reading.column
            if {"form", "xpos", "tree"} <= set(names):  # written by gen
                columns = [name for name in _GENERATED_COLUMNS if name in names]
            elif column in names:
                columns = [column]
            else:
                raise UsageError(
                    f"{source.name}: there is no column {column!r}{suggest(column, names)}; "
                    f"its columns: {', '.join(names)}"
                )
            for batch in iterate_batches(file, source.name, batch_size=1000, columns=columns):
                for row in batch.to_pylist():
                    self._number += 1
                    yield FilePiece(format_json(row, default=str), self._number)
