"""The structure of an event: the event without its words, on which its sentence's plan depends."""

from typing import NamedTuple

from sentprobe.generator import event as ev


class PersonStructure(NamedTuple):
    """A participant without its words."""

    number: ev.Number | None
    clause: "ClauseStructure | None"


class ClauseStructure(NamedTuple):
    """An event without its words: what the order and the forms of its sentence depend on."""

    frame: ev.Frame | None
    voice: ev.Voice | None
    tense: ev.Tense | None
    aspect: ev.Aspect | None
    polarity: ev.Polarity | None
    negator: ev.Negator | None
    adverbs: int
    agent: PersonStructure | ev.Gap | None
    patient: PersonStructure | ev.Gap | None


def structure_of(event: ev.Event) -> ClauseStructure:
    """Return a fully specified event without its words."""
    return ClauseStructure(
        event.frame,
        event.voice,
        event.tense,
        event.aspect,
        event.polarity,
        event.negator,
        len(event.adverbs or ()),
        _structure_of_argument(event.agent),
        _structure_of_argument(event.patient),
    )


def _structure_of_argument(argument: ev.Argument | None) -> PersonStructure | ev.Gap | None:
    if not isinstance(argument, ev.Participant):
        return argument
    clause = argument.clause
    inner = structure_of(clause.event) if isinstance(clause, ev.RelativeClause) else None
    return PersonStructure(argument.number, inner)
