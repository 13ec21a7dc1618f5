"""What the published encoders share: sentences go through a recurrent network without padding."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch.nn.utils import rnn

from sentprobe.probes.encoders import models
from sentprobe.probes.encoders.protocol import Vectors
from sentprobe.probes.encoders.published import numbered_words, sentence_words
from sentprobe.probes.encoders.word_vectors import WordVectors

Recurrent = TypeVar("Recurrent", torch.nn.LSTM, torch.nn.GRU)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedOptions:
    """Options of all published encoders."""

    words: sentence_words.WordDivision = sentence_words.WordDivision.OWN
    """How a sentence is divided into words: as the model's own code does, or at spaces."""
    batch: int = 64
    """Sentences that are encoded together, at most."""
    device: str = ""
    """A PyTorch device; empty: a GPU where there is one."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Published(ABC):
    """An encoder with weights of others.

    Sentences are packed, so there is no padding that could count.
    """

    name: str
    fingerprint: str
    words: WordVectors | numbered_words.NumberedWords
    batch: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of unknown words."""
        return self.words.notes

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32."""
        starts = range(0, len(sentences), self.batch)
        with torch.inference_mode():
            parts = [self._forward(sentences[start : start + self.batch]) for start in starts]
            vectors: Vectors = torch.cat(parts).cpu().numpy()
        return vectors

    def word_vectors(self, texts: Sequence[str]) -> Vectors:
        """Return the word vectors of texts, (n, width) float32; 0 where there is none."""
        return self.inputs.of_words(texts)

    def truncated(self, sentences: Sequence[str]) -> int:  # noqa: ARG002
        """Return 0: all of a sentence is read."""
        return 0

    @property
    @abstractmethod
    def inputs(self) -> WordVectors:
        """The vectors by which it reads words."""

    @abstractmethod
    def _forward(self, sentences: Sequence[str]) -> torch.Tensor:
        """Return the vectors of the sentences, (n, dim)."""


def pack(matrices: Sequence[Vectors], network: torch.nn.LSTM | torch.nn.GRU) -> rnn.PackedSequence:
    """Return matrices (words, dim) of any numbers of words for a network, unpadded."""
    device = next(network.parameters()).device
    arrays = (np.asarray(matrix, dtype=np.float32) for matrix in matrices)
    tensors = [torch.from_numpy(array).to(device) for array in arrays]
    return rnn.pack_sequence(tensors, enforce_sorted=False)


def unpack(packed: rnn.PackedSequence, *, filled: float) -> torch.Tensor:
    """Return states (time, n, units); behind the words of a sentence is what is *filled* in."""
    states, _ = rnn.pad_packed_sequence(packed, padding_value=filled)
    return states


def last_states(gru: torch.nn.GRU, matrices: Sequence[Vectors]) -> torch.Tensor:
    """Return the last state of each direction, side by side: (n, units) or (n, 2 * units).

    The last one backwards is that after the first word.
    """
    _, last = gru(pack(matrices, gru))  # (directions, n, units)
    return torch.cat(tuple(last), dim=1)


def with_weights(network: Recurrent, weights: dict[str, torch.Tensor], *, device: str) -> Recurrent:
    """Return a network that was made without weights, with these, on a device."""
    network = network.to_empty(device="cpu")
    network.load_state_dict(weights)
    placed: Recurrent = models.place(
        network,
        device=device or models.usual_device(),
        precision=models.ModelPrecision.FLOAT32,
    )
    return placed
