"""The base class of encoders with published weights; functions that load and run their recurrent networks."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from torch.nn.utils import rnn

from sentprobe.probes.encoders.files.word_vectors import WordVectors
from sentprobe.probes.encoders.models import model_loading
from sentprobe.probes.encoders.models.model_loading import count_none_truncated
from sentprobe.probes.encoders.protocol import Capabilities, Vectors
from sentprobe.probes.encoders.published import sentence_words, weight_files

Recurrent = TypeVar("Recurrent", torch.nn.LSTM, torch.nn.GRU)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedOptions:
    """Options that all encoders with published weights have."""

    words: sentence_words.Tokenization = sentence_words.Tokenization.OWN
    """The tokenizer: that of the published code, or splitting at spaces."""
    batch: int = 64
    device: str = ""
    """A PyTorch device, such as ``cuda:1``; empty: a GPU if there is one, else the CPU."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PublishedEncoder(ABC):
    """An encoder with published weights. Its network reads a batch of sentences of different lengths."""

    name: str
    fingerprint: str
    words: WordVectors | sentence_words.NumberedWords
    batch: int

    @property
    def capabilities(self) -> Capabilities:
        """The encoder's word vectors, a truncation counter that always returns 0, and notes on unknown words."""
        return Capabilities(
            notes=self.words.notes, count_truncated=count_none_truncated, word_vectors=self.inputs.average_words
        )

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32."""
        starts = range(0, len(sentences), self.batch)
        with torch.inference_mode():
            batches = [self._forward(sentences[start : start + self.batch]) for start in starts]
            vectors: Vectors = torch.cat(batches).cpu().numpy()
        return vectors

    @property
    @abstractmethod
    def inputs(self) -> WordVectors:
        """The word vectors that the network reads."""

    @abstractmethod
    def _forward(self, sentences: Sequence[str]) -> torch.Tensor:
        """Return the vectors of a batch of sentences, (n, dim)."""


def pack_matrices(matrices: Sequence[Vectors], network: torch.nn.LSTM | torch.nn.GRU) -> rnn.PackedSequence:
    """Pack sentences, each a matrix of word vectors (words, dim), for the network and on its device."""
    device = next(network.parameters()).device
    arrays = (np.asarray(matrix, dtype=np.float32) for matrix in matrices)
    tensors = [torch.from_numpy(array).to(device) for array in arrays]
    return rnn.pack_sequence(tensors, enforce_sorted=False)


def compute_last_states(gru: torch.nn.GRU, table: Vectors, sentences: Sequence[Sequence[int]]) -> torch.Tensor:
    """Run a GRU on n sentences; return its last states, (n, directions * units).

    - table: word vectors, (words, inputs)
    - sentences: the row in *table* of each word of each sentence
    """
    _, last = gru(pack_matrices([table[rows] for rows in sentences], gru))  # (directions, n, units)
    return torch.cat(tuple(last), dim=1)


def load_weights(network: Recurrent, weights: dict[str, torch.Tensor], *, device: str) -> Recurrent:
    """Load weights into a network on PyTorch's meta device; return the network on *device*."""
    network = network.to_empty(device="cpu")
    network.load_state_dict(weights)
    placed: Recurrent = model_loading.move_to_device(
        network, device=device or model_loading.find_default_device(), precision=model_loading.ModelPrecision.FLOAT32
    )
    return placed


GRU_ARRAYS = ("W", "b", "U", "Wx", "bx", "Ux")
"""Names of a GRU's arrays in the Theano code of Kiros, Cho and others; the file has them as ``encoder_W`` etc."""


def read_gru(path: Path, layers: Sequence[str], *, device: str) -> torch.nn.GRU:
    """Load a GRU from an npz file. Raises UsageError or EncoderError.

    The arrays W (inputs, 2 * units), b (2 * units,) and U (units, 2 * units) belong to the reset and update gates. Wx,
    bx and Ux belong to the new state.

    As in PyTorch, the reset gate multiplies the output of Ux, and the update gate is the weight of the old state. The
    code that trained the weights does the same; the equations of Kiros et al. (2015, section 2.1) do not.

    - layers: prefixes of the arrays' names: ``encoder``; for a bidirectional GRU, ``encoder`` and ``encoder_r``
    """
    names = [f"{layer}_{array}" for layer in layers for array in GRU_ARRAYS]
    arrays = weight_files.read_arrays(path, names)
    matrix = f"{layers[0]}_Wx"
    inputs, units = weight_files.get_matrix_shape(matrix, arrays[matrix], path)
    shapes = {
        "W": (inputs, 2 * units), "b": (2 * units,), "U": (units, 2 * units),
        "Wx": (inputs, units), "bx": (units,), "Ux": (units, units),
    }  # fmt: skip
    for name, array in arrays.items():
        weight_files.check_shape(name, array, shapes[name.rpartition("_")[2]], path)
    with torch.device("meta"):  # creates no weights, and so does not use PyTorch's global random generator
        gru = torch.nn.GRU(inputs, units, bidirectional=len(layers) == 2)
    weights: dict[str, torch.Tensor] = {}
    for layer, ending in zip(layers, ("_l0", "_l0_reverse"), strict=False):
        w, b, u, wx, bx, ux = (arrays[f"{layer}_{array}"] for array in GRU_ARRAYS)
        weights[f"weight_ih{ending}"] = torch.cat((w, wx), dim=1).T
        weights[f"weight_hh{ending}"] = torch.cat((u, ux), dim=1).T
        weights[f"bias_ih{ending}"] = torch.cat((b, bx))
        # The file has one bias for each gate. It is bias_ih, since the reset gate multiplies that of bias_hh.
        weights[f"bias_hh{ending}"] = torch.zeros(3 * units)
    return load_weights(gru, weights, device=device)
