"""The options of ``gen`` that describe a space of sentences, in groups."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.options import FIX, VARY
from sentprobe.generator.event import Aspect, Number, Polarity, Tense, Voice
from sentprobe.lexicon import Flag

MUST = "What the sentences must and must not contain"
OUTPUT = "Output"
"""Panels of ``--help``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentOptions:
    """What the sentences must and must not contain: events as they are written, and lemmas."""

    require: Annotated[
        list[str] | None,
        typer.Option(
            help="Event to contain, e.g. 'help[past](agent: lawyer[pl])'.", rich_help_panel=MUST
        ),
    ] = None
    require_any: Annotated[
        list[str] | None,
        typer.Option(help="Event of which at least one is contained.", rich_help_panel=MUST),
    ] = None
    forbid: Annotated[
        list[str] | None, typer.Option(help="Event not to contain.", rich_help_panel=MUST)
    ] = None
    require_word: Annotated[
        list[str] | None, typer.Option(help="Lemma to contain.", rich_help_panel=MUST)
    ] = None
    forbid_word: Annotated[
        list[str] | None, typer.Option(help="Lemma not to contain.", rich_help_panel=MUST)
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(help="Constraint file of the published generator.", rich_help_panel=MUST),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureOptions:
    """The features that are fixed: of main clauses, of relative clauses, of all nouns."""

    tense: Annotated[Tense | None, typer.Option(rich_help_panel=FIX)] = None
    voice: Annotated[Voice | None, typer.Option(rich_help_panel=FIX)] = None
    aspect: Annotated[Aspect | None, typer.Option(rich_help_panel=FIX)] = None
    polarity: Annotated[Polarity | None, typer.Option(rich_help_panel=FIX)] = None
    rc_tense: Annotated[
        Tense | None, typer.Option(help="Of relative clauses.", rich_help_panel=FIX)
    ] = None
    rc_voice: Annotated[
        Voice | None, typer.Option(help="Of relative clauses.", rich_help_panel=FIX)
    ] = None
    rc_aspect: Annotated[
        Aspect | None, typer.Option(help="Of relative clauses.", rich_help_panel=FIX)
    ] = None
    rc_polarity: Annotated[
        Polarity | None, typer.Option(help="Of relative clauses.", rich_help_panel=FIX)
    ] = None
    number: Annotated[Number | None, typer.Option(help="Of all nouns.", rich_help_panel=FIX)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WordOptions:
    """The words that structure allows, to choose from."""

    determiner: Annotated[
        list[str] | None, typer.Option(help="the, a, some, no, this, that.", rich_help_panel=VARY)
    ] = None
    relativizer: Annotated[
        list[str] | None, typer.Option(help="that, who.", rich_help_panel=VARY)
    ] = None
    negator: Annotated[list[str] | None, typer.Option(help="not, n't.", rich_help_panel=VARY)] = (
        None
    )
    adverbs: Annotated[
        str, typer.Option(help="How many before a verb: 2, or 0-2.", rich_help_panel=VARY)
    ] = "0"
    allow: Annotated[
        list[Flag] | None,
        typer.Option(
            help="Use stative verbs in the progressive; use verbs like hit, where the vocabulary "
            "has them (published).",
            rich_help_panel=VARY,
        ),
    ] = None
