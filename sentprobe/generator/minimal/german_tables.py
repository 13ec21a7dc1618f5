"""Tables of wrong words for German: forms in another number, case or gender, and *haben* exchanged with *sein*."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from sentprobe.generator.minimal.changes import name_form
from sentprobe.lexicon import Kind, Word
from sentprobe.lexicon.languages.german import GERMAN

_Rows: TypeAlias = Iterator[tuple[str, Sequence[str]]]
_NUMBERS = ("hat haben", "hatte hatten", "ist sind", "war waren", "wird werden", "wurde wurden")
_CASES = {"nominative": "der", "accusative": "den", "dative": "dem"}
"""The article of a masculine singular noun in each case; the relative pronoun has the same form."""
_FINITE_FORMS = (("VVFIN.sg.pres", "VVFIN.pl.pres"), ("VVFIN.sg.past", "VVFIN.pl.past"))
_NOUN_FORMS = ("NN.sg.nom", "NN.pl.nom")


def _exchange(tag: str, groups: Sequence[Sequence[str]]) -> _Rows:
    """Yield the wrong words for each word of each group: the other words of the group."""
    for group in groups:
        for word in group:
            yield name_form(word, tag), [counterpart for counterpart in group if counterpart != word]


def _list_numbers(words: Sequence[Word]) -> _Rows:
    """Yield the wrong word for each auxiliary, verb and noun: its form in the other number, *haben* for *hat*."""
    verbs = [word for word in words if word.kind is not Kind.NOUN]
    nouns = [word for word in words if word.kind is Kind.NOUN]
    finite_pairs = [[verb.forms[form] for form in pair] for verb in verbs for pair in _FINITE_FORMS]
    yield from _exchange("VAFIN", [pair.split() for pair in _NUMBERS])
    yield from _exchange("VVFIN", finite_pairs)
    yield from _exchange("NN", [[noun.forms[form] for form in _NOUN_FORMS] for noun in nouns])


def _list_articles(target: str, _: Sequence[Word]) -> _Rows:
    """Yield *target* as the wrong word for other masculine articles and relative pronouns: ("ART der", ["den"])."""
    for article in _CASES.values():
        if article != target:
            yield from ((name_form(article, tag), [target]) for tag in ("ART", "PRELS"))


def _list_bare_nouns(words: Sequence[Word]) -> _Rows:
    """Yield the wrong word for each accusative singular that differs from the nominative: *Student* for *Studenten*."""
    for noun in words:
        if noun.kind is Kind.NOUN and noun.forms["NN.sg.acc"] != noun.lemma:
            yield name_form(noun.forms["NN.sg.acc"], "NN"), [noun.lemma]


TABLES: Mapping[str, Callable[[Sequence[Word]], _Rows]] = {
    "number": _list_numbers,
    "auxiliary": lambda _: _exchange("VAFIN", [*zip(*GERMAN.perfect_auxiliaries.values(), strict=True)]),
    "gender": lambda _: _exchange("ART", [["der", "die", "das"]]),
    "lemma": _list_bare_nouns,
    **{case: partial(_list_articles, target) for case, target in _CASES.items()},
}
"""The functions that build tables, by table name; they take a list of a vocabulary's verbs and nouns."""
