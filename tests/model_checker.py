"""A model checker for generated sentences that shares nothing with the events behind them.

It reads the dependencies of a parsed sentence and evaluates it in small models: people, each of
whom is a man, or a group of men, and so on; and relations between them, one for each verb in a
tense and an aspect and with its adverbs. Nothing else relates these. A model is made up as it is
asked: each fact is true or false at random, and then stays so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from sentprobe.generator.sentence import Token

Person: TypeAlias = tuple[str, int]
Fact: TypeAlias = tuple[str, str, str, tuple[str, ...], Person, Person | None]


class Undefined(Exception):  # noqa: N818 - the field's word: the sentence has no truth value
    """A description fits nobody, or several."""


@dataclass
class Model:
    """Facts by chance, about so many people of each noun; None: one or two, by chance."""

    rng: Random
    people: int | None
    facts: dict[Fact, bool] = field(default_factory=dict)
    crowds: dict[str, int] = field(default_factory=dict)

    def holds(self, fact: Fact) -> bool:
        if fact not in self.facts:
            self.facts[fact] = self.rng.random() < 0.5
        return self.facts[fact]

    def people_of(self, name: str) -> list[Person]:
        if name not in self.crowds:
            self.crowds[name] = self.people or self.rng.randint(1, 2)
        return [(name, number) for number in range(self.crowds[name])]


def truth(tokens: Sequence[Token], model: Model) -> bool | None:
    """Return the truth value of a sentence in a model, None where it has none."""
    try:
        return _Reader(tokens, model).clause(_root(tokens), None)
    except Undefined:
        return None


def _root(tokens: Sequence[Token]) -> int:
    return next(i for i, token in enumerate(tokens, 1) if token.head == 0)


@dataclass
class _Reader:
    tokens: Sequence[Token]
    model: Model

    def children(self, head: int) -> Iterator[tuple[int, Token]]:
        return ((i, token) for i, token in enumerate(self.tokens, 1) if token.head == head)

    def clause(self, verb: int, modified: Person | None) -> bool:
        """Evaluate a clause; in a relative one the relative pronoun stands for *modified*."""
        parts = list(self.children(verb))
        people = {
            token.deprel: modified if "PronType=Rel" in token.feats else self.person(i)
            for i, token in parts
            if token.deprel in ("nsubj", "nsubj:pass", "obj", "obl:agent")
        }
        passive = "nsubj:pass" in people
        agent = people["obl:agent" if passive else "nsubj"]
        patient = people["nsubj:pass"] if passive else people.get("obj")
        words = [self.tokens[verb - 1], *(token for _, token in parts)]
        (tense,) = (
            part.removeprefix("Tense=")
            for token in words
            if "VerbForm=Fin" in token.feats and token.upos in ("AUX", "VERB")
            for part in token.feats.split("|")
            if part.startswith("Tense=")
        )
        progressive = any(t.xpos == "VBG" for t in words if t.upos in ("AUX", "VERB"))
        adverbs = tuple(token.lemma for token in words if token.upos == "ADV")
        negated = any(token.upos == "PART" for token in words)
        lemma, aspect = self.tokens[verb - 1].lemma, "prog" if progressive else "simple"
        assert agent is not None
        return self.model.holds((lemma, tense, aspect, adverbs, agent, patient)) is not negated

    def person(self, noun: int) -> Person:
        """Return whom a noun phrase describes: one, or it is undefined."""
        token = self.tokens[noun - 1]
        name = f"{token.lemma} {token.feats}"
        found = self.model.people_of(name)
        for i, part in self.children(noun):
            if part.deprel == "acl:relcl":
                found = [person for person in found if self.clause(i, person)]
        if len(found) != 1:
            raise Undefined
        return found[0]
