"""The untrained encoders (Conneau et al. 2018, section 3): the networks with random weights."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.networks import convolutions, network
from sentprobe.probes.encoders.protocol import Vectors, digest
from sentprobe.probes.encoders.word_files import word_vectors
from sentprobe.probes.encoders.word_vectors import WordVectors
from sentprobe.specs import Natural, Spec, read_options


@dataclass(frozen=True, slots=True, kw_only=True)
class UntrainedOptions:
    """Options of the untrained encoders; the sizes are those of Conneau et al. 2018, section 3."""

    dim: int = 300
    """Width of the random word vectors; a file has its own."""
    hidden: int = 512
    """Units: of each direction, or of each convolution."""
    layers: int = 0
    """Layers, each over the states of the one before; 0: as many as are usual."""
    batch: int = 256
    """Sentences that are encoded together, at most."""
    seed: Natural
    """Seed of the weights and of random word vectors; when it is not given, the run's."""


@dataclass(frozen=True, slots=True)
class WordInputs:
    """What an untrained encoder is made of, as its spec says."""

    name: str
    words: WordVectors
    options: UntrainedOptions


def read_inputs(spec: Spec, *, seed: int) -> WordInputs:
    """Return the word vectors, of a file or random, and the options of a spec.

    Raises:
        UsageError: an option, or its value, is not known.
        EncoderError: the file cannot be read.
    """
    default = UntrainedOptions(seed=Natural(seed))
    options = read_options(spec, default)
    words = word_vectors(spec.argument, seed=options.seed, dim=options.dim)
    return WordInputs(spec.name, words, options)


class Untrained:
    """A network with random weights over word vectors.

    Sentences of one length are encoded together, so there is no padding that could count.
    """

    def __init__(self, inputs: WordInputs, *, kind: str) -> None:
        architecture = _architecture(inputs, kind)
        self.name = inputs.name
        self.fingerprint = _fingerprint(inputs, architecture)
        self.seed = inputs.options.seed
        self.network = _network(inputs, architecture)
        self.dim = self.network.dim
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
        for rows in batches_of_one_length([len(each) for each in matrices], size=self._batch):
            stacked = torch.from_numpy(np.stack([matrices[row] for row in rows]))
            lengths = torch.full((len(rows),), stacked.shape[1])
            with torch.inference_mode():
                out[rows] = self.network(stacked, lengths).numpy()
        return out

    def word_vectors(self, texts: Sequence[str]) -> Vectors:
        """Return the word vectors of texts, (n, width) float32; 0 where there is none."""
        return self._words.of_words(texts)


def batches_of_one_length(lengths: Sequence[int], *, size: int) -> Iterator[list[int]]:
    """Yield the places of sentences of one length together, so many at a time at most."""
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for index, length in enumerate(lengths):
        by_length[length].append(index)
    for indices in by_length.values():
        yield from (indices[start : start + size] for start in range(0, len(indices), size))


def _architecture(inputs: WordInputs, kind: str) -> network.Architecture:
    options = inputs.options
    made = network.Architecture(
        kind=kind, hidden=options.hidden, layers=options.layers, inputs=inputs.words.dim
    )
    count = network.NETWORKS[kind].count(made)
    if count > network.MOST_WEIGHTS:
        raise UsageError(
            f"encoder {inputs.name}: {made.hidden} units in {made.layers} layers have "
            f"{count:.1e} weights; at most {network.MOST_WEIGHTS:,} are made"
        )
    return made


def _fingerprint(inputs: WordInputs, made: network.Architecture) -> str:
    words, seed = inputs.words.fingerprint, inputs.options.seed
    if made.kind == "gated-conv":
        return digest(made.kind, words, made.hidden, made.layers, convolutions.KERNEL, seed)
    # One layer has the digest that it had before there could be more.
    deeper = () if made.layers == 1 else (f"{made.layers} layers",)
    return digest(made.kind, words, made.hidden, seed, *deeper)


def _network(inputs: WordInputs, architecture: network.Architecture) -> network.Network:
    generator = torch.Generator().manual_seed(inputs.options.seed)
    made = network.make_network(architecture, generator=generator)
    if isinstance(made, convolutions.GatedConvolutions):
        made.positions = DrawnPositions(inputs)
    return made.eval()


class DrawnPositions(torch.nn.Module):
    """A random vector for each place, however far; it depends on the place and the seed alone.

    It is Gaussian, and as large as the word vectors are on average, whatever their file.
    """

    def __init__(self, inputs: WordInputs) -> None:
        super().__init__()
        self._seed = inputs.options.seed
        self._words = inputs.words

    def forward(self, time: int) -> torch.Tensor:
        """Return the vectors of the first places, (time, dim)."""
        keys = (int(digest("position", self._seed, place), 16) for place in range(time))
        generators = (np.random.default_rng(key) for key in keys)
        rows = [g.standard_normal(self._words.dim, dtype=np.float32) for g in generators]
        return torch.from_numpy(np.stack(rows) * np.float32(self._words.scale))


def build_untrained(spec: Spec, *, seed: int) -> Untrained:
    """Return the encoder of a spec such as ``bilstm-max``, with a file or without."""
    return Untrained(read_inputs(spec, seed=seed), kind=spec.kind)
