"""Untrained recurrent encoders (Conneau et al. 2018, section 3)."""

import math
from enum import StrEnum

import torch
from torch import nn

from sentprobe.probes.encoders.protocol import digest
from sentprobe.probes.encoders.specs import Spec
from sentprobe.probes.encoders.untrained import Inputs, Untrained, read_inputs


class Pooling(StrEnum):
    """How the states of a BiLSTM become one vector; the value is the encoder's kind."""

    LAST = "bilstm-last"
    MAX = "bilstm-max"


class Bilstm(Untrained):
    """BiLSTM with random weights over word vectors.

    Conneau et al. 2018, section 3: 512 units a direction. ``bilstm-last`` puts the last state of
    each direction side by side (after the last word forwards, after the first backwards);
    ``bilstm-max`` takes the maximum over time of the states. The weights are PyTorch's default,
    uniform in +-1/sqrt(hidden), which InferSent (Conneau et al. 2017) did not change either.
    """

    def __init__(self, inputs: Inputs, *, pooling: Pooling) -> None:
        options, words = inputs.options, inputs.words
        made_of = (pooling, words.fingerprint, options.hidden, options.seed)
        super().__init__(inputs, fingerprint=digest(*made_of), dim=2 * options.hidden)
        self._pooling = pooling
        self._lstm = _random_lstm(words.dim, options.hidden, seed=options.seed)

    def _forward(self, vectors: torch.Tensor) -> torch.Tensor:
        states, (last, _) = self._lstm(vectors)  # (b, time, 2 * hidden), (2, b, hidden)
        if self._pooling is Pooling.LAST:
            return torch.cat((last[0], last[1]), dim=1)  # (b, 2 * hidden)
        return torch.amax(states, dim=1)  # (b, 2 * hidden)


def build_bilstm(spec: Spec, *, seed: int) -> Bilstm:
    """Return the encoder of a spec ``bilstm-last`` or ``bilstm-max``, with a file or without."""
    return Bilstm(read_inputs(spec, seed=seed), pooling=Pooling(spec.kind))


def _random_lstm(dim: int, hidden: int, *, seed: int) -> nn.LSTM:
    generator = torch.Generator().manual_seed(seed)
    bound = 1 / math.sqrt(hidden)
    with torch.device("meta"):  # without weights, so that no global generator is touched
        lstm = nn.LSTM(dim, hidden, bidirectional=True, batch_first=True)
    lstm = lstm.to_empty(device="cpu")
    with torch.no_grad():
        for weight in lstm.parameters():
            weight.uniform_(-bound, bound, generator=generator)
    return lstm.eval()
