"""Events: predicates with participants, fully or partially specified.

An :class:`Event` is a lexicalised case frame (Ettinger et al. 2018, section 4.1). Every field may be left open
(``None``); such a *partial* event stands for all events that it subsumes. Values are frozen and independent of lexicon
and grammar.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

from sentprobe.errors import UsageError


class Frame(StrEnum):
    """The roles of a predicate."""

    INTRANSITIVE = "intransitive"
    TRANSITIVE = "transitive"


class Voice(StrEnum):
    """Whether the agent or the patient is the subject."""

    ACTIVE = "active"
    PASSIVE = "passive"


class Tense(StrEnum):
    """The tense of the finite verb."""

    PAST = "past"
    PRESENT = "pres"


class Aspect(StrEnum):
    """The aspect of the verb."""

    SIMPLE = "simple"
    PROGRESSIVE = "prog"


class Polarity(StrEnum):
    """Whether the event is negated."""

    POSITIVE = "pos"
    NEGATIVE = "neg"


class Negator(StrEnum):
    """The cue of a negation."""

    NOT = "not"
    CONTRACTED = "n't"


class Number(StrEnum):
    """Grammatical number of a noun."""

    SINGULAR = "sg"
    PLURAL = "pl"


class Role(StrEnum):
    """The role of a participant in an event."""

    AGENT = "agent"
    PATIENT = "patient"


class ClauseKind(StrEnum):
    """Subject or object relative clause, by the role of the modified noun (Ettinger's src, orc)."""

    SUBJECT = "src"
    OBJECT = "orc"


class Gap(StrEnum):
    """The argument of a relative clause that the modified noun fills."""

    GAP = "_"


class Bare(StrEnum):
    """The value for a participant without a relative clause."""

    BARE = "bare"


ROLES = tuple(Role)
"""The roles as a tuple, because iterating over an enum takes ten times as long."""

GAP = Gap.GAP
BARE = Bare.BARE
MAX_DEPTH = 40
"""Maximum nesting of relative clauses in input: notation, JSON, sentences."""


class Contradiction(UsageError):  # noqa: N818 - the field's word for a failed unification
    """Two requirements on an event contradict each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant:
    """A participant: noun lemma, number, determiner lemma and at most one relative clause.

    ``clause`` is ``None`` if it is left open, and :data:`BARE` if the noun has no relative clause.
    """

    noun: str | None = None
    number: Number | None = None
    determiner: str | None = None
    clause: "RelativeClause | Bare | None" = None


Argument: TypeAlias = Participant | Gap


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A predicate with its frame, voice, tense, aspect, polarity, adverbs and participants.

    Implied fields are filled in: a passive or a patient makes the frame transitive, an intransitive frame is active, a
    negator makes the polarity negative.

    Raises:
        Contradiction: an intransitive event has a patient or is passive, a positive event has a negator, or an event
            has two gaps.

    >>> Event(predicate="help", voice=Voice.PASSIVE).frame
    <Frame.TRANSITIVE: 'transitive'>
    """

    predicate: str | None = None
    frame: Frame | None = None
    voice: Voice | None = None
    tense: Tense | None = None
    aspect: Aspect | None = None
    polarity: Polarity | None = None
    negator: Negator | None = None
    adverbs: tuple[str, ...] | None = None
    agent: Argument | None = None
    patient: Argument | None = None

    def __post_init__(self) -> None:
        name = self.predicate or "an event"
        if self.voice is Voice.PASSIVE or self.patient is not None:
            what = "a patient" if self.patient is not None else "passive voice"
            self._imply("frame", Frame.TRANSITIVE, f"{name}: {what} needs a transitive frame")
        if self.frame is Frame.INTRANSITIVE:
            self._imply("voice", Voice.ACTIVE, f"{name}: an intransitive event has no passive")
        if self.negator is not None:
            self._imply("polarity", Polarity.NEGATIVE, f"{name}: a positive event has no negator")
        if self.agent is GAP and self.patient is GAP:
            raise Contradiction(f"{name}: agent and patient cannot both be the gap")

    def _imply(self, field: str, value: StrEnum, message: str) -> None:
        if getattr(self, field) not in (None, value):
            raise Contradiction(f"{message}, but its {field} is {getattr(self, field).value}")
        object.__setattr__(self, field, value)

    def argument(self, role: Role) -> Argument | None:
        """Return the participant or gap in *role*, or None if it is open."""
        return self.agent if role is Role.AGENT else self.patient

    def with_argument(self, role: Role, filler: Argument | None) -> "Event":
        """Return the event with *filler* in *role*."""
        return replace(self, agent=filler) if role is Role.AGENT else replace(self, patient=filler)

    @property
    def gap(self) -> Role | None:
        """The role of the gap, or None."""
        if self.agent is GAP:
            return Role.AGENT
        return Role.PATIENT if self.patient is GAP else None

    @property
    def subject(self) -> Role:
        """The role of the grammatical subject, for an event with a known voice."""
        return Role.PATIENT if self.voice is Voice.PASSIVE else Role.AGENT


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeClause:
    """An event whose gap is filled by the participant that it modifies.

    Implied values are filled in. The gap follows from an intransitive frame, or from kind (subject or object relative)
    and voice. The kind follows from gap and voice.

    Raises:
        Contradiction: the stated gap or kind differs from the implied one.
    """

    event: Event
    relativizer: str | None = None
    kind: ClauseKind | None = None

    def __post_init__(self) -> None:
        gap = self._infer_gap()
        if gap is not None and self.event.gap is not gap:
            if self.event.argument(gap) is not None:
                name = self.event.predicate or "a relative clause"
                raise Contradiction(f"{name}: the {gap.value} must be the gap, not a participant of its own")
            object.__setattr__(self, "event", self.event.with_argument(gap, GAP))
        event = self.event
        if event.gap is None or event.voice is None:
            return
        kind = ClauseKind.SUBJECT if event.gap is event.subject else ClauseKind.OBJECT
        if self.kind not in (None, kind):
            raise Contradiction(
                f"{event.predicate or 'a clause'}: with the {event.gap.value} as the gap, an "
                f"{event.voice.value} clause is {kind.value}, not {format_value(self.kind)}"
            )
        object.__setattr__(self, "kind", kind)

    def _infer_gap(self) -> Role | None:
        event = self.event
        if event.frame is Frame.INTRANSITIVE:
            if self.kind is ClauseKind.OBJECT:
                name = f"{event.predicate!r} is" if event.predicate else "the clause is"
                raise Contradiction(f"{name} intransitive: it has no object relative")
            return Role.AGENT
        if self.kind is None or event.voice is None or event.gap is not None:
            return None
        other_role = Role.PATIENT if event.subject is Role.AGENT else Role.AGENT
        return event.subject if self.kind is ClauseKind.SUBJECT else other_role


Value = TypeVar("Value", Event, Participant, RelativeClause)


def unify(left: Value, right: Value) -> Value:
    """Return the most general value that both *left* and *right* subsume.

    Raises:
        Contradiction: there is no such value; the message names the first field that differs.

    >>> unify(Event(predicate="help"), Event(tense=Tense.PAST)).tense
    <Tense.PAST: 'past'>
    """
    merged: dict[str, Any] = {f.name: _unify_field(f.name, left, right) for f in fields(left)}
    return type(left)(**merged)


def _unify_field(name: str, left: object, right: object) -> object:
    left_value, right_value = getattr(left, name), getattr(right, name)
    if left_value is None or right_value is None or left_value == right_value:
        return right_value if left_value is None else left_value
    if type(left_value) is type(right_value) and isinstance(left_value, Event | Participant | RelativeClause):
        return unify(left_value, right_value)
    raise Contradiction(f"{name} cannot be both {format_value(left_value)} and {format_value(right_value)}")


def subsumes(general: Value, special: Value) -> bool:
    """Say whether *special* agrees with *general* in every field that *general* states.

    >>> subsumes(Event(predicate="help"), Event(predicate="help", tense=Tense.PAST))
    True
    """
    return all(_subsumes_field(getattr(general, f.name), getattr(special, f.name)) for f in fields(general))


def _subsumes_field(general: object, special: object) -> bool:
    if general is None or general == special:
        return True
    if type(general) is type(special) and isinstance(general, Event | Participant | RelativeClause):
        return subsumes(general, special)  # type: ignore[type-var]
    return False


def contains(event: Event, partial: Event) -> bool:
    """Say whether *partial* subsumes *event* or one of its relative clauses, with gaps resolved.

    The gap of a relative clause counts as the modified noun, so ``shout(agent: lawyer)`` is contained in "the lawyer
    that shouts dances". A gap in *partial* matches only a gap.
    """
    return any(_matches_clause(partial, clause, head) for clause, head in iterate_clauses(event))


def _matches_clause(partial: Event, clause: Event, head: Participant | None) -> bool:
    """Say whether *partial* subsumes a clause that modifies *head*."""
    stated = (f.name for f in fields(Event) if f.name not in frozenset(Role))
    return all(getattr(partial, name) in (None, getattr(clause, name)) for name in stated) and all(
        _matches_argument(partial.argument(role), clause.argument(role), head) for role in ROLES
    )


def _matches_argument(partial: Argument | None, filler: Argument | None, head: Participant | None) -> bool:
    if not isinstance(partial, Participant):
        return partial in (None, filler)
    person = head if filler is GAP else filler
    if not isinstance(person, Participant):
        return False
    partial_clause, clause = partial.clause, person.clause
    if not isinstance(partial_clause, RelativeClause) or not isinstance(clause, RelativeClause):
        return subsumes(partial, person)
    return (
        subsumes(replace(partial, clause=None), person)
        and partial_clause.kind in (None, clause.kind)
        and partial_clause.relativizer in (None, clause.relativizer)
        and _matches_clause(partial_clause.event, clause.event, person)
    )


def iterate_clauses(event: Event) -> Iterator[tuple[Event, Participant | None]]:
    """Yield the event and each relative clause in it, with the noun that the clause modifies."""
    yield event, None
    for filler in (event.agent, event.patient):
        if isinstance(filler, Participant) and isinstance(filler.clause, RelativeClause):
            inner = iterate_clauses(filler.clause.event)
            yield next(inner)[0], filler
            yield from inner


def iterate_participants(event: Event) -> Iterator[tuple[Role, Participant]]:
    """Yield the overt participants of one clause with their roles, agent first."""
    for role in ROLES:
        filler = event.argument(role)
        if isinstance(filler, Participant):
            yield role, filler


def format_value(value: object) -> str:
    """Return a value as messages show it."""
    if isinstance(value, RelativeClause):
        return "a relative clause"
    return str(value.value) if isinstance(value, StrEnum) else repr(value)


def find_open_fields(event: Event, path: str = "") -> Iterator[str]:
    """Yield the paths of the open fields of *event*."""
    for name in ("predicate", "frame", "voice", "tense", "aspect", "polarity", "adverbs"):
        if getattr(event, name) is None:
            yield path + name
    if event.polarity is Polarity.NEGATIVE and event.negator is None:
        yield path + "negator"
    for role in ROLES[:1] if event.frame is Frame.INTRANSITIVE else ROLES:
        filler = event.argument(role)
        if filler is None:
            yield path + role.value
        elif isinstance(filler, Participant):
            yield from _find_open_participant_fields(filler, f"{path}{role.value}.")


def _find_open_participant_fields(person: Participant, path: str) -> Iterator[str]:
    for name in ("noun", "number", "determiner", "clause"):
        if getattr(person, name) is None:
            yield path + name
    if isinstance(person.clause, RelativeClause):
        if person.clause.relativizer is None:
            yield path + "clause.relativizer"
        if person.clause.event.gap is None:
            yield path + "clause.gap"
        yield from find_open_fields(person.clause.event, path + "clause.")
