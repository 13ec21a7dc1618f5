"""Derivations of a grammar, as trees, and as flat lists of words with brackets and dependencies."""

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

PARENT = -1
"""Value of ``FlatItem.head`` for the head of the constituent, and for items whose head is outside it."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A word of a derivation, with its annotation: Penn or STTS tag, universal part of speech, features, relation."""

    form: str
    lemma: str
    tag: str
    pos: str
    feats: str
    rel: str
    depends_on_filler: bool = False
    """Whether the word depends on the relativizer or question word, as a stranded preposition does."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A constituent that is not expanded into words, such as a noun phrase."""

    category: str
    name: str
    """Role of the participant, such as ``"agent"``."""
    rel: str
    case: str = ""
    last: bool = False
    """Whether the constituent ends the sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A constituent. In the constituency tree, a constituent without label is replaced by its children."""

    label: str | None
    rel: str
    children: tuple["Node | Leaf | Hole", ...]
    is_filler: bool = False


@dataclass(frozen=True, slots=True)
class FlatItem:
    """A word or hole, its head's index (PARENT if that is outside the constituent), and brackets before and after."""

    content: Leaf | Hole
    head: int
    rel: str
    before: str
    after: str


class _Dependent(NamedTuple):
    """A word or Hole that has no head yet. If ``wants_filler``, its head will be the relativizer or question word."""

    position: int
    rel: str
    wants_filler: bool = False


class _Builder:
    """Builder of a flat derivation. The keys of ``heads``, ``before`` and ``after`` are positions in ``contents``."""

    def __init__(self) -> None:
        self.contents: list[Leaf | Hole] = []
        self.heads: dict[int, tuple[int, str]] = {}
        self.before: dict[int, str] = defaultdict(str)
        self.after: dict[int, str] = defaultdict(str)

    def add_node(self, node: Node | Leaf | Hole) -> tuple[int | None, list[_Dependent]]:
        """Add *node*; return the position of its head item (None if unknown), and the items that still lack a head."""
        first = len(self.contents)
        if not isinstance(node, Node):
            self.contents.append(node)
            if isinstance(node, Leaf) and node.depends_on_filler:
                return None, [_Dependent(first, node.rel, wants_filler=True)]
            return first, []
        # A dependent whose head is not among the children goes up to the parent, which has the head in another branch.
        head = filler = None
        dependents = []
        for child in node.children:
            position, dependents_below = self.add_node(child)
            dependents += dependents_below
            if child.rel == "head":
                head = position
            elif position is not None:
                dependents.append(_Dependent(position, child.rel))
            if isinstance(child, Node) and child.is_filler:
                filler = position
        if node.label is not None:
            self.before[first] = f"({node.label} {self.before[first]}"
            self.after[len(self.contents) - 1] += ")"
        return head, self.attach(dependents, head, filler)

    def attach(self, dependents: list[_Dependent], head: int | None, filler: int | None) -> list[_Dependent]:
        """Attach each dependent to *filler* if it ``wants_filler``, else to *head*; return those that get no head."""
        unattached = []
        for dependent in dependents:
            target = filler if dependent.wants_filler else head
            if target is None:
                unattached.append(dependent)
            else:
                self.heads[dependent.position] = (target, dependent.rel)
        return unattached


def flatten(node: Node) -> tuple[FlatItem, ...]:
    """Return the words and holes (unexpanded constituents) of *node*, in order, with heads, relations and brackets."""
    builder = _Builder()
    head, dependents = builder.add_node(node)
    if head is not None:
        builder.heads[head] = (PARENT, "head")
    builder.attach(dependents, PARENT, PARENT)
    return tuple(
        FlatItem(content, *builder.heads[i], builder.before[i], builder.after[i])
        for i, content in enumerate(builder.contents)
    )
