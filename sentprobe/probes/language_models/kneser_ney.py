"""Train n-gram models: interpolated modified Kneser-Ney smoothing (Chen and Goodman 1999, section 3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.probes.language_models.arpa import END, START, UNKNOWN
from sentprobe.probes.training.text_filters import learn_vocabulary

Integers: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = NDArray[np.float64]
SPECIAL = (START, END, UNKNOWN)
FALLBACK_DISCOUNTS = (0.0, 0.5, 1.0, 1.5)
"""The discounts of n-grams that occur 0, 1, 2, and at least 3 times, for texts that are too small to estimate them."""


@dataclass(frozen=True, slots=True)
class NgramLevel:
    """All distinct n-grams of one length, sorted by context and last word; each field is an array, (n-grams,)."""

    words: Integers
    """The last word, as its number in the vocabulary."""
    contexts: Integers
    """The n-gram without its last word, as an index into the n-grams that are one word shorter."""
    suffixes: Integers
    """The n-gram without its first word, as an index into the n-grams that are one word shorter."""
    counts: Integers
    """The number of occurrences."""
    is_initial: NDArray[np.bool_]
    """Whether the n-gram begins with ``<s>``, the start of a sentence."""


def count_ngrams(tokens: Integers, order: int, words: int) -> list[NgramLevel]:
    """Return, for each n-gram length from 1 to *order*, the n-grams; omit lengths above that of the longest sentence.

    - tokens: word numbers of all sentences, (tokens,); 0 (``<s>``) begins a sentence, and no n-gram spans two sentences
    - words: size of the vocabulary
    """
    starts = np.flatnonzero(tokens == 0)
    offsets = np.arange(len(tokens)) - np.repeat(starts, np.diff(starts, append=len(tokens)))
    zeros = np.zeros(words, dtype=np.int64)
    levels = [NgramLevel(np.arange(words), zeros, zeros, np.bincount(tokens, minlength=words), np.arange(words) == 0)]
    numbers = tokens  # for each token, the number of the n-gram of the current length that ends there
    for length in range(2, order + 1):
        ends = np.flatnonzero(offsets >= length - 1)
        if not len(ends):
            break
        keys, first, inverse, counts = np.unique(
            numbers[ends - 1] * words + tokens[ends], return_index=True, return_inverse=True, return_counts=True
        )
        is_initial = offsets[ends[first]] == length - 1
        levels.append(NgramLevel(keys % words, keys // words, numbers[ends[first]], counts, is_initial))
        numbers = np.full(len(tokens), -1, dtype=np.int64)  # -1: too near the start of the sentence for this length
        numbers[ends] = inverse
    return levels


def smooth_ngrams(levels: Sequence[NgramLevel]) -> list[tuple[Numbers, Numbers]]:
    """Return, for each length of n-grams, their probabilities and their back-off weights."""
    lower_order = np.full(1, 1 / (len(levels[0].words) - 1))  # uniform over all words except the start
    smoothed: list[tuple[Numbers, Numbers]] = []
    for length, level in enumerate(levels, 1):
        counts = level.counts
        if length < len(levels):  # the count is the number of different words before; none precedes the start
            # levels[length] has the n-grams that are one word longer.
            predecessors = np.bincount(levels[length].suffixes, minlength=len(counts))
            counts = np.where(level.is_initial, counts, predecessors)
        if length == 1:
            counts = np.where(level.is_initial, 0, counts)  # the start is never predicted
        discounts = estimate_discounts(counts)[np.minimum(counts, 3)]  # one discount for each count up to 3
        totals = np.bincount(level.contexts, weights=counts, minlength=len(lower_order))
        # A context without a next word, such as the end, has weight 1.
        weights = np.bincount(level.contexts, weights=discounts, minlength=len(lower_order)) / np.maximum(totals, 1)
        weights[totals == 0] = 1.0
        if smoothed:
            smoothed[-1] = smoothed[-1][0], weights
        shares = (counts - discounts) / totals[level.contexts]
        lower_order = shares + weights[level.contexts] * lower_order[level.suffixes]
        smoothed.append((lower_order, np.ones(len(lower_order))))
    return smoothed


def estimate_discounts(counts: Integers) -> Numbers:
    """Return four discounts: for n-grams that occur 0, 1, 2, and at least 3 times (Chen and Goodman 1999, equation 17).

    >>> estimate_discounts(np.array([1] * 8 + [2] * 4 + [3] * 2 + [4])).tolist()
    [0.0, 0.5, 1.25, 2.0]
    """
    n = np.bincount(np.minimum(counts, 5), minlength=6)
    if n[1:5].all():
        y = n[1] / (n[1] + 2 * n[2])
        discounts = np.array([0.0, *(k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3))])
        if (discounts[1:] > 0).all():
            return discounts
    return np.array(FALLBACK_DISCOUNTS)


def train_ngrams(texts: Sequence[str], *, order: int, words: int) -> Iterator[str]:
    """Train a model of n-grams up to the length *order* on texts; yield the lines of its ARPA file.

    The vocabulary has the *words* most frequent words; all others become the unknown word, ``<unk>``.
    """
    frequent = [word for word in learn_vocabulary(texts, words=words).words if word not in SPECIAL]
    names = [*SPECIAL, *frequent]
    numbers = {name: number for number, name in enumerate(names)} | dict.fromkeys(SPECIAL, 2)
    # 0, 1 and 2 are the places of <s>, </s> and <unk> in SPECIAL. A word with such a name becomes <unk>.
    rows = ((0, *(numbers.get(word, 2) for word in text.split()), 1) for text in texts)
    tokens = np.fromiter(chain.from_iterable(rows), dtype=np.int64)
    levels = count_ngrams(tokens, order, len(names))
    yield from format_arpa(levels, smooth_ngrams(levels), names)


def format_arpa(
    levels: Sequence[NgramLevel], smoothed: Sequence[tuple[Numbers, Numbers]], names: Sequence[str]
) -> Iterator[str]:
    """Yield the lines of an ARPA file; *smoothed* is the result of :func:`smooth_ngrams`."""
    yield "\\data\\\n"
    yield from (f"ngram {length}={len(level.words)}\n" for length, level in enumerate(levels, 1))
    texts: list[str] = []
    for length, (level, (probabilities, weights)) in enumerate(zip(levels, smoothed, strict=True), 1):
        yield f"\n\\{length}-grams:\n"
        prefixes = [f"{texts[place]} " for place in level.contexts.tolist()] if texts else [""] * len(names)
        texts = [prefix + names[word] for prefix, word in zip(prefixes, level.words.tolist(), strict=True)]
        logarithms = np.log10(probabilities)
        if length == 1:
            logarithms[0] = -99.0  # the start
        columns = (logarithms.tolist(), texts, np.log10(weights).tolist())
        is_last = length == len(levels)
        for logarithm, text, weight in zip(*columns, strict=True):
            yield f"{logarithm:.7g}\t{text}\n" if is_last or not weight else f"{logarithm:.7g}\t{text}\t{weight:.7g}\n"
    yield "\n\\end\\\n"
