"""Enumeration of spaces of events by nested loops, on a tiny lexicon.

It builds every event of a structure and keeps those that satisfy the constraints, without layouts and boxes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations, product
from typing import Any

import numpy as np

from sentprobe.generator.events.checks import contains, subsumes
from sentprobe.generator.events.event import (
    BARE,
    FRAME_ROLES,
    GAP,
    Argument,
    Asked,
    Aspect,
    Bare,
    ClauseKind,
    Dative,
    Event,
    Frame,
    Mood,
    Negator,
    Number,
    Participant,
    Polarity,
    RelativeClause,
    Role,
    Tense,
    Voice,
    iterate_clauses,
    iterate_participants,
)
from sentprobe.generator.sentences.parse import parse_clauses
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.constraints import Choices, Constraints
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Flag, read_lexicon_text

TINY = read_lexicon_text(
    """
    [noun]
    man = {}
    artist = {}
    student = {}
    pen = {}
    [transitive]
    help = {}
    admire = { flags = ["stative"] }
    hit = { flags = ["syncretic"] }
    [intransitive]
    sleep = {}
    dance = {}
    [ditransitive]
    show = {}
    hit = { flags = ["syncretic"] }
    [adverb]
    really = {}
    often = {}
    [adjective]
    old = {}
    young = {}
    [vocabulary.two]
    noun = ["man", "artist"]
    transitive = "*"
    intransitive = "*"
    ditransitive = "*"
    adverb = "*"
    adjective = "*"
    [vocabulary.three]
    noun = ["man", "artist", "student"]
    transitive = "*"
    intransitive = "*"
    ditransitive = "*"
    adverb = "*"
    adjective = "*"
    [vocabulary.four]
    noun = "*"
    transitive = "*"
    intransitive = "*"
    ditransitive = "*"
    adverb = "*"
    adjective = "*"
    """,
    "tiny.toml",
)
NOUNS = {"four": ("man", "artist", "student", "pen"), "two": ("man", "artist"), "three": ("man", "artist", "student")}
VERBS = {
    Frame.TRANSITIVE: ("help", "admire", "hit"),
    Frame.INTRANSITIVE: ("sleep", "dance"),
    Frame.DITRANSITIVE: ("show", "hit"),
}
ADVERBS = ("really", "often")
ADJECTIVES = ("old", "young")
PLURAL_TOO = {"the", "some", "no", "this", "that"}

QUESTIONS_OF_GIFTS = {
    "agent active double",  # who gave the doctor the book
    "agent active to",
    "patient active double",  # what did the man give the doctor
    "patient active to",
    "patient passive to",  # what was given to the doctor by the man
    "recipient active to",  # who did the man give the book to
    "recipient passive double",  # who was given the book by the man
}

T, I, D = Frame.TRANSITIVE, Frame.INTRANSITIVE, Frame.DITRANSITIVE  # noqa: E741
SRC, ORC = ClauseKind.SUBJECT, ClauseKind.OBJECT
Clauses = dict[Role, tuple[Frame, ClauseKind]]
SOME_CLAUSE = ((T, SRC), (T, ORC), (I, SRC))
ON_AGENT: list[Clauses] = [{Role.AGENT: clause} for clause in SOME_CLAUSE]
ON_PATIENT: list[Clauses] = [{Role.PATIENT: clause} for clause in SOME_CLAUSE]
STRUCTURES: dict[str, list[tuple[Frame, Clauses]]] = {
    "intransitive": [(I, {})],
    "intransitive-rc": [(I, on) for on in ON_AGENT],
    "intransitive-rc.agent.intransitive": [(I, {Role.AGENT: (I, SRC)})],
    "transitive": [(T, {})],
    "transitive-rc": [(T, on) for on in (*ON_AGENT, *ON_PATIENT)],
    "transitive-rc.patient.intransitive": [(T, {Role.PATIENT: (I, SRC)})],
    "transitive-rc.agent.transitive": [(T, on) for on in ON_AGENT[:2]],
    "transitive-rc.patient.transitive.orc": [(T, {Role.PATIENT: (T, ORC)})],
    "ditransitive": [(D, {})],
    "ditransitive-rc.recipient": [(D, {Role.RECIPIENT: clause}) for clause in (*SOME_CLAUSE, (D, SRC), (D, ORC))],
    "ditransitive-rc.patient.ditransitive": [(D, {Role.PATIENT: (D, kind)}) for kind in ClauseKind],
    "intransitive-rc-ditransitive": [(I, {Role.AGENT: (D, kind)}) for kind in ClauseKind],
    "transitive-rc-ditransitive.patient": [(T, {Role.PATIENT: (D, kind)}) for kind in ClauseKind],
    "transitive-rc-both.agent.intransitive.patient.intransitive": [(T, {Role.AGENT: (I, SRC), Role.PATIENT: (I, SRC)})],
}
STRUCTURES["all"] = [
    pair for name in ("intransitive", "intransitive-rc", "transitive", "transitive-rc") for pair in STRUCTURES[name]
]


@dataclass(frozen=True)
class Case:
    """A space that is small enough to list."""

    vocabulary: str
    templates: tuple[str, ...]
    choices: Choices = Choices()  # noqa: RUF009 - frozen

    def make_space(self, constraints: Constraints | None = None) -> Space:
        return Space(
            TINY, vocabulary=self.vocabulary, templates=self.templates, choices=self.choices, constraints=constraints
        )


# ------------------------------------------------------------------ the enumeration


@cache
def enumerate_case(case: Case) -> frozenset[Event]:
    """Return all events of a case, by nested loops."""
    structures = [pair for name in case.templates for pair in STRUCTURES[name]]
    return frozenset(
        event
        for frame, on in structures
        for event in iterate_events(case, frame, None, None, on)
        if has_distinct_words(event) and is_chosen(event, case.choices)
        if sum(person.conjunct is not None for _, person in list_participants(event)) in case.choices.coordinations
    )


def iterate_events(case: Case, frame: Frame, gap: Role | None, kind: ClauseKind | None, on: Clauses) -> Iterator[Event]:
    choices = case.choices
    fixed = choices.main if kind is None else choices.clause
    negations = [(Polarity.POSITIVE, None)]
    negations += [(Polarity.NEGATIVE, negator) for negator in choices.negators]  # type: ignore[misc]
    sequences = [seq for count in choices.adverbs for seq in permutations(ADVERBS, count)]
    arguments = list_arguments(case, frame, gap, on)
    if kind is None:
        yield from iterate_orders(case, frame, arguments, {*on} - {Role.PATIENT})
        arguments = {role: [*fillers, Asked.WHO] for role, fillers in arguments.items()}
    forms = product((Voice.ACTIVE,) if frame is I else Voice, Dative if frame is D else (None,))
    for voice, dative in forms:
        subject = Event(frame=frame, voice=voice, dative=dative).subject
        if kind is not None and (gap is subject) != (kind is SRC):
            continue
        is_stranded = voice is Voice.PASSIVE or (gap is Role.RECIPIENT and dative is Dative.DOUBLE)
        if frame is D and kind is ORC and is_stranded:
            continue  # the fragment has no such relative clause
        for verb, finite, aspect, (polarity, negator), adverbs in product(
            VERBS[frame], list_finite(choices), (Aspect.SIMPLE, Aspect.PROGRESSIVE), negations, sequences
        ):
            tense = finite if isinstance(finite, Tense) else None
            modal = None if tense else str(finite)
            if modal == "may" and str(negator) == "n't":
                continue
            bare = Event(
                predicate=verb,
                frame=frame,
                voice=voice,
                dative=dative,
                tense=tense,
                modal=modal,
                aspect=aspect,
                polarity=polarity,
                negator=negator,
                adverbs=adverbs,
            )
            if not subsumes(fixed, bare):
                continue
            for people in product(*arguments.values()):
                yield from iterate_moods(case, bare, kind, {*on}, dict(zip(arguments, people, strict=True)))


def list_arguments(case: Case, frame: Frame, gap: Role | None, on: Clauses) -> dict[Role, list[Argument]]:
    """Return the fillers of each role."""
    return {
        role: [GAP] if role is gap else list(iterate_participants_by_loops(case, on.get(role)))
        for role in FRAME_ROLES[frame]
    }


def iterate_moods(
    case: Case, bare: Event, kind: ClauseKind | None, modified: set[Role], people: dict[Role, Argument]
) -> Iterator[Event]:
    """Yield the statement and the question of these participants, as far as the choices allow them."""
    asked = [role for role, filler in people.items() if isinstance(filler, Asked)]
    if len(asked) > 1 or modified & {*asked}:
        return
    if asked and bare.frame is D and f"{asked[0]} {bare.voice} {bare.dative}" not in QUESTIONS_OF_GIFTS:
        return
    arguments: dict[str, Any] = {role.value: filler for role, filler in people.items()}
    if not asked and (kind is not None or Mood.STATEMENT in case.choices.moods):
        yield replace(bare, **arguments)
    if kind is None and Mood.QUESTION in case.choices.moods and (*asked, None)[0] in case.choices.asked:
        yield replace(bare, **arguments, mood=Mood.QUESTION)


def iterate_orders(
    case: Case, frame: Frame, arguments: dict[Role, list[Argument]], modified: set[Role]
) -> Iterator[Event]:
    if Mood.ORDER not in case.choices.moods or modified:
        return
    sequences = [seq for count in case.choices.adverbs for seq in permutations(ADVERBS, count)]
    names = [role.value for role in arguments if role is not Role.AGENT]
    fillers = product(*(arguments[role] for role in arguments if role is not Role.AGENT))
    datives = tuple(Dative) if frame is D else (None,)
    for people, verb, negator, adverbs, dative in product(
        fillers, VERBS[frame], (None, *case.choices.negators), sequences, datives
    ):
        polarity = Polarity.NEGATIVE if negator else Polarity.POSITIVE
        others: dict[str, Any] = dict(zip(names, people, strict=True))
        order = Event(
            predicate=verb,
            frame=frame,
            dative=dative,
            polarity=polarity,
            negator=negator,
            adverbs=adverbs,
            mood=Mood.ORDER,
            **others,
        )
        if subsumes(case.choices.main, order):
            yield order


def list_finite(choices: Choices) -> list[Tense | str]:
    """Return the tenses and modals that a clause can have."""
    modals = [modal for modal in choices.modals if modal is not None]
    return [*(Tense if None in choices.modals else ()), *modals]


def iterate_participants_by_loops(case: Case, clause: tuple[Frame, ClauseKind] | None) -> Iterator[Participant]:
    inner: list[RelativeClause | Bare] = [BARE]
    if clause is not None:
        frame, kind = clause
        inner = [
            RelativeClause(event=event, relativizer=relativizer)
            for gap in FRAME_ROLES[frame]
            for event in iterate_events(case, frame, gap, kind, {})
            for relativizer in case.choices.relativizers or ("that",)
        ]
    sequences = [seq for count in case.choices.adjectives for seq in permutations(ADJECTIVES, count)]
    persons = [
        Participant(noun=noun, number=number, determiner=determiner, clause=rc, adjectives=adjectives)
        for noun, number, determiner, rc, adjectives in product(
            NOUNS[case.vocabulary], case.choices.numbers, case.choices.determiners or ("the",), inner, sequences
        )
        if number is Number.SINGULAR or determiner in PLURAL_TOO
    ]
    yield from persons
    if clause is None and any(case.choices.coordinations):
        yield from (replace(first, conjunct=second) for first, second in permutations(persons, 2))


def list_content_words(event: Event) -> Iterator[tuple[str, str | None]]:
    """Yield the words that must differ, each with its class."""
    for clause, _ in iterate_clauses(event):
        yield "verb", clause.predicate
        yield from (("adverb", adverb) for adverb in clause.adverbs or ())
    for _, person in list_participants(event):
        for conjunct in person.conjuncts:
            yield "noun", conjunct.noun
            yield from (("adjective", adjective) for adjective in conjunct.adjectives)


def list_participants(event: Event) -> list[tuple[Role, Participant]]:
    return [pair for clause, _ in iterate_clauses(event) for pair in iterate_participants(clause)]


def has_distinct_words(event: Event) -> bool:
    words = list(list_content_words(event))
    return len(words) == len(set(words))


def list_words(event: Event) -> set[str | None]:
    words = {word for _, word in list_content_words(event)}
    words |= {clause.modal for clause, _ in iterate_clauses(event)} - {None}
    for _, person in list_participants(event):
        words |= {conjunct.determiner for conjunct in person.conjuncts}
        if isinstance(person.clause, RelativeClause):
            words.add(person.clause.relativizer)
    return words


def is_chosen(event: Event, choices: Choices) -> bool:
    for clause, _ in iterate_clauses(event):
        if clause.predicate == "hit" and Flag.SYNCRETIC not in choices.allow:
            return False
        state = clause.predicate == "admire" and clause.aspect is Aspect.PROGRESSIVE
        if state and Flag.STATIVE not in choices.allow:
            return False
    if choices.ambiguous:
        return True
    has_recipient = any(clause.frame is D for clause, _ in iterate_clauses(event))
    is_clear = not has_recipient or len(parse_clauses(realize(event, TINY, checked=True).text, TINY)) == 1
    return is_clear and not has_adverb_of_two_verbs(event)


def has_adverb_of_two_verbs(event: Event) -> bool:
    """Say whether the main verb's adverb follows a relative clause."""
    if event.mood is Mood.QUESTION:
        person = event.argument(event.subject)
        follows = isinstance(person, Participant) and person.clause is not BARE and event.negator is not Negator.NOT
        return follows and bool(event.adverbs)
    form = event.modal, event.voice, event.aspect, event.polarity
    is_modified = isinstance(event.agent, Participant) and event.agent.clause is not BARE
    return is_modified and bool(event.adverbs) and form == (None, Voice.ACTIVE, Aspect.SIMPLE, Polarity.POSITIVE)


@cache
def list_events_with_words(case: Case) -> list[tuple[Event, set[str | None]]]:
    """Return the events of a case, each with its words."""
    return [(event, list_words(event)) for event in enumerate_case(case)]


def find_satisfying_events(case: Case, constraints: Constraints) -> set[Event]:
    """Return the events of a case that satisfy the constraints, tried one by one."""
    return {
        event
        for event, words in list_events_with_words(case)
        if words.issuperset(constraints.required_words)
        and words.isdisjoint(constraints.forbidden_words)
        and all(contains(event, partial) for partial in constraints.required)
        and any(contains(event, partial) for partial in constraints.required_any or [Event()])
        and not any(contains(event, partial) for partial in constraints.forbidden)
    }


# ------------------------------------------------------------------ the cases

PAST, PASSIVE = Event(tense=Tense.PAST), Event(voice=Voice.PASSIVE)
PLAIN = Event(tense=Tense.PAST, aspect=Aspect.SIMPLE)
PLAINEST = replace(PLAIN, polarity=Polarity.POSITIVE)
ONE = Choices(main=PLAINEST, clause=PLAINEST, numbers=(Number.SINGULAR,))
CASES = [
    Case(
        "two", ("intransitive",), Choices(determiners=("the", "a", "that"), negators=tuple(Negator), adverbs=(0, 1, 2))
    ),
    Case("two", ("transitive",)),
    Case("two", ("transitive", "intransitive"), Choices(moods=(Mood.ORDER,), negators=tuple(Negator), adverbs=(0, 1))),
    Case(
        "two",
        ("transitive",),
        Choices(main=PAST, moods=tuple(Mood), asked=(Role.PATIENT, None), numbers=(Number.PLURAL,)),
    ),
    Case("two", ("intransitive-rc",), Choices(main=PLAINEST, clause=PLAINEST, moods=(Mood.QUESTION,), adverbs=(0, 1))),
    Case(
        "three",
        ("transitive-rc",),
        Choices(main=PLAINEST, clause=PLAINEST, moods=(Mood.QUESTION,), asked=tuple(Role), numbers=(Number.SINGULAR,)),
    ),
    Case("two", ("intransitive",), Choices(modals=("may", None, "must"), negators=tuple(Negator))),
    Case("two", ("intransitive-rc",), Choices(main=replace(PLAINEST, tense=None), clause=PLAIN, modals=("can", None))),
    Case("two", ("transitive",), Choices(main=PAST, adverbs=(1,), allow=frozenset(Flag))),
    Case("two", ("transitive", "intransitive"), Choices(main=PASSIVE, determiners=("a", "some"))),
    Case("two", ("intransitive-rc.agent.intransitive",), Choices(relativizers=("that", "who"))),
    Case("two", ("intransitive-rc",), Choices(main=PLAIN, clause=Event(aspect=Aspect.SIMPLE))),
    Case("two", ("intransitive-rc",), Choices(main=PASSIVE)),
    Case("two", ("intransitive-rc",), Choices(main=PLAIN, clause=PASSIVE)),
    Case("two", ("intransitive-rc",), Choices(main=PLAINEST, clause=PLAINEST, adverbs=(0, 1))),
    Case("two", ("intransitive-rc",), Choices(main=PLAIN, clause=PLAINEST, adverbs=(1,), ambiguous=True)),
    Case("two", ("transitive-rc.patient.intransitive",), Choices(main=PAST, clause=PLAIN)),
    Case("three", ("transitive-rc.agent.transitive",), Choices(main=PLAIN, clause=PLAIN, numbers=(Number.PLURAL,))),
    Case("two", ("transitive-rc-both.agent.intransitive.patient.intransitive",), Choices(main=PLAINEST, clause=PLAIN)),
    Case("three", ("all",), Choices(main=PLAINEST, clause=PLAINEST, numbers=(Number.PLURAL,))),
    Case("two", ("transitive", "intransitive"), Choices(main=PLAINEST, adjectives=(0, 1), numbers=(Number.PLURAL,))),
    Case("three", ("transitive",), Choices(main=PLAIN, negators=(), coordinations=(0, 1), numbers=(Number.SINGULAR,))),
    Case("two", ("intransitive-rc.agent.intransitive",), Choices(main=PLAINEST, clause=PLAIN, adjectives=(1,))),
    Case("two", ("intransitive",), Choices(adjectives=(0, 1), coordinations=(1,), determiners=("the", "a"))),
    Case("three", ("ditransitive",), Choices(main=PAST, numbers=(Number.SINGULAR,), adverbs=(0, 1))),
    Case("four", ("ditransitive-rc.recipient",), ONE),
    Case("four", ("ditransitive-rc.recipient",), replace(ONE, ambiguous=True)),
    Case("three", ("ditransitive",), replace(ONE, clause=Event(), moods=(Mood.QUESTION,), asked=(*Role, None))),
    Case(
        "four",
        ("ditransitive-rc.patient.ditransitive",),
        replace(ONE, moods=(Mood.QUESTION,), asked=tuple(Role), allow=frozenset([Flag.SYNCRETIC])),
    ),
    Case("four", ("intransitive-rc-ditransitive", "transitive-rc-ditransitive.patient"), ONE),
    Case("three", ("all",), Choices(main=replace(PLAINEST, voice=Voice.PASSIVE), clause=PLAINEST, negators=())),
]


@cache
def list_nonempty_cases() -> list[Case]:
    """Return the cases that have events."""
    return [case for case in CASES if enumerate_case(case)]


def list_events(space: Space) -> list[Event]:
    return list(space.events(np.arange(space.count())))
