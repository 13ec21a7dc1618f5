"""Words, clauses and texts of drawn events agree with their events and sentences."""

import pytest
from helpers.strategies.space_strategies import spaces
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.bulk.drawn_texts import DrawnTextRenderer, get_text_renderer
from sentprobe.generator.events.event import Event, Participant, Role, iterate_clauses
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_plan import find_slots, plan_sentence
from sentprobe.generator.spaces import drawn_event
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english
from sentprobe.lexicon.languages.english import ENGLISH

seeds = st.integers(0, 2**32)


def sample_events(space: Space, seed: int, count: int = 10) -> list[drawn_event.DrawnEvent]:
    return list(space.decode(space.sample(min(count, space.count()), seed=seed)))


@examples(40)
@given(space=spaces(), seed=seeds)
def test_text_is_that_of_annotation(space: Space, seed: int) -> None:
    """Whichever event of a shape comes first, so from a wording of its own and from a kept one."""
    for wording in (DrawnTextRenderer(space.lexicon), get_text_renderer(space.lexicon)):
        for drawn in sample_events(space, seed):
            assert wording.render(drawn) == realize(drawn.event, space.lexicon).text


@pytest.mark.slow
def test_texts_of_many_are_those_of_annotations() -> None:
    lexicon = english()
    for drawn in sample_events(Space(lexicon), seed=1, count=2000):
        assert get_text_renderer(lexicon).render(drawn) == realize(drawn.event, lexicon).text


@examples(30)
@given(space=spaces(), seed=seeds)
def test_places_are_those_of_plan(space: Space, seed: int) -> None:
    for drawn in sample_events(space, seed):
        slots = [token.slot for token in plan_sentence(drawn.event, ENGLISH).tokens]
        places = get_text_renderer(space.lexicon).find_word_positions(drawn)
        names = [variable.name for variable in drawn.layout.variables]
        assert {names[variable]: place for variable, place in places.items()} == {
            slot: place for place, slot in enumerate(slots) if slot
        }


@examples(30)
@given(space=spaces(), seed=seeds)
def test_parts_are_those_of_event(space: Space, seed: int) -> None:
    for drawn in sample_events(space, seed):
        event, parts = drawn.event, drawn_event.find_layout_parts(drawn.layout)
        words = {slot: word for slot, word in find_slots(event).items() if slot.endswith("noun")}
        assert [drawn.get_value(noun) for noun in parts.nouns] == list(words.values())
        event_clauses = list(iterate_clauses(event))
        assert len(parts.clauses) == len(event_clauses)
        for part, (clause, head) in zip(parts.clauses, event_clauses, strict=True):
            assert drawn.get_value(part.verb) == clause.predicate
            assert clause.tense == (None if part.tense is None else drawn.get_value(part.tense))
            assert drawn.get_value(part.aspect) == clause.aspect
            assert drawn.get_value(part.negation) == (clause.negator or clause.polarity)
            assert part.find_voice(drawn) == clause.voice
            for role, nouns in part.roles.items():
                assert [*map(drawn.get_value, nouns)] == find_nouns(clause, head, role)


def find_nouns(clause: Event, head: Participant | None, role: Role) -> list[str | None]:
    """The nouns in a role: what the clause modifies, for the gap."""
    filler = clause.argument(role)
    person = filler if isinstance(filler, Participant) else head
    assert person is not None
    return [conjunct.noun for conjunct in person.conjuncts]


@examples(30)
@given(space=spaces(), seed=seeds)
def test_exchanged_twice_is_same(space: Space, seed: int) -> None:
    for drawn in sample_events(space, seed, count=3):
        nouns = drawn_event.find_layout_parts(drawn.layout).nouns
        if not nouns:  # "who slept"
            continue
        exchanged = drawn.swap_values(nouns[0], nouns[-1])
        assert exchanged.get_value(nouns[0]) == drawn.get_value(nouns[-1])
        assert exchanged.swap_values(nouns[0], nouns[-1]).event == drawn.event
