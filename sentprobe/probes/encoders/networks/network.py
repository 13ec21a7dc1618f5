"""The table of networks, the average of word vectors, and functions that build networks."""

from collections.abc import Mapping

import torch

from sentprobe.probes.encoders.networks import convolutions, recurrent_layers
from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.networks.padded_batch import Network, make_word_mask

__all__ = ["MAX_WEIGHTS", "NETWORKS", "Architecture", "Network", "make_network", "make_uninitialized_network"]

MAX_WEIGHTS = 1_000_000_000
"""The most weights that a network may have (4 GB)."""


class Average(Network):
    """``cbow``: the average of the word vectors (Adi et al. 2017, section 4)."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.dim = architecture.inputs

    @staticmethod
    def count_weights(architecture: Architecture) -> int:  # noqa: ARG004
        """Return 0: only word vectors are learned."""
        return 0

    def sample_weights(self, generator: torch.Generator) -> None:
        """Do nothing, since there are no weights."""

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the averages over the words, (b, inputs)."""
        mask = make_word_mask(vectors, lengths)
        masked = vectors if mask is None else vectors.masked_fill(~mask, 0)
        return masked.sum(dim=1) / lengths.to(vectors.device)[:, None]


NETWORKS: Mapping[str, type[Network]] = {
    "lstm": recurrent_layers.Lstm,
    "bilstm-last": recurrent_layers.BilstmLast,
    "bilstm-max": recurrent_layers.BilstmMax,
    "gated-conv": convolutions.GatedConvolutions,
    "gru-uni": recurrent_layers.GruUni,
    "gru-bi": recurrent_layers.GruBi,
    "cbow": Average,
}
"""The network class of each architecture."""


def make_network(architecture: Architecture, *, generator: torch.Generator) -> Network:
    """Return a network on the CPU; its weights depend on the generator alone."""
    with torch.device("meta"):  # without weights, so that no global generator is touched
        network = make_uninitialized_network(architecture)
    weights = {name: torch.empty(weight.shape) for name, weight in network.state_dict().items()}
    network.load_state_dict(weights, assign=True)  # to_empty would import SymPy
    network.sample_weights(generator)
    return network


def make_uninitialized_network(architecture: Architecture) -> Network:
    """Return a network with PyTorch's default initialization."""
    return NETWORKS[architecture.kind](architecture)
