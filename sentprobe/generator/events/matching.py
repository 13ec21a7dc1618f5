"""Partial events as patterns: how to unify two patterns, match an event with one, and find an event's open fields."""

from collections.abc import Iterator
from dataclasses import Field, fields, replace
from typing import Any, TypeVar

from sentprobe.generator.events import event as ev

Value = TypeVar("Value", ev.Event, ev.Participant, ev.RelativeClause)


def unify(left: Value, right: Value) -> Value:
    """Return the most general value that agrees with both *left* and *right*.

    Raises:
        Contradiction: *left* and *right* have different values in a field, which the message names.

    >>> from sentprobe.generator.events.event import Tense
    >>> unify(ev.Event(predicate="help"), ev.Event(tense=Tense.PAST)).tense
    <Tense.PAST: 'past'>
    """
    merged: dict[str, Any] = {f.name: _unify_field(f, left, right) for f in fields(left)}
    return type(left)(**merged)


def _is_unstated(field: "Field[Any]", value: object) -> bool:
    return value is None or value == field.default


def _unify_field(field: "Field[Any]", left: object, right: object) -> object:
    name = field.name
    left_value, right_value = getattr(left, name), getattr(right, name)
    if _is_unstated(field, left_value) or _is_unstated(field, right_value) or left_value == right_value:
        return right_value if _is_unstated(field, left_value) else left_value
    if type(left_value) is type(right_value) and isinstance(left_value, ev.Event | ev.Participant | ev.RelativeClause):
        return unify(left_value, right_value)
    if isinstance(left_value, ev.Frame) and isinstance(right_value, ev.Frame):
        for general, special in ((left_value, right_value), (right_value, left_value)):
            if general.includes(special):
                return special
    raise ev.Contradiction(f"{name} cannot be both {ev.format_value(left_value)} and {ev.format_value(right_value)}")


def subsumes(general: Value, special: Value) -> bool:
    """Say whether *special* agrees with *general* in every field that is not open in *general*.

    >>> from sentprobe.generator.events.event import Tense
    >>> subsumes(ev.Event(predicate="help"), ev.Event(predicate="help", tense=Tense.PAST))
    True
    """
    return all(_subsumes_field(f, getattr(general, f.name), getattr(special, f.name)) for f in fields(general))


def _subsumes_field(field: "Field[Any]", general: object, special: object) -> bool:
    if _is_unstated(field, general) or general == special:
        return True
    if isinstance(general, ev.Frame) and isinstance(special, ev.Frame):
        return general.includes(special)
    if type(general) is type(special) and isinstance(general, ev.Event | ev.Participant | ev.RelativeClause):
        return subsumes(general, special)  # type: ignore[type-var]
    return False


def contains(event: ev.Event, partial: ev.Event) -> bool:
    """Say whether *partial* subsumes *event* or one of its relative clauses.

    The modified noun fills the gap of a relative clause, so "the lawyer that shouts dances" contains
    ``shout(agent: lawyer)``. A gap in *partial* matches only a gap. The order of coordinated nouns does not matter.
    """
    return any(_matches_clause(partial, clause, head) for clause, head in ev.iterate_clauses(event))


def _matches_clause(partial: ev.Event, clause: ev.Event, head: ev.Participant | None) -> bool:
    """Say whether *partial* subsumes *clause*, whose gap is filled by *head*, the noun that the clause modifies."""
    features = (f for f in fields(ev.Event) if f.name not in frozenset(ev.Role))
    return all(_subsumes_field(f, getattr(partial, f.name), getattr(clause, f.name)) for f in features) and all(
        _matches_argument(partial.argument(role), clause.argument(role), head) for role in ev.ROLES
    )


def _matches_argument(partial: ev.Argument | None, filler: ev.Argument | None, head: ev.Participant | None) -> bool:
    if not isinstance(partial, ev.Participant):
        return partial in (None, filler)
    person = head if filler is ev.GAP else filler
    if not isinstance(person, ev.Participant):
        return False
    if person.conjunct is not None:
        # The pattern may describe either of the two nouns, so both orders are tried.
        mirrored = replace(person.conjunct, conjunct=replace(person, conjunct=None))
        return subsumes(partial, person) or subsumes(partial, mirrored)
    partial_clause, clause = partial.clause, person.clause
    if not isinstance(partial_clause, ev.RelativeClause) or not isinstance(clause, ev.RelativeClause):
        return subsumes(partial, person)
    return (
        subsumes(replace(partial, clause=None), person)
        and partial_clause.kind in (None, clause.kind)
        and partial_clause.relativizer in (None, clause.relativizer)
        and _matches_clause(partial_clause.event, clause.event, person)
    )


def find_open_fields(event: ev.Event, path: str = "") -> Iterator[str]:
    """Yield the path of each open field of *event*, such as ``agent.clause.tense``."""
    untensed = event.modal is not None or event.mood is ev.Mood.ORDER
    for name in ("predicate", "frame", "voice", "tense", "aspect", "polarity", "adverbs"):
        if getattr(event, name) is None and not (name == "tense" and untensed):
            yield path + name
    if event.frame is ev.Frame.DITRANSITIVE and event.dative is None:
        yield path + "dative"
    if event.polarity is ev.Polarity.NEGATIVE and event.negator is None:
        yield path + "negator"
    for role in event.roles:
        filler = event.argument(role)
        if filler is None:
            yield path + role.value
        elif isinstance(filler, ev.Participant):
            yield from _find_open_participant_fields(filler, f"{path}{role.value}.")


def _find_open_participant_fields(person: ev.Participant, path: str) -> Iterator[str]:
    for name in ("noun", "number", "determiner", "clause"):
        if getattr(person, name) is None:
            yield path + name
    if person.conjunct is not None:
        yield from _find_open_participant_fields(person.conjunct, f"{path}conjunct.")
    if isinstance(person.clause, ev.RelativeClause):
        if person.clause.relativizer is None:
            yield path + "clause.relativizer"
        if person.clause.event.gap is None:
            yield path + "clause.gap"
        yield from find_open_fields(person.clause.event, path + "clause.")
