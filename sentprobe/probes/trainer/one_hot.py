"""One-hot look-up of probe words in a first layer, and the gradients of their weights.

Weights are (rows, units): for each slot a row per word, or per dimension of the word vectors. A one-hot block times the
weights is a single row. With word vectors, each distinct word of a batch is multiplied once. Input vectors are
therefore never written out per item.
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
    """Probe words of a batch of items.

    - numbers: (b, slots) int64. One-hot words are rows of the weights: word i of slot j is row j *
      (number of words) + i. With a lexicon, they are rows of the lexicon, for all slots
    - lexicon: (number of words, word_dim) float32, the word vectors; None for one-hot words
    """

    numbers: Tensor
    lexicon: Tensor | None = None

    def select_items(self, places: Tensor) -> "ProbeWords":
        """Return the probe words of the items at *places*."""
        return ProbeWords(self.numbers[places], self.lexicon)

    @cached_property
    def distinct_words(self) -> tuple[tuple[Tensor, Tensor], ...]:
        """Vectors of each slot's distinct words, and each item's place among them.

        They are used twice per step; all steps of L-BFGS have the same items.
        """
        if self.lexicon is None:
            return ()
        words_by_slot = (torch.unique(slot, return_inverse=True) for slot in self.numbers.unbind(dim=1))
        return tuple((self.lexicon[words], places) for words, places in words_by_slot)

    def get_slot_weights(self, weights: Tensor, slot: int) -> Tensor:
        """Return a view of a slot's weights, (word_dim, units)."""
        assert self.lexicon is not None
        width = self.lexicon.shape[1]
        return weights[slot * width : (slot + 1) * width]


def add_word_contributions(words: ProbeWords, weights: Tensor, *, precision: Precision, into: Tensor) -> None:
    """Add the contribution of the probe words to the sums *into* (b, units)."""
    if words.lexicon is None:
        for slot in words.numbers.unbind(dim=1):
            into += functional.embedding(slot, weights)
        return
    for number, (vectors, places) in enumerate(words.distinct_words):
        products = multiply(vectors, words.get_slot_weights(weights, number), precision=precision)
        into += functional.embedding(places, products)


def compute_word_gradients(words: ProbeWords, delta: Tensor, *, precision: Precision, into: Tensor) -> None:
    """Write the weights' gradients (rows, units) to *into*, given those of the sums (b, units)."""
    if words.lexicon is None:
        into.zero_()
        for slot in words.numbers.unbind(dim=1):
            into.index_add_(0, slot, delta)
        return
    for number, (vectors, places) in enumerate(words.distinct_words):
        sums = delta.new_zeros(len(vectors), delta.shape[1]).index_add_(0, places, delta)
        multiply(vectors.T, sums, precision=precision, out=words.get_slot_weights(into, number))
