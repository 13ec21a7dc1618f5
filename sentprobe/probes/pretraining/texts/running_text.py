"""Read sentences in text order, from plain text, table columns, parsed sentences or analysed tables."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeAlias

from sentprobe.disk.markers import is_table
from sentprobe.errors import UsageError, suggest
from sentprobe.probes.corpus import text_formats as tf
from sentprobe.probes.corpus.analysis_settings import find_punkt, load_splitter
from sentprobe.probes.corpus.table import open_table
from sentprobe.probes.pretraining.texts import constituents, corpora, text_files, text_filters
from sentprobe.probes.syntax.typography import straighten

_Texts: TypeAlias = Iterator[str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceFiles:
    """How to read sentences from files: the format, the column of sentences, and the column of document names."""

    format: str | None = None
    """A name in :data:`FORMATS`; None: the format is chosen by the file's suffix."""
    column: str = "text"
    document: str | None = None
    """The column with the name of each text's document; None: the file is one document."""


def read_sentences(
    *paths: Path | str,
    files: SentenceFiles = SentenceFiles(),
    options: text_filters.TextOptions = text_filters.DEFAULT_OPTIONS,
) -> corpora.Sentences:
    """Read sentences in text order from files or analysed tables. Raises UsageError or FormatError.

    In the formats ``lines`` and ``tokens``, each line is a sentence, and an empty line ends a document. In the format
    ``text``, paragraphs are split into sentences. A document also ends where a sentence is left out or a file ends.
    """
    if files.format is not None and files.format not in FORMATS:
        suggestion = suggest(files.format, FORMATS)
        raise UsageError(f"there is no format {files.format!r}{suggestion}; known: {', '.join(FORMATS)}")
    text_filter = text_filters.TextFilter(options)
    names = text_files.find_files(paths)
    texts: list[str] = []
    documents: list[int] = []
    previous: str | None = constituents.DOCUMENT_BREAK
    for sentence in chain.from_iterable(_read_kept_sentences(name, files, text_filter) for name in names):
        if sentence is not constituents.DOCUMENT_BREAK:
            if previous is constituents.DOCUMENT_BREAK:
                documents.append(len(texts))
            texts.append(sentence)
        previous = sentence
    omitted = text_filter.check_enough(", ".join(names), texts, "sentence")
    return corpora.Sentences(tuple(texts), tuple(documents), omitted)


def _read_kept_sentences(name: str, files: SentenceFiles, text_filter: text_filters.TextFilter) -> _Texts:
    """Yield a file's sentences, with DOCUMENT_BREAK at the end and in place of each sentence that is left out."""
    is_analysed = is_table(Path(name))
    text_format = _TABLE_FORMAT if is_analysed else FORMATS[files.format or text_files.find_format(name, SUFFIXES)]
    for text in text_format.read(_SentenceFile(name, files, text_filter.options)):
        sentence = text and text_filter.to_sentence(text, is_tokenised=text_format.is_tokenised)
        yield sentence if sentence is not None and text_filter.is_kept(sentence) else constituents.DOCUMENT_BREAK
    yield constituents.DOCUMENT_BREAK


class _SentenceFile(NamedTuple):
    name: str
    files: SentenceFiles
    options: text_filters.TextOptions

    def read_lines(self) -> Iterator[str]:
        return text_files.read_lines(self.name, self.options.encoding)


class _TextFormat(NamedTuple):
    read: Callable[[_SentenceFile], _Texts]
    is_tokenised: bool = False


def _read_line_sentences(file: _SentenceFile) -> _Texts:
    return (line if line.strip() else constituents.DOCUMENT_BREAK for line in file.read_lines())


def _split_running_text(file: _SentenceFile) -> _Texts:
    split = load_splitter(str(find_punkt(file.options.punkt)))
    for piece in tf.split_paragraphs(file.read_lines()):
        straight_text = straighten(piece.text)
        end = 0
        for sentence in split(straight_text.text):
            start = straight_text.text.index(sentence, end)
            end = start + len(sentence)
            yield straight_text.restore_form(start, end)


def _read_column(file_format: str, file: _SentenceFile) -> _Texts:
    columns = [column for column in (file.files.column, file.files.document) if column is not None]
    document: object = None
    rows = text_files.read_rows(file.name, file_format, columns, file.options.encoding)
    for number, (value, *document_key) in enumerate(rows, 1):
        if document_key != document:
            yield constituents.DOCUMENT_BREAK
        document = document_key
        yield text_files.to_text(f"{file.name}, row {number}", columns[0], value)


def _read_parsed(file_format: str, file: _SentenceFile) -> _Texts:
    for parsed in constituents.read_parses(file.name, file_format, file.options.encoding):
        yield constituents.DOCUMENT_BREAK if parsed is None else constituents.join_tokens(parsed)


def _read_analysed_table(file: _SentenceFile) -> _Texts:
    """Yield an analysed table's sentences, with DOCUMENT_BREAK before each source and where sentences are missing."""
    last_place: tuple[str, int] = ("", 0)
    for shard in open_table(Path(file.name)).files:
        columns = ("text", "source", "place")
        for text, source, place in text_files.read_rows(shard, "parquet", columns, "utf-8"):
            if (source, place - 1) != last_place:
                yield constituents.DOCUMENT_BREAK
            last_place = source, place
            yield text


_TABLE_FORMAT = _TextFormat(_read_analysed_table, is_tokenised=True)

FORMATS: Mapping[str, _TextFormat] = {
    "lines": _TextFormat(_read_line_sentences),
    "text": _TextFormat(_split_running_text),
    "tokens": _TextFormat(_read_line_sentences, is_tokenised=True),
    **{name: _TextFormat(partial(_read_column, name)) for name in ("jsonl", "parquet", "tsv")},
    **{name: _TextFormat(partial(_read_parsed, name), is_tokenised=True) for name in constituents.PARSE_FORMATS},
}
"""The formats by name: those of ``probe analyze``, and ``tsv``."""

SUFFIXES: Mapping[str, str] = (
    {".txt": "lines", ".text": "lines", ".tok": "tokens"} | text_files.SUFFIXES | constituents.PARSE_SUFFIXES
)
"""The format of each suffix; the format ``text`` (running text) has none, so that the user must state it."""
