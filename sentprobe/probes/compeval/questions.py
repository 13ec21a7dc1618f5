"""Questions of the compeval tasks about a sentence; the answer None means that the question does not apply."""

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

from sentprobe.generator.bulk.drawn_texts import DrawnTextRenderer
from sentprobe.generator.events.event import Polarity, Role
from sentprobe.generator.spaces.drawn_event import ClauseParts, DrawnEvent, find_layout_parts
from sentprobe.probes.compeval.items import Probe


class ProbedSentence:
    """A sampled event with its text, nouns and verbs, which are computed when needed."""

    def __init__(self, event: DrawnEvent, wording: DrawnTextRenderer) -> None:
        self.event = event
        self._wording = wording

    @cached_property
    def text(self) -> str:
        """The text of the sentence."""
        return self._wording.render(self.event)

    @cached_property
    def nouns(self) -> dict[object, int]:
        """The index of each noun's variable in the layout, by lemma."""
        return {self.event.get_value(at): at for at in find_layout_parts(self.event.layout).nouns}

    @cached_property
    def verbs(self) -> dict[object, ClauseParts]:
        """The clause of each verb, by lemma."""
        clauses = find_layout_parts(self.event.layout).clauses
        return {self.event.get_value(clause.verb): clause for clause in clauses}

    def precedes(self, noun: str, verb: str) -> bool:
        """Check whether the noun precedes the verb; both must occur in the sentence."""
        positions = self._wording.find_word_positions(self.event)
        return positions[self.nouns[noun]] < positions[self.verbs[verb].verb]


Question: TypeAlias = Callable[[ProbedSentence, Probe], int | None]
"""A function from sentence and probe words to the answer: a truth value, the index of a label, or None."""


def does_verb_occur(sentence: ProbedSentence, probe: Probe) -> bool | None:
    return probe[0] in sentence.verbs


def do_both_occur(sentence: ProbedSentence, probe: Probe) -> bool | None:
    """Answer whether both noun and verb occur (Content2Probe); None if neither the noun nor the verb occurs."""
    has_noun, has_verb = probe[0] in sentence.nouns, probe[1] in sentence.verbs
    return has_noun and has_verb if has_noun or has_verb else None


def does_noun_precede(sentence: ProbedSentence, probe: Probe) -> bool | None:
    return sentence.precedes(*probe) if do_both_occur(sentence, probe) else None


def is_agent(sentence: ProbedSentence, probe: Probe) -> bool | None:
    return has_role(sentence, probe, Role.AGENT)


def has_role(sentence: ProbedSentence, probe: Probe, role: Role) -> bool | None:
    """Answer whether the noun in *probe* has *role* in the clause of *probe*'s verb; None unless both words occur."""
    if not do_both_occur(sentence, probe):
        return None
    noun, verb = probe
    return sentence.nouns[noun] in sentence.verbs[verb].roles.get(role, ())


def is_positive(sentence: ProbedSentence, probe: Probe) -> bool | None:
    """Answer whether the probe word, a verb, is not negated (Negation); None if the sentence lacks the verb."""
    clause = sentence.verbs.get(probe[0])
    return None if clause is None else sentence.event.get_value(clause.negation) == Polarity.POSITIVE
