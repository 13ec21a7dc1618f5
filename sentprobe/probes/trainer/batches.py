"""Items on a device, their random batches, and which hidden units dropout leaves in a step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sentprobe.probes.dataset import Items
from sentprobe.probes.trainer.bank import BatchInputs, Masks
from sentprobe.probes.trainer.one_hot import ProbeWords
from sentprobe.probes.trainer.presets import BankShape, GridPoint

STEPS = 2**16
"""Probabilities of dropout are multiples of 1 / STEPS."""


class Dropout:
    """Draws the masks of a bank's probes on the CPU.

    Probes of one seed and width are masked by the same random numbers, whatever other probes are
    trained beside them, so that training a probe alone gives the same.
    """

    def __init__(self, points: Sequence[GridPoint], device: torch.device) -> None:
        self._device = device
        keys = {(point.seed, point.hidden) for point in points if point.dropout}
        self._generators = {
            key: np.random.Generator(np.random.SFC64(np.random.SeedSequence(key))) for key in keys
        }

    def draw(self, points: Sequence[GridPoint], size: int) -> Masks:
        """Return the masks of a batch of so many items."""
        wanted = {
            (point.seed, point.hidden, point.dropout): None for point in points if point.dropout
        }
        drawn = {
            key: generator.integers(STEPS, size=(size, key[1]), dtype=np.uint16)
            for key, generator in self._generators.items()
            if any(key == (seed, width) for seed, width, _ in wanted)
        }
        made = {}
        for seed, width, rate in wanted:
            kept = torch.from_numpy(drawn[seed, width] >= round(rate * STEPS))
            made[seed, width, rate] = kept.to(self._device) / (1 - rate)
        return {
            place: made[point.seed, point.hidden, point.dropout]
            for place, point in enumerate(points)
            if point.dropout
        }


@dataclass(frozen=True, slots=True)
class PreparedItems:
    """Items for a bank, on its device.

    - table: (sentences, dim) float32
    - rows: (n,) int64, of *table*
    - targets: (n,) int64
    """

    table: Tensor
    rows: Tensor
    words: ProbeWords
    targets: Tensor

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, first: int, last: int | None = None) -> "PreparedItems":
        """Return the items from *first* to before *last*, in order."""
        kept = slice(first, last)
        words = ProbeWords(self.words.numbers[kept], self.words.lexicon)
        return PreparedItems(self.table, self.rows[kept], words, self.targets[kept])

    def batch(self, places: Tensor, *, labels: int) -> tuple[BatchInputs, Tensor]:
        """Return the items at *places* (b,), and their targets (b, labels) float32, one-hot."""
        hots = torch.nn.functional.one_hot(self.targets[places], labels)
        inputs = BatchInputs(self.table[self.rows[places]], self.words.take(places))
        return inputs, hots.to(torch.float32)

    def parts(self, size: int) -> tuple[Tensor, ...]:
        """Return the places of all items in order, so many at a time."""
        return torch.split(torch.arange(len(self), device=self.rows.device), size)


def prepare(
    table: Tensor, items: Items, shape: BankShape, *, lexicon: Tensor | None = None
) -> PreparedItems:
    """Put items on the device of *table*, where the word vectors *lexicon* are too."""
    step = 0 if shape.word_dim else shape.words
    words = items.probes + step * np.arange(items.slots, dtype=np.int64)
    arrays = (items.rows.copy(), words, items.targets.copy())
    rows, numbers, targets = (torch.from_numpy(array).to(table.device) for array in arrays)
    return PreparedItems(table, rows, ProbeWords(numbers, lexicon), targets)


def passes(
    count: int, *, size: int, generator: np.random.Generator, device: torch.device
) -> Iterator[tuple[Tensor, ...]]:
    """Yield passes without end: the places of so many items in random order, cut into batches.

    They go to the device once a pass.
    """
    while True:
        yield torch.split(torch.from_numpy(generator.permutation(count)).to(device), size)
