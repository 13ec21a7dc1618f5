"""Drawings of events, as a text tree for the terminal and as a tree in SVG; ``*`` stands for an open field."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.resources import files
from io import StringIO
from typing import TYPE_CHECKING

from sentprobe.generator.events import event as ev
from sentprobe.generator.events.notation import write_event

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

OPEN = "*"
_NUMBERS = {ev.Number.SINGULAR: "singular", ev.Number.PLURAL: "plural"}
_KINDS = {ev.ClauseKind.SUBJECT: "subject relative", ev.ClauseKind.OBJECT: "object relative"}


def _list_event_features(event: ev.Event) -> tuple[str, ...]:
    """Return the features of an event as texts, such as "active"; an open tense is "tense *"."""
    tense = "no tense" if event.mood is ev.Mood.ORDER else _format_feature("tense", event.tense)
    features = [_format_feature("frame", event.frame), _format_feature("voice", event.voice)]
    features += [tense if event.modal is None else event.modal, _format_feature("aspect", event.aspect)]
    if event.polarity is ev.Polarity.NEGATIVE:
        features.append(f"neg ({event.negator or OPEN})")
    else:
        features.append(_format_feature("polarity", event.polarity))
    if event.frame is ev.Frame.DITRANSITIVE:
        features.append(_format_feature("dative", event.dative))
    if event.mood is not ev.Mood.STATEMENT:
        features.append(event.mood.value)
    if event.fronting is not None:
        features.append(event.fronting.value)
    if event.adjunct is not None:
        features.append(event.adjunct)
    if event.adverbs is None:
        features.append(f"adverbs {OPEN}")
    elif event.adverbs:
        features.append(f"adverbs: {', '.join(event.adverbs)}")
    return tuple(features)


def _format_feature(name: str, value: StrEnum | None) -> str:
    return f"{name} {OPEN}" if value is None else str(value.value)


def _format_argument(filler: ev.Argument | None) -> str:
    """Return the words of a participant, ``_`` for a gap, or "who?" for a participant that a question asks for."""
    if filler is None:
        return OPEN
    if not isinstance(filler, ev.Participant):
        return f"{filler.value}?" if isinstance(filler, ev.Asked) else filler.value
    words = " ".join((_format_lemma(filler.determiner), *filler.adjectives, _format_lemma(filler.noun)))
    return words if filler.conjunct is None else f"{words} and {_format_argument(filler.conjunct)}"


def _format_lemma(lemma: str | None) -> str:
    return OPEN if lemma is None else lemma


def _list_participant_features(person: ev.Participant) -> tuple[str, ...]:
    """Return a participant's number, such as "plural", and the text "clause *" if its relative clause is open."""
    number = " and ".join(f"number {OPEN}" if p.number is None else _NUMBERS[p.number] for p in person.conjuncts)
    return (number, f"clause {OPEN}") if person.clause is None else (number,)


def get_clause(filler: ev.Argument | None) -> ev.RelativeClause | None:
    """Return the relative clause that modifies *filler*; None if there is none or the event leaves it open."""
    clause = filler.clause if isinstance(filler, ev.Participant) else None
    return clause if isinstance(clause, ev.RelativeClause) else None


def format_clause(clause: ev.RelativeClause) -> str:
    """Return the relativizer and the kind of a relative clause, such as "that · subject relative"."""
    kind = f"relative clause {OPEN}" if clause.kind is None else _KINDS[clause.kind]
    return f"{_format_lemma(clause.relativizer)} · {kind}"


TITLE_SIZE, TEXT_SIZE = 16, 12
TITLE_HEIGHT, LINE_HEIGHT = 22, 16
PADDING, MARGIN = 12, 16
HORIZONTAL_GAP, VERTICAL_GAP = 28, 64
BOLD_FACTOR = 1.18
"""Ratio of the width of bold letters to that of regular letters."""
NARROW_CHARS, WIDE_CHARS = frozenset("fijlrt.,:;'’|()[]! *_-"), frozenset("mwMWQOG@%—")


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnBox:
    """A box with a title above lines of smaller text; ``kind`` is "event", "participant" or "open"."""

    kind: str
    title: str
    lines: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """The x coordinate of the centre."""
        return self.x + self.width / 2

    @property
    def text(self) -> tuple[tuple[float, str], ...]:
        """Pairs of a y coordinate and a line of text, which stands below the title with its baseline at y."""
        top = self.y + PADDING + TITLE_HEIGHT
        return tuple((top + at * LINE_HEIGHT + TEXT_SIZE, s) for at, s in enumerate(self.lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A line between two boxes: an SVG path, and a label of *width* pixels, centred at (x, y)."""

    path: str
    label: str
    x: float
    y: float
    width: float
    dashed: bool = False


@dataclass(slots=True)
class Picture:
    """A drawing of an event: boxes and edges, with its width and height in pixels."""

    width: float = 0
    height: float = 0
    boxes: list[DrawnBox] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """A rectangle of the drawing, not yet placed. ``gap`` is the gap of a relative clause, such as "agent"; else ""."""

    kind: str
    title: str
    lines: tuple[str, ...] = ()
    gap: str = ""
    children: tuple[tuple[str, "_Node"], ...] = ()

    @property
    def box_width(self) -> float:
        texts = [_estimate_text_width(line, TEXT_SIZE) for line in self.lines]
        return max(_estimate_text_width(self.title, TITLE_SIZE) * BOLD_FACTOR, *texts, 40) + 2 * PADDING


def lay_out(event: ev.Event, clean: Callable[[str], str]) -> Picture:
    """Return the drawing of *event*; *clean* replaces unprintable characters in the texts that are drawn."""
    picture = Picture()
    root = _build_event_node(event, clean, inside=False)
    picture.width = _place_node(root, MARGIN, MARGIN, picture) + 2 * MARGIN
    picture.height = max(box.y + box.height for box in picture.boxes) + MARGIN
    return picture


def _build_event_node(event: ev.Event, clean: Callable[[str], str], *, inside: bool) -> _Node:
    frame, voice, tense, aspect, polarity, *adverbs = _list_event_features(event)
    lines = (f"{frame}, {voice}", f"{tense}, {aspect}", polarity, *adverbs)
    children = tuple(
        (role.value, _build_argument_node(event.argument(role), clean))
        for role in event.roles
        if not (inside and event.argument(role) is ev.GAP)
    )
    return _Node(
        kind="event",
        title=clean(_format_lemma(event.predicate)),
        lines=tuple(map(clean, lines)),
        gap=event.gap.value if inside and event.gap else "",
        children=children,
    )


def _build_argument_node(filler: ev.Argument | None, clean: Callable[[str], str]) -> _Node:
    name = clean(_format_argument(filler))
    if not isinstance(filler, ev.Participant):
        return _Node(kind="open", title=name)
    clause = get_clause(filler)
    inner = [(clean(format_clause(clause)), _build_event_node(clause.event, clean, inside=True))] if clause else []
    return _Node(kind="participant", title=name, lines=_list_participant_features(filler), children=tuple(inner))


def _place_node(node: _Node, left: float, top: float, picture: Picture) -> float:
    """Add a node and its descendants to the picture; return the width that they take up together."""
    width = _compute_width(node)
    box = DrawnBox(
        kind=node.kind,
        title=node.title,
        lines=node.lines,
        x=left + (width - node.box_width) / 2,
        y=top,
        width=node.box_width,
        height=TITLE_HEIGHT + LINE_HEIGHT * len(node.lines) + 2 * PADDING,
    )
    picture.boxes.append(box)
    at = left + (width - _compute_children_width(node)) / 2
    for label, child in node.children:
        index, slot = len(picture.boxes), _compute_slot_width(label, child)
        _place_node(child, at + (slot - _compute_width(child)) / 2, top + box.height + VERTICAL_GAP, picture)
        below = picture.boxes[index]
        picture.edges.append(_build_edge(box, below, label))
        if child.gap:
            picture.edges.append(_build_gap_edge(box, below, label, child.gap))
        at += slot + HORIZONTAL_GAP
    return width


def _compute_width(node: _Node) -> float:
    side_width = max([_compute_side_width(node), *(_compute_side_width(child) for _, child in node.children)])
    return max(node.box_width + 2 * side_width, _compute_children_width(node))


def _compute_children_width(node: _Node) -> float:
    widths = [_compute_slot_width(label, child) for label, child in node.children]
    return sum(widths) + HORIZONTAL_GAP * max(len(widths) - 1, 0)


def _compute_slot_width(label: str, child: _Node) -> float:
    return max(_compute_width(child), _compute_label_width(label) + 2 * _compute_side_width(child))


def _compute_side_width(node: _Node) -> float:
    """Return the width to reserve beside a relative clause for the dashed edge to its noun; 0 if *node* has no gap."""
    return _compute_label_width(node.gap) + 8 if node.gap else 0


def _compute_label_width(label: str) -> float:
    return _estimate_text_width(label, TEXT_SIZE) + 10


def _build_edge(above: DrawnBox, below: DrawnBox, label: str) -> Edge:
    start, end = above.y + above.height, below.y
    half = (start + end) / 2
    path = (
        f"M{above.middle:.1f},{start:.1f} C{above.middle:.1f},{half:.1f} "
        f"{below.middle:.1f},{half:.1f} {below.middle:.1f},{end:.1f}"
    )
    middle = (above.middle + below.middle) / 2
    return Edge(path=path, label=label, x=middle, y=half, width=_compute_label_width(label))


def _build_gap_edge(above: DrawnBox, below: DrawnBox, solid_label: str, label: str) -> Edge:
    """Return the dashed edge from a relative clause back to its noun, right of the solid edge from noun to clause."""
    start, end = below.y + TITLE_HEIGHT, above.y + above.height / 2
    right = max(below.x + below.width, above.x + above.width, above.middle + _compute_label_width(solid_label) / 2)
    middle = right + 4 + _compute_label_width(label) / 2
    left, back = below.x + below.width, above.x + above.width
    turn = (8 * middle - left - back) / 6  # puts the middle of the curve at *middle*
    path = f"M{left:.1f},{start:.1f} C{turn:.1f},{start:.1f} {turn:.1f},{end:.1f} {back:.1f},{end:.1f}"
    return Edge(path=path, label=label, x=middle, y=(start + end) / 2, width=_compute_label_width(label), dashed=True)


def _estimate_text_width(text: str, size: int) -> float:
    return size * sum(
        0.36 if char in NARROW_CHARS else 0.95 if char in WIDE_CHARS or not char.isascii() else 0.6 for char in text
    )


def draw_text(event: ev.Event, *, width: int = 80, color: bool = False) -> str:
    """Return *event* as a text tree of at most *width* columns; *color* adds the escape codes of a terminal.

    >>> from sentprobe.generator.events.notation import read_event
    >>> print(draw_text(read_event("sleep[intransitive](agent: the man[sg, bare])")), end="")
    sleep  intransitive, active, tense *, aspect *, polarity *, adverbs *
    └── agent: the man  singular
    """
    from rich.console import Console

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
    console.print(_build_event_tree(event, ""))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _build_event_tree(event: ev.Event, modified: str) -> "Tree":
    from rich.tree import Tree

    label = _build_label("", _format_lemma(event.predicate), _list_event_features(event), style="bold cyan")
    tree = Tree(label, guide_style="dim")
    for role in event.roles:
        filler = event.argument(role)
        name = _format_argument(filler)
        features = _list_participant_features(filler) if isinstance(filler, ev.Participant) else ()
        if filler is ev.GAP and modified:
            features = (f"gap: {modified}",)
        branch = tree.add(_build_label(f"{role.value}: ", name, features, style="bold"))
        clause = get_clause(filler)
        if clause is not None:
            inner = branch.add(_build_label("", format_clause(clause), (), style="italic"))
            inner.children.append(_build_event_tree(clause.event, name))
    return tree


def _build_label(before: str, name: str, features: tuple[str, ...], *, style: str) -> "Text":
    from rich.text import Text

    text = Text(before, style="", overflow="fold")
    text.append(name, style=style)
    if features:
        text.append(f"  {', '.join(features)}", style="dim")
    return Text(replace_unprintable(text.plain), spans=text.spans, overflow="fold")


def draw_svg(event: ev.Event) -> str:
    """Return *event* as SVG: a box for each event and participant, and an edge for each role.

    A dashed edge leads from a relative clause back to the noun that fills its gap.
    """
    from jinja2 import Environment

    picture = lay_out(event, replace_unprintable)
    source = files(__package__).joinpath("event.svg.j2").read_text(encoding="utf-8")
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(source)
    return template.render(picture=picture, text=replace_unprintable(write_event(event)))


def replace_unprintable(text: str) -> str:
    """Return *text* with U+FFFD in place of each unprintable character."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)
