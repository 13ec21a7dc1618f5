"""Reading of parsed sentences from CoNLL-U and from files of Penn bracket trees, and labels of constituent trees.

In CoNLL-U, a line with a range (``1-2``) describes a token of several words. Empty nodes (``8.1``) are skipped. The
column XPOS gives the Penn tags. A comment ``# tree = (S ...)``, which ``gen`` writes, gives the constituents.

In a file of trees, damaged trees are skipped. The labels of a tree are its depth, top constituents and coordinated
clauses (Conneau et al. 2018, section 2).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sentprobe.common.errors import SentprobeError, format_count
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
    shorten,
)

_COLUMNS = 10
_TREE = "# tree = "
_SENTENCE_ID = re.compile(r"# *sent_id *= *(.*\S)")
_RANGE = re.compile("([1-9][0-9]{0,5})-([1-9][0-9]{0,5})")
_FEATURE = re.compile(r"[^=\s+]+=[^=\s+]+")
_MAX_HEAD_DIGITS = 9
"""Maximum number of digits in the number of a head."""


class _LineError(SentprobeError):
    """A mistake in a line of a block; *offset* is the number of the block's lines before this line."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def read_block(block: Sequence[str], first: int) -> ParsedSentence | Mistake:
    """Return the sentence in *block*, or the first mistake in the block; *first* is the number of the first line."""
    try:
        return _parse_block(block)
    except _LineError as error:
        return Mistake(first + error.offset, str(error), shorten(block[error.offset]))


def _parse_block(block: Sequence[str]) -> ParsedSentence:
    tree = next((line.removeprefix(_TREE) for line in block if line.startswith(_TREE)), None)
    sentence_id = next((match[1] for line in block if (match := _SENTENCE_ID.match(line))), None)
    rows: list[tuple[str, str, int, str, str, str]] = []
    ranges: list[tuple[int, int, str]] = []
    empty_nodes = range_offset = 0
    for offset, line in enumerate(block):
        if line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) != _COLUMNS:
            columns = format_count(len(cells), "column")
            raise _LineError(f"{columns}, expected {_COLUMNS} with tabs between them", offset)
        if "." in cells[0]:
            empty_nodes += 1
            _check_number(cells[0], f"{len(rows)}.{empty_nodes}", "empty node", offset)
        elif "-" in cells[0]:
            ranges.append(_read_range(cells, len(rows), ranges[-1][1] if ranges else 0, offset))
            range_offset = offset
        else:
            rows.append(_read_word(cells, offset))
            _check_number(cells[0], str(len(rows)), "token", offset)
            empty_nodes = 0
    if not rows:
        raise _LineError("a block without a token", 0)
    if ranges and ranges[-1][1] > len(rows):
        raise _LineError(f"a range ends at word {ranges[-1][1]}, but there are {len(rows)} words", range_offset)
    tokens, tags, heads, relations, word_tags, lemmas = zip(*rows, strict=True)
    universal = None if {"_"}.issuperset(word_tags) else UniversalWords(word_tags, lemmas, tuple(ranges))
    return ParsedSentence(
        tokens=tokens,
        tags=tags,
        tree=tree,
        heads=heads,
        relations=relations,
        universal=universal,
        sentence_id=sentence_id,
    )


def _check_number(number: str, expected: str, kind: str, offset: int) -> None:
    if number != expected:
        raise _LineError(f"{kind} {expected} has the number {number!r}", offset)


def _read_range(cells: Sequence[str], word_count: int, previous_end: int, offset: int) -> tuple[int, int, str]:
    """Return the start, end and form of a multiword token, such as (0, 2, "im") for the range 1-2."""
    bounds = _RANGE.fullmatch(cells[0])
    if bounds is None or not previous_end < int(bounds[1]) == word_count + 1 <= int(bounds[2]):
        raise _LineError(f"the range {cells[0]} is not at its place: word {word_count + 1} comes next", offset)
    return word_count, int(bounds[2]), cells[1]


def _read_word(cells: Sequence[str], offset: int) -> tuple[str, str, int, str, str, str]:
    """Return the form, XPOS, head, relation, UPOS with features, and lemma of a word."""
    features = [] if cells[5] == "_" else cells[5].split("|")
    if not all(map(_FEATURE.fullmatch, features)):
        raise _LineError(f"the features of {shorten(cells[1])!r} are {shorten(cells[5])!r}, not Name=Value|...", offset)
    tag = "|".join((cells[3], *sorted(features, key=str.lower)))
    try:
        return cells[1], cells[4], read_head(cells[6]), cells[7], tag, cells[2]
    except ValueError as error:
        raise _LineError(f"the head of {shorten(cells[1])!r} is {error}", offset) from None


def read_head(text: str) -> int:
    """Return the number of a token's head. Raises ValueError if *text* is not a number, or has too many digits."""
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{shorten(text)!r}, not a number")
    if len(text) > _MAX_HEAD_DIGITS:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


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
