"""The words of a sentence, as those who published a model divided it."""

from collections.abc import Callable
from enum import StrEnum


class WordDivision(StrEnum):
    """How a sentence is divided into words."""

    OWN = "own"
    """As the model's own code does."""
    SPACES = "spaces"
    """At spaces: for sentences that are divided already, as SentEval has them."""


Divide = Callable[[str], list[str]]


def treebank(sentence: str) -> list[str]:
    """Divide as NLTK does by the habits of the Penn Treebank, the text taken for one sentence.

    >>> treebank("The man didn't sleep.")
    ['The', 'man', 'did', "n't", 'sleep', '.']
    """
    from nltk.tokenize import word_tokenize  # noqa: PLC0415 - slow

    words: list[str] = word_tokenize(sentence, preserve_line=True)
    return words


def moses(sentence: str) -> list[str]:
    """Divide as :func:`treebank`, but "don 't" as Moses does, where more words follow.

    >>> moses("The man didn't sleep.")
    ['The', 'man', 'didn', "'t", 'sleep', '.']
    """
    return " ".join(treebank(sentence)).replace(" n't ", "n 't ").split()


def punctuation(sentence: str) -> list[str]:
    """Divide into runs of letters and digits, and runs of other signs.

    >>> punctuation("The man didn't sleep.")
    ['The', 'man', 'didn', "'", 't', 'sleep', '.']
    """
    from nltk.tokenize import wordpunct_tokenize  # noqa: PLC0415 - slow

    words: list[str] = wordpunct_tokenize(sentence)
    return words


def division(asked: WordDivision, own: Divide) -> Divide:
    """Return the function that divides as is asked for; *own* is that of the model."""
    return str.split if asked is WordDivision.SPACES else own
