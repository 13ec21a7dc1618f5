"""Batches of items of a few sentences each, in an order that the epoch decides."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sentprobe.probes.pretraining.objective import Batch
from sentprobe.probes.pretraining.token_rows import Places, TokenRows, pad


@dataclass(frozen=True, slots=True, eq=False)
class ItemBatches:
    """Items in an order that the seed and the epoch decide; see ``objective.Examples``."""

    items: Places
    size: int
    seed: int
    make: Callable[[Places], Batch]

    @property
    def steps(self) -> int:
        """How many batches an epoch has."""
        return -(-len(self.items) // self.size)

    def batches(self, epoch: int, *, start: int = 0) -> Iterator[Batch]:
        """Yield an epoch's batches from the batch *start* on."""
        order = np.random.default_rng((self.seed, 2, epoch)).permutation(self.items)
        for place in range(start, self.steps):
            yield self.make(order[place * self.size : (place + 1) * self.size])

    def in_order(self) -> Iterator[Batch]:
        """Yield all items as they stand, in batches."""
        for start in range(0, len(self.items), self.size):
            yield self.make(self.items[start : start + self.size])


def side_by_side(parts: Sequence[TokenRows], places: Places) -> dict[str, torch.Tensor]:
    """Return the sentences of items, first of the one part, then of the next.

    ``ids`` are (parts * b, time) int64 and ``lengths`` (parts * b,) int64.
    """
    rows = [part[place] for part in parts for place in places]
    return {"ids": pad(rows), "lengths": torch.tensor([len(row) for row in rows])}
