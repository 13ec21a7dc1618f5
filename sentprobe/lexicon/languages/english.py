"""The language English: its inflected forms, word features and grammatical facts."""

from collections.abc import Iterator

from sentprobe.lexicon.languages.language import EntryValues, Language
from sentprobe.lexicon.words import (
    ADJUNCTS,
    AUXILIARIES,
    BOUNDS,
    FORMS,
    FUNCTION_WORDS,
    NAMES,
    NUMERALS,
    OPEN_KINDS,
    PERFECT_AUXILIARIES,
    REFLEXIVES,
    RESERVED,
    SURNAMES,
    TITLES,
    VOWEL_KINDS,
    Form,
    FormSource,
    Kind,
    Word,
    guess_form,
)

CLOSED_KINDS = tuple(kind for kind in FORMS if kind not in OPEN_KINDS)
_VOWEL, _CONSONANT = "vowel", "consonant"
_WORD_FEATURES = {
    ("DET", "the"): "Definite=Def|PronType=Art",
    ("DET", "a"): "Definite=Ind|PronType=Art",
    ("DET", "some"): "PronType=Ind",
    ("DET", "any"): "PronType=Ind",
    ("DET", "no"): "PronType=Neg",
    ("DET", "every"): "PronType=Tot",
    ("DET", "each"): "PronType=Tot",
    ("ADV", "always"): "PronType=Tot",
    ("ADV", "never"): "PronType=Neg",
}

_DEMONSTRATIVES = {"this", "that"}
_NUMBERS = {"sg": "Sing", "pl": "Plur"}


def find_word_features(pos: str, lemma: str, number: str = "", _case: str = "", _class: str = "") -> str:
    """Return the Universal Dependencies features of a determiner or adverb, as in the English Web Treebank, or "".

    *number* is the number of the noun, with which a demonstrative agrees: "this" ("sg"), "these" ("pl").

    >>> find_word_features("DET", "the"), find_word_features("DET", "this", "pl")
    ('Definite=Def|PronType=Art', 'Number=Plur|PronType=Dem')
    """
    if pos == "DET" and lemma in _DEMONSTRATIVES and number in _NUMBERS:
        return f"Number={_NUMBERS[number]}|PronType=Dem"
    return _WORD_FEATURES.get((pos, lemma), "")


def make_forms(lemma: str, kind: Kind, table: EntryValues, ask: FormSource) -> Iterator[tuple[Form, str]]:
    """Yield each form and its spelling. Guess missing forms, but not if a closed-class word's entry states a form."""
    exhaustive = kind in CLOSED_KINDS and any(form in table for form in FORMS[kind])
    for form in FORMS[kind]:
        stated = table.get(form, table.get(form.removesuffix(".vowel")))
        text = stated if stated is not None or exhaustive else guess_form(lemma, kind, form, ask)
        if isinstance(text, str) and text:
            yield form, text


def _find_class(word: Word) -> str:
    return _VOWEL if word.vowel else _CONSONANT


def _find_noun_form(number: str, _case: str) -> Form:
    return Form.NN if number == "sg" else Form.NNS


def _find_form(slot: str, number: str, _case: str, word_class: str) -> Form:
    """Return JJ for an adjective, else a determiner's form, which depends on the next word's sound (*word_class*)."""
    if slot == "adjective":
        return Form.JJ
    return Form(f"DT.{number}{'.vowel' if word_class == _VOWEL else ''}")


ENGLISH = Language(
    code="en",
    name="English",
    stem="english",
    open_kinds=OPEN_KINDS,
    closed_kinds=CLOSED_KINDS,
    forms=FORMS,
    keys={
        kind: (*forms, *(("article",) if kind in VOWEL_KINDS else ()), *(("gender",) if kind is Kind.NOUN else ()))
        for kind, forms in FORMS.items()
    },
    make_forms=make_forms,
    find_class=_find_class,
    reserved=RESERVED,
    determiner="the",
    numerals=NUMERALS,
    bounds=BOUNDS,
    names=NAMES,
    titles=TITLES,
    surnames=SURNAMES,
    adjuncts=ADJUNCTS,
    relativizer="that",
    frames=("intransitive", "transitive", "ditransitive"),
    aspects=("simple", "prog", "perf", "perfprog"),
    requested_aspects=frozenset({"perf", "perfprog"}),
    requested_words=PERFECT_AUXILIARIES,
    cues={"not": "not", "n't": "n't"},
    moods=("statement", "question", "order"),
    has_coordination=True,
    max_adverbs=6,
    structures=(
        ("intransitive", "active", "", ("", "agent")),
        ("transitive", "active", "", ("", "agent", "patient")),
        ("transitive", "passive", "", ("", "agent", "patient")),
        ("ditransitive", "active", "double", ("", "agent", "patient")),
        ("ditransitive", "active", "to", ("", "agent", "patient", "recipient")),
        ("ditransitive", "passive", "double", ("", "recipient")),
        ("ditransitive", "passive", "to", ("", "patient")),
    ),
    function_words=FUNCTION_WORDS,
    auxiliaries=AUXILIARIES,
    reflexives=REFLEXIVES,
    conjunction="and",
    classes=(_CONSONANT, _VOWEL),
    find_noun_form=_find_noun_form,
    find_form=_find_form,
    find_features=find_word_features,
    class_of_next_word=True,
    agreeing_slots=frozenset({"det"}),
    descriptions={
        Form.NN: "a singular noun",
        Form.NNS: "a plural noun",
        Form.VB: "the plain form of a verb",
        Form.VBP: "a plural present verb",
        Form.VBZ: "a singular present verb",
        Form.VBD: "a past verb",
        Form.VBG: "an -ing form",
        Form.VBN: "a past participle",
        Form.RB: "an adverb",
        Form.MD: "a modal",
        Form.MD_NEG: "a modal",
    },
)
