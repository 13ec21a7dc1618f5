"""What a network is, and how what follows the end of a sentence is kept out of its vector."""

from abc import ABC, abstractmethod

import torch
from torch import nn

from sentprobe.probes.encoders.networks.architecture import Architecture


class Network(nn.Module, ABC):
    """Word vectors -> one vector a sentence.

    It is made without weights (on the device ``meta``), which :meth:`draw` or a file then gives it.
    """

    dim: int
    """Width of a sentence's vector."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = architecture

    @staticmethod
    @abstractmethod
    def count(architecture: Architecture) -> int:
        """Return how many weights a network of these sizes has, without making any."""

    @abstractmethod
    def draw(self, generator: torch.Generator) -> None:
        """Give all weights their first values, which depend on the generator alone."""

    @abstractmethod
    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the sentence vectors, (b, dim).

        - vectors: (b, time, inputs); what is beyond the end of a sentence changes nothing
        - lengths: (b,) int64 on the CPU, each from 1 to time
        """


def words_mask(vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor | None:
    """Return which places are words, (b, time, 1) bool; None: all are."""
    time = vectors.shape[1]
    if bool((lengths == time).all()):
        return None
    places = torch.arange(time, device=vectors.device)
    return (places < lengths.to(vectors.device)[:, None])[:, :, None]


def backwards(vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return each sentence from its last word to its first, (b, time, n); padding stays behind.

    It is its own inverse.
    """
    time = vectors.shape[1]
    if bool((lengths == time).all()):
        return vectors.flip(1)
    places, ends = torch.arange(time), lengths[:, None]
    turned = torch.where(places < ends, ends - 1 - places, places).to(vectors.device)  # (b, time)
    return vectors.gather(1, turned[:, :, None].expand_as(vectors))


def greatest(states: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return the maximum over the words of each sentence, (b, n), of states (b, time, n)."""
    mask = words_mask(states, lengths)
    kept = states if mask is None else states.masked_fill(~mask, -torch.inf)
    return kept.amax(dim=1)
