"""Groups of options of ``gen``, which together define the space of possible sentences."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from sentprobe.commands.shared.options import declare_option
from sentprobe.common.settings import FIX, VARY, Repeatable
from sentprobe.generator.events.event import Aspect, Mood, Number, Polarity, Role, Tense, Voice
from sentprobe.lexicon import Flag
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.languages.german import GERMAN
from sentprobe.lexicon.words import EXCLUDING_FLAGS

MUST = "Required and forbidden content (repeatable)"
OUTPUT = "Output"
"""MUST and OUTPUT are titles of panels (groups of options) in ``--help``."""

content_option, feature_option, word_option = (partial(declare_option, panel) for panel in (MUST, FIX, VARY))
"""Functions that declare an option in the ``--help`` panel MUST, FIX or VARY."""
aspect_option = partial(feature_option, metavar=f"[{'|'.join(ENGLISH.aspects)}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentOptions:
    """Options that require or forbid events and lemmas."""

    require: Annotated[Repeatable, content_option(help="Required event: 'help[past](agent: lawyer)'.")] = None
    require_any: Annotated[Repeatable, content_option(help="Event; with several, at least one is required.")] = None
    forbid: Annotated[Repeatable, content_option(help="Forbidden event.")] = None
    require_word: Annotated[Repeatable, content_option(help="Required lemma.")] = None
    forbid_word: Annotated[Repeatable, content_option(help="Forbidden lemma.")] = None
    config: Annotated[Path | None, content_option(help="Constraint file (JSON) as in Ettinger et al.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureOptions:
    """Options that give main clauses, relative clauses or nouns one value of a feature, such as ``--tense past``."""

    mood: Annotated[Mood | None, feature_option(help="Kind of sentence. Default: statement.")] = None
    ask: Annotated[Role | None, feature_option(help="Role that questions ask for. Default: yes/no.")] = None
    reflexive: Annotated[Role | None, feature_option(help="Role of himself, herself or themselves.")] = None
    tense: Annotated[Tense | None, feature_option(help="Tense of main clauses.")] = None
    voice: Annotated[Voice | None, feature_option(help="Voice of main clauses.")] = None
    aspect: Annotated[
        Aspect | None, aspect_option(help=f"Aspect of main clauses; in German {' or '.join(GERMAN.aspects)}.")
    ] = None
    polarity: Annotated[Polarity | None, feature_option(help="Polarity of main clauses.")] = None
    rc_tense: Annotated[Tense | None, feature_option(help="Tense of relative clauses.")] = None
    rc_voice: Annotated[Voice | None, feature_option(help="Voice of relative clauses.")] = None
    rc_aspect: Annotated[Aspect | None, aspect_option(help="Aspect of relative clauses.")] = None
    rc_polarity: Annotated[Polarity | None, feature_option(help="Polarity of relative clauses.")] = None
    number: Annotated[Number | None, feature_option(help="Number of all nouns.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WordOptions:
    """Options for function words, word order and verbs, and for the number of adverbs, adjectives or coordinations."""

    determiner: Annotated[
        Repeatable,
        word_option(help="the (default), a, some, no, every, this, that, any, three, 'at least two', name (Mary)."),
    ] = None
    relativizer: Annotated[Repeatable, word_option(help="that (default), who, which.")] = None
    negator: Annotated[Repeatable, word_option(help="not (default), n't.")] = None
    modal: Annotated[Repeatable, word_option(help="can, must, ..., or none (default): a tense instead of a modal.")] = (
        None
    )
    adjunct: Annotated[Repeatable, word_option(help="time, place, 'on Monday', ..., or none (default).")] = None
    fronting: Annotated[
        Repeatable, word_option(help="Order of main clauses: none (default), adjunct-first, object-first (German).")
    ] = None
    adverbs: Annotated[str, word_option(help="Number of adverbs before a verb: 2, or 0-2.")] = "0"
    adjectives: Annotated[str, word_option(help="Number of adjectives before a noun: 1, or 0-1.")] = "0"
    coordinations: Annotated[
        str, word_option(help="Number of pairs such as 'the man and the woman' in a sentence: 1, or 0-1.")
    ] = "0"
    allow: Annotated[
        list[Flag] | None,
        word_option(
            metavar=f"[{'|'.join(EXCLUDING_FLAGS)}]",
            help="stative, punctual, psych: such verbs also in the progressive; syncretic: also verbs whose past "
            "equals the plain form (hit).",
        ),
    ] = None
