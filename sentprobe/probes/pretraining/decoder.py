"""A decoder: says a text, code by code, of a sentence's vector (Conneau et al. 2018, appendix)."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from sentprobe.probes.pretraining.subwords import END, PADDING, START


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderSize:
    """Sizes of a decoder; layers and units are those of "Further training details"."""

    codes: int
    vector: int
    """Width of the sentence's vector."""
    hidden: int = 512
    layers: int = 2
    inputs: int = 300
    """Width of the codes' vectors."""
    dropout: float = 0.0
    """The share of numbers left out: of codes' vectors, between layers, and of states."""


class VectorDecoder(nn.Module):
    """An LSTM over the codes said so far; the sentence's vector is put to it at every step."""

    def __init__(self, size: DecoderSize) -> None:
        super().__init__()
        self.codes = nn.Embedding(size.codes, size.inputs, padding_idx=PADDING)
        self.lstm = nn.LSTM(
            size.inputs + size.vector,
            size.hidden,
            size.layers,
            batch_first=True,
            dropout=size.dropout if size.layers > 1 else 0.0,
        )
        self.dropout = nn.Dropout(size.dropout)
        self.out = nn.Linear(size.hidden, size.codes)

    def forward(self, vectors: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return the loss summed over the codes that are asked for, in nats.

        *vectors* are (b, vector), *targets* (b, time) from START to END, filled up with PADDING.
        """
        states, _ = self._states(vectors, targets[:, :-1])  # (b, time - 1, hidden)
        asked = targets[:, 1:] != PADDING
        logits = self.out(self.dropout(states[asked]))  # (n, codes): none for padding
        return functional.cross_entropy(logits, targets[:, 1:][asked], reduction="sum")

    def _states(
        self,
        vectors: torch.Tensor,
        codes: torch.Tensor,
        before: tuple[torch.Tensor, torch.Tensor] | None = None,
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        said = self.dropout(self.codes(codes))  # (b, time, inputs)
        each = vectors.unsqueeze(1).expand(-1, said.shape[1], -1)
        found: tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]
        found = self.lstm(torch.cat([said, each], dim=2), before)
        return found

    @torch.no_grad()
    def say(self, vectors: torch.Tensor, *, longest: int) -> torch.Tensor:
        """Return the codes that are likeliest one by one, (b, time); after END, PADDING.

        There are at most *longest* of each, END among them.
        """
        last = torch.full((len(vectors), 1), START, device=vectors.device)
        ended = torch.zeros_like(last, dtype=torch.bool)
        before = None
        said: list[torch.Tensor] = []
        while len(said) < longest and not ended.all():
            states, before = self._states(vectors, last, before)
            last = self.out(states).argmax(dim=2).masked_fill(ended, PADDING)  # (b, 1)
            ended = ended | (last == END)
            said.append(last)
        return torch.cat(said, dim=1)


def make_decoder(size: DecoderSize, *, seed: int) -> VectorDecoder:
    """Return a decoder whose weights are drawn by *seed*, as PyTorch draws them."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return VectorDecoder(size)
