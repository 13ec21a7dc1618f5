"""What an event means, whatever its form; whether two mean the same, and else what differs.

The semantics is that of ``docs/geometry.md``: definite, uniquely referring nouns, and relative
clauses that are presupposed. In a sentence all nouns differ and all verbs, so that words
name the participants and the clauses.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from sentprobe.generator import event as ev


class Property(StrEnum):
    """In what the meanings of two sentences can differ."""

    ROLE = "role"
    MODIFIER = "modifier"
    NEGATION = "negation"
    """Which clauses are negated; they are as many."""
    POLARITY = "polarity"
    """How many clauses are negated."""
    TENSE = "tense"
    ASPECT = "aspect"
    NUMBER = "number"
    NOUN = "noun"
    VERB = "verb"
    ADVERB = "adverb"
    STRUCTURE = "structure"
    """Clauses or nouns are not as many, or another clause is the main one."""


@dataclass(frozen=True, slots=True)
class ClauseMeaning:
    """What a clause says; *head* is the noun that it modifies, "" for the main clause.

    Agent and patient are nouns, also where they are the gap; an intransitive clause has no patient.
    """

    head: str
    agent: str
    patient: str
    tense: ev.Tense | None
    aspect: ev.Aspect | None
    negated: bool
    adverbs: tuple[str, ...]

    @property
    def gap(self) -> str:
        """The role that the modified noun has in it, "" for the main clause."""
        return "" if not self.head else "agent" if self.agent == self.head else "patient"


NounMeaning: TypeAlias = tuple[ev.Number | None, str | None]
"""Number and determiner of a noun."""


@dataclass(frozen=True, slots=True)
class EventMeaning:
    """The meaning of an event: its clauses by verb, the main one first, and its nouns."""

    clauses: Mapping[str, ClauseMeaning]
    nouns: Mapping[str, NounMeaning]


def meaning_of(event: ev.Event) -> EventMeaning:
    """Return what a fully specified event means: voice, relativizer and cue are only its form."""
    clauses, nouns = {}, {}
    for clause, head in ev.clauses(event):
        clauses[clause.predicate or ""] = _clause_meaning(clause, head)
        for _, person in ev.participants(clause):
            nouns[person.noun or ""] = (person.number, person.determiner)
    return EventMeaning(clauses, nouns)


def _clause_meaning(clause: ev.Event, head: ev.Participant | None) -> ClauseMeaning:
    noun = (head.noun or "") if head else ""
    agent, patient = (
        noun if filler is ev.GAP else getattr(filler, "noun", None) or ""
        for filler in (clause.agent, clause.patient)
    )
    return ClauseMeaning(
        noun,
        agent,
        patient,
        clause.tense,
        clause.aspect,
        clause.polarity is ev.Polarity.NEGATIVE,
        clause.adverbs or (),
    )


def means_the_same(one: ev.Event, other: ev.Event) -> bool:
    """Say whether two fully specified events mean the same, whatever their form.

    >>> from sentprobe.generator.parse import parse
    >>> from sentprobe.lexicon import english
    >>> texts = ("the man helped the lawyer", "the lawyer was helped by the man")
    >>> means_the_same(*(parse(text, english())[0] for text in texts))
    True
    """
    return not differences(one, other)


def differences(one: ev.Event, other: ev.Event) -> tuple[Property, ...]:
    """Return in what two fully specified events differ in meaning, each property once.

    >>> from sentprobe.generator.parse import parse
    >>> from sentprobe.lexicon import english
    >>> texts = ("the man helped the lawyer", "the man was helped by the lawyer")
    >>> [each.value for each in differences(*(parse(text, english())[0] for text in texts))]
    ['role']
    """
    left, right = meaning_of(one), meaning_of(other)
    if (len(left.clauses), len(left.nouns)) != (len(right.clauses), len(right.nouns)):
        return (Property.STRUCTURE,)
    return tuple(dict.fromkeys(_differences(left, right)))


def _differences(left: EventMeaning, right: EventMeaning) -> Iterator[Property]:
    for what, old, new in _replaced(left, right):
        yield what
        left = _renamed(left, old, new)
    if set(left.clauses) != set(right.clauses) or next(iter(left.clauses)) != next(
        iter(right.clauses)
    ):
        yield Property.STRUCTURE
        return
    if left.nouns != right.nouns:
        yield Property.NUMBER
    negated = [{verb for verb, c in m.clauses.items() if c.negated} for m in (left, right)]
    if negated[0] != negated[1]:
        moved = len(negated[0]) == len(negated[1])
        yield Property.NEGATION if moved else Property.POLARITY
    for verb, clause in left.clauses.items():
        yield from _in_clause(clause, right.clauses[verb])


def _replaced(left: EventMeaning, right: EventMeaning) -> Iterator[tuple[Property, str, str]]:
    """Yield the words that stand in place of others, if only one of a kind does."""
    for what, one, other in (
        (Property.NOUN, left.nouns, right.nouns),
        (Property.VERB, left.clauses, right.clauses),
    ):
        gone, come = set(one) - set(other), set(other) - set(one)
        if len(gone) == len(come) == 1:
            yield what, gone.pop(), come.pop()


def _renamed(meaning: EventMeaning, old: str, new: str) -> EventMeaning:
    def name(word: str) -> str:
        return new if word == old else word

    clauses = {
        name(verb): replace(
            clause, head=name(clause.head), agent=name(clause.agent), patient=name(clause.patient)
        )
        for verb, clause in meaning.clauses.items()
    }
    return EventMeaning(clauses, {name(noun): what for noun, what in meaning.nouns.items()})


def _in_clause(left: ClauseMeaning, right: ClauseMeaning) -> Iterator[Property]:
    if left.tense is not right.tense:
        yield Property.TENSE
    if left.aspect is not right.aspect:
        yield Property.ASPECT
    if left.adverbs != right.adverbs:
        yield Property.ADVERB
    if left.head != right.head:
        yield Property.MODIFIER
        # What the noun does in the clause that it has is no other property.
        left = _renamed_clause(left, right.head)
    if (left.agent, left.patient) != (right.agent, right.patient):
        swapped = (left.patient, left.agent) == (right.agent, right.patient)
        yield Property.ROLE if swapped else Property.STRUCTURE


def _renamed_clause(clause: ClauseMeaning, head: str) -> ClauseMeaning:
    if clause.gap == "agent":
        return replace(clause, head=head, agent=head)
    return replace(clause, head=head, patient=head)
