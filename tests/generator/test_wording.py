"""What is read off the values of drawn events is what their events and sentences say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from space_strategies import spaces
from thoroughness import examples

from sentprobe.generator import drawn
from sentprobe.generator.event import Event, Participant, Role, clauses
from sentprobe.generator.plan import plan_sentence, slots_of
from sentprobe.generator.realize import realize
from sentprobe.generator.space import Space
from sentprobe.generator.wording import Wording, wording_of
from sentprobe.lexicon import english

seeds = st.integers(0, 2**32)


def drawn_from(space: Space, seed: int, count: int = 10) -> list[drawn.DrawnEvent]:
    return list(space.drawn(space.sample(min(count, space.count()), seed=seed)))


@examples(40)
@given(space=spaces(), seed=seeds)
def test_the_text_is_that_of_the_annotated_sentence(space: Space, seed: int) -> None:
    """Whichever event of a shape comes first, so from a wording of its own and from a kept one."""
    for wording in (Wording(space.lexicon), wording_of(space.lexicon)):
        for each in drawn_from(space, seed):
            assert wording.text(each) == realize(each.event, space.lexicon).text


@pytest.mark.slow
def test_the_texts_of_many_are_those_of_the_annotated_sentences() -> None:
    lexicon = english()
    for each in drawn_from(Space(lexicon), seed=1, count=2000):
        assert wording_of(lexicon).text(each) == realize(each.event, lexicon).text


@examples(30)
@given(space=spaces(), seed=seeds)
def test_the_places_are_those_of_the_plan(space: Space, seed: int) -> None:
    for each in drawn_from(space, seed):
        slots = [token.slot for token in plan_sentence(each.event).tokens]
        places = wording_of(space.lexicon).places(each)
        names = [variable.name for variable in each.layout.variables]
        assert {names[variable]: place for variable, place in places.items()} == {
            slot: place for place, slot in enumerate(slots) if slot
        }


@examples(30)
@given(space=spaces(), seed=seeds)
def test_the_parts_are_those_of_the_event(space: Space, seed: int) -> None:
    for each in drawn_from(space, seed):
        event, parts = each.event, drawn.parts_of(each.layout)
        words = {slot: word for slot, word in slots_of(event).items() if slot.endswith("noun")}
        assert [each.value(noun) for noun in parts.nouns] == list(words.values())
        found = list(clauses(event))
        assert len(parts.clauses) == len(found)
        for part, (clause, head) in zip(parts.clauses, found, strict=True):
            assert each.value(part.verb) == clause.predicate
            assert each.value(part.tense) == clause.tense
            assert each.value(part.aspect) == clause.aspect
            assert each.value(part.negation) == (clause.negator or clause.polarity)
            assert part.voice_of(each) == clause.voice
            for role, noun in part.roles.items():
                assert each.value(noun) == noun_in(clause, head, role)


def noun_in(clause: Event, head: Participant | None, role: Role) -> str | None:
    """The noun in a role: what the clause modifies, for the gap."""
    filler = clause.argument(role)
    person = filler if isinstance(filler, Participant) else head
    assert person is not None
    return person.noun


@examples(30)
@given(space=spaces(), seed=seeds)
def test_exchanged_twice_is_the_same(space: Space, seed: int) -> None:
    for each in drawn_from(space, seed, count=3):
        nouns = drawn.parts_of(each.layout).nouns
        other = each.exchanged(nouns[0], nouns[-1])
        assert other.value(nouns[0]) == each.value(nouns[-1])
        assert other.exchanged(nouns[0], nouns[-1]).event == each.event
