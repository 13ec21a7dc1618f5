"""Batches of sources and what a decoder is to say of them, in an order that the epoch decides."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from sentprobe.probes.pretraining.objective import Batch
from sentprobe.probes.pretraining.subwords import END, START
from sentprobe.probes.pretraining.token_rows import Places, TokenRows, pad

Noise: TypeAlias = Callable[[NDArray[np.int32], np.random.Generator], NDArray[np.int32]]
"""A source -> the source as the encoder gets it; not empty."""

SOURCES, LENGTHS = "sources", "lengths"
"""Names of a batch's tensors: (b, time) words, and how many each sentence has, (b,)."""


def target_name(decoder: int) -> str:
    """Return the name of the tensor that a decoder is to say, (b, time) codes."""
    return f"targets{decoder}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SequencePairs:
    """Sources, and for each of the decoders its targets; *items* are those that are used."""

    sources: TokenRows
    targets: tuple[TokenRows, ...]
    items: Places
    size: int
    """How many items a batch has; the last made may have fewer."""
    seed: int
    noise: Noise | None = None

    @property
    def steps(self) -> int:
        """How many batches an epoch has."""
        return -(-len(self.items) // self.size)

    def batches(self, epoch: int, *, start: int = 0) -> Iterator[Batch]:
        """Yield an epoch's batches from the batch *start* on: the same ones at each call."""
        for rows in self.plan(epoch)[start:]:
            yield self.make(rows, epoch)

    def plan(self, epoch: int) -> list[Places]:
        """Return the items of each batch: of about one length, drawn anew for each epoch."""
        random = np.random.default_rng((self.seed, 2, epoch))
        items = random.permutation(self.items)
        lengths = [each.lengths[items] for each in (self.sources, *self.targets)]
        ordered = items[np.lexsort(lengths)]  # by the last target first: it costs the most
        cut = [ordered[start : start + self.size] for start in range(0, len(items), self.size)]
        return [cut[place] for place in random.permutation(len(cut))]

    def make(self, rows: Places, epoch: int) -> Batch:
        """Return a batch of given items, with the noise of an epoch."""
        sources = [self._source(int(row), epoch) for row in rows]
        lengths = torch.tensor([len(source) for source in sources])
        tensors = {SOURCES: pad(sources), LENGTHS: lengths}
        for number, each in enumerate(self.targets):
            tensors[target_name(number)] = pad([each[r] for r in rows], before=START, after=END)
        asked = sum(int(each.lengths[rows].sum()) + len(rows) for each in self.targets)
        return Batch(tensors, items=len(rows), targets=asked)

    def _source(self, row: int, epoch: int) -> NDArray[np.int32]:
        source = self.sources[row]
        if self.noise is None:
            return source
        return self.noise(source, np.random.default_rng((self.seed, 3, epoch, row)))
