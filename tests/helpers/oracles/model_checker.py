"""A model checker for generated sentences that is independent of their events.

It reads the dependencies of a parsed sentence and evaluates it in small models. A model has people (a man, a group of
men, ...) and relations between them, one for each verb with tense or modal, aspect and adverbs, and one for each
adjective. Facts are sampled on first use: each is true or false at random and then fixed. A numeral counts people of a
crowd: "three" and "at least three" are true of three or more. A fact at a time or place is a fact, and happens there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from sentprobe.generator.sentences.sentence import Token

Person: TypeAlias = tuple[str, int]
Fact: TypeAlias = tuple[str, str, tuple[bool, ...], tuple[str, ...], Person, Person | None, Person | None]


ARGUMENTS = ("nsubj", "nsubj:pass", "obj", "iobj", "obl", "obl:agent")
CROWD = 13
_NAMES = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBERS = {name: number for number, name in enumerate(_NAMES, 2)}


class Undefined(Exception):  # noqa: N818 - the field's word: the sentence has no truth value
    """A description fits nobody, or several people."""


@dataclass
class Model:
    """Random facts about *people* people of each noun; None means one or two at random."""

    rng: Random
    people: int | None
    facts: dict[Fact, bool] = field(default_factory=dict)
    crowds: dict[str, int] = field(default_factory=dict)
    shares: dict[tuple[str, str], float] = field(default_factory=dict)
    """How many facts of a verb or adjective about a crowd are true, at random."""

    def holds(self, fact: Fact) -> bool:
        if fact not in self.facts:
            crowds = [person[0] for person in fact[4:] if person and self.crowds[person[0]] == CROWD]
            share = self.shares.setdefault((crowds[0], fact[0]), self.rng.random()) if crowds else 0.5
            self.facts[fact] = self.rng.random() < share
        return self.facts[fact]

    def list_crowd(self, name: str) -> list[Person]:
        self.crowds[name] = CROWD
        return self.list_people(name)

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
        children = [(i, token) for i, token in self.find_children(verb) if not self.find_site(i)]
        places = {i: token for i, token in children if token.deprel in ARGUMENTS}
        numerals = {i: part for i in places for part in self.find_children(i) if part[1].deprel == "nummod"}
        people = {
            token.deprel: modified if "PronType=Rel" in token.feats else self.find_person(i)
            for i, token in places.items()
            if i not in numerals
        }
        if not numerals:
            return self.evaluate_relation(verb, people)
        ((noun, (at, numeral)),) = numerals.items()
        crowd = self.select_people(noun, self.model.list_crowd(f"{self.tokens[noun - 1].lemma} of a crowd"))
        relation = places[noun].deprel
        number = sum(self.evaluate_relation(verb, people | {relation: person}) for person in crowd)
        is_upper = any(part.lemma == "more" for _, part in self.find_children(at))  # no more than
        return number <= NUMBERS[numeral.form] if is_upper else number >= NUMBERS[numeral.form]

    def evaluate_relation(self, verb: int, people: dict[str, Person | None]) -> bool:
        """Say whether the relation that a verb names holds of *people*, by their dependency relation."""
        parts = list(self.find_children(verb))
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
        fact = (lemma, tense, aspect, adverbs, agent, patient, recipient)
        holds = self.model.holds(fact)
        for site in filter(None, (self.find_site(i) for i, _ in parts)):
            holds = holds and self.model.holds((f"{lemma} {site}", *fact[1:]))
        return holds is not negated

    def find_site(self, noun: int) -> str:
        """Return the time or place of which *noun* is the head; "" if there is none."""
        words = [token.lemma for _, token in self.find_children(noun)]
        return " ".join([*words, self.tokens[noun - 1].lemma]) if {*words} & {"at", "in", "on"} else ""

    def find_person(self, noun: int) -> Person:
        """Return the one person that a noun phrase describes; otherwise it is undefined."""
        token = self.tokens[noun - 1]
        name = f"{token.lemma} {token.feats}"
        candidates = self.select_people(noun, self.model.list_people(name))
        if len(candidates) != 1:
            raise Undefined
        return candidates[0]

    def select_people(self, noun: int, candidates: list[Person]) -> list[Person]:
        """Return the *candidates* of which the adjectives and the relative clause of a noun are true."""
        for i, part in self.find_children(noun):
            if part.deprel == "amod":
                facts = {person: (part.lemma, "", (), (), person, None, None) for person in candidates}
                candidates = [person for person in candidates if self.model.holds(facts[person])]
            if part.deprel == "acl:relcl":
                candidates = [person for person in candidates if self.evaluate_clause(i, person)]
        return candidates
