"""Words (kind, inflected forms, flags), vocabularies, which select words, and English inflection by lemminflect.

lemminflect loads slowly, so ``inflections.tsv`` stores the forms of built-in words.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any


class Kind(StrEnum):
    """The kind of a word: its part of speech or, for a verb, its frame. Sections of a lexicon file have these names."""

    NOUN = "noun"
    TRANSITIVE = "transitive"
    INTRANSITIVE = "intransitive"
    DITRANSITIVE = "ditransitive"
    DATIVE = "dative"
    ADJECTIVE = "adjective"
    ADVERB = "adverb"
    DETERMINER = "determiner"
    RELATIVIZER = "relativizer"
    MODAL = "modal"
    ADJUNCT = "adjunct"


class Form(StrEnum):
    """An English form: a Penn tag, sometimes with features. "DT.sg.vowel" is a singular determiner before a vowel."""

    NN = "NN"
    NNS = "NNS"
    VB = "VB"
    VBP = "VBP"
    VBZ = "VBZ"
    VBD = "VBD"
    VBG = "VBG"
    VBN = "VBN"
    RB = "RB"
    JJ = "JJ"
    WDT = "WDT"
    WP = "WP"
    DT_SG = "DT.sg"
    DT_SG_VOWEL = "DT.sg.vowel"
    DT_PL = "DT.pl"
    DT_PL_VOWEL = "DT.pl.vowel"
    MD = "MD"
    MD_NEG = "MD.neg"


class Flag(StrEnum):
    """A property of a word that excludes some uses of the word from generated sentences."""

    STATIVE = "stative"
    """The verb is stative, so the progressive is unacceptable: "is believing"."""
    PUNCTUAL = "punctual"
    """The verb names a change without duration, so the progressive is unacceptable: "is recognizing"."""
    PSYCH = "psych"
    """The subject causes a feeling of the object, so the progressive is unacceptable: "is astonishing"."""
    SENTENCE = "sentence"
    """The adverb modifies the sentence, so that it precedes a negation: "tatsächlich nicht"."""
    SYNCRETIC = "syncretic"
    """The past form of the verb equals the plain form: "hit"."""
    SYMMETRIC = "symmetric"
    """The verb means the same with agent and patient exchanged, so an exchange is no contrast: "met"."""
    NPI = "npi"
    """The adverb or determiner is a negative polarity item: "ever", "any"."""


VERB_FLAGS = tuple(flag for flag in Flag if flag not in (Flag.SENTENCE, Flag.NPI))
"""The flags that verbs can have; only adverbs and determiners can have the other flags."""
EXCLUDING_FLAGS = tuple(flag for flag in VERB_FLAGS if flag is not Flag.SYMMETRIC)
"""The flags of verbs that sentences exclude, unless an option allows them."""
NO_PROGRESSIVE = frozenset({Flag.STATIVE, Flag.PUNCTUAL, Flag.PSYCH})
"""The flags of verbs without a progressive; a verb has at most one of them."""
VERB_FORMS = (Form.VB, Form.VBP, Form.VBZ, Form.VBD, Form.VBG, Form.VBN)

FORMS: Mapping[Kind, tuple[Form, ...]] = {
    Kind.NOUN: (Form.NN, Form.NNS),
    **dict.fromkeys((Kind.TRANSITIVE, Kind.INTRANSITIVE, Kind.DITRANSITIVE), VERB_FORMS),
    Kind.ADJECTIVE: (Form.JJ,),
    Kind.ADVERB: (Form.RB,),
    Kind.DETERMINER: (Form.DT_SG, Form.DT_SG_VOWEL, Form.DT_PL, Form.DT_PL_VOWEL),
    Kind.RELATIVIZER: (Form.WDT, Form.WP),
    Kind.MODAL: (Form.MD, Form.MD_NEG),
}
"""The forms that an English word of each kind can have."""

VERBS = frozenset({Kind.TRANSITIVE, Kind.INTRANSITIVE, Kind.DITRANSITIVE, Kind.DATIVE})
"""The kinds that are verbs."""
OPEN_KINDS = (Kind.NOUN, Kind.TRANSITIVE, Kind.INTRANSITIVE, Kind.DITRANSITIVE, Kind.ADJECTIVE, Kind.ADVERB)
"""The kinds from which a vocabulary of English selects words; words of other kinds are always available."""

ROLES: Mapping[Kind, tuple[str, ...]] = {
    Kind.TRANSITIVE: ("agent", "patient"),
    Kind.INTRANSITIVE: ("agent",),
    Kind.DITRANSITIVE: ("agent", "patient", "recipient"),
    Kind.DATIVE: ("agent", "patient"),
}
"""The roles of the participants, by the kind of verb."""

PERFECT_AUXILIARIES = frozenset({"has", "have", "had"})
"""The forms of *have* in the English grammar; every clause in the perfect has one."""
AUXILIARIES = PERFECT_AUXILIARIES | {"is", "are", "was", "were", "do", "does", "did"}
"""The finite auxiliaries in the English grammar."""
REFLEXIVES = frozenset({"himself", "herself", "themselves"})
"""The reflexive pronouns in the English grammar."""
_NUMERALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMERALS = {word: number for number, word in enumerate(_NUMERALS, 1)}
"""The numerals in the English grammar, with their numbers."""
BOUNDS = ("at least", "no more than")
"""The words before a numeral in the English grammar."""
NAME = "name"
"""The determiner that stands for the lack of one before a name such as "Mary", and the phrase of such names."""
TITLE = "title"
"""The phrase of titles and of the surnames that follow them: "Doctor Smith"."""
NAMED = frozenset({NAME, TITLE})
NAMES = {
    **dict.fromkeys(("Mary", "Anna", "Emma", "Sarah", "Julia", "Laura", "Helen", "Susan", "Alice", "Emily"), "fem"),
    **dict.fromkeys(
        ("David", "Daniel", "Thomas", "Michael", "James", "Robert", "Henry", "Simon", "Paul", "Adam"), "masc"
    ),
}
"""The names of English, with their genders; none of them is another word, such as "Mark"."""
TITLES = ("Doctor", "Professor", "Judge", "Captain", "Senator")
SURNAMES = (*("Smith", "Jones", "Johnson", "Williams", "Davis", "Wilson", "Anderson", "Thompson", "Robinson", "Clark"),)
TIME, PLACE = "time", "place"
"""The sorts of adjuncts."""
ADJUNCTS = {
    **{f"on {day}day": TIME for day in ("Mon", "Tues", "Wednes", "Thurs", "Fri", "Satur", "Sun")},
    **{f"at {time}": TIME for time in ("dawn", "noon", "dusk", "midnight")},
    **{f"in the {time}": TIME for time in ("morning", "afternoon", "evening")},
    **{f"in {city}": PLACE for city in ("Paris", "London", "Berlin", "Rome", "Madrid")},
    **{f"in the {place}": PLACE for place in ("garden", "park", "kitchen", "street", "forest", "hall")},
    **{f"at the {place}": PLACE for place in ("airport", "harbor", "market")},
}
"""The adjuncts of English, with their sorts."""
FUNCTION_WORDS = AUXILIARIES | REFLEXIVES | {"be", "being", "been", "not", "n't", "by", "to", "and", "who", "what"}
FUNCTION_WORDS |= {word for bound in BOUNDS for word in bound.split()}
FUNCTION_WORDS |= {word for adjunct in ADJUNCTS for word in adjunct.split()[:-1]}
"""The words in English sentences that come from the grammar, not from a lexicon."""
RESERVED = (FUNCTION_WORDS | {"am", *NUMERALS}) - {"no", "the"}
"""The words that no English word of a lexicon may have as a form, except "who" and "what" of relativizers."""
PERSON = "person"
"""The default sort of a noun, and of the nouns that can fill a verb's role."""
MODIFIED = "noun"
"""The only key in :attr:`Word.takes` of an adjective or relativizer; for verbs, the keys are roles."""
GENDERS = ("masc", "fem", "neut")
"""The genders of nouns."""
FRAMES = ("intransitive", "transitive", "ditransitive", "dative", "to", "clause", "any", "auxiliary", "impersonal")
"""The further uses of a verb that an entry can state: see ``english.toml`` and ``german.toml``."""
BARE_COUNT = "bare"
"""The value of :attr:`Word.phrase` for a numeral alone: "three"."""
NOT = "not "
"""The prefix that stands for all sorts except one: "not thing"."""
VOWEL_KINDS = frozenset({Kind.NOUN, Kind.ADJECTIVE})
"""The kinds of words that can directly follow a determiner."""


@dataclass(frozen=True, slots=True)
class Word:
    """A lemma of one kind with its inflected forms."""

    lemma: str
    kind: Kind
    forms: Mapping[Any, str] = field(hash=False)
    """The spelling of each form, such as ``{Form.NNS: "students"}`` or, in German, ``{"NN.sg.acc": "Studenten"}``."""
    flags: frozenset[Flag] = frozenset()
    vowel: bool = False
    """Whether a noun or an adjective begins with a vowel sound, and so takes "an"; False for other kinds."""
    sort: str = PERSON
    """The sort of a noun: "person", "thing", or another name from the lexicon file; TIME or PLACE for an adjunct."""
    further_sorts: tuple[str, ...] = ()
    """The sorts of a noun in the section ``sorts`` of the lexicon file, such as ("metal",) for a kettle."""
    gender: str = ""
    """The gender of a noun, one of :data:`GENDERS`; in English, "" stands for any gender."""
    takes: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """The accepted sorts of nouns, by role of a verb; for an adjective or relativizer, the key is :data:`MODIFIED`."""
    frames: frozenset[str] = frozenset()
    """The uses of a verb, from :data:`FRAMES`, beside the one of its kind. Generated sentences have only the latter."""
    ambiguous: frozenset[str] = frozenset()
    """The names of the forms that are also another word where this word would be an error: "VBG" of *flatter*."""
    auxiliary: str = ""
    """The perfect auxiliary of a verb, such as "sein"; "" stands for the usual one of the language."""
    phrase: str = ""
    """The special phrase that a determiner or noun belongs to, or the words before the noun of an adjunct; else "".

    It says how the numeral of a determiner is bounded (:data:`BARE_COUNT`, or the words before it), or is in NAMED.
    """
    english: str = ""
    """The English translation of a word of another language: a lemma of the same kind."""

    def list_properties(self) -> list[object]:
        """Return all properties of the word that determine the sentences in which it is used rightly."""
        forms, takes = (sorted(table.items()) for table in (self.forms, self.takes))
        features = (sorted(self.flags), self.vowel, self.sort, self.gender, self.auxiliary)
        return [self.kind, self.lemma, forms, takes, *features]

    @property
    def sorts(self) -> tuple[str, ...]:
        """The sort of a noun, and its further sorts."""
        return (self.sort, *self.further_sorts)

    def accepts(self, sorts: Collection[str], role: str = MODIFIED) -> bool:
        """Say whether a verb accepts a noun of these *sorts* in *role*, or an adjective or relativizer modifies it."""
        taken = self.takes.get(role, (PERSON,) if self.kind in VERBS else ())
        is_negated = any(name.startswith(NOT) for name in taken)
        is_excluded = any(f"{NOT}{sort}" in taken for sort in sorts)
        return not taken or any(sort in taken for sort in sorts) or (is_negated and not is_excluded)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A named selection of lemmas; ``words`` has an entry for every open kind of the language."""

    name: str
    words: Mapping[Kind, tuple[str, ...]] = field(hash=False)
    uniform_conjuncts: bool = False
    """Whether coordinated nouns have the same sort: "the man and the woman", but not "the man and the key"."""
    separate_agents: bool = False
    """Whether passives in which two agents stand in a row are left out: "given to the man called by the boy by ..."."""
    event_adverbs: tuple[str, ...] = ()
    """The adverbs that do not modify ``states``, such as *suddenly*."""
    states: tuple[str, ...] = ()
    """The verbs that ``event_adverbs`` do not modify, such as *own*."""


KEPT_FORMS = "inflections.tsv"
LEMMA_FORMS = frozenset({Form.NN, Form.VB, Form.VBP, Form.RB, Form.JJ})
"""The forms whose spelling is the lemma."""

VOWEL_SOUND = re.compile(
    r"(?!eu|ewe|one(?!ir)|once|uni(?!n|m)|u[st][aeiu]|usu|ura|uro)[aeiou]|heir|hon(?:est|ou?r)|hour"
)
"""Pattern that guesses from the spelling whether a word takes "an"; ``article`` in an entry corrects a guess."""


def look_up(lemma: str, form: Form) -> str | None:
    """Return lemminflect's first spelling of a form, such as "went" for "go" and VBD, or None if it knows none."""
    from lemminflect import getInflection

    return next(iter(getInflection(lemma, form.value)), None)


def is_guess(lemma: str, form: Form) -> bool:
    """Return whether lemminflect may err: it has no entry for the lemma, or several spellings (VBD, VBN: of either).

    >>> [is_guess(lemma, Form.NNS) for lemma in ("ox", "person", "child")], is_guess("light", Form.VBN)
    ([True, True, False], True)
    """
    from lemminflect import getInflection

    forms = (Form.VBD, Form.VBN) if form in (Form.VBD, Form.VBN) else (form,)
    return any(len(getInflection(lemma, name.value, inflect_oov=False)) != 1 for name in forms)


FormSource = Callable[[str, Form], str | None]
"""Function from a lemma and a form to the spelling or None: :func:`look_up`, or a cache of its results."""


def inflect(lemma: str, form: Form, ask: FormSource = look_up) -> str | None:
    """Return the spelling of a lemma's form, or None if it is unknown.

    Forms such as VBP are spelled like the lemma. Other forms are from ``inflections.tsv`` or, if not in it, *ask*.

    >>> inflect("child", Form.NNS), inflect("overtake", Form.VBN), inflect("call", Form.VBP)
    ('children', 'overtaken', 'call')
    """
    if form in LEMMA_FORMS:
        return lemma
    return read_kept_forms().get((lemma, form)) or ask(lemma, form)


@cache
def read_kept_forms() -> Mapping[tuple[str, Form], str]:
    """Return the spellings in ``inflections.tsv`` by lemma and form."""
    lines = files(__package__).joinpath(KEPT_FORMS).read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return {(lemma, Form(form)): text for lemma, form, text in rows}


def format_kept_forms(words: Iterable[Word]) -> str:
    """Return the text of ``inflections.tsv`` for *words*: lines of lemma, form and spelling."""
    pairs = {(w.lemma, f): None for w in words for f in w.forms if w.kind is Kind.NOUN or w.kind in VERBS}
    questions = ((lemma, form) for lemma, form in pairs if form not in LEMMA_FORMS)
    return "".join(f"{lemma}\t{form}\t{look_up(lemma, form) or ''}\n" for lemma, form in questions)


def guess_form(lemma: str, kind: Kind, form: Form, ask: FormSource = look_up) -> str | None:
    """Return the spelling of a form that a lexicon file does not state, or None if the file must state it.

    >>> guess_form("the", Kind.DETERMINER, Form.DT_PL), guess_form("who", Kind.RELATIVIZER, Form.WP)
    ('the', None)
    """
    if kind in (Kind.DETERMINER, Kind.MODAL):
        return lemma
    return None if kind is Kind.RELATIVIZER else inflect(lemma, form, ask)


def takes_an(lemma: str) -> bool:
    """Guess from the spelling whether a noun or an adjective begins with a vowel sound.

    >>> [takes_an(noun) for noun in ("actor", "heir", "user", "unionist", "uncle", "lawyer")]
    [True, True, False, False, True, False]
    """
    return VOWEL_SOUND.match(lemma) is not None
