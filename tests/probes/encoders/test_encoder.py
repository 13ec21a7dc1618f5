"""Capabilities of encoders, and the check of the vectors that they return."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from sentprobe.probes.encoders.baselines import Majority
from sentprobe.probes.encoders.encoder import (
    Capabilities,
    EncoderError,
    Vectors,
    check_vectors,
    collect_notes,
    count_truncated_sentences,
    get_capabilities,
    read_name,
)


class Plain:
    """The least that an encoder of a user has."""

    name = "plain"
    fingerprint = "1"

    def encode(self, sentences: Sequence[str]) -> Vectors:
        return np.ones((len(sentences), 2), dtype=np.float32)


class Described(Plain):
    """An encoder with every attribute that is read."""

    cacheable = False
    together = True
    layer = 3
    family = "plain"
    step = 100
    epoch = 2
    seed = 7
    notes = ("two words are unknown",)

    def truncated(self, sentences: Sequence[str]) -> int:
        return len(sentences)

    def word_vectors(self, texts: Sequence[str]) -> Vectors:
        return self.encode(texts)

    def in_order(self, sentences: Sequence[str]) -> Plain:
        del sentences
        return Plain()


def test_plain_object_has_default_capabilities() -> None:
    assert get_capabilities(Plain()) == Capabilities()
    assert get_capabilities(Majority()) == Capabilities()
    assert count_truncated_sentences(Plain(), ["a"]) is None


def test_attributes_of_user_are_read() -> None:
    encoder = Described()
    assert get_capabilities(encoder) == Capabilities(
        cacheable=False,
        needs_all_sentences=True,
        layer=3,
        family="plain",
        step=100,
        epoch=2,
        seed=7,
        notes=("two words are unknown",),
        count_truncated=encoder.truncated,
        word_vectors=encoder.word_vectors,
        bind_to_order=encoder.in_order,
    )
    assert count_truncated_sentences(encoder, ["a", "b"]) == 2
    assert collect_notes([encoder, Plain(), encoder]) == 2 * ["two words are unknown"]


def test_attributes_of_other_types_are_ignored() -> None:
    class Odd(Plain):
        layer = "last"
        family = None
        notes = "no list"
        word_vectors = "glove.txt"
        capabilities = ("embeddings",)

    assert get_capabilities(Odd()) == Capabilities()


def test_declared_capabilities_win() -> None:
    class Declared(Described):
        capabilities = Capabilities(layer=1)

    assert get_capabilities(Declared()) == Capabilities(layer=1)


def test_object_is_named_by_name_or_class() -> None:
    assert read_name(Described()) == "plain"
    assert read_name(object()) == "object"


BAD_VECTORS: list[tuple[Any, str]] = [
    (np.zeros((3, 2)), "returned 3 rows for 2 sentences"),
    (np.zeros(2), "array of shape (2,)"),
    (np.zeros((2, 0)), "array of shape (2, 0)"),
    (np.zeros((2, 2), dtype=int), "returned int64"),
    (np.array([["a"], ["b"]]), "returned <U1"),
    (np.array([[0.0], [np.nan]]), "not finite for the sentence 'b'"),
    (np.array([[1e300], [0.0]]), "not finite for the sentence 'a'"),
]


@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_bad_vectors_are_refused(vectors: Any, message: str) -> None:
    with pytest.raises(EncoderError) as caught:
        check_vectors(vectors, sentences=["a", "b"], encoder="mine")
    assert message in str(caught.value)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_become_float32(dtype: Any) -> None:
    vectors = check_vectors(np.ones((1, 3), dtype), sentences=["a"], encoder="mine")
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
