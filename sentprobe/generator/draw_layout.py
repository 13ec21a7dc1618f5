"""Where the boxes and edges of a picture of an event go.

The picture is a layered tree: an event above its participants, each above its relative clause. A
node is as wide as the widest of its box, the labels of its edges and its children together.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from sentprobe.generator.draw_labels import (
    argument_name,
    clause_label,
    clause_of,
    event_features,
    event_roles,
    lemma_label,
    participant_features,
)
from sentprobe.generator.event import GAP, Argument, Event, Participant

TITLE_SIZE, TEXT_SIZE = 16, 12
TITLE_HEIGHT, LINE_HEIGHT = 22, 16
PADDING, MARGIN = 12, 16
BETWEEN, BELOW = 28, 64
BOLD = 1.18
"""How much wider bold letters are."""
NARROW, WIDE = frozenset("fijlrt.,:;'’|()[]! *_-"), frozenset("mwMWQOG@%—")


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A box with a title and lines of smaller text; ``kind`` is event, participant or open."""

    kind: str
    title: str
    lines: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """The x of the centre."""
        return self.x + self.width / 2

    @property
    def text(self) -> tuple[tuple[float, str], ...]:
        """The lines below the title, each with the y of its base line."""
        top = self.y + PADDING + TITLE_HEIGHT
        return tuple((top + at * LINE_HEIGHT + TEXT_SIZE, s) for at, s in enumerate(self.lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A line (an SVG path) with its label, the middle of which is at (x, y)."""

    path: str
    label: str
    x: float
    y: float
    width: float
    dashed: bool = False


@dataclass(slots=True)
class Picture:
    """Boxes and edges, and the size that holds them."""

    width: float = 0
    height: float = 0
    boxes: list[Box] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """A box before it has its place; ``gap`` is the role that the box above fills in it."""

    kind: str
    title: str
    lines: tuple[str, ...] = ()
    gap: str = ""
    children: tuple[tuple[str, "_Node"], ...] = ()

    @property
    def box_width(self) -> float:
        texts = [text_width(line, TEXT_SIZE) for line in self.lines]
        return max(text_width(self.title, TITLE_SIZE) * BOLD, *texts, 40) + 2 * PADDING

    @property
    def box_height(self) -> float:
        return TITLE_HEIGHT + LINE_HEIGHT * len(self.lines) + 2 * PADDING


def lay_out(event: Event, clean: Callable[[str], str]) -> Picture:
    """Return the picture of *event*; *clean* is applied to every text in it."""
    picture = Picture()
    root = _event_node(event, clean, inside=False)
    picture.width = _place(root, MARGIN, MARGIN, picture) + 2 * MARGIN
    picture.height = max(box.y + box.height for box in picture.boxes) + MARGIN
    return picture


def _event_node(event: Event, clean: Callable[[str], str], *, inside: bool) -> _Node:
    """Return the node of an event, *inside* of a relative clause or not."""
    frame, voice, tense, aspect, polarity, *adverbs = event_features(event)
    lines = (f"{frame}, {voice}", f"{tense}, {aspect}", polarity, *adverbs)
    children = tuple(
        (role.value, _argument_node(filler, clean))
        for role, filler in event_roles(event)
        if not (inside and filler is GAP)
    )
    return _Node(
        kind="event",
        title=clean(lemma_label(event.predicate)),
        lines=tuple(map(clean, lines)),
        gap=event.gap.value if inside and event.gap else "",
        children=children,
    )


def _argument_node(filler: Argument | None, clean: Callable[[str], str]) -> _Node:
    name = clean(argument_name(filler))
    if not isinstance(filler, Participant):
        return _Node(kind="open", title=name)
    clause = clause_of(filler)
    children: tuple[tuple[str, _Node], ...] = ()
    if clause is not None:
        inner = _event_node(clause.event, clean, inside=True)
        children = ((clean(clause_label(clause)), inner),)
    return _Node(
        kind="participant", title=name, lines=participant_features(filler), children=children
    )


def _place(node: _Node, left: float, top: float, picture: Picture) -> float:
    """Put a node and what is below it into the picture; return the width that they take."""
    width = _width(node)
    box = Box(
        kind=node.kind,
        title=node.title,
        lines=node.lines,
        x=left + (width - node.box_width) / 2,
        y=top,
        width=node.box_width,
        height=node.box_height,
    )
    picture.boxes.append(box)
    at = left + (width - _children_width(node)) / 2
    for label, child in node.children:
        index, slot = len(picture.boxes), _slot(label, child)
        _place(child, at + (slot - _width(child)) / 2, top + box.height + BELOW, picture)
        below = picture.boxes[index]
        picture.edges.append(_edge(box, below, label))
        if child.gap:
            picture.edges.append(_gap_edge(box, below, label, child.gap))
        at += slot + BETWEEN
    return width


def _width(node: _Node) -> float:
    """Return the width of a node with all that is below it."""
    beside = max([_beside(node), *(_beside(child) for _, child in node.children)])
    return max(node.box_width + 2 * beside, _children_width(node))


def _children_width(node: _Node) -> float:
    widths = [_slot(label, child) for label, child in node.children]
    return sum(widths) + BETWEEN * max(len(widths) - 1, 0)


def _slot(label: str, child: _Node) -> float:
    """Return the width of a child with its labels."""
    return max(_width(child), _label_width(label) + 2 * _beside(child))


def _beside(node: _Node) -> float:
    """Return the room that the dashed edge from a node takes on its right."""
    return _label_width(node.gap) + 8 if node.gap else 0


def _label_width(label: str) -> float:
    return text_width(label, TEXT_SIZE) + 10


def _edge(above: Box, below: Box, label: str) -> Edge:
    start, end = above.y + above.height, below.y
    half = (start + end) / 2
    path = (
        f"M{above.middle:.1f},{start:.1f} C{above.middle:.1f},{half:.1f} "
        f"{below.middle:.1f},{half:.1f} {below.middle:.1f},{end:.1f}"
    )
    middle = (above.middle + below.middle) / 2
    return Edge(path=path, label=label, x=middle, y=half, width=_label_width(label))


def _gap_edge(above: Box, below: Box, beside: str, label: str) -> Edge:
    """Return the dashed edge from a clause, on the right of its solid edge, to its noun."""
    start, end = below.y + TITLE_HEIGHT, above.y + above.height / 2
    right = max(
        below.x + below.width, above.x + above.width, above.middle + _label_width(beside) / 2
    )
    middle = right + 4 + _label_width(label) / 2
    left, back = below.x + below.width, above.x + above.width
    turn = (8 * middle - left - back) / 6  # so that the curve is halfway at *middle*
    path = (
        f"M{left:.1f},{start:.1f} C{turn:.1f},{start:.1f} {turn:.1f},{end:.1f} {back:.1f},{end:.1f}"
    )
    return Edge(
        path=path,
        label=label,
        x=middle,
        y=(start + end) / 2,
        width=_label_width(label),
        dashed=True,
    )


def text_width(text: str, size: int) -> float:
    """Return about how wide *text* is in a sans-serif font."""
    return size * sum(map(_char_width, text))


def _char_width(char: str) -> float:
    if char in NARROW:
        return 0.36
    if char in WIDE or not char.isascii():
        return 0.95
    return 0.6
