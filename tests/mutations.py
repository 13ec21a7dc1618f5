"""Damage done to a file: to its bytes, and to the values that its text or arrays hold."""

import io
import json
import re
import struct
import zipfile
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Mutation = Callable[[bytes, Random], bytes]
"""Damages a file's content."""

BYTES = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\t", b"\n\n", b'"', b"{", b"]",
    b"\\ud800", b"\\udfff", b"NaN", b"-Infinity", b"1e999", b"-1", b"null", b"\x1b[2J", b"#",
    b"\x85",
    b"9" * 5000, b"[" * 3000, b"{" * 3000, b'{"a":' * 3000, b"a." * 1500, b" " * 4000,
    "٣".encode(), "²".encode(), b" ",
)  # fmt: skip
"""What is put in somewhere; some are digits to Python and to nobody else."""

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**70), 10**30, 1.5, 1e308, float("nan"),
    float("inf"), "", "x", "\ud800", "a\0b", "../../x", "9" * 40, "٣", "²", [], {}, [[]], [None],
    [1, "x"], {"": None}, {"a": {"b": 1}}, ["x"] * 3,
)  # fmt: skip
"""What takes the place of a value of JSON."""

NUMBERS_OF_5000_DIGITS = b"7" * 5000

TOML_VALUES = (
    "1", "-1", "1.5", "inf", "nan", "true", '""', '"x"', "[]", "{}", "[[]]", "[1, 'x']", "{a = 1}",
    "1979-05-27", "07:32:00", "'''\nx'''", "0x" + "f" * 6000, "9" * 5000, "[" * 2000 + "]" * 2000,
    '"\\ud800"', "{a = " * 1500 + "1" + "}" * 1500, "10" * 15,
)  # fmt: skip


def flipped(data: bytes, rng: Random) -> bytes:
    """Change some bits."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


def cut(data: bytes, rng: Random) -> bytes:
    """Leave out the end, the beginning, or a part between."""
    first, second = sorted((rng.randrange(len(data)), rng.randrange(len(data))))
    return rng.choice((data[:first], data[second:], data[:first] + data[second:]))


def stuffed(data: bytes, rng: Random) -> bytes:
    """Put something in, perhaps in place of what was there."""
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(BYTES) + data[place + rng.choice((0, 0, 1, 4)) :]


def doubled(data: bytes, rng: Random) -> bytes:
    """Say a part twice, or elsewhere too."""
    first, second = sorted((rng.randrange(len(data)), rng.randrange(len(data))))
    place = rng.randrange(len(data))
    return data[:place] + data[first : second + 1] + data[place:]


def renumbered(data: bytes, rng: Random) -> bytes:
    """Put another number in place of one that the text has."""
    found = list(re.finditer(rb"\d+", data))
    if not found:
        return flipped(data, rng)
    chosen = rng.choice(found)
    number = rng.choice((b"0", b"-3", b"99999", b"1e400", b"9" * 25, NUMBERS_OF_5000_DIGITS, b"x"))
    return data[: chosen.start()] + number + data[chosen.end() :]


def refielded(data: bytes, rng: Random) -> bytes:
    """Put something in place of what is between two tabs, commas, spaces or ends of lines."""
    found = list(re.finditer(rb"[^\t\n, ]+", data))
    if not found:
        return flipped(data, rng)
    chosen = rng.choice(found)
    return data[: chosen.start()] + rng.choice((b"", *BYTES)) + data[chosen.end() :]


ANY: tuple[Mutation, ...] = (flipped, cut, stuffed, doubled)
TEXT: tuple[Mutation, ...] = (*ANY, renumbered, refielded)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value[:6])
        if isinstance(value, list)
        else ()
    )
    return [path, *(place for key, part in inner for place in _places(part, (*path, key)))]


def changed(value: Any, rng: Random) -> Any:
    """Put another value in one place of a value of JSON, take one out, or add a key."""
    place = rng.choice(_places(value))
    if not place:
        return rng.choice(VALUES)
    inside = value
    for key in place[:-1]:
        inside = inside[key]
    what = rng.randrange(8)
    if what == 0:
        del inside[place[-1]]
    elif what == 1 and isinstance(inside, dict):
        inside[rng.choice(("x", "", "format", "\ud800"))] = rng.choice(VALUES)
    else:
        inside[place[-1]] = rng.choice(VALUES)
    return value


def json_changed(data: bytes, rng: Random) -> bytes:
    """Change a value in a file of JSON."""
    text = json.dumps(changed(json.loads(data), rng), ensure_ascii=rng.random() < 0.5)
    return text.encode("utf-8", "surrogatepass")


def json_line_changed(data: bytes, rng: Random) -> bytes:
    """Change a value in a line of JSON."""
    lines = data.split(b"\n")
    place = rng.randrange(len(lines) - 1)
    lines[place] = json_changed(lines[place], rng)
    return b"\n".join(lines)


def json_huge(data: bytes, rng: Random) -> bytes:
    """Put a number of 5,000 digits, or 3,000 lists, in place of a number or text of JSON."""
    found = list(re.finditer(rb'(?<=: )("[^"\\]*"|\d+)', data))
    if not found:
        return stuffed(data, rng)
    chosen = rng.choice(found)
    odd = rng.choice((NUMBERS_OF_5000_DIGITS, b"[" * 3000 + b"]" * 3000, b"[" * 200_000))
    return data[: chosen.start()] + odd + data[chosen.end() :]


JSON: tuple[Mutation, ...] = (*TEXT, json_changed, json_changed, json_changed, json_huge)
LINES: tuple[Mutation, ...] = (*TEXT, json_line_changed, json_line_changed, json_huge)


def toml_changed(data: bytes, rng: Random) -> bytes:
    """Put another value behind a key of TOML, or what nests deeply as a key or a header."""
    lines = data.decode("utf-8", "replace").split("\n")
    keys = [place for place, line in enumerate(lines) if re.match(r"\s*[\w\"'-]+\s*=", line)]
    place = rng.choice(keys) if keys else 0
    key = lines[place].partition("=")[0]
    odd = rng.choice(("[" + "a." * 2500 + "a]", "a." * 2500 + "a = 1", "[" + " " * 4000, key * 2))
    lines[place] = odd if rng.random() < 0.2 else f"{key}= {rng.choice(TOML_VALUES)}"
    return "\n".join(lines).encode()


TOML: tuple[Mutation, ...] = (*TEXT, toml_changed, toml_changed, toml_changed)

HEADERS = (
    "{}", "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 4), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 4), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
    "{'descr': '<U9999999', 'fortran_order': False, 'shape': (2,), }",
    "{'descr': [('a', '<f4')], 'fortran_order': True, 'shape': (1, 1), }",
    "{'descr': '<f4', 'fortran_order': 3, 'shape': 'x', }",
    "{'descr': 'zz', 'fortran_order': False, 'shape': (), }",
    "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<M8[D]', 'fortran_order': False, 'shape': (2,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "9" * 5000 + ",), }",
    "[" * 3000, "(" * 90 + ")" * 90, "{'descr': '<f4', 'shape': (2, 3)}", "1" * 5000, "x\0y",
    "{'descr': ('<f4', (99999, 99999, 99999)), 'fortran_order': False, 'shape': (3,), }",
)  # fmt: skip
"""Heads of .npy that no program of good will writes."""


def npy_headed(data: bytes, rng: Random) -> bytes:
    """Put another head before the numbers of a file .npy."""
    head = rng.choice(HEADERS).encode()
    return (
        b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data[rng.choice((80, 128)) :]
    )


def npz_changed(data: bytes, rng: Random) -> bytes:
    """Damage an array of a file .npz, or what it is called, and pack it as it should be."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        chosen = rng.choice(names)
        for name in names:
            content = old.read(name)
            if name == chosen:
                content = rng.choice((*ANY, npy_headed, npy_headed, npy_headed))(content, rng)
                name = rng.choice((name, name, name, "x.npy", "vectors", "sentences.npy"))  # noqa: PLW2901
            new.writestr(name, content)
    return out.getvalue()


NPY: tuple[Mutation, ...] = (*ANY, npy_headed, npy_headed, npy_headed)
NPZ: tuple[Mutation, ...] = (*ANY, npz_changed, npz_changed, npz_changed, npz_changed)


def tensors_changed(data: bytes, rng: Random) -> bytes:
    """Change the head of a file of safetensors, and its length with it."""
    end = 8 + int.from_bytes(data[:8], "little")
    head = rng.choice((json_changed, json_changed, json_huge, stuffed))(data[8:end].strip(), rng)
    return len(head).to_bytes(8, "little") + head + data[end:]


TENSORS: tuple[Mutation, ...] = (*ANY, tensors_changed, tensors_changed, tensors_changed)


def _odd_column(length: int, rng: Random) -> pa.Array:
    """A column of another type, or of texts that are not UTF-8."""
    texts = [b"a\xff\xed\xa0\x80"] * length
    binary = pa.array(texts, pa.binary())
    broken = pa.Array.from_buffers(pa.string(), length, binary.buffers())
    return rng.choice(
        (
            broken, binary, pa.array(["x"] * length), pa.nulls(length), pa.array([1.5] * length),
            pa.array([-1] * length), pa.array([["x", None]] * length), pa.array([True] * length),
            pa.array([2**63 + 1] * length, pa.uint64()), pa.array([{"a": 1}] * length),
            pa.array(["9" * 5000] * length), pa.array(["[" * 3000] * length),
            pa.array([float("nan")] * length), pa.array([[1e300, 1.0]] * length),
            pa.array(["{}"] * length), pa.array([""] * length), pa.nulls(length, pa.string()),
        )
    )  # fmt: skip


def parquet_changed(data: bytes, rng: Random) -> bytes:
    """Put another column into a file of Parquet, take one out, or leave no row."""
    table = pq.read_table(io.BytesIO(data))
    place = rng.randrange(table.num_columns)
    name = table.column_names[place]
    what = rng.randrange(12)
    if what == 0:
        table = table.remove_column(place)
    elif what == 1:
        table = table.slice(0, 0)
    elif what == 2:
        table = table.append_column(name, table.column(place))
    else:
        table = table.set_column(place, name, _odd_column(len(table), rng))
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


PARQUET: tuple[Mutation, ...] = (*ANY, *[parquet_changed] * 4)


def mutated(data: bytes, mutations: Sequence[Mutation], rng: Random) -> bytes:
    """Damage content in one way or two."""
    for _ in range(rng.choice((1, 1, 1, 2))):
        try:
            data = rng.choice(mutations)(data, rng) or b"\0"
        except Exception:  # damaged so that its format's library cannot read it
            data = stuffed(data, rng)
    return data
