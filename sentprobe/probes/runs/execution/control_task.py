"""Control tasks: random labels that are fixed for each word type (Hewitt & Liang 2019).

Accuracy on the control task measures memorization. The accuracy on the task minus that on the control task is the
selectivity of the probe.
"""

import re

import numpy as np

from sentprobe.probes.dataset import Indices, Items, ProbeDataset, Split

WORD = re.compile(r"\w")


def find_word_types(data: ProbeDataset) -> Indices:
    """Return the number of the word type of each sentence, (sentences,) int64.

    The type is the last word. If all test sentences are in training too, as with held-out probe words, each sentence is
    its own type.
    """
    train, test = (data.splits[split].rows for split in (Split.TRAIN, Split.TEST))
    if np.isin(test, train).all():
        return np.arange(len(data.sentences), dtype=np.int64)
    words = [find_last_word(sentence) for sentence in data.sentences]
    return np.unique(words, return_inverse=True)[1].astype(np.int64)


def find_last_word(sentence: str) -> str:
    """Return the last token with a letter or digit, else the last token, in lower case.

    >>> find_last_word("the man slept ."), find_last_word("! ?")
    ('slept', '?')
    """
    tokens = sentence.lower().split()
    return next((token for token in reversed(tokens) if WORD.search(token)), tokens[-1])


def sample_labels(types: Indices, train: Items, labels: int, generator: np.random.Generator) -> Indices:
    """Return a random label for each sentence, (sentences,) int64, equal within a type.

    Each type in random order gets the label that lacks most training items, so that label frequencies approximate those
    of the task. A type that is not in training gets a random label.
    """
    type_counts = np.bincount(types[train.rows], minlength=int(types.max()) + 1)
    counts = np.bincount(train.targets, minlength=labels)
    type_labels = generator.choice(labels, size=len(type_counts), p=counts / counts.sum())
    missing_counts = counts + generator.random(labels) / 2  # ties are broken at random
    for word_type in generator.permutation(np.flatnonzero(type_counts)):
        type_labels[word_type] = missing_counts.argmax()
        missing_counts[type_labels[word_type]] -= type_counts[word_type]
    return np.asarray(type_labels[types], np.int64)
