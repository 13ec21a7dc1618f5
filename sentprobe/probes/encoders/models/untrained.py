"""Untrained encoders, such as ``bilstm-max``: networks with random weights (Conneau et al. 2018, section 3)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from sentprobe.common.specs import Natural, Spec, read_options
from sentprobe.probes.encoders import network as networks
from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.encoders.encoder import Capabilities, Vectors, digest
from sentprobe.probes.encoders.word_vectors import WordVectors, read_or_sample_word_vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class UntrainedOptions:
    """The options of untrained encoders. Default sizes are from Conneau et al. 2018, section 3."""

    dim: int = 300
    """Width of random word vectors; ignored if the word vectors are from a file."""
    hidden: int = 512
    """Number of hidden units of a recurrent layer (per direction) or of a convolution."""
    layers: int = 0
    """Number of stacked layers; 0: the default of the network, 8 for ``gated-conv`` and 1 for others."""
    batch: int = 256
    seed: Natural
    """Seed of the weights and of random word vectors; by default, the seed of the run."""


class UntrainedEncoder:
    """A network with random weights that reads word vectors. A batch has sentences of equal length."""

    def __init__(self, name: str, words: WordVectors, options: UntrainedOptions, *, kind: str) -> None:
        architecture = Architecture(kind=kind, hidden=options.hidden, layers=options.layers, inputs=words.dim)
        networks.check_weights(architecture, subject=f"encoder {name}")
        self.name = name
        common = (kind, words.fingerprint, architecture.hidden)
        if kind == "gated-conv":
            self.fingerprint = digest(*common, architecture.layers, networks.KERNEL_WIDTH, options.seed)
        else:
            # The number of layers is left out for one layer, so that earlier fingerprints stay valid.
            stacked = [] if architecture.layers == 1 else [f"{architecture.layers} layers"]
            self.fingerprint = digest(*common, options.seed, *stacked)
        self._words, self._batch, self._seed = words, options.batch, options.seed
        generator = torch.Generator().manual_seed(options.seed)
        self.network = networks.make_network(architecture, generator=generator).eval()
        if isinstance(self.network, networks.GatedConvolutions):
            self.network.positions = RandomPositions(words, options.seed)
        self.dim = self.network.dim

    @property
    def capabilities(self) -> Capabilities:
        """The seed, the word vectors, a note on unknown words, and the halves of the vector."""
        return Capabilities(
            seed=self._seed, notes=self._words.notes, word_vectors=self._words.average_words, halves=self.network.halves
        )

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32."""
        return encode_by_length([*self._words.look_up(sentences)], self.network, batch=self._batch, dim=self.dim)


def encode_by_length(
    inputs: Sequence[Any], network: torch.nn.Module, *, batch: int, dim: int, device: str = "cpu"
) -> Vectors:
    """Run a network on *inputs*, each a sentence's word vectors or ids; return vectors, (n, dim) float32."""
    vectors = np.empty((len(inputs), dim), dtype=np.float32)
    for rows in group_by_length([*map(len, inputs)], size=batch):
        stacked = torch.from_numpy(np.stack([inputs[row] for row in rows])).to(device)
        lengths = torch.full((len(rows),), stacked.shape[1])
        with torch.inference_mode():
            vectors[rows] = network(stacked, lengths).cpu().numpy()
    return vectors


def group_by_length(lengths: Sequence[int], *, size: int) -> Iterator[list[int]]:
    """Yield the indices of sentences of equal length, in batches of at most *size*."""
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for index, length in enumerate(lengths):
        by_length[length].append(index)
    for indices in by_length.values():
        yield from (indices[start : start + size] for start in range(0, len(indices), size))


class RandomPositions(torch.nn.Module):
    """Gaussian position vectors on the scale of the word vectors. Seed and position determine each vector."""

    def __init__(self, words: WordVectors, seed: int) -> None:
        super().__init__()
        self._words, self._seed = words, seed

    def forward(self, time: int) -> torch.Tensor:
        """Return the vectors of the positions from 0 to *time* - 1, (time, dim)."""
        keys = (int(digest("position", self._seed, position), 16) for position in range(time))
        generators = (np.random.default_rng(key) for key in keys)
        rows = [g.standard_normal(self._words.dim, dtype=np.float32) for g in generators]
        return torch.from_numpy(np.stack(rows) * np.float32(self._words.scale))


def build_untrained(spec: Spec, *, seed: int) -> UntrainedEncoder:
    """Build the encoder of a spec such as ``bilstm-max``; *seed* is the default of its option ``seed``."""
    options = read_options(spec, UntrainedOptions(seed=Natural(seed)))
    words = read_or_sample_word_vectors(spec.argument, seed=options.seed, dim=options.dim)
    return UntrainedEncoder(spec.name, words, options, kind=spec.kind)
