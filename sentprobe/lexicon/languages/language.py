"""A language: the facts about grammar and words that the code needs (see ``docs/languages.md``)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from sentprobe.lexicon.words import BARE_COUNT, NAME, NAMED, TITLE, Kind, Word

EntryValues: TypeAlias = Mapping[str, object]
"""The values of a word's entry in a lexicon file, by key."""
StructureRow: TypeAlias = tuple[str, str, str, tuple[str, ...]]
"""Frame, voice, form of the recipient ("double", "to" or ""), and possible roles of the gap ("" in a main clause)."""


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
    """The name of the usual vocabulary; names of the language's files, such as ``german.toml``, begin with it."""

    # ---- the lexicon
    open_kinds: tuple[Kind, ...]
    """The kinds from which a vocabulary selects words; words of ``closed_kinds`` are always available."""
    closed_kinds: tuple[Kind, ...]
    forms: Mapping[Kind, tuple[Any, ...]]
    """The names of the forms that a word of each kind can have."""
    keys: Mapping[Kind, tuple[str, ...]]
    """The keys that an entry of each kind can have, in addition to ``flags``, ``sort`` and ``takes``."""
    make_forms: Callable[[str, Kind, EntryValues, Any], Iterator[tuple[Any, str]]]
    """Function of lemma, kind, entry and source of inflected forms that yields pairs of a form and its spelling."""
    find_class: Callable[[Word], str]
    """Function that returns the class of a noun or an adjective."""
    reserved: frozenset[str]
    """The function words that no word of a lexicon may have as a form, except relativizers: "who" and "what"."""
    has_distinct_forms: bool = True
    """Whether singular and plural of a noun, and past and plain form of a verb, must differ."""
    capitalized_kinds: frozenset[Kind] = frozenset()
    """The kinds of words that begin with a capital letter."""
    determiner: str
    numerals: Mapping[str, int] = field(default_factory=dict)
    """The numerals that can be determiners, with their numbers; a number of one is singular."""
    bounds: tuple[str, ...] = ()
    """The words that can precede a numeral, such as "at least"."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The names, such as "Mary", with their genders; they have no determiner."""
    titles: tuple[str, ...] = ()
    """The words that are a determiner of ``surnames`` only: "Doctor Smith"."""
    surnames: tuple[str, ...] = ()
    adjuncts: Mapping[str, str] = field(default_factory=dict)
    """The adjuncts of time and place, such as "on Monday", with their sorts."""
    relativizer: str
    """The default relativizer; ``determiner`` is the default determiner."""

    # ---- events
    frames: tuple[str, ...]
    aspects: tuple[str, ...]
    requested_aspects: frozenset[str] = frozenset()
    """The aspects that are drawn only if options, constraints or a contrast name them."""
    requested_words: frozenset[str] = frozenset()
    """Function words of which every clause in a requested aspect has one; no other clause has any."""
    cues: Mapping[str, str]
    """The word that expresses each negator of an event, such as ``{"not": "nicht"}``."""
    moods: tuple[str, ...] = ("statement",)
    has_coordination: bool = False
    has_fronting: bool = False
    """Whether an object can stand first in a main clause."""
    max_adverbs: int
    excluded_contrasts: frozenset[str] = frozenset()
    """The contrasts between the anchor and a negative of a triplet that are impossible in this language."""
    more_templates: tuple[str, ...] = ()
    """The templates of this language that the name ``all`` selects in addition to the templates of English."""

    # ---- the grammar
    structures: tuple[StructureRow, ...]
    participle: str = ""
    """The name of the verb form in the perfect ("VVPP"), or "" if verbs do not differ in their perfect auxiliary."""
    perfect_auxiliaries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The past and present forms of each perfect auxiliary, each singular first; the usual auxiliary is the first."""
    function_words: frozenset[str]
    """The words that the grammar itself puts into a sentence."""
    auxiliaries: frozenset[str]
    reflexives: frozenset[str] = frozenset()
    conjunction: str = ""
    cases: tuple[str, ...] = ("",)
    """The cases of nouns in generated sentences, or ``("",)`` for a language without cases."""
    classes: tuple[str, ...]
    """The classes of words (see above); the first is the default."""
    find_noun_form: Callable[[str, str], Any]
    """Function that returns the name of a noun's form by grammatical number and case."""
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
    """The description of each form in error messages, such as "a plural noun"."""

    @cached_property
    def counts(self) -> Mapping[str, str]:
        """How the numeral of each determiner with one is bounded (:attr:`Word.phrase`), by the determiner's lemma.

        >>> from sentprobe.lexicon.languages.english import ENGLISH
        >>> ENGLISH.counts["two"], ENGLISH.counts["at least two"]
        ('bare', 'at least')
        """
        bare = dict.fromkeys(self.numerals, BARE_COUNT)
        return bare | {f"{bound} {numeral}": bound for bound in self.bounds for numeral in self.numerals}

    def list_numerals(self) -> tuple[str, ...]:
        """Return the determiners with a plural numeral."""
        return tuple(d for d in self.counts if self.numerals[d.rpartition(" ")[2]] > 1)

    def list_name_determiners(self) -> tuple[str, ...]:
        """Return the determiners of names."""
        return tuple(d for d, phrase in self.phrases.items() if phrase in NAMED)

    @cached_property
    def phrases(self) -> Mapping[str, str]:
        """The special noun phrase (:attr:`Word.phrase`) of each determiner that has one, by the determiner's lemma."""
        return {**self.counts, **dict.fromkeys([NAME] if self.names else [], NAME), **dict.fromkeys(self.titles, TITLE)}

    def make_words(self) -> Iterator[Word]:
        """Yield the numerals, titles, names and adjuncts. A determiner has the same form in all cases and classes."""
        for lemma, phrase in self.phrases.items():
            text = "" if phrase == NAME else lemma.rpartition(" ")[2]
            number = "sg" if self.numerals.get(text, 1) == 1 else "pl"
            names = {self.find_form("det", number, case, c) for case in self.cases for c in self.classes}
            yield Word(lemma, Kind.DETERMINER, dict.fromkeys(sorted(names), text), phrase=phrase)
        forms = [self.find_noun_form("sg", case) for case in self.cases]
        for lemma, gender in self.names.items():
            yield Word(lemma, Kind.NOUN, dict.fromkeys(forms, lemma), gender=gender, phrase=NAME)
        for lemma in self.surnames:
            yield Word(lemma, Kind.NOUN, dict.fromkeys(forms, lemma), phrase=TITLE)
        for lemma, sort in self.adjuncts.items():
            phrase, _, noun = lemma.rpartition(" ")
            yield Word(lemma, Kind.ADJUNCT, dict.fromkeys(forms, noun), sort=sort, phrase=phrase)

    @cached_property
    def capitalized_names(self) -> Mapping[str, str]:
        """The spelling of each name, title with surname, and adjunct such as "on Monday", by that in lower case."""
        names = (*self.names, *(f"{title} {surname}" for title in self.titles for surname in self.surnames))
        return {name.lower(): name for name in (*names, *self.adjuncts) if name != name.lower()}

    @cached_property
    def adjunct_openers(self) -> frozenset[str]:
        """The first words of adjuncts, such as "on"."""
        return frozenset(lemma.partition(" ")[0] for lemma in self.adjuncts)

    @cached_property
    def usual_auxiliary_forms(self) -> tuple[str, ...]:
        """The forms of the usual perfect auxiliary ("haben"). In clause shapes, these forms also stand for "sein"."""
        return next(iter(self.perfect_auxiliaries.values()), ())

    def has_determiner(self, determiner: Word, number: str, word_class: str = "") -> bool:
        """Say whether a determiner has a form for *number* ("sg", "pl") and *word_class* (default: ``classes[0]``)."""
        form = self.find_form("det", number, self.cases[0], word_class or self.classes[0])
        return form in determiner.forms

    def find_auxiliary(self, verb: Word) -> str:
        """Return the perfect auxiliary of a verb, such as "sein", or "" in a language without perfect auxiliaries."""
        return verb.auxiliary or next(iter(self.perfect_auxiliaries), "")

    def replace_auxiliary(self, form: str, auxiliary: str) -> str:
        """Return *form* or, for a form of the usual auxiliary ("hat"), the matching form of *auxiliary* ("ist")."""
        forms = dict(zip(self.usual_auxiliary_forms, self.perfect_auxiliaries.get(auxiliary, ()), strict=False))
        return forms.get(form, form)

    def __repr__(self) -> str:
        return f"<{self.name}>"
