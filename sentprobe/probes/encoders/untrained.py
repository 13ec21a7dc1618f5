"""The untrained encoders (Conneau et al. 2018, section 3): recurrent, and gated convolutions."""

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from sentprobe.errors import UsageError
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
    layers: int = 1
    """Layers, each over the states of the one before."""
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


def read_inputs(spec: Spec, *, seed: int, layers: int = 1) -> WordInputs:
    """Return the word vectors, of a file or random, and the options of a spec.

    *layers* is how many there are when the spec does not say.

    Raises:
        UsageError: an option, or its value, is not known.
        EncoderError: the file cannot be read.
    """
    default = UntrainedOptions(seed=Natural(seed), layers=layers)
    options = read_options(spec, default)
    words = word_vectors(spec.argument, seed=options.seed, dim=options.dim)
    return WordInputs(spec.name, words, options)


class Untrained(ABC):
    """An encoder with random weights over word vectors.

    Sentences of one length are encoded together, so there is no padding that could count.
    """

    def __init__(self, inputs: WordInputs, *, fingerprint: str, dim: int) -> None:
        self.name = inputs.name
        self.fingerprint = fingerprint
        self.dim = dim
        self.seed = inputs.options.seed
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


MOST_WEIGHTS = 1_000_000_000
"""An encoder with more, 4 GB of them, is more likely a mistake."""


def _check_weights(inputs: WordInputs, count: int) -> None:
    if count > MOST_WEIGHTS:
        options = inputs.options
        raise UsageError(
            f"encoder {inputs.name}: {options.hidden} units in {options.layers} layers have "
            f"{count:.1e} weights; at most {MOST_WEIGHTS:,} are made"
        )


CONVOLUTIONS = 8
"""Layers of the gated convolutions, where nothing else is asked for."""

KERNEL = 3


@dataclass(frozen=True, slots=True)
class _Weights:
    """The random weights; the biases of all layers are zero, and so not there."""

    projection: torch.Tensor  # (hidden, dim)
    convolutions: tuple[torch.Tensor, ...]  # each (2 * hidden, hidden, KERNEL)


class GatedConv(Untrained):
    """Gated convolutions with random weights over word vectors with positional encodings.

    Conneau et al. 2018, section 3: word vectors plus positional encodings, 8 gated convolutions of
    512 units and kernel 3, the maximum over time of the last. The rest is that of the encoder they
    refer to, Gehring et al. 2017: a vector for each position that is added to the word's (section
    3.1), a linear map to 512 before the first convolution, gated linear units, residual
    connections (3.2) times sqrt(0.5) (3.4), Gaussian weights of variance 4/n before a gate and 1/n
    elsewhere, for n inputs, and zero biases (3.5).

    The vector of a position is Gaussian, and as large as the word vectors are on average.
    """

    def __init__(self, inputs: WordInputs) -> None:
        options, words = inputs.options, inputs.words
        hidden, layers, seed = options.hidden, options.layers, options.seed
        _check_weights(inputs, hidden * (words.dim + layers * 2 * hidden * KERNEL))
        made_of = ("gated-conv", words.fingerprint, hidden, layers, KERNEL, seed)
        super().__init__(inputs, fingerprint=digest(*made_of), dim=hidden)
        self._weights = _random_weights(words.dim, hidden, layers=layers, seed=seed)
        self._seed = seed

    def _forward(self, vectors: torch.Tensor) -> torch.Tensor:
        positions = torch.from_numpy(self._position_vectors(vectors.shape[1]))  # (time, dim)
        inputs = functional.linear(vectors + positions, self._weights.projection)
        state = inputs.transpose(1, 2)  # (b, hidden, time)
        for weight in self._weights.convolutions:
            gated = functional.glu(functional.conv1d(state, weight, padding=KERNEL // 2), dim=1)
            state = (state + gated) * math.sqrt(0.5)  # (b, hidden, time)
        return torch.amax(state, dim=2)  # (b, hidden)

    def _position_vectors(self, time: int) -> Vectors:
        """Return the positional encodings, (time, dim) float32."""
        generators = (np.random.default_rng(_key(self._seed, place)) for place in range(time))
        rows = [g.standard_normal(self._words.dim, dtype=np.float32) for g in generators]
        return np.stack(rows) * np.float32(self._words.scale)


def _key(seed: int, place: int) -> int:
    return int(digest("position", seed, place), 16)


def build_gated_conv(spec: Spec, *, seed: int) -> GatedConv:
    """Return the encoder of a spec ``gated-conv``, with a file or without."""
    return GatedConv(read_inputs(spec, seed=seed, layers=CONVOLUTIONS))


def _random_weights(dim: int, hidden: int, *, layers: int, seed: int) -> _Weights:
    generator = torch.Generator().manual_seed(seed)

    def gaussian(*shape: int, variance: float) -> torch.Tensor:
        return torch.empty(shape).normal_(0, math.sqrt(variance), generator=generator)

    projection = gaussian(hidden, dim, variance=1 / dim)
    inputs = KERNEL * hidden
    convolutions = (
        gaussian(2 * hidden, hidden, KERNEL, variance=4 / inputs) for _ in range(layers)
    )
    return _Weights(projection, tuple(convolutions))


class StatePooling(StrEnum):
    """How the states of a BiLSTM become one vector; the value is the encoder's kind."""

    LAST = "bilstm-last"
    MAX = "bilstm-max"


class Bilstm(Untrained):
    """BiLSTM with random weights over word vectors.

    Conneau et al. 2018, section 3: 512 units a direction. ``bilstm-last`` puts the last state of
    each direction side by side (after the last word forwards, after the first backwards), both of
    the last layer; ``bilstm-max`` takes the maximum over time of the states. The weights are
    PyTorch's default, uniform in +-1/sqrt(hidden), which InferSent (Conneau et al. 2017) did not
    change either.
    """

    def __init__(self, inputs: WordInputs, *, pooling: StatePooling) -> None:
        options, words = inputs.options, inputs.words
        units = 4 * 2 * options.hidden
        below = words.dim + (options.layers - 1) * 2 * options.hidden
        _check_weights(inputs, units * (below + options.layers * options.hidden))
        # One layer has the digest that it had before there could be more.
        deeper = () if options.layers == 1 else (f"{options.layers} layers",)
        made_of = (pooling, words.fingerprint, options.hidden, options.seed, *deeper)
        super().__init__(inputs, fingerprint=digest(*made_of), dim=2 * options.hidden)
        self._pooling = pooling
        self._lstm = _random_lstm(words.dim, options)

    def _forward(self, vectors: torch.Tensor) -> torch.Tensor:
        states, (last, _) = self._lstm(vectors)  # (b, time, 2 * hidden), (2 * layers, b, hidden)
        if self._pooling is StatePooling.LAST:
            return torch.cat((last[-2], last[-1]), dim=1)  # (b, 2 * hidden)
        return torch.amax(states, dim=1)  # (b, 2 * hidden)


def build_bilstm(spec: Spec, *, seed: int) -> Bilstm:
    """Return the encoder of a spec ``bilstm-last`` or ``bilstm-max``, with a file or without."""
    return Bilstm(read_inputs(spec, seed=seed), pooling=StatePooling(spec.kind))


def _random_lstm(dim: int, options: UntrainedOptions) -> nn.LSTM:
    hidden, layers = options.hidden, options.layers
    generator = torch.Generator().manual_seed(options.seed)
    bound = 1 / math.sqrt(hidden)
    with torch.device("meta"):  # without weights, so that no global generator is touched
        lstm = nn.LSTM(dim, hidden, layers, bidirectional=True, batch_first=True)
    lstm = lstm.to_empty(device="cpu")
    with torch.no_grad():
        for weight in lstm.parameters():
            weight.uniform_(-bound, bound, generator=generator)
    return lstm.eval()
