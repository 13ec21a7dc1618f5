"""Networks that compute a sentence vector from word vectors, their table, and functions that build them.

The GRUs ``uni-skip`` and ``bi-skip`` have the sizes of Skip-Thought (Kiros et al. 2015), but PyTorch's reset gate.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import torch
from torch import nn
from torch.nn import functional

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.networks.architecture import Architecture


class Network(nn.Module, ABC):
    """Computes a sentence vector from word vectors; :meth:`sample_weights` or a file sets its weights."""

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
    """Return each sentence reversed, (b, time, n), with its padding still at the end."""
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


CellMaker: TypeAlias = Callable[..., nn.RNNBase]


class RecurrentLayer(nn.Module):
    """A recurrent layer; backward cells read reversed sentences, faster than PyTorch's packed sequences on a CPU."""

    def __init__(self, cells: CellMaker, inputs: int, hidden: int, *, directions: int) -> None:
        super().__init__()
        # Files of weights have these names.
        self.forth = cells(inputs, hidden, batch_first=True)
        self.back = cells(inputs, hidden, batch_first=True) if directions == 2 else None

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the state of each direction at each word, (b, time, directions * hidden)."""
        forth: torch.Tensor = self.forth(vectors)[0]
        if self.back is None:
            return forth
        back: torch.Tensor = self.back(reverse_sentences(vectors, lengths))[0]
        return torch.cat((forth, reverse_sentences(back, lengths)), dim=2)


class RecurrentKind(NamedTuple):
    """A kind of recurrent network."""

    cells: CellMaker
    gates: int
    """Number of gates: each weight matrix has as many rows per unit."""
    directions: int
    uses_maximum: bool = False
    """Whether the maximum over time is the sentence vector, and not the last states."""


RECURRENT_KINDS: Mapping[str, RecurrentKind] = {
    "lstm": RecurrentKind(nn.LSTM, 4, 1),  # Adi et al. 2017, section 4
    "bilstm-last": RecurrentKind(nn.LSTM, 4, 2),  # Conneau et al. 2018, section 3
    "bilstm-max": RecurrentKind(nn.LSTM, 4, 2, uses_maximum=True),  # Conneau et al. 2018, section 3
    "gru-uni": RecurrentKind(nn.GRU, 3, 1),
    "gru-bi": RecurrentKind(nn.GRU, 3, 2),
}


class Recurrent(Network):
    """Stacked recurrent layers, initially uniform in +-1/sqrt(hidden) as in PyTorch."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.kind = RECURRENT_KINDS[architecture.kind]
        self.hidden = architecture.hidden
        self.dim = self.kind.directions * self.hidden
        widths = (architecture.inputs, *(self.dim for _ in range(architecture.layers - 1)))
        self.layers = nn.ModuleList(
            RecurrentLayer(self.kind.cells, width, self.hidden, directions=self.kind.directions) for width in widths
        )

    @staticmethod
    def count_weights(architecture: Architecture) -> int:
        """Return the number of weights, biases included."""
        kind, hidden, layers = RECURRENT_KINDS[architecture.kind], architecture.hidden, architecture.layers
        below = architecture.inputs + (layers - 1) * kind.directions * hidden
        return kind.gates * kind.directions * hidden * (below + layers * (hidden + 2))

    def sample_weights(self, generator: torch.Generator) -> None:
        """Sample the initial weights."""
        bound = 1 / math.sqrt(self.hidden)
        for weight in self.parameters():
            nn.init.uniform_(weight, -bound, bound, generator=generator)

    def compute_states(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the states of the last layer at each word, (b, time, dim)."""
        for layer in self.layers:
            vectors = layer(vectors, lengths)
        return vectors

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the last states of all directions, concatenated, or the maximum over the words, (b, dim)."""
        vectors = self.compute_states(vectors, lengths)
        if self.kind.uses_maximum:
            return max_over_time(vectors, lengths)
        # The last state of a forward layer is at the last word, that of a backward layer at the first.
        rows = torch.arange(len(vectors), device=vectors.device)
        forth = vectors[rows, lengths.to(vectors.device) - 1, : self.hidden]
        return torch.cat((forth, vectors[:, 0, self.hidden :]), dim=1)


KERNEL_WIDTH = 3
MAX_POSITIONS = 1024
"""Number of positions with a vector of their own; later positions share the last vector."""
POSITION_STD = 0.1
"""Initial standard deviation of position vectors (section 3.5)."""


class LearnedPositions(nn.Module):
    """A learned vector for each position in a sentence."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(MAX_POSITIONS, inputs))

    def forward(self, time: int) -> torch.Tensor:
        """Return the vectors of the first positions, (time, inputs)."""
        places = torch.arange(time, device=self.weight.device).clamp(max=MAX_POSITIONS - 1)
        return functional.embedding(places, self.weight)


class GatedConvolutions(Network):
    """``gated-conv`` (Conneau et al. 2018, section 3): 8 gated convolutions, 512 units, kernel size 3.

    Other details follow Gehring et al. 2017: position vectors added to word vectors (section 3.1), a linear map to 512,
    gated linear units, residual connections (3.2) scaled by sqrt(0.5) (3.4). Initial weights are Gaussian with variance
    4/n before a gate and 1/n elsewhere, for n inputs, and biases are 0 (3.5). The sentence vector is the maximum over
    time. There is no weight normalization or dropout.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        inputs, self.dim = architecture.inputs, architecture.hidden
        self.positions: nn.Module = LearnedPositions(inputs)
        self.projection = nn.Linear(inputs, self.dim)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(self.dim, 2 * self.dim, KERNEL_WIDTH, padding=KERNEL_WIDTH // 2)
            for _ in range(architecture.layers)
        )

    @staticmethod
    def count_weights(architecture: Architecture) -> int:
        """Return the number of weights, learned positions included."""
        inputs, hidden = architecture.inputs, architecture.hidden
        before = MAX_POSITIONS * inputs + hidden * (inputs + 1)
        return before + architecture.layers * 2 * hidden * (hidden * KERNEL_WIDTH + 1)

    def sample_weights(self, generator: torch.Generator) -> None:
        """Sample the initial weights, position vectors last."""
        gaussian = nn.init.normal_
        width = self.projection.in_features
        gaussian(self.projection.weight, 0, math.sqrt(1 / width), generator=generator)
        for layer in self.convolutions:
            assert isinstance(layer, nn.Conv1d)
            gaussian(layer.weight, 0, math.sqrt(4 / (KERNEL_WIDTH * self.dim)), generator=generator)
        for name, bias in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(bias)
        if isinstance(self.positions, LearnedPositions):
            gaussian(self.positions.weight, 0, POSITION_STD, generator=generator)

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the maximum over the words, (b, hidden); padding is set to 0 before each convolution."""
        mask = make_word_mask(vectors, lengths)
        inputs = self.projection(vectors + self.positions(vectors.shape[1]))
        state = inputs.transpose(1, 2)  # (b, hidden, time)
        for layer in self.convolutions:
            state = state if mask is None else state.masked_fill(~mask.transpose(1, 2), 0)
            gated = functional.glu(layer(state), dim=1)
            state = (state + gated) * math.sqrt(0.5)  # (b, hidden, time)
        return max_over_time(state.transpose(1, 2), lengths)


MAX_WEIGHTS = 1_000_000_000
"""The most weights that a network may have (4 GB)."""


class Average(Network):
    """``cbow``: the average of the word vectors (Adi et al. 2017, section 4)."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.dim = architecture.inputs

    @staticmethod
    def count_weights(architecture: Architecture) -> int:  # noqa: ARG004
        """Return 0: only word vectors are learned."""
        return 0

    def sample_weights(self, generator: torch.Generator) -> None:
        """Do nothing, since there are no weights."""

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the averages over the words, (b, inputs)."""
        mask = make_word_mask(vectors, lengths)
        masked = vectors if mask is None else vectors.masked_fill(~mask, 0)
        return masked.sum(dim=1) / lengths.to(vectors.device)[:, None]


NETWORKS: Mapping[str, type[Network]] = {
    **dict.fromkeys(RECURRENT_KINDS, Recurrent),
    "gated-conv": GatedConvolutions,
    "cbow": Average,
}


def check_weights(architecture: Architecture, *, subject: str, other_weights: int = 0) -> None:
    """Raise UsageError, which begins with the *subject*, if a network has too many weights."""
    count = NETWORKS[architecture.kind].count_weights(architecture) + other_weights
    if count > MAX_WEIGHTS:
        raise UsageError(
            f"{subject}: {architecture.hidden} units in {architecture.layers} layers have {count:.1e} weights; "
            f"at most {MAX_WEIGHTS:,} are made"
        )


def make_network(architecture: Architecture, *, generator: torch.Generator) -> Network:
    """Return a network on the CPU; its weights depend on the generator alone."""
    with torch.device("meta"):  # without weights, so that no global generator is touched
        network = make_uninitialized_network(architecture)
    weights = {name: torch.empty(weight.shape) for name, weight in network.state_dict().items()}
    network.load_state_dict(weights, assign=True)  # to_empty would import SymPy
    network.sample_weights(generator)
    return network


def make_uninitialized_network(architecture: Architecture) -> Network:
    """Return a network with PyTorch's default initialization."""
    return NETWORKS[architecture.kind](architecture)
