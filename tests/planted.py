"""Vectors in which an answer is planted, so that it is known what can be read from them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from probe_strategies import to_items

from sentprobe.probes.dataset import Card, Indices, ProbeDataset, Split
from sentprobe.probes.encoders import Vectors


@dataclass
class Planted:
    """Gives the vectors that are planted, by the number that a sentence begins with."""

    vectors: Vectors
    name: str = "planted"
    fingerprint: str = ""

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return them, (n, dim) float32."""
        return self.vectors[[int(each.split()[0]) for each in sentences]]


def numbered(
    targets: Indices, *, train: int, words: Sequence[str] = (".",), name: str = "planted"
) -> ProbeDataset:
    """A dataset whose sentences are a number and one of the words, in turn.

    The first *train* items are for training, the others for testing.
    """
    items: list[tuple[int, list[int], int]] = [(row, [], int(to)) for row, to in enumerate(targets)]
    return ProbeDataset(
        name=name,
        sentences=tuple(f"{row} {words[row % len(words)]}" for row in range(len(targets))),
        labels=("FALSE", "TRUE"),
        probe_words=(),
        splits={Split.TRAIN: to_items(items[:train]), Split.TEST: to_items(items[train:])},
        card=Card(name),
    )


def answers(count: int, *, seed: int = 1) -> Indices:
    """As many of each answer, in random order."""
    return np.random.default_rng(seed).permutation(np.arange(count) % 2)


def noise(count: int, *, dim: int = 6, seed: int = 2) -> Vectors:
    """Vectors that know nothing."""
    return np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)


def linear(targets: Indices) -> Vectors:
    """Vectors whose first number has the answer as its sign."""
    vectors = noise(len(targets))
    vectors[:, 0] = (1 + np.abs(vectors[:, 0])) * (2 * targets - 1)
    return vectors


def parity(targets: Indices) -> Vectors:
    """Vectors of which the first two numbers have one sign or two, as the answer is."""
    vectors = noise(len(targets))
    vectors[:, :2] = np.sign(vectors[:, :2]) * (1 + np.abs(vectors[:, :2]))
    vectors[:, 1] = np.abs(vectors[:, 1]) * np.sign(vectors[:, 0]) * (2 * targets - 1)
    return vectors
