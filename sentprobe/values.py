"""Values of JSON and TOML: read from text that may be anybody's, and held to the types of a record.

All that is read as JSON or TOML is read here. What comes out is no deeper than DEEPEST, has no
number of more than DIGITS digits and no half of a surrogate pair, so that what goes on with it can
neither exhaust the stack nor fail to write it; all else is a :class:`BadSyntaxError`.
"""

import dataclasses
import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from sentprobe.errors import FormatError, SentprobeError, first_line

DEEPEST = 300
"""So many lists and objects may be inside each other."""

DIGITS = 4300
"""A number of more digits is no number of anybody's, and Python takes no such text for one."""

LARGEST = 2**63
"""A whole number of a record is below; it fits into the arrays and columns that it goes into."""

JsonPairs = list[tuple[str, Any]]


class BadSyntaxError(FormatError):
    """A text is not in its format: why, and the line and column from 1 where these are known."""

    def __init__(self, reason: str, *, line: int | None = None, column: int | None = None) -> None:
        where = f": line {line} column {column}" if line else ""
        super().__init__(f"{reason}{where}")
        self.reason = reason
        self.line = line
        self.column = column


class TooDeepError(BadSyntaxError):
    """A text has more inside each other than anybody writes."""

    def __init__(self) -> None:
        super().__init__("nested too deep")


def parse_json(text: str | bytes, *, pairs: Callable[[JsonPairs], Any] | None = None) -> Any:
    r"""Read a value of JSON; *pairs* makes the object of its keys and values.

    Raises:
        BadSyntaxError: it is none; says in one line why, and where as far as that is known.

    >>> parse_json('{"a": [1]}')
    {'a': [1]}
    >>> parse_json('{"a": }')
    Traceback (most recent call last):
    ...
    sentprobe.values.BadSyntaxError: Expecting value: line 1 column 7
    """
    if isinstance(text, bytes):
        text = _decoded(text)
    try:
        value = json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise BadSyntaxError(error.msg, line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise TooDeepError from None
    except SentprobeError:  # of *pairs*
        raise
    except ValueError as error:
        raise _refused(error) from None
    if _may_be_odd(text):
        check_value(value)
    return value


def parse_toml(text: str) -> dict[str, Any]:
    """Read the tables of a text in TOML.

    Raises:
        BadSyntaxError: it is none; says in one line why, and where as far as that is known.

    >>> parse_toml("a = 1")
    {'a': 1}
    """
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSyntaxError(first_line(error)) from None
    except RecursionError:
        raise TooDeepError from None
    except ValueError as error:
        raise _refused(error) from None
    check_value(value)
    return value


def _refused(error: ValueError) -> BadSyntaxError:
    """Return the problem for what a parser refuses without saying where: too many digits."""
    long = "int_max_str_digits" in str(error)
    return BadSyntaxError(_TOO_LONG if long else first_line(error))


_TOO_LONG = f"a number of more than {DIGITS} digits"
_HALF = "half of a surrogate pair, which is no character"


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise BadSyntaxError(f"not UTF-8 in line {line}") from None


def _may_be_odd(text: str) -> bool:
    """Say whether a value of JSON might not be as promised; of nearly all texts, it cannot."""
    deep = text.count("[") + text.count("{") > DEEPEST
    return deep or re.search(r"\\u[dD][89a-fA-F]", text) is not None


def check_value(value: object) -> None:
    """Refuse a value that is too deep, has too long a number, or a text that is no Unicode.

    Raises:
        BadSyntaxError: it is so.
    """
    level: list[object] = [value]
    for _ in range(DEEPEST + 1):
        inner: list[object] = []
        for each in level:
            if isinstance(each, dict):
                inner += [*each, *each.values()]
            elif isinstance(each, list):
                inner += each
            else:
                _check_plain(each)
        if not inner:
            return
        level = inner
    raise TooDeepError


def _check_plain(value: object) -> None:
    if isinstance(value, int) and value.bit_length() > DIGITS * math.log2(10):
        raise BadSyntaxError(_TOO_LONG)
    if isinstance(value, str) and not is_unicode(value):
        raise BadSyntaxError(_HALF)


def is_unicode(text: str) -> bool:
    r"""Say whether a text has no half of a surrogate pair, and so can be written.

    >>> is_unicode("é"), is_unicode("\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_record(record: Any, place: str = "") -> None:
    """Refuse a dataclass whose fields are not of their types, however deep; *place* is before them.

    A whole number is below LARGEST, and no number is infinite. What is Any may be anything.

    Raises:
        FormatError: a field is of another type; says which and what is wanted.
    """
    for name, kind in _kinds(type(record)).items():
        _check(kind, getattr(record, name), f"{place}.{name}" if place else name)


def _kinds(record: type) -> Mapping[str, Any]:
    if record not in _KINDS:
        hints = get_type_hints(record)
        _KINDS[record] = {each.name: hints[each.name] for each in dataclasses.fields(record)}
    return _KINDS[record]


_KINDS: dict[type, Mapping[str, Any]] = {}
"""The types of the fields of each dataclass that was looked at."""


def _check(kind: Any, value: object, place: str) -> None:
    if kind in (Any, object):
        return
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        _check_union(inner, value, place)
    elif origin is tuple:
        _check_parts(inner, value, place)
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        _check_mapping(inner, value, place)
    elif not _is_of(kind, value):
        raise FormatError(f"{place} must be {_WANTED.get(kind, f'a {kind.__name__}')}")
    elif dataclasses.is_dataclass(kind):
        check_record(value, place)


def _check_union(kinds: tuple[Any, ...], value: object, place: str) -> None:
    if value is None and NoneType in kinds:
        return
    (kind,) = (each for each in kinds if each is not NoneType)
    _check(kind, value, place)


def _check_parts(kinds: tuple[Any, ...], value: object, place: str) -> None:
    if not isinstance(value, tuple | list):
        raise FormatError(f"{place} must be a list")
    for number, part in enumerate(value):
        _check(kinds[0], part, f"{place}[{number}]")


def _check_mapping(kinds: tuple[Any, ...], value: object, place: str) -> None:
    if not isinstance(value, Mapping):
        raise FormatError(f"{place} must be an object")
    for key, part in value.items():
        _check(kinds[0], key, f"a key of {place}")
        _check(kinds[1], part, f"{place}[{key!r}]")


def _is_of(kind: type, value: object) -> bool:
    if kind is int:
        return type(value) is int and -LARGEST <= value < LARGEST
    if kind is float:
        return type(value) in (int, float) and _is_number(value)
    if kind is str or issubclass(kind, Enum):
        return isinstance(value, kind) and is_unicode(str(value))
    return isinstance(value, kind)


def _is_number(value: Any) -> bool:
    return abs(value) < LARGEST if type(value) is int else math.isfinite(value)


_WANTED: Mapping[type, str] = {
    str: "a text",
    int: "a whole number of at most 63 bits",
    float: "a number",
    bool: "true or false",
}
