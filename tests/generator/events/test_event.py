"""Partial events: unification, subsumption, and containment by sense."""

from dataclasses import replace
from typing import Any

import pytest
from helpers.strategies.strategies import full_events, generalizations, partial_events
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.events.checks import contains, find_open_fields, subsumes, unify
from sentprobe.generator.events.event import (
    GAP,
    Asked,
    Aspect,
    ClauseKind,
    Contradiction,
    Dative,
    Event,
    Frame,
    Mood,
    Negator,
    Participant,
    Polarity,
    RelativeClause,
    Role,
    Tense,
    Voice,
    iterate_clauses,
)
from sentprobe.generator.events.notation import read_event
from sentprobe.lexicon import english

briefly = examples(60)


@st.composite
def related_events(draw: st.DrawFn, count: int) -> tuple[Event, ...]:
    """Partial events that are often, not always, compatible: views of one event or of two."""
    originals = draw(st.lists(partial_events(depth=1), min_size=1, max_size=2))
    return tuple(draw(st.sampled_from(originals).flatmap(generalizations)) for _ in range(count))


def try_unify(*events: Event | None) -> Event | None:
    """Return the unification from left to right, None where it fails."""
    result, *remaining = events
    for event in remaining:
        if result is None or event is None:
            return None
        try:
            result = unify(result, event)
        except Contradiction:
            return None
    return result


@given(related_events(2))
@briefly
def test_unify_is_commutative(pair: tuple[Event, Event]) -> None:
    left, right = pair
    assert try_unify(left, right) == try_unify(right, left)


@given(partial_events())
@briefly
def test_unify_is_idempotent(event: Event) -> None:
    assert unify(event, event) == event
    assert unify(event, Event()) == event


@given(related_events(3))
@briefly
def test_unify_is_associative_up_to_failure(events: tuple[Event, Event, Event]) -> None:
    a, b, c = events
    assert try_unify(try_unify(a, b), c) == try_unify(a, try_unify(b, c))


@given(related_events(2))
@briefly
def test_both_subsume_what_they_unify_to(pair: tuple[Event, Event]) -> None:
    left, right = pair
    both = try_unify(left, right)
    if both is not None:
        assert subsumes(left, both)
        assert subsumes(right, both)


@given(partial_events().flatmap(lambda e: st.tuples(st.just(e), *[generalizations(e)] * 2)))
@briefly
def test_unify_is_most_general(events: tuple[Event, Event, Event]) -> None:
    special, left, right = events
    assert subsumes(unify(left, right), special)


@given(related_events(2))
@briefly
def test_unify_agrees_with_subsumes(pair: tuple[Event, Event]) -> None:
    general, special = pair
    assert subsumes(general, special) == (try_unify(general, special) == special)


@given(related_events(3))
@briefly
def test_subsumes_is_partial_order(events: tuple[Event, Event, Event]) -> None:
    a, b, c = events
    assert subsumes(a, a)
    assert not (subsumes(a, b) and subsumes(b, a)) or a == b
    assert not (subsumes(a, b) and subsumes(b, c)) or subsumes(a, c)


@given(st.data(), full_events(english()))
@briefly
def test_event_contains_what_subsumes_its_clauses(data: Any, event: Event) -> None:
    for clause, modified in iterate_clauses(event):
        general = data.draw(generalizations(clause))
        assert contains(event, general)
        if modified is not None and clause.gap is not None:
            by_sense = clause.with_argument(clause.gap, modified)
            assert contains(event, data.draw(generalizations(by_sense)))


@given(full_events(english()))
@briefly
def test_full_events_have_nothing_open(event: Event) -> None:
    assert list(find_open_fields(event)) == []


@given(partial_events(), full_events(english()))
@briefly
def test_containing_by_hand(partial: Event, event: Event) -> None:
    """The gap replaced by the noun, the clause either matches as it stands or so."""
    results = [
        subsumes(partial, view)
        for clause, head in iterate_clauses(event)
        for view in (clause, clause.with_argument(clause.gap, head) if clause.gap else clause)
    ]
    assert contains(event, partial) == any(results)


LAWYER_SHOUTS = "the lawyer[sg] that shout[pres](agent: _)"

CONTAINMENT = [
    ("shout(agent: lawyer)", "shout[past, neg](agent: lawyer[pl])", True),
    ("shout(agent: lawyer)", f"dance(agent: {LAWYER_SHOUTS})", True),
    ("shout(agent: lawyer)", f"help(agent: man, patient: {LAWYER_SHOUTS})", True),
    ("shout(agent: lawyer[sg])", f"help[passive](agent: man, patient: {LAWYER_SHOUTS})", True),
    ("help(patient: lawyer)", "dance(agent: lawyer that help(agent: man, patient: _))", True),
    ("help(agent: _)", "dance(agent: lawyer that help(agent: _, patient: man))", True),
    ("help[past]", "help[pres](agent: lawyer that help[past](agent: _))", True),
    ("help(patient: * rc sleep[prog])", "help(patient: man[sg] that sleep[prog](agent: _))", True),
    ("*", "sleep", True),
    ("shout(agent: lawyer[pl])", "shout(agent: lawyer[sg])", False),
    ("shout(agent: lawyer[pl])", f"dance(agent: {LAWYER_SHOUTS})", False),
    ("shout(agent: lawyer)", "help(agent: lawyer, patient: man that shout(agent: _))", False),
    ("shout(agent: lawyer)", "help(patient: lawyer that help(agent: man that shout(agent: _)))", False),
    ("help(agent: lawyer rc sleep)", "help(agent: lawyer[bare])", False),
    ("help(agent: lawyer rc sleep)", "help(agent: lawyer that dance(agent: _))", False),
    ("help(agent: lawyer[bare])", f"help(agent: {LAWYER_SHOUTS})", False),
    ("help(agent: _)", "help(agent: lawyer)", False),
    ("help(agent: _)", "dance(agent: lawyer that help(patient: _))", False),
    ("help[past]", "help[pres](agent: lawyer that meet[past](agent: _))", False),
]


@pytest.mark.parametrize(("partial", "event", "is_contained"), CONTAINMENT)
def test_contains_by_hand(partial: str, event: str, is_contained: bool) -> None:
    assert contains(read_event(event), read_event(partial)) is is_contained


def test_implied_features_are_filled_in() -> None:
    assert Event(patient=GAP).frame is Frame.TRANSITIVE
    assert Event(frame=Frame.INTRANSITIVE).voice is Voice.ACTIVE
    assert Event(negator=Negator.NOT).polarity is Polarity.NEGATIVE
    passive = Event(voice=Voice.PASSIVE, patient=GAP)
    assert RelativeClause(event=passive).kind is ClauseKind.SUBJECT
    stranded = Event(voice=Voice.PASSIVE, agent=GAP)
    assert RelativeClause(event=stranded).kind is ClauseKind.OBJECT


INTRANSITIVE, POSITIVE = Frame.INTRANSITIVE, Polarity.POSITIVE
CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    (
        {"frame": INTRANSITIVE, "patient": Participant()},
        "sleep: a patient needs a transitive frame, but its frame is intransitive",
    ),
    (
        {"frame": INTRANSITIVE, "voice": Voice.PASSIVE},
        "sleep: passive voice needs a transitive frame, but its frame is intransitive",
    ),
    ({"polarity": POSITIVE, "negator": Negator.NOT}, "sleep: a positive event has no negator, but its polarity is pos"),
    ({"agent": GAP, "patient": GAP}, "sleep: agent and patient cannot both be the gap"),
    ({"agent": GAP, "patient": Asked.WHO}, "sleep: agent and patient cannot both be a gap or asked for"),
    ({"agent": Asked.WHO, "patient": Asked.WHAT}, "sleep: agent and patient cannot both be asked for"),
    ({"agent": GAP, "mood": Mood.QUESTION}, "sleep: a relative clause is a statement"),
    ({"modal": "must", "tense": Tense.PAST}, "sleep: a modal event has no tense"),
    ({"mood": Mood.ORDER, "tense": Tense.PAST}, "sleep: an order has no tense"),
    ({"mood": Mood.ORDER, "modal": "must"}, "sleep: an order has no modal"),
    ({"mood": Mood.ORDER, "patient": Asked.WHO}, "sleep: an order asks for no participant"),
    (
        {"mood": Mood.ORDER, "agent": Participant()},
        "sleep: the agent of an order is the listener, not a participant of its own",
    ),
    ({"mood": Mood.ORDER, "voice": Voice.PASSIVE}, "sleep: an order is active, but its voice is passive"),
    (
        {"frame": INTRANSITIVE, "recipient": Participant()},
        "sleep: a recipient needs a ditransitive frame, but its frame is intransitive",
    ),
    (
        {"noun": "man", "conjunct": Participant(), "clause": RelativeClause(event=Event())},
        "man: a coordinated noun has no relative clause",
    ),
    ({"noun": "man", "conjunct": Participant(conjunct=Participant())}, "man: at most two nouns can be coordinated"),
]


def test_subject_of_each_passive() -> None:
    passive = Event(voice=Voice.PASSIVE, frame=Frame.DITRANSITIVE)
    assert not passive.has_known_subject
    assert replace(passive, dative=Dative.TO).subject is Role.PATIENT
    assert replace(passive, dative=Dative.DOUBLE).subject is Role.RECIPIENT


def test_transitive_pattern_includes_ditransitive_events() -> None:
    gift = Event(predicate="give", voice=Voice.PASSIVE, recipient=Participant(noun="man"))
    assert gift.frame is Frame.DITRANSITIVE
    assert subsumes(Event(voice=Voice.PASSIVE), gift)
    assert not subsumes(gift, Event(voice=Voice.PASSIVE))
    assert unify(Event(patient=Participant()), Event(dative=Dative.TO)).frame is Frame.DITRANSITIVE


@pytest.mark.parametrize(("fields", "message"), CONTRADICTIONS)
def test_contradictory_fields_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(Contradiction) as caught:
        Participant(**fields) if "noun" in fields else Event(**{"predicate": "sleep", **fields})
    assert str(caught.value) == message


def test_clause_kind_follows_from_gap() -> None:
    active = Event(predicate="help", voice=Voice.ACTIVE, agent=GAP)
    with pytest.raises(Contradiction) as caught:
        RelativeClause(event=active, kind=ClauseKind.OBJECT)
    message = "help: with the agent as the gap, an active clause is src, not orc"
    assert str(caught.value) == message


def test_unify_names_field_that_differs() -> None:
    past = Event(tense=Tense.PAST, aspect=Aspect.SIMPLE)
    with pytest.raises(Contradiction, match=r"^tense cannot be both past and pres$"):
        unify(past, Event(tense=Tense.PRESENT))
    with pytest.raises(Contradiction, match=r"^noun cannot be both 'man' and 'woman'$"):
        unify(read_event("*(agent: man)"), read_event("*(agent: woman)"))


BY_SENSE = [
    ("sleep(agent: man that help(agent: _, patient: woman))", "*(agent: * rc help(agent: man))"),
    ("sleep(agent: man that help(agent: woman, patient: _))", "*(agent: * rc help(patient: man))"),
    ("sleep(agent: man that help(agent: _, patient: woman))", "help(agent: man)"),
    ("sleep(agent: man that help(agent: _, patient: woman))", "*(agent: * rc help(agent: _))"),
]


@pytest.mark.parametrize(("event", "partial"), BY_SENSE)
def test_nested_gap_is_its_noun_by_sense(event: str, partial: str) -> None:
    assert contains(read_event(event), read_event(partial))
    for noun in ("woman", "man[pl]"):
        if "man)" in partial:
            assert not contains(read_event(event), read_event(partial.replace("man)", f"{noun})", 1)))
