"""Word tables: forms, lemmas and features of all words of a space, as indices into a pool of strings."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.generator.events import event as ev
from sentprobe.generator.spaces.layout import NEGATIONS
from sentprobe.generator.spaces.space import NumberedEvents
from sentprobe.lexicon import Form, Kind, Word
from sentprobe.lexicon.languages.language import Language

NumberArray: TypeAlias = NDArray[np.int64]
"""An array of indices, mostly of strings in a :class:`StringPool`."""
NUMBERS = list(ev.Number)


class StringPool:
    """A list of distinct strings, which are numbered in order of first use."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the index of *text* in the pool; add *text* if it is new."""
        number = self._numbers.setdefault(text, len(self.strings))
        if number == len(self.strings):
            self.strings.append(text)
        return number

    def numbers(self, texts: Iterable[str]) -> NumberArray:
        """Return the indices of *texts* in the pool; add new texts."""
        return np.array([self.number(text) for text in texts], dtype=np.int64)


class WordTables:
    """The forms, lemmas and features of all words of a space, as indices into ``pool``.

    Tables of forms have these axes: (number, noun) for nouns, (form, verb) for the verbs of a frame, (form, modal) for
    modals (row 0 without n't, row 1 with n't), and (word, number, class) for words that agree, such as determiners
    (classes: see ``Language``).
    """

    def __init__(self, space: NumberedEvents) -> None:
        self.pool = StringPool()
        lexicon, words = space.lexicon, space.words
        self.language = language = lexicon.language
        nouns = [lexicon.get(lemma, Kind.NOUN) for lemma in words.nouns]
        self.noun_forms = {
            case: self._number_rows(
                # Names have no plural: their entry is empty, and no sentence uses it.
                [w.forms.get(language.find_noun_form(n.value, case), "") for w in nouns]
                for n in NUMBERS
            )
            for case in language.cases
        }
        self.noun_lemmas = self.pool.numbers(words.nouns)
        self.noun_classes = _number_classes(nouns, language)
        self.verb_forms = {}
        for frame in words.verbs_by_frame:
            words_by_lemma = {word.lemma: word for word in lexicon.words(Kind(frame.value))}
            verbs = [words_by_lemma.get(verb) for verb in words.verbs]
            # All frames share one numbering of verbs, so a verb without the frame has an empty entry in its table.
            self.verb_forms[frame.value] = self._number_rows(
                [word.forms[form] if word else "" for word in verbs] for form in list_verb_forms(language)
            )
        self.verb_lemmas = self.pool.numbers(words.verbs)
        self._add_auxiliaries(space)
        pairs = [(n, lexicon.get(d, Kind.DETERMINER)) for n, d in words.determiners]
        self.det_forms = self._build_agreeing_forms("det", [([n], w) for n, w in pairs])
        self.det_lemmas = self.pool.numbers(w.lemma for _, w in pairs)
        self.det_feats = self._build_agreeing_feats("DET", [([n], w.lemma) for n, w in pairs])
        self.det_numbers = np.array([NUMBERS.index(ev.Number(n)) for n, _ in pairs], dtype=np.int64)
        self._add_adjectives(space)
        self.adverbs = self.pool.numbers(words.adverbs)
        self.adverb_feats = self.pool.numbers(language.find_features("ADV", a, "", "", "") for a in words.adverbs)
        self._add_relativizers(space)
        modals = [lexicon.get(lemma, Kind.MODAL) for lemma in words.modals]
        self.modal_lemmas = self.pool.numbers(words.modals)
        self.modal_forms = self._number_rows([w.forms.get(f, "") for w in modals] for f in (Form.MD, Form.MD_NEG))
        self.adjuncts = self.pool.numbers(words.adjuncts)
        self.adjunct_forms = self.pool.numbers(lemma.rpartition(" ")[2] for lemma in words.adjuncts)
        self.noun_feats = self._build_agreeing_feats("NOUN", [([n.value for n in NUMBERS], "")])
        self.tenses = self.pool.numbers(tense.value for tense in ev.Tense)
        self.negators = self.pool.numbers(["", *NEGATIONS[1:]])

    def _add_auxiliaries(self, space: NumberedEvents) -> None:
        """Add the forms and lemmas of perfect auxiliaries. For each verb, add the index of the auxiliary it takes."""
        auxiliaries = self.language.perfect_auxiliaries
        if not auxiliaries:
            return
        rows = [*zip(*auxiliaries.values(), strict=True)]  # in the order of TENSE_NUMBER_PAIRS
        self.auxiliary_form = self._number_rows(rows)
        self.auxiliary_lemma = self._number_rows([*auxiliaries] for _ in rows)
        self.verb_auxiliaries = {}
        for frame in space.words.verbs_by_frame:
            words = {word.lemma: self.language.find_auxiliary(word) for word in space.lexicon.words(Kind(frame.value))}
            numbers = [[*auxiliaries].index(words[verb]) if verb in words else 0 for verb in space.words.verbs]
            self.verb_auxiliaries[frame.value] = np.array(numbers, dtype=np.int64)

    def _add_adjectives(self, space: NumberedEvents) -> None:
        lexicon, words, language = space.lexicon, space.words, self.language
        adjectives = [lexicon.get(lemma, Kind.ADJECTIVE) for lemma in words.adjectives]
        rows = [([n.value for n in NUMBERS], w) for w in adjectives]
        self.adjective_forms = self._build_agreeing_forms("adjective", rows)
        self.plain_adjectives = self.adjective_forms[language.cases[0]][:, 0, 0]
        self.adjective_lemmas = self.pool.numbers(words.adjectives)
        self.adjective_feats = self._build_agreeing_feats("ADJ", [(numbers, w.lemma) for numbers, w in rows])
        self.adjective_classes = _number_classes(adjectives, language)

    def _add_relativizers(self, space: NumberedEvents) -> None:
        words = [space.lexicon.get(lemma, Kind.RELATIVIZER) for lemma in space.words.relativizers]
        # A relativizer has one form, unless it agrees with its noun; those tables are the last two.
        self.rel_forms = self.pool.numbers(next(iter(w.forms.values())) for w in words)
        self.rel_tags = self.pool.numbers(str(next(iter(w.forms))).partition(".")[0] for w in words)
        self.rel_lemmas = self.pool.numbers(w.lemma for w in words)
        if "rel" in self.language.agreeing_slots:
            rows = [([n.value for n in NUMBERS], w) for w in words]
            self.agreeing_rel_forms = self._build_agreeing_forms("rel", rows)
            self.agreeing_rel_feats = self._build_agreeing_feats("PRON", [(ns, w.lemma) for ns, w in rows])

    def _build_agreeing_forms(self, slot: str, rows: Sequence[tuple[list[str], Word]]) -> dict[str, NumberArray]:
        """Return one table for each case: indices of word forms in ``pool`` (axes: word, number, class)."""
        find, classes = self.language.find_form, self.language.classes
        return {
            case: self._number_table(
                [[[word.forms[find(slot, n, case, c)] for c in classes] for n in ns] for ns, word in rows]
            )
            for case in self.language.cases
        }

    def _build_agreeing_feats(self, pos: str, rows: Sequence[tuple[list[str], str]]) -> dict[str, NumberArray]:
        find, classes = self.language.find_features, self.language.classes
        return {
            case: self._number_table([[[find(pos, w, n, case, c) for c in classes] for n in ns] for ns, w in rows])
            for case in self.language.cases
        }

    def _number_table(self, rows: Sequence[Sequence[Sequence[str]]]) -> NumberArray:
        table = [[self.pool.numbers(texts) for texts in row] for row in rows]
        shape = len(rows), len(rows[0]) if rows else 1, len(self.language.classes)
        return np.array(table, dtype=np.int64).reshape(shape)

    def _number_rows(self, rows: Iterable[Iterable[str]]) -> NumberArray:
        return np.array([self.pool.numbers(row) for row in rows])


def list_verb_forms(language: Language) -> tuple[str, ...]:
    return language.forms[Kind.TRANSITIVE]


def _number_classes(words: Iterable[Word], language: Language) -> NumberArray:
    return np.array([language.classes.index(language.find_class(word)) for word in words], dtype=np.int64)
