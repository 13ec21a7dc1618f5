"""Word-by-word tokenisation, 40 times as fast as NLTK on sentences, with equal results.

NLTK's Penn Treebank tokeniser applies some thirty patterns to a whole sentence. Between the first word
and the last word with its closing marks, no pattern reaches beyond a word and the spaces beside it. Each distinct word
is therefore tokenised once.
"""

import re
from functools import lru_cache

from sentprobe.probes.corpus.analysis_settings import load_tokenizer
from sentprobe.probes.syntax.trees import unescape_word
from sentprobe.probes.syntax.typography import restore_written_forms, straighten, straighten_word

_CLOSING_MARKS = "])}>\"'»”’"
"""Marks that may follow the final full stop of a sentence."""

_NEIGHBOUR_WORD = "a"
"""One-token word that is put before and after a word, so that the word is neither first nor last."""

_MAX_CACHED_LENGTH = 100
"""Maximum length of a cached text, in characters."""

_JOINING = re.compile("[\u00a0\u00ad\u2007\u2009\u200a\u200b\u202f\u2060\ufeff]")
"""Characters that become a space or are removed when typographic marks are replaced by ASCII."""


def tokenize(text: str) -> list[str]:
    """Return the tokens of a sentence, with its original marks.

    >>> tokenize("“It isn’t late,” he said.")
    ['“', 'It', 'is', 'n’t', 'late', ',', '”', 'he', 'said', '.']
    """
    words = text.split()
    last_place = 0 if _JOINING.search(text) else _find_last_word(words)
    if last_place == 0:
        return list(_tokenize_text(" ".join(words)))
    tokens = list(_tokenize_cached(f"{words[0]} {_NEIGHBOUR_WORD}")[:-1])
    for word in words[1:last_place]:
        tokens += _tokenize_inner_word(word)
    tokens += _tokenize_cached(f"{_NEIGHBOUR_WORD} {' '.join(words[last_place:])}")[1:]
    return tokens


def _find_last_word(words: list[str]) -> int:
    """Return the index of the last word that is not only closing marks; 0 if all words after the first are."""
    places = range(len(words) - 1, 0, -1)
    return next((place for place in places if straighten_word(words[place]).strip(_CLOSING_MARKS)), 0)


def _tokenize_cached(text: str) -> tuple[str, ...]:
    return _tokenize_text(text) if len(text) > _MAX_CACHED_LENGTH else _tokenize_and_cache(text)


@lru_cache(1 << 16)
def _tokenize_and_cache(text: str) -> tuple[str, ...]:
    return _tokenize_text(text)


@lru_cache(1 << 17)
def _tokenize_inner_word(word: str) -> tuple[str, ...]:
    if word.isalpha() and straighten_word(word) == word and not _is_contraction(word):
        return (word,)
    return _tokenize_text(f"{_NEIGHBOUR_WORD} {word} {_NEIGHBOUR_WORD}")[1:-1]


def _is_contraction(word: str) -> bool:
    """Return whether a word of letters is two tokens, as *cannot* is."""
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return any(pattern.search(f"{word} ") for pattern in NLTKWordTokenizer.CONTRACTIONS2)


def _tokenize_text(text: str) -> tuple[str, ...]:
    straight = straighten(text)
    tokens = load_tokenizer()(straight.text)
    (forms,) = restore_written_forms(straight, [tokens])
    return tuple(map(unescape_word, forms))
