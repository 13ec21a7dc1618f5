"""A control task: random labels that are the same for a word type everywhere (Hewitt & Liang 2019).

What a probe achieves on it is what it can learn by heart; what it achieves more on the task itself
is its selectivity.
"""

import re

import numpy as np

from sentprobe.probes.dataset import Indices, Items, ProbeDataset, Split

WORD = re.compile(r"\w")


def word_types(data: ProbeDataset) -> Indices:
    """Return the number of the type of each sentence, (sentences,) int64.

    It is that of its last word. Where all test sentences are in training too, as when probe words
    are held out and not sentences, each sentence is a type of its own.
    """
    train, test = (data.splits[split].rows for split in (Split.TRAIN, Split.TEST))
    if np.isin(test, train).all():
        return np.arange(len(data.sentences), dtype=np.int64)
    words = [last_word(sentence) for sentence in data.sentences]
    return np.unique(words, return_inverse=True)[1].astype(np.int64)


def last_word(sentence: str) -> str:
    """Return the last token with a letter or digit in it, or the last token, in lower case.

    >>> last_word("the man slept ."), last_word("! ?")
    ('slept', '?')
    """
    tokens = sentence.lower().split()
    return next((each for each in reversed(tokens) if WORD.search(each)), tokens[-1])


def draw_labels(
    types: Indices, train: Items, labels: int, generator: np.random.Generator
) -> Indices:
    """Return a random label for each sentence, (sentences,) int64, the same for one type.

    Each type in turn, in random order, gets the label that still lacks most training items, so that
    labels are about as frequent as they are in the task; a type that training has not seen, any.
    """
    seen = np.bincount(types[train.rows], minlength=int(types.max()) + 1)
    counts = np.bincount(train.targets, minlength=labels)
    drawn = generator.choice(labels, size=len(seen), p=counts / counts.sum())
    room = counts + generator.random(labels) / 2  # of those that lack as many, any is first
    for each in generator.permutation(np.flatnonzero(seen)):
        drawn[each] = room.argmax()
        room[drawn[each]] -= seen[each]
    return np.asarray(drawn[types], np.int64)
