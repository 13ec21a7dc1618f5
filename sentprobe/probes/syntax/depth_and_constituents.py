"""The depth, top constituents and coordinated clauses of a constituent tree (Conneau et al. 2018, section 2)."""

from dataclasses import dataclass
from typing import TypeAlias

from sentprobe.probes.syntax.trees import Tree, iterate_nodes, list_children

Span: TypeAlias = tuple[int, int]
"""The index of the first word of a phrase, and the index of the first word after the phrase."""
_CONJUNCTION = "CC"
_QUOTES = frozenset(("``", "''"))
_ENDINGS = _QUOTES | {"."}
_SEPARATORS = frozenset((",", ":"))


def compute_depth(tree: Tree) -> int:
    """Return the number of edges from ROOT to the deepest word, for the task TreeDepth.

    >>> from sentprobe.probes.syntax.trees import read_tree
    >>> compute_depth(read_tree("(ROOT (S (NP (PRP We)) (VP (VBD saw) (NP (NN snow)))))"))
    5
    """
    return 1 + max(edges for _, edges in iterate_nodes(tree))


def find_top_node(tree: Tree) -> int:
    """Return the only child of ROOT, or ROOT itself if it has several children."""
    below = list_children(tree, 0)
    return below[0] if len(below) == 1 else 0


def list_top_constituents(tree: Tree) -> tuple[str, ...] | None:
    """Return the categories of the children of the top node, for the task TopConst.

    Punctuation and quotes count as constituents. If the top node is a part-of-speech tag, return None.

    >>> from sentprobe.probes.syntax.trees import read_tree
    >>> tree = read_tree("((S (ADVP (RB Then)) (NP (NN rain)) (VP (VBD fell)) (. .)))")
    >>> list_top_constituents(tree)
    ('ADVP', 'NP', 'VP', '.')
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
    if len(below) == 4 and tree.categories[below[1]] in _SEPARATORS:
        del below[1]
    if [tree.categories[node] for node in below] != ["S", _CONJUNCTION, "S"]:
        return None
    first, conjunction, second = below
    if not all("VP" in [tree.categories[child] for child in list_children(tree, node)] for node in (first, second)):
        return None
    spans = ((tree.starts[node], tree.find_end(node)) for node in (first, second))
    return Coordination(tree.starts[conjunction], *spans)
