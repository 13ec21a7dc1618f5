"""Recurrent layers that read sentences of several lengths in one direction or in both."""

import math
from collections.abc import Callable
from typing import ClassVar, TypeAlias

import torch
from torch import nn

from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.networks.sequences import Network, backwards

CellMaker: TypeAlias = Callable[..., nn.RNNBase]
"""``nn.LSTM`` or ``nn.GRU``."""


class RecurrentLayer(nn.Module):
    """Cells that read forwards and, in *directions* 2, others that read backwards.

    The backward ones are given each sentence turned round, so that no state has seen padding before
    it. PyTorch's packed sequences do the same, and take 1.6 times as long on a processor.
    """

    def __init__(self, cells: CellMaker, inputs: int, hidden: int, *, directions: int) -> None:
        super().__init__()
        self.forth = cells(inputs, hidden, batch_first=True)
        self.back = cells(inputs, hidden, batch_first=True) if directions == 2 else None

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the state of each direction at each word, (b, time, directions * hidden)."""
        forth: torch.Tensor = self.forth(vectors)[0]
        if self.back is None:
            return forth
        back: torch.Tensor = self.back(backwards(vectors, lengths))[0]
        return torch.cat((forth, backwards(back, lengths)), dim=2)


class Recurrent(Network):
    """Layers of cells, each over the states of the one before; the last states are the vector.

    The weights are PyTorch's default, uniform in +-1/sqrt(hidden).
    """

    cells: ClassVar[CellMaker]
    gates: ClassVar[int]
    """Rows of each weight matrix, for each unit."""
    directions: ClassVar[int]

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.hidden = architecture.hidden
        self.dim = self.directions * self.hidden
        widths = (architecture.inputs, *(self.dim for _ in range(architecture.layers - 1)))
        self.layers = nn.ModuleList(
            RecurrentLayer(self.cells, width, self.hidden, directions=self.directions)
            for width in widths
        )

    @classmethod
    def count(cls, architecture: Architecture) -> int:
        """Return how many weights a network of these sizes has, biases counted."""
        hidden, layers = architecture.hidden, architecture.layers
        below = architecture.inputs + (layers - 1) * cls.directions * hidden
        return cls.gates * cls.directions * hidden * (below + layers * (hidden + 2))

    def draw(self, generator: torch.Generator) -> None:
        """Give all weights their first values."""
        bound = 1 / math.sqrt(self.hidden)
        for weight in self.parameters():
            nn.init.uniform_(weight, -bound, bound, generator=generator)

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the last states of each direction, side by side, (b, dim)."""
        return self.last(self.states(vectors, lengths), lengths)

    def states(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the last layer's states, (b, time, dim)."""
        for layer in self.layers:
            vectors = layer(vectors, lengths)
        return vectors

    def last(self, states: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return what each direction knows at its end, (b, dim).

        That is after the last word forwards, and after the first word backwards.
        """
        rows = torch.arange(len(states), device=states.device)
        forth = states[rows, lengths.to(states.device) - 1, : self.hidden]
        return torch.cat((forth, states[:, 0, self.hidden :]), dim=1)
