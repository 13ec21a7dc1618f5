"""Restriction of a vocabulary to nouns that can exchange their roles."""

from collections import Counter
from functools import lru_cache

from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.lexicon.words import MODIFIED, ROLES, Kind


@lru_cache(maxsize=16)  # renderers are cached by lexicon, which is compared by identity
def restrict_to_one_sort(lexicon: Lexicon, vocabulary: str) -> Lexicon:
    """Return the lexicon with only the nouns of the commonest sort, and the words that go with them, in a vocabulary.

    The lexicon itself is returned if these are all words of the vocabulary.
    """
    words = lexicon.vocabulary(vocabulary).words
    counts = Counter(lexicon.get(noun, Kind.NOUN).sort for noun in words[Kind.NOUN])
    if not counts:
        return lexicon
    sort = max(counts, key=lambda name: counts[name])

    kinds = (Kind.NOUN, *ROLES, Kind.ADJECTIVE)

    def is_usable(kind: Kind, lemma: str) -> bool:
        word = lexicon.get(lemma, kind)
        roles = ROLES.get(kind, (MODIFIED,))
        return word.sort == sort if kind is Kind.NOUN else all(word.accepts(sort, role) for role in roles)

    kept = {kind: tuple(lemma for lemma in words[kind] if is_usable(kind, lemma)) for kind in kinds}
    return lexicon.replace_words(vocabulary, kept) if any(kept[kind] != words[kind] for kind in kinds) else lexicon
