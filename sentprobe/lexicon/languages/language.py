"""A language: the facts about grammar and words that the code needs (see ``docs/languages.md``)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from sentprobe.lexicon.words import Kind, Word

EntryValues: TypeAlias = Mapping[str, object]
"""The values that a lexicon file states for a word."""
StructureRow: TypeAlias = tuple[str, str, str, tuple[str, ...]]
"""A frame, a voice, the form of the recipient ("" if none), and the roles of possible gaps ("" for a main clause)."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Language:
    """A language; compared by identity, so that an instance can be part of a cache key.

    The name of a form consists of a treebank tag (Penn or STTS) and, after dots, number, case and class, as in
    ``ART.sg.acc.masc``. The *class* of a word is the property with which its determiner agrees: the first sound of the
    word in English, the gender in German.
    """

    code: str
    name: str
    stem: str
    """The base name of the language's files (such as ``STEM.toml``), and the name of its usual vocabulary."""

    # ---- the lexicon
    open_kinds: tuple[Kind, ...]
    """The kinds of words that a vocabulary chooses from."""
    closed_kinds: tuple[Kind, ...]
    forms: Mapping[Kind, tuple[Any, ...]]
    """The forms that a word of each kind can have."""
    keys: Mapping[Kind, tuple[str, ...]]
    """The keys that an entry of each kind can have in a lexicon file, in addition to flags and sorts."""
    make_forms: Callable[[str, Kind, EntryValues, Any], Iterator[tuple[Any, str]]]
    """Function that yields the forms of a word from its lemma, kind and entry, and a source of inflected forms."""
    find_class: Callable[[Word], str]
    """Function that returns the class of a noun or an adjective."""
    reserved: frozenset[str]
    """The spellings that forms of words in the lexicon must not have; relativizers may be question words."""
    has_distinct_forms: bool = True
    """Whether singular and plural of a noun, and past and plain form of a verb, must differ."""
    capitalized_kinds: frozenset[Kind] = frozenset()
    """The kinds of words that begin with a capital letter."""
    determiner: str
    relativizer: str
    """The default relativizer; ``determiner`` is the default determiner."""

    # ---- events
    frames: tuple[str, ...]
    aspects: tuple[str, ...]
    cues: Mapping[str, str]
    """The word of each negator."""
    moods: tuple[str, ...] = ("statement",)
    has_coordination: bool = False
    has_fronting: bool = False
    """Whether an object can stand first in a main clause."""
    max_adverbs: int
    excluded_contrasts: frozenset[str] = frozenset()
    """The contrasts between anchor and negative that are impossible in this language."""
    more_templates: tuple[str, ...] = ()
    """The templates that ``all`` includes in addition to the templates of English."""

    # ---- the grammar
    structures: tuple[StructureRow, ...]
    participle: str = ""
    """The form of a verb in the perfect, if verbs differ in their perfect auxiliary; else ""."""
    perfect_auxiliaries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The perfect auxiliaries, the usual one first, with their forms: past singular and plural, present likewise."""
    function_words: frozenset[str]
    """The words that the grammar itself puts into a sentence."""
    auxiliaries: frozenset[str]
    reflexives: frozenset[str] = frozenset()
    conjunction: str = ""
    cases: tuple[str, ...] = ("",)
    """The cases of nouns in sentences."""
    classes: tuple[str, ...]
    """The classes of words: first sounds or genders."""
    find_noun_form: Callable[[str, str], Any]
    """Function that returns the name of the form of a noun with a grammatical number and a case."""
    find_form: Callable[[str, str, str, str], Any]
    """Function that returns the name of a form by slot ("det", "rel", "adjective"), number, case and class."""
    find_features: Callable[[str, str, str, str, str], str]
    """Function that returns Universal Dependencies features by part of speech, lemma, number, case and class."""
    class_of_next_word: bool = False
    """Whether a determiner agrees with the next word, which may be an adjective, instead of the noun."""
    agreeing_slots: frozenset[str]
    """The slots ("det", "rel", "adjective") whose forms depend on the class of another word."""
    closes_clauses: bool = False
    """Whether commas enclose relative clauses, so that no adverb can belong to two verbs."""
    descriptions: Mapping[str, str]
    """The description of each form in messages."""

    @cached_property
    def usual_auxiliary_forms(self) -> tuple[str, ...]:
        """The forms of the usual perfect auxiliary; in shapes, they stand for the forms of all perfect auxiliaries."""
        return next(iter(self.perfect_auxiliaries.values()), ())

    def has_determiner(self, determiner: Word, number: str, word_class: str = "") -> bool:
        """Say whether a determiner can have a number before a word of a class (by default the first class)."""
        form = self.find_form("det", number, self.cases[0], word_class or self.classes[0])
        return form in determiner.forms

    def find_auxiliary(self, verb: Word) -> str:
        """Return the perfect auxiliary that a verb takes, or "" if the language has no choice of auxiliaries."""
        return verb.auxiliary or next(iter(self.perfect_auxiliaries), "")

    def replace_auxiliary(self, form: str, auxiliary: str) -> str:
        """Return *form*; a form of the usual perfect auxiliary becomes the same form of *auxiliary*."""
        forms = dict(zip(self.usual_auxiliary_forms, self.perfect_auxiliaries.get(auxiliary, ()), strict=False))
        return forms.get(form, form)

    def __repr__(self) -> str:
        return f"<{self.name}>"
