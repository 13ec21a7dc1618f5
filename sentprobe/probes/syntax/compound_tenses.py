"""Tenses of two words in Universal Dependencies: by language, which auxiliary and verb form together are which tense.

UD describes single words: in Croatian *je kupio* ("bought"), the auxiliary is in the present. COMPOUND_TENSES says of
each language which such pairs form a past or a future. A perfect in any other language has the tense of its auxiliary.
The table follows the pages of the languages, ``https://universaldependencies.org/CODE/``, and their pages on Tense.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sentprobe.probes.syntax.dependencies import DependencyGraph

HELPERS = ("aux", "cop")
_CONDITIONAL = "aux:cnd"
"""Relation of the Polish conditional particle *by*, which has no features in the treebank PDB."""
_UNKNOWN_LEMMA = "_"


class CompoundTense(NamedTuple):
    """The tense of a verb in a certain form with the present of certain auxiliaries."""

    tense: str
    """The value of the feature Tense: Past or Fut."""
    auxiliaries: tuple[str, ...]
    """Lemmas of the auxiliaries."""
    form: str
    """The verb's VerbForm: Part (never with Voice=Pass) or Inf."""
    stems: tuple[str, ...] = ("",)
    """Beginnings of the auxiliary's form; the first rule that fits decides."""


_BE = ("biti", "jesam", "бити", "јесам")
_CROATIAN = (
    CompoundTense("Fut", _BE, "Part", stems=("bud", "буд")),  # budem kupio: the future of subordinate clauses
    CompoundTense("Past", _BE, "Part"),
    CompoundTense("Fut", ("htjeti", "hteti", "ht(j)eti", "хтети"), "Inf"),
)
_PAST_WITH_BE = "být", "bývat", "byť", "bývať", "być", "bywać"

COMPOUND_TENSES: Mapping[str, tuple[CompoundTense, ...]] = {
    "ca": (CompoundTense("Past", ("anar",), "Inf"),),
    "cs": (CompoundTense("Past", _PAST_WITH_BE, "Part"),),
    "hr": _CROATIAN,
    "pl": (CompoundTense("Past", _PAST_WITH_BE, "Part"),),
    "sk": (CompoundTense("Past", _PAST_WITH_BE, "Part"),),
    "sl": (CompoundTense("Past", ("biti",), "Part"),),
    "sr": _CROATIAN,
    **dict.fromkeys(("bg", "de", "en", "fr", "hsb", "it", "mk"), ()),
}
"""Compound tenses by language code. A language with an empty row also has a past of one word; its perfect (*hat
gesehen*, *a vu*, *ha visto*) keeps the tense of the auxiliary. A code without a row is treated in the same way."""


def get_feature(tag: str, name: str) -> str:
    """Return the value of the feature *name* in a word's tag; empty if the tag has no such feature.

    >>> get_feature("NOUN|Gender=Masc|Number=Plur", "Number")
    'Plur'
    """
    return next((part[len(name) + 1 :] for part in tag.split("|") if part.startswith(f"{name}=")), "")


def is_finite(tag: str) -> bool:
    """Return whether a verb is finite: its tag has VerbForm=Fin, or it has no VerbForm but a Mood or a Person."""
    form = get_feature(tag, "VerbForm")
    return form == "Fin" or (not form and bool(get_feature(tag, "Mood") or get_feature(tag, "Person")))


def resolve_compound_tenses(graph: DependencyGraph, lemmas: Sequence[str], language: str) -> tuple[str, ...]:
    """Return the words' tags, in which the verb of a compound tense is finite, and its auxiliary is not.

    The verb gets the Tense of the compound, and the auxiliary's Mood and Person; it keeps its other features. A past
    participle without an auxiliary (Czech *koupil*) is a finite past.
    """
    rules, tags = COMPOUND_TENSES.get(language, ()), list(graph.tags)
    for node in range(len(tags)) if rules else ():
        helpers = graph.find_dependents(node, *HELPERS)
        for verb in (node, *helpers):
            rule, finite = _find_rule(graph, lemmas, rules, verb, [helper for helper in helpers if helper != verb])
            if rule is not None:
                moods = [get_feature(graph.tags[helper], "Mood") for helper in helpers]
                is_conditional = "Cnd" in moods or any(graph.relations[word] == _CONDITIONAL for word in helpers)
                auxiliary = "" if finite is None else graph.tags[finite]
                # A present auxiliary gets the tense of the rule (*je kupio*); others keep their own (*bo kupil*).
                tense = get_feature(auxiliary, "Tense")
                features = {
                    "Mood": "Cnd" if is_conditional else get_feature(auxiliary, "Mood") or "Ind",
                    "Person": get_feature(auxiliary, "Person") or get_feature(graph.tags[verb], "Person"),
                    "Tense": rule.tense if tense in {"", "Pres"} else tense,
                    "VerbForm": "Fin",
                }
                tags[verb] = _set_features(graph.tags[verb], features)
                if finite is not None:
                    tags[finite] = _set_features(auxiliary, dict.fromkeys(features, ""))
                break
    return tuple(tags)


def _find_rule(
    graph: DependencyGraph, lemmas: Sequence[str], rules: Sequence[CompoundTense], verb: int, helpers: Sequence[int]
) -> tuple[CompoundTense | None, int | None]:
    """Return the rule for *verb* and its finite auxiliary among *helpers*; (None, None) if no rule fits.

    Without a finite auxiliary, the rule for the past fits a participle that has Tense=Past.
    """
    finite = next((helper for helper in helpers if is_finite(graph.tags[helper])), None)
    for rule in rules:
        if finite is None:
            fits = rule.tense == get_feature(graph.tags[verb], "Tense")
        else:
            is_known = lemmas[finite] in (*rule.auxiliaries, _UNKNOWN_LEMMA)
            is_conditional = get_feature(graph.tags[finite], "Mood") == "Cnd"
            fits = (is_known or is_conditional) and graph.tokens[finite].lower().startswith(rule.stems)
        if fits and _has_form(graph.tags[verb], rule.form):
            return rule, finite
    return None, None


def _has_form(tag: str, form: str) -> bool:
    """Return whether a word is a verb in *form*. Polish treebanks call the participle of the past finite."""
    verb_form = get_feature(tag, "VerbForm")
    is_past = verb_form == "Fin" and get_feature(tag, "Tense") == "Past" and get_feature(tag, "Gender") != ""
    is_verb = tag.startswith(("VERB", "AUX")) and get_feature(tag, "Voice") != "Pass"
    return is_verb and (verb_form == form or (form == "Part" and is_past))


def _set_features(tag: str, features: Mapping[str, str]) -> str:
    """Return *tag* with the given values of features; an empty value removes the feature."""
    upos, *parts = tag.split("|")
    values = {**dict(part.split("=", 1) for part in parts), **features}
    return "|".join((upos, *(f"{name}={values[name]}" for name in sorted(values, key=str.lower) if values[name])))
