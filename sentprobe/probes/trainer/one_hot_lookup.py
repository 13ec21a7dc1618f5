"""Probe words as input of probes: one-hot words, whose weights are looked up, or word vectors.

A one-hot word times the weight matrix is one row of the matrix, so no product is computed.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional

from sentprobe.probes.trainer.classifier import Precision
from sentprobe.probes.trainer.devices import multiply


@dataclass(frozen=True)
class ProbeWords:
    """The probe words of b items; each item has one word in each slot.

    - numbers: (b, slots) int64. Without a lexicon, the row of each word in the weights: word i in slot j has row
      j * (number of words) + i. With a lexicon, the row of each word in the lexicon
    - lexicon: word vectors, (number of words, word_dim) float32; None: words are one-hot
    """

    numbers: Tensor
    lexicon: Tensor | None = None

    def select_items(self, places: Tensor) -> "ProbeWords":
        """Return the probe words of the items with these numbers."""
        return ProbeWords(self.numbers[places], self.lexicon)

    @cached_property
    def distinct_words(self) -> tuple[tuple[Tensor, Tensor], ...]:
        """For each slot, the vectors of the distinct words in it, and the index of each item's word in these."""
        if self.lexicon is None:
            return ()
        words_by_slot = (torch.unique(slot, return_inverse=True) for slot in self.numbers.unbind(dim=1))
        return tuple((self.lexicon[words], places) for words, places in words_by_slot)

    def get_slot_weights(self, weights: Tensor, slot: int) -> Tensor:
        """Return a slot's part of the weights, (slots * word_dim, units), as a view, (word_dim, units)."""
        assert self.lexicon is not None
        width = self.lexicon.shape[1]
        return weights[slot * width : (slot + 1) * width]


def add_word_contributions(words: ProbeWords, weights: Tensor, *, precision: Precision, into: Tensor) -> None:
    """Add the product of probe words and *weights*, (word rows, units), to *into*, the inputs of units, (b, units)."""
    if words.lexicon is None:
        for slot in words.numbers.unbind(dim=1):
            into += functional.embedding(slot, weights)
        return
    for number, (vectors, places) in enumerate(words.distinct_words):
        products = multiply(vectors, words.get_slot_weights(weights, number), precision=precision)
        into += functional.embedding(places, products)


def compute_word_gradients(words: ProbeWords, delta: Tensor, *, precision: Precision, into: Tensor) -> None:
    """Write the gradient of the words' weights to *into*, (word rows, units). *delta*: gradient of unit inputs."""
    if words.lexicon is None:
        into.zero_()
        for slot in words.numbers.unbind(dim=1):
            into.index_add_(0, slot, delta)
        return
    for number, (vectors, places) in enumerate(words.distinct_words):
        sums = delta.new_zeros(len(vectors), delta.shape[1]).index_add_(0, places, delta)
        multiply(vectors.T, sums, precision=precision, out=words.get_slot_weights(into, number))
