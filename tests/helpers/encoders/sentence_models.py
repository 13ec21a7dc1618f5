"""Sentence models that are small enough for tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from helpers.conllu_files import make_line

from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.encoders.models import trained
from sentprobe.probes.encoders.models.trained import PADDING, ModelVocabulary, SentenceModel, make_sentence_model
from sentprobe.probes.encoders.network import NETWORKS
from sentprobe.probes.encoders.sentence_trees import SentenceTrees

WORDS = ("the", "man", "slept", "Danced")


def tiny_sentence_model(kind: str, *, seed: int = 1, layers: int = 2, **options: Any) -> SentenceModel:
    """A model of 4 units over 3 numbers a word; *options* are the maker's. Its trees are chains."""
    architecture = Architecture(kind=kind, hidden=4, layers=layers, inputs=3)
    vocabulary = ModelVocabulary(WORDS, trees=CHAINS if NETWORKS[kind].reads_trees else None)
    return make_sentence_model(architecture, vocabulary, seed=seed, **options)


def make_chain(length: int) -> tuple[int, ...]:
    """The heads of words of which each is below the next."""
    return (*range(2, length + 1), 0)


CHAINS = SentenceTrees("chains", "chains", lambda text: make_chain(len(text.split())), hint="")


def sample_tree(length: int, random: np.random.Generator) -> tuple[int, ...]:
    """The heads of a random tree, which need not be projective."""
    order = random.permutation(length)
    heads = np.zeros(length, np.int64)
    for place in range(1, length):
        heads[order[place]] = order[random.integers(place)] + 1
    return tuple(heads.tolist())


def write_trees(path: Path, trees: Sequence[tuple[str, Sequence[int]]]) -> None:
    """Write a CoNLL-U file with the tree of each sentence."""
    blocks = [
        "".join(make_line(number, word, "X", head) + "\n" for number, (word, head) in enumerate(words, 1))
        for words in (zip(text.split(), heads, strict=True) for text, heads in trees)
    ]
    path.write_text("\n".join(blocks), encoding="utf-8")


def save_sentence_model(model: SentenceModel, folder: Path, record: Mapping[str, object]) -> None:
    """Make the folder of a model."""
    folder.mkdir(parents=True, exist_ok=True)
    trained.write_sentence_model(model, folder, record)


def pad_rows(rows: Sequence[Sequence[int]], *, time: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids, (b, time) int64 with PADDING behind, and their lengths, (b,) int64."""
    lengths = torch.tensor([len(row) for row in rows])
    ids = torch.full((len(rows), time or int(lengths.max())), PADDING)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = torch.tensor(row)
    return ids, lengths
