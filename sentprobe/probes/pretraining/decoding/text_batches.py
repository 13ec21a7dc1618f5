"""Batches of sources and decoder targets, in an order that the epoch decides."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from sentprobe.probes.pretraining.decoding.subwords import END, START
from sentprobe.probes.pretraining.objective import Batch
from sentprobe.probes.pretraining.token_rows import Places, TokenRows, pad_rows

Noise: TypeAlias = Callable[[NDArray[np.int32], np.random.Generator], NDArray[np.int32]]
"""Function from a source to its non-empty noisy version, the encoder's input."""

SOURCES, LENGTHS = "sources", "lengths"
"""Names of tensors: word numbers (b, time), and sentence lengths (b,)."""


def format_target_name(decoder: int) -> str:
    """Return the name of a decoder's target tensor, (b, time) codes."""
    return f"targets{decoder}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SequencePairs:
    """Sources, and the targets of each decoder; *items* are the indices of the used sources."""

    sources: TokenRows
    targets: tuple[TokenRows, ...]
    items: Places
    size: int
    """Items per batch; one batch may have fewer."""
    seed: int
    noise: Noise | None = None

    @property
    def steps(self) -> int:
        """Number of batches per epoch."""
        return -(-len(self.items) // self.size)

    def batches(self, epoch: int, *, start: int = 0) -> Iterator[Batch]:
        """Yield an epoch's batches, from batch *start*; each call yields the same ones."""
        for rows in self.plan_batches(epoch)[start:]:
            yield self.make_batch(rows, epoch)

    def plan_batches(self, epoch: int) -> list[Places]:
        """Return the items of each batch, of similar length, drawn anew for each epoch."""
        random = np.random.default_rng((self.seed, 2, epoch))
        items = random.permutation(self.items)
        lengths = [token_rows.lengths[items] for token_rows in (self.sources, *self.targets)]
        ordered = items[np.lexsort(lengths)]  # by the last target first, which takes the most time
        batches = [ordered[start : start + self.size] for start in range(0, len(items), self.size)]
        return [batches[place] for place in random.permutation(len(batches))]

    def make_batch(self, rows: Places, epoch: int) -> Batch:
        """Return a batch of the items *rows*, with the noise of an epoch."""
        sources = [self._get_noisy_source(int(row), epoch) for row in rows]
        lengths = torch.tensor([len(source) for source in sources])
        tensors = {SOURCES: pad_rows(sources), LENGTHS: lengths}
        for number, target_rows in enumerate(self.targets):
            tensors[format_target_name(number)] = pad_rows([target_rows[row] for row in rows], before=START, after=END)
        target_count = sum(int(target_rows.lengths[rows].sum()) + len(rows) for target_rows in self.targets)
        return Batch(tensors, items=len(rows), targets=target_count)

    def _get_noisy_source(self, row: int, epoch: int) -> NDArray[np.int32]:
        source = self.sources[row]
        if self.noise is None:
            return source
        return self.noise(source, np.random.default_rng((self.seed, 3, epoch, row)))
