"""Paradigms of minimal pairs: a kind of error, and the good sentences in which it is made."""

import dataclasses
import tomllib
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from sentprobe.common.errors import UsageError, suggest
from sentprobe.generator.events.event import Contradiction, Event, Fronting, Mood, Role
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.spaces.constraints import Choices, Constraints
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Form, Kind, Lexicon
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.words import PERSON, ROLES, VERBS, Word


class PrefixMethod(StrEnum):
    """The kind of word whose probability tells the good sentence from the bad one; NONE if there is no such word."""

    ONE = "one"
    """The only word that differs, after the same preceding words (BLiMP's one-prefix method)."""
    TWO = "two"
    """A word that both sentences have, after different preceding words (BLiMP's two-prefix method)."""
    NONE = "none"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Paradigm:
    """A paradigm; the comments in ``english_paradigms.toml`` describe its fields."""

    uid: str
    field: str
    term: str
    templates: tuple[str, ...]
    change: str
    main: str = "*"
    clause: str = "*"
    require: tuple[str, ...] = ()
    nouns: str = "persons"
    verbs: str | list[str] = "persons"
    lacks: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    adverb_words: tuple[str, ...] = ()
    prefix: PrefixMethod = PrefixMethod.NONE
    semantic: bool = False
    on_request: bool = False
    choices: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def build_space(self, lexicon: Lexicon, vocabulary: str) -> Space:
        """Return the space of the good sentences. Raises UsageError if the vocabulary allows none."""
        words = lexicon.vocabulary(vocabulary).words
        chosen = {
            kind: tuple(lemma for lemma in words[kind] if self._accepts_word(lexicon.get(lemma, kind), lexicon))
            for kind in (Kind.NOUN, Kind.ADVERB, *VERBS)
            if kind in words
        }
        if self.adverb_words:
            chosen[Kind.ADVERB] = tuple(w for w in self.adverb_words if Kind.ADVERB in lexicon.kinds_of(w))
        try:
            return Space(
                lexicon.replace_words(vocabulary, chosen),
                vocabulary=vocabulary,
                templates=self.templates,
                choices=Choices(main=_read_features(self.main), clause=_read_features(self.clause), **self.choices),
                constraints=Constraints(required_any=tuple(map(read_event, self.require))),
                explained=False,
            )
        except Contradiction as error:
            raise build_vocabulary_error(self.uid, vocabulary) from error

    @property
    def replaces_verbs(self) -> bool:
        """Whether the bad sentence has another verb, of the kind that the change names."""
        _, place, *table = self.change.split()
        return place.endswith("verb") and table[0] in VERBS

    def _accepts_word(self, word: Word, lexicon: Lexicon) -> bool:
        language = lexicon.language
        if word.lemma in self.left_out:
            return False
        if word.kind is Kind.ADVERB:
            return True
        if word.kind is Kind.NOUN:
            singular, plural = (language.find_noun_form(number, language.cases[0]) for number in ("sg", "pl"))
            return word.forms[singular] != word.forms[plural] and _NOUN_TESTS[self.nouns](word)
        if isinstance(self.verbs, list):
            return word.lemma in self.verbs and (not self.semantic or takes_things(word))
        is_clear = language is not ENGLISH or has_clear_forms(word, lexicon)
        # If the good sentence keeps its verb, the verb must lack the use, and the reading of the form, that the change
        # gives it: otherwise, the changed sentence is no error.
        is_wrong = word.frames.isdisjoint(self.lacks) and self.change.rpartition(" ")[2] not in word.ambiguous
        return is_clear and _VERB_TESTS[self.verbs](word) and (self.replaces_verbs or is_wrong)


def build_vocabulary_error(uid: str, vocabulary: str) -> UsageError:
    return UsageError(f"vocabulary {vocabulary!r} has no words for the paradigm {uid!r}")


def _read_features(text: str) -> Event:
    return read_event(text) if text != "*" else Event()


def takes_persons(verb: Word) -> bool:
    """Say whether persons can fill every role of a verb."""
    return all(verb.accepts([PERSON], role) for role in ROLES[verb.kind])


def takes_things(verb: Word) -> bool:
    """Say whether a verb takes only persons as agents, and no persons as patients."""
    return verb.takes.get("agent", (PERSON,)) == (PERSON,) and not verb.accepts([PERSON], "patient")


def has_clear_forms(verb: Word, lexicon: Lexicon) -> bool:
    """Return True if a verb shares no form with other verbs, and if its plain form is neither past nor participle."""
    forms = verb.forms
    readings = [word for form in forms.values() for word, _ in lexicon.find(form)]
    is_shared = any(word.kind in VERBS and word is not verb for word in readings)
    return forms[Form.VB] not in (forms[Form.VBD], forms[Form.VBN]) and not is_shared


def _has_regular_plural(noun: Word) -> bool:
    lemma = noun.lemma
    return noun.forms[Form.NNS] in (f"{lemma}s", f"{lemma}es", f"{lemma[:-1]}ies")


def _is_strong_masculine(noun: Word) -> bool:
    """Say whether a German noun is masculine, and its nominative and accusative are equal (*der Arzt*, *den Arzt*)."""
    return noun.gender == "masc" and noun.forms["NN.sg.nom"] == noun.forms["NN.sg.acc"]


_NOUN_TESTS: Mapping[str, Callable[[Word], bool]] = {
    "any": lambda _: True,
    "persons": lambda noun: noun.sort == PERSON,
    "gendered": lambda noun: bool(noun.gender),
    "regular": lambda noun: noun.sort == PERSON and _has_regular_plural(noun),
    "irregular": lambda noun: noun.sort == PERSON and not _has_regular_plural(noun),
    "unambiguous": lambda noun: noun.sort == PERSON and not noun.ambiguous,
    "strong": lambda noun: noun.sort == PERSON and _is_strong_masculine(noun),
    "weak": lambda noun: noun.sort == PERSON and noun.gender == "masc" and not _is_strong_masculine(noun),
}
_VERB_TESTS: Mapping[str, Callable[[Word], bool]] = {
    "any": lambda _: True,
    "persons": takes_persons,
    "irregular": lambda verb: verb.forms[Form.VBD] != verb.forms[Form.VBN],
}


ALL_PARADIGMS = "all"
"""The name that stands for all paradigms for which a vocabulary has words, without those that are on request."""


@cache
def load_paradigms(language: Language = ENGLISH) -> Mapping[str, Paradigm]:
    """Return the paradigms in a file such as ``english_paradigms.toml``, by identifier (BLiMP's UID)."""
    text = (files(__package__) / f"{language.stem}_paradigms.toml").read_text(encoding="utf-8")
    return {uid: _read_row(uid, row) for uid, row in tomllib.loads(text).items()}


def _read_row(uid: str, row: Mapping[str, Any]) -> Paradigm:
    field_names = {item.name for item in dataclasses.fields(Paradigm)}
    values: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) and name != "verbs" else v for name, v in row.items()
    }
    choices = {name: values.pop(name) for name in [*values] if name not in field_names}
    types = {"moods": Mood, "asked": Role, "reflexives": Role, "frontings": Fronting}
    choices = {name: tuple(map(types.get(name, lambda value: value), items)) for name, items in choices.items()}
    default = PrefixMethod.ONE if row["change"].startswith("replace") else PrefixMethod.NONE
    prefix = PrefixMethod(values.pop("prefix", default))
    return Paradigm(uid=uid, prefix=prefix, choices=choices, **values)


def find_paradigm(uid: str, language: Language = ENGLISH) -> Paradigm:
    """Return the paradigm with this identifier. Raises UsageError.

    >>> find_paradigm("transitive").change
    'replace verb intransitive'
    """
    paradigms = load_paradigms(language)
    if uid not in paradigms:
        raise UsageError(
            f"there is no paradigm {uid!r}{suggest(uid, paradigms)}; gen minimal --list lists those of {language.name}"
        )
    return paradigms[uid]
