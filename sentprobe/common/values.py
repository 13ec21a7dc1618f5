"""Safe parsing of JSON and TOML, and checks of the types in a dataclass.

All JSON and TOML is parsed here. BadSyntaxError is raised for an object with a key twice, for values that may exhaust
the stack (nested deeper than MAX_DEPTH), and for those that cannot be written again (a number of more than MAX_DIGITS
digits, a lone surrogate).
"""

import dataclasses
import hashlib
import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from sentprobe.common.errors import DANGEROUS_CHARACTERS, FormatError, first_line

MAX_DEPTH = 300

MAX_DIGITS = 4300
"""Maximum number of digits of a whole number: the limit of Python."""

MAX_INTEGER = 2**63
"""Whole numbers in a dataclass must be below this value, to fit arrays and columns of 64 bits."""

Element = TypeVar("Element")
Key = TypeVar("Key")


def group_by(elements: Iterable[Element], key: Callable[[Element], Key]) -> dict[Key, list[Element]]:
    """Group elements by their key; keys and elements remain in the order in which they first occur."""
    groups: dict[Key, list[Element]] = {}
    for element in elements:
        groups.setdefault(key(element), []).append(element)
    return groups


class BadSyntaxError(FormatError):
    """A text is not valid JSON or TOML: ``reason`` and, if known, ``line`` and ``column`` (from 1)."""

    def __init__(self, reason: str, *, line: int | None = None, column: int | None = None) -> None:
        super().__init__(f"{reason}: line {line} column {column}" if line else reason)
        self.reason, self.line, self.column = reason, line, column


class TooDeepError(BadSyntaxError):
    """A text is nested deeper than MAX_DEPTH."""

    def __init__(self) -> None:
        super().__init__("nested too deep")


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of (key, value) pairs; raise BadSyntaxError if a key occurs twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        ((doubled, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise BadSyntaxError(f"the key {doubled!r} is stated twice in one object")
    return members


_DECODER = json.JSONDecoder(object_pairs_hook=_build_object)


def parse_json(text: str | bytes) -> Any:
    """Parse JSON; raise BadSyntaxError if it is malformed or an object has a key twice.

    >>> parse_json('{"a": [1]}')
    {'a': [1]}
    >>> parse_json('{"a": }')
    Traceback (most recent call last):
    ...
    sentprobe.common.values.BadSyntaxError: Expecting value: line 1 column 7
    """
    text = _decode(text) if isinstance(text, bytes) else text
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise BadSyntaxError(error.msg, line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise TooDeepError from None
    except BadSyntaxError:  # raised by _build_object
        raise
    except ValueError as error:
        raise _refused_error(error) from None
    # Only texts nested too deep or with half of a surrogate pair need the slow check of each value.
    deep = text.count("[") + text.count("{") > MAX_DEPTH
    if deep or re.search(r"\\u[dD][89a-fA-F]", text) is not None:
        check_value(value)
    return value


def parse_json_object(text: str | bytes) -> dict[str, Any]:
    """Parse JSON that must be an object; raise FormatError for other values, BadSyntaxError for malformed text."""
    value = parse_json(text)
    if not isinstance(value, dict):
        names = {list: "a list", str: "a text", bool: "true or false", NoneType: "null"}
        raise FormatError(f"a JSON object is expected, not {names.get(type(value), 'a number')}")
    return value


_DANGEROUS = re.compile(f"[{DANGEROUS_CHARACTERS}]")


def format_json(value: object, **options: Any) -> str:
    """Return JSON in Unicode, the inverse of :func:`parse_json`; control characters in texts are escaped."""
    text = json.dumps(value, ensure_ascii=False, **options)
    return _DANGEROUS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def digest_value(value: Mapping[str, Any]) -> str:
    """Return the digest of a JSON object, which shows that its file was edited (not by whom, or how well)."""
    # Two runs of the same command differ in their seconds alone.
    digested = {key: entry for key, entry in value.items() if key != "seconds"}
    return hashlib.sha256(json.dumps(digested, sort_keys=True, default=dict).encode()).hexdigest()


def pop_digest(value: dict[str, Any]) -> bool:
    """Remove the digest from a JSON object, as it was read; return whether it is missing or not that of the object."""
    return bool(value.pop("digest", None) != digest_value(value))


EDITED = "its digest is missing or wrong: it was edited, or another version wrote it"
"""Why a file with a wrong digest is refused."""


MAX_TOML = 1 << 20
"""Maximum number of characters of a TOML file. The library takes seconds for an array of this size."""
MAX_KEY_PARTS = 16
"""Maximum number of parts of a dotted TOML key. The library needs time and memory by the square of this number."""
_STRING_OR_COMMENT = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)|"(?:\\.|[^"\\\n])*"?|\'[^\'\n]*\'?|#[^\n]*', re.DOTALL
)


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raise BadSyntaxError if it is malformed, too long, or has a key of too many parts.

    >>> parse_toml("a = 1")
    {'a': 1}
    """
    if len(text) > MAX_TOML:
        raise BadSyntaxError(f"longer than {MAX_TOML:,} characters")
    bare = _STRING_OR_COMMENT.sub(lambda match: "_" + "\n" * match[0].count("\n"), text)
    for number, line in enumerate(bare.split("\n"), 1):
        if line.count(".") >= MAX_KEY_PARTS and any(
            part.count(".") >= MAX_KEY_PARTS for part in re.split(r"[=,{}\[\]]", line)
        ):
            raise BadSyntaxError(f"a key of more than {MAX_KEY_PARTS} parts", line=number, column=1)
    try:
        value = tomllib.loads(text)
    except RecursionError:
        raise TooDeepError from None
    except ValueError as error:
        raise _refused_error(error) from None
    check_value(value)
    return value


def _refused_error(error: ValueError) -> BadSyntaxError:
    """Return the exception for an error without a position, such as a number with too many digits."""
    return BadSyntaxError(_TOO_LONG if str(error).startswith("Exceeds the limit") else first_line(error))


_TOO_LONG = f"a number of more than {MAX_DIGITS} digits"


def _decode(text: bytes) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise BadSyntaxError(f"not UTF-8 in line {line}") from None


def check_value(value: object) -> None:
    """Raise BadSyntaxError if a value is nested too deep, or contains too long a number or a lone surrogate."""
    # Level by level: recursion would fail at the very depth that is to be refused.
    level: list[object] = [value]
    for _ in range(MAX_DEPTH + 1):
        inner: list[object] = []
        for member in level:
            if isinstance(member, dict):
                inner += [*member, *member.values()]
            elif isinstance(member, list):
                inner += member
            elif isinstance(member, int) and member.bit_length() > MAX_DIGITS * math.log2(10):
                raise BadSyntaxError(_TOO_LONG)
            elif isinstance(member, str) and not is_unicode(member):
                raise BadSyntaxError("half of a surrogate pair, which is not a character")
        if not inner:
            return
        level = inner
    raise TooDeepError


def is_unicode(text: str) -> bool:
    r"""Return whether a text can be written as UTF-8; a text with a surrogate cannot.

    >>> is_unicode("é"), is_unicode("\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_record(record: Any, place: str = "") -> None:
    """Raise FormatError if a field of a dataclass, at any depth, does not have its declared type.

    Whole numbers must be below MAX_INTEGER, and numbers must be finite. A field of type Any is not checked. In
    messages, *place* precedes the field name: ``card.seed``.
    """
    for name, kind in _find_field_types(record.__class__).items():
        _check_type(kind, getattr(record, name), f"{place}.{name}" if place else name)


@cache
def _find_field_types(record: type) -> Mapping[str, Any]:
    hints = get_type_hints(record)
    return {field.name: hints[field.name] for field in dataclasses.fields(record)}


def _check_type(kind: Any, value: object, place: str) -> None:
    if kind in (Any, object) or (kind in _TYPE_NAMES and _has_type(kind, value)):  # a quick test for most values
        return
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if value is not None or NoneType not in inner:
            (required_kind,) = set(inner) - {NoneType}
            _check_type(required_kind, value, place)
    elif origin is tuple:
        _check_elements(inner[0], value, place)
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise FormatError(f"{place} must be an object")
        for key, member in value.items():
            _check_type(inner[0], key, f"a key of {place}")
            _check_type(inner[1], member, f"{place}[{key!r}]")
    elif not _has_type(kind, value):
        raise FormatError(f"{place} must be {_TYPE_NAMES.get(kind, f'a {kind.__name__}')}")
    elif dataclasses.is_dataclass(kind):
        check_record(value, place)


def _check_elements(kind: Any, value: object, place: str) -> None:
    if not isinstance(value, tuple | list):
        raise FormatError(f"{place} must be a list")
    if kind in (int, float) and _are_plain_numbers(kind, value):
        return
    for index, element in enumerate(value):
        _check_type(kind, element, f"{place}[{index}]")


def _are_plain_numbers(kind: type[int] | type[float], values: Sequence[Any]) -> bool:
    """Return whether all values have the type *kind*, and are ints of at most 63 bits or finite floats."""
    if {*map(type, values)} - {kind}:
        return False
    # Minimum and maximum can miss a NaN, which the sum shows.
    return not values or (_has_type(kind, min(values)) and _has_type(kind, max(values)) and not math.isnan(sum(values)))


def _has_type(kind: type, value: object) -> bool:
    if kind is int:
        return type(value) is int and -MAX_INTEGER <= value < MAX_INTEGER
    if kind is float:
        return abs(value) < MAX_INTEGER if type(value) is int else type(value) is float and math.isfinite(value)
    if kind is str or issubclass(kind, Enum):
        return isinstance(value, kind) and is_unicode(str(value))
    return isinstance(value, kind)


_TYPE_NAMES: Mapping[type, str] = {
    str: "a text",
    int: "a whole number of at most 63 bits",
    float: "a number",
    bool: "true or false",
}
