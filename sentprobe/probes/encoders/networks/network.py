"""The table of networks, and how one is made with weights that a generator decides."""

from collections.abc import Mapping

import torch

from sentprobe.probes.encoders.networks import average, convolutions, gru, lstm
from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.networks.sequences import Network

__all__ = ["MOST_WEIGHTS", "NETWORKS", "Architecture", "Network", "bare_network", "make_network"]

MOST_WEIGHTS = 1_000_000_000
"""What has more, 4 GB of them, is more likely a mistake."""

NETWORKS: Mapping[str, type[Network]] = {
    "lstm": lstm.Lstm,
    "bilstm-last": lstm.BilstmLast,
    "bilstm-max": lstm.BilstmMax,
    "gated-conv": convolutions.GatedConvolutions,
    "gru-uni": gru.GruUni,
    "gru-bi": gru.GruBi,
    "cbow": average.Average,
}
"""The networks by kind of architecture; one is made of an :class:`Architecture`."""


def make_network(architecture: Architecture, *, generator: torch.Generator) -> Network:
    """Return a network on the processor; its weights depend on the generator alone."""
    with torch.device("meta"):  # without weights, so that no global generator is touched
        network = bare_network(architecture)
    network = network.to_empty(device="cpu")
    network.draw(generator)
    return network


def bare_network(architecture: Architecture) -> Network:
    """Return a network with whatever weights PyTorch gives it."""
    return NETWORKS[architecture.kind](architecture)
