"""The baselines: majority, length and tf-idf, against figures worked out by hand."""

import math
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from helpers.strategies.probe_strategies import datasets, to_items
from helpers.thoroughness import examples
from hypothesis import given

from sentprobe.common.errors import UsageError
from sentprobe.probes.datasets.dataset import Card, ProbeDataset, Split
from sentprobe.probes.encoders.encoder import Baseline, Encoder
from sentprobe.probes.encoders.kinds import find_kind, make_encoder, make_encoders

SPECS = ("majority", "length", "tfidf", "tfidf?ngrams=2")


def baseline(spec: str) -> Baseline:
    (encoders,) = make_encoders(spec, seed=0)
    assert isinstance(encoders, Baseline)
    return encoders


def dataset(
    train: list[tuple[str, list[str], int]],
    test: list[tuple[str, list[str], int]],
    *,
    labels: tuple[str, ...] = ("a", "b"),
) -> ProbeDataset:
    texts = list(dict.fromkeys(text for text, _, _ in train + test))
    words = list(dict.fromkeys(word for _, probes, _ in train + test for word in probes))
    splits = {
        split: to_items([(texts.index(t), [*map(words.index, p)], y) for t, p, y in entries])
        for split, entries in ((Split.TRAIN, train), (Split.TEST, test))
    }
    return ProbeDataset(
        name="toy", sentences=tuple(texts), labels=labels, probe_words=tuple(words), splits=splits, card=Card("toy")
    )


@given(datasets())
@examples(15)
def test_every_baseline_answers_every_test_item_alike_each_time(data: ProbeDataset) -> None:
    for spec in SPECS:
        tested_baseline = baseline(spec)
        answers = tested_baseline.predict(data, seed=0)
        assert answers.dtype == np.int64
        assert answers.shape == (len(data.splits[Split.TEST]),)
        assert set(answers.tolist()) <= set(data.splits[Split.TRAIN].targets.tolist())
        assert np.array_equal(answers, tested_baseline.predict(data, seed=1))


@given(datasets())
def test_majority_is_the_commonest_training_label_and_of_a_tie_the_first(data: ProbeDataset) -> None:
    counts = Counter(data.splits[Split.TRAIN].targets.tolist())
    best = min(counts, key=lambda label: (-counts[label], label))
    assert set(baseline("majority").predict(data, seed=0).tolist()) == {best}


def make_sentence(size: int) -> str:
    return " ".join(["word"] * size)


def test_length_finds_bins_of_length_but_no_words() -> None:
    """Conneau et al. 2018: the classes of SentLen are bins of length, and Length gets them all."""
    bins = [(5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 28)]
    sizes = [(size, label) for label, (low, high) in enumerate(bins) for size in range(low, high + 1)]
    items = [(make_sentence(size), list[str](), label) for size, label in sizes]
    data = dataset(items, items, labels=tuple(map(str, range(6))))
    assert baseline("length").predict(data, seed=0).tolist() == [label for _, label in sizes]


def test_length_is_told_the_probe_words() -> None:
    items = [(make_sentence(size), [word], int(word == "x")) for size in (2, 3, 4) for word in "xy"]
    assert baseline("length").predict(dataset(items, items), seed=0).tolist() == [1, 0] * 3


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
def test_tfidf_is_naive_bayes_worked_out_by_hand(data: ProbeDataset, ngrams: int) -> None:
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


def test_bigrams_know_the_order_and_words_do_not() -> None:
    items = [(f"{x} y", list[str](), 1) for x in "abcdef"] + [(f"y {x}", list[str](), 0) for x in "abcdef"]
    data = dataset(items, items)
    assert len(set(baseline("tfidf").predict(data, seed=0).tolist())) == 1
    assert baseline("tfidf?ngrams=2").predict(data, seed=0).tolist() == [1] * 6 + [0] * 6


def test_a_word_of_the_sentence_is_not_the_probe_word() -> None:
    train = [("x", ["y"], 1), ("y", ["x"], 0)] * 3
    data = dataset(train, [("x", ["y"], 1), ("y", ["x"], 0)])
    assert baseline("tfidf").predict(data, seed=0).tolist() == [1, 0]


def test_a_baseline_is_no_encoder_and_each_has_its_own_fingerprint() -> None:
    baselines = [baseline(spec) for spec in SPECS]
    assert not any(isinstance(baseline_made, Encoder) for baseline_made in baselines)
    assert len({baseline_made.fingerprint for baseline_made in baselines}) == len(SPECS)
    assert tuple(baseline_made.name for baseline_made in baselines) == SPECS
    with pytest.raises(UsageError, match="is a baseline, which has no vectors"):
        make_encoder("majority", seed=0)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("tfidf?ngrams=3", "tfidf: option ngrams=3: 1 or 2 is expected"),
        ("tfidf?ngram=2", r"tfidf has no option 'ngram' \(did you mean 'ngrams'\?\)"),
        ("majority?seed=1", "majority has no option 'seed'; its options: name"),
        ("length:file", "encoder 'length' takes no argument, but has 'file'"),
        ("lenght", r"unknown encoder 'lenght' \(did you mean 'length'\?\)"),
    ],
)
def test_a_wrong_spec_is_refused(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_encoders(spec, seed=0)


def test_the_table_says_that_they_are_baselines() -> None:
    for spec in SPECS:
        assert find_kind(spec).summary.startswith("baseline: ")
        assert find_kind(spec).installed
