"""Sentences with constituents, from treebanks, columns, or a corpus table."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from sentprobe.disk.files import is_table
from sentprobe.errors import FormatError, UsageError
from sentprobe.probes.corpus.table import open_table
from sentprobe.probes.pretraining.texts import corpora, linear_trees, parses, text_files, text_filters
from sentprobe.probes.syntax.trees import ParsedSentence, Tree, TreeError, read_tree

TREE_COLUMN = "tree"
"""Column with Penn brackets, in files of ``gen`` and ``probe analyze``."""

SUFFIXES = {**parses.SUFFIXES, **text_files.SUFFIXES}


def read_trees(
    *paths: Path | str,
    options: text_filters.TextOptions = text_filters.TextOptions(),  # noqa: B008 - frozen
) -> corpora.Trees:
    """Read trees; their words are the sentences, without tokenisation.

    A folder is a corpus table. Files with columns have trees in the column ``tree``.
    """
    text_filter = text_filters.TextFilter(options)
    names = text_files.find_files(paths)
    pairs: list[tuple[str, str]] = []
    for tree in chain.from_iterable(_iterate_trees(name, options.encoding) for name in names):
        if tree is None:
            text_filter.count_omission("unparsed")
            continue
        sentence = text_filter.to_sentence(parses.join_tokens(ParsedSentence(tree=tree)), is_tokenised=True)
        if text_filter.is_kept(sentence):
            pairs.append((sentence, linear_trees.linearise(tree)))
    text_filters.check_enough(", ".join(names), pairs, "tree", text_filter.summarize_omissions())
    sentences, trees = zip(*pairs, strict=True)
    return corpora.Trees(sentences, trees, text_filter.summarize_omissions())


def _iterate_trees(name: str, encoding: str) -> Iterator[Tree | None]:
    """Yield the trees of a file, and None for a sentence without one."""
    if is_table(Path(name)):
        for shard in _find_shards(name):
            yield from _read_tree_column(shard, "parquet", encoding)
        return
    file_format = text_files.find_format(name, SUFFIXES)
    if file_format not in parses.FORMATS:
        yield from _read_tree_column(name, file_format, encoding)
        return
    for parsed in parses.read_parses(name, file_format, encoding):
        if parsed is not parses.DOCUMENT_BREAK:
            yield parsed.tree if isinstance(parsed.tree, Tree) else None


def _find_shards(name: str) -> list[str]:
    table = open_table(Path(name))
    if not table.constituents:
        raise UsageError(f"{name}: its sentences have no constituents; another parser gives them")
    return table.files


def _read_tree_column(name: str, file_format: str, encoding: str) -> Iterator[Tree | None]:
    rows = text_files.read_rows(name, file_format, [TREE_COLUMN], encoding)
    for number, (value,) in enumerate(rows, 1):
        where = f"{name}, row {number}"
        text = text_files.to_text(where, TREE_COLUMN, value)
        try:
            yield read_tree(text) if text.strip() else None
        except TreeError as error:
            raise FormatError(f"{where}: {error}") from None
