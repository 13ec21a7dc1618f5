"""The text of a sentence without its annotation, by the kept outline of its structure.

This is the quick way for who makes thousands of sentences to choose among. The text is that of
:func:`sentprobe.generator.realize.realize`, which also checks the event and annotates.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from sentprobe.generator import event as ev
from sentprobe.generator.plan import CONSONANT, slots_of
from sentprobe.generator.realize import determiner_form
from sentprobe.grammars import shapes
from sentprobe.grammars.derivation import Hole, Leaf
from sentprobe.lexicon import Form, Kind, Lexicon


class PersonStructure(NamedTuple):
    """A participant without its words."""

    number: ev.Number | None
    clause: "ClauseStructure | None"


class ClauseStructure(NamedTuple):
    """An event without its words: what the order and the forms of its sentence depend on."""

    frame: ev.Frame | None
    voice: ev.Voice | None
    tense: ev.Tense | None
    aspect: ev.Aspect | None
    polarity: ev.Polarity | None
    negator: ev.Negator | None
    adverbs: int
    agent: PersonStructure | ev.Gap | None
    patient: PersonStructure | ev.Gap | None


@dataclass(frozen=True, slots=True)
class OutlineToken:
    """A token of an outline: a function word, or a slot with the form of the word that fills it.

    The form of a determiner depends on the word in the slot *noun*; a relativizer has only one.
    """

    slot: str
    text: str
    kind: Kind | None = None
    form: Form | None = None
    before_vowel: Form | None = None
    noun: str = ""


Outline = tuple[OutlineToken, ...]


def text_of(event: ev.Event, lexicon: Lexicon) -> str:
    """Return the text of a fully specified event, of words that the lexicon is known to have.

    >>> from sentprobe.generator.space import Space
    >>> from sentprobe.lexicon import english
    >>> text_of(Space(english(), vocabulary="compeval")[0], english())
    'the professor slept'
    """
    slots = slots_of(event)
    return " ".join([_text(token, slots, lexicon) for token in outline_of(event)])


def _text(token: OutlineToken, slots: dict[str, str], lexicon: Lexicon) -> str:
    if token.kind is None:
        return token.text
    forms = lexicon.get(slots[token.slot], token.kind).forms
    if token.form is None:
        return next(iter(forms.values()))
    if token.before_vowel and lexicon.get(slots[token.noun], Kind.NOUN).vowel:
        return forms[token.before_vowel]
    return forms[token.form]


def outline_of(event: ev.Event) -> Outline:
    """Return the tokens of a fully specified event's sentence, without its words."""
    return _clause(structure_of(event), "", "")


def structure_of(event: ev.Event) -> ClauseStructure:
    """Return a fully specified event without its words."""
    return ClauseStructure(
        event.frame,
        event.voice,
        event.tense,
        event.aspect,
        event.polarity,
        event.negator,
        len(event.adverbs or ()),
        _structure_of_argument(event.agent),
        _structure_of_argument(event.patient),
    )


def _structure_of_argument(argument: ev.Argument | None) -> PersonStructure | ev.Gap | None:
    if not isinstance(argument, ev.Participant):
        return argument
    clause = argument.clause
    inner = structure_of(clause.event) if isinstance(clause, ev.RelativeClause) else None
    return PersonStructure(argument.number, inner)


@lru_cache(maxsize=8192)  # a task of two clauses has some 4,000
def _clause(structure: ClauseStructure, path: str, head_number: str) -> Outline:
    """Return the outline of a clause, with the number of the noun that it modifies ("" if none)."""
    items = shapes.english_shapes().items(_clause_shape(structure, head_number))
    parts = [_clause_part(item.content, structure, path) for item in items]
    return tuple(chain.from_iterable(parts))


def _clause_shape(structure: ClauseStructure, head_number: str) -> shapes.ClauseShape:
    passive = structure.voice is ev.Voice.PASSIVE
    subject = structure.patient if passive else structure.agent
    number = subject.number if isinstance(subject, PersonStructure) else head_number
    gaps = {ev.Role.AGENT: structure.agent, ev.Role.PATIENT: structure.patient}
    gap = next((role.value for role, filler in gaps.items() if filler is ev.GAP), "")
    return shapes.ClauseShape(
        str(structure.frame),
        str(structure.voice),
        str(structure.tense),
        str(structure.aspect),
        str(structure.negator or structure.polarity),
        structure.adverbs > 0,
        gap,
        str(number),
    )


def _clause_part(content: Leaf | Hole, structure: ClauseStructure, path: str) -> Outline:
    if isinstance(content, Leaf):
        # A clause's relativizer belongs to the participant that the clause modifies.
        owner = path.removesuffix("clause.") if content.lemma == shapes.RELATIVIZER else path
        return (_token(content, owner, structure.frame),)
    if content.category == "ADVP":
        return _adverbs(structure.adverbs, path)
    person = structure.agent if content.name == ev.Role.AGENT.value else structure.patient
    assert isinstance(person, PersonStructure)
    return _noun_phrase(person, f"{path}{content.name}.")


@lru_cache(maxsize=1024)
def _noun_phrase(person: PersonStructure, path: str) -> Outline:
    number, clause = str(person.number), person.clause
    shape = shapes.NounShape(number, CONSONANT, clause is not None)
    parts: list[Outline] = []
    for item in shapes.english_shapes().items(shape):
        if isinstance(item.content, Leaf):
            parts.append((_token(item.content, path),))
        elif clause is not None:
            parts.append(_clause(clause, f"{path}clause.", number))
    return tuple(chain.from_iterable(parts))


@lru_cache(maxsize=64)
def _adverbs(count: int, path: str) -> Outline:
    items = shapes.english_shapes().items(shapes.AdverbShape(count))
    leaves = [item.content for item in items if isinstance(item.content, Leaf)]
    numbers = iter(range(count))
    return tuple(
        OutlineToken(f"{path}adverb{next(numbers)}", "", Kind.ADVERB, Form(leaf.form))
        if leaf.lemma == shapes.ADVERB
        else OutlineToken("", leaf.form)
        for leaf in leaves
    )


def _token(leaf: Leaf, path: str, frame: ev.Frame | None = None) -> OutlineToken:
    if leaf.lemma == shapes.VERB:
        return OutlineToken(f"{path}verb", "", Kind(str(frame)), Form(leaf.form))
    if leaf.lemma == shapes.NOUN:
        return OutlineToken(f"{path}noun", "", Kind.NOUN, Form(leaf.form))
    if leaf.lemma == shapes.RELATIVIZER:
        return OutlineToken(f"{path}rel", "", Kind.RELATIVIZER)
    if leaf.lemma != shapes.DETERMINER:
        return OutlineToken("", leaf.form)
    number = leaf.form.removeprefix("DT.")
    return OutlineToken(
        f"{path}det",
        "",
        Kind.DETERMINER,
        determiner_form(number, vowel=False),
        before_vowel=determiner_form(number, vowel=True),
        noun=f"{path}noun",
    )
