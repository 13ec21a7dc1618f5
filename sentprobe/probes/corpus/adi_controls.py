"""The control conditions of Adi et al. 2017: the same questions about other sentences.

PERMUTED sentences have the tokens of the sentence in a random order, RANDOM ones the same number of
random tokens of the corpus (as frequent as there). What is asked is asked about the sentence that
then stands there: a question about the one before would keep the usual order of its two words.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random

_TRIES = 200

Redo = Callable[[str], str]
"""From a sentence to one that may stand in its place."""


def permuted(texts: Sequence[str], rng: Random) -> Mapping[str, str]:
    """Return each sentence with its tokens in a random order."""

    def mixed(text: str) -> str:
        tokens = text.split(" ")
        rng.shuffle(tokens)
        return " ".join(tokens)

    return _distinct(texts, mixed)


def random_words(texts: Sequence[str], rng: Random) -> Mapping[str, str]:
    """Return for each sentence as many random tokens of all of them."""
    tokens = [token for text in texts for token in text.split(" ")]
    return _distinct(texts, lambda text: " ".join(rng.choices(tokens, k=text.count(" ") + 1)))


def _distinct(texts: Sequence[str], redo: Redo) -> dict[str, str]:
    """Return what stands for each sentence; one for which nothing new is found is left out."""
    found: dict[str, str] = {}
    used: set[str] = set()
    for text in texts:
        tries = (redo(text) for _ in range(_TRIES))
        new = next((each for each in tries if each not in used), None)
        if new is not None:
            found[text] = new
            used.add(new)
    return found
