"""A model checker for generated sentences that is independent of their events.

It reads the dependencies of a parsed sentence and evaluates it in small models. A model has people (a man, a group of
men, ...) and relations between them, one for each verb with tense or modal, aspect and adverbs, and one for each
adjective. Facts are sampled on first use: each is true or false at random and then fixed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from sentprobe.generator.sentences.sentence import Token

Person: TypeAlias = tuple[str, int]
Fact: TypeAlias = tuple[str, str, tuple[bool, ...], tuple[str, ...], Person, Person | None, Person | None]


class Undefined(Exception):  # noqa: N818 - the field's word: the sentence has no truth value
    """A description fits nobody, or several people."""


@dataclass
class Model:
    """Random facts about *people* people of each noun; None means one or two at random."""

    rng: Random
    people: int | None
    facts: dict[Fact, bool] = field(default_factory=dict)
    crowds: dict[str, int] = field(default_factory=dict)

    def holds(self, fact: Fact) -> bool:
        if fact not in self.facts:
            self.facts[fact] = self.rng.random() < 0.5
        return self.facts[fact]

    def list_people(self, name: str) -> list[Person]:
        if name not in self.crowds:
            self.crowds[name] = self.people or self.rng.randint(1, 2)
        return [(name, number) for number in range(self.crowds[name])]


def evaluate(tokens: Sequence[Token], model: Model) -> bool | str | None:
    """Return the truth value of a sentence in a model, the answer to a question as text, or None if it has none."""
    try:
        value = _Evaluator(tokens, model).evaluate_clause(_find_root(tokens), None)
    except Undefined:
        return None
    return f"answer: {value}" if tokens[0].upos == "AUX" else value


def _find_root(tokens: Sequence[Token]) -> int:
    return next(i for i, token in enumerate(tokens, 1) if token.head == 0)


@dataclass
class _Evaluator:
    tokens: Sequence[Token]
    model: Model

    def find_children(self, head: int) -> Iterator[tuple[int, Token]]:
        return ((i, token) for i, token in enumerate(self.tokens, 1) if token.head == head)

    def evaluate_clause(self, verb: int, modified: Person | None) -> bool:
        """Evaluate a clause; a relative pronoun stands for *modified*."""
        parts = list(self.find_children(verb))
        people = {
            token.deprel: modified if "PronType=Rel" in token.feats else self.find_person(i)
            for i, token in parts
            if token.deprel in ("nsubj", "nsubj:pass", "obj", "iobj", "obl", "obl:agent")
        }
        passive = "nsubj:pass" in people
        agent = people["obl:agent" if passive else "nsubj"]
        objects = [people[name] for name in ("iobj", "nsubj:pass", "obj", "obl") if name in people]
        *recipients, patient = [*objects, None][:1] if len(objects) < 2 else objects
        if "obl" in people:
            patient, *recipients = objects
        words = [self.tokens[verb - 1], *(token for _, token in parts)]
        (finite,) = (token for token in words if "VerbForm=Fin" in token.feats and token.upos in ("AUX", "VERB"))
        tenses = [part for part in finite.feats.split("|") if part.startswith("Tense=")]
        tense = tenses[0] if tenses else finite.lemma
        verbs = [token for token in words if token.upos in ("AUX", "VERB")]
        aspect = tuple(any(tag in (t.xpos, t.lemma) for t in verbs) for tag in ("VBG", "have"))
        adverbs = tuple(token.lemma for token in words if token.upos == "ADV")
        negated = any(token.upos == "PART" for token in words)
        lemma = self.tokens[verb - 1].lemma
        assert agent is not None
        recipient = recipients[0] if recipients else None
        return self.model.holds((lemma, tense, aspect, adverbs, agent, patient, recipient)) is not negated

    def find_person(self, noun: int) -> Person:
        """Return the one person that a noun phrase describes; otherwise it is undefined."""
        token = self.tokens[noun - 1]
        name = f"{token.lemma} {token.feats}"
        candidates = self.model.list_people(name)
        for i, part in self.find_children(noun):
            if part.deprel == "amod":
                facts = {person: (part.lemma, "", (), (), person, None, None) for person in candidates}
                candidates = [person for person in candidates if self.model.holds(facts[person])]
            if part.deprel == "acl:relcl":
                candidates = [person for person in candidates if self.evaluate_clause(i, person)]
        if len(candidates) != 1:
            raise Undefined
        return candidates[0]
