"""What the encoders with random weights share: options, and batches without padding."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sentprobe.probes.encoders.protocol import Vectors
from sentprobe.probes.encoders.specs import Natural, Spec, read_options
from sentprobe.probes.encoders.wordvectors import WordVectors, word_vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class UntrainedOptions:
    """Options of the untrained encoders; the sizes are those of Conneau et al. 2018, section 3."""

    dim: int = 300
    """Width of the random word vectors; a file has its own."""
    hidden: int = 512
    """Units: of each direction, or of each convolution."""
    batch: int = 256
    """Sentences that are encoded together, at most."""
    seed: Natural
    """Seed of the weights and of random word vectors; when it is not given, the run's."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What an untrained encoder is made of, as its spec says."""

    name: str
    words: WordVectors
    options: UntrainedOptions


def read_inputs(spec: Spec, *, seed: int) -> Inputs:
    """Return the word vectors, of a file or random, and the options of a spec.

    Raises:
        UsageError: an option, or its value, is not known.
        EncoderError: the file cannot be read.
    """
    default = UntrainedOptions(seed=Natural(seed))
    options = read_options(spec, default)
    words = word_vectors(spec.argument, seed=options.seed, dim=options.dim)
    return Inputs(spec.name, words, options)


class Untrained(ABC):
    """An encoder with random weights over word vectors.

    Sentences of one length are encoded together, so there is no padding that could count.
    """

    def __init__(self, inputs: Inputs, *, fingerprint: str, dim: int) -> None:
        self.name = inputs.name
        self.fingerprint = fingerprint
        self.dim = dim
        self._words = inputs.words
        self._batch = inputs.options.batch

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of unknown words."""
        return self._words.notes

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32."""
        matrices = self._words.look_up(sentences)
        out = np.empty((len(sentences), self.dim), dtype=np.float32)
        for rows in _batches_of_one_length(matrices, size=self._batch):
            stacked = torch.from_numpy(np.stack([matrices[row] for row in rows]))
            with torch.inference_mode():
                out[rows] = self._forward(stacked).numpy()
        return out

    @abstractmethod
    def _forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return the sentence vectors, (b, dim), of word vectors (b, time, words.dim)."""


def _batches_of_one_length(matrices: Sequence[Vectors], *, size: int) -> Iterator[list[int]]:
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for index, matrix in enumerate(matrices):
        by_length[len(matrix)].append(index)
    for indices in by_length.values():
        yield from (indices[start : start + size] for start in range(0, len(indices), size))
