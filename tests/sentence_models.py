"""Sentence models that are small enough for tests."""

from collections.abc import Sequence
from typing import Any

import torch

from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.sentence_model import (
    PADDING,
    KnownWords,
    SentenceModel,
    make_sentence_model,
)

WORDS = ("the", "man", "slept", "Danced")


def tiny_sentence_model(kind: str, *, seed: int = 1, **options: Any) -> SentenceModel:
    """A model of 4 units in 2 layers over 3 numbers a word; *options* are the maker's."""
    architecture = Architecture(kind=kind, hidden=4, layers=2, inputs=3)
    return make_sentence_model(architecture, KnownWords(WORDS), seed=seed, **options)


def padded(rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids, (b, time) int64 with PADDING behind, and their lengths, (b,) int64."""
    lengths = torch.tensor([len(row) for row in rows])
    ids = torch.full((len(rows), int(lengths.max())), PADDING)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = torch.tensor(row)
    return ids, lengths
