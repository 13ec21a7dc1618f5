"""The JSON form of events (``docs/events.md``): :func:`event_to_json` and its inverse :func:`event_from_json`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn, TypeAlias, TypeVar

from sentprobe.common.errors import UsageError, suggest
from sentprobe.generator.events import event as ev

Named = TypeVar("Named")
Member = TypeVar("Member", bound=StrEnum)


class JsonError(UsageError):
    """An error in a JSON document; the message starts with the path of the wrong value."""


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A JSON value. Error messages name its path (``$.agent.noun``) and its source *where*, such as a file."""

    value: object
    path: str = "$"
    where: str = ""

    def fail(self, message: str) -> NoReturn:
        """Raise a JsonError whose message names the file and the path of this value."""
        prefix = f"{self.where}: " if self.where else ""
        raise JsonError(f"{prefix}{self.path}: {message}") from None

    @contextmanager
    def locate_errors(self) -> Iterator[None]:
        """Turn UsageErrors of the ``with`` block into JsonErrors with this path; JsonErrors pass unchanged."""
        try:
            yield
        except JsonError:
            raise
        except UsageError as error:
            self.fail(str(error))

    def make_child(self, step: str, value: object) -> "JsonNode":
        """Return the node of *value*, a part of this node's value; append *step*, such as ``.noun``, to the path."""
        return JsonNode(value, self.path + step, self.where)

    def read_object(
        self, known_keys: Iterable[str], *, aliases: Mapping[str, str] | None = None
    ) -> dict[str, "JsonNode"]:
        """Return the members of a JSON object by key; *aliases* maps other spellings to keys. Raises JsonError."""
        if not isinstance(self.value, dict):
            self.fail(f"expected an object, found {describe_json(self.value)}")
        names, canonical_names = [str(name) for name in known_keys], aliases or {}
        members: dict[str, JsonNode] = {}
        for key, value in self.value.items():
            node, name = self.make_child(f".{key}", value), canonical_names.get(key, key)
            if name not in names:
                node.fail(f"unknown key {key!r}{_suggest_name(str(key), names)}")
            if name in members:
                node.fail(f"{name!r} is stated twice")
            members[name] = node
        return members

    def read_list(self) -> list["JsonNode"]:
        """Return the items of this value, which must be a list. Raises JsonError."""
        if not isinstance(self.value, list):
            self.fail(f"expected a list, found {describe_json(self.value)}")
        return [self.make_child(f"[{at}]", item) for at, item in enumerate(self.value)]

    def read_text(self) -> str:
        """Return this value, which must be a string. Raises JsonError."""
        if not isinstance(self.value, str):
            self.fail(f"expected a string, found {describe_json(self.value)}")
        return self.value

    def read_choice(self, names: Mapping[str, Named]) -> Named:
        """Return the entry of *names* whose key is this node's value. Raises JsonError if there is none."""
        text = self.read_text()
        if text not in names:
            self.fail(f"unknown value {text!r}{_suggest_name(text, names)}")
        return names[text]

    def read_member(self, values: type[Member]) -> Member:
        """Return the member of the enum *values* that has this node's value. Raises JsonError if there is none."""
        return self.read_choice({member.value: member for member in values})


def _suggest_name(name: str, candidates: Iterable[str]) -> str:
    names = list(candidates)
    one_of = "one of " if len(names) > 1 else ""
    return suggest(name, names) or f", expected {one_of}{', '.join(names)}"


def describe_json(value: object) -> str:
    """Describe a JSON value for a message: "a list", "null", "the number 3"."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the string {value!r}"
    names: dict[type, str] = {dict: "an object", list: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")


Json: TypeAlias = dict[str, Any]
Readers: TypeAlias = Mapping[str, Callable[[JsonNode, int], Any]]
_ENUMS = ("frame", "voice", "tense", "aspect", "polarity", "negator")
_SPECIAL: Mapping[str, ev.Argument] = {
    ev.GAP.value: ev.GAP,
    **{f"{asked.value}?": asked for asked in ev.Asked},
    **{reflexive.value: reflexive for reflexive in ev.Reflexive},
}
"""Arguments that are strings in JSON: the gap ("_"), question words ("who?") and reflexives ("himself")."""


def event_to_json(event: ev.Event) -> Json:
    """Return *event* as a dictionary that :mod:`json` can write.

    >>> event_to_json(ev.Event(predicate="sleep", agent=ev.GAP))
    {'predicate': 'sleep', 'agent': '_'}
    """
    form: Json = {"predicate": event.predicate}
    form |= {name: _enum_to_json(getattr(event, name)) for name in _ENUMS}
    form["adverbs"] = None if event.adverbs is None else list(event.adverbs)
    for role in ev.Role:
        filler = event.argument(role)
        if isinstance(filler, ev.Participant):
            form[role.value] = _participant_to_json(filler)
        else:
            form[role.value] = f"{filler.value}?" if isinstance(filler, ev.Asked) else _enum_to_json(filler)
    form |= {"dative": _enum_to_json(event.dative), "modal": event.modal}
    form |= {"adjunct": event.adjunct, "fronting": _enum_to_json(event.fronting)}
    form["mood"] = None if event.mood is ev.Mood.STATEMENT else event.mood.value
    return _drop_open_fields(form)


def _enum_to_json(member: Any) -> str | None:
    return None if member is None else str(member.value)


def _drop_open_fields(form: Json) -> Json:
    return {key: value for key, value in form.items() if value is not None}


def _participant_to_json(filler: ev.Participant) -> Json:
    number = _enum_to_json(filler.number)
    form = _drop_open_fields({"noun": filler.noun, "number": number, "determiner": filler.determiner})
    if filler.adjectives:
        form["adjectives"] = list(filler.adjectives)
    if filler.conjunct is not None:
        form["conjunct"] = _participant_to_json(filler.conjunct)
    if filler.clause is ev.BARE:
        form["clause"] = None  # a missing key would leave open whether there is a relative clause
    elif isinstance(filler.clause, ev.RelativeClause):
        clause = filler.clause
        clause_form: Json = {"relativizer": clause.relativizer, "kind": _enum_to_json(clause.kind)}
        form["clause"] = _drop_open_fields(clause_form | {"event": event_to_json(clause.event)})
    return form


def event_from_json(value: object, *, where: str = "") -> ev.Event:
    """Return the event that a JSON value describes; error messages begin with *where*, such as a file name.

    Raises:
        JsonError: an unknown key or value, a wrong type, or a contradiction. The message names the path and, for an
            unknown name, the nearest valid name.

    >>> event_from_json({"predicate": "sleep", "agent": {"nuon": "man"}})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    sentprobe...JsonError: $.agent.nuon: unknown key 'nuon' (did you mean 'noun'?)
    """
    return _read_event(JsonNode(value, where=where))


def _read_event(node: JsonNode, depth: int = 0) -> ev.Event:
    if depth > ev.MAX_DEPTH:
        node.fail(f"relative clauses nest deeper than {ev.MAX_DEPTH}")
    return _build_value(ev.Event, _EVENT_READERS, node, depth)


def _build_value(
    kind: Callable[..., Named], readers: Readers, node: JsonNode, depth: int, *, required: Iterable[str] = ()
) -> Named:
    """Return an event or a part of one from a JSON object; raise JsonError if a *required* key is missing."""
    members = node.read_object(readers)
    for key in required:
        if key not in members:
            node.fail(f"the key {key!r} is missing")
    fields = {key: readers[key](member, depth) for key, member in members.items()}
    with node.locate_errors():
        value = kind(**fields)
    return value


def _read_argument(node: JsonNode, depth: int) -> ev.Argument:
    if isinstance(node.value, str):
        if node.value in _SPECIAL:
            return _SPECIAL[node.value]
        node.fail(f"expected an object or one of {', '.join(map(repr, _SPECIAL))}, found {node.value!r}")
    return _read_participant(node, depth)


def _read_participant(node: JsonNode, depth: int) -> ev.Participant:
    return _build_value(ev.Participant, _PARTICIPANT_READERS, node, depth)


def _read_clause(node: JsonNode, depth: int) -> ev.RelativeClause | ev.Bare:
    if node.value is None:
        return ev.BARE
    return _build_value(ev.RelativeClause, _CLAUSE_READERS, node, depth + 1, required=["event"])


def _read_text(node: JsonNode, _: int) -> str:
    return node.read_text()


def _read_texts(node: JsonNode, _: int) -> tuple[str, ...]:
    return tuple(item.read_text() for item in node.read_list())


_EVENT_READERS: Readers = {
    "predicate": _read_text,
    "frame": lambda node, _: node.read_member(ev.Frame),
    "voice": lambda node, _: node.read_member(ev.Voice),
    "tense": lambda node, _: node.read_member(ev.Tense),
    "aspect": lambda node, _: node.read_member(ev.Aspect),
    "polarity": lambda node, _: node.read_member(ev.Polarity),
    "negator": lambda node, _: node.read_member(ev.Negator),
    "adverbs": _read_texts,
    "agent": _read_argument,
    "patient": _read_argument,
    "recipient": _read_argument,
    "dative": lambda node, _: node.read_member(ev.Dative),
    "modal": _read_text,
    "adjunct": _read_text,
    "mood": lambda node, _: node.read_member(ev.Mood),
    "fronting": lambda node, _: node.read_member(ev.Fronting),
}
_PARTICIPANT_READERS: Readers = {
    "noun": _read_text,
    "number": lambda node, _: node.read_member(ev.Number),
    "determiner": _read_text,
    "adjectives": _read_texts,
    "conjunct": _read_participant,
    "clause": _read_clause,
}
_CLAUSE_READERS: Readers = {
    "relativizer": _read_text,
    "kind": lambda node, _: node.read_member(ev.ClauseKind),
    "event": _read_event,
}
