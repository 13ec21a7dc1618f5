"""Vocabulary of a sentence model: the most frequent words of its texts."""

from collections import Counter
from collections.abc import Iterable

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.trained.sentence_model import ModelVocabulary


def learn_vocabulary(
    texts: Iterable[str], *, words: int, lower: bool = False, reverse: bool = False
) -> ModelVocabulary:
    """Return the most frequent words of *texts*; among equally frequent words, the first.

    - words: maximum number of words
    - lower, reverse: how sentences will be read; *texts* are in lower case already

    >>> learn_vocabulary(["a dog saw a cat", "a cat"], words=2).words
    ('a', 'cat')
    """
    if words < 1:
        raise UsageError(f"words={words}: at least 1 is wanted")
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text.split())
    return ModelVocabulary(tuple(word for word, _ in counts.most_common(words)), lower=lower, reverse=reverse)
