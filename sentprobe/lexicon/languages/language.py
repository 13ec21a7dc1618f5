"""A language as a value: the facts about grammar and words that the code asks for (see ``docs/languages.md``)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from sentprobe.lexicon.words import Kind, Word

EntryValues: TypeAlias = Mapping[str, object]
"""The values that a lexicon file states for a word."""
StructureRow: TypeAlias = tuple[str, str, str, tuple[str, ...]]
"""Frame, voice, form of the recipient ("" without one), and the possible gaps ("": a main clause)."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Language:
    """A language; compared by identity, so that it can be part of a cache key.

    The name of a form has the tag of the language's treebanks (Penn, STTS) and, after
    dots, number, case and class (``ART.sg.acc.masc``). The *class* of
    a word is the property that its determiner agrees with: its first sound in English, its gender in German.
    """

    code: str
    name: str
    stem: str
    """The name of its files: ``STEM.fcfg``, ``STEM.shapes.json``, ``STEM.toml``; and of its usual vocabulary."""

    # ---- the lexicon
    open_kinds: tuple[Kind, ...]
    """The kinds of words that a vocabulary chooses from."""
    closed_kinds: tuple[Kind, ...]
    forms: Mapping[Kind, tuple[Any, ...]]
    """The forms that a word of each kind can have."""
    keys: Mapping[Kind, tuple[str, ...]]
    """The keys of an entry of each kind, beside flags, sorts and vocabularies."""
    make_forms: Callable[[str, Kind, EntryValues, Any], Iterator[tuple[Any, str]]]
    """Function that yields the forms of a word from lemma, kind, entry and a source of inflected forms."""
    find_class: Callable[[Word], str]
    """Function that returns the class of a noun or an adjective."""
    reserved: frozenset[str]
    """The forms that a word of the lexicon cannot have; only a relativizer is also a question word."""
    has_distinct_forms: bool = True
    """Whether the forms of a noun and of a verb must differ from each other."""
    capitalized_kinds: frozenset[Kind] = frozenset()
    """The kinds of words that begin with a capital."""
    determiner: str
    relativizer: str
    """The determiner and the relativizer by default."""

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
    """The contrasts of pairs that its sentences cannot have."""
    more_templates: tuple[str, ...] = ()
    """Templates that `all` includes in addition to those of English."""

    # ---- the grammar
    structures: tuple[StructureRow, ...]
    participle: str = ""
    """The form that stands in the perfect, in a language whose verbs choose between auxiliaries of the perfect."""
    perfect_auxiliaries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The auxiliaries of the perfect, the usual one first, with the singular and plural of their past, then present."""
    function_words: frozenset[str]
    """The words that the grammar itself puts into a sentence."""
    auxiliaries: frozenset[str]
    reflexives: frozenset[str] = frozenset()
    conjunction: str = ""
    cases: tuple[str, ...] = ("",)
    """The cases of nouns in sentences."""
    classes: tuple[str, ...]
    """The classes of words; shapes are derived for the first."""
    find_noun_form: Callable[[str, str], Any]
    """Function that returns the form of a noun with a grammatical number and a case."""
    find_form: Callable[[str, str, str, str], Any]
    """Function that returns the form of a determiner, relativizer or adjective (a slot) with a grammatical number,
    a case and a class."""
    find_features: Callable[[str, str, str, str, str], str]
    """Function that returns UD features by part of speech, lemma, number, case and class, or ""."""
    class_of_next_word: bool = False
    """Whether a determiner agrees with the next word (an adjective) and not with the noun."""
    agreeing_slots: frozenset[str]
    """The slots whose forms depend on a class."""
    closes_clauses: bool = False
    """Whether commas set off relative clauses, so that no adverb can be attached to two verbs."""
    descriptions: Mapping[str, str]
    """The words for forms in messages."""

    @cached_property
    def usual_auxiliary_forms(self) -> tuple[str, ...]:
        """The forms of the usual auxiliary of the perfect, which stand in shapes for those of all auxiliaries."""
        return next(iter(self.perfect_auxiliaries.values()), ())

    def has_determiner(self, determiner: Word, number: str, word_class: str = "") -> bool:
        """Say whether a determiner goes with a grammatical number, before a word of a class (default: the first)."""
        form = self.find_form("det", number, self.cases[0], word_class or self.classes[0])
        return form in determiner.forms

    def find_auxiliary(self, verb: Word) -> str:
        """Return the auxiliary of a verb's perfect, "" in a language without a choice."""
        return verb.auxiliary or next(iter(self.perfect_auxiliaries), "")

    def replace_auxiliary(self, form: str, auxiliary: str) -> str:
        """Return the form of an auxiliary for that of the usual one; any other word unchanged."""
        forms = dict(zip(self.usual_auxiliary_forms, self.perfect_auxiliaries.get(auxiliary, ()), strict=False))
        return forms.get(form, form)

    def __repr__(self) -> str:
        return f"<{self.name}>"
