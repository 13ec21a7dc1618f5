"""Samples of the space, and the words in them."""

from dataclasses import replace
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from helpers.oracles.space_by_loops import CASES, PLAIN, Case, has_distinct_words
from helpers.strategies.space_strategies import spaces
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.event import (
    Aspect,
    Event,
    Negator,
    Number,
    Polarity,
    Tense,
    iterate_clauses,
    iterate_participants,
)
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.spaces.constraints import Choices, Constraints
from sentprobe.generator.spaces.layout import read_values
from sentprobe.generator.spaces.space import Space
from sentprobe.generator.spaces.templates import list_template_names
from sentprobe.lexicon import Flag, Kind, english
from sentprobe.lexicon.words import NO_PROGRESSIVE

LARGE = Choices(
    determiners=("the", "a", "some"), relativizers=("that", "who"), negators=tuple(Negator), adverbs=(0, 1, 2, 3)
)


@cache
def large_space() -> Space:
    return Space(english(), templates=["transitive-rc"], choices=LARGE)


# ------------------------------------------------------------------ sampling


def test_a_sample_has_no_repetition_and_depends_on_its_seed_only() -> None:
    for space in (CASES[0].make_space(), large_space()):
        drawn = space.sample(200, seed=3).tolist()
        assert len(set(drawn)) == 200
        assert drawn == space.sample(200, seed=3).tolist()
        assert drawn != space.sample(200, seed=4).tolist()
        assert all(0 <= index < space.count() for index in drawn)
        events = list(space.events(space.sample(200, seed=3)))
        assert events == [space[index] for index in drawn]


def test_a_sample_can_be_the_whole_space() -> None:
    space = Case("two", ("transitive",)).make_space()
    for count in (space.count(), space.count() - 1, space.count() // 2):
        assert len(set(space.sample(count, seed=0).tolist())) == count
    assert sorted(space.sample(space.count(), seed=0).tolist()) == list(range(space.count()))


def test_more_than_there_are_cannot_be_drawn() -> None:
    space = Case("two", ("transitive",)).make_space()
    message = f"but there are only {space.count()} different ones"
    with pytest.raises(UsageError, match=message):
        space.sample(space.count() + 1, seed=0)
    for count in (0, -5):
        with pytest.raises(UsageError, match=f"must be positive, not {count}"):
            space.sample(count, seed=0)


def test_sampling_is_uniform() -> None:
    """Of samples of different sizes, the first and the last draw; seeds are fixed."""
    space = Case("two", ("transitive",), Choices(main=PLAIN, numbers=(Number.PLURAL,))).make_space(
        Constraints(forbidden=(read_event("help[passive, neg](agent: man)"),))
    )
    size = space.count()
    assert size == 15
    for count in (1, 2, size // 2, size - 1, size):
        draws = [space.sample(count, seed=seed).tolist() for seed in range(1500)]
        for place in (0, -1):
            tally = np.bincount([draw[place] for draw in draws], minlength=size)
            assert chisquare(tally).pvalue > 0.001
    pairs = [tuple(space.sample(2, seed=seed).tolist()) for seed in range(4200)]
    counts = [pairs.count(pair) for pair in permutations(range(size), 2)]
    assert chisquare(counts).pvalue > 0.001


def test_every_feature_is_drawn_evenly_in_a_large_space() -> None:
    space = Space(english(), templates=["transitive-rc"])
    events = list(space.events(space.sample(2000, seed=0)))
    inner = [clause for event in events for clause, head in iterate_clauses(event) if head is not None]
    for some in (events, inner):
        assert chisquare([sum(e.tense is t for e in some) for t in Tense]).pvalue > 0.001
        assert chisquare([sum(e.polarity is p for e in some) for p in Polarity]).pvalue > 0.001
        people = [person for event in some for _, person in iterate_participants(event)]
        assert chisquare([sum(p.number is n for p in people) for n in Number]).pvalue > 0.001


# ------------------------------------------------------------------ words


@given(st.sampled_from(list_template_names()), st.integers(0, 99))
@examples(30)
def test_words_that_must_differ_differ(template: str, seed: int) -> None:
    choices = replace(LARGE, adverbs=(2,))
    vocabulary = "everyday" if "ditransitive" in template else "compeval"
    space = Space(english(), vocabulary=vocabulary, templates=[template], choices=choices)
    assert all(has_distinct_words(event) for event in space.events(space.sample(20, seed=seed)))


def make_published_space(*allow: Flag, required_words: tuple[str, ...] = ()) -> Space:
    return Space(
        english(),
        vocabulary="published",
        templates=["transitive"],
        choices=Choices(allow=frozenset(allow)),
        constraints=Constraints(required_words=required_words),
    )


def test_states_are_in_the_progressive_only_if_allowed() -> None:
    space = make_published_space(required_words=("believe",))
    aspects = {event.aspect for event in space.events(space.sample(space.count(), seed=0))}
    assert aspects == {Aspect.SIMPLE}
    allowed = make_published_space(Flag.STATIVE, required_words=("believe",))
    assert allowed.count() == 2 * space.count()


FLAGGED_VERBS = {Flag.PSYCH: "startle", Flag.PUNCTUAL: "recognize", Flag.STATIVE: "admire"}


@pytest.mark.parametrize("flag", FLAGGED_VERBS)
def test_each_class_is_in_the_progressive_only_if_it_is_allowed(flag: Flag) -> None:
    required = Constraints(required=(Event(predicate=FLAGGED_VERBS[flag], aspect=Aspect.PROGRESSIVE),))

    def make_space(*allow: Flag) -> Space:
        return Space(english(), templates=["all"], choices=Choices(allow=frozenset(allow)), constraints=required)

    message = f"{FLAGGED_VERBS[flag]}.* and leaving out {flag} verbs in the progressive .see --allow. contradict"
    for others in ((), set(FLAGGED_VERBS) - {flag}):
        with pytest.raises(UsageError, match=message):
            make_space(*others)
    assert make_space(flag).count() > 0


@given(spaces(), st.integers(0, 2**32))
@examples(40)
def test_no_drawn_verb_without_progressive_is_in_it(space: Space, seed: int) -> None:
    for event in space.events(space.sample(min(20, space.count()), seed=seed)):
        for clause, _ in iterate_clauses(event):
            word = space.lexicon.get(clause.predicate or "", Kind(str(clause.frame)))
            assert clause.aspect is Aspect.SIMPLE or not word.flags & NO_PROGRESSIVE


def test_syncretic_verbs_are_used_only_if_allowed() -> None:
    space = make_published_space()
    assert "hit" not in space.words.verbs
    with pytest.raises(UsageError, match="'hit' is required but is left out of vocabulary"):
        make_published_space(required_words=("hit",))
    assert make_published_space(Flag.SYNCRETIC, required_words=("hit",)).count() > 0
    assert make_published_space(Flag.SYNCRETIC).count() > space.count()


@given(st.sampled_from(list_template_names()), st.integers(0, 2**32), st.integers(1, 20))
@examples(40)
def test_an_event_made_alone_has_the_values_that_many_have_together(template: str, seed: int, count: int) -> None:
    vocabulary = "everyday" if "ditransitive" in template else "english"
    space = Space(english(), vocabulary=vocabulary, templates=[template], choices=LARGE)
    indices = space.sample(count, seed=seed)
    events = list(space.events(indices))
    for batch in space.batches(indices):
        for row, place in enumerate(batch.positions.tolist()):
            values = read_values(events[place], batch.layout)
            assert values == {name: column[row] for name, column in batch.values.items()}


def test_events_are_refused_outside_the_space() -> None:
    space = large_space()
    assert list(space.events([])) == []
    for index in (-1, space.count()):
        with pytest.raises(IndexError, match="outside a space"):
            list(space.events([0, index]))
