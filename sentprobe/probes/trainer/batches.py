"""Items on a device, and their random batches."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sentprobe.probes.dataset import Indices, Items
from sentprobe.probes.trainer.bank import Inputs
from sentprobe.probes.trainer.points import Shape
from sentprobe.probes.trainer.words import ProbeWords


@dataclass(frozen=True, slots=True)
class Prepared:
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

    def batch(self, places: Tensor, *, labels: int) -> tuple[Inputs, Tensor]:
        """Return the items at *places* (b,), and their targets (b, labels) float32, one-hot."""
        hots = torch.nn.functional.one_hot(self.targets[places], labels)
        inputs = Inputs(self.table[self.rows[places]], self.words.take(places))
        return inputs, hots.to(torch.float32)

    def parts(self, size: int) -> tuple[Tensor, ...]:
        """Return the places of all items in order, so many at a time."""
        return torch.split(torch.arange(len(self), device=self.rows.device), size)


def prepare(
    table: Tensor, items: Items, shape: Shape, *, lexicon: Tensor | None = None
) -> Prepared:
    """Put items on the device of *table*, where the word vectors *lexicon* are too."""
    step = 0 if shape.word_dim else shape.words
    words = items.probes + step * np.arange(items.slots, dtype=np.int64)
    arrays = (items.rows.copy(), words, items.targets.copy())
    rows, numbers, targets = (torch.from_numpy(array).to(table.device) for array in arrays)
    return Prepared(table, rows, ProbeWords(numbers, lexicon), targets)


def passes(count: int, *, size: int, generator: np.random.Generator) -> Iterator[list[Indices]]:
    """Yield passes without end: the places of so many items in random order, cut into batches."""
    while True:
        yield np.split(generator.permutation(count), range(size, count, size))
