"""Events as the feature structures of the grammar, and back."""

from typing import Any

from nltk.featstruct import FeatStruct
from nltk.grammar import FeatStructNonterminal

from sentprobe.generator.event import (
    BARE,
    GAP,
    Argument,
    Aspect,
    Event,
    Frame,
    Negator,
    Number,
    Participant,
    Polarity,
    RelativeClause,
    Tense,
    Voice,
)
from sentprobe.grammars.grammar import MATRIX_CLAUSE

_GAP = "gap"
_NONE = "none"


def goal_of(event: Event) -> FeatStructNonterminal:
    """Return the category to derive for a fully specified *event*."""
    goal = FeatStructNonterminal(MATRIX_CLAUSE)
    goal["SEM"] = to_features(event)
    return goal


def to_features(event: Event) -> FeatStruct:
    """Return the meaning (SEM) of a fully specified *event*."""
    core: dict[str, Any] = {"PRED": event.predicate, "FRAME": _value(event.frame)}
    core["AGENT"] = _argument(event.agent)
    if event.frame is Frame.TRANSITIVE:
        core["PATIENT"] = _argument(event.patient)
    negation = event.negator if event.polarity is Polarity.NEGATIVE else event.polarity
    return FeatStruct(
        {
            "TENSE": _value(event.tense),
            "ASPECT": _value(event.aspect),
            "VOICE": _value(event.voice),
            "NEG": _value(negation),
            "ADV": _list(event.adverbs or ()),
            "CORE": FeatStruct(core),
        }
    )


def from_features(meaning: FeatStruct) -> Event:
    """Return the event of a meaning (SEM); the inverse of :func:`to_features`."""
    core = meaning["CORE"]
    negation = meaning["NEG"]
    positive = negation == Polarity.POSITIVE.value
    return Event(
        predicate=core["PRED"],
        frame=Frame(core["FRAME"]),
        voice=Voice(meaning["VOICE"]),
        tense=Tense(meaning["TENSE"]),
        aspect=Aspect(meaning["ASPECT"]),
        polarity=Polarity.POSITIVE if positive else Polarity.NEGATIVE,
        negator=None if positive else Negator(negation),
        adverbs=tuple(_unlist(meaning["ADV"])),
        agent=_unargument(core["AGENT"]),
        patient=_unargument(core["PATIENT"]) if "PATIENT" in core else None,
    )


def _value(value: Any) -> str:
    return str(value.value)


def _argument(argument: Argument | None) -> FeatStruct | str:
    if not isinstance(argument, Participant):
        return _GAP
    features: dict[str, Any] = {
        "LEM": argument.noun,
        "NUM": _value(argument.number),
        "DET": argument.determiner,
        "RC": BARE.value,
    }
    if isinstance(argument.clause, RelativeClause):
        clause = {"LINK": argument.clause.relativizer, "EVENT": to_features(argument.clause.event)}
        features["RC"] = FeatStruct(clause)
    return FeatStruct(features)


def _unargument(features: FeatStruct | str) -> Argument:
    if isinstance(features, str):
        return GAP
    clause = features["RC"]
    return Participant(
        noun=features["LEM"],
        number=Number(features["NUM"]),
        determiner=features["DET"],
        clause=BARE
        if isinstance(clause, str)
        else RelativeClause(relativizer=clause["LINK"], event=from_features(clause["EVENT"])),
    )


def _list(items: tuple[str, ...]) -> FeatStruct | str:
    return FeatStruct({"FIRST": items[0], "REST": _list(items[1:])}) if items else _NONE


def _unlist(features: FeatStruct | str) -> list[str]:
    return [] if isinstance(features, str) else [features["FIRST"], *_unlist(features["REST"])]
