"""The space of events against an enumeration by nested loops, on a tiny lexicon.

The enumeration knows nothing of layouts and boxes: it builds every event of a structure and keeps
those that satisfy the constraints.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from strategies import generalizations

from sentprobe.errors import UsageError
from sentprobe.generator.constraints import Choices, Constraints
from sentprobe.generator.event import (
    BARE,
    GAP,
    Argument,
    Aspect,
    Bare,
    ClauseKind,
    Contradiction,
    Event,
    Frame,
    Negator,
    Number,
    Participant,
    Polarity,
    RelativeClause,
    Role,
    Tense,
    Voice,
    clauses,
    contains,
    participants,
    subsumes,
)
from sentprobe.generator.notation import read_event
from sentprobe.generator.space import Space
from sentprobe.generator.templates import find_patterns, template_names
from sentprobe.lexicon import Flag, english, read_lexicon_text

TINY = read_lexicon_text(
    """
    [noun]
    man = {}
    artist = {}
    student = {}
    [transitive]
    help = {}
    admire = { flags = ["stative"] }
    hit = { flags = ["syncretic"] }
    [intransitive]
    sleep = {}
    dance = {}
    [adverb]
    really = {}
    often = {}
    [vocabulary.two]
    noun = ["man", "artist"]
    transitive = "*"
    intransitive = "*"
    adverb = "*"
    [vocabulary.three]
    noun = "*"
    transitive = "*"
    intransitive = "*"
    adverb = "*"
    """,
    "tiny.toml",
)
NOUNS = {"two": ("man", "artist"), "three": ("man", "artist", "student")}
VERBS = {Frame.TRANSITIVE: ("help", "admire", "hit"), Frame.INTRANSITIVE: ("sleep", "dance")}
ADVERBS = ("really", "often")
PLURAL_TOO = {"the", "some", "no", "this", "that"}

T, I = Frame.TRANSITIVE, Frame.INTRANSITIVE  # noqa: E741
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
    "transitive-rc-both.agent.intransitive.patient.intransitive": [
        (T, {Role.AGENT: (I, SRC), Role.PATIENT: (I, SRC)})
    ],
}
STRUCTURES["all"] = [
    pair
    for name in ("intransitive", "intransitive-rc", "transitive", "transitive-rc")
    for pair in STRUCTURES[name]
]


@dataclass(frozen=True)
class Case:
    """A space small enough to be listed."""

    vocabulary: str
    templates: tuple[str, ...]
    choices: Choices = Choices()  # noqa: RUF009 - frozen

    def space(self, constraints: Constraints | None = None) -> Space:
        return Space(
            TINY,
            vocabulary=self.vocabulary,
            templates=self.templates,
            choices=self.choices,
            constraints=constraints,
        )


# ------------------------------------------------------------------ the enumeration


@cache
def enumerate_case(case: Case) -> frozenset[Event]:
    """Return all events of a case, by nested loops."""
    structures = [pair for name in case.templates for pair in STRUCTURES[name]]
    return frozenset(
        event
        for frame, on in structures
        for event in loop_events(case, frame, None, None, on)
        if words_differ(event) and is_chosen(event, case.choices)
    )


def loop_events(
    case: Case, frame: Frame, gap: Role | None, kind: ClauseKind | None, on: Clauses
) -> Iterator[Event]:
    choices = case.choices
    fixed = choices.main if kind is None else choices.clause
    negations = [(Polarity.POSITIVE, None)]
    negations += [(Polarity.NEGATIVE, negator) for negator in choices.negators]  # type: ignore[misc]
    sequences = [seq for count in choices.adverbs for seq in permutations(ADVERBS, count)]
    arguments: dict[Role, list[Argument | None]] = {
        Role.AGENT: [GAP] if gap is Role.AGENT else list(loop_people(case, on.get(Role.AGENT))),
        Role.PATIENT: [None],
    }
    if frame is T:
        arguments[Role.PATIENT] = (
            [GAP] if gap is Role.PATIENT else list(loop_people(case, on.get(Role.PATIENT)))
        )
    for voice in Voice if frame is T else (Voice.ACTIVE,):
        subject = Role.AGENT if voice is Voice.ACTIVE else Role.PATIENT
        if kind is not None and (gap is subject) != (kind is SRC):
            continue
        for verb, tense, aspect, (polarity, negator), adverbs in product(
            VERBS[frame], Tense, Aspect, negations, sequences
        ):
            bare = Event(
                predicate=verb,
                frame=frame,
                voice=voice,
                tense=tense,
                aspect=aspect,
                polarity=polarity,
                negator=negator,
                adverbs=adverbs,
            )
            if not subsumes(fixed, bare):
                continue
            for agent, patient in product(arguments[Role.AGENT], arguments[Role.PATIENT]):
                yield replace(bare, agent=agent, patient=patient)


def loop_people(case: Case, clause: tuple[Frame, ClauseKind] | None) -> Iterator[Participant]:
    inner: list[RelativeClause | Bare] = [BARE]
    if clause is not None:
        frame, kind = clause
        inner = [
            RelativeClause(event=event, relativizer=relativizer)
            for gap in (Role if frame is T else (Role.AGENT,))
            for event in loop_events(case, frame, gap, kind, {})
            for relativizer in case.choices.relativizers
        ]
    for noun, number, determiner, rc in product(
        NOUNS[case.vocabulary], case.choices.numbers, case.choices.determiners, inner
    ):
        if number is Number.SINGULAR or determiner in PLURAL_TOO:
            yield Participant(noun=noun, number=number, determiner=determiner, clause=rc)


def content_words(event: Event) -> Iterator[tuple[str, str | None]]:
    """Yield the words that must differ, each with its class."""
    for clause, _ in clauses(event):
        yield "verb", clause.predicate
        yield from (("adverb", adverb) for adverb in clause.adverbs or ())
        yield from (("noun", person.noun) for _, person in participants(clause))


def words_differ(event: Event) -> bool:
    words = list(content_words(event))
    return len(words) == len(set(words))


def all_words(event: Event) -> set[str | None]:
    found = {word for _, word in content_words(event)}
    for clause, _ in clauses(event):
        for _, person in participants(clause):
            found.add(person.determiner)
            if isinstance(person.clause, RelativeClause):
                found.add(person.clause.relativizer)
    return found


def is_chosen(event: Event, choices: Choices) -> bool:
    for clause, _ in clauses(event):
        if clause.predicate == "hit" and Flag.SYNCRETIC not in choices.allow:
            return False
        state = clause.predicate == "admire" and clause.aspect is Aspect.PROGRESSIVE
        if state and Flag.STATIVE not in choices.allow:
            return False
    return True


def satisfies(event: Event, constraints: Constraints) -> bool:
    words = all_words(event)
    return (
        all(contains(event, partial) for partial in constraints.required)
        and not any(contains(event, partial) for partial in constraints.forbidden)
        and words.issuperset(constraints.required_words)
        and words.isdisjoint(constraints.forbidden_words)
    )


# ------------------------------------------------------------------ the cases

PAST, PASSIVE = Event(tense=Tense.PAST), Event(voice=Voice.PASSIVE)
PLAIN = Event(tense=Tense.PAST, aspect=Aspect.SIMPLE)
PLAINEST = replace(PLAIN, polarity=Polarity.POSITIVE)
CASES = [
    Case(
        "two",
        ("intransitive",),
        Choices(determiners=("the", "a", "that"), negators=tuple(Negator), adverbs=(0, 1, 2)),
    ),
    Case("two", ("transitive",)),
    Case("two", ("transitive",), Choices(main=PAST, adverbs=(1,), allow=frozenset(Flag))),
    Case("two", ("transitive", "intransitive"), Choices(main=PASSIVE, determiners=("a", "some"))),
    Case("two", ("intransitive-rc.agent.intransitive",), Choices(relativizers=("that", "who"))),
    Case("two", ("intransitive-rc",), Choices(main=PLAIN, clause=Event(aspect=Aspect.SIMPLE))),
    Case("two", ("intransitive-rc",), Choices(main=PASSIVE)),
    Case("two", ("intransitive-rc",), Choices(main=PLAIN, clause=PASSIVE)),
    Case("two", ("intransitive-rc",), Choices(main=PLAINEST, clause=PLAINEST, adverbs=(0, 1))),
    Case("two", ("transitive-rc.patient.intransitive",), Choices(main=PAST, clause=PLAIN)),
    Case(
        "three",
        ("transitive-rc.agent.transitive",),
        Choices(main=PLAIN, clause=PLAIN, numbers=(Number.PLURAL,)),
    ),
    Case(
        "two",
        ("transitive-rc-both.agent.intransitive.patient.intransitive",),
        Choices(main=PLAINEST, clause=PLAIN),
    ),
    Case("three", ("all",), Choices(main=PLAINEST, clause=PLAINEST, numbers=(Number.PLURAL,))),
    Case(
        "three",
        ("all",),
        Choices(main=replace(PLAINEST, voice=Voice.PASSIVE), clause=PLAINEST, negators=()),
    ),
]
LISTABLE = [case for case in CASES if enumerate_case(case)]


def listed(space: Space) -> list[Event]:
    return list(space.events(np.arange(space.count())))


def test_the_cases_are_worth_their_time() -> None:
    sizes = [len(enumerate_case(case)) for case in CASES]
    assert max(sizes) < 6000
    assert min(len(enumerate_case(case)) for case in LISTABLE) >= 32


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_space_is_what_the_loops_find(case: Case) -> None:
    expected = enumerate_case(case)
    if not expected:
        with pytest.raises(Contradiction):
            case.space()
        return
    space = case.space()
    assert space.count() == len(space) == len(expected)
    assert set(listed(space)) == expected


# ------------------------------------------------------------------ random constraints


@st.composite
def sparse(draw: st.DrawFn, value: Any) -> Any:
    """A value with one to three of the fields of *value*, at any depth; the rest open."""
    stated = [f.name for f in fields(value) if getattr(value, f.name) is not None]
    kept = draw(st.lists(st.sampled_from(stated), min_size=1, max_size=3, unique=True))
    changes: dict[str, Any] = {}
    for name in {*kept, "event"} & {*stated}:
        old = getattr(value, name)
        inner = isinstance(old, Event | Participant | RelativeClause)
        changes[name] = draw(sparse(old)) if inner else old
    return type(value)(**changes)


@st.composite
def partial_events_in(draw: st.DrawFn, case: Case) -> Event:
    """Partial events that some event of the case contains, or nearly."""
    event = draw(st.sampled_from(in_order(case)))
    clause, head = draw(st.sampled_from(list(clauses(event))))
    if head is not None and clause.gap is not None and draw(st.booleans()):
        clause = clause.with_argument(clause.gap, replace(head, clause=None))
    partial: Event = draw(st.one_of(sparse(clause), generalizations(clause)))
    return partial


@cache
def in_order(case: Case) -> list[Event]:
    return sorted(enumerate_case(case), key=repr)[::7]


@st.composite
def constraints_on(draw: st.DrawFn, case: Case) -> Constraints:
    """Up to two of each kind of constraint, most of them one by one satisfiable."""
    partials = partial_events_in(case)
    words = sorted({str(word) for event in in_order(case)[::5] for word in all_words(event)})
    some_words = st.lists(st.sampled_from(words), max_size=2, unique=True).map(tuple)
    return Constraints(
        required=draw(st.lists(partials, max_size=2).map(tuple)),
        forbidden=draw(st.lists(partials, max_size=2).map(tuple)),
        required_words=draw(some_words),
        forbidden_words=draw(some_words),
    )


@given(st.data())
@settings(max_examples=250)
def test_constraints_leave_what_the_loops_leave(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(LISTABLE), label="case")
    constraints = data.draw(constraints_on(case), label="constraints")
    expected = {event for event in enumerate_case(case) if satisfies(event, constraints)}
    try:
        space = case.space(constraints)
    except Contradiction as error:
        assert not expected
        assert any(
            text in str(error)
            for text in (" is impossible in ", " contradict each other", " all of these ")
        )
        return
    found = listed(space)
    assert set(found) == expected
    assert space.count() == len(expected)
    some = data.draw(st.integers(-len(expected), len(expected) - 1), label="index")
    assert space[some] == found[some]
    assert space.index(space[some]) == some % len(expected)


# ------------------------------------------------------------------ contradictions

PLACE = "in the templates transitive"
CONTRADICTIONS = [
    (
        Constraints(required=(read_event("help[past]"),), forbidden=(read_event("*[past]"),)),
        "the required event help[past] and the forbidden event *[past] contradict each other",
    ),
    (
        Constraints(required_words=("man",), forbidden_words=("man",)),
        "the required word 'man' and the forbidden word 'man' contradict each other",
    ),
    (
        Constraints(forbidden=tuple(map(read_event, ("help", "admire[past]", "admire[pres]")))),
        "no sentence satisfies all of these together in the templates transitive: the forbidden "
        "event help; the forbidden event admire[past]; the forbidden event admire[pres]",
    ),
    (
        Constraints(required=(read_event("sleep[intransitive]"),)),
        "the required event sleep[intransitive] is impossible",
    ),
    (
        Constraints(required=(read_event("*(agent: * rc *)"),), required_words=("man",)),
        "the required event *(agent: * rc *) is impossible",
    ),
    (Constraints(forbidden=(Event(),)), "the forbidden event * is impossible"),
    (
        Constraints(required=(read_event("*(agent: man)"), read_event("*(patient: man)"))),
        "contradict each other",
    ),
    (Constraints(required_words=("help", "admire")), "contradict each other"),
    (
        Constraints(required=(read_event("admire[prog]"),)),
        "the required event admire[prog] and leaving out states in the progressive contradict",
    ),
]


@pytest.mark.parametrize(("constraints", "message"), CONTRADICTIONS)
def test_a_contradiction_names_its_constraints(constraints: Constraints, message: str) -> None:
    with pytest.raises(Contradiction) as caught:
        Case("three", ("transitive",)).space(constraints)
    assert message in str(caught.value)
    assert PLACE in str(caught.value)


def test_choices_can_contradict_constraints() -> None:
    case = Case("two", ("transitive",), Choices(main=PASSIVE))
    with pytest.raises(Contradiction) as caught:
        case.space(Constraints(required=(read_event("help[active]"),)))
    assert "the main clause *[passive] and the required event help[active]" in str(caught.value)


def test_too_few_words() -> None:
    with pytest.raises(Contradiction, match=r"^the vocabulary has too few words for any sentence"):
        Case("two", ("transitive-rc.agent.transitive",)).space()


UNKNOWN = [
    (Constraints(required_words=("mna",)), "the lexicon has no word 'mna' (did you mean 'man'?)"),
    (Constraints(forbidden_words=("slep",)), "has no word 'slep' (did you mean 'sleep'?)"),
    (Constraints(forbidden=(read_event("hlep"),)), "has no word 'hlep' (did you mean 'help'?)"),
    (Constraints(required_words=("student",)), "'student' is required but is not in vocabulary"),
    (Constraints(required_words=("hit",)), "'hit' is required but is left out of vocabulary"),
    (Constraints(required=(read_event("*(agent: a man)"),)), "'a' is required but is not among"),
]


@pytest.mark.parametrize(("constraints", "message"), UNKNOWN)
def test_words_that_are_not_there(constraints: Constraints, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Case("two", ("transitive",)).space(constraints)
    assert message in str(caught.value)


@pytest.mark.parametrize("count", [-1, 7, 100])
def test_a_verb_takes_up_to_six_adverbs(count: int) -> None:
    with pytest.raises(UsageError, match=rf"^a verb takes from 0 to 6 adverbs, not {count}$"):
        Case("two", ("transitive",), Choices(adverbs=(count,))).space()


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (Choices(determiners=("teh",)), "unknown determiner 'teh' (did you mean 'the'?)"),
        (Choices(determiners=("man",)), "unknown determiner 'man' (the lexicon has it as noun)"),
        (Choices(relativizers=("hwo",)), "unknown relativizer 'hwo' (did you mean 'who'?)"),
    ],
)
def test_function_words_that_are_not_there(choices: Choices, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Case("two", ("transitive-rc",), choices).space()
    assert str(caught.value) == message


# ------------------------------------------------------------------ indexing


def test_getitem_is_as_of_a_sequence() -> None:
    space = Case("two", ("transitive",)).space()
    count = space.count()
    assert [space[i] for i in range(count)] == listed(space)
    assert space[-1] == space[count - 1]
    for index in (count, -count - 1, 10**30):
        with pytest.raises(IndexError, match=rf"outside a space of {count} events"):
            space[index]


def test_an_event_that_is_not_in_the_space_has_no_index() -> None:
    space = Case("two", ("transitive",), Choices(main=PAST)).space()
    for other in CASES[1].space(), Case("three", ("transitive",)).space():
        outside = set(listed(other)) - set(listed(space))
        for event in outside:
            with pytest.raises(ValueError, match="not in the space"):
                space.index(event)


LARGE = Choices(
    determiners=("the", "a", "some"),
    relativizers=("that", "who"),
    negators=tuple(Negator),
    adverbs=(0, 1, 2, 3),
)


@given(st.integers(0, 10**40))
@settings(max_examples=30)
def test_indexing_is_inverted_in_a_space_of_any_size(number: int) -> None:
    space = large_space()
    assert space.count() > 2**64
    assert space.index(space[number % space.count()]) == number % space.count()


@cache
def large_space() -> Space:
    return Space(english(), templates=["transitive-rc"], choices=LARGE)


# ------------------------------------------------------------------ sampling


def test_a_sample_has_no_repetition_and_depends_on_its_seed_only() -> None:
    for space in (CASES[0].space(), large_space()):
        drawn = space.sample(200, seed=3).tolist()
        assert len(set(drawn)) == 200
        assert drawn == space.sample(200, seed=3).tolist()
        assert drawn != space.sample(200, seed=4).tolist()
        assert all(0 <= index < space.count() for index in drawn)
        events = list(space.events(space.sample(200, seed=3)))
        assert events == [space[index] for index in drawn]


def test_a_sample_can_be_the_whole_space() -> None:
    space = Case("two", ("transitive",)).space()
    for count in (space.count(), space.count() - 1, space.count() // 2):
        assert len(set(space.sample(count, seed=0).tolist())) == count
    assert sorted(space.sample(space.count(), seed=0).tolist()) == list(range(space.count()))


def test_more_than_there_are_cannot_be_drawn() -> None:
    space = Case("two", ("transitive",)).space()
    message = f"but there are only {space.count()} different ones"
    with pytest.raises(UsageError, match=message):
        space.sample(space.count() + 1, seed=0)
    for count in (0, -5):
        with pytest.raises(UsageError, match=f"must be positive, not {count}"):
            space.sample(count, seed=0)


def test_sampling_is_uniform() -> None:
    """Of samples of different sizes, the first and the last draw; seeds are fixed."""
    space = Case("two", ("transitive",), Choices(main=PLAIN, numbers=(Number.PLURAL,))).space(
        Constraints(forbidden=(read_event("help[passive, neg](agent: man)"),))
    )
    size = space.count()
    assert size == 15
    for count in (1, 2, size // 2, size - 1, size):
        draws = [space.sample(count, seed=seed).tolist() for seed in range(1500)]
        for place in (0, -1):
            tally = np.bincount([draw[place] for draw in draws], minlength=size)
            assert chisquare(tally).pvalue > 0.001
    pairs = [tuple(space.sample(2, seed=seed).tolist()) for seed in range(4200)]
    counts = [pairs.count(pair) for pair in permutations(range(size), 2)]
    assert chisquare(counts).pvalue > 0.001


def test_every_feature_is_drawn_evenly_in_a_large_space() -> None:
    space = Space(english(), templates=["transitive-rc"])
    events = list(space.events(space.sample(2000, seed=0)))
    inner = [clause for event in events for clause, head in clauses(event) if head is not None]
    for some in (events, inner):
        assert chisquare([sum(e.tense is t for e in some) for t in Tense]).pvalue > 0.001
        assert chisquare([sum(e.polarity is p for e in some) for p in Polarity]).pvalue > 0.001
        people = [person for event in some for _, person in participants(event)]
        assert chisquare([sum(p.number is n for p in people) for n in Number]).pvalue > 0.001


# ------------------------------------------------------------------ words


@given(st.sampled_from(template_names()), st.integers(0, 99))
@settings(max_examples=30)
def test_words_that_must_differ_differ(template: str, seed: int) -> None:
    choices = replace(LARGE, adverbs=(2,))
    space = Space(english(), vocabulary="compeval", templates=[template], choices=choices)
    assert all(words_differ(event) for event in space.events(space.sample(20, seed=seed)))


def published(*allow: Flag, required_words: tuple[str, ...] = ()) -> Space:
    return Space(
        english(),
        vocabulary="published",
        templates=["transitive"],
        choices=Choices(allow=frozenset(allow)),
        constraints=Constraints(required_words=required_words),
    )


def test_states_are_in_the_progressive_only_if_allowed() -> None:
    space = published(required_words=("believe",))
    aspects = {event.aspect for event in space.events(space.sample(space.count(), seed=0))}
    assert aspects == {Aspect.SIMPLE}
    allowed = published(Flag.STATIVE, required_words=("believe",))
    assert allowed.count() == 2 * space.count()


def test_syncretic_verbs_are_used_only_if_allowed() -> None:
    space = published()
    assert "hit" not in space.words.verbs
    with pytest.raises(UsageError, match="'hit' is required but is left out of vocabulary"):
        published(required_words=("hit",))
    assert published(Flag.SYNCRETIC, required_words=("hit",)).count() > 0
    assert published(Flag.SYNCRETIC).count() > space.count()


# ------------------------------------------------------------------ templates


def count_of(*templates: str) -> int:
    return Space(english(), vocabulary="compeval", templates=templates).count()


@pytest.mark.parametrize("template", template_names(deep=True))
def test_the_counts_of_sub_templates_add_up(template: str) -> None:
    deeper = [
        name
        for name in template_names(deep=True)
        if name.startswith(f"{template}.") and name.count(".") == template.count(".") + 1
    ]
    if deeper:
        assert count_of(template) == sum(count_of(name) for name in deeper)
        assert count_of(template) == count_of(*deeper) == count_of(template, *deeper)


def test_the_count_does_not_depend_on_order_or_repetition() -> None:
    names = ("transitive-rc", "intransitive", "transitive")
    counts = {count_of(*order) for order in permutations(names)}
    assert counts == {sum(map(count_of, names))}
    assert count_of(*names, *names, "transitive-rc.agent") in counts


def test_all_leaves_out_two_clauses_in_a_sentence() -> None:
    four = ("intransitive", "intransitive-rc", "transitive", "transitive-rc")
    assert template_names() == (*four, "transitive-rc-both")
    assert find_patterns(["all"]) == find_patterns(four)
    assert all(len(pattern.clauses) <= 1 for pattern in find_patterns(["all"]))
    assert all(len(pattern.clauses) == 2 for pattern in find_patterns(["transitive-rc-both"]))
    assert count_of("all") == sum(map(count_of, four))


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("transitiv", "transitive"),
        ("transitive-rc.pateint", "transitive-rc.patient"),
        ("transitive-rc.agent.intransitive.orc", "transitive-rc.agent.intransitive.src"),
        ("transitive-r", "transitive-rc"),
        ("al", "all"),
    ],
)
def test_an_unknown_template_suggests_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_patterns([name])
    assert str(caught.value) == f"there is no template {name!r} (did you mean {nearest!r}?)"


@pytest.mark.parametrize("name", ["", ".", "transitive.", "all.agent", "xyz", "TRANSITIVE"])
def test_an_unknown_template_without_a_near_one(name: str) -> None:
    with pytest.raises(UsageError, match="there is no template"):
        find_patterns([name])


def test_no_template_is_an_error() -> None:
    with pytest.raises(UsageError):
        Space(english(), templates=[])


@pytest.mark.parametrize("name", template_names(deep=True))
def test_every_template_is_found_under_its_name(name: str) -> None:
    for pattern in find_patterns([name]):
        assert pattern.name == name or pattern.name.startswith(f"{name}.")
