"""Structures that can be held out of training, such as the passive, defined by partial events."""

from collections.abc import Mapping
from dataclasses import dataclass

from sentprobe.errors import UsageError, suggest
from sentprobe.generator.events import event as ev
from sentprobe.probes.compeval.items import ALL_SENTENCES, Part
from sentprobe.probes.dataset import TRAINED, name_structure_part


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure that can be held out of training."""

    name: str
    description: str
    events: tuple[ev.Event, ...]
    """A sentence has the structure if its main clause or a relative clause matches one of these partial events."""


def _build_noun_events(person: ev.Participant) -> tuple[ev.Event, ...]:
    return ev.Event(agent=person), ev.Event(patient=person)


def _build_relative_events(kind: ev.ClauseKind | None) -> tuple[ev.Event, ...]:
    return _build_noun_events(ev.Participant(clause=ev.RelativeClause(event=ev.Event(), kind=kind)))


STRUCTURES: Mapping[str, Structure] = {
    structure.name: structure
    for structure in (
        Structure("passive", "a passive clause", (ev.Event(voice=ev.Voice.PASSIVE),)),
        Structure("relative", "a relative clause", _build_relative_events(None)),
        Structure("subject-relative", "a subject relative", _build_relative_events(ev.ClauseKind.SUBJECT)),
        Structure("object-relative", "an object relative", _build_relative_events(ev.ClauseKind.OBJECT)),
        Structure("progressive", "a progressive verb", (ev.Event(aspect=ev.Aspect.PROGRESSIVE),)),
        Structure("negated", "a negated verb", (ev.Event(polarity=ev.Polarity.NEGATIVE),)),
        Structure("past", "a verb in the past tense", (ev.Event(tense=ev.Tense.PAST),)),
        Structure("plural", "a plural noun", _build_noun_events(ev.Participant(number=ev.Number.PLURAL))),
        Structure("intransitive", "an intransitive verb", (ev.Event(frame=ev.Frame.INTRANSITIVE),)),
    )
}


def find_structure(name: str) -> Structure:
    """Return the structure *name*. Raises UsageError for an unknown name."""
    if name not in STRUCTURES:
        raise UsageError(
            f"there is no structure {name!r}{suggest(name, STRUCTURES)} to hold out; "
            f"the structures are {', '.join(STRUCTURES)}"
        )
    return STRUCTURES[name]


def list_test_parts(held_out: Structure | None) -> tuple[Part, ...]:
    """Return the two parts of the test items, with and without the structure; if *held_out* is None, one part."""
    if held_out is None:
        return (ALL_SENTENCES,)
    return Part(name=name_structure_part(held_out.name), having=held_out.events), get_trained_part(held_out)


def get_trained_part(held_out: Structure | None) -> Part:
    """Return the part for training and validation: sentences without *held_out*, or all sentences if it is None."""
    return ALL_SENTENCES if held_out is None else Part(name=TRAINED, lacking=held_out.events)
