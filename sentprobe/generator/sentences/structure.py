"""The structure of an event: the event without its words, which determines its sentence plan."""

from typing import NamedTuple, TypeAlias

from sentprobe.generator.events import event as ev


class ParticipantStructure(NamedTuple):
    """A participant without its words."""

    number: ev.Number | None
    clause: "ClauseStructure | None"
    adjectives: int
    conjunct: "ParticipantStructure | None"


class ClauseStructure(NamedTuple):
    """An event without its words, which determines the order and the forms of its sentence."""

    frame: ev.Frame | None
    voice: ev.Voice | None
    tense: ev.Tense | None
    aspect: ev.Aspect | None
    polarity: ev.Polarity | None
    negator: ev.Negator | None
    adverbs: int
    agent: "ArgumentStructure"
    patient: "ArgumentStructure"
    recipient: "ArgumentStructure"
    dative: ev.Dative | None
    is_modal: bool
    mood: ev.Mood


ArgumentStructure: TypeAlias = ParticipantStructure | ev.Gap | ev.Asked | None


def extract_structure(event: ev.Event) -> ClauseStructure:
    """Return a fully specified event without its words."""
    return ClauseStructure(
        event.frame,
        event.voice,
        event.tense,
        event.aspect,
        event.polarity,
        event.negator,
        len(event.adverbs or ()),
        _extract_argument_structure(event.agent),
        _extract_argument_structure(event.patient),
        _extract_argument_structure(event.recipient),
        event.dative,
        event.modal is not None,
        event.mood,
    )


def _extract_argument_structure(argument: ev.Argument | None) -> ArgumentStructure:
    return _extract_participant_structure(argument) if isinstance(argument, ev.Participant) else argument


def _extract_participant_structure(person: ev.Participant) -> ParticipantStructure:
    clause, conjunct = person.clause, person.conjunct
    inner = extract_structure(clause.event) if isinstance(clause, ev.RelativeClause) else None
    second = None if conjunct is None else _extract_participant_structure(conjunct)
    return ParticipantStructure(person.number, inner, len(person.adjectives), second)
