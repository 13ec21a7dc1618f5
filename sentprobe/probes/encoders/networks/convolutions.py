"""Gated convolutions over words and their positions (Gehring et al. 2017)."""

import math

import torch
from torch import nn
from torch.nn import functional

from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.networks.padded_batch import Network, make_word_mask, max_over_time

KERNEL_WIDTH = 3

MAX_POSITIONS = 1024
"""Number of positions with a vector of their own; later positions share the last vector."""

POSITION_STD = 0.1
"""Initial standard deviation of position vectors (section 3.5)."""


class LearnedPositions(nn.Module):
    """A learned vector for each position in a sentence."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(MAX_POSITIONS, inputs))

    def forward(self, time: int) -> torch.Tensor:
        """Return the vectors of the first positions, (time, inputs)."""
        places = torch.arange(time, device=self.weight.device).clamp(max=MAX_POSITIONS - 1)
        return functional.embedding(places, self.weight)


class GatedConvolutions(Network):
    """``gated-conv`` (Conneau et al. 2018, section 3): 8 gated convolutions, 512 units, kernel size 3.

    Other details follow Gehring et al. 2017: position vectors added to word vectors (section 3.1), a linear map to 512,
    gated linear units, residual connections (3.2) scaled by sqrt(0.5) (3.4). Initial weights are Gaussian with variance
    4/n before a gate and 1/n elsewhere, for n inputs, and biases are 0 (3.5). The sentence vector is the maximum over
    time. There is no weight normalization or dropout.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        inputs, self.dim = architecture.inputs, architecture.hidden
        self.positions: nn.Module = LearnedPositions(inputs)
        self.projection = nn.Linear(inputs, self.dim)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(self.dim, 2 * self.dim, KERNEL_WIDTH, padding=KERNEL_WIDTH // 2)
            for _ in range(architecture.layers)
        )

    @staticmethod
    def count_weights(architecture: Architecture) -> int:
        """Return the number of weights, learned positions included."""
        inputs, hidden = architecture.inputs, architecture.hidden
        before = MAX_POSITIONS * inputs + hidden * (inputs + 1)
        return before + architecture.layers * 2 * hidden * (hidden * KERNEL_WIDTH + 1)

    def sample_weights(self, generator: torch.Generator) -> None:
        """Sample the initial weights, position vectors last."""
        gaussian = nn.init.normal_
        width = self.projection.in_features
        gaussian(self.projection.weight, 0, math.sqrt(1 / width), generator=generator)
        for layer in self.convolutions:
            assert isinstance(layer, nn.Conv1d)
            gaussian(layer.weight, 0, math.sqrt(4 / (KERNEL_WIDTH * self.dim)), generator=generator)
        for name, bias in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(bias)
        if isinstance(self.positions, LearnedPositions):
            gaussian(self.positions.weight, 0, POSITION_STD, generator=generator)

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the maximum of each dimension over the words, (b, hidden).

        Positions after the end of a sentence are set to 0 before each convolution.
        """
        mask = make_word_mask(vectors, lengths)
        inputs = self.projection(vectors + self.positions(vectors.shape[1]))
        state = inputs.transpose(1, 2)  # (b, hidden, time)
        for layer in self.convolutions:
            state = state if mask is None else state.masked_fill(~mask.transpose(1, 2), 0)
            gated = functional.glu(layer(state), dim=1)
            state = (state + gated) * math.sqrt(0.5)  # (b, hidden, time)
        return max_over_time(state.transpose(1, 2), lengths)
