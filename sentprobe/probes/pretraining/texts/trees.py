"""Sentences with their constituents: from treebanks, columns, or the table of a corpus."""

from collections.abc import Iterator
from pathlib import Path

from sentprobe.errors import FormatError, UsageError
from sentprobe.files import is_table
from sentprobe.probes.corpus.table import open_table
from sentprobe.probes.pretraining.texts import corpora, linear, parses, sieves, text_files
from sentprobe.probes.syntax.trees import Parsed, Tree, TreeError, read_tree

COLUMN = "tree"
"""The column with Penn brackets, in what ``gen`` and ``probe analyze`` write."""

SUFFIXES = {**parses.SUFFIXES, **text_files.SUFFIXES}
"""The format of a file by its suffix."""


def read_trees(
    *paths: Path | str,
    options: sieves.TextOptions = sieves.TextOptions(),  # noqa: B008 - frozen
) -> corpora.Trees:
    """Read trees; sentences are their words, so that nothing is tokenised.

    A folder is the table of an analysed corpus; files with columns have the trees in ``tree``.

    Raises:
        UsageError: a file is not there, of no known format, or lacks the column; or there are
            fewer than two trees.
        SentprobeError: a file is damaged; says where.
    """
    sieve = sieves.Sieve(options)
    names = text_files.find_files(paths)
    kept: list[tuple[str, str]] = []
    for tree in (tree for name in names for tree in _trees(name, options.encoding)):
        if tree is None:
            sieve.omit("unparsed")
            continue
        sentence = sieve.sentence(parses.words_of(Parsed(tree=tree)), tokens=True)
        if sieve.keeps(sentence):
            kept.append((sentence, linear.linearise(tree)))
    sieves.check_enough(", ".join(names), kept, "tree", sieve.omissions())
    sentences, trees = zip(*kept, strict=True)
    return corpora.Trees(sentences, trees, sieve.omissions())


def _trees(name: str, encoding: str) -> Iterator[Tree | None]:
    """Yield the trees of a file, and None for a sentence without."""
    if is_table(Path(name)):
        for shard in _shards(name):
            yield from _of_column(shard, "parquet", encoding)
        return
    style = text_files.find_format(name, SUFFIXES)
    if style not in parses.FORMATS:
        yield from _of_column(name, style, encoding)
        return
    for parsed in parses.parses_of(name, style, encoding):
        if parsed is not parses.BREAK:
            yield parsed.tree if isinstance(parsed.tree, Tree) else None


def _shards(name: str) -> list[str]:
    table = open_table(Path(name))
    if not table.constituents:
        raise UsageError(f"{name}: its sentences have no constituents; another parser gives them")
    return table.files


def _of_column(name: str, style: str, encoding: str) -> Iterator[Tree | None]:
    rows = text_files.rows_of(name, style, [COLUMN], encoding)
    for number, (value,) in enumerate(rows, 1):
        where = f"{name}, row {number}"
        text = text_files.text_value(where, COLUMN, value)
        try:
            yield read_tree(text) if text.strip() else None
        except TreeError as error:
            raise FormatError(f"{where}: {error}") from None
