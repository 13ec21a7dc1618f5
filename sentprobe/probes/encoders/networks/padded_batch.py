"""The base class of networks, and functions that ignore the padding of a batch."""

from abc import ABC, abstractmethod

import torch
from torch import nn

from sentprobe.probes.encoders.networks.architecture import Architecture


class Network(nn.Module, ABC):
    """Computes a sentence vector from word vectors.

    A network is created without weights (on the device ``meta``); :meth:`sample_weights` or a file sets the weights.
    """

    dim: int
    """Width of a sentence's vector."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = architecture

    @staticmethod
    @abstractmethod
    def count_weights(architecture: Architecture) -> int:
        """Return the number of weights of a network of these sizes."""

    @abstractmethod
    def sample_weights(self, generator: torch.Generator) -> None:
        """Sample the initial weights, which depend on the generator alone."""

    @abstractmethod
    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the sentence vectors, (b, dim).

        - vectors: (b, time, inputs); padding does not change the result
        - lengths: (b,) int64 on the CPU, each from 1 to time
        """


def make_word_mask(vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor | None:
    """Return a mask of the words, (b, time, 1) bool; None: there is no padding."""
    time = vectors.shape[1]
    if bool((lengths == time).all()):
        return None
    places = torch.arange(time, device=vectors.device)
    return (places < lengths.to(vectors.device)[:, None])[:, :, None]


def reverse_sentences(vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return each sentence reversed, (b, time, n), with its padding still at the end.

    Applied twice, it returns its input.
    """
    time = vectors.shape[1]
    if bool((lengths == time).all()):
        return vectors.flip(1)
    places, ends = torch.arange(time), lengths[:, None]
    reversed_places = torch.where(places < ends, ends - 1 - places, places).to(vectors.device)  # (b, time)
    return vectors.gather(1, reversed_places[:, :, None].expand_as(vectors))


def max_over_time(states: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return the maximum over the words of each sentence, (b, n), of states (b, time, n)."""
    mask = make_word_mask(states, lengths)
    masked = states if mask is None else states.masked_fill(~mask, -torch.inf)
    return masked.amax(dim=1)
