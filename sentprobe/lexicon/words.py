"""Words with their kinds, inflected forms and flags; and vocabularies, which select words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """The part that a word plays in a sentence; the value names its section in a lexicon file."""

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


class Form(StrEnum):
    """An inflected form of English: a Penn tag, with number and next sound for determiners, and n't for modals."""

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
    """A property of a word that excludes some of its uses from generated sentences, unless an option allows them."""

    STATIVE = "stative"
    """The verb is stative, so the progressive is unacceptable: "is believing"."""
    PUNCTUAL = "punctual"
    """The verb names a change without duration, so the progressive is unacceptable: "is recognizing"."""
    PSYCH = "psych"
    """The verb's object has a feeling that the subject causes, by no act of a duration: "is astonishing"."""
    SENTENCE = "sentence"
    """The adverb modifies the sentence, so that it stands before a negation: "tatsächlich nicht"."""
    SYNCRETIC = "syncretic"
    """The past form of the verb equals the plain form: "hit"."""
    NPI = "npi"
    """The adverb or determiner is a negative polarity item: "ever", "any"."""


VERB_FLAGS = tuple(flag for flag in Flag if flag not in (Flag.SENTENCE, Flag.NPI))
"""The flags of verbs; the others are those of adverbs and determiners."""
NO_PROGRESSIVE = frozenset({Flag.STATIVE, Flag.PUNCTUAL, Flag.PSYCH})
"""The flags of verbs without a progressive; a verb has at most one of them."""
VERB_FORMS = (Form.VB, Form.VBP, Form.VBZ, Form.VBD, Form.VBG, Form.VBN)

FORMS: Mapping[Kind, tuple[Form, ...]] = {
    Kind.NOUN: (Form.NN, Form.NNS),
    Kind.TRANSITIVE: VERB_FORMS,
    Kind.INTRANSITIVE: VERB_FORMS,
    Kind.DITRANSITIVE: VERB_FORMS,
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
"""The kinds that a vocabulary of English chooses from; words of the other kinds are always available."""

ROLES: Mapping[Kind, tuple[str, ...]] = {
    Kind.TRANSITIVE: ("agent", "patient"),
    Kind.INTRANSITIVE: ("agent",),
    Kind.DITRANSITIVE: ("agent", "patient", "recipient"),
    Kind.DATIVE: ("agent", "patient"),
}
"""The roles of the verbs of each kind."""

AUXILIARIES = frozenset({"is", "are", "was", "were", "do", "does", "did"})
"""The finite auxiliaries of the grammar of English."""
REFLEXIVES = frozenset({"himself", "herself", "themselves"})
"""The reflexive pronouns of the grammar of English."""
FUNCTION_WORDS = AUXILIARIES | REFLEXIVES | {"be", "being", "not", "n't", "by", "to", "and", "who", "what"}
"""The words that the grammar itself puts into a sentence."""
RESERVED = FUNCTION_WORDS | {"am", "been"}
"""The forms that a word of the lexicon cannot have; only a relativizer is also a question word."""
PERSON = "person"
"""The sort of a noun that states none, and the sort that a verb takes in a role for which it states none."""
MODIFIED = "noun"
"""The key of the sorts that an adjective or a relativizer takes, in place of a role."""
GENDERS = ("masc", "fem", "neut")
"""The genders of nouns."""
NOT = "not "
"""Before the name of a sort: all sorts but this one."""
VOWEL_KINDS = frozenset({Kind.NOUN, Kind.ADJECTIVE})
"""The kinds of words that a determiner may precede."""


@dataclass(frozen=True, slots=True)
class Word:
    """A lemma of one kind with its inflected forms."""

    lemma: str
    kind: Kind
    forms: Mapping[Any, str] = field(hash=False)
    """Spellings by the names of the language's forms."""
    flags: frozenset[Flag] = frozenset()
    vowel: bool = False
    """Whether a noun or an adjective begins with a vowel sound, and so takes "an"; False for other kinds."""
    sort: str = PERSON
    """The sort of a noun."""
    gender: str = ""
    """The gender of a noun, one of :data:`GENDERS`; "" in English means that it may have any."""
    takes: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """The sorts of the nouns that the word goes with: by role, or by :data:`MODIFIED`."""
    auxiliary: str = ""
    """The auxiliary of a verb's perfect, in a language in which it depends on the verb."""
    english: str = ""
    """The English lemma of the same kind that translates a word of another language."""

    def list_properties(self) -> list[object]:
        """Return everything about the word that decides in which sentences it stands."""
        forms, takes = (sorted(table.items()) for table in (self.forms, self.takes))
        features = (sorted(self.flags), self.vowel, self.sort, self.gender, self.auxiliary)
        return [self.kind, self.lemma, forms, takes, *features]

    def accepts(self, sort: str, role: str = MODIFIED) -> bool:
        """Return whether a noun of *sort* may have *role* under a verb, or go with an adjective or relativizer.

        >>> verb = Word("disable", Kind.TRANSITIVE, {}, takes={"patient": ("thing",)})
        >>> verb.accepts("thing", "patient"), verb.accepts("thing", "agent")
        (True, False)
        """
        sorts = self.takes.get(role, (PERSON,) if self.kind in VERBS else ())
        is_negated = any(name.startswith(NOT) for name in sorts)
        return not sorts or sort in sorts or (is_negated and f"{NOT}{sort}" not in sorts)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A named selection of lemmas; ``words`` has an entry for every open kind of the language."""

    name: str
    words: Mapping[Kind, tuple[str, ...]] = field(hash=False)
