"""Measures of triplets: the theorem, ties, mirrors, ranks, whitening."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thoroughness import examples

from sentprobe.generator.meaning import meaning_of
from sentprobe.generator.parse import parse
from sentprobe.generator.triplets import TripletSpace
from sentprobe.lexicon import english
from sentprobe.probes.encoders import Encoder, Vectors, make_encoder
from sentprobe.probes.geometry import measures as ms
from sentprobe.probes.geometry.material import Drawing, GeometryMaterial
from sentprobe.probes.geometry.results import GeometryResult
from sentprobe.probes.geometry.run import measure

FORM, ANCHOR = ms.NegativeKind
SAME_WORDS = st.sampled_from(["role", "modifier", "negation"])


class Made:
    """An encoder of a function of one sentence."""

    def __init__(self, vector: Callable[[str], Sequence[float]], name: str = "made") -> None:
        self._vector = vector
        self.name = self.fingerprint = name

    def encode(self, sentences: Sequence[str]) -> Vectors:
        return np.array([self._vector(text) for text in sentences], dtype=np.float32)


def measured(
    encoder: Encoder, contrast: str = "role", *, n: int = 60, seed: int = 0
) -> GeometryResult:
    material = drawn(contrast, n, seed)
    white = ms.whitening(encoder.encode(material.sentences))
    return measure(encoder, material, encoder.encode(material.sentences), white)


@cache
def drawn(contrast: str, n: int, seed: int) -> GeometryMaterial:
    space = TripletSpace(english(), contrast)
    return GeometryMaterial(space, Drawing(n=n, seed=seed, variants=2))


def word_vector(word: str, seed: int) -> Any:
    return np.random.default_rng((crc32(word.encode()), seed)).normal(size=12)


BAGS: dict[str, Any] = {
    "sum": np.sum,
    "mean": np.mean,
    "max": np.max,
    "norm": lambda a, axis: (a**2).sum(axis),
}


@given(SAME_WORDS, st.sampled_from([*BAGS]), st.integers(0, 1000))
@examples(40)
def test_whatever_a_bag_of_words_computes_is_right_on_exactly_half(
    contrast: str, pooling: str, seed: int
) -> None:
    def bag(text: str) -> Sequence[float]:
        words = np.array([word_vector(word, seed) for word in text.split()])
        found: list[float] = BAGS[pooling](words, axis=0).tolist()
        return found

    result = measured(Made(bag), contrast, seed=seed % 2, n=30)
    for nearness in ms.Nearness:
        for found in result.find(FORM, nearness).values():
            assert (found.accuracy, found.paired, found.margin) == (0.5, 0.25, 0.0)
            assert found.ties == found.triplets == 60
    for nearness in (ms.Nearness.COSINE, ms.Nearness.EUCLID):
        (found,) = result.find(ANCHOR, nearness).values()
        if pooling == "max":  # it may give one vector to several bags
            assert found.accuracy <= found.ties / found.triplets / 2
        else:
            assert (found.accuracy, found.paired) == (0.0, 0.0)


def test_of_the_encoder_bow_too() -> None:
    result = measured(make_encoder("bow"), "negation")
    assert {f.accuracy for f in result.find(FORM).values()} == {0.5}
    assert {f.accuracy for f in result.find(ANCHOR).values()} == {0.0}


@pytest.mark.parametrize("contrast", ["role", "tense"])
def test_an_encoder_of_zeros_ties_everywhere(contrast: str) -> None:
    result = measured(Made(lambda _: [0.0] * 4), contrast)
    for score in result.scores:
        assert (score.measured.accuracy, score.measured.paired) == (0.5, 0.25)
        assert score.measured.margin == 0
    assert result.ranking is not None
    assert result.ranking.mean == 2.0
    assert result.ranking.first == pytest.approx(1 / 3)


def meaning_vector(text: str) -> Sequence[float]:
    (event,) = parse(text, english())
    meaning = meaning_of(event)
    key = (
        sorted(meaning.clauses.items()),
        sorted(meaning.nouns.items()),
        next(iter(meaning.clauses)),
    )
    return np.random.default_rng(crc32(repr(key).encode())).normal(size=8).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("contrast", ["role", "modifier", "number"])
def test_an_encoder_of_meaning_is_right_everywhere(contrast: str) -> None:
    result = measured(Made(meaning_vector), contrast)
    for score in result.scores:
        if score.nearness is not ms.Nearness.DOT:
            assert (score.measured.accuracy, score.measured.paired) == (1.0, 1.0)
    assert result.ranking is not None
    assert (result.ranking.mean, result.ranking.first) == (1.0, 1.0)


def sides(anchor: float, positive: float, negative: float, hard: float) -> ms.Sides:
    """One triplet of vectors of length 1, at these angles."""
    return ms.Sides(
        *(np.array([[np.cos(a), np.sin(a)]], dtype=np.float32)
          for a in (anchor, positive, negative, hard))
    )  # fmt: skip


def test_margins_by_hand() -> None:
    one = sides(0.0, 0.2, 0.5, 0.1)
    expected = {
        ms.Nearness.COSINE: np.cos(0.2) - np.cos(0.5),
        ms.Nearness.DOT: np.cos(0.2) - np.cos(0.5),
        ms.Nearness.EUCLID: 2 * np.sin(0.25) - 2 * np.sin(0.1),
    }
    for nearness, margin in expected.items():
        found = ms.answers(one, one, FORM, nearness).margins
        assert found[0] == pytest.approx(margin, abs=1e-6)
    hard = np.cos(0.2) - np.cos(0.1)
    found = ms.answers(one, one, ANCHOR, ms.Nearness.COSINE).margins
    assert found[0] == pytest.approx(hard, abs=1e-6)


def test_both_directions() -> None:
    """The mirror: from the negative in the anchor's form to the one in the positive's."""
    one = sides(0.0, 0.2, 0.5, 0.1)
    found = ms.answers(one, one, FORM, ms.Nearness.COSINE)
    assert found.scores.tolist() == [[1.0], [0.0]]  # 0.1 is nearer to 0.2 than to 0.5
    assert found.over(np.array([True]), [0]).paired == 0.0
    back = ms.answers(sides(0.1, 0.5, 0.2, 0.0), one, FORM, ms.Nearness.COSINE)
    assert back.margins == pytest.approx(found.margins[::-1])


def test_vectors_that_differ_by_rounding_tie() -> None:
    one = sides(0.0, 0.5, 0.5 + 1e-6, 0.1)
    assert ms.answers(one, one, FORM, ms.Nearness.COSINE).ties.tolist()[0] == [True]
    other = sides(0.0, 0.5, 0.5 + 1e-3, 0.1)
    assert ms.answers(other, other, FORM, ms.Nearness.COSINE).ties.tolist()[0] == [False]


def test_ranks_by_hand() -> None:
    def at(*angles: float) -> Vectors:
        return np.array([[np.cos(a), np.sin(a)] for a in angles], dtype=np.float32)

    others = [at(1.0, 1.0)] * 2
    variants = [at(0.1, 0.2), at(0.3, 0.1), at(0.2, 0.3)]
    ranks, first = ms.ranks(ms.Sides(at(0, 0), at(0.3, 0.1), *others, *variants))
    assert ranks.tolist() == [3.5, 1.5]
    assert first.tolist() == [0.0, 0.5]


@given(st.integers(0, 1000), st.integers(1, 6))
@examples(40)
def test_whitened_vectors_have_no_correlations(seed: int, dim: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = (rng.normal(size=(50, dim)) @ rng.normal(size=(dim, dim)) + 3).astype(np.float32)
    white = ms.whitening(vectors)
    assert white is not None
    moved = white(vectors)
    covariance = np.cov(moved.T, bias=True).reshape(moved.shape[1], -1)
    assert covariance == pytest.approx(np.eye(moved.shape[1]), abs=1e-2)


def test_fewer_sentences_than_dimensions_are_not_whitened() -> None:
    assert ms.whitening(np.eye(8, dtype=np.float32)) is None


def test_units_widen_the_interval() -> None:
    scores = np.array([[1.0] * 20 + [0.0] * 20] * 2)
    answers = ms.TripletAnswers(scores, scores, np.zeros_like(scores, dtype=np.bool_))
    every = np.ones(40, dtype=np.bool_)
    alone, together = (
        answers.over(every, units).accuracy_interval for units in (range(40), [0] * 20 + [1] * 20)
    )
    assert together.high - together.low > 2 * (alone.high - alone.low)
