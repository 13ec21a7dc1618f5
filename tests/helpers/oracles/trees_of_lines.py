"""Reading of all trees of lines of text."""

from collections.abc import Iterable, Iterator

from sentprobe.probes.corpus.tree_files import read_trees, split_trees
from sentprobe.probes.corpus.trees import Mistake, Tree


def read_line_trees(lines: Iterable[str]) -> Iterator[Tree | Mistake]:
    """Yield the trees of *lines* in order, and a mistake for each broken one."""
    for source in split_trees(lines):
        if isinstance(source, Mistake):
            yield source
        else:
            yield from read_trees(source)
