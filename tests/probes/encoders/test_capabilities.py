"""Capabilities: those that an encoder declares, and those read from a user's object."""

from collections.abc import Sequence

import numpy as np

from sentprobe.probes.encoders.baselines import Majority
from sentprobe.probes.encoders.encoder import (
    Capabilities,
    Vectors,
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


def test_an_object_that_declares_nothing_has_the_defaults() -> None:
    assert get_capabilities(Plain()) == Capabilities()
    assert get_capabilities(Majority()) == Capabilities()
    assert count_truncated_sentences(Plain(), ["a"]) is None


def test_attributes_of_a_user_are_read() -> None:
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


def test_attributes_of_other_types_are_passed_over() -> None:
    class Odd(Plain):
        layer = "last"
        family = None
        notes = "no list"
        word_vectors = "glove.txt"
        capabilities = ("embeddings",)

    assert get_capabilities(Odd()) == Capabilities()


def test_declared_capabilities_count_and_not_the_attributes() -> None:
    class Declared(Described):
        capabilities = Capabilities(layer=1)

    assert get_capabilities(Declared()) == Capabilities(layer=1)


def test_an_object_is_named_by_its_name_or_by_its_class() -> None:
    assert read_name(Described()) == "plain"
    assert read_name(object()) == "object"
