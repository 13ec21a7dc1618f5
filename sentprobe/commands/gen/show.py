"""The command ``gen show``: draw an event as a tree, and as a picture."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.shared.options import REPLACED, LanguageOption, LexiconOption
from sentprobe.commands.shared.output_paths import OUTPUT_FILE
from sentprobe.disk.files import write_atomically
from sentprobe.display.screen import print_place
from sentprobe.generator.events.drawing import draw_svg, draw_text
from sentprobe.generator.events.matching import find_open_fields
from sentprobe.generator.sentences.realize import realize
from sentprobe.lexicon.read import load_lexicon


def show(
    event: Annotated[str, typer.Argument(help="Event, such as 'help[past](agent: lawyer)'.")],
    svg: Annotated[Path | None, typer.Option(help=f"SVG file for a picture; {REPLACED}"), OUTPUT_FILE] = None,
    lexicon: LexiconOption = None,
    language: LanguageOption = "en",
) -> None:
    """Draw an event as a tree; print its sentence if no field is open."""
    from sentprobe.generator.bulk.generate import read_known_event

    words = load_lexicon(lexicon, language)
    parsed_event = read_known_event(event, words)
    print(draw_text(parsed_event, color=sys.stdout.isatty()))
    if not list(find_open_fields(parsed_event)):
        print(realize(parsed_event, words).text)
    if svg is not None:
        write_atomically(svg, draw_svg(parsed_event))
        print_place(f"picture: {svg}")
