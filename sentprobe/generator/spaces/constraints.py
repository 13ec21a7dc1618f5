"""Constraints on sentences, and the words and features from which sentences are drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import TypeAlias

from sentprobe.common.errors import UsageError, suggest
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.checks import check_language
from sentprobe.lexicon import Flag, Kind, Lexicon
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.words import NAMED, PLACE, TIME

Allowed: TypeAlias = frozenset[int]


@dataclass(frozen=True, slots=True, eq=False)  # compared by identity: a fast cache key
class Words:
    """The lemmas from which sentences are built; ``verbs_by_frame`` maps a frame to positions in ``verbs``."""

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    verbs_by_frame: Mapping[ev.Frame, Allowed]
    adverbs: tuple[str, ...]
    adjectives: tuple[str, ...]
    determiners: tuple[tuple[str, str], ...]
    """Pairs such as ``("pl", "the")``: a grammatical number, and a determiner that nouns of this number can have."""
    relativizers: tuple[str, ...]
    modals: tuple[str, ...] = ()
    adjuncts: tuple[str, ...] = ()
    language: Language = ENGLISH
    uniform_conjuncts: bool = False
    """Whether coordinated nouns have the same sort."""
    separate_agents: bool = False
    """Whether passives in which two agents stand in a row are left out."""
    event_adverbs: Allowed = frozenset()
    """Positions in ``adverbs`` of those that do not modify ``states``, such as *suddenly*."""
    states: Allowed = frozenset()
    """Positions in ``verbs`` of those that ``event_adverbs`` do not modify, such as *own*."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Partial events and lemmas that every sentence must contain, or must not contain.

    A partial event may match the main clause or a relative clause (see
    :func:`~sentprobe.generator.events.checks.contains`). A sentence must contain all ``required`` events and, unless
    ``required_any`` is empty, at least one event of ``required_any``.
    """

    required: tuple[ev.Event, ...] = ()
    required_any: tuple[ev.Event, ...] = ()
    forbidden: tuple[ev.Event, ...] = ()
    required_words: tuple[str, ...] = ()
    forbidden_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The features of the sentences in a space: fixed values, and lists of allowed values.

    The partial event ``main`` fixes features of the main clause, and ``clause`` those of each relative clause. Each
    tuple lists the allowed values of a feature; repeated values count once.

    In all clauses: ``numbers`` of nouns; lemmas of ``determiners`` and ``relativizers`` (if empty: the language's usual
    word); ``negators``; ``modals`` (None: a tense instead); ``adverbs``, how many adverbs precede a verb;
    ``adjectives``, how many adjectives precede a noun. Unless None, ``clause_modals`` and ``clause_adverbs`` replace
    ``modals`` and ``adverbs`` in relative clauses. ``coordinations`` is how many participants of a sentence are
    coordinated ("the man and the woman").

    In main clauses: ``moods``; ``frontings`` (None: subject first); ``adjuncts``, lemmas or sorts (None: no adjunct);
    ``asked``, the role that a question asks for (None: a yes/no question); ``reflexives``, the role of a reflexive
    (None: no reflexive).

    ``allow`` admits verbs with the flags that it lists. By default, stative, punctual and psych verbs have no
    progressive, and syncretic verbs ("the men hit": present or past) do not occur. ``ambiguous`` admits sentences with
    two readings, such as those in which an adverb can belong to either of two verbs. ``decided`` excludes main clauses
    in which only the word order tells the object from the subject. ``counted`` is the path of the only noun with a
    numeral or name, and the determiners that it can have (None: any noun can have any of the determiners).
    """

    main: ev.Event = field(default_factory=ev.Event)
    clause: ev.Event = field(default_factory=ev.Event)
    numbers: tuple[ev.Number, ...] = tuple(ev.Number)
    determiners: tuple[str, ...] = ()
    relativizers: tuple[str, ...] = ()
    negators: tuple[ev.Negator, ...] = (ev.Negator.NOT,)
    modals: tuple[str | None, ...] = (None,)
    moods: tuple[ev.Mood, ...] = (ev.Mood.STATEMENT,)
    frontings: tuple[ev.Fronting | None, ...] = (None,)
    adjuncts: tuple[str | None, ...] = (None,)
    asked: tuple[ev.Role | None, ...] = (None,)
    reflexives: tuple[ev.Role | None, ...] = (None,)
    adverbs: tuple[int, ...] = (0,)
    clause_adverbs: tuple[int, ...] | None = None
    clause_modals: tuple[str | None, ...] | None = None
    adjectives: tuple[int, ...] = (0,)
    coordinations: tuple[int, ...] = (0,)
    allow: frozenset[Flag] = frozenset()
    ambiguous: bool = False
    decided: bool = False
    counted: tuple[str, frozenset[str]] | None = None

    def __post_init__(self) -> None:
        for feature in fields(self):
            values = getattr(self, feature.name)
            if isinstance(values, tuple):
                object.__setattr__(self, feature.name, tuple(dict.fromkeys(values)))

    @property
    def adverbs_in_clauses(self) -> tuple[int, ...]:
        """The allowed numbers of adverbs before the verb of a relative clause."""
        return self.adverbs if self.clause_adverbs is None else self.clause_adverbs

    @property
    def modals_in_clauses(self) -> tuple[str | None, ...]:
        """The allowed modals of relative clauses; None allows a tense instead of a modal."""
        return self.modals if self.clause_modals is None else self.clause_modals


def choose_words(lexicon: Lexicon, vocabulary: str, choices: Choices, constraints: Constraints) -> Words:
    """Return the words for sentences. Raises UsageError, or Contradiction if *vocabulary* lacks needed adjectives."""
    lexicon.vocabulary(vocabulary)
    language = lexicon.language
    features = [ev.Event(negator=negator) for negator in choices.negators]
    features += [ev.Event(mood=mood) for mood in choices.moods]
    features += [ev.Event(fronting=fronting) for fronting in choices.frontings]
    for event in (choices.main, choices.clause, *features):
        check_language(event, language)
    if any(choices.reflexives) and not language.reflexives:
        raise UsageError(f"sentprobe's {language.name} has no reflexive")
    if any(choices.coordinations) and not language.has_coordination:
        raise UsageError(f"sentprobe's {language.name} has no coordination")
    for count in (*choices.adverbs, *choices.adverbs_in_clauses):
        if not 0 <= count <= language.max_adverbs:
            raise UsageError(f"a verb takes from 0 to {language.max_adverbs} adverbs, not {count}")
    for count in choices.adjectives:
        if not 0 <= count <= 1:
            raise UsageError(f"a drawn noun has at most one adjective, not {count}")
    if any(choices.adjectives) and not lexicon.vocabulary(vocabulary).words[Kind.ADJECTIVE]:
        raise ev.Contradiction(
            f"vocabulary {vocabulary!r} has no adjective{list_other_vocabularies(lexicon, Kind.ADJECTIVE)}"
        )
    words = _collect_words(
        lexicon,
        vocabulary,
        choices.numbers,
        choices.determiners or (language.determiner,),
        choices.relativizers or (language.relativizer,),
        modals=tuple(dict.fromkeys(x for x in (*choices.modals, *choices.modals_in_clauses) if x is not None)),
        adjuncts=_list_adjuncts(choices, lexicon),
        syncretic=Flag.SYNCRETIC in choices.allow,
    )
    _check_words(words, lexicon, vocabulary, constraints)
    return words


def _list_adjuncts(choices: Choices, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the adjuncts that are chosen by lemma or sort. Raises UsageError for one that is unknown."""
    chosen = [name for name in choices.adjuncts if name is not None]
    if chosen and not lexicon.language.adjuncts:
        raise UsageError(f"sentprobe's {lexicon.language.name} has no adjunct")
    if ev.Fronting.ADJUNCT in choices.frontings and not chosen:
        raise UsageError("the order adjunct-first needs adjuncts, such as time or place")
    words = lexicon.words(Kind.ADJUNCT)
    for name in chosen:
        if name not in (TIME, PLACE):
            lexicon.get(name, Kind.ADJUNCT)
    return tuple(word.lemma for word in words if {word.lemma, word.sort} & {*chosen})


def list_other_vocabularies(lexicon: Lexicon, kind: Kind) -> str:
    """Return the end of an error message: which vocabularies have words of *kind*; "" if no vocabulary has any."""
    names = [repr(name) for name, vocabulary in lexicon.vocabularies.items() if vocabulary.words[kind]]
    return f"; vocabulary {' or '.join(names)} has" if names else ""


@lru_cache(maxsize=64)  # a task makes thousands of spaces from the same words
def _collect_words(
    lexicon: Lexicon,
    vocabulary: str,
    numbers: tuple[ev.Number, ...],
    determiners: tuple[str, ...],
    relativizers: tuple[str, ...],
    *,
    modals: tuple[str, ...],
    adjuncts: tuple[str, ...],
    syncretic: bool,
) -> Words:
    language = lexicon.language
    pairs = tuple(
        (number.value, lemma)
        for number in ev.Number
        if number in numbers
        for lemma in determiners
        if language.has_determiner(lexicon.get(lemma, Kind.DETERMINER), number.value)
    )
    phrases = NAMED.intersection(language.phrases.get(lemma, "") for _, lemma in pairs)
    names = (word.lemma for word in lexicon.words(Kind.NOUN) if word.phrase in phrases)
    relatives = tuple(lexicon.get(lemma, Kind.RELATIVIZER).lemma for lemma in relativizers)
    vocabulary_words = lexicon.vocabulary(vocabulary)
    by_frame = {
        frame: tuple(
            lemma
            for lemma in vocabulary_words.words.get(Kind(frame.value), ())
            if syncretic or Flag.SYNCRETIC not in lexicon.get(lemma, Kind(frame.value)).flags
        )
        for frame in ev.Frame
    }
    verbs = tuple(dict.fromkeys(lemma for lemmas in by_frame.values() for lemma in lemmas))
    return Words(
        nouns=tuple(dict.fromkeys((*vocabulary_words.words[Kind.NOUN], *names))),
        verbs=verbs,
        verbs_by_frame={frame: frozenset(verbs.index(lemma) for lemma in lemmas) for frame, lemmas in by_frame.items()},
        adverbs=vocabulary_words.words[Kind.ADVERB],
        adjectives=vocabulary_words.words[Kind.ADJECTIVE],
        determiners=pairs,
        relativizers=relatives,
        modals=tuple(lexicon.get(lemma, Kind.MODAL).lemma for lemma in modals),
        adjuncts=adjuncts,
        language=language,
        uniform_conjuncts=vocabulary_words.uniform_conjuncts,
        separate_agents=vocabulary_words.separate_agents,
        event_adverbs=frozenset(
            i for i, a in enumerate(vocabulary_words.words[Kind.ADVERB]) if a in vocabulary_words.event_adverbs
        ),
        states=frozenset(i for i, verb in enumerate(verbs) if verb in vocabulary_words.states),
    )


@lru_cache(maxsize=64)
def _list_lemmas(words: Words) -> frozenset[str]:
    determiners = (lemma for _, lemma in words.determiners)
    open_words = (*words.nouns, *words.verbs, *words.adverbs, *words.adjectives)
    return frozenset((*open_words, *words.relativizers, *words.modals, *words.adjuncts, *determiners))


def _check_words(words: Words, lexicon: Lexicon, vocabulary: str, constraints: Constraints) -> None:
    events = (*constraints.required, *constraints.required_any)
    required = set(constraints.required_words).union(*map(collect_lemmas, events))
    forbidden = set[str]().union(*map(collect_lemmas, constraints.forbidden))
    for lemma in sorted((required | forbidden | {*constraints.forbidden_words}) - _list_lemmas(words)):
        if not lexicon.kinds_of(lemma):
            known_lemmas = {word.lemma for kind in Kind for word in lexicon.words(kind)}
            raise UsageError(f"the lexicon has no word {lemma!r}{suggest(lemma, known_lemmas)}")
        if lemma in required:
            is_adverb = Kind.ADVERB in lexicon.kinds_of(lemma)
            vocabularies = lexicon.vocabularies.values()
            # The parser knows adverbs such as *ever*, but no vocabulary has them.
            if (
                is_adverb
                and Flag.NPI in lexicon.get(lemma, Kind.ADVERB).flags
                and not any(lemma in some.words[Kind.ADVERB] for some in vocabularies)
            ):
                raise UsageError(f"gen never puts {lemma!r} into a sentence; gen parse reads it")
            raise UsageError(f"{lemma!r} is required but {_explain_unavailable(lemma, lexicon, vocabulary)}")


def _explain_unavailable(lemma: str, lexicon: Lexicon, vocabulary: str) -> str:
    if Kind.ADJUNCT in lexicon.kinds_of(lemma):
        return "is a time or place, which needs --adjunct"
    if {Kind.DETERMINER, Kind.RELATIVIZER, Kind.MODAL} & set(lexicon.kinds_of(lemma)):
        return "is not among the determiners, relativizers and modals that were chosen"
    if Kind.NOUN in lexicon.kinds_of(lemma) and (phrase := lexicon.get(lemma, Kind.NOUN).phrase):
        determiners = [determiner for determiner, other in lexicon.language.phrases.items() if other == phrase]
        return f"is a name, which needs --determiner {' or --determiner '.join(determiners)}"
    if any(lemma in lemmas for lemmas in lexicon.vocabulary(vocabulary).words.values()):
        return f"is left out of vocabulary {vocabulary!r} (see --allow)"
    return f"is not in vocabulary {vocabulary!r}"


def collect_lemmas(event: ev.Event) -> set[str]:
    lemmas: set[str | None] = set()
    for clause, _ in ev.iterate_clauses(event):
        lemmas |= {clause.predicate, clause.modal, clause.adjunct, *(clause.adverbs or ())}
        persons = (conjunct for _, person in ev.iterate_participants(clause) for conjunct in person.conjuncts)
        for person in persons:
            lemmas |= {person.noun, person.determiner, *person.adjectives}
            lemmas.add(getattr(person.clause, "relativizer", None))
    return {lemma for lemma in lemmas if lemma is not None}
