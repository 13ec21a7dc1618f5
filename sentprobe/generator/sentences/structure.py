"""The structure of an event: the event without its words, which determines its sentence plan."""

from typing import NamedTuple

from sentprobe.generator.events import event as ev


class ParticipantStructure(NamedTuple):
    """A participant without its words."""

    number: ev.Number | None
    clause: "ClauseStructure | None"


class ClauseStructure(NamedTuple):
    """An event without its words, which determines the order and the forms of its sentence."""

    frame: ev.Frame | None
    voice: ev.Voice | None
    tense: ev.Tense | None
    aspect: ev.Aspect | None
    polarity: ev.Polarity | None
    negator: ev.Negator | None
    adverbs: int
    agent: ParticipantStructure | ev.Gap | None
    patient: ParticipantStructure | ev.Gap | None


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
    )


def _extract_argument_structure(argument: ev.Argument | None) -> ParticipantStructure | ev.Gap | None:
    if not isinstance(argument, ev.Participant):
        return argument
    clause = argument.clause
    inner = extract_structure(clause.event) if isinstance(clause, ev.RelativeClause) else None
    return ParticipantStructure(argument.number, inner)
