"""Tokenizers of published models."""

from collections.abc import Callable
from enum import StrEnum


class Tokenization(StrEnum):
    """The tokenizer of an encoder."""

    OWN = "own"
    """The tokenizer of the published code."""
    SPACES = "spaces"
    """Spaces, for tokenized sentences as in SentEval."""


Tokenizer = Callable[[str], list[str]]


def tokenize_treebank(sentence: str) -> list[str]:
    """Tokenize by Penn Treebank rules (NLTK), without sentence splitting.

    >>> tokenize_treebank("The man didn't sleep.")
    ['The', 'man', 'did', "n't", 'sleep', '.']
    """
    from nltk.tokenize import word_tokenize

    words: list[str] = word_tokenize(sentence, preserve_line=True)
    return words


def tokenize_moses(sentence: str) -> list[str]:
    """Tokenize by Penn Treebank rules, but split "don 't" as Moses does before other words.

    >>> tokenize_moses("The man didn't sleep.")
    ['The', 'man', 'didn', "'t", 'sleep', '.']
    """
    return " ".join(tokenize_treebank(sentence)).replace(" n't ", "n 't ").split()


def tokenize_at_punctuation(sentence: str) -> list[str]:
    """Split into runs of letters and digits, and runs of other signs.

    >>> tokenize_at_punctuation("The man didn't sleep.")
    ['The', 'man', 'didn', "'", 't', 'sleep', '.']
    """
    from nltk.tokenize import wordpunct_tokenize

    words: list[str] = wordpunct_tokenize(sentence)
    return words


def choose_tokenizer(tokenization: Tokenization, model_tokenizer: Tokenizer) -> Tokenizer:
    """Return the chosen tokenizer."""
    return str.split if tokenization is Tokenization.SPACES else model_tokenizer
