"""The command ``gen show``: an event as a tree, and as a picture."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.options import LexiconOption
from sentprobe.files import atomic_path
from sentprobe.generator.draw import draw_svg, draw_text
from sentprobe.generator.event import open_fields
from sentprobe.generator.generate import read_known
from sentprobe.generator.realize import realize
from sentprobe.lexicon.read import load_lexicon


def show(
    event: Annotated[str, typer.Argument(help="An event, e.g. 'help\\[past](agent: lawyer)'.")],
    svg: Annotated[Path | None, typer.Option("--svg", help="Write a picture.")] = None,
    lexicon: LexiconOption = None,
) -> None:
    """Draw an event as a tree; with its sentence, if it is fully specified."""
    words = load_lexicon(lexicon)
    found = read_known(event, words)
    print(draw_text(found, color=sys.stdout.isatty()))
    if not list(open_fields(found)):
        print(realize(found, words).text)
    if svg is not None:
        with atomic_path(svg) as temporary:
            temporary.write_text(draw_svg(found), encoding="utf-8")
