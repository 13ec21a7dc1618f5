"""Read sentences in text order, from plain text, table columns, parsed sentences or analysed tables.

Read parsed sentences from Penn brackets or CoNLL-U, and convert trees to symbols for a decoder.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeAlias

from sentprobe.common.errors import FormatError, UsageError, suggest
from sentprobe.common.inputs import is_table
from sentprobe.probes.corpus import sources as tf
from sentprobe.probes.corpus.table import find_punkt, load_splitter, open_table
from sentprobe.probes.corpus.trees import Mistake, ParsedSentence, Tree, TreeError, read_tree, straighten
from sentprobe.probes.training import corpora, text_filters
from sentprobe.probes.training import corpora as text_files

PARSE_FORMATS = ("trees", "conllu")
PARSE_SUFFIXES = {suffix: name for name in PARSE_FORMATS for suffix in tf.FORMATS[name].suffixes}

DOCUMENT_BREAK = None
"""The value that readers yield between two documents, in place of a sentence."""


def read_parses(name: str, file_format: str, encoding: str) -> Iterator[ParsedSentence | None]:
    """Yield the parsed sentences of a file, and DOCUMENT_BREAK before each document. Raises FormatError."""
    text_format = tf.FORMATS[file_format]
    for piece in text_format.split(f"{line}\n" for line in text_files.read_lines(name, encoding)):
        if isinstance(piece, Mistake):
            raise FormatError(f"{name}, {piece}")
        if piece.text.startswith("# newdoc"):
            yield DOCUMENT_BREAK
        for parsed in text_format.read(piece, tf.RecordFields()):
            if not isinstance(parsed, ParsedSentence):
                raise FormatError(f"{name}, {parsed}")
            yield parsed


def join_tokens(parsed: ParsedSentence) -> str:
    """Return the tokens of a sentence, separated by spaces; white space within a token becomes ``_``."""
    words = parsed.tree.words if isinstance(parsed.tree, Tree) else parsed.tokens
    return " ".join("_".join(word.split()) for word in words)


TREE_COLUMN = "tree"
"""The name of the column with Penn brackets in files that ``gen`` or ``probe analyze`` wrote."""
TREE_TEXT_SUFFIXES = {**PARSE_SUFFIXES, **text_files.SUFFIXES}


def read_trees(*paths: Path | str, options: text_filters.TextOptions = text_filters.DEFAULT_OPTIONS) -> corpora.Trees:
    """Read trees from Penn brackets, CoNLL-U, a column ``tree`` or analysed tables. Raises SentprobeError."""
    text_filter = text_filters.TextFilter(options)
    names = text_files.find_files(paths)
    pairs: list[tuple[str, str]] = []
    for tree in chain.from_iterable(_iterate_trees(name, options.encoding) for name in names):
        if tree is None:
            text_filter.count_omission("unparsed")
            continue
        sentence = text_filter.to_sentence(join_tokens(ParsedSentence(tree=tree)), is_tokenised=True)
        if text_filter.is_kept(sentence):
            pairs.append((sentence, linearise(tree)))
    omitted = text_filter.check_enough(", ".join(names), pairs, "tree")
    sentences, trees = zip(*pairs, strict=True)
    return corpora.Trees(sentences, trees, omitted)


def _iterate_trees(name: str, encoding: str) -> Iterator[Tree | None]:
    if is_table(Path(name)):
        table = open_table(Path(name))
        if not table.constituents:
            raise UsageError(f"{name}: its sentences have no constituents; only some parsers provide them")
        for shard in table.files:
            yield from _read_tree_column(shard, "parquet", encoding)
        return
    file_format = text_files.find_format(name, TREE_TEXT_SUFFIXES)
    if file_format not in PARSE_FORMATS:
        yield from _read_tree_column(name, file_format, encoding)
        return
    for parsed in read_parses(name, file_format, encoding):
        if parsed is not DOCUMENT_BREAK:
            yield parsed.tree if isinstance(parsed.tree, Tree) else None


def _read_tree_column(name: str, file_format: str, encoding: str) -> Iterator[Tree | None]:
    rows = text_files.read_rows(name, file_format, [TREE_COLUMN], encoding)
    for number, (value,) in enumerate(rows, 1):
        where = f"{name}, row {number}"
        text = text_files.to_text(where, TREE_COLUMN, value)
        try:
            yield read_tree(text) if text.strip() else None
        except TreeError as error:
            raise FormatError(f"{where}: {error}") from None


def linearise(tree: Tree) -> str:
    """Return a tree as a line of symbols separated by spaces, which a decoder can generate.

    A constituent opens and closes with its label, and a word is replaced by its part-of-speech tag. Function tags such
    as ``-SBJ`` are left out. The format is that of Conneau et al. (2018, table 1), after Vinyals et al. (2015, "Grammar
    as a foreign language").

    >>> from sentprobe.probes.corpus.trees import read_tree
    >>> linearise(read_tree("(S (NP-SBJ (NNP Ann)) (VP (VBZ sees) (NP (DT a) (NN dog))) (. .))"))
    '(ROOT (S (NP NNP )NP (VP VBZ (NP DT NN )NP )VP . )S )ROOT'
    """
    symbols: list[str] = []
    open_constituents: list[tuple[int, str]] = []
    for node, (label, stop) in enumerate(zip(tree.categories, tree.stops, strict=True), 1):
        symbol = "_".join(label.split())
        symbols.append(symbol if stop == node else f"({symbol}")
        if stop != node:
            open_constituents.append((stop, f"){symbol}"))
        while open_constituents and open_constituents[-1][0] == node:
            symbols.append(open_constituents.pop()[1])
    return " ".join(symbols)


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
    previous: str | None = DOCUMENT_BREAK
    for sentence in chain.from_iterable(_read_kept_sentences(name, files, text_filter) for name in names):
        if sentence is not DOCUMENT_BREAK:
            if previous is DOCUMENT_BREAK:
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
        yield sentence if sentence is not None and text_filter.is_kept(sentence) else DOCUMENT_BREAK
    yield DOCUMENT_BREAK


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
    return (line if line.strip() else DOCUMENT_BREAK for line in file.read_lines())


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
            yield DOCUMENT_BREAK
        document = document_key
        yield text_files.to_text(f"{file.name}, row {number}", columns[0], value)


def _read_parsed(file_format: str, file: _SentenceFile) -> _Texts:
    for parsed in read_parses(file.name, file_format, file.options.encoding):
        yield DOCUMENT_BREAK if parsed is None else join_tokens(parsed)


def _read_analysed_table(file: _SentenceFile) -> _Texts:
    """Yield an analysed table's sentences, with DOCUMENT_BREAK before each source and where sentences are missing."""
    last_place: tuple[str, int] = ("", 0)
    for shard in open_table(Path(file.name)).files:
        columns = ("text", "source", "place")
        for text, source, place in text_files.read_rows(shard, "parquet", columns, "utf-8"):
            if (source, place - 1) != last_place:
                yield DOCUMENT_BREAK
            last_place = source, place
            yield text


_TABLE_FORMAT = _TextFormat(_read_analysed_table, is_tokenised=True)

FORMATS: Mapping[str, _TextFormat] = {
    "lines": _TextFormat(_read_line_sentences),
    "text": _TextFormat(_split_running_text),
    "tokens": _TextFormat(_read_line_sentences, is_tokenised=True),
    **{name: _TextFormat(partial(_read_column, name)) for name in ("jsonl", "parquet", "tsv")},
    **{name: _TextFormat(partial(_read_parsed, name), is_tokenised=True) for name in PARSE_FORMATS},
}
"""The formats by name: those of ``probe analyze``, and ``tsv``."""

SUFFIXES: Mapping[str, str] = (
    {".txt": "lines", ".text": "lines", ".tok": "tokens"} | text_files.SUFFIXES | PARSE_SUFFIXES
)
"""The format of each suffix; the format ``text`` (running text) has none, so that the user must state it."""
