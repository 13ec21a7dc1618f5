"""Reading of parsed sentences from CoNLL-U and from files of Penn bracket trees, and labels of constituent trees.

In CoNLL-U, the column XPOS gives the Penn tags.

In a file of trees, damaged trees are skipped. The labels of a tree are its depth, top constituents and coordinated
clauses (Conneau et al. 2018, section 2).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sentprobe.common.conllu import ConlluError, parse_conllu
from sentprobe.common.reading import shorten_line
from sentprobe.probes.corpus.trees import (
    Mistake,
    ParsedSentence,
    Tree,
    TreeError,
    UniversalWords,
    describe_unclosed,
    iterate_nodes,
    list_children,
    parse_trees,
)


def read_block(block: Sequence[str], first: int) -> ParsedSentence | Mistake:
    """Return the sentence in *block*, or the first mistake in the block; *first* is the number of the first line."""
    try:
        sentence = parse_conllu(block)
    except ConlluError as error:
        return Mistake(first + error.offset, str(error), shorten_line(block[error.offset]))
    has_tags = not {"_"}.issuperset(sentence.tags)
    return ParsedSentence(
        tokens=sentence.forms,
        tags=sentence.xpos,
        tree=sentence.tree,
        heads=sentence.heads,
        relations=sentence.relations,
        universal=UniversalWords(sentence.tags, sentence.lemmas, sentence.ranges) if has_tags else None,
        sentence_id=sentence.sentence_id,
    )


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
        return [Mistake(line, str(error), shorten_line(source.text))]


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
            yield Mistake(number, f"expected '(', found {shorten_line(line)!r}", shorten_line(line))
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
        return Mistake(self.first, describe_unclosed(first_line, self.balance), shorten_line(first_line))


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


Span: TypeAlias = tuple[int, int]
"""The index of the first word of a phrase, and the index of the first word after the phrase."""
_CONJUNCTION = "CC"
_QUOTES = frozenset(("``", "''"))
_ENDINGS = _QUOTES | {"."}
_SEPARATORS = frozenset((",", ":"))


def compute_depth(tree: Tree) -> int:
    """Return the number of edges from ROOT to the deepest word, for the task TreeDepth."""
    return 1 + max(edges for _, edges in iterate_nodes(tree))


def find_top_node(tree: Tree) -> int:
    """Return the only child of ROOT, or ROOT itself if it has several children."""
    below = list_children(tree, 0)
    return below[0] if len(below) == 1 else 0


def list_top_constituents(tree: Tree) -> tuple[str, ...] | None:
    """Return the categories of the children of the top node, for the task TopConst.

    Punctuation and quotes count as constituents. If the top node is a part-of-speech tag, return None.
    """
    below = list_children(tree, find_top_node(tree))
    return tuple(tree.categories[node] for node in below) or None


@dataclass(frozen=True, slots=True)
class Coordination:
    """Two coordinated clauses and the conjunction between them, as token indices."""

    conjunction: int
    first: Span
    second: Span


def find_coordination(tree: Tree) -> Coordination | None:
    """Return the two main clauses that a tree's only conjunction joins (CoordInv); None if it has no such clauses."""
    if tree.categories.count(_CONJUNCTION) != 1:
        return None
    below = list_children(tree, find_top_node(tree))
    while below and tree.categories[below[-1]] in _ENDINGS:
        below.pop()
    while below and tree.categories[below[0]] in _QUOTES:
        del below[0]
    # A separator before the conjunction, such as a comma.
    if len(below) == 4 and tree.categories[below[1]] in _SEPARATORS:
        del below[1]
    if [tree.categories[node] for node in below] != ["S", _CONJUNCTION, "S"]:
        return None
    first, conjunction, second = below
    # Both must be clauses of their own: an S without a verb phrase is a fragment.
    if not all("VP" in [tree.categories[child] for child in list_children(tree, node)] for node in (first, second)):
        return None
    spans = ((tree.starts[node], tree.find_end(node)) for node in (first, second))
    return Coordination(tree.starts[conjunction], *spans)
