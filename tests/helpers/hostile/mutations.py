"""Damage to a file: to its bytes, and to the values in its text or arrays."""

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

ODD_BYTES = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\t", b"\n\n", b'"', b"{", b"]",
    b"\\ud800", b"\\udfff", b"NaN", b"-Infinity", b"1e999", b"-1", b"null", b"\x1b[2J", b"#",
    b"\x85",
    b"9" * 5000, b"[" * 3000, b"{" * 3000, b'{"a":' * 3000, b"a." * 1500, b" " * 4000,
    "٣".encode(), "²".encode(), b" ",
)  # fmt: skip
"""Inserted bytes; some are digits only to Python."""

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**70), 10**30, 1.5, 1e308, float("nan"),
    float("inf"), "", "x", "\ud800", "a\0b", "../../x", "9" * 40, "٣", "²", [], {}, [[]], [None],
    [1, "x"], {"": None}, {"a": {"b": 1}}, ["x"] * 3,
)  # fmt: skip
"""Replacements for a JSON value."""

NUMBERS_OF_5000_DIGITS = b"7" * 5000

ODD_TOML_VALUES = (
    "1", "-1", "1.5", "inf", "nan", "true", '""', '"x"', "[]", "{}", "[[]]", "[1, 'x']", "{a = 1}",
    "1979-05-27", "07:32:00", "'''\nx'''", "0x" + "f" * 6000, "9" * 5000, "[" * 2000 + "]" * 2000,
    '"\\ud800"', "{a = " * 1500 + "1" + "}" * 1500, "10" * 15,
)  # fmt: skip


def flip_bits(data: bytes, rng: Random) -> bytes:
    """Change some bits."""
    damaged = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def cut_part(data: bytes, rng: Random) -> bytes:
    """Remove the end, the beginning, or a part between."""
    first, second = sorted((rng.randrange(len(data)), rng.randrange(len(data))))
    return rng.choice((data[:first], data[second:], data[:first] + data[second:]))


def insert_bytes(data: bytes, rng: Random) -> bytes:
    """Insert bytes, or replace some."""
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(ODD_BYTES) + data[place + rng.choice((0, 0, 1, 4)) :]


def repeat_part(data: bytes, rng: Random) -> bytes:
    """Repeat a part in place or elsewhere."""
    first, second = sorted((rng.randrange(len(data)), rng.randrange(len(data))))
    place = rng.randrange(len(data))
    return data[:place] + data[first : second + 1] + data[place:]


def replace_number(data: bytes, rng: Random) -> bytes:
    """Replace a number in the text."""
    matches = list(re.finditer(rb"\d+", data))
    if not matches:
        return flip_bits(data, rng)
    chosen = rng.choice(matches)
    number = rng.choice((b"0", b"-3", b"99999", b"1e400", b"9" * 25, NUMBERS_OF_5000_DIGITS, b"x"))
    return data[: chosen.start()] + number + data[chosen.end() :]


def replace_field(data: bytes, rng: Random) -> bytes:
    """Replace a field between tabs, commas, spaces or line ends."""
    matches = list(re.finditer(rb"[^\t\n, ]+", data))
    if not matches:
        return flip_bits(data, rng)
    chosen = rng.choice(matches)
    return data[: chosen.start()] + rng.choice((b"", *ODD_BYTES)) + data[chosen.end() :]


ANY: tuple[Mutation, ...] = (flip_bits, cut_part, insert_bytes, repeat_part)
TEXT: tuple[Mutation, ...] = (*ANY, replace_number, replace_field)


def _list_paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value[:6]) if isinstance(value, list) else ()
    return [path, *(place for key, part in inner for place in _list_paths(part, (*path, key)))]


def change_value(value: Any, rng: Random) -> Any:
    """Replace or remove a part of a JSON value, or add a key."""
    place = rng.choice(_list_paths(value))
    if not place:
        return rng.choice(ODD_VALUES)
    inside = value
    for key in place[:-1]:
        inside = inside[key]
    choice = rng.randrange(8)
    if choice == 0:
        del inside[place[-1]]
    elif choice == 1 and isinstance(inside, dict):
        inside[rng.choice(("x", "", "format", "\ud800"))] = rng.choice(ODD_VALUES)
    else:
        inside[place[-1]] = rng.choice(ODD_VALUES)
    return value


def change_json(data: bytes, rng: Random) -> bytes:
    """Change a value in a file of JSON."""
    text = json.dumps(change_value(json.loads(data), rng), ensure_ascii=rng.random() < 0.5)
    return text.encode("utf-8", "surrogatepass")


def change_json_line(data: bytes, rng: Random) -> bytes:
    """Change a value in a line of JSON."""
    lines = data.split(b"\n")
    place = rng.randrange(len(lines) - 1)
    lines[place] = change_json(lines[place], rng)
    return b"\n".join(lines)


def insert_huge_json(data: bytes, rng: Random) -> bytes:
    """Replace a number or string in JSON by a number of 5,000 digits or 3,000 nested lists."""
    matches = list(re.finditer(rb'(?<=: )("[^"\\]*"|\d+)', data))
    if not matches:
        return insert_bytes(data, rng)
    chosen = rng.choice(matches)
    odd = rng.choice((NUMBERS_OF_5000_DIGITS, b"[" * 3000 + b"]" * 3000, b"[" * 200_000))
    return data[: chosen.start()] + odd + data[chosen.end() :]


JSON: tuple[Mutation, ...] = (*TEXT, change_json, change_json, change_json, insert_huge_json)
LINES: tuple[Mutation, ...] = (*TEXT, change_json_line, change_json_line, insert_huge_json)


def change_toml(data: bytes, rng: Random) -> bytes:
    """Replace a TOML value, or insert a deeply nested key or header."""
    lines = data.decode("utf-8", "replace").split("\n")
    keys = [place for place, line in enumerate(lines) if re.match(r"\s*[\w\"'-]+\s*=", line)]
    place = rng.choice(keys) if keys else 0
    key = lines[place].partition("=")[0]
    odd = rng.choice(("[" + "a." * 2500 + "a]", "a." * 2500 + "a = 1", "[" + " " * 4000, key * 2))
    lines[place] = odd if rng.random() < 0.2 else f"{key}= {rng.choice(ODD_TOML_VALUES)}"
    return "\n".join(lines).encode()


TOML: tuple[Mutation, ...] = (*TEXT, change_toml, change_toml, change_toml)

ODD_HEADERS = (
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
"""Invalid and hostile headers of .npy files."""


def replace_npy_header(data: bytes, rng: Random) -> bytes:
    """Replace the header of a .npy file."""
    head = rng.choice(ODD_HEADERS).encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data[rng.choice((80, 128)) :]


def change_npz(data: bytes, rng: Random) -> bytes:
    """Damage an array of a .npz file, or its name, and repack it correctly."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        chosen = rng.choice(names)
        for name in names:
            content = old.read(name)
            if name == chosen:
                content = rng.choice((*ANY, replace_npy_header, replace_npy_header, replace_npy_header))(content, rng)
                name = rng.choice((name, name, name, "x.npy", "vectors", "sentences.npy"))  # noqa: PLW2901
            new.writestr(name, content)
    return out.getvalue()


NPY: tuple[Mutation, ...] = (*ANY, replace_npy_header, replace_npy_header, replace_npy_header)
NPZ: tuple[Mutation, ...] = (*ANY, change_npz, change_npz, change_npz, change_npz)


def change_tensors(data: bytes, rng: Random) -> bytes:
    """Change the header of a safetensors file, and its length."""
    end = 8 + int.from_bytes(data[:8], "little")
    head = rng.choice((change_json, change_json, insert_huge_json, insert_bytes))(data[8:end].strip(), rng)
    return len(head).to_bytes(8, "little") + head + data[end:]


TENSORS: tuple[Mutation, ...] = (*ANY, change_tensors, change_tensors, change_tensors)


def _make_odd_column(length: int, rng: Random) -> pa.Array:
    """Return a column of another type, or of texts that are not UTF-8."""
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


def change_parquet(data: bytes, rng: Random) -> bytes:
    """Replace, remove or repeat a column of a Parquet file, or drop its rows."""
    table = pq.read_table(io.BytesIO(data))
    place = rng.randrange(table.num_columns)
    name = table.column_names[place]
    choice = rng.randrange(12)
    if choice == 0:
        table = table.remove_column(place)
    elif choice == 1:
        table = table.slice(0, 0)
    elif choice == 2:
        table = table.append_column(name, table.column(place))
    else:
        table = table.set_column(place, name, _make_odd_column(len(table), rng))
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


PARQUET: tuple[Mutation, ...] = (*ANY, *[change_parquet] * 4)


def mutate(data: bytes, mutations: Sequence[Mutation], rng: Random) -> bytes:
    """Damage content once or twice."""
    for _ in range(rng.choice((1, 1, 1, 2))):
        try:
            data = rng.choice(mutations)(data, rng) or b"\0"
        except Exception:  # damaged so that its format's library cannot read it
            data = insert_bytes(data, rng)
    return data
