"""What a drawing of an event says: short texts, in which ``*`` stands for what is left open."""

from enum import StrEnum

from sentprobe.generator.event import (
    BARE,
    GAP,
    Argument,
    ClauseKind,
    Event,
    Frame,
    Number,
    Participant,
    Polarity,
    RelativeClause,
    Role,
)

OPEN = "*"
_NUMBERS = {Number.SINGULAR: "singular", Number.PLURAL: "plural"}
_KINDS = {ClauseKind.SUBJECT: "subject relative", ClauseKind.OBJECT: "object relative"}


def event_features(event: Event) -> tuple[str, ...]:
    """Return the features of an event, the open ones by name."""
    features = [_or_open(name, getattr(event, name)) for name in ("frame", "voice")]
    features += [_or_open(name, getattr(event, name)) for name in ("tense", "aspect")]
    if event.polarity is Polarity.NEGATIVE:
        features.append(f"neg ({event.negator or OPEN})")
    else:
        features.append(_or_open("polarity", event.polarity))
    if event.adverbs is None:
        features.append(f"adverbs {OPEN}")
    elif event.adverbs:
        features.append(f"adverbs: {', '.join(event.adverbs)}")
    return tuple(features)


def _or_open(name: str, value: StrEnum | None) -> str:
    return f"{name} {OPEN}" if value is None else str(value.value)


def event_roles(event: Event) -> tuple[tuple[Role, Argument | None], ...]:
    """Return the roles that an event has or may have, with what fills them."""
    roles = (Role.AGENT,) if event.frame is Frame.INTRANSITIVE else tuple(Role)
    return tuple((role, event.argument(role)) for role in roles)


def argument_name(filler: Argument | None) -> str:
    """Return determiner and noun; a gap is ``_``."""
    if filler is None or filler is GAP:
        return OPEN if filler is None else GAP.value
    return f"{lemma_label(filler.determiner)} {lemma_label(filler.noun)}"


def lemma_label(lemma: str | None) -> str:
    """Return a lemma, or the star of an open one."""
    return OPEN if lemma is None else lemma


def participant_features(person: Participant) -> tuple[str, ...]:
    """Return the number, and whether there is a relative clause where none is drawn."""
    number = f"number {OPEN}" if person.number is None else _NUMBERS[person.number]
    return (number, f"clause {OPEN}") if person.clause is None else (number,)


def clause_of(filler: Argument | None) -> RelativeClause | None:
    """Return the relative clause of a participant that has one."""
    if not isinstance(filler, Participant) or filler.clause is BARE:
        return None
    return filler.clause if isinstance(filler.clause, RelativeClause) else None


def clause_label(clause: RelativeClause) -> str:
    """Return the relativizer and the kind of a relative clause."""
    kind = f"relative clause {OPEN}" if clause.kind is None else _KINDS[clause.kind]
    return f"{lemma_label(clause.relativizer)} · {kind}"
