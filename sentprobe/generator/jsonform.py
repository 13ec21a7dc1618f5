"""The JSON form of events: :func:`event_to_json` and its inverse :func:`event_from_json`.

A value is read together with its place in the document, for messages that say where.

An event is an object with the keys ``predicate frame voice tense aspect polarity negator adverbs
agent patient``; what is open is absent. ``agent`` and ``patient`` are ``"_"`` for the gap, or an
object with ``noun number determiner clause``; ``clause`` is null where there is no relative clause,
or an object with ``relativizer kind event``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn, TypeAlias, TypeVar

from sentprobe.errors import UsageError, suggest
from sentprobe.generator import event as ev

Named = TypeVar("Named")
Member = TypeVar("Member", bound=StrEnum)


class JsonError(UsageError):
    """A mistake in a JSON document; the message starts with its place."""


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A JSON value, its path (``$.agent.noun``) and the file that it stands in, if any."""

    value: object
    path: str = "$"
    where: str = ""

    def fail(self, message: str) -> NoReturn:
        """Raise a usage error at this place."""
        prefix = f"{self.where}: " if self.where else ""
        raise JsonError(f"{prefix}{self.path}: {message}") from None

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Give a usage error that is raised inside this place, unless it has one."""
        try:
            yield
        except JsonError:
            raise
        except UsageError as error:
            self.fail(str(error))

    def child(self, step: str, value: object) -> "JsonNode":
        """Return the node of a part; *step* is its part of the path."""
        return JsonNode(value, self.path + step, self.where)

    def object(
        self, known: Iterable[str], *, also: Mapping[str, str] | None = None
    ) -> dict[str, "JsonNode"]:
        """Return the members of an object by name; those in *also* under the name it gives."""
        if not isinstance(self.value, dict):
            self.fail(f"expected an object, found {show_json(self.value)}")
        names, other = [str(name) for name in known], also or {}
        found: dict[str, JsonNode] = {}
        for key, value in self.value.items():
            node, name = self.child(f".{key}", value), other.get(key, key)
            if name not in names:
                hint = _hint(str(key), names)
                node.fail(f"unknown key {key!r}{hint}")
            if name in found:
                node.fail(f"{name!r} is stated twice")
            found[name] = node
        return found

    def list(self) -> list["JsonNode"]:
        """Return the items of a list."""
        if not isinstance(self.value, list):
            self.fail(f"expected a list, found {show_json(self.value)}")
        return [self.child(f"[{at}]", item) for at, item in enumerate(self.value)]

    def text(self) -> str:
        """Return a string."""
        if not isinstance(self.value, str):
            self.fail(f"expected a string, found {show_json(self.value)}")
        return self.value

    def choice(self, names: Mapping[str, Named]) -> Named:
        """Return the value that a string names."""
        text = self.text()
        if text not in names:
            hint = _hint(text, names)
            self.fail(f"unknown value {text!r}{hint}")
        return names[text]

    def member(self, values: type[Member]) -> Member:
        """Return the member of an enum that a string is the value of."""
        return self.choice({member.value: member for member in values})


def _hint(name: str, known: Iterable[str]) -> str:
    names = list(known)
    one_of = "one of " if len(names) > 1 else ""
    return suggest(name, names) or f", expected {one_of}{', '.join(names)}"


def show_json(value: object) -> str:
    """Return what a value is, for a message: "a list", "null", "the number 3"."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the string {value!r}"
    names: dict[type, str] = {dict: "an object", list: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")


Json: TypeAlias = dict[str, Any]

_ENUMS = ("frame", "voice", "tense", "aspect", "polarity", "negator")


def event_to_json(event: ev.Event) -> Json:
    """Return *event* as a value that :mod:`json` can write.

    >>> event_to_json(ev.Event(predicate="sleep", agent=ev.GAP))
    {'predicate': 'sleep', 'agent': '_'}
    """
    form: Json = {"predicate": event.predicate}
    form |= {name: _enum_value(getattr(event, name)) for name in _ENUMS}
    form["adverbs"] = None if event.adverbs is None else list(event.adverbs)
    for role in ev.Role:
        form[role.value] = _argument_to_json(event.argument(role))
    return _without_open(form)


def _enum_value(member: Any) -> str | None:
    return None if member is None else str(member.value)


def _without_open(form: Json) -> Json:
    return {key: value for key, value in form.items() if value is not None}


def _argument_to_json(filler: ev.Argument | None) -> str | Json | None:
    if not isinstance(filler, ev.Participant):
        return _enum_value(filler)
    number = _enum_value(filler.number)
    form = _without_open({"noun": filler.noun, "number": number, "determiner": filler.determiner})
    if filler.clause is not None:
        form["clause"] = _clause_to_json(filler.clause)
    return form


def _clause_to_json(clause: ev.RelativeClause | ev.Bare) -> Json | None:
    if clause is ev.BARE:
        return None
    assert isinstance(clause, ev.RelativeClause)
    form: Json = {"relativizer": clause.relativizer, "kind": _enum_value(clause.kind)}
    return _without_open(form | {"event": event_to_json(clause.event)})


def event_from_json(value: object, *, where: str = "") -> ev.Event:
    """Return the event of a JSON value; *where* names its file or line in messages.

    Raises:
        JsonError: an unknown key or value, a wrong type, or a contradiction; the message has the
            path and the nearest valid name.

    >>> event_from_json({"predicate": "sleep", "agent": {"nuon": "man"}})
    Traceback (most recent call last):
    ...
    sentprobe.generator.jsonform.JsonError: $.agent.nuon: unknown key 'nuon' (did you mean 'noun'?)
    """
    return _event(JsonNode(value, where=where))


def _event(node: JsonNode, depth: int = 0) -> ev.Event:
    if depth > ev.MAX_DEPTH:
        node.fail(f"relative clauses nest deeper than {ev.MAX_DEPTH}")
    parts = node.object(_EVENT_READERS)
    fields = {key: _EVENT_READERS[key](part, depth) for key, part in parts.items()}
    try:
        return ev.Event(**fields)
    except ev.Contradiction as error:
        node.fail(str(error))


def _argument(node: JsonNode, depth: int) -> ev.Argument:
    if node.value == ev.GAP.value:
        return ev.GAP
    if isinstance(node.value, str):
        node.fail(f"expected an object, or '_' for the gap, found {node.value!r}")
    parts = node.object(_PARTICIPANT_READERS)
    fields = {key: _PARTICIPANT_READERS[key](part, depth) for key, part in parts.items()}
    return ev.Participant(**fields)


def _clause(node: JsonNode, depth: int) -> ev.RelativeClause | ev.Bare:
    if node.value is None:
        return ev.BARE
    parts = node.object(_CLAUSE_READERS)
    if "event" not in parts:
        node.fail("the key 'event' is missing")
    fields = {key: _CLAUSE_READERS[key](part, depth + 1) for key, part in parts.items()}
    try:
        return ev.RelativeClause(**fields)
    except ev.Contradiction as error:
        node.fail(str(error))


def _adverbs(node: JsonNode, _: int) -> tuple[str, ...]:
    return tuple(item.text() for item in node.list())


def _text(node: JsonNode, _: int) -> str:
    return node.text()


Readers: TypeAlias = Mapping[str, Callable[[JsonNode, int], Any]]

_EVENT_READERS: Readers = {
    "predicate": _text,
    "frame": lambda node, _: node.member(ev.Frame),
    "voice": lambda node, _: node.member(ev.Voice),
    "tense": lambda node, _: node.member(ev.Tense),
    "aspect": lambda node, _: node.member(ev.Aspect),
    "polarity": lambda node, _: node.member(ev.Polarity),
    "negator": lambda node, _: node.member(ev.Negator),
    "adverbs": _adverbs,
    "agent": _argument,
    "patient": _argument,
}
_PARTICIPANT_READERS: Readers = {
    "noun": _text,
    "number": lambda node, _: node.member(ev.Number),
    "determiner": _text,
    "clause": _clause,
}
_CLAUSE_READERS: Readers = {
    "relativizer": _text,
    "kind": lambda node, _: node.member(ev.ClauseKind),
    "event": _event,
}
