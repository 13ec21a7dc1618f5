"""Vectors with a planted answer, whose probe accuracy is known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from helpers.strategies.probe_strategies import to_items

from sentprobe.probes.datasets.dataset import Card, Indices, ProbeDataset, Split
from sentprobe.probes.encoders.encoder import Vectors


@dataclass
class PlantedEncoder:
    """An encoder that returns planted vectors, by the number at the start of a sentence."""

    vectors: Vectors
    name: str = "planted"
    fingerprint: str = ""

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the vectors, (n, dim) float32."""
        return self.vectors[[int(sentence.split()[0]) for sentence in sentences]]


def make_numbered_dataset(
    targets: Indices, *, train: int, words: Sequence[str] = (".",), name: str = "planted"
) -> ProbeDataset:
    """Make a dataset whose sentences are a number and one of the words, in turn.

    The first *train* items are for training, the others for testing.
    """
    items: list[tuple[int, list[int], int]] = [(row, [], int(target)) for row, target in enumerate(targets)]
    return ProbeDataset(
        name=name,
        sentences=tuple(f"{row} {words[row % len(words)]}" for row in range(len(targets))),
        labels=("FALSE", "TRUE"),
        probe_words=(),
        splits={Split.TRAIN: to_items(items[:train]), Split.TEST: to_items(items[train:])},
        card=Card(name),
    )


def sample_answers(count: int, *, seed: int = 1) -> Indices:
    """Return equally many of both answers, in random order."""
    return np.random.default_rng(seed).permutation(np.arange(count) % 2)


def sample_noise(count: int, *, dim: int = 6, seed: int = 2) -> Vectors:
    """Return random vectors without information."""
    return np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)


def make_linear_vectors(targets: Indices) -> Vectors:
    """Return vectors whose first number has the answer as its sign."""
    vectors = sample_noise(len(targets))
    vectors[:, 0] = (1 + np.abs(vectors[:, 0])) * (2 * targets - 1)
    return vectors


def make_faint_vectors(targets: Indices, *, dim: int = 10, scale: float = 0.4) -> Vectors:
    """Return vectors whose first number is normal about the answer's sign, and *scale* times as wide as the others.

    With the first number alone, 84% of the answers can be predicted.
    """
    vectors = sample_noise(len(targets), dim=dim)
    vectors[:, 0] += 2 * targets - 1
    vectors[:, 0] *= scale
    return vectors


def make_parity_vectors(targets: Indices) -> Vectors:
    """Return vectors whose first two numbers have equal or opposite signs, by the answer."""
    vectors = sample_noise(len(targets))
    vectors[:, :2] = np.sign(vectors[:, :2]) * (1 + np.abs(vectors[:, :2]))
    vectors[:, 1] = np.abs(vectors[:, 1]) * np.sign(vectors[:, 0]) * (2 * targets - 1)
    return vectors
