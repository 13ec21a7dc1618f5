"""GRUs (Cho et al. 2014), as Skip-Thought has them (Kiros et al. 2015, section 2.1).

There, ``uni-skip`` is one of 2,400 units, and ``bi-skip`` two of 1,200 each; their last states are
the vector. PyTorch's cells multiply the state by the recurrent weights before the reset gate, those
of the paper after it.
"""

from torch import nn

from sentprobe.probes.encoders.networks.recurrent import Recurrent


class GruUni(Recurrent):
    """``gru-uni``: the last state of one GRU."""

    cells, gates, directions = nn.GRU, 3, 1


class GruBi(Recurrent):
    """``gru-bi``: the last state of each direction, side by side."""

    cells, gates, directions = nn.GRU, 3, 2
