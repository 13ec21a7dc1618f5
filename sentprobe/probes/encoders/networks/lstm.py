"""LSTMs (Hochreiter & Schmidhuber 1997), as Adi et al. 2017 and Conneau et al. 2018 have them."""

import torch
from torch import nn

from sentprobe.probes.encoders.networks.recurrent import Recurrent
from sentprobe.probes.encoders.networks.sequences import greatest


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
        """Return the greatest of each number over the words, (b, 2 * hidden)."""
        return greatest(self.states(vectors, lengths), lengths)
