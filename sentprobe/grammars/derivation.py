"""Derivations of a grammar, as trees, and as flat lists of words with brackets and dependencies."""

from dataclasses import dataclass

PARENT = -1
"""Value of ``FlatItem.head`` for the head of the constituent, and for items whose head is outside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
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
    """A constituent; if it has no label, the constituency tree has its children in its place."""

    label: str | None
    rel: str
    children: tuple["Node | Leaf | Hole", ...]
    is_filler: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatItem:
    """A word or hole, the index of its head (or PARENT), and the brackets of the tree before and after it."""

    content: Leaf | Hole
    head: int
    rel: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loose:
    """An item of a flat derivation whose head is not yet known."""

    index: int
    rel: str
    wants_filler: bool


@dataclass(slots=True)
class _Builder:
    """Builder of a flat derivation: contents, heads with relations, and brackets, by the position of the item."""

    contents: list[Leaf | Hole]
    heads: dict[int, tuple[int, str]]
    before: dict[int, str]
    after: dict[int, str]

    def add_node(self, node: Node | Leaf | Hole) -> tuple[int | None, list[_Loose]]:
        """Add *node*; return the position of its head item (None if unknown), and the items that still lack a head."""
        if not isinstance(node, Node):
            self.contents.append(node)
            index = len(self.contents) - 1
            if isinstance(node, Leaf) and node.depends_on_filler:
                return None, [_Loose(index=index, rel=node.rel, wants_filler=True)]
            return index, []
        first = len(self.contents)
        visited = [(child, *self.add_node(child)) for child in node.children]
        if node.label is not None:
            self.before[first] = f"({node.label} " + self.before.get(first, "")
            last = len(self.contents) - 1
            self.after[last] = self.after.get(last, "") + ")"
        return self.attach_children(visited)

    def attach_children(
        self, visited: list[tuple[Node | Leaf | Hole, int | None, list[_Loose]]]
    ) -> tuple[int | None, list[_Loose]]:
        """Attach children to the head child; return the position of the head, and the items that still lack a head."""
        head = next((at for child, at, _ in visited if child.rel == "head"), None)
        filler = next((at for child, at, _ in visited if isinstance(child, Node) and child.is_filler), None)
        loose = [
            _Loose(index=at, rel=child.rel, wants_filler=False)
            for child, at, _ in visited
            if at is not None and child.rel != "head"
        ]
        loose += [item for _, _, below in visited for item in below]
        unplaced = []
        for item in loose:
            target = filler if item.wants_filler else head
            if target is None:
                unplaced.append(item)
            else:
                self.heads[item.index] = (target, item.rel)
        return head, unplaced


def flatten(node: Node) -> tuple[FlatItem, ...]:
    """Return the words and holes (unexpanded constituents) of *node*, in order, with heads, relations and brackets."""
    builder = _Builder([], {}, {}, {})
    head, loose = builder.add_node(node)
    if head is not None:
        builder.heads[head] = (PARENT, "head")
    builder.heads.update({item.index: (PARENT, item.rel) for item in loose})
    return tuple(
        FlatItem(
            content=content,
            head=builder.heads[i][0],
            rel=builder.heads[i][1],
            before=builder.before.get(i, ""),
            after=builder.after.get(i, ""),
        )
        for i, content in enumerate(builder.contents)
    )
