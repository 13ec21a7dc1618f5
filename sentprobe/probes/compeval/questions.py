"""The questions of the compeval tasks, each asked about an event and probe words.

A question returns None where it does not arise: a word that it asks about does not occur.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from sentprobe.generator.event import Event, Participant, Polarity, contains
from sentprobe.generator.plan import plan_sentence, slots_of
from sentprobe.generator.realize import text_of
from sentprobe.lexicon import Lexicon
from sentprobe.probes.compeval.items import Probe


@dataclass(frozen=True)
class Asked:
    """An event that is asked about; its text and words are worked out when they are wanted."""

    event: Event
    lexicon: Lexicon

    @cached_property
    def text(self) -> str:
        """The text of the sentence."""
        return text_of(self.event, self.lexicon)

    @cached_property
    def places(self) -> dict[str, int]:
        """Where the words of the slots stand in the sentence."""
        return places_of(self.event)

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The lemmas of the nouns."""
        return self._words("noun")

    @cached_property
    def verbs(self) -> frozenset[str]:
        """The lemmas of the verbs."""
        return self._words("verb")

    def _words(self, kind: str) -> frozenset[str]:
        return frozenset(w for slot, w in slots_of(self.event).items() if slot.endswith(kind))


Question: TypeAlias = Callable[[Asked, Probe], bool | None]


def occurs(of: Asked, probe: Probe) -> bool | None:
    """Say whether the verb occurs (Content1Probe)."""
    return probe[0] in of.verbs


def both_occur(of: Asked, probe: Probe) -> bool | None:
    """Say whether noun and verb occur, not one of them alone (Content2Probe)."""
    found = (probe[0] in of.nouns, probe[1] in of.verbs)
    return all(found) if any(found) else None


def comes_first(of: Asked, probe: Probe) -> bool | None:
    """Say whether the noun comes before the verb (Order)."""
    return precedes(slots_of(of.event), probe, of.places) if both_occur(of, probe) else None


def is_agent(of: Asked, probe: Probe) -> bool | None:
    """Say whether the noun is the agent of the verb (SemRole)."""
    if not both_occur(of, probe):
        return None
    noun, verb = probe
    return contains(of.event, Event(predicate=verb, agent=Participant(noun=noun)))


def is_positive(of: Asked, probe: Probe) -> bool | None:
    """Say whether the verb is positive (Negation)."""
    if probe[0] not in of.verbs:
        return None
    return contains(of.event, Event(predicate=probe[0], polarity=Polarity.POSITIVE))


def places_of(event: Event) -> dict[str, int]:
    """Return where the words of the slots stand in the sentence, without making its forms."""
    tokens = plan_sentence(event).tokens
    return {token.slot: place for place, token in enumerate(tokens) if token.slot}


def precedes(words: Mapping[str, str], probe: Probe, places: Mapping[str, int]) -> bool:
    """Say whether the noun stands before the verb; both are among the words by slot."""
    noun, verb = (
        next(slot for slot, word in words.items() if slot.endswith(kind) and word == lemma)
        for kind, lemma in zip(("noun", "verb"), probe, strict=True)
    )
    return places[noun] < places[verb]
