"""The words of a space as numbers: tables of strings' numbers, to index with arrays of values."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.generator.event import Negator, Number, Tense
from sentprobe.generator.layout import NEGATIONS
from sentprobe.generator.realize import determiner_form
from sentprobe.generator.space import Space
from sentprobe.grammars.features import word_features
from sentprobe.lexicon import Form, Kind, Lexicon

Numbers: TypeAlias = NDArray[np.int64]
"""Numbers of strings in a pool, or positions."""

VERB_FORMS = tuple(form for form in Form if form.value.startswith("VB"))
_NUMBERS = list(Number)


class Pool:
    """Different strings, numbered as they come."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of *text*."""
        number = self._numbers.setdefault(text, len(self.strings))
        if number == len(self.strings):
            self.strings.append(text)
        return number

    def numbers(self, texts: Iterable[str]) -> Numbers:
        """Return the numbers of *texts*."""
        return np.array([self.number(text) for text in texts], dtype=np.int64)


class Tables:
    """The forms, lemmas and features of the words of a space, by their numbers in ``pool``.

    The first axis of ``noun_forms`` is the number, of ``verb_forms`` (one for each kind of verb)
    the form in the order of :data:`VERB_FORMS`, and the last axis is the word. The second axis of
    ``det_forms`` is whether a vowel follows.
    """

    def __init__(self, space: Space) -> None:
        self.pool = Pool()
        lexicon, words = space.lexicon, space.words
        nouns = [lexicon.get(lemma, Kind.NOUN) for lemma in words.nouns]
        self.noun_forms = self._table([[w.forms[f] for w in nouns] for f in (Form.NN, Form.NNS)])
        self.noun_lemmas = self.pool.numbers(words.nouns)
        self.vowels = np.array([w.vowel for w in nouns], dtype=np.int64)
        self.verb_forms = {
            frame.value: self._verb_forms(lexicon, words.verbs, Kind(frame.value))
            for frame in words.verbs_by_frame
        }
        self.verb_lemmas = self.pool.numbers(words.verbs)
        self._add_determiners(space)
        self.adverbs = self.pool.numbers(words.adverbs)
        self.adverb_feats = self.pool.numbers(word_features("ADV", a) for a in words.adverbs)
        rels = [lexicon.get(lemma, Kind.RELATIVIZER) for lemma in words.relativizers]
        self.rel_forms = self.pool.numbers(next(iter(w.forms.values())) for w in rels)
        self.rel_tags = self.pool.numbers(next(iter(w.forms)).value for w in rels)
        self.rel_lemmas = self.pool.numbers(w.lemma for w in rels)
        self.tenses = self.pool.numbers(tense.value for tense in Tense)
        cues = {negator.value for negator in Negator}
        self.negators = self.pool.numbers(n if n in cues else "" for n in NEGATIONS)

    def _add_determiners(self, space: Space) -> None:
        pairs = [(n, space.lexicon.get(d, Kind.DETERMINER)) for n, d in space.words.determiners]
        self.det_forms = self._table(
            [[w.forms[determiner_form(n, vowel=v)] for v in (False, True)] for n, w in pairs]
        )
        self.det_lemmas = self.pool.numbers(w.lemma for _, w in pairs)
        self.det_feats = self.pool.numbers(word_features("DET", w.lemma, n) for n, w in pairs)
        numbers = [_NUMBERS.index(Number(n)) for n, _ in pairs]
        self.det_numbers = np.array(numbers, dtype=np.int64)

    def _verb_forms(self, lexicon: Lexicon, verbs: Sequence[str], kind: Kind) -> Numbers:
        known = {word.lemma: word for word in lexicon.words(kind)}
        forms = [[known[v].forms[form] if v in known else "" for v in verbs] for form in VERB_FORMS]
        return self._table(forms)

    def _table(self, rows: Iterable[Iterable[str]]) -> Numbers:
        return np.array([self.pool.numbers(row) for row in rows])
