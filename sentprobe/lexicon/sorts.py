"""Restriction of a vocabulary to nouns of one sort, so that any two nouns can exchange their roles."""

from functools import lru_cache
from itertools import product

from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.lexicon.words import MODIFIED, ROLES, Kind


@lru_cache(maxsize=16)  # renderers are cached by lexicon, which is compared by identity
def restrict_to_one_sort(lexicon: Lexicon, vocabulary: str) -> Lexicon:
    """Return *lexicon* with a smaller *vocabulary*: nouns of one sort, and verbs and adjectives that accept this sort.

    A verb must accept the sort in every role. The chosen sort keeps the most pairs of a noun and a transitive verb.
    """
    words = lexicon.vocabulary(vocabulary).words
    kinds = [kind for kind in (Kind.NOUN, *ROLES, Kind.ADJECTIVE) if kind in words]
    sorts: dict[str, set[tuple[str, ...]]] = {}
    """All sorts of each noun, by the noun's main sort."""
    for noun in words[Kind.NOUN]:
        word = lexicon.get(noun, Kind.NOUN)
        sorts.setdefault(word.sort, set()).add(word.sorts)

    def is_usable(kind: Kind, lemma: str, sort: str) -> bool:
        word = lexicon.get(lemma, kind)
        pairs = product(sorts[sort], ROLES.get(kind, (MODIFIED,)))
        return word.sort == sort if kind is Kind.NOUN else all(word.accepts(*pair) for pair in pairs)

    usable = [{kind: tuple(w for w in words[kind] if is_usable(kind, w, sort)) for kind in kinds} for sort in sorts]
    best = max(usable, key=lambda some: len(some[Kind.NOUN]) * len(some[Kind.TRANSITIVE]), default=words)
    is_all = all(best[kind] == words[kind] for kind in kinds)
    return lexicon if is_all else lexicon.replace_words(vocabulary, best)
