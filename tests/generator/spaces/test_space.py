"""The space of events against an enumeration by nested loops."""

from dataclasses import fields, replace
from functools import cache
from typing import Any

import pytest
from helpers.oracles.space_by_loops import (
    CASES,
    PAST,
    PLAINEST,
    STRUCTURES,
    Case,
    enumerate_case,
    find_satisfying_events,
    list_events,
    list_nonempty_cases,
    list_words,
)
from helpers.strategies.strategies import generalizations
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.events.event import (
    Contradiction,
    Event,
    Mood,
    Negator,
    Number,
    Participant,
    RelativeClause,
    Role,
    iterate_clauses,
)
from sentprobe.generator.spaces.constraints import Choices, Constraints
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english


@pytest.mark.slow
def test_the_cases_are_worth_their_time() -> None:
    sizes = [len(enumerate_case(case)) for case in CASES]
    assert max(sizes) < 6000
    assert min(len(enumerate_case(case)) for case in list_nonempty_cases()) >= 32


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_space_is_what_the_loops_find(case: Case) -> None:
    expected = enumerate_case(case)
    if not expected:
        with pytest.raises(Contradiction):
            case.make_space()
        return
    space = case.make_space()
    assert space.count() == len(space) == len(expected)
    assert set(list_events(space)) == expected


LARGE_STRUCTURES = {"all", *(name for name in STRUCTURES if "ditransitive" in name and "rc" in name)}
"""The templates whose spaces are too large to list with random choices."""


@st.composite
def random_cases(draw: st.DrawFn) -> Case:
    """Small spaces of the templates, with any moods, modals, adverbs, adjectives, coordinations and determiners."""
    template = draw(st.sampled_from([name for name in STRUCTURES if name not in LARGE_STRUCTURES]))
    open_fields: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
        [{}, {"tense": None}, {"aspect": None}, {"polarity": None, "negator": None}]
    )
    numbers = st.sampled_from([(0,), (0,), (1,)])
    main, clause = (replace(PLAINEST, **draw(open_fields)) for _ in range(2))
    choices = Choices(
        main=main,
        clause=clause if "rc" in template else Event(),
        numbers=(draw(st.sampled_from(Number)),),
        determiners=(draw(st.sampled_from(("the", "no", "some"))),),
        negators=(draw(st.sampled_from(Negator)),),
        modals=(None, "can") if main.tense is None else (None,),
        moods=tuple(draw(st.sets(st.sampled_from(Mood), min_size=1))),
        asked=tuple(draw(st.sets(st.sampled_from((None, *Role)), min_size=1))),
        adverbs=draw(numbers),
        adjectives=draw(numbers),
        coordinations=(0,) if "rc" in template else draw(numbers),
    )
    return Case("three", (template,), choices)


@given(random_cases())
@examples(60)
def test_a_random_space_is_what_the_loops_find(case: Case) -> None:
    expected = enumerate_case(case)
    try:
        events = list_events(case.make_space())
    except Contradiction:
        events = []
    assert {*events} == expected
    assert len(events) == len(expected)


# ------------------------------------------------------------------ random constraints


@st.composite
def sparse(draw: st.DrawFn, value: Any) -> Any:
    """A value with one to three of the fields of *value*, at any depth; the rest open."""
    stated = [f.name for f in fields(value) if getattr(value, f.name) is not None]
    chosen = draw(st.lists(st.sampled_from(stated), min_size=1, max_size=3, unique=True))
    changes: dict[str, Any] = {}
    for name in {*chosen, "event"} & {*stated}:
        old = getattr(value, name)
        inner = isinstance(old, Event | Participant | RelativeClause)
        changes[name] = draw(sparse(old)) if inner else old
    return type(value)(**changes)


@st.composite
def partial_events_in(draw: st.DrawFn, case: Case) -> Event:
    """Partial events that some event of the case contains, or nearly."""
    event = draw(st.sampled_from(sort_events(case)))
    clause, head = draw(st.sampled_from(list(iterate_clauses(event))))
    if head is not None and clause.gap is not None and draw(st.booleans()):
        clause = clause.with_argument(clause.gap, replace(head, clause=None))
    partial: Event = draw(st.one_of(sparse(clause), generalizations(clause)))
    return partial


@cache
def sort_events(case: Case) -> list[Event]:
    return sorted(enumerate_case(case), key=repr)[::7]


@cache
def some_of_its_words(case: Case) -> list[str]:
    return sorted({str(word) for event in sort_events(case)[::5] for word in list_words(event)})


@st.composite
def constraints_on(draw: st.DrawFn, case: Case) -> Constraints:
    """Constraints from the words and events of a case; some are contradictory."""
    partials = partial_events_in(case)
    some_words = st.lists(st.sampled_from(some_of_its_words(case)), max_size=2, unique=True).map(tuple)
    return Constraints(
        required=draw(st.lists(partials, max_size=2).map(tuple)),
        required_any=draw(st.lists(partials, max_size=3).map(tuple)),
        forbidden=draw(st.lists(partials, max_size=2).map(tuple)),
        required_words=draw(some_words),
        forbidden_words=draw(some_words),
    )


@given(st.data())
@examples(60)
def test_constraints_leave_what_the_loops_leave(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(list_nonempty_cases()), label="case")
    constraints = data.draw(constraints_on(case), label="constraints")
    expected = find_satisfying_events(case, constraints)
    try:
        space = case.make_space(constraints)
    except Contradiction as error:
        assert not expected
        assert any(text in str(error) for text in (" is impossible in ", " contradict each other", " all of these "))
        return
    events = list_events(space)
    assert set(events) == expected
    assert space.count() == len(expected)
    some = data.draw(st.integers(-len(expected), len(expected) - 1), label="index")
    assert space[some] == events[some]
    assert space.index(space[some]) == some % len(expected)


# ------------------------------------------------------------------ indexing


def test_getitem_is_as_of_a_sequence() -> None:
    space = Case("two", ("transitive",)).make_space()
    count = space.count()
    assert [space[i] for i in range(count)] == list_events(space)
    assert space[-1] == space[count - 1]
    for index in (count, -count - 1, 10**30):
        with pytest.raises(IndexError, match=rf"outside a space of {count} events"):
            space[index]


def test_an_event_that_is_not_in_the_space_has_no_index() -> None:
    space = Case("two", ("transitive",), Choices(main=PAST)).make_space()
    for other_space in CASES[1].make_space(), Case("three", ("transitive",)).make_space():
        outside = set(list_events(other_space)) - set(list_events(space))
        for event in outside:
            with pytest.raises(ValueError, match="not in the space"):
                space.index(event)


LARGE = Choices(
    determiners=("the", "a", "some"), relativizers=("that", "who"), negators=tuple(Negator), adverbs=(0, 1, 2, 3)
)


@given(st.integers(0, 10**40))
@examples(30)
def test_indexing_is_inverted_in_a_space_of_any_size(number: int) -> None:
    space = large_space()
    assert space.count() > 2**64
    assert space.index(space[number % space.count()]) == number % space.count()


@cache
def large_space() -> Space:
    return Space(english(), templates=["transitive-rc"], choices=LARGE)
