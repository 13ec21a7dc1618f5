"""Keys of meanings sort events as :func:`compute_meaning` does."""

from collections.abc import Hashable
from itertools import product

import pytest
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.events.event import Event
from sentprobe.generator.events.meaning import compute_meaning
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.meaning_keys import MeaningKeys
from sentprobe.generator.pairs.retrieval_files import ExclusionSpace
from sentprobe.generator.pairs.triplets import TripletSet, TripletSpace
from sentprobe.generator.spaces.layout import build_layout_event
from sentprobe.lexicon import english, german

CASES = (
    *((name, "english", "everyday") for name in CONTRASTS),
    *((name, "english", "compeval") for name in CONTRASTS if name not in ("recipient", "binding")),
    *((name, "german", "compeval") for name in ("role", "polarity", "tense", "number", "noun", "verb")),
)


def build_space(contrast: str, language: str, vocabulary: str) -> TripletSpace:
    return TripletSpace(german() if language == "german" else english(), contrast, vocabulary=vocabulary)


def describe_meaning(event: Event) -> Hashable:
    meaning = compute_meaning(event)
    return frozenset(meaning.clauses.items()), frozenset(meaning.nouns.items())


def pair_keys_with_meanings(triplets: TripletSet, keys: MeaningKeys) -> set[tuple[bytes, Hashable]]:
    """Return the key and the meaning of each sentence."""
    pairs = set()
    makers = triplets.list_makers()
    if isinstance(triplets.space, ExclusionSpace):
        makers = [maker for group in triplets.space.list_makers().values() for maker in group]
    for maker, part in product(makers, triplets.parts):
        draft = maker(part)
        layout = draft.build_layout()
        for row, key in enumerate(keys.compute_keys(draft)):
            values = {v.name: v.values[draft.values[v.name][row]] for v in layout.variables}
            pairs.add((key, describe_meaning(build_layout_event(values, layout))))
    return pairs


def assert_keys_are_meanings(pairs: set[tuple[bytes, Hashable]]) -> None:
    assert len({key for key, _ in pairs}) == len({meaning for _, meaning in pairs}) == len(pairs)


@given(st.sampled_from(CASES), st.integers(0, 10**6))
@examples(10)
def test_keys_differ_as_meanings_do(case: tuple[str, str, str], seed: int) -> None:
    triplets = build_space(*case).sample(60, seed=seed)
    assert_keys_are_meanings(pair_keys_with_meanings(triplets, MeaningKeys()))


def test_keys_of_exclusion_queries_are_those_of_statements_of_other_vocabularies() -> None:
    """One object numbers the words of several spaces alike."""
    keys = MeaningKeys()
    pairs = set[tuple[bytes, Hashable]]()
    for space in (ExclusionSpace(english(), vocabulary="english"), build_space("role", "english", "compeval")):
        pairs |= pair_keys_with_meanings(space.sample(80, seed=3), keys)
    assert_keys_are_meanings(pairs)


@pytest.mark.parametrize("seed", range(3))
def test_both_sides_of_a_paraphrase_have_one_key(seed: int) -> None:
    triplets = build_space("role", "english", "compeval").sample(40, seed=seed)
    anchors, positives, negatives, _ = triplets.list_makers()
    keys = MeaningKeys()
    for part in triplets.parts:
        assert keys.compute_keys(anchors(part)) == keys.compute_keys(positives(part))
        assert not {*keys.compute_keys(anchors(part))} & {*keys.compute_keys(negatives(part))}
