"""The text of a sentence without its annotation, by the kept outline of its structure.

This is the quick way for who makes thousands of sentences to choose among. The text is that of
:func:`sentprobe.generator.realize.realize`, which also checks the event and annotates.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from sentprobe.generator import event as ev
from sentprobe.generator.plan import PlanToken, plan_sentence, slots_of
from sentprobe.generator.realize import SLOT_KINDS, determiner_form
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
    'the student slept'
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
    return _outline(structure_of(event))


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
def _outline(structure: ClauseStructure) -> Outline:
    wordless = _event_of_structure(structure)
    kinds = {f"{path}verb": Kind(str(clause.frame)) for path, clause in _clauses(wordless)}
    return tuple(_outlined(token, kinds) for token in plan_sentence(wordless).tokens)


def _event_of_structure(structure: ClauseStructure) -> ev.Event:
    *features, adverbs, agent, patient = structure
    names = ClauseStructure._fields[: len(features)]
    return ev.Event(
        **dict(zip(names, features, strict=True)),
        adverbs=("",) * adverbs,
        agent=_argument_of_structure(agent),
        patient=_argument_of_structure(patient),
    )


def _argument_of_structure(structure: PersonStructure | ev.Gap | None) -> ev.Argument | None:
    if not isinstance(structure, PersonStructure):
        return structure
    inner = structure.clause
    clause = ev.RelativeClause(event=_event_of_structure(inner)) if inner else ev.BARE
    return ev.Participant(number=structure.number, clause=clause)


def _clauses(event: ev.Event, path: str = "") -> list[tuple[str, ev.Event]]:
    found = [(path, event)]
    for role, person in ev.participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            found += _clauses(person.clause.event, f"{path}{role.value}.clause.")
    return found


def _outlined(token: PlanToken, kinds: dict[str, Kind]) -> OutlineToken:
    slot, form = token.slot, token.leaf.form
    if not slot:
        return OutlineToken("", form)
    name = slot.rpartition(".")[2]
    kind = kinds[slot] if name == "verb" else SLOT_KINDS.get(name, Kind.ADVERB)
    if kind is Kind.RELATIVIZER:
        return OutlineToken(slot, "", kind)
    if kind is not Kind.DETERMINER:
        return OutlineToken(slot, "", kind, Form(form))
    number = form.removeprefix("DT.")
    forms = [determiner_form(number, vowel=vowel) for vowel in (False, True)]
    return OutlineToken(slot, "", kind, *forms, slot.removesuffix("det") + "noun")
