"""The controls with positions: their vectors, and the choice of fixed places."""

from dataclasses import replace

import numpy as np
from helpers.strategies.probe_strategies import datasets, to_items
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.datasets.dataset import Card, ProbeDataset, Split
from sentprobe.probes.encoders.baselines import (
    FIRST_SECOND_LAST,
    PLACES_WIDTH,
    Places,
    choose_places,
    encode_places,
    encode_words_and_positions,
    find_words,
)
from sentprobe.probes.encoders.word_vectors import sample_word_vectors

places_of_three = st.lists(st.integers(-3, 2), min_size=1, max_size=3).map(tuple)


@given(datasets(), places_of_three, st.integers(0, 9))
def test_vectors_are_equal_where_the_words_at_the_places_are(data: ProbeDataset, places: Places, seed: int) -> None:
    vectors = encode_places(data.sentences, places, seed=seed)
    assert vectors.shape == (len(data.sentences), PLACES_WIDTH)
    width = PLACES_WIDTH // len(places)
    views = [find_words(sentence.split(), places) for sentence in data.sentences]
    for first, view in enumerate(views):
        for second, other in enumerate(views):
            assert np.array_equal(vectors[first], vectors[second]) == (view == other)
        for number, word in enumerate(view):
            assert vectors[first, number * width : (number + 1) * width].any() == bool(word)


@given(datasets(), st.integers(1, 9), st.integers(0, 9))
def test_each_word_of_a_mean_has_a_vector_of_its_own_at_each_position(data: ProbeDataset, dim: int, seed: int) -> None:
    vectors = encode_words_and_positions(data.sentences, seed=seed, dim=dim)
    assert vectors.shape == (len(data.sentences), dim)
    assert vectors.dtype == np.float32
    source = sample_word_vectors(seed=seed, dim=dim)
    for vector, sentence in zip(vectors, data.sentences, strict=True):
        summed = [source.look_up([f"{word} {word[:4]}-"])[0].sum(axis=0) for word in sentence.split()]
        placed = [np.roll(both, place) for place, both in enumerate(summed)]
        np.testing.assert_allclose(vector, np.mean(placed, axis=0), atol=1e-5)


def test_the_order_of_words_changes_their_mean_with_positions() -> None:
    first, second = encode_words_and_positions(["the man saw the dog", "the dog saw the man"], seed=0, dim=64)
    assert not np.allclose(first, second, atol=0.1)


def test_unknown_words_add_nothing_to_a_mean_with_positions() -> None:
    texts = ["dogs see cats", "dogs x x", "sees x x", "x x x"]
    known = encode_words_and_positions(texts, seed=0, dim=64, known_words={"dogs", "see"})
    alone = encode_words_and_positions(["dogs"], seed=0, dim=64)
    np.testing.assert_allclose(known[1], alone[0] / 3, atol=1e-6)
    assert known[0].any()
    assert not known[2:].any()


def make_planted_dataset(place: int, *, size: int = 300) -> ProbeDataset:
    """The word at one place says whether the answer to a question about it is yes."""
    generator = np.random.default_rng(0)
    words = [f"w{number}" for number in range(6)]
    rows = generator.choice(words, (size, 7))
    texts = list(dict.fromkeys(" ".join(row) for row in rows))
    entries = []
    for row, text in enumerate(texts):
        probe = int(generator.integers(2))
        entries.append((row, [probe], int(int(text.split()[place][1]) % 2 == probe)))
    cut = len(entries) * 3 // 4
    return ProbeDataset(
        name="planted",
        sentences=tuple(texts),
        labels=("FALSE", "TRUE"),
        probe_words=("p", "q"),
        splits={Split.TRAIN: to_items(entries[:cut]), Split.TEST: to_items(entries[cut:])},
        card=Card("planted"),
    )


SETS: tuple[Places, ...] = (FIRST_SECOND_LAST, (1,), (-1,), (3,))


def test_choice_finds_the_place_that_tells_the_answer() -> None:
    chosen = {place: choose_places(make_planted_dataset(place), SETS, seed=0) for place in (3, -1, 1)}
    assert chosen == {3: (3,), -1: (-1,), 1: (1,)}


def test_choice_reads_no_test_item() -> None:
    data = make_planted_dataset(3)
    test = data.splits[Split.TEST]
    flipped = replace(data, splits={**data.splits, Split.TEST: replace(test, targets=1 - test.targets)})
    assert choose_places(flipped, SETS, seed=0) == (3,)


@given(datasets(), st.integers(0, 3))
def test_choice_is_one_of_the_sets_for_any_dataset(data: ProbeDataset, seed: int) -> None:
    assert choose_places(data, SETS, seed=seed) in SETS
