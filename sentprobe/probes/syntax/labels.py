"""What a constituent tree says of its sentence: the labels of Conneau et al. 2018, section 2.

All are functions of a :class:`~sentprobe.probes.syntax.trees.Tree` alone. The main clause is in
:mod:`sentprobe.probes.syntax.clauses`.
"""

from dataclasses import dataclass
from typing import TypeAlias

from sentprobe.probes.syntax.trees import Tree, children, iterate_nodes

Span: TypeAlias = tuple[int, int]
"""The first word, and the first word after."""

_CONJUNCTION = "CC"
_QUOTES = frozenset(("``", "''"))
_ENDINGS = _QUOTES | {"."}
_BETWEEN = frozenset((",", ":"))


def depth(tree: Tree) -> int:
    """Return the number of edges from ROOT to the deepest word (TreeDepth; section 2).

    >>> from sentprobe.probes.syntax.trees import read_tree
    >>> depth(read_tree("(ROOT (S (NP (PRP We)) (VP (VBD saw) (NP (NN snow)))))"))
    5
    """
    return 1 + max(edges for _, edges in iterate_nodes(tree))


def top_node(tree: Tree) -> int:
    """Return the node under ROOT, or ROOT itself where several are under it."""
    below = children(tree, 0)
    return below[0] if len(below) == 1 else 0


def top_constituents(tree: Tree) -> tuple[str, ...] | None:
    """Return the categories of the constituents directly under the top node (TopConst; section 2).

    Punctuation and quotes are among them. None where the top node is a tag.

    >>> from sentprobe.probes.syntax.trees import read_tree
    >>> top_constituents(read_tree("((S (ADVP (RB Then)) (NP (NN rain)) (VP (VBD fell)) (. .)))"))
    ('ADVP', 'NP', 'VP', '.')
    """
    below = children(tree, top_node(tree))
    return tuple(tree.categories[node] for node in below) or None


@dataclass(frozen=True, slots=True)
class Coordination:
    """Two clauses and the conjunction between them, by token."""

    conjunction: int
    first: Span
    second: Span


def coordination(tree: Tree) -> Coordination | None:
    """Return the two top clauses that the sentence's only conjunction joins (CoordInv; section 2).

    The top node is ``S CC S``, with a comma, colon or dash before the conjunction or not, with a
    full stop or not, in quotes or not; there is no other CC. Each clause has a verb phrase.
    """
    if tree.categories.count(_CONJUNCTION) != 1:
        return None
    below = children(tree, top_node(tree))
    while below and tree.categories[below[-1]] in _ENDINGS:
        below.pop()
    while below and tree.categories[below[0]] in _QUOTES:
        del below[0]
    if len(below) == 4 and tree.categories[below[1]] in _BETWEEN:
        del below[1]
    if [tree.categories[node] for node in below] != ["S", _CONJUNCTION, "S"]:
        return None
    first, conjunction, second = below
    if not (_has_verb_phrase(tree, first) and _has_verb_phrase(tree, second)):
        return None
    return Coordination(tree.starts[conjunction], _span(tree, first), _span(tree, second))


def _has_verb_phrase(tree: Tree, node: int) -> bool:
    return any(tree.categories[child] == "VP" for child in children(tree, node))


def _span(tree: Tree, node: int) -> Span:
    return tree.starts[node], tree.end(node)
