"""Build the space of possible sentences from the options of ``gen``, and choose the format of the output."""

import re
from collections.abc import Sequence
from pathlib import Path

from sentprobe.commands.shared.gen_options import ContentOptions, FeatureOptions, WordOptions
from sentprobe.common.errors import UsageError
from sentprobe.common.screen import print_message
from sentprobe.common.specs import choose_member
from sentprobe.generator.bulk.generate import read_known_event
from sentprobe.generator.events.event import Aspect, Event, Fronting, Mood, Negator, Number, Voice
from sentprobe.generator.sentences.sentence_records import PARQUET, find_record_format
from sentprobe.generator.spaces.constraints import Choices, Constraints
from sentprobe.generator.spaces.profile import Profile
from sentprobe.generator.spaces.published_config import read_config
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.read import choose_vocabulary
from sentprobe.lexicon.words import EXCLUDING_FLAGS


def make_space(
    lexicon: Lexicon,
    *,
    vocabulary: str | None = None,
    templates: Sequence[str] = (),
    content: ContentOptions | None = None,
    features: FeatureOptions | None = None,
    words: WordOptions | None = None,
    profile: Profile | None = None,
) -> Space:
    """Return the space of sentences that the options define.

    - templates: names of templates; by default those in the constraint file ``--config`` or, if it has none, all
    """
    constraints, default_templates = _build_constraints(content or ContentOptions(), lexicon)
    return Space(
        lexicon,
        vocabulary=vocabulary or choose_vocabulary(lexicon),
        templates=tuple(templates) or default_templates,
        choices=_build_choices(features or FeatureOptions(), words or WordOptions()),
        constraints=constraints,
        profile=profile,
    )


def _build_choices(features: FeatureOptions, words: WordOptions) -> Choices:
    if features.ask is not None and features.mood not in (None, Mood.QUESTION):
        raise UsageError("--ask is for questions; leave out --mood")
    if features.mood is Mood.ORDER and (
        features.tense or features.voice is Voice.PASSIVE or features.aspect not in (None, Aspect.SIMPLE)
    ):
        raise UsageError("an order is active and simple, without a tense; leave out --tense, --voice and --aspect")
    if not {*(words.allow or ())} <= {*EXCLUDING_FLAGS}:
        raise UsageError(
            "--allow is for verbs; ever and any stand in negated clauses and questions only, "
            "and sentence adverbs in positive clauses"
        )
    if features.tense and words.modal and "none" not in words.modal:
        raise UsageError("a modal takes the place of the tense; leave out --tense, or add --modal none")
    return Choices(
        main=Event(tense=features.tense, voice=features.voice, aspect=features.aspect, polarity=features.polarity),
        clause=Event(
            tense=features.rc_tense, voice=features.rc_voice, aspect=features.rc_aspect, polarity=features.rc_polarity
        ),
        numbers=tuple(Number) if features.number is None else (features.number,),
        determiners=tuple(words.determiner or ()),
        relativizers=tuple(words.relativizer or ()),
        negators=tuple(choose_member(Negator, name, what="negator") for name in words.negator or ("not",)),
        moods=(features.mood or (Mood.STATEMENT if features.ask is None else Mood.QUESTION),),
        asked=(features.ask,),
        reflexives=(features.reflexive,),
        frontings=tuple(
            None if name == "none" else choose_member(Fronting, name, what="order")
            for name in words.fronting or ("none",)
        ),
        adjuncts=tuple(None if name == "none" else name for name in words.adjunct or ("none",)),
        modals=tuple(None if name == "none" else name for name in words.modal or ("none",)),
        adverbs=parse_range(words.adverbs, "adverbs"),
        adjectives=parse_range(words.adjectives, "adjectives"),
        coordinations=parse_range(words.coordinations, "coordinations"),
        allow=frozenset(words.allow or ()),
    )


def _build_constraints(content: ContentOptions, lexicon: Lexicon) -> tuple[Constraints, tuple[str, ...]]:
    """Return the constraints from the options and the file ``--config``, and the file's templates (default: all)."""
    base = Constraints()
    templates: tuple[str, ...] = ("all",)
    if content.config is not None:
        config = read_config(content.config, lexicon)
        for warning in config.warnings:
            print_message(f"gen: warning: {warning}")
        base, templates = config.constraints, config.templates or templates

    def read_events(texts: Sequence[str] | None) -> tuple[Event, ...]:
        return tuple(read_known_event(text, lexicon) for text in texts or ())

    return Constraints(
        required=base.required + read_events(content.require),
        required_any=read_events(content.require_any),
        forbidden=base.forbidden + read_events(content.forbid),
        required_words=(*base.required_words, *(content.require_word or ())),
        forbidden_words=(*base.forbidden_words, *(content.forbid_word or ())),
    ), templates


def parse_range(text: str, name: str) -> tuple[int, ...]:
    """Return the numbers in a range. In error messages, *name* says what the numbers count, such as "adverbs".

    A long range is cut short. The part that is kept ends with a number that is too large, so a later check rejects it.

    >>> parse_range("2", "adverbs"), parse_range("0-2", "adverbs")
    ((2,), (0, 1, 2))
    """
    first, dash, last = text.partition("-")
    if not re.fullmatch(r"[0-9]+(-[0-9]+)?", text) or len(text) > 40:
        raise UsageError(f"expected a number of {name}, or a range such as 0-2, not {text!r}")
    least, most = int(first), int(last if dash else first)
    if most < least:
        raise UsageError(f"the range {text!r} is empty; write the smaller number first")
    capped_most = min(most, max(least, ENGLISH.max_adverbs + 1))  # one number above the limit is enough for the error
    return tuple(range(least, capped_most + 1))


def choose_record_format(out: Path | None, name: str | None, *, otherwise: str) -> str:
    """Return *name* or, if it is None, the format for the suffix of *out* (without *out*, for the suffix *otherwise*).

    Raises UsageError for an unknown format, and for Parquet without *out*.
    """
    format_name = find_record_format(out.suffix if out else otherwise, name)
    if out is None and format_name == PARQUET:
        raise UsageError("Parquet cannot be written to standard output; name a file with --out")
    return format_name
