"""Probe words as an input of probes, either as one-hot vectors or as word vectors.

A one-hot vector times the weight matrix is one row of the matrix. This row is looked up, and no product is computed.
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

    - numbers: a row number for each word, (b, slots) int64. It is a row of *lexicon* or, if *lexicon* is None, of the
      weights. In the weights, word i of slot j has row j * (number of words) + i
    - lexicon: a matrix of word vectors, (number of words, word_dim) float32. None means that words are one-hot
    """

    numbers: Tensor
    lexicon: Tensor | None = None

    @cached_property
    def distinct_words(self) -> tuple[tuple[Tensor, Tensor], ...]:
        """For each slot, the vectors of its distinct words, and the index of each item's word among these vectors."""
        if self.lexicon is None:
            return ()
        words_by_slot = (torch.unique(slot, return_inverse=True) for slot in self.numbers.unbind(dim=1))
        return tuple((self.lexicon[words], indices) for words, indices in words_by_slot)


def add_word_contributions(words: ProbeWords, weights: Tensor, *, precision: Precision, into: Tensor) -> None:
    """Add item i's probe-word vector times *weights*, (word rows, neurons), to row i of *into*, (b, neurons)."""
    if words.lexicon is None:
        for slot in words.numbers.unbind(dim=1):
            into += functional.embedding(slot, weights)
        return
    weights_by_slot = torch.split(weights, words.lexicon.shape[1])  # one empty part without slots
    for (vectors, indices), slot_weights in zip(words.distinct_words, weights_by_slot, strict=False):
        into += functional.embedding(indices, multiply(vectors, slot_weights, precision=precision))


def compute_word_gradients(words: ProbeWords, delta: Tensor, *, precision: Precision, into: Tensor) -> None:
    """Write d loss / d word weights to *into*, (word rows, units). *delta*: d loss / d pre-activations, (b, units)."""
    if words.lexicon is None:
        into.zero_()
        for slot in words.numbers.unbind(dim=1):
            into.index_add_(0, slot, delta)
        return
    gradients_by_slot = torch.split(into, words.lexicon.shape[1])
    for (vectors, indices), slot_gradients in zip(words.distinct_words, gradients_by_slot, strict=False):
        sums = delta.new_zeros(len(vectors), delta.shape[1]).index_add_(0, indices, delta)
        multiply(vectors.T, sums, precision=precision, out=slot_gradients)
