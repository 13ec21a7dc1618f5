"""A sentence model with decoders on top: what learns all objectives that say a text."""

from collections.abc import Sequence

import torch
from torch import nn

from sentprobe.probes.encoders.sentence_model import SentenceModel
from sentprobe.probes.pretraining.batches import LENGTHS, SOURCES, target_name
from sentprobe.probes.pretraining.decoder import VectorDecoder
from sentprobe.probes.pretraining.objective import Batch, Learner


class Seq2Seq(Learner):
    """A sentence's vector, and decoders that each say a text of it."""

    def __init__(self, encoder: SentenceModel, decoders: Sequence[VectorDecoder]) -> None:
        super().__init__(encoder)
        self.decoders = nn.ModuleList(decoders)

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the mean over the codes that all decoders are to say, in nats."""
        vectors = self.vectors(batch)
        each = [
            decoder(vectors, batch.tensors[target_name(number)])
            for number, decoder in enumerate(self.decoders)
        ]
        return torch.stack(each).sum() / batch.targets

    def vectors(self, batch: Batch) -> torch.Tensor:
        """Return the sentences' vectors, (b, dim)."""
        found: torch.Tensor = self.encoder(batch.tensors[SOURCES], batch.tensors[LENGTHS])
        return found

    @torch.no_grad()
    def say(self, batch: Batch, *, longest: int) -> torch.Tensor:
        """Return what the first decoder says, (b, time) codes."""
        first = self.decoders[0]
        assert isinstance(first, VectorDecoder)
        return first.say(self.vectors(batch), longest=longest)
