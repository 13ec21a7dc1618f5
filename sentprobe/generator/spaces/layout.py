"""Layouts: the variables of a sentence structure (words and features), whose values make an event."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, lru_cache
from itertools import chain, combinations, count, product, takewhile
from typing import NamedTuple, TypeAlias

from sentprobe.generator.events import event as ev
from sentprobe.generator.spaces.constraints import Allowed, Words
from sentprobe.generator.spaces.templates import ClausePattern, Pattern
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.languages.language import Language

LayoutValue: TypeAlias = "str | tuple[str, str]"
"""A value of a variable: a lemma, a feature such as "past", or a pair of a number and a determiner."""
Restriction: TypeAlias = Mapping[str, Allowed]
"""The indices of the allowed values of some variables, by name; variables that are not named may have any value."""


class Group(StrEnum):
    """A group of variables that never have the same value in one sentence."""

    NOUN = "noun"
    VERB = "verb"
    ADVERB = "adverb"
    ADJECTIVE = "adjective"


class PhraseForm(NamedTuple):
    """The numbers of adjectives of the noun at ``path`` and of its conjunct (None: there is no conjunct)."""

    path: str
    adjectives: int = 0
    conjunct_adjectives: int | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable such as ``agent.noun`` or ``tense``; ``domain`` has the indices of the allowed ``values``."""

    name: str
    values: Sequence[LayoutValue]
    domain: Allowed
    group: Group | None = None


RequestedAspects: TypeAlias = tuple[frozenset[str], frozenset[str]]
"""The requested aspects (:attr:`Language.requested_aspects`) that main clauses and relative clauses can have."""
DRAWN_ASPECTS: RequestedAspects = (frozenset(), frozenset())
"""The default: only the aspects that need no request."""


class ClauseForm(NamedTuple):
    """The features of a clause that add or remove variables; ``asked`` is the role and the word of a wh-question."""

    is_modal: bool = False
    mood: ev.Mood = ev.Mood.STATEMENT
    asked: tuple[ev.Role, ev.Asked] | None = None
    fronting: ev.Fronting | None = None
    reflexive: ev.Role | None = None
    has_adjunct: bool = False


TENSED = ClauseForm()


@dataclass(frozen=True, slots=True)
class ClauseSite:
    """A clause of a layout; ``path``, such as ``agent.clause.``, is the prefix of the names of its variables.

    ``owner`` is the path of the noun that the clause modifies, such as ``agent.``; both paths of a main clause are "".
    """

    path: str
    frame: ev.Frame
    voice: ev.Voice | None
    gap: ev.Role | None
    adverbs: int
    owner: str
    clause_pattern: "ClausePattern | None" = None
    form: ClauseForm = TENSED
    phrases: tuple[PhraseForm, ...] = ()

    @property
    def dative(self) -> ev.Dative | None:
        """The only form of the recipient that the clause allows; None if it allows both forms or has no recipient."""
        is_passive = self.voice is ev.Voice.PASSIVE
        if self.gap is ev.Role.RECIPIENT:
            return ev.Dative.DOUBLE if is_passive else ev.Dative.TO
        return ev.Dative.TO if self.frame is ev.Frame.DITRANSITIVE and self.gap and is_passive else None

    @property
    def varies_dative(self) -> bool:
        """Whether the form of the recipient is a variable of the layout."""
        return self.frame is ev.Frame.DITRANSITIVE and self.dative is None

    @property
    def overt_roles(self) -> tuple[ev.Role, ...]:
        """The roles for which the clause has a noun."""
        absent = {self.gap, self.form.asked and self.form.asked[0], self.form.reflexive}
        if self.form.mood is ev.Mood.ORDER:
            absent.add(ev.Role.AGENT)
        return tuple(role for role in ev.FRAME_ROLES[self.frame] if role not in absent)


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The variables of the sentences of one structure, clause by clause; layouts are compared by identity."""

    pattern: Pattern
    clauses: tuple[ClauseSite, ...]
    variables: tuple[Variable, ...]
    language: Language = ENGLISH

    @property
    def coordinations(self) -> tuple[str, ...]:
        """The paths of the coordinated participants."""
        phrases = (phrase for site in self.clauses for phrase in site.phrases)
        return tuple(phrase.path for phrase in phrases if phrase.conjunct_adjectives is not None)


NEGATIONS = (ev.Polarity.POSITIVE.value, *(negator.value for negator in ev.Negator))


@lru_cache(maxsize=1024)  # a task makes thousands of spaces with few layouts
def make_layout(
    pattern: Pattern,
    adverbs: tuple[int, ...],
    words: Words,
    negators: tuple[ev.Negator, ...],
    forms: tuple[ClauseForm, ...] = (),
    *,
    phrases: tuple[PhraseForm, ...] = (),
    aspects: RequestedAspects = DRAWN_ASPECTS,
) -> Layout:
    """Return the layout of *pattern*. *adverbs* lists the number of adverbs in each clause, main clause first."""
    forms = forms or (TENSED,) * len(adverbs)
    is_active = forms[0].mood is ev.Mood.ORDER or not has_passive(pattern.frame, forms[0].fronting)
    is_active = is_active or forms[0].reflexive is not None
    voice = ev.Voice.ACTIVE if is_active else None
    sites = [ClauseSite("", pattern.frame, voice, None, adverbs[0], "", form=forms[0])]
    for (role, clause), number, form in zip(pattern.clauses, adverbs[1:], forms[1:], strict=True):
        owner = f"{role.value}."
        sites.append(ClauseSite(f"{owner}clause.", clause.frame, clause.voice, clause.gap, number, owner, clause, form))
    phrases_by_path = {phrase.path: phrase for phrase in phrases}
    for i, site in enumerate(sites):
        paths = (f"{site.path}{role.value}." for role in site.overt_roles)
        sites[i] = replace(site, phrases=tuple(phrases_by_path.get(path, PhraseForm(path)) for path in paths))
    variables = [v for site in sites for v in _list_clause_variables(site, words, negators, aspects[bool(site.owner)])]
    return Layout(pattern, tuple(sites), tuple(variables), words.language)


def has_passive(frame: ev.Frame, fronting: object) -> bool:
    """Say whether a main clause can be passive: not if *fronting* is OBJECT."""
    return frame in (ev.Frame.TRANSITIVE, ev.Frame.DITRANSITIVE) and fronting != ev.Fronting.OBJECT


def can_have_form(pattern: Pattern, form: ClauseForm) -> bool:
    """Say whether the main clause of *pattern* can have *form* without losing a noun that has a relative clause."""
    main = ClauseSite("", pattern.frame, None, None, 0, "", form=form)
    asked = () if form.asked is None else form.asked[:1]
    is_intransitive = pattern.frame is ev.Frame.INTRANSITIVE
    if form.fronting is ev.Fronting.OBJECT and is_intransitive:
        return False
    is_bound = form.reflexive is ev.FRAME_ROLES[pattern.frame][-1] and not (asked or is_intransitive)
    if form.reflexive is not None and not is_bound:
        return False
    return {*asked} <= {*ev.FRAME_ROLES[pattern.frame]} and {role for role, _ in pattern.clauses} <= {*main.overt_roles}


def list_participant_paths(pattern: Pattern) -> tuple[str, ...]:
    """Return the paths of the noun phrases in a sentence of *pattern*, such as ``agent.clause.patient.``."""
    paths = [f"{role.value}." for role in ev.FRAME_ROLES[pattern.frame]]
    for owner, clause in pattern.clauses:
        roles = (role for role in ev.FRAME_ROLES[clause.frame] if role is not clause.gap)
        paths += [f"{owner.value}.clause.{role.value}." for role in roles]
    return tuple(paths)


def list_phrase_forms(
    pattern: Pattern, form: ClauseForm, adjectives: tuple[int, ...], coordinations: tuple[int, ...]
) -> Iterator[tuple[PhraseForm, ...]]:
    """Yield the forms of all noun phrases of *pattern*, for each choice of coordinated nouns and adjective counts."""
    overt_roles = ClauseSite("", pattern.frame, None, None, 0, "", form=form).overt_roles
    absent_paths = {f"{role.value}." for role in ev.Role if role not in overt_roles}
    paths = [path for path in list_participant_paths(pattern) if path not in absent_paths]
    bare_paths = [path for path in paths if path not in {f"{role.value}." for role, _ in pattern.clauses}]
    for pairs in chain.from_iterable(combinations(bare_paths, number) for number in coordinations):
        for numbers in product(adjectives, repeat=len(paths) + len(pairs)):
            conjuncts = dict(zip(pairs, numbers[len(paths) :], strict=True))
            yield tuple(PhraseForm(path, n, conjuncts.get(path)) for path, n in zip(paths, numbers, strict=False))


def _list_clause_variables(
    site: ClauseSite, words: Words, negators: tuple[ev.Negator, ...], requested: frozenset[str]
) -> Iterator[Variable]:
    # The order is that of an event's digits (see counting.py): another order would renumber all spaces.
    path = site.path
    if site.owner:
        yield _make_free_variable(f"{site.owner}rel", words.relativizers)
    if site.voice is None:
        yield _make_free_variable(f"{path}voice", [v.value for v in ev.Voice])
    if site.varies_dative:
        yield _make_free_variable(f"{path}dative", [d.value for d in ev.Dative])
    if site.form.reflexive is not None:
        yield _make_free_variable(f"{path}{site.form.reflexive.value}.self", [word.value for word in ev.Reflexive])
    is_order = site.form.mood is ev.Mood.ORDER
    if site.form.is_modal:
        yield _make_free_variable(f"{path}modal", words.modals)
    elif not is_order:
        yield _make_free_variable(f"{path}tense", [t.value for t in ev.Tense])
    aspects, excluded = words.language.aspects, words.language.requested_aspects - requested
    possible = (i for i, aspect in enumerate(aspects) if aspect not in excluded and not (is_order and i))
    yield Variable(f"{path}aspect", aspects, frozenset(possible))  # an order is simple, the first aspect
    allowed = {ev.Polarity.POSITIVE.value, *(n.value for n in negators)}
    negations = frozenset(i for i, n in enumerate(NEGATIONS) if n in allowed)
    yield Variable(f"{path}negation", NEGATIONS, negations)
    yield Variable(f"{path}verb", words.verbs, words.verbs_by_frame[site.frame], Group.VERB)
    for i in range(site.adverbs):
        yield _make_free_variable(f"{path}adverb{i}", words.adverbs, Group.ADVERB)
    for phrase in site.phrases:
        yield from _list_noun_variables(phrase.path, phrase.adjectives, words)
        if phrase.conjunct_adjectives is not None:
            yield from _list_noun_variables(f"{phrase.path}conjunct.", phrase.conjunct_adjectives, words)
    if site.form.has_adjunct:
        yield _make_free_variable(f"{path}adjunct", words.adjuncts)


def _list_noun_variables(path: str, adjectives: int, words: Words) -> Iterator[Variable]:
    yield _make_free_variable(f"{path}det", words.determiners)
    for i in range(adjectives):
        yield _make_free_variable(f"{path}adjective{i}", words.adjectives, Group.ADJECTIVE)
    yield _make_free_variable(f"{path}noun", words.nouns, Group.NOUN)


def _make_free_variable(name: str, values: Sequence[LayoutValue], group: Group | None = None) -> Variable:
    return Variable(name, values, _list_positions(len(values)), group)


@cache  # domains are keys of caches, and an object computes its hash only once
def _list_positions(count: int) -> Allowed:
    return frozenset(range(count))


_VOICES = {voice.value: voice for voice in ev.Voice}
_DATIVES = {dative.value: dative for dative in ev.Dative}
_TENSES = {tense.value: tense for tense in ev.Tense}
_ASPECTS = {aspect.value: aspect for aspect in ev.Aspect}
_REFLEXIVES = {word.value: word for word in ev.Reflexive}
_NUMBERS = {number.value: number for number in ev.Number}
_NEGATIONS: dict[str, tuple[ev.Polarity, ev.Negator | None]] = {
    ev.Polarity.POSITIVE.value: (ev.Polarity.POSITIVE, None),
    **{negator.value: (ev.Polarity.NEGATIVE, negator) for negator in ev.Negator},
}
"""Polarity and negator by value; a look-up takes a tenth of the time of a call of the enum."""


def build_layout_event(values: Mapping[str, LayoutValue], layout: Layout, site: ClauseSite | None = None) -> ev.Event:
    """Return the event of a clause (by default the main clause) of a layout; *values* are keyed by variable name."""
    site = site or layout.clauses[0]
    path = site.path
    polarity, negator = _NEGATIONS[str(values[f"{path}negation"])]
    arguments: dict[ev.Role, ev.Argument] = {
        role: _build_participant(f"{path}{role.value}.", values, layout) for role in site.overt_roles
    }
    if site.gap is not None:
        arguments[site.gap] = ev.GAP
    if site.form.asked is not None:
        arguments |= [site.form.asked]
    if (reflexive := site.form.reflexive) is not None:
        arguments[reflexive] = _REFLEXIVES[str(values[f"{path}{reflexive.value}.self"])]
    tense = values.get(f"{path}tense")
    return ev.Event(
        predicate=str(values[f"{path}verb"]),
        frame=site.frame,
        voice=site.voice or _VOICES[str(values[f"{path}voice"])],
        tense=None if tense is None else _TENSES[str(tense)],
        modal=str(values[f"{path}modal"]) if site.form.is_modal else None,
        aspect=_ASPECTS[str(values[f"{path}aspect"])],
        polarity=polarity,
        negator=negator,
        adverbs=tuple(str(values[f"{path}adverb{i}"]) for i in range(site.adverbs)),
        agent=arguments.get(ev.Role.AGENT),
        patient=arguments.get(ev.Role.PATIENT),
        recipient=arguments.get(ev.Role.RECIPIENT),
        dative=_DATIVES[str(values[f"{path}dative"])] if site.varies_dative else site.dative,
        mood=site.form.mood,
        fronting=site.form.fronting,
        adjunct=str(values[f"{path}adjunct"]) if site.form.has_adjunct else None,
    )


def _build_participant(path: str, values: Mapping[str, LayoutValue], layout: Layout) -> ev.Participant:
    pair = values[f"{path}det"]
    assert isinstance(pair, tuple)
    number, determiner = pair
    adjectives = (f"{path}adjective{i}" for i in count())
    site = next((c for c in layout.clauses if c.owner == path), None)
    return ev.Participant(
        noun=str(values[f"{path}noun"]),
        number=_NUMBERS[number],
        determiner=determiner,
        clause=ev.BARE
        if site is None
        else ev.RelativeClause(relativizer=str(values[f"{path}rel"]), event=build_layout_event(values, layout, site)),
        adjectives=tuple(str(values[name]) for name in takewhile(values.__contains__, adjectives)),
        conjunct=_build_participant(f"{path}conjunct.", values, layout) if f"{path}conjunct.noun" in values else None,
    )


def read_values(event: ev.Event, layout: Layout) -> dict[str, int] | None:
    """Map each variable's name to the index of its value in *event*; None if the event does not fit the layout."""
    values: dict[str, LayoutValue] = {}
    if not _read_clause(event, layout.clauses[0], layout, values):
        return None
    if values.keys() != {variable.name for variable in layout.variables}:
        return None
    try:
        return {variable.name: variable.values.index(values[variable.name]) for variable in layout.variables}
    except ValueError:
        return None


def _read_clause(event: ev.Event, site: ClauseSite, layout: Layout, values: dict[str, LayoutValue]) -> bool:
    path, adverbs = site.path, event.adverbs or ()
    if (event.frame, event.gap, len(adverbs), read_form(event)) != (site.frame, site.gap, site.adverbs, site.form):
        return False
    if site.voice not in (None, event.voice) or (not site.varies_dative and site.dative is not event.dative):
        return False
    negated = event.polarity is ev.Polarity.NEGATIVE
    if event.reflexive is not None:
        values[f"{path}{event.reflexive.value}.self"] = str(event.argument(event.reflexive))
    if site.voice is None:
        values[f"{path}voice"] = str(event.voice)
    if site.varies_dative:
        values[f"{path}dative"] = str(event.dative)
    if event.adjunct is not None:
        values[f"{path}adjunct"] = event.adjunct
    if event.mood is not ev.Mood.ORDER:
        values[f"{path}modal" if site.form.is_modal else f"{path}tense"] = str(event.modal or event.tense)
    values |= {
        f"{path}aspect": str(event.aspect),
        f"{path}negation": str(event.negator if negated else event.polarity),
        f"{path}verb": str(event.predicate),
        **{f"{path}adverb{i}": lemma for i, lemma in enumerate(adverbs)},
    }
    return all(
        _read_participant(event.argument(role), f"{path}{role.value}.", layout, values) for role in site.overt_roles
    )


def read_form(event: ev.Event) -> ClauseForm:
    """Return the form of the main clause of an event."""
    asked = event.asked
    filler = None if asked is None else event.argument(asked)
    open_participant = (asked, filler) if asked is not None and isinstance(filler, ev.Asked) else None
    features = event.mood, open_participant, event.fronting, event.reflexive, event.adjunct is not None
    return ClauseForm(event.modal is not None, *features)


def _read_participant(person: object, path: str, layout: Layout, values: dict[str, LayoutValue]) -> bool:
    if not isinstance(person, ev.Participant):
        return False
    values[f"{path}det"] = (str(person.number), str(person.determiner))
    values[f"{path}noun"] = str(person.noun)
    values |= {f"{path}adjective{i}": lemma for i, lemma in enumerate(person.adjectives)}
    if person.conjunct is not None and not _read_participant(person.conjunct, f"{path}conjunct.", layout, values):
        return False
    site = next((clause for clause in layout.clauses if clause.owner == path), None)
    clause = person.clause
    if not isinstance(clause, ev.RelativeClause):
        return site is None
    values[f"{path}rel"] = str(clause.relativizer)
    return site is not None and _read_clause(clause.event, site, layout, values)
