"""Sentences in reading order, from plain text, columns, parses or the table of a corpus."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from sentprobe.errors import UsageError, suggest
from sentprobe.files import is_table
from sentprobe.probes.corpus import text_formats as tf
from sentprobe.probes.corpus.recipe import find_punkt, load_splitter
from sentprobe.probes.corpus.table import open_table
from sentprobe.probes.pretraining.texts import corpora, parses, sieves, text_files
from sentprobe.probes.syntax.typography import straighten

_Texts: TypeAlias = Iterator[str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceFiles:
    """What the user says of files that hold sentences."""

    format: str | None = None
    """A name in :data:`FORMATS`; none: as the suffix says."""
    column: str = "text"
    """The column of the texts, in files that have columns."""
    document: str | None = None
    """The column that says which document a text is from; none: a file is one document."""


def read_sentences(
    *paths: Path | str,
    files: SentenceFiles = SentenceFiles(),
    options: sieves.TextOptions = sieves.TextOptions(),  # noqa: B008 - frozen
) -> corpora.Sentences:
    """Read sentences; an empty line, a sentence left out, or the end of a file ends a document.

    Plain text has a sentence a line; with the format ``text`` it is running text, and split into
    sentences. A folder is the table of an analysed corpus.

    Raises:
        UsageError: a file is not there, of no known format, or lacks the column; or there are
            fewer than two sentences.
        SentprobeError: a file is damaged; says where.
    """
    if files.format is not None and files.format not in FORMATS:
        near = suggest(files.format, FORMATS)
        raise UsageError(f"there is no format {files.format!r}{near}; known: {', '.join(FORMATS)}")
    sieve = sieves.Sieve(options)
    names = text_files.find_files(paths)
    texts, documents = _gathered(found for name in names for found in _kept(name, files, sieve))
    sieves.check_enough(", ".join(names), texts, "sentence", sieve.omissions())
    return corpora.Sentences(tuple(texts), tuple(documents), sieve.omissions())


def _gathered(found: Iterable[str | None]) -> tuple[list[str], list[int]]:
    """Return the sentences, and where each document begins."""
    texts: list[str] = []
    documents: list[int] = []
    begins = True
    for sentence in found:
        if sentence is parses.BREAK:
            begins = True
            continue
        if begins:
            documents.append(len(texts))
        begins = False
        texts.append(sentence)
    return texts, documents


def _kept(name: str, files: SentenceFiles, sieve: sieves.Sieve) -> _Texts:
    """Yield the sentences of a file that are kept, and a break for each other, and at its end."""
    form = _TABLE if is_table(Path(name)) else _form(name, files)
    for text in form.read(_File(name, files, sieve.options)):
        sentence = None if text is parses.BREAK else sieve.sentence(text, tokens=form.tokens)
        yield sentence if sentence is not None and sieve.keeps(sentence) else parses.BREAK
    yield parses.BREAK


class _File(NamedTuple):
    """A file, and what is said of it."""

    name: str
    files: SentenceFiles
    options: sieves.TextOptions

    def lines(self) -> Iterator[str]:
        return text_files.lines_of(self.name, self.options.encoding)


class _Form(NamedTuple):
    """How a format is read, and whether its texts are in tokens already."""

    read: Callable[[_File], _Texts]
    tokens: bool = False


def _form(name: str, files: SentenceFiles) -> _Form:
    return FORMATS[files.format or text_files.find_format(name, SUFFIXES)]


def _lines(file: _File) -> _Texts:
    return (line if line.strip() else parses.BREAK for line in file.lines())


def _running_text(file: _File) -> _Texts:
    """Yield the sentences of paragraphs, which follow each other."""
    split = load_splitter(str(find_punkt(file.options.punkt)))
    for piece in tf.split_paragraphs(file.lines()):
        straight = straighten(piece.text)
        end = 0
        for sentence in split(straight.text):
            start = straight.text.index(sentence, end)
            end = start + len(sentence)
            yield straight.form(start, end)


def _column(style: str) -> Callable[[_File], _Texts]:
    def read(file: _File) -> _Texts:
        wanted = [each for each in (file.files.column, file.files.document) if each is not None]
        document: object = None
        rows = text_files.rows_of(file.name, style, wanted, file.options.encoding)
        for number, (value, *marks) in enumerate(rows, 1):
            if marks != document:
                yield parses.BREAK
            document = marks
            yield text_files.text_value(f"{file.name}, row {number}", wanted[0], value)

    return read


def _parses(style: str) -> Callable[[_File], _Texts]:
    def read(file: _File) -> _Texts:
        for parsed in parses.parses_of(file.name, style, file.options.encoding):
            yield parses.BREAK if parsed is None else parses.words_of(parsed)

    return read


def _analysed(file: _File) -> _Texts:
    """Yield the sentences of a table: those that it has only once leave a gap."""
    last: tuple[str, int] = ("", 0)
    for shard in open_table(Path(file.name)).files:
        columns = ("text", "source", "place")
        for text, source, place in text_files.rows_of(shard, "parquet", columns, "utf-8"):
            if (source, place - 1) != last:
                yield parses.BREAK
            last = source, place
            yield text


_TABLE = _Form(_analysed, tokens=True)

FORMATS: Mapping[str, _Form] = {
    "lines": _Form(_lines),
    "text": _Form(_running_text),
    "tokens": _Form(_lines, tokens=True),
    **{name: _Form(_column(name)) for name in ("jsonl", "parquet", "tsv")},
    **{name: _Form(_parses(name), tokens=True) for name in parses.FORMATS},
}
"""The formats by name, as ``probe analyze`` has them."""

SUFFIXES: Mapping[str, str] = {
    ".txt": "lines",
    ".text": "lines",
    ".tok": "tokens",
    **text_files.SUFFIXES,
    **parses.SUFFIXES,
}
"""The format of a file by its suffix; running text has no suffix of its own."""
