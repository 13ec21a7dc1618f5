"""The quick text of an event against its annotated sentence."""

from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import full_events

from sentprobe.generator.event import Event
from sentprobe.generator.plan import plan_sentence, slots_of
from sentprobe.generator.realize import realize
from sentprobe.generator.wording import outline_of, structure_of, text_of
from sentprobe.lexicon import english

LEXICON = english()

events = st.one_of(full_events(LEXICON), full_events(LEXICON, vocabulary="english"))


@given(events)
@settings(max_examples=300)
def test_the_text_is_that_of_the_annotated_sentence(event: Event) -> None:
    assert text_of(event, LEXICON) == realize(event, LEXICON).text


@given(events)
@settings(max_examples=100)
def test_the_slots_of_the_outline_stand_where_the_plan_has_them(event: Event) -> None:
    slots = [token.slot for token in outline_of(event)]
    assert slots == [token.slot for token in plan_sentence(event).tokens]
    assert {slot for slot in slots if slot} == {*slots_of(event)}


@given(events, events)
@settings(max_examples=60)
def test_one_structure_has_one_outline(event: Event, other: Event) -> None:
    same = structure_of(event) == structure_of(other)
    assert not same or outline_of(event) is outline_of(other)
