"""Baselines against figures worked out by hand, and the bound of an encoder that sees some places."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from helpers.oracles.compeval_checks import dataset
from helpers.strategies.probe_strategies import datasets, to_items
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.naive_bayes import MultinomialNB

from sentprobe.common.errors import UsageError
from sentprobe.probes.datasets.dataset import Card, ProbeDataset, Split
from sentprobe.probes.encoders.baselines import (
    FIRST_SECOND_LAST,
    PLACES_WIDTH,
    Places,
    SparseNaiveBayes,
    Tfidf,
    choose_places,
    compute_highest_bound,
    compute_place_bound,
    encode_places,
    encode_words_and_positions,
    find_best_place,
    find_words,
    list_place_sets,
)
from sentprobe.probes.encoders.encoder import Baseline, Encoder
from sentprobe.probes.encoders.kinds import find_kind, make_encoder, make_encoders
from sentprobe.probes.encoders.word_vectors import sample_word_vectors

SPECS = ("majority", "length", "tfidf", "tfidf?ngrams=2")


def baseline(spec: str) -> Baseline:
    (encoders,) = make_encoders(spec, seed=0)
    assert isinstance(encoders, Baseline)
    return encoders


Entry = tuple[int, list[int], int]


def make_dataset(
    sentences: Iterable[str],
    train: list[Entry],
    test: list[Entry],
    *,
    words: tuple[str, ...] = ("p", "q"),
    labels: tuple[str, ...] = ("FALSE", "TRUE"),
) -> ProbeDataset:
    splits = {Split.TRAIN: to_items(train), Split.TEST: to_items(test)}
    return ProbeDataset(
        name="toy", sentences=tuple(sentences), labels=labels, probe_words=words, splits=splits, card=Card("toy")
    )


def make_toy_dataset(
    train: list[tuple[str, list[str], int]],
    test: list[tuple[str, list[str], int]],
    *,
    labels: tuple[str, ...] = ("a", "b"),
) -> ProbeDataset:
    texts = list(dict.fromkeys(text for text, _, _ in train + test))
    words = list(dict.fromkeys(word for _, probes, _ in train + test for word in probes))
    entries = [[(texts.index(t), [*map(words.index, p)], y) for t, p, y in part] for part in (train, test)]
    return make_dataset(texts, *entries, words=tuple(words), labels=labels)


@given(datasets())
@examples(15)
def test_baselines_answer_every_item_deterministically(data: ProbeDataset) -> None:
    for spec in SPECS:
        tested_baseline = baseline(spec)
        answers = tested_baseline.predict(data, seed=0)
        assert answers.dtype == np.int64
        assert answers.shape == (len(data.splits[Split.TEST]),)
        assert set(answers.tolist()) <= set(data.splits[Split.TRAIN].targets.tolist())
        assert np.array_equal(answers, tested_baseline.predict(data, seed=1))


@given(datasets())
def test_majority_is_first_commonest_label(data: ProbeDataset) -> None:
    counts = Counter(data.splits[Split.TRAIN].targets.tolist())
    best = min(counts, key=lambda label: (-counts[label], label))
    assert set(baseline("majority").predict(data, seed=0).tolist()) == {best}


def make_sentence(size: int) -> str:
    return " ".join(["word"] * size)


def test_length_finds_bins_of_length() -> None:
    """Conneau et al. 2018: the classes of SentLen are bins of length, and Length gets them all."""
    bins = [(5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 28)]
    sizes = [(size, label) for label, (low, high) in enumerate(bins) for size in range(low, high + 1)]
    items = [(make_sentence(size), list[str](), label) for size, label in sizes]
    data = make_toy_dataset(items, items, labels=tuple(map(str, range(6))))
    assert baseline("length").predict(data, seed=0).tolist() == [label for _, label in sizes]


def test_length_reads_probe_words() -> None:
    items = [(make_sentence(size), [word], int(word == "x")) for size in (2, 3, 4) for word in "xy"]
    assert baseline("length").predict(make_toy_dataset(items, items), seed=0).tolist() == [1, 0] * 3


def naive_bayes(train: list[list[str]], labels: list[int], test: list[list[str]]) -> list[dict[int, float]]:
    """Return the log joint probability of each label; multinomial, add-one, over tf-idf weights."""
    documents = Counter(term for terms in train for term in set(terms))

    def weights(terms: list[str]) -> dict[str, float]:
        raw = {
            term: count * (math.log((1 + len(train)) / (1 + documents[term])) + 1)
            for term, count in Counter(terms).items()
            if term in documents
        }
        norm = math.sqrt(sum(value * value for value in raw.values())) or 1.0
        return {term: value / norm for term, value in raw.items()}

    sums: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for terms, label in zip(train, labels, strict=True):
        for term, value in weights(terms).items():
            sums[label][term] += value  # type: ignore[assignment]
    totals = {label: sum(sums[label].values()) + len(documents) for label in set(labels)}
    return [
        {
            label: math.log(labels.count(label) / len(labels))
            + sum(value * math.log((sums[label][term] + 1) / totals[label]) for term, value in weights(terms).items())
            for label in set(labels)
        }
        for terms in test
    ]


@pytest.mark.parametrize("ngrams", [1, 2])
@given(data=datasets())
@examples(25)
def test_tfidf_is_naive_bayes_by_hand(data: ProbeDataset, ngrams: int) -> None:
    def terms(split: Split) -> list[list[str]]:
        items = data.splits[split]
        actual = []
        for row, probes in zip(items.rows, items.probes.tolist(), strict=True):
            tokens = data.sentences[row].split()
            pairs = [" ".join(pair) for pair in pairwise(tokens)]
            named = [f"<{i}: {data.probe_words[probe]}>" for i, probe in enumerate(probes)]
            actual.append(tokens + named + (pairs if ngrams == 2 else []))
        return actual

    labels = data.splits[Split.TRAIN].targets.tolist()
    expected = naive_bayes(terms(Split.TRAIN), labels, terms(Split.TEST))
    answers = baseline(f"tfidf?ngrams={ngrams}").predict(data, seed=0).tolist()
    for answer, scores in zip(answers, expected, strict=True):
        assert scores[answer] >= max(scores.values()) - 1e-9


def test_only_bigrams_know_word_order() -> None:
    items = [(f"{x} y", list[str](), 1) for x in "abcdef"] + [(f"y {x}", list[str](), 0) for x in "abcdef"]
    data = make_toy_dataset(items, items)
    assert len(set(baseline("tfidf").predict(data, seed=0).tolist())) == 1
    assert baseline("tfidf?ngrams=2").predict(data, seed=0).tolist() == [1] * 6 + [0] * 6


def test_sentence_words_differ_from_probe_words() -> None:
    train = [("x", ["y"], 1), ("y", ["x"], 0)] * 3
    data = make_toy_dataset(train, [("x", ["y"], 1), ("y", ["x"], 0)])
    assert baseline("tfidf").predict(data, seed=0).tolist() == [1, 0]


def test_baselines_are_no_encoders() -> None:
    baselines = [baseline(spec) for spec in SPECS]
    assert not any(isinstance(baseline_made, Encoder) for baseline_made in baselines)
    assert len({baseline_made.fingerprint for baseline_made in baselines}) == len(SPECS)
    assert tuple(baseline_made.name for baseline_made in baselines) == SPECS
    with pytest.raises(UsageError, match="is a baseline, which has no vectors"):
        make_encoder("majority", seed=0)


def test_summary_says_baseline() -> None:
    for spec in SPECS:
        assert find_kind(spec).summary.startswith("baseline: ")
        assert find_kind(spec).installed


@given(seed=st.integers(0, 10_000), classes=st.integers(2, 6), width=st.integers(1, 30))
def test_naive_bayes_is_that_of_scikit_learn(seed: int, classes: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.random((60, width)) * (rng.random((60, width)) < 0.3)
    targets = rng.integers(0, classes, 60)
    train, test = csr_matrix(dense[:40]), csr_matrix(dense[40:])
    ours = SparseNaiveBayes().fit(train, targets[:40]).predict(test)
    reference = MultinomialNB().fit(train, targets[:40])
    scores = reference.predict_joint_log_proba(test)
    of_ours = scores[np.arange(20), np.searchsorted(reference.classes_, ours)]
    np.testing.assert_allclose(of_ours, scores.max(axis=1), rtol=1e-9)


@given(seed=st.integers(0, 10_000), classes=st.integers(2, 6), width=st.integers(1, 30))
def test_log_odds_are_those_of_scikit_learn_against_all_other_labels(seed: int, classes: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.random((40, width)) * (rng.random((40, width)) < 0.3)
    targets = np.append(np.arange(classes), rng.integers(0, classes, 40 - classes))
    actual = [*SparseNaiveBayes().fit(csr_matrix(dense), targets).compute_log_odds()]
    for label, odds in enumerate(actual):
        others, own = MultinomialNB().fit(dense, targets == label).feature_log_prob_
        np.testing.assert_allclose(odds, own - others, atol=1e-8)


def test_telling_features_are_those_of_the_label() -> None:
    texts = {"he lied": 0, "she lied": 0, "he sensed": 0, "he frowns": 1, "she uses": 1}
    data = make_toy_dataset(
        [(text, [], label) for text, label in texts.items()], [("he lied", [], 0)], labels=("PAST", "PRES", "none")
    )
    rows = [(t.label, t.feature, t.items, t.with_label) for t in Tfidf().find_telling_features(data, count=2)]
    assert rows == [("PAST", "lied", 2, 2), ("PAST", "sensed", 1, 1), ("PRES", "frowns", 1, 1), ("PRES", "uses", 1, 1)]
    bigrams = Tfidf(ngrams=2).find_telling_features(data, count=9)
    assert {"he lied", "she lied", "he sensed"} <= {t.feature for t in bigrams if t.label == "PAST"}
    assert all(t.log_odds > 0 for t in bigrams)


places_of_three = st.lists(st.integers(-3, 2), min_size=1, max_size=3).map(tuple)


@given(datasets(), places_of_three, st.integers(0, 9))
def test_place_vectors_depend_on_placed_words(data: ProbeDataset, places: Places, seed: int) -> None:
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
def test_mean_with_positions_rolls_word_vectors(data: ProbeDataset, dim: int, seed: int) -> None:
    vectors = encode_words_and_positions(data.sentences, seed=seed, dim=dim)
    assert vectors.shape == (len(data.sentences), dim)
    assert vectors.dtype == np.float32
    source = sample_word_vectors(seed=seed, dim=dim)
    for vector, sentence in zip(vectors, data.sentences, strict=True):
        summed = [next(source.look_up([f"{word} {word[:4]}-"])).sum(axis=0) for word in sentence.split()]
        placed = [np.roll(both, place) for place, both in enumerate(summed)]
        np.testing.assert_allclose(vector, np.mean(placed, axis=0), atol=1e-5)


def test_mean_with_positions_knows_order() -> None:
    first, second = encode_words_and_positions(["the man saw the dog", "the dog saw the man"], seed=0, dim=64)
    assert not np.allclose(first, second, atol=0.1)


def test_mean_with_positions_omits_unknown_words() -> None:
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
    entries: list[Entry] = []
    for row, text in enumerate(texts):
        probe = int(generator.integers(2))
        entries.append((row, [probe], int(int(text.split()[place][1]) % 2 == probe)))
    cut = len(entries) * 3 // 4
    return make_dataset(texts, entries[:cut], entries[cut:])


SETS: tuple[Places, ...] = (FIRST_SECOND_LAST, (1,), (-1,), (3,))


def test_chosen_place_tells_the_answer() -> None:
    chosen = {place: choose_places(make_planted_dataset(place), SETS, seed=0) for place in (3, -1, 1)}
    assert chosen == {3: (3,), -1: (-1,), 1: (1,)}


def test_choice_reads_no_test_item() -> None:
    data = make_planted_dataset(3)
    test = data.splits[Split.TEST]
    flipped = replace(data, splits={**data.splits, Split.TEST: replace(test, targets=1 - test.targets)})
    assert choose_places(flipped, SETS, seed=0) == (3,)


@given(datasets(), st.integers(0, 3))
def test_choice_is_one_of_the_sets(data: ProbeDataset, seed: int) -> None:
    assert choose_places(data, SETS, seed=seed) in SETS


place_sets = st.lists(st.integers(-4, 3), min_size=1, max_size=3, unique=True).map(tuple)
Unit = tuple[tuple[str, ...], tuple[str, ...], bool]


@st.composite
def units(draw: st.DrawFn) -> Unit:
    """A sentence, its mirror (another order of its words), and whether both are asked about a second word, too."""
    words = draw(st.lists(st.sampled_from("abcd"), min_size=2, max_size=4).filter(lambda words: len({*words}) > 1))
    orders = sorted({*permutations(words)})
    first, second = draw(st.permutations(orders))[:2]
    return first, second, draw(st.booleans())


def make_mirror_dataset(mirror_units: list[Unit]) -> ProbeDataset:
    """Each unit's second sentence has the opposite answers; a word of its own keeps the bags of two units apart."""
    texts: dict[str, int] = {}
    entries: list[Entry] = []
    for number, (first, second, is_asked_twice) in enumerate(mirror_units):
        for words, answer in ((first, 1), (second, 0)):
            row = texts.setdefault(" ".join([*words[:2], f"x{number}", *words[2:]]), len(texts))
            entries += [(row, [0], answer)] + [(row, [1], 1 - answer)] * is_asked_twice
    entries.sort(key=lambda entry: entry[1])
    train = [*entries, *((row, [1 - probe], answer) for row, (probe,), answer in entries)]
    return make_dataset(texts, train, entries)


def find_best_by_brute_force(data: ProbeDataset, places: Places) -> float:
    """Try every function from what the encoder and the probe see of a unit to an answer."""
    test = data.splits[Split.TEST]
    unit_numbers = data.units(Split.TEST)
    best = 0
    for unit in set(unit_numbers.tolist()):
        items = np.flatnonzero(unit_numbers == unit)
        views = [
            (find_words(data.sentences[test.rows[item]].split(), places), test.probes[item].tolist()) for item in items
        ]
        distinct = [view for place, view in enumerate(views) if view not in views[:place]]
        functions = product((0, 1), repeat=len(distinct))
        targets = test.targets[items].tolist()
        best += max(
            sum(answers[distinct.index(view)] == target for view, target in zip(views, targets, strict=True))
            for answers in functions
        )
    return best / len(test)


@given(st.lists(units(), min_size=1, max_size=4), place_sets)
def test_place_bound_equals_brute_force(mirror_units: list[Unit], places: Places) -> None:
    data = make_mirror_dataset(mirror_units)
    assert data.mirrored
    assert compute_place_bound(data, Split.TEST, places) == find_best_by_brute_force(data, places)


@given(st.lists(units().map(lambda unit: (*unit[:2], True)), min_size=1, max_size=6), place_sets)
def test_place_bound_follows_differing_share(mirror_units: list[Unit], places: Places) -> None:
    data = make_mirror_dataset(mirror_units)
    pairs = zip(data.sentences[::2], data.sentences[1::2], strict=True)
    differing = [find_words(first.split(), places) != find_words(second.split(), places) for first, second in pairs]
    bound = compute_place_bound(data, Split.TEST, places)
    assert bound is not None
    assert abs(bound - (0.5 + np.mean(differing) / 2)) < 1e-12


@given(st.lists(units(), min_size=1, max_size=4))
def test_best_place_has_highest_bound(mirror_units: list[Unit]) -> None:
    data = make_mirror_dataset(mirror_units)
    best = find_best_place(data)
    assert best is not None
    highest = compute_place_bound(data, Split.TRAIN, (best,))
    assert highest == max(compute_place_bound(data, Split.TRAIN, (place,)) or 0 for place in range(-5, 5))
    assert (best,) in list_place_sets(data)


def test_bound_needs_mirror_pairs() -> None:
    data = dataset("Content1Probe", "compeval")
    assert find_best_place(data) is None
    assert compute_place_bound(data, Split.TEST, FIRST_SECOND_LAST) is None
    assert compute_highest_bound(data, list_place_sets(data)) is None
    assert list_place_sets(data) == (FIRST_SECOND_LAST, (1,), (-1,))
