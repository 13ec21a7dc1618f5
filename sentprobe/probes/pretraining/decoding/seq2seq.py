"""Sentence model with decoders: the learner of all objectives that generate text."""

from collections.abc import Sequence

import torch
from torch import nn

from sentprobe.errors import FormatError
from sentprobe.probes.encoders.trained.sentence_model import SentenceModel
from sentprobe.probes.pretraining.decoding.decoder import VectorDecoder
from sentprobe.probes.pretraining.decoding.subwords import Subwords
from sentprobe.probes.pretraining.decoding.text_batches import LENGTHS, SOURCES, format_target_name
from sentprobe.probes.pretraining.objective import Batch, Learner


class Seq2Seq(Learner):
    """A sentence model, and decoders that each generate a text from its vector."""

    def __init__(self, encoder: SentenceModel, decoders: Sequence[VectorDecoder], subwords: Subwords) -> None:
        super().__init__(encoder)
        self.decoders = nn.ModuleList(decoders)
        self.subwords = subwords

    def get_extra_state(self) -> torch.Tensor:
        """Return the codes as JSON bytes, which PyTorch stores beside the decoders' weights."""
        return torch.frombuffer(bytearray(self.subwords.to_json().encode()), dtype=torch.uint8)

    def set_extra_state(self, state: torch.Tensor) -> None:
        """Check that weights were learned with the same codes."""
        if not torch.equal(state.cpu(), self.get_extra_state()):
            raise FormatError("the decoder's weights were learned with other codes")

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the mean loss over the target codes of all decoders, in nats."""
        vectors = self.encode_sources(batch)
        losses = [
            decoder(vectors, batch.tensors[format_target_name(number)]) for number, decoder in enumerate(self.decoders)
        ]
        return torch.stack(losses).sum() / batch.targets

    def encode_sources(self, batch: Batch) -> torch.Tensor:
        """Return the sentence vectors, (b, dim)."""
        vectors: torch.Tensor = self.encoder(batch.tensors[SOURCES], batch.tensors[LENGTHS])
        return vectors

    @torch.no_grad()
    def generate(self, batch: Batch, *, max_length: int) -> torch.Tensor:
        """Return the codes that the first decoder generates, (b, time)."""
        first_decoder = self.decoders[0]
        assert isinstance(first_decoder, VectorDecoder)
        return first_decoder.generate(self.encode_sources(batch), max_length=max_length)
