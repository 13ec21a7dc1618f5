"""Tokens of sentences as ``probe analyze`` has them, and forty times as fast: word by word.

The tokeniser (NLTK's, of the Penn Treebank) tries some thirty patterns on a whole sentence. None of
them reaches beyond a word and the spaces beside it, but for those of the first word and of the last
one with the marks that may close a sentence after it. So each different word is tokenised once.
"""

import re
from functools import lru_cache

from sentprobe.probes.corpus.recipe import load_tokenizer
from sentprobe.probes.syntax.trees import plain_word
from sentprobe.probes.syntax.typography import straight_word, straighten, written_forms

_CLOSING = "])}>\"'»”’"
"""What may stand after the full stop of a sentence."""

_NEIGHBOUR = "a"
"""A word that makes another one neither the first nor the last; it is one token."""

_LONGEST = 100
"""The characters of a word that is likely to come again."""

_JOINING = re.compile("[\u00a0\u00ad\u2007\u2009\u200a\u200b\u202f\u2060\ufeff]")
"""Marks that are spaces in a text with straight marks, or nothing."""


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a sentence, with the marks that it has.

    >>> tokens_of("“It isn’t late,” he said.")
    ['“', 'It', 'is', 'n’t', 'late', ',', '”', 'he', 'said', '.']
    """
    words = text.split()
    if len(words) < 2 or _JOINING.search(text):
        return list(_tokenised(" ".join(words)))
    last = _last(words)
    if last == 0:
        return list(_tokenised(" ".join(words)))
    found = list(_kept(f"{words[0]} {_NEIGHBOUR}")[:-1])
    for word in words[1:last]:
        found += _inner(word)
    found += _kept(f"{_NEIGHBOUR} {' '.join(words[last:])}")[1:]
    return found


def _last(words: list[str]) -> int:
    """Return the place of the last word that is not all marks that close a sentence."""
    for place in range(len(words) - 1, 0, -1):
        if straight_word(words[place]).strip(_CLOSING):
            return place
    return 0


def _kept(text: str) -> tuple[str, ...]:
    return _tokenised(text) if len(text) > _LONGEST else _remembered(text)


@lru_cache(1 << 16)
def _remembered(text: str) -> tuple[str, ...]:
    return _tokenised(text)


@lru_cache(1 << 17)
def _inner(word: str) -> tuple[str, ...]:
    """Return the tokens of a word between others."""
    if word.isalpha() and straight_word(word) == word and not _contracted(word):
        return (word,)
    return _tokenised(f"{_NEIGHBOUR} {word} {_NEIGHBOUR}")[1:-1]


def _contracted(word: str) -> bool:
    """Say whether a word of letters is two tokens, as *cannot* is."""
    from nltk.tokenize.destructive import NLTKWordTokenizer  # noqa: PLC0415 - slow import

    return any(pattern.search(f"{word} ") for pattern in NLTKWordTokenizer.CONTRACTIONS2)


def _tokenised(text: str) -> tuple[str, ...]:
    straight = straighten(text)
    tokens = load_tokenizer()(straight.text)
    (forms,) = written_forms(straight, [tokens])
    return tuple(map(plain_word, forms))
