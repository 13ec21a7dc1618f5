"""Readings of a token: the words of the lexicon, and their inflected forms, that are spelled like it."""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

from sentprobe.generator.events import event as ev
from sentprobe.generator.sentences.tries import QUESTION_WORD, RELATIVIZER
from sentprobe.lexicon import Kind, Lexicon, Word
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.words import VERBS


class TokenReadings(NamedTuple):
    """The words that a token can be.

    Each tuple of ``inputs`` has a key of ``Trie.tokens``, then the lemmas of a verb, a relativizer and a modal. Lemmas
    that do not apply are "", as in ("VBD transitive", "help", "", ""). ``determiners`` are pairs of a lemma and the
    name of its form. ``adjectives`` are triples of a lemma, the name of its form, and its class.
    """

    text: str
    inputs: tuple[tuple[str, str, str, str], ...] = ()
    determiners: tuple[tuple[str, str], ...] = ()
    nouns: tuple["NounReading", ...] = ()
    adverbs: tuple[str, ...] = ()
    adjectives: tuple[tuple[str, str, str], ...] = ()


class NounReading(NamedTuple):
    """A noun that a token can be: lemma, number, case, class, and the form that its determiner must have."""

    lemma: str
    number: str
    case: str
    word_class: str
    determiner_form: str


END = TokenReadings("")
"""The reading after the last token: no word."""
_QUESTION_WORDS = frozenset(word.value for word in ev.Asked)


@cache
def _index_noun_forms(language: Language) -> Mapping[str, tuple[str, str]]:
    """Return a dictionary from names of noun forms, such as "NN.sg.acc", to pairs of grammatical number and case."""
    pairs = product((number.value for number in ev.Number), language.cases)
    return {language.find_noun_form(*pair): pair for pair in pairs}


@lru_cache(maxsize=16_384)
def find_readings(token: str, lexicon: Lexicon) -> TokenReadings:
    """Return the readings of *token* as words of *lexicon*; results are cached."""
    language = lexicon.language
    readings = lexicon.find(token)
    inputs = [(token, "", "", "")]
    if token in _QUESTION_WORDS and "question" in language.moods:
        inputs.append((QUESTION_WORD, "", token, ""))
    inputs += [item for word, form in readings for item in _list_inputs(word, form, language)]
    nouns = (_read_noun(word, form, language) for word, form in readings if word.kind is Kind.NOUN)
    return TokenReadings(
        token,
        tuple(inputs),
        tuple((word.lemma, form) for word, form in readings if word.kind is Kind.DETERMINER),
        tuple(noun for noun in nouns if noun is not None),
        tuple(word.lemma for word, _ in readings if word.kind is Kind.ADVERB),
        tuple((w.lemma, form, language.find_class(w)) for w, form in readings if w.kind is Kind.ADJECTIVE),
    )


def _read_noun(word: Word, form: str, language: Language) -> NounReading | None:
    features = _index_noun_forms(language).get(form)  # a genitive has none
    if features is None:
        return None
    word_class = language.find_class(word)
    return NounReading(word.lemma, *features, word_class, language.find_form("det", *features, word_class))


def _list_inputs(word: Word, form: str, language: Language) -> Iterator[tuple[str, str, str, str]]:
    """Yield the tuples of ``TokenReadings.inputs`` for a form of a verb, relativizer or modal; none for other words."""
    if word.kind is Kind.RELATIVIZER:
        yield form if "rel" in language.agreeing_slots else RELATIVIZER, "", word.lemma, ""
    elif word.kind is Kind.MODAL:
        yield f"{form} {word.kind.value}", "", "", word.lemma
    elif word.kind in VERBS:
        yield f"{form} {word.kind.value}", word.lemma, "", ""
        if form == language.participle:
            yield f"{form} {word.kind.value} {language.find_auxiliary(word)}", word.lemma, "", ""
