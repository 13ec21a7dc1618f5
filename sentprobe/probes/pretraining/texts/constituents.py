"""Read parsed sentences from Penn brackets or CoNLL-U, and convert trees to symbols for a decoder."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from sentprobe.disk.markers import is_table
from sentprobe.errors import FormatError, UsageError
from sentprobe.probes.corpus import text_formats as tf
from sentprobe.probes.corpus.table import open_table
from sentprobe.probes.pretraining.texts import corpora, text_files, text_filters
from sentprobe.probes.syntax.trees import Mistake, ParsedSentence, Tree, TreeError, read_tree

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
SUFFIXES = {**PARSE_SUFFIXES, **text_files.SUFFIXES}


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
    file_format = text_files.find_format(name, SUFFIXES)
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

    >>> from sentprobe.probes.syntax.trees import read_tree
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
