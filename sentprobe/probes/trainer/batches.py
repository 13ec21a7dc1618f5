"""Items as tensors, random batches of items, and dropout masks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sentprobe.probes.dataset import Items
from sentprobe.probes.trainer.devices import send_to_device
from sentprobe.probes.trainer.one_hot_lookup import ProbeWords
from sentprobe.probes.trainer.presets import BankShape, GridPoint
from sentprobe.probes.trainer.probe_bank import BatchInputs, Masks

DROPOUT_STEPS = 2**16
"""Dropout rates are rounded to multiples of 1 / DROPOUT_STEPS."""


class Dropout:
    """Sampler of dropout masks for a bank of probes. Probes with equal seed and hidden width share random numbers."""

    def __init__(self, points: Sequence[GridPoint], device: torch.device) -> None:
        self._device = device
        keys = {(point.seed, point.hidden) for point in points if point.dropout}
        self._generators = {key: np.random.Generator(np.random.SFC64(np.random.SeedSequence(key))) for key in keys}

    def sample_masks(self, points: Sequence[GridPoint], size: int) -> Masks:
        """Return the masks of all probes with dropout, keyed by index in *points*. Each mask is for *size* items."""
        mask_keys = {(point.seed, point.hidden, point.dropout): None for point in points if point.dropout}
        random_numbers = {
            key: generator.integers(DROPOUT_STEPS, size=(size, key[1]), dtype=np.uint16)
            for key, generator in self._generators.items()
            if any(key == (seed, width) for seed, width, _ in mask_keys)
        }
        masks = {}
        for seed, width, rate in mask_keys:
            is_kept = torch.from_numpy(random_numbers[seed, width] >= round(rate * DROPOUT_STEPS))
            masks[seed, width, rate] = send_to_device(is_kept, self._device) / (1 - rate)
        return {
            index: masks[point.seed, point.hidden, point.dropout] for index, point in enumerate(points) if point.dropout
        }


@dataclass(frozen=True, slots=True)
class PreparedItems:
    """Items as tensors on the device that trains the probes.

    - table: the vector of each distinct sentence, (sentences, dim)
    - rows: the row in *table* of each item's sentence, (n,) int64
    - words: the probe words of each item
    - targets: the label of each item, (n,) int64
    """

    table: Tensor
    rows: Tensor
    words: ProbeWords
    targets: Tensor

    def __len__(self) -> int:
        return len(self.rows)

    def select_range(self, first: int, last: int) -> "PreparedItems":
        item_range = slice(first, last)
        words = ProbeWords(self.words.numbers[item_range], self.words.lexicon)
        return PreparedItems(self.table, self.rows[item_range], words, self.targets[item_range])

    def make_batch(self, item_numbers: Tensor, *, labels: int) -> tuple[BatchInputs, Tensor]:
        """Return the inputs of the b items with these numbers, and their one-hot labels, (b, labels) float32."""
        one_hot_targets = torch.nn.functional.one_hot(self.targets[item_numbers], labels)
        words = ProbeWords(self.words.numbers[item_numbers], self.words.lexicon)
        return BatchInputs(self.table[self.rows[item_numbers]], words), one_hot_targets.to(torch.float32)

    def split_batches(self, size: int, *, labels: int) -> Iterator[tuple[BatchInputs, Tensor]]:
        """Yield the inputs and one-hot labels of all items in order, in batches of *size* items."""
        for item_numbers in torch.split(torch.arange(len(self), device=self.rows.device), size):
            yield self.make_batch(item_numbers, labels=labels)


def prepare_items(table: Tensor, items: Items, shape: BankShape, *, lexicon: Tensor | None = None) -> PreparedItems:
    """Copy items to the device of *table*, the sentence vectors. *lexicon*: vectors of probe words."""
    slot_offset = 0 if shape.word_dim else shape.words
    words = items.probes + slot_offset * np.arange(items.slots, dtype=np.int64)
    arrays = (items.rows.copy(), words, items.targets.copy())
    rows, numbers, targets = (torch.from_numpy(array).to(table.device) for array in arrays)
    return PreparedItems(table, rows, ProbeWords(numbers, lexicon), targets)


def generate_passes(
    count: int, *, size: int, generator: np.random.Generator, device: torch.device
) -> Iterator[tuple[Tensor, ...]]:
    """Yield passes endlessly. A pass has all indices below *count*, newly shuffled, in batches of at most *size*."""
    while True:
        yield torch.split(torch.from_numpy(generator.permutation(count)).to(device), size)
