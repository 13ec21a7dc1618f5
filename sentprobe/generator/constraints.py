"""What the sentences must and must not contain, and which words they are made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from sentprobe.errors import UsageError, suggest
from sentprobe.generator.event import Event, Frame, Negator, Number, clauses, participants
from sentprobe.generator.realize import determiner_form
from sentprobe.grammars.shapes import MAX_ADVERBS
from sentprobe.lexicon import Flag, Kind, Lexicon

Allowed: TypeAlias = frozenset[int]


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The lemmas to choose from; verbs of both frames share one list, so that they can differ.

    Equal only to itself: what is made of the words is kept by them.
    """

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    verbs_by_frame: Mapping[Frame, Allowed]
    adverbs: tuple[str, ...]
    determiners: tuple[tuple[str, str], ...]
    """Pairs of number and lemma that go together."""
    relativizers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Partial events and words (lemmas) that every sentence must, or must not, contain.

    An event may be contained in the main clause or in a relative clause, by sense (see
    :func:`sentprobe.generator.event.contains`). All of the required ones are required, and of
    ``required_any``, if there are such, at least one.
    """

    required: tuple[Event, ...] = ()
    required_any: tuple[Event, ...] = ()
    forbidden: tuple[Event, ...] = ()
    required_words: tuple[str, ...] = ()
    forbidden_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What may vary in a sentence, and what is fixed.

    ``main`` and ``clause`` are partial events that fix features of the main clause and of every
    relative clause. The other fields list the values to choose from, in every clause: the numbers
    of nouns, determiners and relativizers by lemma, the cues of negation, and how many adverbs may
    stand before a verb (in relative clauses ``clause_adverbs``, where that is given). A value that
    is listed twice counts once. Verbs with a flag in ``allow`` are used where they are left out
    otherwise: stative ones in the progressive, syncretic ones ("the men hit") at all.
    """

    main: Event = field(default_factory=Event)
    clause: Event = field(default_factory=Event)
    numbers: tuple[Number, ...] = tuple(Number)
    determiners: tuple[str, ...] = ("the",)
    relativizers: tuple[str, ...] = ("that",)
    negators: tuple[Negator, ...] = (Negator.NOT,)
    adverbs: tuple[int, ...] = (0,)
    clause_adverbs: tuple[int, ...] | None = None
    allow: frozenset[Flag] = frozenset()

    def __post_init__(self) -> None:
        lists = ("numbers", "determiners", "relativizers", "negators", "adverbs", "clause_adverbs")
        for name in lists:
            values = getattr(self, name)
            if values is not None:
                object.__setattr__(self, name, tuple(dict.fromkeys(values)))

    @property
    def adverbs_in_clauses(self) -> tuple[int, ...]:
        """How many adverbs may stand before the verb of a relative clause."""
        return self.adverbs if self.clause_adverbs is None else self.clause_adverbs


def choose_words(
    lexicon: Lexicon, vocabulary: str, choices: Choices, constraints: Constraints
) -> Words:
    """Return the words to choose from.

    Raises:
        UsageError: an unknown vocabulary, determiner or relativizer; a word that is required or
            forbidden and not in the lexicon, or required and not in the vocabulary; too many
            adverbs.
    """
    lexicon.vocabulary(vocabulary)
    for count in (*choices.adverbs, *choices.adverbs_in_clauses):
        if not 0 <= count <= MAX_ADVERBS:
            raise UsageError(f"a verb takes from 0 to {MAX_ADVERBS} adverbs, not {count}")
    words = _words(
        lexicon,
        vocabulary,
        choices.numbers,
        choices.determiners,
        choices.relativizers,
        syncretic=Flag.SYNCRETIC in choices.allow,
    )
    _check_words(words, lexicon, vocabulary, constraints)
    return words


@lru_cache(maxsize=64)  # a task makes thousands of spaces of the same words
def _words(
    lexicon: Lexicon,
    vocabulary: str,
    numbers: tuple[Number, ...],
    determiners: tuple[str, ...],
    relativizers: tuple[str, ...],
    *,
    syncretic: bool,
) -> Words:
    pairs = _determiners(lexicon, numbers, determiners)
    relatives = tuple(lexicon.get(lemma, Kind.RELATIVIZER).lemma for lemma in relativizers)
    named = lexicon.vocabulary(vocabulary)
    by_frame = {
        frame: tuple(
            lemma
            for lemma in named.words[Kind(frame.value)]
            if syncretic or Flag.SYNCRETIC not in lexicon.get(lemma, Kind(frame.value)).flags
        )
        for frame in Frame
    }
    verbs = tuple(dict.fromkeys(lemma for lemmas in by_frame.values() for lemma in lemmas))
    return Words(
        nouns=named.words[Kind.NOUN],
        verbs=verbs,
        verbs_by_frame={
            frame: frozenset(verbs.index(lemma) for lemma in lemmas)
            for frame, lemmas in by_frame.items()
        },
        adverbs=named.words[Kind.ADVERB],
        determiners=pairs,
        relativizers=relatives,
    )


def _determiners(
    lexicon: Lexicon, numbers: tuple[Number, ...], lemmas: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    return tuple(
        (number.value, lemma)
        for number in Number
        if number in numbers
        for lemma in lemmas
        if determiner_form(number.value, vowel=False) in lexicon.get(lemma, Kind.DETERMINER).forms
    )


@lru_cache(maxsize=64)  # as many as there are words
def _chosen(words: Words) -> frozenset[str]:
    """Return the lemmas of all kinds."""
    determiners = (lemma for _, lemma in words.determiners)
    return frozenset(
        (*words.nouns, *words.verbs, *words.adverbs, *words.relativizers, *determiners)
    )


def _check_words(words: Words, lexicon: Lexicon, vocabulary: str, constraints: Constraints) -> None:
    """Check the lemmas of the constraints against the lexicon and the vocabulary."""
    events = (*constraints.required, *constraints.required_any)
    required = {lemma for event in events for lemma in lemmas_of(event)}
    required |= set(constraints.required_words)
    forbidden = {lemma for event in constraints.forbidden for lemma in lemmas_of(event)}
    for lemma in sorted((required | forbidden | {*constraints.forbidden_words}) - _chosen(words)):
        if not lexicon.kinds_of(lemma):
            known = {word.lemma for kind in Kind for word in lexicon.words(kind)}
            raise UsageError(f"the lexicon has no word {lemma!r}{suggest(lemma, known)}")
        if lemma in required:
            raise UsageError(f"{lemma!r} is required but {_why_not(lemma, lexicon, vocabulary)}")


def _why_not(lemma: str, lexicon: Lexicon, vocabulary: str) -> str:
    """Say why a word of the lexicon cannot be used."""
    if {Kind.DETERMINER, Kind.RELATIVIZER} & set(lexicon.kinds_of(lemma)):
        return "is not among the determiners and relativizers that were chosen"
    if any(lemma in lemmas for lemmas in lexicon.vocabulary(vocabulary).words.values()):
        return f"is left out of vocabulary {vocabulary!r} (see --allow)"
    return f"is not in vocabulary {vocabulary!r}"


def lemmas_of(event: Event) -> set[str]:
    """Return the lemmas that a partial event names."""
    found: set[str | None] = set()
    for clause, _ in clauses(event):
        found |= {clause.predicate, *(clause.adverbs or ())}
        for _, person in participants(clause):
            found |= {person.noun, person.determiner}
            found.add(getattr(person.clause, "relativizer", None))
    return {lemma for lemma in found if lemma is not None}
