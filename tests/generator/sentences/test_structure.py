"""Events of one structure share a kept plan."""

from hypothesis import given
from hypothesis import strategies as st
from strategies import full_events
from thoroughness import examples

from sentprobe.generator.events.event import Event, Number
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_plan import (
    _plan_clause,
    extract_structure,
    find_slots,
    plan_sentence,
    replace_words,
)
from sentprobe.lexicon import english

LEXICON = english()

events = st.one_of(full_events(LEXICON), full_events(LEXICON, vocabulary="english"))


@given(events)
@examples(100)
def test_the_slots_of_the_plan_are_those_of_the_event(event: Event) -> None:
    slots = [token.slot for token in plan_sentence(event).tokens]
    assert {slot for slot in slots if slot} == {*find_slots(event)}


@given(events)
@examples(100)
def test_the_kept_plan_is_that_of_any_words_and_stays_as_it_was_made(event: Event) -> None:
    renamed = replace_words(event, lambda slot: f"another {slot}")
    realize(event, LEXICON)
    assert plan_sentence(renamed) is plan_sentence(event)
    asked_number = Number.SINGULAR  # of "who" and "what"
    assert plan_sentence(event) == _plan_clause(event, "", asked_number) == _plan_clause(renamed, "", asked_number)


@given(events, events)
@examples(60)
def test_one_structure_has_one_plan(event: Event, second: Event) -> None:
    same = extract_structure(event) == extract_structure(second)
    assert (plan_sentence(event) is plan_sentence(second)) == same
