"""The trees of lines of text, read in one go."""

from collections.abc import Iterable, Iterator

from sentprobe.probes.syntax.tree_texts import split_trees, trees_of
from sentprobe.probes.syntax.trees import Mistake, Tree


def read_trees(lines: Iterable[str]) -> Iterator[Tree | Mistake]:
    """Yield the trees of *lines* in order, and a mistake in place of each that is broken."""
    for source in split_trees(lines):
        if isinstance(source, Mistake):
            yield source
        else:
            yield from trees_of(source)
