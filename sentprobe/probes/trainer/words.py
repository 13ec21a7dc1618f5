"""Probe words in a first layer: what they add to its sums, and the gradients of their weights.

- words: (b, slots) int64. One-hot words are rows of the weights: word i of slot j is row
  j * (number of words) + i. With a lexicon they are its rows, whatever the slot
- lexicon: (number of words, word_dim) float32, the words' vectors; None: they are one-hot
- weights: (rows, units), for each slot a row for each word, or for each number of its vector

A one-hot block times weights is one of their rows. Of word vectors, each different word in a batch
is multiplied once. So nothing is ever written out for each item.
"""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional


def add_words(words: Tensor, lexicon: Tensor | None, weights: Tensor, *, into: Tensor) -> None:
    """Add what the probe words contribute to sums (b, units)."""
    if lexicon is None:
        for slot in words.unbind(dim=1):
            into += functional.embedding(slot, weights)
        return
    for vectors, places, part in _slots(words, lexicon, weights):
        into += functional.embedding(places, vectors @ part)


def word_gradients(words: Tensor, lexicon: Tensor | None, delta: Tensor, *, into: Tensor) -> None:
    """Put the gradients of the weights *into* (rows, units), from those of the sums (b, units)."""
    if lexicon is None:
        into.zero_()
        for slot in words.unbind(dim=1):
            into.index_add_(0, slot, delta)
        return
    for vectors, places, part in _slots(words, lexicon, into):
        sums = delta.new_zeros(len(vectors), delta.shape[1]).index_add_(0, places, delta)
        torch.mm(vectors.T, sums, out=part)


def _slots(
    words: Tensor, lexicon: Tensor, weights: Tensor
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield for each slot the vectors of its different words, where each item has its, and a view.

    The view is of the slot's part of *weights*, (word_dim, units).
    """
    width = lexicon.shape[1]
    for number, slot in enumerate(words.unbind(dim=1)):
        distinct, places = torch.unique(slot, return_inverse=True)
        yield lexicon[distinct], places, weights[number * width : (number + 1) * width]
