"""The variables of a structure: what is chosen to make an event of it, and back.

A layout lists, for one pattern and given numbers of adverbs, every choice with all its values. A
*box* allows each variable some of its values; a constraint is a set of boxes. The sets of values
are sets of indices.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TypeAlias

from sentprobe.generator import event as ev
from sentprobe.generator.constraints import Allowed, Words
from sentprobe.generator.templates import ClausePattern, Pattern

LayoutValue: TypeAlias = "str | tuple[str, str]"


Restriction: TypeAlias = Mapping[str, Allowed]
"""What some variables may be; the others are free."""


class Group(StrEnum):
    """Variables of one group never have the same value in one sentence."""

    NOUN = "noun"
    VERB = "verb"
    ADVERB = "adverb"


@dataclass(frozen=True, slots=True)
class Variable:
    """A choice: its name is the slot or feature it fills; ``domain`` indexes ``values``."""

    name: str
    values: Sequence[LayoutValue]
    domain: Allowed
    group: Group | None = None


@dataclass(frozen=True, slots=True)
class ClauseSite:
    """A clause of the layout: its path, its pattern, and how many adverbs its verb has.

    ``owner`` is the path of the noun that it modifies ("" for the main clause).
    """

    path: str
    frame: ev.Frame
    voice: ev.Voice | None
    gap: ev.Role | None
    adverbs: int
    owner: str
    link: "ClausePattern | None" = None


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """A pattern with numbers of adverbs, its clauses, and its variables in order.

    Equal only to itself.
    """

    pattern: Pattern
    clauses: tuple[ClauseSite, ...]
    variables: tuple[Variable, ...]


NEGATIONS = (ev.Polarity.POSITIVE.value, *(negator.value for negator in ev.Negator))


@lru_cache(maxsize=1024)  # a task makes thousands of spaces of few different layouts
def make_layout(
    pattern: Pattern, adverbs: tuple[int, ...], words: Words, negators: tuple[ev.Negator, ...]
) -> Layout:
    """Return the layout of *pattern* with so many adverbs in each clause, the main one first."""
    voice = ev.Voice.ACTIVE if pattern.frame is ev.Frame.INTRANSITIVE else None
    sites = [ClauseSite("", pattern.frame, voice, None, adverbs[0], "")]
    for (role, clause), count in zip(pattern.clauses, adverbs[1:], strict=True):
        owner = f"{role.value}."
        sites.append(
            ClauseSite(
                f"{owner}clause.", clause.frame, clause.voice, clause.gap, count, owner, clause
            )
        )
    variables = [v for site in sites for v in _clause_variables(site, words, negators)]
    return Layout(pattern, tuple(sites), tuple(variables))


def roles_of(frame: ev.Frame) -> tuple[ev.Role, ...]:
    """Return the roles of a frame."""
    return (ev.Role.AGENT,) if frame is ev.Frame.INTRANSITIVE else ev.ROLES


def _clause_variables(
    site: ClauseSite, words: Words, negators: tuple[ev.Negator, ...]
) -> Iterator[Variable]:
    path = site.path
    if site.owner:
        yield _free(f"{site.owner}rel", words.relativizers)
    if site.voice is None:
        yield _free(f"{path}voice", [v.value for v in ev.Voice])
    yield _free(f"{path}tense", [t.value for t in ev.Tense])
    yield _free(f"{path}aspect", [a.value for a in ev.Aspect])
    allowed = {ev.Polarity.POSITIVE.value, *(n.value for n in negators)}
    negations = frozenset(i for i, n in enumerate(NEGATIONS) if n in allowed)
    yield Variable(f"{path}negation", NEGATIONS, negations)
    verbs = words.verbs_by_frame[site.frame]
    yield Variable(f"{path}verb", words.verbs, verbs, Group.VERB)
    for i in range(site.adverbs):
        yield _free(f"{path}adverb{i}", words.adverbs, Group.ADVERB)
    for role in roles_of(site.frame):
        if role is not site.gap:
            yield _free(f"{path}{role.value}.det", words.determiners)
            yield _free(f"{path}{role.value}.noun", words.nouns, Group.NOUN)


def _free(name: str, values: Sequence[LayoutValue], group: Group | None = None) -> Variable:
    return Variable(name, values, frozenset(range(len(values))), group)


class _Impossible(Exception):  # noqa: N818 - not an error but the outcome of a match
    """The structure cannot be what a partial event asks for."""


def restrict(partial: ev.Event, site: ClauseSite, layout: Layout) -> Restriction | None:
    """Return what *partial* asks of the variables if it is to hold of the clause at *site*.

    None where the structure itself rules it out. The gap of a relative clause counts as the noun
    that the clause modifies (see :func:`sentprobe.generator.event.contains`).
    """
    matcher = _Matcher(layout)
    try:
        matcher.event(partial, site)
    except _Impossible:
        return None
    return matcher.found


class _Matcher:
    """Collects what a partial event asks of the variables of a layout."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._variables = {variable.name: variable for variable in layout.variables}
        self.found: dict[str, Allowed] = {}

    def event(self, partial: ev.Event, site: ClauseSite) -> None:
        """Ask the clause at *site* to be *partial*."""
        path = site.path
        self._fixed(partial.frame, site.frame)
        if site.voice is None:
            self._one_of(f"{path}voice", partial.voice)
        else:
            self._fixed(partial.voice, site.voice)
        self._one_of(f"{path}tense", partial.tense)
        self._one_of(f"{path}aspect", partial.aspect)
        self._one_of(f"{path}verb", partial.predicate)
        if partial.polarity is ev.Polarity.NEGATIVE and partial.negator is None:
            self._allow(f"{path}negation", lambda value: value != ev.Polarity.POSITIVE.value)
        else:
            self._one_of(f"{path}negation", partial.negator or partial.polarity)
        if partial.adverbs is not None:
            self._fixed(len(partial.adverbs), site.adverbs)
            for i, lemma in enumerate(partial.adverbs):
                self._one_of(f"{path}adverb{i}", lemma)
        for role in ev.Role:
            self._argument(partial.argument(role), role, site)

    def _argument(self, partial: ev.Argument | None, role: ev.Role, site: ClauseSite) -> None:
        if partial is None:
            return
        if role not in roles_of(site.frame) or (partial is ev.GAP and role is not site.gap):
            raise _Impossible
        if isinstance(partial, ev.Participant):
            self._participant(
                partial, site.owner if role is site.gap else f"{site.path}{role.value}."
            )

    def _participant(self, partial: ev.Participant, path: str) -> None:
        self._one_of(f"{path}noun", partial.noun)
        number, determiner = partial.number, partial.determiner
        self._allow(
            f"{path}det",
            lambda value: number in (None, value[0]) and determiner in (None, value[1]),
        )
        site = next((c for c in self._layout.clauses if c.owner == path), None)
        if partial.clause is ev.BARE and site is not None:
            raise _Impossible
        if isinstance(partial.clause, ev.RelativeClause):
            if site is None or site.link is None:
                raise _Impossible
            self._fixed(partial.clause.kind, site.link.kind)
            self._one_of(f"{path}rel", partial.clause.relativizer)
            self.event(partial.clause.event, site)

    def _fixed(self, wanted: object, actual: object) -> None:
        if wanted is not None and wanted != actual:
            raise _Impossible

    def _one_of(self, name: str, wanted: str | None) -> None:
        if wanted is not None:
            self._allow(name, lambda value: value == wanted)

    def _allow(self, name: str, test: Callable[[LayoutValue], bool]) -> None:
        variable = self._variables[name]
        allowed = frozenset(i for i in variable.domain if test(variable.values[i]))
        allowed &= self.found.get(name, allowed)
        if not allowed:
            raise _Impossible
        self.found[name] = allowed


_VOICES = {voice.value: voice for voice in ev.Voice}
_TENSES = {tense.value: tense for tense in ev.Tense}
_ASPECTS = {aspect.value: aspect for aspect in ev.Aspect}
_NUMBERS = {number.value: number for number in ev.Number}
_NEGATIONS: dict[str, tuple[ev.Polarity, ev.Negator | None]] = {
    ev.Polarity.POSITIVE.value: (ev.Polarity.POSITIVE, None),
    **{negator.value: (ev.Polarity.NEGATIVE, negator) for negator in ev.Negator},
}
"""The members by value: a look-up takes a tenth of the time of a call of the enum."""


def event_of(values: Mapping[str, LayoutValue], layout: Layout) -> ev.Event:
    """Return the event of a layout in which each variable has a value."""
    return _event_at(layout.clauses[0], values, layout)


def _event_at(site: ClauseSite, values: Mapping[str, LayoutValue], layout: Layout) -> ev.Event:
    path = site.path
    polarity, negator = _NEGATIONS[str(values[f"{path}negation"])]
    arguments: dict[ev.Role, ev.Argument] = {
        role: ev.GAP
        if role is site.gap
        else _participant_at(f"{path}{role.value}.", values, layout)
        for role in roles_of(site.frame)
    }
    return ev.Event(
        predicate=str(values[f"{path}verb"]),
        frame=site.frame,
        voice=site.voice or _VOICES[str(values[f"{path}voice"])],
        tense=_TENSES[str(values[f"{path}tense"])],
        aspect=_ASPECTS[str(values[f"{path}aspect"])],
        polarity=polarity,
        negator=negator,
        adverbs=tuple(str(values[f"{path}adverb{i}"]) for i in range(site.adverbs)),
        agent=arguments[ev.Role.AGENT],
        patient=arguments.get(ev.Role.PATIENT),
    )


def pair_at(values: Mapping[str, LayoutValue], name: str) -> tuple[str, str]:
    """Return the number and the determiner that a variable of noun phrases stands for."""
    pair = values[name]
    assert isinstance(pair, tuple)
    return pair


def _participant_at(path: str, values: Mapping[str, LayoutValue], layout: Layout) -> ev.Participant:
    number, determiner = pair_at(values, f"{path}det")
    site = next((c for c in layout.clauses if c.owner == path), None)
    return ev.Participant(
        noun=str(values[f"{path}noun"]),
        number=_NUMBERS[number],
        determiner=determiner,
        clause=ev.BARE
        if site is None
        else ev.RelativeClause(
            relativizer=str(values[f"{path}rel"]), event=_event_at(site, values, layout)
        ),
    )


def read_values(event: ev.Event, layout: Layout) -> dict[str, int] | None:
    """Return the index of each variable's value in *event*, or None if it is not of the layout.

    Undoes :func:`sentprobe.generator.layout.event_of`.
    """
    found: dict[str, LayoutValue] = {}
    if not _read_clause(event, layout.clauses[0], layout, found):
        return None
    indices = {}
    for variable in layout.variables:
        value = found[variable.name]
        if value not in variable.values:
            return None
        indices[variable.name] = variable.values.index(value)
    return indices


def _read_clause(
    event: ev.Event, site: ClauseSite, layout: Layout, found: dict[str, LayoutValue]
) -> bool:
    path, adverbs = site.path, event.adverbs or ()
    same_structure = (
        event.frame is site.frame
        and event.gap is site.gap
        and site.voice in (None, event.voice)
        and len(adverbs) == site.adverbs
    )
    if not same_structure:
        return False
    negated = event.polarity is ev.Polarity.NEGATIVE
    found |= {
        f"{path}voice": str(event.voice),
        f"{path}tense": str(event.tense),
        f"{path}aspect": str(event.aspect),
        f"{path}negation": str(event.negator if negated else event.polarity),
        f"{path}verb": str(event.predicate),
        **{f"{path}adverb{i}": lemma for i, lemma in enumerate(adverbs)},
    }
    return all(
        _read_participant(event.argument(role), f"{path}{role.value}.", layout, found)
        for role in roles_of(site.frame)
        if role is not site.gap
    )


def _read_participant(
    person: object, path: str, layout: Layout, found: dict[str, LayoutValue]
) -> bool:
    if not isinstance(person, ev.Participant):
        return False
    found[f"{path}det"] = (str(person.number), str(person.determiner))
    found[f"{path}noun"] = str(person.noun)
    site = next((clause for clause in layout.clauses if clause.owner == path), None)
    clause = person.clause
    if not isinstance(clause, ev.RelativeClause):
        return site is None
    found[f"{path}rel"] = str(clause.relativizer)
    return site is not None and _read_clause(clause.event, site, layout, found)
