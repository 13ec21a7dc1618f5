"""Untrained encoders (Conneau et al. 2018, section 3): networks with random weights."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.files.word_files import read_or_sample_word_vectors
from sentprobe.probes.encoders.files.word_vectors import WordVectors
from sentprobe.probes.encoders.networks import network
from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.protocol import Capabilities, Vectors, digest
from sentprobe.specs import Natural, Spec, read_options


@dataclass(frozen=True, slots=True, kw_only=True)
class UntrainedOptions:
    """Options of untrained encoders; sizes as in Conneau et al. 2018, section 3."""

    dim: int = 300
    """Width of random word vectors; ignored for a file."""
    hidden: int = 512
    """Units of each direction or convolution."""
    layers: int = 0
    """Number of stacked layers; 0: the default of the kind."""
    batch: int = 256
    seed: Natural
    """Seed of weights and random word vectors; default: the seed of the run."""


@dataclass(frozen=True, slots=True)
class EncoderInputs:
    """The name, word vectors and options of an untrained encoder."""

    name: str
    words: WordVectors
    options: UntrainedOptions


class UntrainedEncoder:
    """A network with random weights over word vectors; sentences of one length are encoded together."""

    def __init__(self, inputs: EncoderInputs, *, kind: str) -> None:
        architecture = _make_architecture(inputs, kind)
        self.name = inputs.name
        self.fingerprint = _compute_fingerprint(inputs, architecture)
        self._seed = inputs.options.seed
        self.network = _make_network(inputs, architecture)
        self.dim = self.network.dim
        self._words = inputs.words
        self._batch = inputs.options.batch

    @property
    def capabilities(self) -> Capabilities:
        """The seed, the word vectors, and a note on unknown words."""
        return Capabilities(seed=self._seed, notes=self._words.notes, word_vectors=self._words.average_words)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32."""
        matrices = self._words.look_up(sentences)
        out = np.empty((len(sentences), self.dim), dtype=np.float32)
        for rows in group_by_length([len(matrix) for matrix in matrices], size=self._batch):
            stacked = torch.from_numpy(np.stack([matrices[row] for row in rows]))
            lengths = torch.full((len(rows),), stacked.shape[1])
            with torch.inference_mode():
                out[rows] = self.network(stacked, lengths).numpy()
        return out


def group_by_length(lengths: Sequence[int], *, size: int) -> Iterator[list[int]]:
    """Yield the positions of sentences of equal length in batches of at most *size*."""
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for index, length in enumerate(lengths):
        by_length[length].append(index)
    for indices in by_length.values():
        yield from (indices[start : start + size] for start in range(0, len(indices), size))


def _make_architecture(inputs: EncoderInputs, kind: str) -> Architecture:
    options = inputs.options
    architecture = Architecture(kind=kind, hidden=options.hidden, layers=options.layers, inputs=inputs.words.dim)
    count = network.NETWORKS[kind].count_weights(architecture)
    if count > network.MAX_WEIGHTS:
        raise UsageError(
            f"encoder {inputs.name}: {architecture.hidden} units in {architecture.layers} layers have "
            f"{count:.1e} weights; at most {network.MAX_WEIGHTS:,} are made"
        )
    return architecture


def _compute_fingerprint(inputs: EncoderInputs, architecture: Architecture) -> str:
    layers, seed = architecture.layers, inputs.options.seed
    common = (architecture.kind, inputs.words.fingerprint, architecture.hidden)
    if architecture.kind == "gated-conv":
        return digest(*common, layers, network.KERNEL_WIDTH, seed)
    # One layer has the digest that it had before there could be more.
    return digest(*common, seed, *([] if layers == 1 else [f"{layers} layers"]))


def _make_network(inputs: EncoderInputs, architecture: Architecture) -> network.Network:
    generator = torch.Generator().manual_seed(inputs.options.seed)
    sampled = network.make_network(architecture, generator=generator)
    if isinstance(sampled, network.GatedConvolutions):
        sampled.positions = RandomPositions(inputs)
    return sampled.eval()


class RandomPositions(torch.nn.Module):
    """Gaussian position vectors of the scale of the word vectors, by position and seed, without a maximum position."""

    def __init__(self, inputs: EncoderInputs) -> None:
        super().__init__()
        self._seed = inputs.options.seed
        self._words = inputs.words

    def forward(self, time: int) -> torch.Tensor:
        """Return the vectors of the first positions, (time, dim)."""
        keys = (int(digest("position", self._seed, place), 16) for place in range(time))
        generators = (np.random.default_rng(key) for key in keys)
        rows = [g.standard_normal(self._words.dim, dtype=np.float32) for g in generators]
        return torch.from_numpy(np.stack(rows) * np.float32(self._words.scale))


def build_untrained(spec: Spec, *, seed: int) -> UntrainedEncoder:
    """Return the encoder of a spec such as ``bilstm-max:FILE``. Raises UsageError or EncoderError."""
    options = read_options(spec, UntrainedOptions(seed=Natural(seed)))
    words = read_or_sample_word_vectors(spec.argument, seed=options.seed, dim=options.dim)
    return UntrainedEncoder(EncoderInputs(spec.name, words, options), kind=spec.kind)
