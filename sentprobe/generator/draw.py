"""Drawings of events: a tree for the terminal and a picture (SVG).

Short texts say what is in the event; ``*`` stands for what is left open.

The picture is a layered tree: an event above its participants, each above its relative clause. A
node is as wide as the widest of its box, the labels of its edges and its children together.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from io import StringIO
from typing import TYPE_CHECKING

from sentprobe.generator.event import (
    BARE,
    GAP,
    Argument,
    ClauseKind,
    Event,
    Frame,
    Number,
    Participant,
    Polarity,
    RelativeClause,
    Role,
)
from sentprobe.generator.notation import write_event

if TYPE_CHECKING:
    from jinja2 import Template
    from rich.text import Text
    from rich.tree import Tree


OPEN = "*"
_NUMBERS = {Number.SINGULAR: "singular", Number.PLURAL: "plural"}
_KINDS = {ClauseKind.SUBJECT: "subject relative", ClauseKind.OBJECT: "object relative"}


def event_features(event: Event) -> tuple[str, ...]:
    """Return the features of an event, the open ones by name."""
    features = [_or_open(name, getattr(event, name)) for name in ("frame", "voice")]
    features += [_or_open(name, getattr(event, name)) for name in ("tense", "aspect")]
    if event.polarity is Polarity.NEGATIVE:
        features.append(f"neg ({event.negator or OPEN})")
    else:
        features.append(_or_open("polarity", event.polarity))
    if event.adverbs is None:
        features.append(f"adverbs {OPEN}")
    elif event.adverbs:
        features.append(f"adverbs: {', '.join(event.adverbs)}")
    return tuple(features)


def _or_open(name: str, value: StrEnum | None) -> str:
    return f"{name} {OPEN}" if value is None else str(value.value)


def event_roles(event: Event) -> tuple[tuple[Role, Argument | None], ...]:
    """Return the roles that an event has or may have, with what fills them."""
    roles = (Role.AGENT,) if event.frame is Frame.INTRANSITIVE else tuple(Role)
    return tuple((role, event.argument(role)) for role in roles)


def argument_name(filler: Argument | None) -> str:
    """Return determiner and noun; a gap is ``_``."""
    if filler is None or filler is GAP:
        return OPEN if filler is None else GAP.value
    return f"{lemma_label(filler.determiner)} {lemma_label(filler.noun)}"


def lemma_label(lemma: str | None) -> str:
    """Return a lemma, or the star of an open one."""
    return OPEN if lemma is None else lemma


def participant_features(person: Participant) -> tuple[str, ...]:
    """Return the number, and whether there is a relative clause where none is drawn."""
    number = f"number {OPEN}" if person.number is None else _NUMBERS[person.number]
    return (number, f"clause {OPEN}") if person.clause is None else (number,)


def clause_of(filler: Argument | None) -> RelativeClause | None:
    """Return the relative clause of a participant that has one."""
    if not isinstance(filler, Participant) or filler.clause is BARE:
        return None
    return filler.clause if isinstance(filler.clause, RelativeClause) else None


def clause_label(clause: RelativeClause) -> str:
    """Return the relativizer and the kind of a relative clause."""
    kind = f"relative clause {OPEN}" if clause.kind is None else _KINDS[clause.kind]
    return f"{lemma_label(clause.relativizer)} · {kind}"


TITLE_SIZE, TEXT_SIZE = 16, 12


TITLE_HEIGHT, LINE_HEIGHT = 22, 16


PADDING, MARGIN = 12, 16


BETWEEN, BELOW = 28, 64


BOLD = 1.18
"""How much wider bold letters are."""


NARROW, WIDE = frozenset("fijlrt.,:;'’|()[]! *_-"), frozenset("mwMWQOG@%—")


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnBox:
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
    boxes: list[DrawnBox] = field(default_factory=list)
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
    box = DrawnBox(
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


def _edge(above: DrawnBox, below: DrawnBox, label: str) -> Edge:
    start, end = above.y + above.height, below.y
    half = (start + end) / 2
    path = (
        f"M{above.middle:.1f},{start:.1f} C{above.middle:.1f},{half:.1f} "
        f"{below.middle:.1f},{half:.1f} {below.middle:.1f},{end:.1f}"
    )
    middle = (above.middle + below.middle) / 2
    return Edge(path=path, label=label, x=middle, y=half, width=_label_width(label))


def _gap_edge(above: DrawnBox, below: DrawnBox, beside: str, label: str) -> Edge:
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


TEMPLATE = "event.svg.j2"


def draw_text(event: Event, *, width: int = 80, color: bool = False) -> str:
    """Return *event* as a tree of at most *width* columns; with *color*, styled for a terminal.

    >>> from sentprobe.generator.notation import read_event
    >>> print(draw_text(read_event("sleep[intransitive](agent: the man[sg, bare])")), end="")
    sleep  intransitive, active, tense *, aspect *, polarity *, adverbs *
    └── agent: the man  singular
    """
    from rich.console import Console  # noqa: PLC0415 - rich is slow to load

    out = StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=color,
        force_jupyter=False,
        color_system="standard" if color else None,
        legacy_windows=False,
        no_color=not color,
        highlight=False,
        emoji=False,
        _environ={},
    )
    console.print(_event_tree(event, ""))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _event_tree(event: Event, modified: str) -> "Tree":
    """Return the tree of an event; a gap in it stands for the noun *modified*."""
    from rich.tree import Tree  # noqa: PLC0415

    label = _label("", lemma_label(event.predicate), event_features(event), style="bold cyan")
    tree = Tree(label, guide_style="dim")
    for role, filler in event_roles(event):
        _add_argument(tree, role, filler, modified)
    return tree


def _add_argument(tree: "Tree", role: Role, filler: Argument | None, modified: str) -> None:
    name = argument_name(filler)
    features = participant_features(filler) if isinstance(filler, Participant) else ()
    if filler is GAP and modified:
        features = (f"gap: {modified}",)
    branch = tree.add(_label(f"{role.value}: ", name, features, style="bold"))
    clause = clause_of(filler)
    if clause is not None:
        inner = branch.add(_label("", clause_label(clause), (), style="italic"))
        inner.children.append(_event_tree(clause.event, name))


def _label(before: str, name: str, features: tuple[str, ...], *, style: str) -> "Text":
    from rich.text import Text  # noqa: PLC0415

    text = Text(before, style="", overflow="fold")
    text.append(name, style=style)
    if features:
        text.append(f"  {', '.join(features)}", style="dim")
    return Text(printable(text.plain), spans=text.spans, overflow="fold")


def draw_svg(event: Event) -> str:
    """Return *event* as a picture: a box for each event and participant, and edges for the roles.

    A gap is a dashed edge from its clause back to the noun that the clause modifies.
    """
    picture = lay_out(event, printable)
    return _template().render(picture=picture, text=printable(write_event(event)))


@cache
def _template() -> "Template":
    from jinja2 import Environment  # noqa: PLC0415 - jinja2 is slow to load

    source = files("sentprobe.generator").joinpath(TEMPLATE).read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(source)


def printable(text: str) -> str:
    """Return *text* with a question mark in a diamond for what has no shape, one for one."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)
