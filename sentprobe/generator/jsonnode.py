"""A value of a JSON document together with its place in it, for messages that say where."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn, TypeVar

from sentprobe.errors import UsageError, suggest

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
