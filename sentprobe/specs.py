"""Encoder specs such as ``bow:glove.txt.gz?dim=50``, and options read into dataclasses."""

import dataclasses
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin
from urllib.parse import unquote

from sentprobe.errors import LARGEST_SEED, UsageError, check_seed, suggest

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


Member = TypeVar("Member", bound=StrEnum)


def choose(kind: type[Member], text: str, *, what: str, also: Sequence[str] = ()) -> Member:
    """Return the member that *text* names.

    Raises:
        UsageError: there is none; names the nearest, which may be one of *also*.
    """
    members = [member.value for member in kind]
    known = [*members, *also]
    if text not in members:
        raise UsageError(
            f"there is no {what} {text!r}{suggest(text, known)}; known: {', '.join(known)}"
        )
    return kind(text)


Record = TypeVar("Record", bound="DataclassInstance")


COMPEVAL, NATURAL = "compeval", "natural"
SUITES = (COMPEVAL, NATURAL)
"""The suites that are built; a path of such a name must be written ``./compeval``."""

DEVICES = ("auto", "cpu", "cuda", "mps")
"""What may be asked for to train probes on; a number may follow cuda, as in cuda:1."""


OptionPair = tuple[str, str]


class Natural(int):
    """The type of an option that is a whole number from 0, such as a seed."""


NAME = "name"
"""The option that every encoder has: what it is called in tables."""


@dataclass(frozen=True, slots=True)
class Spec:
    """``kind``, ``kind:argument``, either followed by ``?key=value&key=value``.

    In a value, ``%26`` stands for an ampersand and ``%25`` for a percent sign, as in a URL.

    >>> spec = parse_spec("bow:vectors/glove.txt.gz?dim=50")
    >>> spec.kind, spec.argument, spec.options
    ('bow', 'vectors/glove.txt.gz', (('dim', '50'),))
    >>> str(spec)
    'bow:vectors/glove.txt.gz?dim=50'
    """

    kind: str
    argument: str = ""
    options: tuple[OptionPair, ...] = ()

    @property
    def label(self) -> str | None:
        """What its option ``name`` says; an encoder of any kind may have it."""
        return dict(self.options).get(NAME)

    @property
    def name(self) -> str:
        """What results call the encoder: its label or, without one, the whole spec.

        >>> parse_spec("st:./models/small?dim=64&name=small").name
        'small'
        """
        return self.label or str(self)

    def __str__(self) -> str:
        argument = f":{self.argument}" if self.argument else ""
        options = "&".join(f"{key}={_escape(value)}" for key, value in self.options)
        return self.kind + argument + (f"?{options}" if options else "")


def parse_spec(text: str) -> Spec:
    """Read a spec; the inverse of ``str(spec)``."""
    head, _, query = text.partition("?")
    kind, _, argument = head.partition(":")
    if not kind:
        raise UsageError(f"encoder spec {text!r} names no kind")
    pairs = [parse_pair(part) for part in query.split("&") if part]
    return Spec(kind, argument, tuple((key, unquote(value)) for key, value in pairs))


def _escape(value: str) -> str:
    return re.sub(r"[%&\x00-\x1f\x7f]", lambda found: f"%{ord(found[0]):02X}", value)


def parse_pair(text: str) -> OptionPair:
    """Read ``key=value``.

    >>> parse_pair("batch=100")
    ('batch', '100')
    """
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise UsageError(f"option {text!r} is not of the form key=value")
    return key, value


def check_distinct(what: str, names: Sequence[str]) -> None:
    """Refuse no names at all, and a name that comes twice."""
    if not names:
        raise UsageError(f"a run needs at least one {what}")
    for place, name in enumerate(names):
        if name in names[:place]:
            raise UsageError(f"{what} {name!r} is asked for twice")


def check_names(specs: Sequence[Spec]) -> None:
    """Refuse two encoders of one name.

    Raises:
        UsageError: there are such; the same spec is there twice.
    """
    by_name: dict[str, Spec] = {}
    for spec in specs:
        name = spec.name
        if spec == by_name.get(name):
            raise UsageError(f"encoder {str(spec)!r} is asked for twice")
        if name in by_name:
            raise UsageError(
                f"two encoders have the name {name!r}: {by_name[name]} and {spec}; "
                f"give one of them another with {NAME}="
            )
        by_name[name] = spec


def read_options(spec: Spec, default: Record) -> Record:
    """Return the options of an encoder, from *default* and its spec, without its name.

    Raises:
        UsageError: an option, or its value, is not known; the name is empty.
    """
    if spec.label is not None:
        _read(_text, NAME, spec.label, owner=spec.kind)
    own = [(key, value) for key, value in spec.options if key != NAME]
    return with_options(default, own, owner=spec.kind, others=(NAME,))


def with_options(
    record: Record,
    options: Iterable[OptionPair],
    *,
    owner: str,
    others: Iterable[str] = (),
    fixed: Collection[str] = (),
) -> Record:
    """Return *record* with the fields named in *options* replaced; each text read by field type.

    The fields are of the types in READERS, enums, or tuples of the types in LIST_READERS. In an
    error, *others* are named among the known options. Fields in *fixed* are no options.
    """
    readers = {
        entry.name: _reader(entry.type)
        for entry in dataclasses.fields(record)
        if entry.name not in fixed
        and (isinstance(entry.type, type) or get_origin(entry.type) is tuple)
    }
    values: dict[str, object] = {}
    for key, text in options:
        if key not in readers:
            known = [*readers, *others]
            listed = ", ".join(known) or "none"
            near = suggest(key, known)
            raise UsageError(f"{owner} has no option {key!r}{near}; its options: {listed}")
        values[key] = _read(readers[key], key, text, owner=owner)
    return dataclasses.replace(record, **values)


def _reader(kind: Any) -> Callable[[str], object]:
    if inner := get_args(kind):
        return partial(_several, LIST_READERS.get(inner[0]) or partial(_member, inner[0]))
    if issubclass(kind, StrEnum):
        return partial(_member, kind)
    return READERS[kind]


def _several(reader: Callable[[str], object], text: str) -> tuple[object, ...]:
    return tuple(reader(part) for part in text.split(","))


def _member(kind: type[StrEnum], text: str) -> StrEnum:
    if text not in list(kind):
        raise ValueError(
            f"one of {', '.join(kind)} is wanted{suggest(text, [member.value for member in kind])}"
        )
    return kind(text)


def _read(reader: Callable[[str], object], key: str, text: str, *, owner: str) -> object:
    try:
        return reader(text)
    except ValueError as error:
        raise UsageError(f"{owner}: option {key}={text}: {error}") from None


_DIGITS = 18
"""No number of anything has more."""


def _whole(text: str) -> int:
    if not text.isdecimal() or len(text) > _DIGITS or int(text) < 1:
        raise ValueError("a whole number from 1 is wanted")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > _DIGITS:
        raise ValueError("whole numbers from 0 are wanted, with commas between them")
    return int(text)


def _natural(text: str) -> Natural:
    if not text.isdecimal() or len(text) > _DIGITS + 1:
        raise ValueError(f"a whole number from 0 to {LARGEST_SEED} is wanted")
    return Natural(check_seed(int(text)))


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError("a number is wanted")
    return value


def _truth(text: str) -> bool:
    if text not in TRUTHS:
        raise ValueError(f"one of {', '.join(TRUTHS)} is wanted")
    return TRUTHS[text]


def _text(text: str) -> str:
    if not text:
        raise ValueError("a value is wanted")
    return text


TRUTHS: Mapping[str, bool] = {"true": True, "false": False, "yes": True, "no": False}

READERS: Mapping[type, Callable[[str], object]] = {
    int: _whole,
    Natural: _natural,
    float: _number,
    bool: _truth,
    str: _text,
}
"""How the text of an option is read, by the type of its field."""

LIST_READERS: Mapping[type, Callable[[str], object]] = {int: _count, float: _number}
"""How each part of a list with commas is read, by the type of the parts."""


def without_seed(name: str, seed: int) -> str:
    """Return an encoder's name without its seed, if that is the one of the run.

    >>> without_seed("bow?dim=8&seed=10", 10), without_seed("bow?seed=9", 10)
    ('bow?dim=8', 'bow?seed=9')
    """
    head, _, options = name.partition("?")
    kept = [each for each in options.split("&") if each != f"seed={seed}"]
    return f"{head}?{'&'.join(kept)}" if any(kept) else head
