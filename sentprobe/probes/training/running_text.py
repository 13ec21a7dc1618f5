"""Read sentences in text order, from plain text, table columns, parsed sentences or analysed tables.

Read parsed sentences from Penn brackets or CoNLL-U, and convert trees to symbols for a decoder.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from sentprobe.common.errors import FormatError, UsageError, suggest
from sentprobe.common.inputs import is_table
from sentprobe.probes.corpus import sources
from sentprobe.probes.corpus.table import find_punkt, load_splitter, open_table
from sentprobe.probes.corpus.trees import Mistake, ParsedSentence, Tree, TreeError, read_tree, straighten
from sentprobe.probes.training import corpora
from sentprobe.probes.training.corpora import Sentences, Trees
from sentprobe.probes.training.text_filters import DEFAULT_OPTIONS, TextFilter, TextOptions

PARSE_FORMATS = ("trees", "conllu")
PARSE_SUFFIXES = {suffix: name for name in PARSE_FORMATS for suffix in sources.FORMATS[name].suffixes}

DOCUMENT_BREAK = None
"""The value that readers yield between two documents, in place of a sentence."""


def read_parses(name: str, file_format: str, encoding: str) -> Iterator[ParsedSentence | None]:
    """Yield the parsed sentences of a file, and DOCUMENT_BREAK before each document. Raises FormatError."""
    text_format = sources.FORMATS[file_format]
    for piece in text_format.split(f"{line}\n" for line in corpora.read_lines(name, encoding)):
        if isinstance(piece, Mistake):
            raise FormatError(f"{name}, {piece}")
        if piece.text.startswith("# newdoc"):
            yield DOCUMENT_BREAK
        for parsed in text_format.read(piece, sources.RecordFields()):
            if not isinstance(parsed, ParsedSentence):
                raise FormatError(f"{name}, {parsed}")
            yield parsed


def join_tokens(parsed: ParsedSentence) -> str:
    """Return the tokens of a sentence, separated by spaces; white space within a token becomes ``_``."""
    words = parsed.tree.words if isinstance(parsed.tree, Tree) else parsed.tokens
    return " ".join("_".join(word.split()) for word in words)


TREE_COLUMN = "tree"
"""The name of the column with Penn brackets in files that ``gen`` or ``probe analyze`` wrote."""
TREE_TEXT_SUFFIXES = {**PARSE_SUFFIXES, **corpora.SUFFIXES}


def read_trees(*paths: Path | str, options: TextOptions = DEFAULT_OPTIONS) -> Trees:
    """Read trees from Penn brackets, CoNLL-U, a column ``tree`` or analysed tables. Raises SentprobeError."""
    text_filter = TextFilter(options)
    names = corpora.find_files(paths)
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
    return Trees(sentences, trees, omitted)


def _iterate_trees(name: str, encoding: str) -> Iterator[Tree | None]:
    if is_table(Path(name)):
        table = open_table(Path(name))
        if not table.constituents:
            raise UsageError(f"{name}: its sentences have no constituents; only some parsers provide them")
        for shard in table.files:
            yield from _read_tree_column(shard, "parquet", encoding)
        return
    file_format = corpora.find_format(name, TREE_TEXT_SUFFIXES)
    if file_format not in PARSE_FORMATS:
        yield from _read_tree_column(name, file_format, encoding)
        return
    for parsed in read_parses(name, file_format, encoding):
        if parsed is not DOCUMENT_BREAK:
            yield parsed.tree if isinstance(parsed.tree, Tree) else None


def _read_tree_column(name: str, file_format: str, encoding: str) -> Iterator[Tree | None]:
    rows = corpora.read_rows(name, file_format, [TREE_COLUMN], encoding)
    for number, (value,) in enumerate(rows, 1):
        where = f"{name}, row {number}"
        text = corpora.to_text(where, TREE_COLUMN, value)
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
    *paths: Path | str, files: SentenceFiles = SentenceFiles(), options: TextOptions = DEFAULT_OPTIONS
) -> Sentences:
    """Read sentences in text order from files or analysed tables. Raises UsageError or FormatError.

    In the formats ``lines`` and ``tokens``, each line is a sentence, and an empty line ends a document. In the format
    ``text``, paragraphs are split into sentences. A document also ends where a sentence is left out or a file ends.
    """
    if files.format is not None and files.format not in FORMATS:
        suggestion = suggest(files.format, FORMATS)
        raise UsageError(f"there is no format {files.format!r}{suggestion}; known: {', '.join(FORMATS)}")
    text_filter = TextFilter(options)
    names = corpora.find_files(paths)
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
    return Sentences(tuple(texts), tuple(documents), omitted)


def _read_kept_sentences(name: str, files: SentenceFiles, text_filter: TextFilter) -> _Texts:
    """Yield a file's sentences, with DOCUMENT_BREAK at the end and in place of each sentence that is left out."""
    options = text_filter.options
    if is_table(Path(name)):
        texts, is_tokenised = _read_analysed_table(name), True
    else:
        file_format = files.format or corpora.find_format(name, SUFFIXES)
        texts, is_tokenised = _read_texts(name, file_format, files, options), file_format in TOKENISED_FORMATS
    for text in texts:
        sentence = text and text_filter.to_sentence(text, is_tokenised=is_tokenised)
        yield sentence if sentence is not None and text_filter.is_kept(sentence) else DOCUMENT_BREAK
    yield DOCUMENT_BREAK


def _read_texts(name: str, file_format: str, files: SentenceFiles, options: TextOptions) -> _Texts:
    """Return the texts of a file in one of the FORMATS, with DOCUMENT_BREAK between documents."""
    match file_format:
        case "lines" | "tokens":
            lines = corpora.read_lines(name, options.encoding)
            return (line if line.strip() else DOCUMENT_BREAK for line in lines)
        case "text":
            return _split_running_text(name, options)
        case "trees" | "conllu":
            parses = read_parses(name, file_format, options.encoding)
            return (DOCUMENT_BREAK if parsed is DOCUMENT_BREAK else join_tokens(parsed) for parsed in parses)
        case _:
            return _read_column(name, file_format, files, options.encoding)


def _split_running_text(name: str, options: TextOptions) -> _Texts:
    split = load_splitter(str(find_punkt(options.punkt)))
    for piece in sources.split_paragraphs(corpora.read_lines(name, options.encoding)):
        # As in probe analyze, the text is split in straight marks, and each sentence is returned as it was written.
        straight_text = straighten(piece.text)
        end = 0
        for sentence in split(straight_text.text):
            start = straight_text.text.index(sentence, end)
            end = start + len(sentence)
            yield straight_text.restore_form(start, end)


def _read_column(name: str, file_format: str, files: SentenceFiles, encoding: str) -> _Texts:
    columns = [column for column in (files.column, files.document) if column is not None]
    document: object = None
    rows = corpora.read_rows(name, file_format, columns, encoding)
    for number, (value, *document_key) in enumerate(rows, 1):
        if document_key != document:
            yield DOCUMENT_BREAK
        document = document_key
        yield corpora.to_text(f"{name}, row {number}", columns[0], value)


def _read_analysed_table(name: str) -> _Texts:
    """Yield an analysed table's sentences, with DOCUMENT_BREAK before each source and where sentences are missing."""
    last_place: tuple[str, int] = ("", 0)
    for shard in open_table(Path(name)).files:
        columns = ("text", "source", "place")
        for text, source, place in corpora.read_rows(shard, "parquet", columns, "utf-8"):
            if (source, place - 1) != last_place:
                yield DOCUMENT_BREAK
            last_place = source, place
            yield text


FORMATS = ("lines", "text", "tokens", "jsonl", "parquet", "tsv", *PARSE_FORMATS)
"""The names of the formats: those of ``probe analyze``, and ``tsv``."""
TOKENISED_FORMATS = ("tokens", *PARSE_FORMATS)
"""The formats whose texts are tokens separated by spaces."""

SUFFIXES: Mapping[str, str] = {".txt": "lines", ".text": "lines", ".tok": "tokens"} | corpora.SUFFIXES | PARSE_SUFFIXES
"""The format of each suffix; the format ``text`` (running text) has none, so that the user must state it."""
