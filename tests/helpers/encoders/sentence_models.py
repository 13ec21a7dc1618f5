"""Sentence models that are small enough for tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.encoders.models import trained
from sentprobe.probes.encoders.models.trained import PADDING, ModelVocabulary, SentenceModel, make_sentence_model

WORDS = ("the", "man", "slept", "Danced")


def tiny_sentence_model(kind: str, *, seed: int = 1, layers: int = 2, **options: Any) -> SentenceModel:
    """A model of 4 units over 3 numbers a word; *options* are the maker's."""
    architecture = Architecture(kind=kind, hidden=4, layers=layers, inputs=3)
    return make_sentence_model(architecture, ModelVocabulary(WORDS), seed=seed, **options)


def save_sentence_model(model: SentenceModel, folder: Path, record: Mapping[str, object]) -> None:
    """Make the folder of a model."""
    folder.mkdir(parents=True, exist_ok=True)
    trained.write_sentence_model(model, folder, record)


def pad_rows(rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids, (b, time) int64 with PADDING behind, and their lengths, (b,) int64."""
    lengths = torch.tensor([len(row) for row in rows])
    ids = torch.full((len(rows), int(lengths.max())), PADDING)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = torch.tensor(row)
    return ids, lengths
