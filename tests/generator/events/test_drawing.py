"""Drawings: stored ones, and what holds of every drawing."""

import xml.etree.ElementTree as ET

import pytest
from helpers.strategies.strategies import full_events, partial_events, words
from helpers.thoroughness import examples
from hypothesis import given
from syrupy.assertion import SnapshotAssertion

from sentprobe.generator.events.drawing import DrawnBox, draw_svg, draw_text, lay_out, replace_unprintable
from sentprobe.generator.events.event import Event, Participant, iterate_clauses, iterate_participants
from sentprobe.generator.events.notation import read_event
from sentprobe.lexicon import english

SVG = "{http://www.w3.org/2000/svg}"
EVENTS = {
    "full": (
        "help[passive, past, simple, n't, adv(really, actually)](agent: the professor[pl, bare], "
        "patient: the student[sg] that sleep[intransitive, pres, prog, pos, adv()](agent: _))"
    ),
    "partial": ("meet[neg](agent: lawyer[pl] rc[orc] *(agent: man), patient: * who call[active](patient: _))"),
    "open": "*",
    "odd": 'x(agent: _, patient: "<b>&[red]x" rc "]]>"(patient: _, agent: "m\\u0000長"))',
}


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("format", ["txt", "ansi", "svg"])
def test_drawing_is_as_stored(name: str, format: str, stored_text: SnapshotAssertion) -> None:
    event = read_event(EVENTS[name])
    assert (draw_svg(event) if format == "svg" else draw_text(event, width=80, color=format == "ansi")) == stored_text


@given(full_events(english()))
def test_tree_has_every_word(event: Event) -> None:
    drawn = draw_text(event, width=100)
    assert "*" not in drawn
    assert max(map(len, drawn.splitlines())) <= 100
    for clause, _ in iterate_clauses(event):
        assert str(clause.predicate) in drawn
        for _, person in iterate_participants(clause):
            assert f"{person.determiner} {person.noun}" in drawn


def test_narrow_tree_folds() -> None:
    drawn = draw_text(read_event(EVENTS["full"]), width=30)
    assert max(map(len, drawn.splitlines())) <= 30


@given(partial_events(words(), gap=True))
@examples(50)
def test_every_event_can_be_drawn(event: Event) -> None:
    assert draw_text(event, width=60, color=True)
    root = ET.fromstring(draw_svg(event))
    titles = [text.text or "" for text in root.iter(f"{SVG}text")]
    for clause, _ in iterate_clauses(event):
        assert replace_unprintable("*" if clause.predicate is None else clause.predicate) in titles


def boxes_overlap(first: DrawnBox, second: DrawnBox) -> bool:
    return (
        first.x < second.x + second.width
        and second.x < first.x + first.width
        and first.y < second.y + second.height
        and second.y < first.y + first.height
    )


@given(partial_events(words()))
@examples(50)
def test_boxes_do_not_overlap(event: Event) -> None:
    picture = lay_out(event, replace_unprintable)
    boxes = picture.boxes
    assert not any(boxes_overlap(a, b) for at, a in enumerate(boxes) for b in boxes[:at])
    for box in boxes:
        assert 0 <= box.x <= box.x + box.width <= picture.width
        assert 0 <= box.y <= box.y + box.height <= picture.height
    for edge in picture.edges:
        assert 0 <= edge.x - edge.width / 2 <= edge.x + edge.width / 2 <= picture.width


@given(full_events(english()))
def test_gap_is_dashed_edge(event: Event) -> None:
    gaps = [clause.gap.value for clause, _ in iterate_clauses(event) if clause.gap]
    picture = lay_out(event, replace_unprintable)
    assert sorted(edge.label for edge in picture.edges if edge.dashed) == sorted(gaps)
    people = sum(1 for clause, _ in iterate_clauses(event) for _ in iterate_participants(clause))
    words = (event.asked is not None) + sum(clause.reflexive is not None for clause, _ in iterate_clauses(event))
    assert len(picture.boxes) == people + len(list(iterate_clauses(event))) + words


def test_empty_lemma_is_not_open() -> None:
    empty = Event(predicate="", agent=Participant(noun="", determiner=""))
    assert draw_text(empty, width=80) != draw_text(Event(agent=Participant()), width=80)
