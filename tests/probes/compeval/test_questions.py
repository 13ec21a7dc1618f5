"""The questions, asked of the values of a drawn event, have the answers that the event gives."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from space_strategies import spaces
from thoroughness import examples

from sentprobe.generator.event import Event, Participant, Polarity, contains
from sentprobe.generator.plan import slots_of
from sentprobe.generator.realize import realize
from sentprobe.generator.space import Space
from sentprobe.generator.wording import wording_of
from sentprobe.probes.compeval import questions
from sentprobe.probes.compeval.questions import Asked, both_occur, is_agent, is_positive, occurs

ABSENT = "absent"


def comes_first(event: Event, space: Space, probe: tuple[str, str]) -> bool:
    """Whether the noun comes first, by the tokens of the annotated sentence."""
    wanted = set(zip(("NOUN", "VERB"), probe, strict=True))
    tokens = realize(event, space.lexicon).tokens
    kinds = [token.upos for token in tokens if (token.upos, token.lemma) in wanted]
    return kinds == ["NOUN", "VERB"]


@examples(40)
@given(space=spaces(), seed=st.integers(0, 2**32))
def test_the_answers_are_those_of_the_event(space: Space, seed: int) -> None:
    for drawn in space.drawn(space.sample(min(4, space.count()), seed=seed)):
        event, of = drawn.event, Asked(drawn, wording_of(space.lexicon))
        assert of.text == realize(event, space.lexicon).text
        slots = slots_of(event).items()
        nouns = {word for slot, word in slots if slot.endswith("noun")}
        verbs = {word for slot, word in slots if slot.endswith("verb")}
        for probe in product({*nouns, ABSENT}, {*verbs, ABSENT}):
            noun, verb = probe
            has = (noun in nouns, verb in verbs)
            assert both_occur(of, probe) is (all(has) if any(has) else None)
            agent = Event(predicate=verb, agent=Participant(noun=noun))
            assert is_agent(of, probe) is (contains(event, agent) if all(has) else None)
            first = comes_first(event, space, probe) if all(has) else None
            assert questions.comes_first(of, probe) is first
        for verb in {*verbs, ABSENT}:
            assert occurs(of, (verb,)) is (verb in verbs)
            positive = Event(predicate=verb, polarity=Polarity.POSITIVE)
            assert is_positive(of, (verb,)) is (
                contains(event, positive) if verb in verbs else None
            )
