"""Sentence models that are small enough for tests."""

from typing import Any

from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.sentence_model import (
    KnownWords,
    SentenceModel,
    make_sentence_model,
)

WORDS = ("the", "man", "slept", "Danced")


def tiny_sentence_model(kind: str, *, seed: int = 1, **options: Any) -> SentenceModel:
    """A model of 4 units in 2 layers over 3 numbers a word; *options* are the maker's."""
    architecture = Architecture(kind=kind, hidden=4, layers=2, inputs=3)
    return make_sentence_model(architecture, KnownWords(WORDS), seed=seed, **options)
