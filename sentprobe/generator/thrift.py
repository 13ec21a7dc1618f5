"""Thrift's compact protocol, as far as the headers and the footer of a Parquet file need it.

A struct is a mapping from the numbers of its fields, in order, to their values. An ``int`` is a
number of 32 bits, a :class:`Long` one of 64.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Struct: TypeAlias = Mapping[int, "Value"]
Value: TypeAlias = int | bytes | str | Sequence["Value"] | Struct

_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
_SHORT = 15
"""Lists of so many elements, and steps of more between fields, have a longer head."""


class Long(int):
    """A number of 64 bits."""


def varint(number: int) -> bytes:
    """Return a number, at least 0, as bytes of seven bits each, the lowest first.

    >>> varint(300).hex()
    'ac02'
    """
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def zigzag(number: int) -> bytes:
    """Return a number of any sign, those near 0 in few bytes.

    >>> [zigzag(number).hex() for number in (0, -1, 1)]
    ['00', '01', '02']
    """
    return varint(2 * number if number >= 0 else -2 * number - 1)


def struct(fields: Struct) -> bytes:
    """Return a struct.

    >>> struct({1: 3, 3: "id"}).hex()
    '15062802696400'
    """
    found, before = [], 0
    for number, value in fields.items():
        found.append(bytes([(number - before) << 4 | _kind(value)]) + _content(value))
        before = number
    return b"".join([*found, b"\0"])


def _kind(value: Value) -> int:
    if isinstance(value, int):
        return _I64 if isinstance(value, Long) else _I32
    if isinstance(value, bytes | str):
        return _BINARY
    return _STRUCT if isinstance(value, Mapping) else _LIST


def _content(value: Value) -> bytes:
    if isinstance(value, int):
        return zigzag(value)
    if isinstance(value, bytes | str):
        text = value.encode() if isinstance(value, str) else value
        return varint(len(text)) + text
    return struct(value) if isinstance(value, Mapping) else _list(value)


def _list(values: Sequence[Value]) -> bytes:
    kind = _kind(values[0]) if values else _STRUCT
    size = len(values)
    head = bytes([size << 4 | kind]) if size < _SHORT else bytes([0xF0 | kind]) + varint(size)
    return head + b"".join(map(_content, values))
