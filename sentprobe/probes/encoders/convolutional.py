"""The untrained gated convolutional encoder (Conneau et al. 2018, section 3)."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from sentprobe.probes.encoders.protocol import Vectors, digest
from sentprobe.probes.encoders.specs import Spec
from sentprobe.probes.encoders.untrained import Inputs, Untrained, read_inputs

LAYERS = 8
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

    def __init__(self, inputs: Inputs) -> None:
        hidden, seed, words = inputs.options.hidden, inputs.options.seed, inputs.words
        made_of = ("gated-conv", words.fingerprint, hidden, LAYERS, KERNEL, seed)
        super().__init__(inputs, fingerprint=digest(*made_of), dim=hidden)
        self._weights = _random_weights(words.dim, hidden, seed=seed)
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
    return GatedConv(read_inputs(spec, seed=seed))


def _random_weights(dim: int, hidden: int, *, seed: int) -> _Weights:
    generator = torch.Generator().manual_seed(seed)

    def gaussian(*shape: int, variance: float) -> torch.Tensor:
        return torch.empty(shape).normal_(0, math.sqrt(variance), generator=generator)

    projection = gaussian(hidden, dim, variance=1 / dim)
    inputs = KERNEL * hidden
    convolutions = (
        gaussian(2 * hidden, hidden, KERNEL, variance=4 / inputs) for _ in range(LAYERS)
    )
    return _Weights(projection, tuple(convolutions))
