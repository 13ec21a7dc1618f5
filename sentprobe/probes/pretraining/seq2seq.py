"""A sentence model with decoders on top: what learns all objectives that say a text."""

from collections.abc import Sequence

import torch
from torch import nn

from sentprobe.errors import FormatError
from sentprobe.probes.encoders.sentence_model import SentenceModel
from sentprobe.probes.pretraining.batches import LENGTHS, SOURCES, target_name
from sentprobe.probes.pretraining.decoder import VectorDecoder
from sentprobe.probes.pretraining.objective import Batch, Learner
from sentprobe.probes.pretraining.subwords import Subwords


class Seq2Seq(Learner):
    """A sentence's vector, and decoders that each say a text of it."""

    def __init__(
        self, encoder: SentenceModel, decoders: Sequence[VectorDecoder], subwords: Subwords
    ) -> None:
        super().__init__(encoder)
        self.decoders = nn.ModuleList(decoders)
        self.subwords = subwords

    def get_extra_state(self) -> torch.Tensor:
        """Return the codes as JSON, in bytes: PyTorch puts them beside the decoders' weights."""
        return torch.frombuffer(bytearray(self.subwords.to_json().encode()), dtype=torch.uint8)

    def set_extra_state(self, state: torch.Tensor) -> None:
        """Refuse weights that were learned with other codes.

        Raises:
            FormatError: they were.
        """
        if not torch.equal(state.cpu(), self.get_extra_state()):
            raise FormatError("the weights of the decoder are of other codes than its texts have")

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
