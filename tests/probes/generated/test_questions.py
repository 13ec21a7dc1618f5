"""Questions about the values of a sampled event have the answers of the event."""

from itertools import product

from helpers.strategies.space_strategies import spaces
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.bulk.drawn_texts import get_text_renderer
from sentprobe.generator.events.checks import contains
from sentprobe.generator.events.event import Event, Participant, Polarity
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_plan import find_slots
from sentprobe.generator.spaces.space import Space
from sentprobe.probes.generated import mirror
from sentprobe.probes.generated.mirror import ProbedSentence, do_both_occur, does_verb_occur, is_agent, is_positive

ABSENT = "absent"


def does_noun_precede(event: Event, space: Space, probe: tuple[str, str]) -> bool:
    """Whether the noun comes first, by the tokens of the annotated sentence."""
    tagged_words = set(zip(("NOUN", "VERB"), probe, strict=True))
    tokens = realize(event, space.lexicon).tokens
    kinds = [token.upos for token in tokens if (token.upos, token.lemma) in tagged_words]
    return kinds == ["NOUN", "VERB"]


@examples(40)
@given(space=spaces(), seed=st.integers(0, 2**32))
def test_the_answers_are_those_of_the_event(space: Space, seed: int) -> None:
    for drawn in space.decode(space.sample(min(4, space.count()), seed=seed)):
        event, probed = drawn.event, ProbedSentence(drawn, get_text_renderer(space.lexicon))
        assert probed.text == realize(event, space.lexicon).text
        slots = find_slots(event).items()
        nouns = {word for slot, word in slots if slot.endswith("noun")}
        verbs = {word for slot, word in slots if slot.endswith("verb")}
        for probe in product({*nouns, ABSENT}, {*verbs, ABSENT}):
            noun, verb = probe
            has = (noun in nouns, verb in verbs)
            assert do_both_occur(probed, probe) is (all(has) if any(has) else None)
            agent = Event(predicate=verb, agent=Participant(noun=noun))
            assert is_agent(probed, probe) is (contains(event, agent) if all(has) else None)
            first = does_noun_precede(event, space, probe) if all(has) else None
            assert mirror.does_noun_precede(probed, probe) is first
        for verb in {*verbs, ABSENT}:
            assert does_verb_occur(probed, (verb,)) is (verb in verbs)
            positive = Event(predicate=verb, polarity=Polarity.POSITIVE)
            assert is_positive(probed, (verb,)) is (contains(event, positive) if verb in verbs else None)
