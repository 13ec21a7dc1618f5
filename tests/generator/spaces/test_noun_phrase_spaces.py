"""Spaces with adjectives and coordinated nouns: sorts, and choices that leave nothing."""

import pytest
from helpers.oracles.space_by_loops import TINY, list_events

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.checks import check_sorts
from sentprobe.generator.events.event import Contradiction, Event, Number, Tense
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Lexicon, english, read_lexicon_text

WORDS = """
[noun]
man = {}
child = {}
box = { sort = "thing" }
[transitive]
open = { takes = { patient = ["thing"] } }
see = { takes = { patient = ["person", "thing"] } }
[adjective]
heavy = {}
clever = { takes = ["person"] }
wooden = { takes = ["thing"] }
"""
PLAIN = Choices(
    main=Event(tense=Tense.PAST), numbers=(Number.SINGULAR,), adjectives=(0, 1), coordinations=(0, 1), negators=()
)


def has_right_sorts(event: Event, lexicon: Lexicon) -> bool:
    try:
        check_sorts(event, lexicon)
    except Contradiction:
        return False
    return True


def test_adjectives_and_conjuncts_have_the_right_sorts() -> None:
    lexicon = read_lexicon_text(WORDS, "sorts.toml")
    plain_words = "\n".join(line.partition(" = ")[0] + " = {}" if "=" in line else line for line in WORDS.splitlines())
    everything = list_events(
        Space(read_lexicon_text(plain_words, "p.toml"), vocabulary="all", templates=["transitive"], choices=PLAIN)
    )
    space = Space(lexicon, vocabulary="all", templates=["transitive"], choices=PLAIN)
    events = list_events(space)
    assert set(events) == {event for event in everything if has_right_sorts(event, lexicon)}
    assert [space.index(event) for event in events] == list(range(space.count()))
    texts = {realize(event, lexicon).text for event in events[::50]}
    assert not any("wooden man" in text or "clever box" in text for text in texts)


@pytest.mark.parametrize(
    ("choices", "error", "message"),
    [
        (Choices(adjectives=(2,)), UsageError, "a drawn noun has at most one adjective, not 2"),
        (Choices(coordinations=(3,)), Contradiction, "has 3 nouns without relative clauses to coord"),
        (
            Choices(adjectives=(1,), coordinations=(2,)),
            Contradiction,
            "the size of the vocabulary and the choice of coordinations",
        ),
    ],
)
def test_impossible_choices(choices: Choices, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Space(TINY, vocabulary="two", choices=choices)


def test_a_vocabulary_without_adjectives() -> None:
    with pytest.raises(Contradiction, match="vocabulary 'compeval' has no adjective"):
        Space(english(), vocabulary="compeval", choices=Choices(adjectives=(0, 1)))
