"""The lexicon, which finds words by kind, lemma or inflected form."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sentprobe.errors import UsageError, suggest
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.words import Kind, Vocabulary, Word

WordReading = tuple[Word, str]
"""A word, and the name of one of its inflected forms."""
SynonymSets = Mapping[Kind, tuple[tuple[str, ...], ...]]


class UnknownWordError(UsageError):
    """A lemma is not in the lexicon with the requested kind."""


class UnknownVocabularyError(UsageError):
    """The lexicon has no vocabulary with the requested name."""


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """A list of words, and vocabularies that select some of the words; compared by identity."""

    source: str
    entries: tuple[Word, ...] = field(repr=False)
    vocabularies: Mapping[str, Vocabulary] = field(repr=False)
    synonyms: SynonymSets = field(default_factory=dict, repr=False)
    """The sets of near-synonyms by kind; a word may be in several sets."""
    language: Language = field(default=ENGLISH, repr=False)
    _by_kind: Mapping[Kind, tuple[Word, ...]] = field(init=False, repr=False)
    _by_lemma: Mapping[tuple[Kind, str], Word] = field(init=False, repr=False)
    _by_form: Mapping[str, tuple[WordReading, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        by_form: dict[str, list[WordReading]] = {}
        for word in self.entries:
            for form, text in word.forms.items():
                by_form.setdefault(text, []).append((word, form))
        by_kind = {kind: tuple(w for w in self.entries if w.kind is kind) for kind in Kind}
        object.__setattr__(self, "_by_kind", by_kind)
        object.__setattr__(self, "_by_lemma", {(w.kind, w.lemma): w for w in self.entries})
        object.__setattr__(self, "_by_form", {text: tuple(readings) for text, readings in by_form.items()})

    def words(self, kind: Kind) -> tuple[Word, ...]:
        """Return the words of one kind, in the order of the file."""
        return self._by_kind[kind]

    def get(self, lemma: str, kind: Kind) -> Word:
        """Return the word with this lemma and kind.

        Raises:
            UnknownWordError: there is no such word; the message names the nearest lemma, or other kinds of the lemma.

        >>> from sentprobe.lexicon import Form, Kind, english
        >>> english().get("student", Kind.NOUN).forms[Form.NNS]
        'students'
        >>> english().get("studnet", Kind.NOUN)
        Traceback (most recent call last):
        ...
        sentprobe.lexicon.lexicon.UnknownWordError: unknown noun 'studnet' (did you mean 'student'?)
        """
        word = self._by_lemma.get((kind, lemma))
        if word is None:
            raise UnknownWordError(f"unknown {kind} {lemma!r}{self._hint(lemma, kind)}")
        return word

    def _hint(self, lemma: str, kind: Kind) -> str:
        if kinds := self.kinds_of(lemma):
            return f" (the lexicon has it as {' and '.join(kinds)})"
        lemmas = [word.lemma for word in self.words(kind)]
        if (hint := suggest(lemma, lemmas)) or kind not in self.language.closed_kinds:
            return hint
        return f"; the {kind}s are {', '.join(lemmas)}"

    def kinds_of(self, lemma: str) -> tuple[Kind, ...]:
        """Return the kinds that a lemma has; empty if the lemma is not in the lexicon."""
        return tuple(kind for kind in Kind if (kind, lemma) in self._by_lemma)

    def vocabulary(self, name: str) -> Vocabulary:
        """Return the vocabulary with this name.

        Raises:
            UnknownVocabularyError: there is no such vocabulary; the message lists the existing vocabularies.

        >>> from sentprobe.lexicon import english
        >>> english().vocabulary("compeval").words[Kind.INTRANSITIVE]
        ('sleep', 'dance')
        """
        if name not in self.vocabularies:
            names = ", ".join(self.vocabularies)
            hint = suggest(name, self.vocabularies)
            raise UnknownVocabularyError(f"unknown vocabulary {name!r}, expected {names}{hint}")
        return self.vocabularies[name]

    def replace_words(self, name: str, words: Mapping[Kind, Iterable[str]]) -> "Lexicon":
        """Return a copy in which the lemmas in *words* replace the lemmas of the same kinds in vocabulary *name*."""
        old = self.vocabulary(name)
        fresh = {kind: tuple(lemmas) for kind, lemmas in words.items()}
        new = replace(old, words={**old.words, **fresh})
        return Lexicon(self.source, self.entries, {**self.vocabularies, name: new}, self.synonyms, self.language)

    def find(self, form_text: str) -> tuple[WordReading, ...]:
        """Return a pair (word, name of the form) for each form that is spelled *form_text*; () if there is none.

        >>> from sentprobe.lexicon import english
        >>> [(word.lemma, form.name) for word, form in english().find("slept")]
        [('sleep', 'VBD'), ('sleep', 'VBN')]
        """
        return self._by_form.get(form_text, ())
