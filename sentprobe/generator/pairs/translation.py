"""Translation of triplets: the anchor stays English, and the positive and the negatives are in another language.

The key ``english`` in the other lexicon translates each lemma. The progressive, which the other language lacks, becomes
simple. A verb that takes a dative object there has no passive: in the main clause, the object stands first instead; a
relative clause is active. If a translation has two readings, its transitive clauses become passive.
"""

from sentprobe.errors import UsageError
from sentprobe.lexicon import Flag, Kind, Lexicon, Word

UNTRANSLATED = {
    "aspect": "progressive and simple events have one translation",
    "modality": "modals are not translated",
    "mood": "questions and orders are not translated",
    "recipient": "verbs with a recipient are not translated",
}
"""The contrasts that a translation does not preserve, with the reason."""


class Translator:
    """Translator of words from English into another language, by the lexicons of the two languages.

    >>> from sentprobe.lexicon.read import load_lexicon
    >>> Translator(load_lexicon(None), load_lexicon(None, "de")).find_word(Kind.TRANSITIVE, "help").lemma
    'helfen'
    """

    def __init__(self, source: Lexicon, target: Lexicon) -> None:
        self.source, self.target = source, target
        self._words = {(_find_source_kind(word), word.english): word for word in target.entries if word.english}
        article = target.get(target.language.determiner, Kind.DETERMINER)
        self._words[Kind.DETERMINER, source.language.determiner] = article

    def restrict(self, vocabulary: str) -> Lexicon:
        """Return the source lexicon with only those words in *vocabulary* that have a translation."""
        words = self.source.vocabulary(vocabulary).words
        usable = {kind: [lemma for lemma in words[kind] if self._is_usable(kind, lemma)] for kind in words}
        return self.source.replace_words(vocabulary, usable)

    def _is_usable(self, kind: Kind, lemma: str) -> bool:
        """Say whether a word has a translation, and can stand in a negated clause."""
        word = self._words.get((kind, lemma))
        return word is not None and Flag.SENTENCE not in word.flags

    def find_word(self, kind: Kind, lemma: str) -> Word:
        """Return the translation of a word of the source lexicon. Raises UsageError."""
        if (kind, lemma) not in self._words:
            raise UsageError(f"the {kind} {lemma!r} has no translation in {self.target.source}")
        return self._words[kind, lemma]


def _find_source_kind(word: Word) -> Kind:
    return Kind.TRANSITIVE if word.kind is Kind.DATIVE else word.kind
