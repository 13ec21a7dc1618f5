"""The meaning of events, and differences in meaning. No verb and no noun may occur twice in an event."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from typing import Any, TypeAlias

from sentprobe.generator.events import event as ev
from sentprobe.lexicon.languages.english import ENGLISH


class Property(StrEnum):
    """A property in which the meanings of two sentences can differ."""

    ROLE = "role"
    """The agent and the patient are exchanged."""
    RECIPIENT = "recipient"
    """The recipient is exchanged with the agent or the patient."""
    MODIFIER = "modifier"
    NEGATION = "negation"
    """Different clauses are negated, but the number of negated clauses is the same."""
    POLARITY = "polarity"
    """The number of negated clauses differs."""
    TENSE = "tense"
    ASPECT = "aspect"
    """One clause is progressive, the other is not."""
    PERFECT = "perfect"
    """One clause is in the perfect, the other is not."""
    MODALITY = "modality"
    """A clause has another modal, or a modal in place of a tense."""
    NUMBER = "number"
    """A noun is in the other number, or has another determiner that is no numeral."""
    NUMERAL = "numeral"
    """A noun has another numeral, of the same grammatical number."""
    NAME = "name"
    """A name, or its title, is replaced by another."""
    ADJUNCT = "adjunct"
    """A clause has another time or place, or only one of two clauses has one."""
    NOUN = "noun"
    VERB = "verb"
    ADVERB = "adverb"
    ADJECTIVE = "adjective"
    BINDING = "binding"
    """The nouns exchange their adjectives."""
    MOOD = "mood"
    SCOPE = "scope"
    """A quantified noun ("no man") and, say, a negation have another order, as voice or recipient's form differs."""
    STRUCTURE = "structure"
    """The number of clauses or nouns differs, or another verb is in the main clause."""


@dataclass(frozen=True, slots=True)
class ClauseMeaning:
    """The meaning of a clause: features, words in each role, and the noun that the clause modifies (``head``)."""

    head: str
    agent: tuple[str, ...]
    patient: tuple[str, ...]
    recipient: tuple[str, ...]
    tense: ev.Tense | None
    modal: str | None
    mood: ev.Mood
    aspect: ev.Aspect | None
    negated: bool
    adverbs: tuple[str, ...]
    adjunct: str | None
    scope: str
    """Voice and recipient's form, if the clause has a quantified noun ("no man") and, say, a negation; else ""."""

    @property
    def gap(self) -> str:
        """The role of the modified noun in this relative clause; "" for the main clause."""
        return next((role for role in ev.ROLES if self.head and getattr(self, role) == (self.head,)), "")

    @property
    def participants(self) -> tuple[tuple[str, ...], ...]:
        """The nouns in each role, in the order agent, patient, recipient."""
        return self.agent, self.patient, self.recipient


NounMeaning: TypeAlias = tuple[ev.Number | None, str | None, tuple[str, ...]]
"""The number, determiner and adjectives of a noun."""


@dataclass(frozen=True, slots=True)
class EventMeaning:
    """The meaning of an event: clause meanings by verb, main clause first, and noun meanings by lemma."""

    clauses: Mapping[str, ClauseMeaning]
    nouns: Mapping[str, NounMeaning]


def compute_meaning(event: ev.Event) -> EventMeaning:
    """Return the meaning of a complete event. Voice and recipient's form affect only ``ClauseMeaning.scope``."""
    clauses, nouns = {}, {}
    for clause, head in ev.iterate_clauses(event):
        clauses[clause.predicate or ""] = _compute_clause_meaning(clause, head)
        for _, person in ev.iterate_participants(clause):
            for conjunct in person.conjuncts:
                adjectives = tuple(sorted(conjunct.adjectives))
                nouns[conjunct.noun or ""] = (conjunct.number, conjunct.determiner, adjectives)
    return EventMeaning(clauses, nouns)


def _compute_clause_meaning(clause: ev.Event, head: ev.Participant | None) -> ClauseMeaning:
    noun = (head.noun or "") if head else ""
    fillers = map(clause.argument, ev.ROLES)
    agent, patient, recipient = (_list_nouns(head if filler is ev.GAP else filler) for filler in fillers)
    return ClauseMeaning(
        head=noun,
        agent=agent,
        patient=patient,
        recipient=recipient,
        tense=clause.tense,
        modal=clause.modal,
        mood=clause.mood,
        aspect=clause.aspect,
        negated=clause.polarity is ev.Polarity.NEGATIVE,
        adverbs=clause.adverbs or (),
        adjunct=clause.adjunct,
        scope=_find_scope(clause),
    )


_NAME_DETERMINERS = frozenset(ENGLISH.list_name_determiners())
DEFINITE_DETERMINERS = frozenset(("the", "this", "that")) | _NAME_DETERMINERS
"""The determiners that are no quantifiers."""


def _find_scope(clause: ev.Event) -> str:
    people = [person.conjuncts for _, person in ev.iterate_participants(clause)]
    quantified = sum(any(p.determiner not in DEFINITE_DETERMINERS for p in conjuncts) for conjuncts in people)
    operators = (clause.polarity is ev.Polarity.NEGATIVE, clause.modal, clause.adverbs, clause.asked)
    return f"{clause.voice} {clause.dative}" if quantified and quantified + sum(map(bool, operators)) > 1 else ""


def _list_nouns(filler: ev.Argument | None) -> tuple[str, ...]:
    if isinstance(filler, ev.Asked):
        return (f"{filler}?",)
    if isinstance(filler, ev.Reflexive):
        return (filler.value,)
    conjuncts = filler.conjuncts if isinstance(filler, ev.Participant) else ()
    return tuple(sorted(person.noun or "" for person in conjuncts))


def has_same_meaning(first: ev.Event, second: ev.Event) -> bool:
    """Say whether two complete events have the same meaning.

    >>> from sentprobe.generator.sentences.parse import parse
    >>> from sentprobe.lexicon import english
    >>> texts = ("the man helped the lawyer", "the lawyer was helped by the man")
    >>> has_same_meaning(*(parse(text, english())[0] for text in texts))
    True
    """
    return not find_differences(first, second)


def find_differences(first: ev.Event, second: ev.Event) -> tuple[Property, ...]:
    """Return the properties in which the meanings of two complete events differ.

    >>> from sentprobe.generator.sentences.parse import parse
    >>> from sentprobe.lexicon import english
    >>> texts = ("the man helped the lawyer", "the man was helped by the lawyer")
    >>> [p.value for p in find_differences(*(parse(text, english())[0] for text in texts))]
    ['role']
    """
    left, right = compute_meaning(first), compute_meaning(second)
    if (len(left.clauses), len(left.nouns)) != (len(right.clauses), len(right.nouns)):
        return (Property.STRUCTURE,)
    return tuple(dict.fromkeys(_find_differences(left, right)))


def _find_differences(left: EventMeaning, right: EventMeaning) -> Iterator[Property]:
    # A replaced word is renamed first; otherwise, each clause that contains it would count as a further difference.
    for difference, old, new in _find_replaced_words(left, right):
        yield difference
        left = _rename_word(left, old, new)
    if set(left.clauses) != set(right.clauses) or next(iter(left.clauses)) != next(iter(right.clauses)):
        yield Property.STRUCTURE
        return
    yield from _compare_nouns(left.nouns, right.nouns)
    negated = [{verb for verb, c in m.clauses.items() if c.negated} for m in (left, right)]
    if negated[0] != negated[1]:
        # As many negations, but of other verbs: one has moved. Otherwise, one was added or removed.
        moved = len(negated[0]) == len(negated[1])
        yield Property.NEGATION if moved else Property.POLARITY
    for verb, clause in left.clauses.items():
        yield from _compare_clauses(clause, right.clauses[verb])
        if len({clause.scope, right.clauses[verb].scope} - {""}) > 1:
            yield Property.SCOPE


def _find_replaced_words(left: EventMeaning, right: EventMeaning) -> Iterator[tuple[Property, str, str]]:
    """Yield (NOUN or NAME, old, new) if exactly one noun is replaced, and (VERB, old, new) if exactly one verb is."""
    words = ((Property.NOUN, left.nouns, right.nouns), (Property.VERB, left.clauses, right.clauses))
    for difference, left_words, right_words in words:
        removed, added = set(left_words) - set(right_words), set(right_words) - set(left_words)
        if len(removed) == len(added) == 1:
            old, new = removed.pop(), added.pop()
            is_name = difference is Property.NOUN and _is_name(left.nouns[old]) and _is_name(right.nouns[new])
            yield Property.NAME if is_name else difference, old, new


def _is_name(noun: NounMeaning) -> bool:
    return noun[1] in _NAME_DETERMINERS


def _compare_nouns(left: Mapping[str, NounMeaning], right: Mapping[str, NounMeaning]) -> Iterator[Property]:
    for noun in left.keys() & right.keys():
        (number, determiner, _), (other_number, other_determiner, _) = left[noun], right[noun]
        is_counted = number is other_number and {determiner, other_determiner} <= {*ENGLISH.counts}
        names = {_is_name(left[noun]), _is_name(right[noun])}
        if (number, determiner) != (other_number, other_determiner) and (
            names != {True, False} or number != other_number
        ):
            yield Property.NUMERAL if is_counted else Property.NAME if names == {True} else Property.NUMBER
    adjectives = [{noun: meaning[2] for noun, meaning in nouns.items() if meaning[2]} for nouns in (left, right)]
    if adjectives[0] != adjectives[1]:
        same_words = sorted(chain(*adjectives[0].values())) == sorted(chain(*adjectives[1].values()))
        yield Property.BINDING if same_words else Property.ADJECTIVE


def _rename_word(meaning: EventMeaning, old: str, new: str) -> EventMeaning:
    def rename(word: str) -> str:
        return new if word == old else word

    def rename_all(words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(map(rename, words)))

    clauses = {
        rename(verb): replace(
            clause,
            head=rename(clause.head),
            agent=rename_all(clause.agent),
            patient=rename_all(clause.patient),
            recipient=rename_all(clause.recipient),
        )
        for verb, clause in meaning.clauses.items()
    }
    return EventMeaning(clauses, {rename(noun): noun_meaning for noun, noun_meaning in meaning.nouns.items()})


_PERFECTS = frozenset({ev.Aspect.PERFECT, ev.Aspect.PERFECT_PROGRESSIVE})


def _compare_clauses(left: ClauseMeaning, right: ClauseMeaning) -> Iterator[Property]:
    if left.mood is not right.mood:
        yield Property.MOOD
    if left.modal != right.modal:
        yield Property.MODALITY
    elif left.tense is not right.tense:
        yield Property.TENSE
    if (left.aspect in ev.PROGRESSIVES) is not (right.aspect in ev.PROGRESSIVES):
        yield Property.ASPECT
    if (left.aspect in _PERFECTS) is not (right.aspect in _PERFECTS):
        yield Property.PERFECT
    if left.adverbs != right.adverbs:
        yield Property.ADVERB
    if left.adjunct != right.adjunct:
        yield Property.ADJUNCT
    if left.head != right.head:
        yield Property.MODIFIER
        # The role of the modified noun does not count as a second difference.
        modified: Mapping[str, Any] = {left.gap or "patient": (right.head,)}
        left = replace(left, head=right.head, **modified)
    if left.participants != right.participants:
        yield _compare_roles(left, right)


def _compare_roles(left: ClauseMeaning, right: ClauseMeaning) -> Property:
    """Return ROLE or RECIPIENT if two participants of a clause are exchanged, and STRUCTURE otherwise."""
    changed = [pair for pair in zip(left.participants, right.participants, strict=True) if pair[0] != pair[1]]
    if len(changed) != 2 or changed[0] != changed[1][::-1]:
        return Property.STRUCTURE
    return Property.ROLE if left.recipient == right.recipient else Property.RECIPIENT
