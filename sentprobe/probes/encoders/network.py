"""Networks that compute a sentence vector from word vectors: recurrent, over trees, convolutional and averaging."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple, TypeAlias

import torch
from torch import nn
from torch.nn import functional

from sentprobe.common.errors import UsageError
from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.encoders.encoder import Half


class Network(nn.Module, ABC):
    """A network that computes a sentence vector from word vectors."""

    dim: int
    """Width of the sentence vector."""
    halves: tuple[Half, ...] = ()
    """The directions in which the two halves of the sentence vector are read; empty if they are not apart in it."""
    reads_trees: ClassVar[bool] = False
    """Whether ``forward`` needs a third argument, the heads of the words."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = architecture

    @staticmethod
    @abstractmethod
    def count_weights(architecture: Architecture) -> int:
        """Return the number of weights of a network with this architecture."""

    @abstractmethod
    def sample_weights(self, generator: torch.Generator) -> None:
        """Set random initial weights, which depend on the generator only."""

    @abstractmethod
    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the vectors of b sentences, (b, dim).

        - vectors: word vectors, (b, time, inputs); the vectors of padding do not change the result
        - lengths: number of words of each sentence, (b,) int64 on the CPU, from 1 to time
        """


def make_word_mask(vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor | None:
    """Return a mask, (b, time, 1) bool: true for words, false for padding. Without padding, return None."""
    time = vectors.shape[1]
    if bool((lengths == time).all()):
        return None
    positions = torch.arange(time, device=vectors.device)
    return (positions < lengths.to(vectors.device)[:, None])[:, :, None]


def reverse_sentences(vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return the vectors, (b, time, n), with the words of each sentence in reverse order; padding stays at the end."""
    time = vectors.shape[1]
    if bool((lengths == time).all()):
        return vectors.flip(1)
    positions, ends = torch.arange(time), lengths[:, None]
    sources = torch.where(positions < ends, ends - 1 - positions, positions).to(vectors.device)  # (b, time)
    return vectors.gather(1, sources[:, :, None].expand_as(vectors))


def max_over_time(states: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Max-pool *states*, (b, time, n), over the words of each sentence; return (b, n)."""
    mask = make_word_mask(states, lengths)
    masked = states if mask is None else states.masked_fill(~mask, -torch.inf)
    return masked.amax(dim=1)


CellMaker: TypeAlias = Callable[..., nn.RNNBase]


class RecurrentLayer(nn.Module):
    """A recurrent layer. Its second direction reads reversed sentences. On a CPU, packed sequences would be slower."""

    def __init__(self, cells: CellMaker, inputs: int, hidden: int, *, directions: int) -> None:
        super().__init__()
        # The names of these attributes are in files of weights, so they must not change.
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
    """The cells and directions of a recurrent network, and the way in which its states become a sentence vector."""

    cells: CellMaker
    gates: int
    """Number of rows that a weight matrix has for each hidden unit: 4 for an LSTM, 3 for a GRU."""
    directions: int
    uses_maximum: bool = False
    """Whether the sentence vector is the maximum over all states; otherwise, it is each direction's last state."""


RECURRENT_KINDS: Mapping[str, RecurrentKind] = {
    "lstm": RecurrentKind(nn.LSTM, 4, 1),  # Adi et al. 2017, section 4
    "bilstm-last": RecurrentKind(nn.LSTM, 4, 2),  # Conneau et al. 2018, section 3
    "bilstm-max": RecurrentKind(nn.LSTM, 4, 2, uses_maximum=True),  # Conneau et al. 2018, section 3
    "bilstm-att": RecurrentKind(nn.LSTM, 4, 2),  # Conneau et al. 2017, section 3.2.3
    "gru-uni": RecurrentKind(nn.GRU, 3, 1),
    "gru-bi": RecurrentKind(nn.GRU, 3, 2),
}


class Recurrent(Network):
    """Stacked recurrent layers. Initial weights are uniform between -1/sqrt(hidden) and 1/sqrt(hidden)."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.kind = RECURRENT_KINDS[architecture.kind]
        self.hidden = architecture.hidden
        self.dim = self.kind.directions * self.hidden
        if self.kind.directions == 2 and architecture.layers == 1:  # each direction of a second layer reads both
            self.halves = (Half.FORWARD, Half.BACKWARD)
        widths = (architecture.inputs, *(self.dim for _ in range(architecture.layers - 1)))
        self.layers = nn.ModuleList(
            RecurrentLayer(self.kind.cells, width, self.hidden, directions=self.kind.directions) for width in widths
        )

    @staticmethod
    def count_weights(architecture: Architecture) -> int:
        """Return the number of weights, including biases."""
        kind, hidden, layers = RECURRENT_KINDS[architecture.kind], architecture.hidden, architecture.layers
        # Each layer has weights for its input and for its own states, and PyTorch's two biases.
        below = architecture.inputs + (layers - 1) * kind.directions * hidden
        return kind.gates * kind.directions * hidden * (below + layers * (hidden + 2))

    def sample_weights(self, generator: torch.Generator) -> None:
        bound = 1 / math.sqrt(self.hidden)
        for weight in self.parameters():
            nn.init.uniform_(weight, -bound, bound, generator=generator)

    def compute_states(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the state of the last layer at each word, (b, time, directions * hidden)."""
        for layer in self.layers:
            vectors = layer(vectors, lengths)
        return vectors

    def pool_states(self, states: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the sentence vectors, (b, dim): the last states of all directions, or the maximum over the words.

        - states: those of the last layer, (b, time, directions * hidden)
        """
        if self.kind.uses_maximum:
            return max_over_time(states, lengths)
        # The last state of the forward direction is at the last word, that of the backward direction at the first.
        rows = torch.arange(len(states), device=states.device)
        forth = states[rows, lengths.to(states.device) - 1, : self.hidden]
        return torch.cat((forth, states[:, 0, self.hidden :]), dim=1)

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the sentence vectors, (b, dim)."""
        return self.pool_states(self.compute_states(vectors, lengths), lengths)


ATTENTION_VIEWS = 4
"""Number of weighted averages of the states, one for each query."""


class SelfAttentive(Recurrent):
    """``bilstm-att`` (Conneau et al. 2017, section 3.2.3): averages of a BiLSTM's states, weighted by self-attention.

    A state's weight in a view is the softmax, over the words, of the product of the view's query and the state's key.
    The key is the hyperbolic tangent of an affine map of the state. Keys serve all views.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.keys = nn.Linear(self.dim, self.dim)
        self.queries = nn.Parameter(torch.empty(ATTENTION_VIEWS, self.dim))
        self.dim *= ATTENTION_VIEWS
        self.halves = ()  # the weights of the states of one direction depend on both

    @staticmethod
    def count_weights(architecture: Architecture) -> int:
        """Return the number of weights, including those of keys and queries."""
        width = 2 * architecture.hidden
        return Recurrent.count_weights(architecture) + width * (width + 1 + ATTENTION_VIEWS)

    def sample_weights(self, generator: torch.Generator) -> None:
        super().sample_weights(generator)
        bound = 1 / math.sqrt(self.keys.in_features)  # PyTorch's for affine maps
        for weight in (*self.keys.parameters(), self.queries):
            nn.init.uniform_(weight, -bound, bound, generator=generator)

    def pool_states(self, states: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the weighted averages of the states, one after the other, (b, dim)."""
        scores = torch.tanh(self.keys(states)) @ self.queries.T  # (b, time, views)
        mask = make_word_mask(states, lengths)
        weights = (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(dim=1)
        return (weights.transpose(1, 2) @ states).flatten(1)


class TreeLayer(nn.Module):
    """A layer of a child-sum Tree-LSTM: the equations 2 to 8 of Tai et al. (2015, section 3.1)."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        # The names of these attributes are in files of weights, so they must not change.
        self.words = nn.Linear(inputs, 4 * hidden)
        self.child_sum = nn.Linear(hidden, 3 * hidden, bias=False)
        self.forget = nn.Linear(hidden, hidden, bias=False)

    def forward(self, vectors: torch.Tensor, levels: Sequence[torch.Tensor], parents: torch.Tensor) -> torch.Tensor:
        """Return the states of n words, (n, hidden).

        - vectors: the words' inputs, (n, inputs)
        - levels: the rows of the words at each depth, the deepest first and the roots last
        - parents: the row of each word's head, (n,); that of a root is not read
        """
        hidden = self.forget.in_features
        gates, forget_gates = self.words(vectors).to(vectors.dtype).split((3 * hidden, hidden), dim=1)
        # For each word: its state, the sum of its children's states, and what it keeps of their cells.
        shape = (len(vectors), hidden)
        states, sums, kept = vectors.new_zeros(shape), vectors.new_zeros(shape), vectors.new_zeros(shape)
        for rows in levels:
            gate, output, update = (gates[rows] + self.child_sum(sums[rows])).to(vectors.dtype).chunk(3, dim=1)
            cells = gate.sigmoid() * update.tanh() + kept[rows]
            level_states = output.sigmoid() * cells.tanh()
            states.index_copy_(0, rows, level_states)
            if rows is not levels[-1]:
                above = parents[rows]
                forget = (forget_gates[above] + self.forget(level_states)).to(vectors.dtype).sigmoid()
                sums.index_add_(0, above, level_states)
                kept.index_add_(0, above, forget * cells)
        return states


def group_by_depth(heads: torch.Tensor, lengths: torch.Tensor) -> list[torch.Tensor]:
    """Return the rows of the words of b trees, heads (b, time), by depth: the deepest first, the b roots last.

    A word's row is its place in ``heads.flatten()``.

    >>> [rows.tolist() for rows in group_by_depth(torch.tensor([[2, 0, 2], [0, 0, 0]]), torch.tensor([3, 1]))]
    [[0, 2], [1, 3]]
    """
    steps = functional.pad(heads, (1, 0))  # from the number of a word to that of its head; the root's leads to itself
    depths, above = torch.zeros_like(heads), heads
    for _ in range(heads.shape[1]):
        depths += above > 0
        above = steps.gather(1, above)
    is_word = torch.arange(heads.shape[1]) < lengths[:, None]
    depths = depths.masked_fill(~is_word.to(heads.device), -1).flatten()
    return [(depths == depth).nonzero()[:, 0] for depth in range(int(depths.max()), -1, -1)]


class TreeLstm(Network):
    """``tree-lstm``: a child-sum Tree-LSTM over dependencies (Tai et al. 2015, section 3.1), the state of the root.

    A word adds up its children's states, so that their order, and whether they stand before it, changes nothing.
    """

    reads_trees = True

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.dim = architecture.hidden
        widths = (architecture.inputs, *(self.dim for _ in range(architecture.layers - 1)))
        self.layers = nn.ModuleList(TreeLayer(width, self.dim) for width in widths)

    @staticmethod
    def count_weights(architecture: Architecture) -> int:
        """Return the number of weights, including biases."""
        hidden, layers = architecture.hidden, architecture.layers
        below = architecture.inputs + (layers - 1) * hidden
        return 4 * hidden * (below + layers * (hidden + 1))

    def sample_weights(self, generator: torch.Generator) -> None:
        """Set uniform random weights, between the same bounds as those of an LSTM."""
        bound = 1 / math.sqrt(self.dim)
        for weight in self.parameters():
            nn.init.uniform_(weight, -bound, bound, generator=generator)

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor, heads: torch.Tensor | None = None) -> torch.Tensor:
        """Return the state of each root in the last layer, (b, hidden); a layer reads the states of the layer below.

        - heads: the number of each word's head, from 1, (b, time) int64; 0 for the only root of a sentence, and for
          padding
        """
        assert heads is not None
        count, time, _ = vectors.shape
        levels = group_by_depth(heads, lengths)
        parents = (torch.arange(0, count * time, time, device=heads.device)[:, None] + heads - 1).flatten()
        states = vectors.flatten(0, 1)  # (b * time, inputs)
        for layer in self.layers:
            states = layer(states, levels, parents)
        roots: torch.Tensor = states[levels[-1]]
        return roots


KERNEL_WIDTH = 3
MAX_POSITIONS = 1024
"""Number of position vectors; the last vector also serves all later positions."""
POSITION_STD = 0.1
"""Initial standard deviation of position vectors (Gehring et al. 2017, section 3.5)."""


class LearnedPositions(nn.Module):
    """Learned position vectors: one for each of the first MAX_POSITIONS positions in a sentence."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(MAX_POSITIONS, inputs))

    def forward(self, time: int) -> torch.Tensor:
        """Return the vectors of the first *time* positions, (time, inputs)."""
        positions = torch.arange(time, device=self.weight.device).clamp(max=MAX_POSITIONS - 1)
        return functional.embedding(positions, self.weight)


class GatedConvolutions(Network):
    """``gated-conv`` (Conneau et al. 2018, section 3): 8 gated convolutions, 512 units, kernel size 3.

    The sentence vector is the maximum over the words. Other details follow Gehring et al. 2017, without weight
    normalization and dropout. Position vectors are added to the word vectors (section 3.1), and a linear map leads to
    512 units. Each layer adds the output of a gated convolution to its input (3.2) and scales the sum by sqrt(0.5)
    (3.4). With n inputs, Gaussian initial weights have variance 4/n in convolutions, 1/n in the linear map (3.5).
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
        """Return the number of weights, including the learned position vectors."""
        inputs, hidden = architecture.inputs, architecture.hidden
        before = MAX_POSITIONS * inputs + hidden * (inputs + 1)
        return before + architecture.layers * 2 * hidden * (hidden * KERNEL_WIDTH + 1)

    def sample_weights(self, generator: torch.Generator) -> None:
        """Set random initial weights of the layers, then of the position vectors if they are learned; biases are 0."""
        gaussian = nn.init.normal_
        gaussian(self.projection.weight, 0, math.sqrt(1 / self.projection.in_features), generator=generator)
        for layer in self.convolutions:
            assert isinstance(layer, nn.Conv1d)
            gaussian(layer.weight, 0, math.sqrt(4 / (KERNEL_WIDTH * self.dim)), generator=generator)
        for name, bias in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(bias)
        if isinstance(self.positions, LearnedPositions):
            gaussian(self.positions.weight, 0, POSITION_STD, generator=generator)

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the maximum over the words, (b, hidden); states of padding are set to 0 before each convolution."""
        mask = make_word_mask(vectors, lengths)
        inputs = self.projection(vectors + self.positions(vectors.shape[1]))
        state = inputs.transpose(1, 2)  # (b, hidden, time)
        for layer in self.convolutions:
            state = state if mask is None else state.masked_fill(~mask.transpose(1, 2), 0)
            gated = functional.glu(layer(state), dim=1)
            state = (state + gated) * math.sqrt(0.5)  # (b, hidden, time)
        return max_over_time(state.transpose(1, 2), lengths)


MAX_WEIGHTS = 1_000_000_000
"""Maximum number of weights of a network; as float32, they need 4 GB."""


class Average(Network):
    """The network ``cbow``: the average of the word vectors (Adi et al. 2017, section 4)."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.dim = architecture.inputs

    @staticmethod
    def count_weights(architecture: Architecture) -> int:  # noqa: ARG004
        """Return 0, since an average has no weights."""
        return 0

    def sample_weights(self, generator: torch.Generator) -> None:
        """Do nothing, since an average has no weights."""

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the average of each sentence's word vectors, (b, inputs)."""
        mask = make_word_mask(vectors, lengths)
        masked = vectors if mask is None else vectors.masked_fill(~mask, 0)
        return masked.sum(dim=1) / lengths.to(vectors.device)[:, None]


NETWORKS: Mapping[str, type[Network]] = {
    **dict.fromkeys(RECURRENT_KINDS, Recurrent),
    "bilstm-att": SelfAttentive,
    "tree-lstm": TreeLstm,
    "gated-conv": GatedConvolutions,
    "cbow": Average,
}


def check_weights(architecture: Architecture, *, subject: str, other_weights: int = 0) -> None:
    """Raise UsageError, which begins with *subject*, if a network's weights plus *other_weights* exceed MAX_WEIGHTS."""
    count = NETWORKS[architecture.kind].count_weights(architecture) + other_weights
    if count > MAX_WEIGHTS:
        raise UsageError(
            f"{subject}: {architecture.hidden} units in {architecture.layers} layers have {count:.1e} weights; "
            f"at most {MAX_WEIGHTS:,} are allowed"
        )


def make_network(architecture: Architecture, *, generator: torch.Generator) -> Network:
    """Return a network on the CPU with random weights, which depend on the generator only."""
    with torch.device("meta"):  # creates no weights, and so does not use PyTorch's global random generator
        network = NETWORKS[architecture.kind](architecture)
    weights = {name: torch.empty(weight.shape) for name, weight in network.state_dict().items()}
    network.load_state_dict(weights, assign=True)  # to_empty would import SymPy, which is slow
    network.sample_weights(generator)
    return network
