"""Structures that training may lack: by name, each as partial events of which a sentence has one.

A sentence has a structure if one of its clauses has it, the main clause or a relative one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sentprobe.errors import UsageError, suggest
from sentprobe.generator import event as ev
from sentprobe.probes.compeval.items import ALL, Part
from sentprobe.probes.dataset import TRAINED, structure_part


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure that may be held out of training."""

    name: str
    what: str
    """What a sentence that has it has, in words."""
    events: tuple[ev.Event, ...]
    """A sentence has it if it contains one of these."""


def _of_a_noun(person: ev.Participant) -> tuple[ev.Event, ...]:
    """Return the events in which somebody is that participant."""
    return ev.Event(agent=person), ev.Event(patient=person)


def _relative(kind: ev.ClauseKind | None) -> tuple[ev.Event, ...]:
    return _of_a_noun(ev.Participant(clause=ev.RelativeClause(event=ev.Event(), kind=kind)))


STRUCTURES: Mapping[str, Structure] = {
    each.name: each
    for each in (
        Structure("passive", "a passive clause", (ev.Event(voice=ev.Voice.PASSIVE),)),
        Structure("relative", "a relative clause", _relative(None)),
        Structure("subject-relative", "a subject relative", _relative(ev.ClauseKind.SUBJECT)),
        Structure("object-relative", "an object relative", _relative(ev.ClauseKind.OBJECT)),
        Structure("progressive", "a progressive verb", (ev.Event(aspect=ev.Aspect.PROGRESSIVE),)),
        Structure("negated", "a negated verb", (ev.Event(polarity=ev.Polarity.NEGATIVE),)),
        Structure("past", "a verb in the past tense", (ev.Event(tense=ev.Tense.PAST),)),
        Structure("plural", "a plural noun", _of_a_noun(ev.Participant(number=ev.Number.PLURAL))),
        Structure("intransitive", "an intransitive verb", (ev.Event(frame=ev.Frame.INTRANSITIVE),)),
    )
}
"""The structures by name."""


def find_structure(name: str) -> Structure:
    """Return a structure by name.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in STRUCTURES:
        raise UsageError(
            f"there is no structure {name!r}{suggest(name, STRUCTURES)} to hold out; "
            f"the structures are {', '.join(STRUCTURES)}"
        )
    return STRUCTURES[name]


def parts_of_test(held_out: Structure | None) -> tuple[Part, ...]:
    """Return the parts of the test items: those with the structure, and those without."""
    if held_out is None:
        return (ALL,)
    return Part(name=structure_part(held_out.name), having=held_out.events), trained_part(held_out)


def trained_part(held_out: Structure | None) -> Part:
    """Return the part of which all items but test's are: those without the structure."""
    return ALL if held_out is None else Part(name=TRAINED, lacking=held_out.events)


def has_structure(event: ev.Event, structure: Structure) -> bool:
    """Say whether an event has a structure, in any of its clauses.

    >>> from sentprobe.generator.notation import read_event
    >>> has_structure(read_event("help[passive]"), find_structure("passive"))
    True
    """
    return any(ev.contains(event, each) for each in structure.events)
