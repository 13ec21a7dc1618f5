"""Drawings of events: a tree for the terminal and a picture (SVG)."""

from functools import cache
from importlib.resources import files
from io import StringIO
from typing import TYPE_CHECKING

from sentprobe.generator.draw_labels import (
    argument_name,
    clause_label,
    clause_of,
    event_features,
    event_roles,
    lemma_label,
    participant_features,
)
from sentprobe.generator.draw_layout import lay_out
from sentprobe.generator.event import GAP, Argument, Event, Participant, Role
from sentprobe.generator.notation import write_event

if TYPE_CHECKING:
    from jinja2 import Template
    from rich.text import Text
    from rich.tree import Tree

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
