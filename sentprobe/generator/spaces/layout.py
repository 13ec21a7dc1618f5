"""Layouts: the variables of a structure, whose values make an event.

A layout lists, for one pattern with given numbers of adverbs and adjectives and given coordinations, every variable
with all its values. A *box* allows each variable some of its values; a constraint is a set of boxes. Sets of values are
sets of indices.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import chain, combinations, count, product, takewhile
from typing import NamedTuple, TypeAlias

from sentprobe.generator.events import event as ev
from sentprobe.generator.spaces.constraints import Allowed, Words
from sentprobe.generator.spaces.templates import ClausePattern, Pattern

LayoutValue: TypeAlias = "str | tuple[str, str]"
Restriction: TypeAlias = Mapping[str, Allowed]
"""The allowed values of some variables; the others are free."""


class Group(StrEnum):
    """Variables of one group never have the same value in one sentence."""

    NOUN = "noun"
    VERB = "verb"
    ADVERB = "adverb"
    ADJECTIVE = "adjective"


class PhraseForm(NamedTuple):
    """The numbers of adjectives of a noun, by the path of its participant, and of its conjunct if it has one."""

    path: str
    adjectives: int = 0
    conjunct_adjectives: int | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: its name is the slot or feature that it fills; ``domain`` holds indices into ``values``."""

    name: str
    values: Sequence[LayoutValue]
    domain: Allowed
    group: Group | None = None


class ClauseForm(NamedTuple):
    """Whether the finite verb of a clause is a modal; its mood; and the open participant of a wh-question."""

    is_modal: bool = False
    mood: ev.Mood = ev.Mood.STATEMENT
    asked: tuple[ev.Role, ev.Asked] | None = None


TENSED = ClauseForm()


@dataclass(frozen=True, slots=True)
class ClauseSite:
    """A clause of the layout: its path, frame, voice and gap, its number of adverbs, its form and its participants.

    ``owner`` is the path of the noun that the clause modifies ("" for the main clause).
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
    def overt_roles(self) -> tuple[ev.Role, ...]:
        """The roles that have a noun in the clause."""
        absent = {self.gap, self.form.asked and self.form.asked[0]}
        if self.form.mood is ev.Mood.ORDER:
            absent.add(ev.Role.AGENT)
        return tuple(role for role in list_frame_roles(self.frame) if role not in absent)


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """A pattern with numbers of adverbs, its clauses, and its variables; compared by identity."""

    pattern: Pattern
    clauses: tuple[ClauseSite, ...]
    variables: tuple[Variable, ...]

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
) -> Layout:
    """Return the layout of *pattern*.

    *adverbs* and *forms* hold the number of adverbs and the form of each clause, main clause first; by default, all
    clauses are tensed. *phrases* lists the participants with adjectives or a conjunct.
    """
    forms = forms or (TENSED,) * len(adverbs)
    is_active = pattern.frame is ev.Frame.INTRANSITIVE or forms[0].mood is ev.Mood.ORDER
    voice = ev.Voice.ACTIVE if is_active else None
    sites = [ClauseSite("", pattern.frame, voice, None, adverbs[0], "", form=forms[0])]
    for (role, clause), number, form in zip(pattern.clauses, adverbs[1:], forms[1:], strict=True):
        owner = f"{role.value}."
        sites.append(ClauseSite(f"{owner}clause.", clause.frame, clause.voice, clause.gap, number, owner, clause, form))
    phrases_by_path = {phrase.path: phrase for phrase in phrases}
    for i, site in enumerate(sites):
        paths = (f"{site.path}{role.value}." for role in site.overt_roles)
        sites[i] = replace(site, phrases=tuple(phrases_by_path.get(path, PhraseForm(path)) for path in paths))
    variables = [v for site in sites for v in _list_clause_variables(site, words, negators)]
    return Layout(pattern, tuple(sites), tuple(variables))


def can_have_form(pattern: Pattern, form: ClauseForm) -> bool:
    """Say whether the main clause of a pattern can have a form: each relative clause has its noun."""
    main = ClauseSite("", pattern.frame, None, None, 0, "", form=form)
    asked = () if form.asked is None else form.asked[:1]
    return {*asked} <= {*list_frame_roles(pattern.frame)} and {role for role, _ in pattern.clauses} <= {
        *main.overt_roles
    }


def list_frame_roles(frame: ev.Frame) -> tuple[ev.Role, ...]:
    """Return the roles of a frame."""
    return ev.FRAME_ROLES[frame]


def list_participant_paths(pattern: Pattern) -> tuple[str, ...]:
    """Return the paths of the overt participants of a pattern."""
    paths = [f"{role.value}." for role in list_frame_roles(pattern.frame)]
    for owner, clause in pattern.clauses:
        roles = (role for role in list_frame_roles(clause.frame) if role is not clause.gap)
        paths += [f"{owner.value}.clause.{role.value}." for role in roles]
    return tuple(paths)


def list_phrase_forms(
    pattern: Pattern, form: ClauseForm, adjectives: tuple[int, ...], coordinations: tuple[int, ...]
) -> Iterator[tuple[PhraseForm, ...]]:
    """Yield the forms of the participants of a pattern, with these numbers of adjectives and coordinations.

    *form* is the form of the main clause.
    """
    overt_roles = ClauseSite("", pattern.frame, None, None, 0, "", form=form).overt_roles
    absent_paths = {f"{role.value}." for role in ev.Role if role not in overt_roles}
    paths = [path for path in list_participant_paths(pattern) if path not in absent_paths]
    bare_paths = [path for path in paths if path not in {f"{role.value}." for role, _ in pattern.clauses}]
    for pairs in chain.from_iterable(combinations(bare_paths, number) for number in coordinations):
        for numbers in product(adjectives, repeat=len(paths) + len(pairs)):
            conjuncts = dict(zip(pairs, numbers[len(paths) :], strict=True))
            yield tuple(PhraseForm(path, n, conjuncts.get(path)) for path, n in zip(paths, numbers, strict=False))


def _list_clause_variables(site: ClauseSite, words: Words, negators: tuple[ev.Negator, ...]) -> Iterator[Variable]:
    path = site.path
    if site.owner:
        yield _make_free_variable(f"{site.owner}rel", words.relativizers)
    if site.voice is None:
        yield _make_free_variable(f"{path}voice", [v.value for v in ev.Voice])
    if site.form.is_modal:
        yield _make_free_variable(f"{path}modal", words.modals)
    elif site.form.mood is not ev.Mood.ORDER:
        yield _make_free_variable(f"{path}tense", [t.value for t in ev.Tense])
    aspects = [a.value for a in ev.Aspect]
    is_order = site.form.mood is ev.Mood.ORDER
    yield Variable(f"{path}aspect", aspects, frozenset(range(1 if is_order else len(aspects))))  # an order is simple
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


def _list_noun_variables(path: str, adjectives: int, words: Words) -> Iterator[Variable]:
    yield _make_free_variable(f"{path}det", words.determiners)
    for i in range(adjectives):
        yield _make_free_variable(f"{path}adjective{i}", words.adjectives, Group.ADJECTIVE)
    yield _make_free_variable(f"{path}noun", words.nouns, Group.NOUN)


def _make_free_variable(name: str, values: Sequence[LayoutValue], group: Group | None = None) -> Variable:
    return Variable(name, values, frozenset(range(len(values))), group)


class _ImpossibleStructure(Exception):  # noqa: N818 - not an error but the outcome of a match
    """The structure contradicts a partial event."""


def list_restrictions(partial: ev.Event, site: ClauseSite, layout: Layout) -> Iterator[Restriction]:
    """Yield sets of values with which *partial* subsumes the clause at *site*: none if the structure rules this out.

    There is one for each order of the coordinated nouns. The gap of a relative clause counts as the noun that the
    clause modifies (see :func:`sentprobe.generator.events.matching.contains`).
    """
    paths = layout.coordinations
    for reversed_paths in chain.from_iterable(combinations(paths, size) for size in range(len(paths) + 1)):
        matcher = _Matcher(layout, reversed_paths)
        try:
            matcher.match_event(partial, site)
        except _ImpossibleStructure:
            continue
        yield matcher.restriction


class _Matcher:
    """Collects the values that a partial event requires of the variables of a layout."""

    def __init__(self, layout: Layout, reversed_paths: tuple[str, ...]) -> None:
        self._layout = layout
        self._reversed = reversed_paths
        self._variables = {variable.name: variable for variable in layout.variables}
        self.restriction: dict[str, Allowed] = {}

    def match_event(self, partial: ev.Event, site: ClauseSite) -> None:
        path = site.path
        if partial.frame is not None and not partial.frame.includes(site.frame):
            raise _ImpossibleStructure
        if site.voice is None:
            self._require_value(f"{path}voice", partial.voice)
        else:
            self._require_fixed(partial.voice, site.voice)
        self._require_variable(f"{path}tense", partial.tense)
        self._require_variable(f"{path}modal", partial.modal)
        if partial.mood is not ev.Mood.STATEMENT:
            self._require_fixed(partial.mood, site.form.mood)
        self._require_value(f"{path}aspect", partial.aspect)
        self._require_value(f"{path}verb", partial.predicate)
        if partial.polarity is ev.Polarity.NEGATIVE and partial.negator is None:
            self._allow(f"{path}negation", lambda value: value != ev.Polarity.POSITIVE.value)
        else:
            self._require_value(f"{path}negation", partial.negator or partial.polarity)
        if partial.adverbs is not None:
            self._require_fixed(len(partial.adverbs), site.adverbs)
            for i, lemma in enumerate(partial.adverbs):
                self._require_value(f"{path}adverb{i}", lemma)
        for role in ev.Role:
            self._match_argument(partial.argument(role), role, site)

    def _match_argument(self, partial: ev.Argument | None, role: ev.Role, site: ClauseSite) -> None:
        if partial is None:
            return
        if isinstance(partial, ev.Asked):
            self._require_fixed((role, partial), site.form.asked)
        elif role not in ((site.gap,) if partial is ev.GAP else (site.gap, *site.overt_roles)):
            raise _ImpossibleStructure
        if isinstance(partial, ev.Participant):
            self._match_participant(partial, site.owner if role is site.gap else f"{site.path}{role.value}.")

    def _match_participant(self, partial: ev.Participant, path: str) -> None:
        paths = [path, f"{path}conjunct."]
        first, second = paths[::-1] if path in self._reversed else paths
        self._match_noun(partial, first)
        if partial.conjunct is not None:
            self._match_noun(partial.conjunct, second)
        site = next((c for c in self._layout.clauses if c.owner == path), None)
        if partial.clause is ev.BARE and site is not None:
            raise _ImpossibleStructure
        if isinstance(partial.clause, ev.RelativeClause):
            if site is None or site.clause_pattern is None:
                raise _ImpossibleStructure
            self._require_fixed(partial.clause.kind, site.clause_pattern.kind)
            self._require_value(f"{path}rel", partial.clause.relativizer)
            self.match_event(partial.clause.event, site)

    def _match_noun(self, partial: ev.Participant, path: str) -> None:
        if f"{path}noun" not in self._variables:
            raise _ImpossibleStructure
        self._require_value(f"{path}noun", partial.noun)
        number, determiner = partial.number, partial.determiner
        self._allow(f"{path}det", lambda value: number in (None, value[0]) and determiner in (None, value[1]))
        if partial.adjectives:
            count = sum(name.startswith(f"{path}adjective") for name in self._variables)
            self._require_fixed(len(partial.adjectives), count)
        for i, lemma in enumerate(partial.adjectives):
            self._require_value(f"{path}adjective{i}", lemma)

    def _require_fixed(self, required: object, actual: object) -> None:
        if required is not None and required != actual:
            raise _ImpossibleStructure

    def _require_value(self, name: str, required: str | None) -> None:
        if required is not None:
            self._allow(name, lambda value: value == required)

    def _require_variable(self, name: str, required: str | None) -> None:
        """Require a value of a variable that the layout may lack."""
        if required is not None and name not in self._variables:
            raise _ImpossibleStructure
        self._require_value(name, required)

    def _allow(self, name: str, test: Callable[[LayoutValue], bool]) -> None:
        variable = self._variables[name]
        allowed = frozenset(i for i in variable.domain if test(variable.values[i]))
        allowed &= self.restriction.get(name, allowed)
        if not allowed:
            raise _ImpossibleStructure
        self.restriction[name] = allowed


_VOICES = {voice.value: voice for voice in ev.Voice}
_TENSES = {tense.value: tense for tense in ev.Tense}
_ASPECTS = {aspect.value: aspect for aspect in ev.Aspect}
_NUMBERS = {number.value: number for number in ev.Number}
_NEGATIONS: dict[str, tuple[ev.Polarity, ev.Negator | None]] = {
    ev.Polarity.POSITIVE.value: (ev.Polarity.POSITIVE, None),
    **{negator.value: (ev.Polarity.NEGATIVE, negator) for negator in ev.Negator},
}
"""Polarity and negator by value; looking them up here takes a tenth of the time of calling the enums."""


def build_layout_event(values: Mapping[str, LayoutValue], layout: Layout, site: ClauseSite | None = None) -> ev.Event:
    """Return the event of a clause, by default the main clause, with these values of a layout's variables."""
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
        mood=site.form.mood,
    )


def get_determiner_pair(values: Mapping[str, LayoutValue], name: str) -> tuple[str, str]:
    """Return number and determiner of a noun phrase."""
    pair = values[name]
    assert isinstance(pair, tuple)
    return pair


def _build_participant(path: str, values: Mapping[str, LayoutValue], layout: Layout) -> ev.Participant:
    number, determiner = get_determiner_pair(values, f"{path}det")
    site = next((c for c in layout.clauses if c.owner == path), None)
    return ev.Participant(
        noun=str(values[f"{path}noun"]),
        number=_NUMBERS[number],
        determiner=determiner,
        clause=ev.BARE
        if site is None
        else ev.RelativeClause(relativizer=str(values[f"{path}rel"]), event=build_layout_event(values, layout, site)),
        adjectives=_list_adjectives(path, values),
        conjunct=_build_participant(f"{path}conjunct.", values, layout) if f"{path}conjunct.noun" in values else None,
    )


def _list_adjectives(path: str, values: Mapping[str, LayoutValue]) -> tuple[str, ...]:
    names = takewhile(values.__contains__, (f"{path}adjective{i}" for i in count()))
    return tuple(str(values[name]) for name in names)


def read_values(event: ev.Event, layout: Layout) -> dict[str, int] | None:
    """Return the index of each variable's value in *event*, or None if it has another layout.

    Inverse of :func:`build_layout_event`.
    """
    values: dict[str, LayoutValue] = {}
    if not _read_clause(event, layout.clauses[0], layout, values):
        return None
    if values.keys() != {variable.name for variable in layout.variables}:
        return None
    indices = {}
    for variable in layout.variables:
        value = values[variable.name]
        if value not in variable.values:
            return None
        indices[variable.name] = variable.values.index(value)
    return indices


def _read_clause(event: ev.Event, site: ClauseSite, layout: Layout, values: dict[str, LayoutValue]) -> bool:
    path, adverbs = site.path, event.adverbs or ()
    if (event.frame, event.gap, len(adverbs)) != (site.frame, site.gap, site.adverbs):
        return False
    if site.form != read_form(event):
        return False
    if site.voice not in (None, event.voice):
        return False
    negated = event.polarity is ev.Polarity.NEGATIVE
    if site.voice is None:
        values[f"{path}voice"] = str(event.voice)
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
    """Return the form of an event's main clause."""
    asked = event.asked
    filler = None if asked is None else event.argument(asked)
    open_participant = (asked, filler) if asked is not None and isinstance(filler, ev.Asked) else None
    return ClauseForm(event.modal is not None, event.mood, open_participant)


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
