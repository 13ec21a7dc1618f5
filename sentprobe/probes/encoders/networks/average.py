"""The average of word vectors, which has no weights of its own."""

import torch

from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.encoders.networks.sequences import Network, words_mask


class Average(Network):
    """``cbow``: the average of the word vectors (Adi et al. 2017, section 4)."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.dim = architecture.inputs

    @staticmethod
    def count(architecture: Architecture) -> int:  # noqa: ARG004
        """Return 0: what it learns are the word vectors."""
        return 0

    def draw(self, generator: torch.Generator) -> None:
        """Draw nothing."""

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the averages over the words, (b, inputs)."""
        mask = words_mask(vectors, lengths)
        kept = vectors if mask is None else vectors.masked_fill(~mask, 0)
        return kept.sum(dim=1) / lengths.to(vectors.device)[:, None]
