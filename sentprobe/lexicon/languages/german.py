"""The language German: its inflected forms, word features and grammatical facts."""

from collections.abc import Iterator
from itertools import chain, product

from sentprobe.lexicon.languages.language import EntryValues, Language
from sentprobe.lexicon.words import ROLES, Kind, Word

_NUMBERS = {"sg": "Sing", "pl": "Plur"}
_CASES = {"nom": "Nom", "acc": "Acc", "dat": "Dat", "gen": "Gen"}
_GENDERS = {"masc": "Masc", "fem": "Fem", "neut": "Neut"}
_ARTICLES = {
    "sg": {
        "masc": ("der", "den", "dem", "des"),
        "fem": ("die", "die", "der", "der"),
        "neut": ("das", "das", "dem", "des"),
    },
    "pl": dict.fromkeys(_GENDERS, ("die", "die", "den", "der")),
}
"""The forms of the article *der* by number and gender, in the order of the cases."""
_RELATIVE_DATIVE_PLURAL = "denen"
_NOUN_FORMS = tuple(f"NN.{number}.{case}" for number, case in product(_NUMBERS, _CASES))
_AGREEMENTS = tuple(f"{number}.{case}.{gender}" for number, case, gender in product(_NUMBERS, _CASES, _GENDERS))
_VERB_FORMS = ("VVFIN.sg.pres", "VVFIN.pl.pres", "VVFIN.sg.past", "VVFIN.pl.past", "VVPP")
_VERBS = (Kind.TRANSITIVE, Kind.DATIVE, Kind.INTRANSITIVE)
_TAGS = {Kind.DETERMINER: "ART", Kind.RELATIVIZER: "PRELS", Kind.ADJECTIVE: "ADJA"}
_SLOT_TAGS = {"det": "ART", "rel": "PRELS", "adjective": "ADJA"}
FORMS = {
    Kind.NOUN: _NOUN_FORMS,
    **dict.fromkeys(_VERBS, _VERB_FORMS),
    Kind.ADJECTIVE: tuple(f"ADJA.{agreement}" for agreement in _AGREEMENTS),
    Kind.ADVERB: ("ADV",),
    Kind.DETERMINER: tuple(f"ART.{agreement}" for agreement in _AGREEMENTS),
    Kind.RELATIVIZER: tuple(f"PRELS.{agreement}" for agreement in _AGREEMENTS if ".gen." not in agreement),
}
"""The names of the forms of each kind of word, such as ``NN.sg.acc``, ``ADJA.sg.acc.masc``, ``VVFIN.sg.past``."""


def make_forms(lemma: str, kind: Kind, table: EntryValues, _ask: object = None) -> Iterator[tuple[str, str]]:
    """Yield (name, spelling) for each form of a word. Without a stated plural, for example, a noun has no plural forms.

    >>> dict(make_forms("alt", Kind.ADJECTIVE, {}))["ADJA.sg.acc.masc"]
    'alten'
    """
    if kind is Kind.NOUN:
        yield from _decline_noun(lemma, table)
    elif kind in _VERBS:
        yield from _conjugate(lemma, table)
    elif kind is Kind.ADVERB:
        yield "ADV", lemma
    else:
        decline = _decline_adjective if kind is Kind.ADJECTIVE else _decline_article
        for agreement in _AGREEMENTS:
            if (form := f"{_TAGS[kind]}.{agreement}") in FORMS[kind]:
                text = decline(lemma, *agreement.split("."))
                yield form, _RELATIVE_DATIVE_PLURAL if form.startswith("PRELS.pl.dat") else text


def _decline_noun(lemma: str, table: EntryValues) -> Iterator[tuple[str, str]]:
    oblique, plural = table.get("weak", lemma), table.get("plural")
    genitive = table.get("genitive", lemma if table.get("gender") == "fem" else table.get("weak"))
    singular = dict(zip(_CASES, (lemma, oblique, oblique, genitive), strict=True))
    dative = f"{plural}{'' if str(plural).endswith(('n', 's')) else 'n'}" if plural else None
    plurals = dict(zip(_CASES, (plural, plural, table.get("dative_plural", dative), plural), strict=True))
    for number, forms in (("sg", singular), ("pl", plurals)):
        yield from ((f"NN.{number}.{case}", text) for case, text in forms.items() if isinstance(text, str) and text)


def _conjugate(lemma: str, table: EntryValues) -> Iterator[tuple[str, str]]:
    past = table.get("past")
    past_plural = f"{past}{'n' if str(past).endswith('e') else 'en'}" if past else None
    texts = table.get("present"), lemma, past, past_plural, table.get("participle")
    pairs = zip(_VERB_FORMS, texts, strict=True)
    yield from ((form, text) for form, text in pairs if isinstance(text, str) and text)


def _decline_adjective(lemma: str, number: str, case: str, gender: str) -> str:
    """Return the spelling of an adjective after *der*: the weak declension."""
    is_short = number == "sg" and (case == "nom" or (case == "acc" and gender != "masc"))
    return f"{lemma.removesuffix('e')}e{'' if is_short else 'n'}"


def _decline_article(_lemma: str, number: str, case: str, gender: str) -> str:
    return _ARTICLES[number][gender][[*_CASES].index(case)]


def find_noun_form(number: str, case: str) -> str:
    """Return the name of a noun's form, such as "NN.sg.acc"."""
    return f"NN.{number}.{case}"


def find_form(slot: str, number: str, case: str, gender: str) -> str:
    """Return the name of the form of a determiner, relativizer or adjective, such as "ART.sg.acc.masc"."""
    return f"{_SLOT_TAGS[slot]}.{number}.{case}.{gender}"


def find_features(pos: str, _lemma: str, number: str, case: str, gender: str) -> str:
    """Return Universal Dependencies features as in German-GSD: plural articles and pronouns have no gender.

    >>> find_features("DET", "der", "sg", "acc", "masc"), find_features("PRON", "der", "pl", "dat", "fem")
    ('Case=Acc|Definite=Def|Gender=Masc|Number=Sing|PronType=Art', 'Case=Dat|Number=Plur|PronType=Dem,Rel')
    """
    if pos not in ("NOUN", "DET", "PRON", "ADJ") or not case:
        return ""
    features = {"Case": _CASES[case], "Number": _NUMBERS[number]}
    if number == "sg" or pos in ("NOUN", "ADJ"):
        features["Gender"] = _GENDERS[gender]
    if pos == "ADJ":
        features["Degree"] = "Pos"
    elif pos == "DET":
        features |= {"Definite": "Def", "PronType": "Art"}
    elif pos == "PRON":
        features["PronType"] = "Dem,Rel"
    return "|".join(f"{name}={value}" for name, value in sorted(features.items()))


def _find_gender(word: Word) -> str:
    return word.gender or "masc"


_AUXILIARIES = {"haben": ("hatte", "hatten", "hat", "haben"), "sein": ("war", "waren", "ist", "sind")}
_AUXILIARY_FORMS = frozenset(chain(*_AUXILIARIES.values()))
_WERDEN = frozenset({"wird", "werden", "wurde", "wurden"})
_FUNCTION_WORDS = frozenset({*_AUXILIARY_FORMS, *_WERDEN, "worden", "nicht", "von", ","})
_GAPS = ("", *ROLES[Kind.TRANSITIVE])

GERMAN = Language(
    code="de",
    name="German",
    stem="german",
    open_kinds=(Kind.NOUN, *_VERBS, Kind.ADJECTIVE, Kind.ADVERB),
    closed_kinds=(Kind.DETERMINER, Kind.RELATIVIZER),
    forms=FORMS,
    keys={
        Kind.NOUN: ("english", "gender", "plural", "genitive", "weak", "dative_plural"),
        **dict.fromkeys(_VERBS, ("english", "present", "past", "participle", "auxiliary")),
        Kind.ADJECTIVE: ("english",),
        Kind.ADVERB: ("english", "flags"),
        Kind.DETERMINER: (),
        Kind.RELATIVIZER: (),
    },
    make_forms=make_forms,
    find_class=_find_gender,
    reserved=_FUNCTION_WORDS,
    has_distinct_forms=False,
    capitalized_kinds=frozenset({Kind.NOUN}),
    determiner="der",
    relativizer="der",
    frames=("intransitive", "transitive", "dative"),
    aspects=("simple", "perf"),
    cues={"not": "nicht"},
    has_fronting=True,
    max_adverbs=1,
    excluded_contrasts=frozenset({"aspect", "perfect", "binding"}),  # Perfekt: Präteritum; an ending shows the case
    more_templates=("dative", "dative-rc"),
    structures=(
        ("intransitive", "active", "", ("", "agent")),
        ("transitive", "active", "", _GAPS),
        ("transitive", "passive", "", _GAPS),
        ("dative", "active", "", _GAPS),
    ),
    participle="VVPP",
    perfect_auxiliaries=_AUXILIARIES,
    function_words=_FUNCTION_WORDS,
    auxiliaries=_AUXILIARY_FORMS | _WERDEN,
    cases=("nom", "acc", "dat"),
    classes=tuple(_GENDERS),
    find_noun_form=find_noun_form,
    find_form=find_form,
    find_features=find_features,
    agreeing_slots=frozenset({"det", "rel", "adjective"}),
    closes_clauses=True,
    descriptions={
        "VVFIN.sg.pres": "a singular present verb",
        "VVFIN.pl.pres": "a plural present verb",
        "VVFIN.sg.past": "a singular past verb",
        "VVFIN.pl.past": "a plural past verb",
        "VVPP": "a past participle",
    },
)
