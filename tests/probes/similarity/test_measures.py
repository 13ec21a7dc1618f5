"""Measures of triplets: bag-of-words theorem, ties, mirrors, ranks, whitening."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.events.meaning import compute_meaning
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.generator.sentences.parse import parse
from sentprobe.lexicon import english
from sentprobe.probes.encoders.encoder import Encoder, Vectors
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.similarity import measures as ms
from sentprobe.probes.similarity.distance_results import GeometryResult
from sentprobe.probes.similarity.distance_run import measure_encoder
from sentprobe.probes.similarity.triplet_sentences import SampledTriplets, TripletSampling

FORM, ANCHOR = ms.NegativeKind
SAME_WORDS = st.sampled_from(["role", "modifier", "negation"])


class FunctionEncoder:
    """An encoder of a function of one sentence."""

    def __init__(self, vector: Callable[[str], Sequence[float]], name: str = "made") -> None:
        self._vector = vector
        self.name = self.fingerprint = name

    def encode(self, sentences: Sequence[str]) -> Vectors:
        return np.array([self._vector(text) for text in sentences], dtype=np.float32)


def measure_made(encoder: Encoder, contrast: str = "role", *, n: int = 60, seed: int = 0) -> GeometryResult:
    material = sample_triplets(contrast, n, seed)
    whitening = ms.fit_whitening(encoder.encode(material.sentences))
    return measure_encoder(encoder, material, encoder.encode(material.sentences), whitening)


@cache
def sample_triplets(contrast: str, n: int, seed: int) -> SampledTriplets:
    space = TripletSpace(english(), contrast)
    return SampledTriplets(space, TripletSampling(n=n, seed=seed, distractors=2))


def word_vector(word: str, seed: int) -> Any:
    return np.random.default_rng((crc32(word.encode()), seed)).normal(size=12)


BAGS: dict[str, Any] = {"sum": np.sum, "mean": np.mean, "max": np.max, "norm": lambda a, axis: (a**2).sum(axis)}


@given(SAME_WORDS, st.sampled_from([*BAGS]), st.integers(0, 1000))
@examples(40)
def test_any_bag_is_half_right(contrast: str, pooling: str, seed: int) -> None:
    def bag(text: str) -> Sequence[float]:
        words = np.array([word_vector(word, seed) for word in text.split()])
        vector: list[float] = BAGS[pooling](words, axis=0).tolist()
        return vector

    result = measure_made(FunctionEncoder(bag), contrast, seed=seed % 2, n=30)
    for nearness in ms.Nearness:
        for measures in result.find_by_group(FORM, nearness).values():
            assert (measures.accuracy, measures.paired, measures.margin) == (0.5, 0.25, 0.0)
            assert measures.ties == measures.triplets == 60
    for nearness in (ms.Nearness.COSINE, ms.Nearness.EUCLID):
        (measures,) = result.find_by_group(ANCHOR, nearness).values()
        if pooling == "max":  # it may give one vector to several bags
            assert measures.accuracy <= measures.ties / measures.triplets / 2
        else:
            assert (measures.accuracy, measures.paired) == (0.0, 0.0)


def test_encoder_bow_is_half_right() -> None:
    result = measure_made(make_encoder("bow"), "negation")
    assert {measures.accuracy for measures in result.find_by_group(FORM).values()} == {0.5}
    assert {measures.accuracy for measures in result.find_by_group(ANCHOR).values()} == {0.0}


@pytest.mark.parametrize("contrast", ["role", "tense"])
def test_encoder_of_zeros_ties_everywhere(contrast: str) -> None:
    result = measure_made(FunctionEncoder(lambda _: [0.0] * 4), contrast)
    for score in result.scores:
        assert (score.measured.accuracy, score.measured.paired) == (0.5, 0.25)
        assert score.measured.margin == 0
    assert result.ranking is not None
    assert result.ranking.mean == 2.0
    assert result.ranking.first == pytest.approx(1 / 3)


def meaning_vector(text: str) -> Sequence[float]:
    (event,) = parse(text, english())
    meaning = compute_meaning(event)
    key = (sorted(meaning.clauses.items()), sorted(meaning.nouns.items()), next(iter(meaning.clauses)))
    return np.random.default_rng(crc32(repr(key).encode())).normal(size=8).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("contrast", ["role", "modifier", "number"])
def test_encoder_of_meaning_is_right(contrast: str) -> None:
    result = measure_made(FunctionEncoder(meaning_vector), contrast)
    for score in result.scores:
        if score.nearness is not ms.Nearness.DOT:
            assert (score.measured.accuracy, score.measured.paired) == (1.0, 1.0)
    assert result.ranking is not None
    assert (result.ranking.mean, result.ranking.first) == (1.0, 1.0)


def make_sides(anchor: float, positive: float, negative: float, hard: float) -> ms.Sides:
    """One triplet of vectors of length 1, at these angles."""
    return ms.Sides(
        *(np.array([[np.cos(a), np.sin(a)]], dtype=np.float32)
          for a in (anchor, positive, negative, hard))
    )  # fmt: skip


def test_margins_by_hand() -> None:
    triplet = make_sides(0.0, 0.2, 0.5, 0.1)
    expected = {
        ms.Nearness.COSINE: np.cos(0.2) - np.cos(0.5),
        ms.Nearness.DOT: np.cos(0.2) - np.cos(0.5),
        ms.Nearness.EUCLID: 2 * np.sin(0.25) - 2 * np.sin(0.1),
    }
    for nearness, margin in expected.items():
        margins = ms.score_triplets(triplet, triplet, FORM, nearness).margins
        assert margins[0] == pytest.approx(margin, abs=1e-6)
    hard = np.cos(0.2) - np.cos(0.1)
    margins = ms.score_triplets(triplet, triplet, ANCHOR, ms.Nearness.COSINE).margins
    assert margins[0] == pytest.approx(hard, abs=1e-6)


def test_answers_in_both_directions() -> None:
    """The mirror: from the negative in the anchor's form to the one in the positive's."""
    triplet = make_sides(0.0, 0.2, 0.5, 0.1)
    answers = ms.score_triplets(triplet, triplet, FORM, ms.Nearness.COSINE)
    assert answers.scores.tolist() == [[1.0], [0.0]]  # 0.1 is nearer to 0.2 than to 0.5
    assert answers.measure(np.array([True]), [0]).paired == 0.0
    mirrored = ms.score_triplets(make_sides(0.1, 0.5, 0.2, 0.0), triplet, FORM, ms.Nearness.COSINE)
    assert mirrored.margins == pytest.approx(answers.margins[::-1])


def test_vectors_that_differ_by_rounding_tie() -> None:
    rounded = make_sides(0.0, 0.5, 0.5 + 1e-6, 0.1)
    assert ms.score_triplets(rounded, rounded, FORM, ms.Nearness.COSINE).ties.tolist()[0] == [True]
    different = make_sides(0.0, 0.5, 0.5 + 1e-3, 0.1)
    assert ms.score_triplets(different, different, FORM, ms.Nearness.COSINE).ties.tolist()[0] == [False]


def test_ranks_by_hand() -> None:
    def make_vectors(*angles: float) -> Vectors:
        return np.array([[np.cos(a), np.sin(a)] for a in angles], dtype=np.float32)

    negatives = [make_vectors(1.0, 1.0)] * 2
    distractors = [make_vectors(0.1, 0.2), make_vectors(0.3, 0.1), make_vectors(0.2, 0.3)]
    ranks, first = ms.rank_positives(ms.Sides(make_vectors(0, 0), make_vectors(0.3, 0.1), *negatives, *distractors))
    assert ranks.tolist() == [3.5, 1.5]
    assert first.tolist() == [0.0, 0.5]


@given(st.integers(0, 1000), st.integers(1, 6))
@examples(40)
def test_whitened_vectors_have_no_correlations(seed: int, dim: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = (rng.normal(size=(50, dim)) @ rng.normal(size=(dim, dim)) + 3).astype(np.float32)
    whitening = ms.fit_whitening(vectors)
    assert whitening is not None
    whitened = whitening(vectors)
    covariance = np.cov(whitened.T, bias=True).reshape(whitened.shape[1], -1)
    assert covariance == pytest.approx(np.eye(whitened.shape[1]), abs=1e-2)


def test_too_few_sentences_are_not_whitened() -> None:
    assert ms.fit_whitening(np.eye(8, dtype=np.float32)) is None


def test_units_widen_the_interval() -> None:
    scores = np.array([[1.0] * 20 + [0.0] * 20] * 2)
    answers = ms.TripletScores(scores, scores, np.zeros_like(scores, dtype=np.bool_))
    all_triplets = np.ones(40, dtype=np.bool_)
    single, paired = (
        answers.measure(all_triplets, units).accuracy_interval for units in (range(40), [0] * 20 + [1] * 20)
    )
    assert paired.high - paired.low > 2 * (single.high - single.low)
