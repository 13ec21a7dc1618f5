"""Events: predicates with their participants (lexicalised case frames, Ettinger et al. 2018, section 4.1).

A *partial* event has open fields (``None``). As a pattern, it matches all events that agree with its other fields.
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from sentprobe.common.errors import UsageError


class Frame(StrEnum):
    """A verb's set of roles. A partial event with the frame TRANSITIVE also matches ditransitive and dative events."""

    INTRANSITIVE = "intransitive"
    TRANSITIVE = "transitive"
    DITRANSITIVE = "ditransitive"
    DATIVE = "dative"
    """A verb with an agent, and a patient in the dative case: "der Mann hilft dem Arzt"."""

    def includes(self, other: "Frame | None") -> bool:
        """Say whether a pattern with this frame matches an event with the frame *other*."""
        return other is self or (self is Frame.TRANSITIVE and other in (Frame.DITRANSITIVE, Frame.DATIVE))


class Voice(StrEnum):
    """Whether the agent is the subject (active), or another participant (passive)."""

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
    PERFECT = "perf"
    PERFECT_PROGRESSIVE = "perfprog"


PROGRESSIVES = frozenset({Aspect.PROGRESSIVE, Aspect.PERFECT_PROGRESSIVE})


class Polarity(StrEnum):
    """Whether the event is negated."""

    POSITIVE = "pos"
    NEGATIVE = "neg"


class Negator(StrEnum):
    """The word that negates a clause."""

    NOT = "not"
    CONTRACTED = "n't"


class Mood(StrEnum):
    """The kind of sentence: statement, question or order (imperative); a relative clause is a statement."""

    STATEMENT = "statement"
    QUESTION = "question"
    ORDER = "order"


class Dative(StrEnum):
    """The form of a recipient: DOUBLE in "gave the doctor the book", TO in "gave the book to the doctor"."""

    DOUBLE = "double"
    TO = "to"


class Fronting(StrEnum):
    """What opens the main clause: its object ("den Mann sieht der Arzt") or adjunct ("on Monday the man slept")."""

    OBJECT = "object-first"
    ADJUNCT = "adjunct-first"


class Number(StrEnum):
    """Grammatical number of a noun."""

    SINGULAR = "sg"
    PLURAL = "pl"


class Role(StrEnum):
    """The role of a participant in an event."""

    AGENT = "agent"
    PATIENT = "patient"
    RECIPIENT = "recipient"


class ClauseKind(StrEnum):
    """Whether the modified noun is the subject or the object of a relative clause (src and orc in Ettinger et al.)."""

    SUBJECT = "src"
    OBJECT = "orc"


class Gap(StrEnum):
    """The argument ``_`` of a relative clause, which stands for the modified noun."""

    GAP = "_"


class Asked(StrEnum):
    """A question word; it fills the role for which a wh-question asks: "who" is the agent in "who helped the man"."""

    WHO = "who"
    WHAT = "what"


class Reflexive(StrEnum):
    """A patient or recipient that is also the agent of its clause: "the man helped himself"."""

    HIMSELF = "himself"
    HERSELF = "herself"
    THEMSELVES = "themselves"

    @property
    def number(self) -> "Number":
        """The grammatical number of the noun to which the reflexive refers."""
        return Number.PLURAL if self is Reflexive.THEMSELVES else Number.SINGULAR


class Bare(StrEnum):
    """The value for a participant without a relative clause."""

    BARE = "bare"


ROLES = tuple(Role)
"""All roles, as a tuple, because iteration over an enum takes ten times as long."""

FRAME_ROLES = {
    Frame.INTRANSITIVE: (Role.AGENT,),
    Frame.TRANSITIVE: (Role.AGENT, Role.PATIENT),
    Frame.DITRANSITIVE: ROLES,
    Frame.DATIVE: (Role.AGENT, Role.PATIENT),
}
"""The roles of each frame."""

GAP = Gap.GAP
BARE = Bare.BARE
MAX_DEPTH = 40
"""Maximum nesting of relative clauses in input: notation, JSON, sentences."""


class Contradiction(UsageError):  # noqa: N818 - the field's word for a failed unification
    """Two requirements on an event contradict each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant:
    """A noun phrase: lemmas of noun and determiner, number, adjectives, and at most one relative clause.

    ``clause`` is ``None`` if it is open, and :data:`BARE` if the noun has no relative clause. In "the man and the
    woman", ``conjunct`` is "the woman"; coordinated nouns have no relative clauses. As a pattern, a participant without
    adjectives matches any adjectives, and a participant without a conjunct matches any conjunct.

    Raises:
        Contradiction: a coordinated noun has a relative clause, or three nouns are coordinated.
    """

    noun: str | None = None
    number: Number | None = None
    determiner: str | None = None
    clause: "RelativeClause | Bare | None" = None
    adjectives: tuple[str, ...] = ()
    conjunct: "Participant | None" = None

    def __post_init__(self) -> None:
        if self.conjunct is None:
            return
        name = self.noun or "a noun"
        if isinstance(self.clause, RelativeClause) or isinstance(self.conjunct.clause, RelativeClause):
            raise Contradiction(f"{name}: a coordinated noun has no relative clause")
        if self.conjunct.conjunct is not None:
            raise Contradiction(f"{name}: at most two nouns can be coordinated")
        # Not open (None): whoever fills in what is open would otherwise give a coordinated noun a relative clause.
        object.__setattr__(self, "clause", BARE)
        if self.conjunct.clause is None:
            object.__setattr__(self, "conjunct", replace(self.conjunct, clause=BARE))

    @property
    def conjuncts(self) -> "tuple[Participant, ...]":
        """The participant and, if it is coordinated, its conjunct."""
        return (self,) if self.conjunct is None else (self, self.conjunct)

    @property
    def agreement(self) -> Number | None:
        """The number of a verb that has this participant as its subject: plural for a coordination."""
        return self.number if self.conjunct is None else Number.PLURAL


Argument: TypeAlias = Participant | Gap | Asked | Reflexive


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A predicate with its frame, voice, tense or modal, aspect, polarity, adverbs, adjunct, mood and participants.

    Implied fields are filled in. Without a stated frame, a passive or a patient makes the event transitive, and a
    recipient makes it ditransitive. An intransitive frame, a reflexive or the perfect progressive makes the event
    active. A negator makes the polarity negative, and an asked participant makes the event a question. An imperative
    has no tense, and neither has an event with a modal. By default, an event is a statement without a modal, an adjunct
    ("on Monday", in main clauses only) and a fronted phrase. In a partial event, however, a default stands for any
    value. For example, the default mood also matches questions.

    Raises:
        Contradiction: two fields exclude each other, such as an intransitive frame and a patient.

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
    recipient: Argument | None = None
    dative: Dative | None = None
    modal: str | None = None
    mood: Mood = Mood.STATEMENT
    fronting: Fronting | None = None
    adjunct: str | None = None

    def __post_init__(self) -> None:
        name = self.predicate or "an event"
        # Implications come before the checks that read them: a frame implies a voice, and an asked participant a mood.
        self._imply_frame(name)
        if self.frame in (Frame.INTRANSITIVE, Frame.DATIVE):
            article = "an" if self.frame is Frame.INTRANSITIVE else "a"
            self._imply("voice", Voice.ACTIVE, f"{name}: {article} {self.frame} event has no passive")
        if self.aspect is Aspect.PERFECT_PROGRESSIVE:
            self._imply("voice", Voice.ACTIVE, f"{name}: a perfect progressive has no passive")
        if self.fronting is not None or self.adjunct is not None:
            self._check_main_clause(name)
        if self.negator is not None:
            self._imply("polarity", Polarity.NEGATIVE, f"{name}: a positive event has no negator")
        words = {role.value: word for role in ROLES if isinstance(word := self.argument(role), StrEnum)}
        special = {role: word for role, word in words.items() if not isinstance(word, Reflexive)}
        if len(special) < len(words):
            self._check_reflexive(name, words.keys() - special)
        if len(special) > 1:
            fillers = set(special.values())
            what = "the gap" if fillers == {GAP} else "a gap or asked for" if GAP in fillers else "asked for"
            raise Contradiction(f"{name}: {' and '.join(special)} cannot both be {what}")
        if special and self.gap is None and self.mood is Mood.STATEMENT:
            object.__setattr__(self, "mood", Mood.QUESTION)
        if self.mood is not Mood.STATEMENT or self.modal is not None:
            self._check_mood(name, is_asking=bool(special) and self.gap is None)

    def _imply_frame(self, name: str) -> None:
        if self.recipient is not None or self.dative is not None:
            what = "a recipient" if self.recipient is not None else "the form of a recipient"
            self._imply("frame", Frame.DITRANSITIVE, f"{name}: {what} needs a ditransitive frame")
        elif self.frame not in (Frame.DITRANSITIVE, Frame.DATIVE) and (
            self.voice is Voice.PASSIVE or self.patient is not None
        ):
            what = "a patient" if self.patient is not None else "passive voice"
            self._imply("frame", Frame.TRANSITIVE, f"{name}: {what} needs a transitive frame")

    def _check_reflexive(self, name: str, roles: Set[str]) -> None:
        role = Role.RECIPIENT if self.frame is Frame.DITRANSITIVE else Role.PATIENT
        if roles != {role} or self.mood is Mood.ORDER:
            raise Contradiction(
                f"{name}: only a recipient, or the patient of a transitive verb with an agent, can be reflexive"
            )
        self._imply("voice", Voice.ACTIVE, f"{name}: a clause with a reflexive is active")

    def _check_main_clause(self, name: str) -> None:
        if self.adjunct is not None and self.gap is not None:
            raise Contradiction(f"{name}: only a main clause has a time or place such as {self.adjunct!r}")
        if self.fronting is None:
            return
        if self.fronting is Fronting.OBJECT:
            self._imply("voice", Voice.ACTIVE, f"{name}: an object can stand first only in an active clause")
            if self.frame is Frame.INTRANSITIVE:
                raise Contradiction(f"{name}: an intransitive event has no object to stand first")
        what = "an object" if self.fronting is Fronting.OBJECT else "a time or place"
        if self.gap is not None or self.asked is not None or self.mood is not Mood.STATEMENT:
            raise Contradiction(f"{name}: {what} can stand first only in a main clause that is a statement")

    def _check_mood(self, name: str, *, is_asking: bool) -> None:
        if self.mood is not Mood.STATEMENT and self.gap is not None:
            raise Contradiction(f"{name}: a relative clause is a statement")
        if self.tense is not None and (self.modal is not None or self.mood is Mood.ORDER):
            raise Contradiction(f"{name}: {'an order' if self.modal is None else 'a modal event'} has no tense")
        if self.mood is Mood.ORDER:
            if is_asking:
                raise Contradiction(f"{name}: an order asks for no participant")
            if self.modal is not None:
                raise Contradiction(f"{name}: an order has no modal")
            if self.agent is not None:
                raise Contradiction(f"{name}: the agent of an order is the listener, not a participant of its own")
            self._imply("voice", Voice.ACTIVE, f"{name}: an order is active")
            self._imply("aspect", Aspect.SIMPLE, f"{name}: an order has simple aspect")

    def _imply(self, field: str, value: StrEnum, message: str) -> None:
        if getattr(self, field) not in (None, value):
            raise Contradiction(f"{message}, but its {field} is {getattr(self, field).value}")
        object.__setattr__(self, field, value)

    def argument(self, role: Role) -> Argument | None:
        """Return the argument in *role*, or None if it is open."""
        if role is Role.AGENT:
            return self.agent
        return self.patient if role is Role.PATIENT else self.recipient

    def with_argument(self, role: Role, filler: Argument | None) -> "Event":
        """Return the event with *filler* in *role*."""
        return replace(self, **{role.value: filler})  # type: ignore[arg-type]

    @property
    def gap(self) -> Role | None:
        """The role of the gap; None in a main clause."""
        return next((role for role in ROLES if self.argument(role) is GAP), None)

    @property
    def asked(self) -> Role | None:
        """The role that a wh-question asks for; None in other sentences."""
        return next((role for role in ROLES if isinstance(self.argument(role), Asked)), None)

    @property
    def reflexive(self) -> Role | None:
        """The role of the reflexive; None if the event has no reflexive."""
        return next((role for role in ROLES if isinstance(self.argument(role), Reflexive)), None)

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles of the frame (an open frame counts as transitive). An imperative (``Mood.ORDER``) has no agent."""
        roles = FRAME_ROLES[self.frame or Frame.TRANSITIVE]
        return roles[1:] if self.mood is Mood.ORDER else roles

    @property
    def has_known_subject(self) -> bool:
        """Whether the subject's role is known: this needs ``voice`` and, in a ditransitive passive, also ``dative``."""
        if self.voice is Voice.PASSIVE and self.frame is Frame.DITRANSITIVE:
            return self.dative is not None
        return self.voice is not None

    @property
    def subject(self) -> Role:
        """The role of the grammatical subject; only valid if :attr:`has_known_subject`."""
        if self.voice is not Voice.PASSIVE:
            return Role.AGENT
        return Role.RECIPIENT if self.dative is Dative.DOUBLE else Role.PATIENT

    def can_extract(self, role: Role) -> bool:
        """Return whether a relative clause can have its gap in *role*, and a question can ask for *role*.

        A passive ditransitive clause allows only its subject. In the active, only "me" in "gave me it" is impossible.
        """
        is_double = self.dative is Dative.DOUBLE and role is Role.RECIPIENT
        is_possible = self.voice is Voice.ACTIVE and not is_double
        return self.frame is not Frame.DITRANSITIVE or role is self.subject or is_possible


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeClause:
    """An event with a gap, which modifies a noun; the noun fills the gap.

    If the gap is not stated, its role is inferred where possible: from an intransitive frame, or from kind and voice.
    If the kind is not stated, it is inferred where possible from gap and voice.

    Raises:
        Contradiction: the stated gap or kind differs from the inferred one, or the event is a question or an order.
    """

    event: Event
    relativizer: str | None = None
    kind: ClauseKind | None = None

    def __post_init__(self) -> None:
        if self.event.mood is not Mood.STATEMENT:
            raise Contradiction(f"{self.event.predicate or 'a clause'}: a relative clause is a statement")
        gap = self._infer_gap()
        if gap is not None and self.event.gap is not gap:
            if self.event.argument(gap) is not None:
                name = self.event.predicate or "a relative clause"
                raise Contradiction(f"{name}: the {gap.value} must be the gap, not a participant of its own")
            object.__setattr__(self, "event", self.event.with_argument(gap, GAP))
        event = self.event
        if event.gap is None or event.voice is None or not event.has_known_subject:
            return
        # The kind follows from gap and voice: in a passive clause, the patient is the subject.
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
        if self.kind is None or not event.has_known_subject or event.gap is not None:
            return None
        if self.kind is ClauseKind.SUBJECT:
            return event.subject
        if event.frame is Frame.DITRANSITIVE:
            return None  # patient or recipient
        return Role.PATIENT if event.subject is Role.AGENT else Role.AGENT


def iterate_clauses(event: Event) -> Iterator[tuple[Event, Participant | None]]:
    """Yield (event, None), then each relative clause in the event, nested ones too, with the noun that it modifies."""
    yield event, None
    for filler in (event.agent, event.patient, event.recipient):
        if isinstance(filler, Participant) and isinstance(filler.clause, RelativeClause):
            inner = iterate_clauses(filler.clause.event)
            yield next(inner)[0], filler
            yield from inner


def iterate_participants(event: Event) -> Iterator[tuple[Role, Participant]]:
    """Yield (role, participant) for each participant of a clause, agent first. Gaps and reflexives are left out."""
    for role in ROLES:
        filler = event.argument(role)
        if isinstance(filler, Participant):
            yield role, filler


def format_value(value: object) -> str:
    """Return the value of a field as messages show it."""
    if isinstance(value, RelativeClause):
        return "a relative clause"
    return str(value.value) if isinstance(value, StrEnum) else repr(value)
