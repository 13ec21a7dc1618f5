"""Translation of triplets: the anchor stays English, and the positive and the negatives are in another language.

An entry of the other lexicon names its English lemma under the key ``english``. The other language has no progressive,
so every clause becomes simple. Verbs that take a dative object in the other language have no passive there. With such a
verb, a passive English clause becomes active; in a main clause, the object then comes first. If a translation would
have two readings, its transitive clauses become passive, except those with a dative object.
"""

from sentprobe.errors import UsageError
from sentprobe.lexicon import Flag, Kind, Lexicon, Word

UNTRANSLATED = {
    "aspect": "progressive and simple events have one translation",
    "modality": "modals are not translated",
    "mood": "questions and orders are not translated",
    "recipient": "verbs with a recipient are not translated",
}
"""The contrasts that are not translated, with the reason."""


class Translator:
    """Translator of words from English into another language, by the lexicons of the two languages.

    >>> from sentprobe.lexicon.read import load_lexicon
    >>> Translator(load_lexicon(None), load_lexicon(None, "de")).find_word(Kind.TRANSITIVE, "help").lemma
    'helfen'
    """

    def __init__(self, source: Lexicon, target: Lexicon) -> None:
        self.source, self.target = source, target
        self._words: dict[tuple[Kind, str], Word] = {}
        for word in target.entries:
            if word.english:  # a verb with a dative object translates a transitive verb
                self._words[Kind.TRANSITIVE if word.kind is Kind.DATIVE else word.kind, word.english] = word
        article = target.get(target.language.determiner, Kind.DETERMINER)
        self._words[Kind.DETERMINER, source.language.determiner] = article

    def restrict(self, vocabulary: str) -> Lexicon:
        """Return a copy of the source lexicon in which *vocabulary* has only words with a usable translation."""
        words = self.source.vocabulary(vocabulary).words
        usable = {kind: [lemma for lemma in words[kind] if self._is_usable(kind, lemma)] for kind in words}
        return self.source.replace_words(vocabulary, usable)

    def _is_usable(self, kind: Kind, lemma: str) -> bool:
        """Return whether a word has a translation that is no sentence adverb. Negated clauses forbid such adverbs."""
        word = self._words.get((kind, lemma))
        return word is not None and Flag.SENTENCE not in word.flags

    def find_word(self, kind: Kind, lemma: str) -> Word:
        """Return the translation of an English word. Raises UsageError if there is none."""
        if (kind, lemma) not in self._words:
            raise UsageError(f"the {kind} {lemma!r} has no translation in {self.target.source}")
        return self._words[kind, lemma]
