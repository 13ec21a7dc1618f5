"""Partial events as the published compeval generator writes them in its constraint files."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from sentprobe.errors import UsageError
from sentprobe.generator.event import (
    MAX_DEPTH,
    Aspect,
    ClauseKind,
    Event,
    Frame,
    Number,
    Participant,
    Polarity,
    RelativeClause,
    Role,
    Tense,
    Voice,
)
from sentprobe.generator.jsonnode import JsonNode
from sentprobe.generator.lemmas import check_clause, check_predicate, infer_frames
from sentprobe.lexicon import Kind, Lexicon

Json: TypeAlias = dict[str, Any]

ASPECTS = {"neut": Aspect.SIMPLE, "prog": Aspect.PROGRESSIVE}

FEATURES: Mapping[str, tuple[str, Mapping[str, StrEnum]]] = {
    "tense": ("tense", {value.value: value for value in Tense}),
    "aspect": ("aspect", ASPECTS),
    "voice": ("voice", {value.value: value for value in Voice}),
    "pol": ("polarity", {value.value: value for value in Polarity}),
    "frame": ("frame", {value.value: value for value in Frame}),
}
"""The features of an event by the published name: ours, and its values by the published name."""


def read_published_event(node: JsonNode, lexicon: Lexicon, depth: int = 0) -> Event:
    """Return the partial event of a node, with the frames that follow from its verbs.

    Raises:
        UsageError: with the place of what is wrong.
    """
    if depth > MAX_DEPTH:
        node.fail(f"relative clauses nest deeper than {MAX_DEPTH}")
    parts = node.object(("name", *FEATURES, "participants"))
    fields: dict[str, Any] = {
        ours: parts[key].choice(values) for key, (ours, values) in FEATURES.items() if key in parts
    }
    if "participants" in parts:
        for role, person in parts["participants"].object(Role).items():
            fields[role] = _read_participant(person, lexicon, depth)
    if "name" in parts:
        fields["predicate"] = parts["name"].text()
    with node.errors():
        event = Event(**fields)
    with parts.get("name", node).errors():
        check_predicate(event, lexicon)
    return infer_frames(event, lexicon)


def _read_participant(node: JsonNode, lexicon: Lexicon, depth: int) -> Participant:
    parts = node.object(("name", "num", "attributes"))
    fields: dict[str, Any] = {}
    if "name" in parts:
        with parts["name"].errors():
            fields["noun"] = lexicon.get(parts["name"].text(), Kind.NOUN).lemma
    if "num" in parts:
        fields["number"] = parts["num"].member(Number)
    if "attributes" in parts:
        for clause in parts["attributes"].object(("rc",)).values():
            fields["clause"] = _read_clause(clause, lexicon, depth + 1)
    return Participant(**fields)


def _read_clause(node: JsonNode, lexicon: Lexicon, depth: int) -> RelativeClause:
    parts = node.object(("rtype", "event"))
    kind = parts["rtype"].member(ClauseKind) if "rtype" in parts else None
    event = Event()
    if "event" in parts:
        event = read_published_event(parts["event"], lexicon, depth)
    with node.errors():
        clause = RelativeClause(event=event, kind=kind)
        check_clause(clause, lexicon)
    return clause


def write_published_event(event: Event) -> Json:
    """Return the published form of an event.

    Raises:
        UsageError: the event states what that format has no name for.
    """
    _refuse(adverbs=event.adverbs, negator=event.negator)
    form: Json = {} if event.predicate is None else {"name": event.predicate}
    for key, (ours, values) in FEATURES.items():
        if (value := getattr(event, ours)) is not None:
            form[key] = next(name for name, named in values.items() if named is value)
    people = {role.value: event.argument(role) for role in Role}
    stated = {role: _write_participant(who) for role, who in people.items() if who is not None}
    return form | ({"participants": stated} if stated else {})


def _write_participant(person: object) -> Json:
    if not isinstance(person, Participant):
        raise UsageError("a published configuration cannot state which argument is the gap")
    _refuse(determiner=person.determiner)
    form: Json = {} if person.noun is None else {"name": person.noun}
    if person.number is not None:
        form["num"] = person.number.value
    if person.clause is not None:
        form["attributes"] = {"rc": _write_clause(person.clause)}
    return form


def _write_clause(clause: object) -> Json:
    if not isinstance(clause, RelativeClause):
        raise UsageError("a published configuration cannot state that there is no relative clause")
    _refuse(relativizer=clause.relativizer)
    form: Json = {} if clause.kind is None else {"rtype": clause.kind.value}
    return form | {"event": write_published_event(_without_implied_gap(clause))}


def _without_implied_gap(clause: RelativeClause) -> Event:
    """Return the clause's event, its gap left open if it follows from the rest."""
    gap = clause.event.gap
    if gap is None:
        return clause.event
    event = clause.event.with_argument(gap, None)
    implied = RelativeClause(event=event, kind=clause.kind, relativizer=clause.relativizer)
    return event if implied == clause else clause.event


def _refuse(**values: object) -> None:
    for name, value in values.items():
        if value is not None:
            raise UsageError(f"a published configuration cannot state the {name}")
