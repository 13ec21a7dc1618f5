"""Probe words in a first layer: what they add to its sums, and the gradients of their weights.

The weights are (rows, units): for each slot a row for each word, or for each number of its vector.
A one-hot block times weights is one of their rows. Of word vectors, each different word in a batch
is multiplied once. So nothing is ever written out for each item.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True)
class ProbeWords:
    """The probe words of some items.

    - numbers: (b, slots) int64. One-hot words are rows of the weights: word i of slot j is row
      j * (number of words) + i. With a lexicon they are its rows, whatever the slot
    - lexicon: (number of words, word_dim) float32, the words' vectors; None: they are one-hot
    """

    numbers: Tensor
    lexicon: Tensor | None = None

    def take(self, places: Tensor) -> "ProbeWords":
        """Return those of the items at *places*."""
        return ProbeWords(self.numbers[places], self.lexicon)

    @cached_property
    def distinct(self) -> tuple[tuple[Tensor, Tensor], ...]:
        """For each slot the vectors of its different words, and which of them each item has.

        They are wanted twice in a step, and L-BFGS takes all its steps on the same items.
        """
        if self.lexicon is None:
            return ()
        found = (torch.unique(slot, return_inverse=True) for slot in self.numbers.unbind(dim=1))
        return tuple((self.lexicon[words], places) for words, places in found)

    def part(self, weights: Tensor, slot: int) -> Tensor:
        """Return the view of a slot's weights, (word_dim, units)."""
        assert self.lexicon is not None
        width = self.lexicon.shape[1]
        return weights[slot * width : (slot + 1) * width]


def add_words(words: ProbeWords, weights: Tensor, *, into: Tensor) -> None:
    """Add what the probe words contribute to sums (b, units)."""
    if words.lexicon is None:
        for slot in words.numbers.unbind(dim=1):
            into += functional.embedding(slot, weights)
        return
    for number, (vectors, places) in enumerate(words.distinct):
        into += functional.embedding(places, vectors @ words.part(weights, number))


def word_gradients(words: ProbeWords, delta: Tensor, *, into: Tensor) -> None:
    """Put the gradients of the weights *into* (rows, units), from those of the sums (b, units)."""
    if words.lexicon is None:
        into.zero_()
        for slot in words.numbers.unbind(dim=1):
            into.index_add_(0, slot, delta)
        return
    for number, (vectors, places) in enumerate(words.distinct):
        sums = delta.new_zeros(len(vectors), delta.shape[1]).index_add_(0, places, delta)
        torch.mm(vectors.T, sums, out=words.part(into, number))
