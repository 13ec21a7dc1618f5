"""The words that a sentence model has vectors for: the most frequent of its texts."""

from collections import Counter
from collections.abc import Iterable

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.sentence_model import KnownWords


def learn_vocabulary(
    texts: Iterable[str], *, words: int, lower: bool = False, reverse: bool = False
) -> KnownWords:
    """Return the most frequent words of texts; of equally frequent ones, those that come first.

    - words: how many at most
    - lower, reverse: how sentences will be read; texts are in lower case then, already

    >>> learn_vocabulary(["a dog saw a cat", "a cat"], words=2).words
    ('a', 'cat')

    Raises:
        UsageError: no words are asked for.
    """
    if words < 1:
        raise UsageError(f"words={words}: at least 1 is wanted")
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text.split())
    return KnownWords(
        tuple(word for word, _ in counts.most_common(words)), lower=lower, reverse=reverse
    )
