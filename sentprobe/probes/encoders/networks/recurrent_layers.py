"""Recurrent networks that read sentences of different lengths in one or both directions.

LSTMs (Hochreiter & Schmidhuber 1997) are as in Adi et al. 2017 and Conneau et al. 2018, GRUs (Cho et al. 2014) as in
Skip-Thought (Kiros et al. 2015, section 2.1): ``uni-skip`` is one GRU of 2,400 units, ``bi-skip`` two of 1,200 each.
PyTorch applies the reset gate after the recurrent weights; the paper applies it before them.
"""

import math
from collections.abc import Callable
from typing import ClassVar, TypeAlias

import torch
from torch import nn

from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.networks.padded_batch import Network, max_over_time, reverse_sentences

CellMaker: TypeAlias = Callable[..., nn.RNNBase]
"""``nn.LSTM`` or ``nn.GRU``."""


class RecurrentLayer(nn.Module):
    """A recurrent layer with forward cells and, for two directions, backward cells.

    Backward cells read each reversed sentence before its padding. PyTorch's packed sequences give the same result and
    take 1.6 times as long on a CPU.
    """

    def __init__(self, cells: CellMaker, inputs: int, hidden: int, *, directions: int) -> None:
        super().__init__()
        # Files of weights have these names.
        self.forth = cells(inputs, hidden, batch_first=True)
        self.back = cells(inputs, hidden, batch_first=True) if directions == 2 else None

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the state of each direction at each word, (b, time, directions * hidden)."""
        forth: torch.Tensor = self.forth(vectors)[0]
        if self.back is None:
            return forth
        back: torch.Tensor = self.back(reverse_sentences(vectors, lengths))[0]
        return torch.cat((forth, reverse_sentences(back, lengths)), dim=2)


class Recurrent(Network):
    """Stacked recurrent layers; the last states are the sentence vector.

    Weights have PyTorch's default initialization, uniform in +-1/sqrt(hidden).
    """

    cells: ClassVar[CellMaker]
    gates: ClassVar[int]
    """Number of gates: each weight matrix has as many rows per unit."""
    directions: ClassVar[int]

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.hidden = architecture.hidden
        self.dim = self.directions * self.hidden
        widths = (architecture.inputs, *(self.dim for _ in range(architecture.layers - 1)))
        self.layers = nn.ModuleList(
            RecurrentLayer(self.cells, width, self.hidden, directions=self.directions) for width in widths
        )

    @classmethod
    def count_weights(cls, architecture: Architecture) -> int:
        """Return the number of weights, biases included."""
        hidden, layers = architecture.hidden, architecture.layers
        below = architecture.inputs + (layers - 1) * cls.directions * hidden
        return cls.gates * cls.directions * hidden * (below + layers * (hidden + 2))

    def sample_weights(self, generator: torch.Generator) -> None:
        """Sample the initial weights."""
        bound = 1 / math.sqrt(self.hidden)
        for weight in self.parameters():
            nn.init.uniform_(weight, -bound, bound, generator=generator)

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the last states of all directions, concatenated, (b, dim)."""
        return self.select_last_states(self.compute_states(vectors, lengths), lengths)

    def compute_states(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the states of the last layer, (b, time, dim)."""
        for layer in self.layers:
            vectors = layer(vectors, lengths)
        return vectors

    def select_last_states(self, states: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the final state of each direction, (b, dim).

        The final forward state is at the last word, the final backward state at the first.
        """
        rows = torch.arange(len(states), device=states.device)
        forth = states[rows, lengths.to(states.device) - 1, : self.hidden]
        return torch.cat((forth, states[:, 0, self.hidden :]), dim=1)


class Lstm(Recurrent):
    """``lstm``: the last state of one LSTM (Adi et al. 2017, section 4)."""

    cells, gates, directions = nn.LSTM, 4, 1


class BilstmLast(Recurrent):
    """``bilstm-last``: the last state of each direction (Conneau et al. 2018, section 3)."""

    cells, gates, directions = nn.LSTM, 4, 2


class BilstmMax(Recurrent):
    """``bilstm-max``: the maximum over time of the states (Conneau et al. 2018, section 3)."""

    cells, gates, directions = nn.LSTM, 4, 2

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the maximum of each dimension over the words, (b, 2 * hidden)."""
        return max_over_time(self.compute_states(vectors, lengths), lengths)


class GruUni(Recurrent):
    """``gru-uni``: the last state of one GRU."""

    cells, gates, directions = nn.GRU, 3, 1


class GruBi(Recurrent):
    """``gru-bi``: the last states of both directions, concatenated."""

    cells, gates, directions = nn.GRU, 3, 2
