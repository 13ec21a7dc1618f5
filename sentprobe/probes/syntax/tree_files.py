"""Division of a file of Penn bracket trees into single trees; damaged trees are skipped."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sentprobe.probes.syntax.trees import Mistake, Tree, TreeError, describe_unclosed, parse_trees, shorten

_BEGINNING = re.compile(r"\([ \t]*+[^ \t\r\n()]*+")


class FilePiece(NamedTuple):
    """A part of a file that can be read on its own, such as a tree, and the number of its first line (or row)."""

    text: str
    line: int


def read_trees(source: FilePiece) -> list[Tree] | list[Mistake]:
    """Return the trees in a piece of a file; if the piece has mistakes, return a list of only the first mistake."""
    try:
        return parse_trees(source.text)
    except TreeError as error:
        line = source.line + source.text.count("\n", 0, error.place)
        return [Mistake(line, str(error), shorten(source.text))]


def split_trees(lines: Iterable[str]) -> Iterator[FilePiece | Mistake]:
    """Yield each tree as a FilePiece, and each unclosed tree or stray line as a Mistake; keep one tree in memory."""
    pending = _PendingTree()
    line_counts: set[int] = set()  # numbers of lines of the trees so far
    for number, line in enumerate(lines, 1):
        if pending.lines and _begins_new_tree(pending, line, line_each=line_counts == {1}):
            yield pending.describe_unclosed()
            pending = _PendingTree()
        if not pending.lines and not line.strip():
            continue
        if not pending.lines and not line.lstrip().startswith("("):
            yield Mistake(number, f"expected '(', found {shorten(line)!r}", shorten(line))
            continue
        pending.add(line, number)
        if pending.balance <= 0:
            line_counts.add(len(pending.lines))
            yield FilePiece("".join(pending.lines), pending.first)
            pending = _PendingTree()
    if pending.lines:
        yield pending.describe_unclosed()


class _PendingTree:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.first = 0
        self.balance = 0

    def add(self, line: str, number: int) -> None:
        self.first = self.first or number
        self.lines.append(line if line.endswith("\n") else line + "\n")
        self.balance += line.count("(") - line.count(")")

    def describe_unclosed(self) -> Mistake:
        first_line = self.lines[0]
        return Mistake(self.first, describe_unclosed(first_line, self.balance), shorten(first_line))


def _begins_new_tree(pending: _PendingTree, line: str, *, line_each: bool) -> bool:
    """Return whether a line begins a new tree although the pending tree (the lines before) has open brackets.

    A line that starts like the pending tree, for example with "(S", begins a new tree. So does any line that starts
    with "(" if every earlier tree has one line (*line_each*) and the pending tree is one line that contains ")".
    """
    beginning = _BEGINNING.match(line)
    first = _BEGINNING.match(pending.lines[0])
    if beginning is None or first is None:
        return False
    return beginning[0] == first[0] or (line_each and len(pending.lines) == 1 and ")" in pending.lines[0])
