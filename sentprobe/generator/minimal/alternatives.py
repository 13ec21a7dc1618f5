"""Tables of wrong words: for a word of a good sentence, the words that can replace it in the bad sentence."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from sentprobe.generator.minimal import german_tables
from sentprobe.generator.minimal.changes import Alternatives, name_form
from sentprobe.generator.minimal.paradigms import has_clear_forms, takes_persons
from sentprobe.generator.sentences.sentence_records import json_escape
from sentprobe.lexicon import Flag, Form, Kind, Lexicon
from sentprobe.lexicon.words import PERSON, VERB_FORMS, VERBS, Vocabulary, Word

_AUXILIARIES = (("VBZ is", "VBP are"), ("VBD was", "VBD were"), ("VBZ does", "VBP do"))
_GENDERS: Mapping[str, Sequence[str]] = {"PRP himself": ["herself"], "PRP herself": ["himself"]}
_PRONOUN_NUMBERS: Mapping[str, Sequence[str]] = {
    "PRP themselves": ["himself", "herself"],
    **{key: ["themselves"] for key in _GENDERS},
}
_NUMBER_FORMS = (
    (Form.NN, Form.NNS),
    (Form.VBZ, Form.VBP),
    (Form.DT_SG, Form.DT_PL),
    (Form.DT_SG_VOWEL, Form.DT_PL_VOWEL),
)


def build_alternatives(
    name: str, lexicon: Lexicon, vocabulary: Vocabulary, lacks: Collection[str] = ()
) -> Alternatives:
    """Return the table *name*, which maps a good word to the wrong words that can replace it.

    *name* is a table's name, such as "number", or the tag of a verb form: "VBG" maps *helps* to *helping*. Only verbs
    that have none of the frames *lacks* can replace other verbs. Words are escaped as in JSON strings.
    """
    tables = _TABLES[lexicon.language.code]
    if name in tables:
        rows = tables[name](lexicon, vocabulary, lacks)
    else:
        rows = _list_forms(Form(name), _list_words(VERBS, lexicon, vocabulary))
    return {json_escape(key): [*map(json_escape, words)] for key, words in rows if words}


_Rows = Iterator[tuple[str, Sequence[str]]]
"""Pairs of a good word's key, such as "VBZ helps", and the words that can replace the good word."""


def _list_words(kinds: frozenset[Kind], lexicon: Lexicon, vocabulary: Vocabulary) -> list[Word]:
    return [lexicon.get(lemma, kind) for kind in sorted(kinds) for lemma in vocabulary.words.get(kind, ())]


def _list_forms(target: Form, verbs: Sequence[Word]) -> _Rows:
    """Yield (key, wrong words) for each form of each verb: ("VBZ helps", ["helping"]) if *target* is the form VBG."""
    for verb in verbs:
        for form in VERB_FORMS:
            yield name_form(verb.forms[form], form), [verb.forms[target]]


def _list_numbers(lexicon: Lexicon, vocabulary: Vocabulary, _: Collection[str]) -> _Rows:
    """Yield the key of each singular or plural form ("VBZ helps") and its wrong words: forms in the other number."""
    for pair in _AUXILIARIES:
        for key, counterpart in (pair, pair[::-1]):
            yield key, [counterpart.partition(" ")[2]]
    yield from _PRONOUN_NUMBERS.items()
    words = chain(_list_words(VERBS | {Kind.NOUN}, lexicon, vocabulary), lexicon.words(Kind.DETERMINER))
    yield from _exchange_forms(words, _NUMBER_FORMS)


def _exchange_forms(words: Iterator[Word] | Sequence[Word], pairs: Sequence[tuple[Form, Form]]) -> _Rows:
    for word in words:
        for pair in pairs:
            for form, target in (pair, pair[::-1]):
                if form in word.forms and word.forms.get(target, word.forms[form]) != word.forms[form]:
                    yield name_form(word.forms[form], form.value.partition(".")[0]), [word.forms[target]]


def _list_verbs(kind: Kind, lexicon: Lexicon, vocabulary: Vocabulary, lacks: Collection[str]) -> _Rows:
    """Yield the key of each verb form ("VBZ helps") and its wrong words: the same form of the substitute verbs.

    A substitute verb is of *kind*, has unambiguous forms (see has_clear_forms), accepts persons in every role, and has
    none of the frames *lacks*. Its forms that are also another word ("flattering") replace no word.
    """
    verbs = [verb for verb in _list_words(frozenset({kind}), lexicon, vocabulary) if has_clear_forms(verb, lexicon)]
    verbs = [verb for verb in verbs if takes_persons(verb) and verb.frames.isdisjoint(lacks)]
    substitutes = {form: [verb.forms[form] for verb in verbs if form not in verb.ambiguous] for form in VERB_FORMS}
    for verb in _list_words(VERBS, lexicon, vocabulary):
        yield from ((name_form(verb.forms[form], form), substitutes[form]) for form in VERB_FORMS)


def _list_nouns(lexicon: Lexicon, vocabulary: Vocabulary, _: Collection[str]) -> _Rows:
    nouns = _list_words(frozenset({Kind.NOUN}), lexicon, vocabulary)
    yield "", [noun.forms[Form.NN] for noun in nouns if noun.sort == PERSON]


def _list_relativizers(lexicon: Lexicon, _: Vocabulary, __: Collection[str]) -> _Rows:
    """Yield (key, wrong words) for each relativizer form. The wrong words, such as *which*, cannot refer to persons."""
    words = lexicon.words(Kind.RELATIVIZER)
    impersonal_forms = [form for word in words if not word.accepts([PERSON]) for form in word.forms.values()]
    for word in words:
        for form, text in word.forms.items():
            yield name_form(text, form), impersonal_forms


def _list_polarity_items(lexicon: Lexicon, _: Vocabulary, __: Collection[str]) -> _Rows:
    """Yield the wrong words: polarity items (*ever* in place of an adverb, *any* in place of a determiner)."""
    for kind in (Kind.ADVERB, Kind.DETERMINER):
        items = [word for word in lexicon.words(kind) if Flag.NPI in word.flags]
        for word in lexicon.words(kind):
            for form, text in word.forms.items() if Flag.NPI not in word.flags else ():
                tag = form.value.partition(".")[0]
                yield name_form(text, tag), [item.forms[form] for item in items if form in item.forms]


def _list_adverbs(lexicon: Lexicon, vocabulary: Vocabulary, lacks: Collection[str]) -> _Rows:
    adverbs = [w for w in _list_words(frozenset({Kind.ADVERB}), lexicon, vocabulary) if w.frames.isdisjoint(lacks)]
    yield "RB not", [adverb.forms[Form.RB] for adverb in adverbs]


_Table = Callable[[Lexicon, Vocabulary, Collection[str]], _Rows]
_ENGLISH: Mapping[str, _Table] = {
    "number": _list_numbers,
    "onset": lambda lexicon, *_: _exchange_forms(lexicon.words(Kind.DETERMINER), [(Form.DT_SG, Form.DT_SG_VOWEL)]),
    "transitive": partial(_list_verbs, Kind.TRANSITIVE),
    "intransitive": partial(_list_verbs, Kind.INTRANSITIVE),
    "NOUN": _list_nouns,
    "gender": lambda *_: iter(_GENDERS.items()),
    "npi": _list_polarity_items,
    "adverb": _list_adverbs,
    "MODAL": lambda lexicon, *_: iter([("", [modal.forms[Form.MD] for modal in lexicon.words(Kind.MODAL)])]),
    "which": _list_relativizers,
}


def _adapt_table(build: Callable[[Sequence[Word]], _Rows]) -> _Table:
    """Return a table builder: it takes a lexicon and a vocabulary, and calls *build* with the vocabulary's words."""
    return lambda lexicon, vocabulary, _: build(_list_words(VERBS | {Kind.NOUN}, lexicon, vocabulary))


_TABLES: Mapping[str, Mapping[str, _Table]] = {
    "en": _ENGLISH,
    "de": {name: _adapt_table(build) for name, build in german_tables.TABLES.items()},
}
"""The builders of the tables of each language, by the name of the table."""
