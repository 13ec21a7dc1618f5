"""The JSON form of events: :func:`event_to_json` and its inverse :func:`event_from_json`.

An event is an object with the keys ``predicate frame voice tense aspect polarity negator adverbs
agent patient``; what is open is absent. ``agent`` and ``patient`` are ``"_"`` for the gap, or an
object with ``noun number determiner clause``; ``clause`` is null where there is no relative clause,
or an object with ``relativizer kind event``.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from sentprobe.generator.event import (
    BARE,
    GAP,
    MAX_DEPTH,
    Argument,
    Aspect,
    Bare,
    ClauseKind,
    Contradiction,
    Event,
    Frame,
    Negator,
    Number,
    Participant,
    Polarity,
    RelativeClause,
    Role,
    Tense,
    Voice,
)
from sentprobe.generator.jsonnode import JsonNode
from sentprobe.generator.lemmas import check_lemmas, infer_frames

__all__ = ["check_lemmas", "event_from_json", "event_to_json", "infer_frames"]

Json: TypeAlias = dict[str, Any]

_ENUMS = ("frame", "voice", "tense", "aspect", "polarity", "negator")


def event_to_json(event: Event) -> Json:
    """Return *event* as a value that :mod:`json` can write.

    >>> event_to_json(Event(predicate="sleep", agent=GAP))
    {'predicate': 'sleep', 'agent': '_'}
    """
    form: Json = {"predicate": event.predicate}
    form |= {name: _enum_value(getattr(event, name)) for name in _ENUMS}
    form["adverbs"] = None if event.adverbs is None else list(event.adverbs)
    for role in Role:
        form[role.value] = _argument_to_json(event.argument(role))
    return _without_open(form)


def _enum_value(member: Any) -> str | None:
    return None if member is None else str(member.value)


def _without_open(form: Json) -> Json:
    return {key: value for key, value in form.items() if value is not None}


def _argument_to_json(filler: Argument | None) -> str | Json | None:
    if not isinstance(filler, Participant):
        return _enum_value(filler)
    number = _enum_value(filler.number)
    form = _without_open({"noun": filler.noun, "number": number, "determiner": filler.determiner})
    if filler.clause is not None:
        form["clause"] = _clause_to_json(filler.clause)
    return form


def _clause_to_json(clause: RelativeClause | Bare) -> Json | None:
    if clause is BARE:
        return None
    assert isinstance(clause, RelativeClause)
    form: Json = {"relativizer": clause.relativizer, "kind": _enum_value(clause.kind)}
    return _without_open(form | {"event": event_to_json(clause.event)})


def event_from_json(value: object, *, where: str = "") -> Event:
    """Return the event of a JSON value; *where* names its file or line in messages.

    Raises:
        JsonError: an unknown key or value, a wrong type, or a contradiction; the message has the
            path and the nearest valid name.

    >>> event_from_json({"predicate": "sleep", "agent": {"nuon": "man"}})
    Traceback (most recent call last):
    ...
    sentprobe.generator.jsonnode.JsonError: $.agent.nuon: unknown key 'nuon' (did you mean 'noun'?)
    """
    return _event(JsonNode(value, where=where))


def _event(node: JsonNode, depth: int = 0) -> Event:
    if depth > MAX_DEPTH:
        node.fail(f"relative clauses nest deeper than {MAX_DEPTH}")
    parts = node.object(_EVENT_READERS)
    fields = {key: _EVENT_READERS[key](part, depth) for key, part in parts.items()}
    try:
        return Event(**fields)
    except Contradiction as error:
        node.fail(str(error))


def _argument(node: JsonNode, depth: int) -> Argument:
    if node.value == GAP.value:
        return GAP
    if isinstance(node.value, str):
        node.fail(f"expected an object, or '_' for the gap, found {node.value!r}")
    parts = node.object(_PARTICIPANT_READERS)
    fields = {key: _PARTICIPANT_READERS[key](part, depth) for key, part in parts.items()}
    return Participant(**fields)


def _clause(node: JsonNode, depth: int) -> RelativeClause | Bare:
    if node.value is None:
        return BARE
    parts = node.object(_CLAUSE_READERS)
    if "event" not in parts:
        node.fail("the key 'event' is missing")
    fields = {key: _CLAUSE_READERS[key](part, depth + 1) for key, part in parts.items()}
    try:
        return RelativeClause(**fields)
    except Contradiction as error:
        node.fail(str(error))


def _adverbs(node: JsonNode, _: int) -> tuple[str, ...]:
    return tuple(item.text() for item in node.list())


def _text(node: JsonNode, _: int) -> str:
    return node.text()


Readers: TypeAlias = Mapping[str, Callable[[JsonNode, int], Any]]

_EVENT_READERS: Readers = {
    "predicate": _text,
    "frame": lambda node, _: node.member(Frame),
    "voice": lambda node, _: node.member(Voice),
    "tense": lambda node, _: node.member(Tense),
    "aspect": lambda node, _: node.member(Aspect),
    "polarity": lambda node, _: node.member(Polarity),
    "negator": lambda node, _: node.member(Negator),
    "adverbs": _adverbs,
    "agent": _argument,
    "patient": _argument,
}
_PARTICIPANT_READERS: Readers = {
    "noun": _text,
    "number": lambda node, _: node.member(Number),
    "determiner": _text,
    "clause": _clause,
}
_CLAUSE_READERS: Readers = {
    "relativizer": _text,
    "kind": lambda node, _: node.member(ClauseKind),
    "event": _event,
}
