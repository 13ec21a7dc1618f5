"""Gated convolutions over words and their positions (Gehring et al. 2017)."""

import math

import torch
from torch import nn
from torch.nn import functional

from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.networks.sequences import Network, greatest, words_mask

KERNEL = 3

POSITIONS = 1024
"""Places that have a vector of their own; those beyond have the last one's."""

SPREAD = 0.1
"""Standard deviation of the vectors of positions before they have learned (section 3.5)."""


class LearnedPositions(nn.Module):
    """A vector for each place in a sentence."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(POSITIONS, inputs))

    def forward(self, time: int) -> torch.Tensor:
        """Return the vectors of the first places, (time, inputs)."""
        places = torch.arange(time, device=self.weight.device).clamp(max=POSITIONS - 1)
        return functional.embedding(places, self.weight)


class GatedConvolutions(Network):
    """``gated-conv`` (Conneau et al. 2018, section 3): 8 gated convolutions of 512 and kernel 3.

    The rest is that of the encoder they refer to, Gehring et al. 2017: a vector for each position
    that is added to the word's (section 3.1), a linear map to 512 before the first convolution,
    gated linear units, residual connections (3.2) times sqrt(0.5) (3.4); before training, Gaussian
    weights of variance 4/n before a gate and 1/n elsewhere, for n inputs, and zero biases (3.5).
    The vector is the maximum over time of the last. There are no weight normalisation and dropout.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        inputs, self.dim = architecture.inputs, architecture.hidden
        self.positions: nn.Module = LearnedPositions(inputs)
        self.projection = nn.Linear(inputs, self.dim)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(self.dim, 2 * self.dim, KERNEL, padding=KERNEL // 2)
            for _ in range(architecture.layers)
        )

    @staticmethod
    def count(architecture: Architecture) -> int:
        """Return how many weights a network of these sizes has, with learned positions."""
        inputs, hidden = architecture.inputs, architecture.hidden
        before = POSITIONS * inputs + hidden * (inputs + 1)
        return before + architecture.layers * 2 * hidden * (hidden * KERNEL + 1)

    def draw(self, generator: torch.Generator) -> None:
        """Give all weights their first values; those of the positions are the last to be drawn."""
        gaussian = nn.init.normal_
        width = self.projection.in_features
        gaussian(self.projection.weight, 0, math.sqrt(1 / width), generator=generator)
        for layer in self.convolutions:
            assert isinstance(layer, nn.Conv1d)
            gaussian(layer.weight, 0, math.sqrt(4 / (KERNEL * self.dim)), generator=generator)
        for name, bias in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(bias)
        if isinstance(self.positions, LearnedPositions):
            gaussian(self.positions.weight, 0, SPREAD, generator=generator)

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the greatest of each number over the words, (b, hidden).

        Before each convolution the places beyond the end are 0, as they are beyond the last place.
        """
        mask = words_mask(vectors, lengths)
        inputs = self.projection(vectors + self.positions(vectors.shape[1]))
        state = inputs.transpose(1, 2)  # (b, hidden, time)
        for layer in self.convolutions:
            state = state if mask is None else state.masked_fill(~mask.transpose(1, 2), 0)
            gated = functional.glu(layer(state), dim=1)
            state = (state + gated) * math.sqrt(0.5)  # (b, hidden, time)
        return greatest(state.transpose(1, 2), lengths)
