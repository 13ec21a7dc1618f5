"""The questions of the compeval tasks, each asked about an event and probe words.

A question returns None where it does not arise: a word that it asks about does not occur.
"""

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

from sentprobe.generator.drawn import ClauseParts, DrawnEvent, parts_of
from sentprobe.generator.event import Polarity, Role
from sentprobe.generator.wording import Wording
from sentprobe.probes.compeval.items import Probe


class Asked:
    """A drawn event that is asked about; its words are found when they are wanted."""

    def __init__(self, event: DrawnEvent, wording: Wording) -> None:
        self.event = event
        self._wording = wording

    @cached_property
    def text(self) -> str:
        """The text of the sentence."""
        return self._wording.text(self.event)

    @cached_property
    def nouns(self) -> dict[object, int]:
        """The variables of the nouns by lemma."""
        return {self.event.value(at): at for at in parts_of(self.event.layout).nouns}

    @cached_property
    def verbs(self) -> dict[object, ClauseParts]:
        """The clauses by the lemma of their verbs."""
        clauses = parts_of(self.event.layout).clauses
        return {self.event.value(clause.verb): clause for clause in clauses}

    def precedes(self, noun: str, verb: str) -> bool:
        """Say whether the noun stands before the verb; both occur."""
        places = self._wording.places(self.event)
        return places[self.nouns[noun]] < places[self.verbs[verb].verb]


Question: TypeAlias = Callable[[Asked, Probe], bool | None]


def occurs(of: Asked, probe: Probe) -> bool | None:
    """Say whether the verb occurs (Content1Probe)."""
    return probe[0] in of.verbs


def both_occur(of: Asked, probe: Probe) -> bool | None:
    """Say whether noun and verb occur, not one of them alone (Content2Probe)."""
    noun, verb = probe[0] in of.nouns, probe[1] in of.verbs
    return noun and verb if noun or verb else None


def comes_first(of: Asked, probe: Probe) -> bool | None:
    """Say whether the noun comes before the verb (Order)."""
    return of.precedes(*probe) if both_occur(of, probe) else None


def is_agent(of: Asked, probe: Probe) -> bool | None:
    """Say whether the noun is the agent of the verb (SemRole)."""
    if not both_occur(of, probe):
        return None
    noun, verb = probe
    return of.verbs[verb].roles[Role.AGENT] == of.nouns[noun]


def is_positive(of: Asked, probe: Probe) -> bool | None:
    """Say whether the verb is positive (Negation)."""
    clause = of.verbs.get(probe[0])
    return None if clause is None else of.event.value(clause.negation) == Polarity.POSITIVE
