"""JSONL: an item per line, as an object with split, label, sentence and probes.

Name, labels and card are in a file beside it, so that every line is an item to any reader of JSONL.
They may also be the first line, where earlier versions wrote them. Without either, the fields may
be called as other people call them: :mod:`.records`.
"""

import json
from collections.abc import Iterator, Mapping
from hashlib import file_digest
from itertools import chain
from pathlib import Path
from typing import Any

from sentprobe.errors import SentprobeError, UsageError, suggest
from sentprobe.files import atomic_path, write_atomically
from sentprobe.probes.dataset import Card, DatasetError, ProbeDataset, Split
from sentprobe.probes.formats import entries
from sentprobe.probes.formats.records import (
    PROBES,
    SENTENCE,
    Fields,
    card_of,
    entry_of,
    find_fields,
)
from sentprobe.values import BadSyntaxError, parse_json

FORMAT = "sentprobe-items 1"
"""The value of ``format`` in the card, or in the first line."""

_OURS = FORMAT.split(maxsplit=1)[0]
"""What it begins with in any version; another value is not of ours."""

_HEADER = ("format", "name", "labels", "columns", "card")
_KEYS = ("split", "label", "sentence", "probes")


def card_place(path: Path) -> Path:
    """Return where the card of a file is.

    >>> card_place(Path("sets/Order.jsonl")).name
    'Order.card.json'
    """
    return path.with_name(f"{path.stem}.card.json")


def write_jsonl(data: ProbeDataset, path: Path) -> None:
    """Write items and card; sentences and probe words that no item has are left out.

    Raises:
        UsageError: a file of another kind is where the card would be.
    """
    _check_place(card_place(path))
    entries.check_columns(data, (*_KEYS, *PROBES, *SENTENCE), format_name="jsonl")
    columns = {"columns": list(data.columns)} if data.columns else {}
    header = {
        "format": FORMAT,
        "name": data.name,
        "labels": list(data.labels),
        **columns,
        "card": data.card.to_json(),
    }
    with atomic_path(path) as temporary:
        entries.write_lines(_lines(data), temporary)
        replaces = path.is_file()
        _write_card(_until_replaced(header, temporary, path) if replaces else header, path)
    if replaces:
        _write_card(header, path)


def _write_card(header: Mapping[str, Any], path: Path) -> None:
    write_atomically(card_place(path), json.dumps(header, ensure_ascii=False, indent=2) + "\n")


_ITEMS, _BEFORE = "items", "before"
"""The keys of a card that is of two files, the old and the new, while one replaces the other."""


def _until_replaced(header: Mapping[str, Any], new: Path, path: Path) -> dict[str, Any]:
    """Return a card that fits the items that are there and those that are to replace them."""
    return {**header, _ITEMS: _digest(new), _BEFORE: _card_beside(path)}


def _of_items(card: Mapping[str, Any], path: Path) -> Mapping[str, Any] | None:
    """Return what a card says of the items that are there, should it be of two files."""
    if _ITEMS not in card:
        return card
    if _digest(path) == card[_ITEMS]:
        return {key: value for key, value in card.items() if key not in {_ITEMS, _BEFORE}}
    before = card.get(_BEFORE)
    return before if _is_header(before) else None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _check_place(place: Path) -> None:
    """Refuse to replace what is no card of ours, which another program or a user wrote."""
    try:
        ours = not place.exists() or _is_header(parse_json(place.read_bytes()))
    except (BadSyntaxError, OSError):
        ours = False
    if not ours:
        raise UsageError(f"{place}: is no card of sentprobe's, and is not replaced; move it away")


def _is_header(value: object) -> bool:
    """Say whether an object is a card of ours, of any version, and not what another calls so."""
    return isinstance(value, dict) and str(value.get("format", "")).startswith(_OURS)


def _lines(data: ProbeDataset) -> Iterator[str]:
    for entry in entries.entries_of(data):
        value = {
            "split": entry.split.value,
            "label": entry.label,
            "sentence": entry.sentence,
            "probes": list(entry.probes),
            **entry.columns,
        }
        yield json.dumps(value, ensure_ascii=False)


def read_jsonl(path: Path) -> ProbeDataset:
    """Read a dataset; the inverse of :func:`write_jsonl`.

    Raises:
        DatasetError: a broken line (says which), or a dataset that cannot be used.
    """
    values = read_values(path)
    where, first = next(values, ("", {}))
    if not where:
        raise DatasetError(f"{path}: the file is empty")
    header = first if "format" in first else _card_beside(path)
    if header is None:
        fields, read = value_entries(chain([(where, first)], values))
        card = card_of(path, fields.others)
        return entries.assemble(read, name=path.stem, source=str(path), card=card)
    inside = header is first
    labels, name, card_found = _header(header, where=where if inside else str(card_place(path)))
    items = values if inside else chain([(where, first)], values)
    return entries.assemble(
        _entries(_checked(items, (*_KEYS, *header.get("columns", ()))), None),
        name=name or path.stem,
        source=str(path),
        card=card_found,
        labels=labels,
    )


def _card_beside(path: Path) -> Mapping[str, Any] | None:
    """Return what the card beside a file says; None: there is none, or another's."""
    place = card_place(path)
    if not place.is_file():
        return None
    value = _value("\n".join(line for _, line in entries.read_lines(place)), str(place))
    return _of_items(value, path) if _is_header(value) else None


Values = Iterator[tuple[str, Mapping[str, Any]]]
"""Objects of JSON, each after the place that it was read from."""


def read_values(path: Path) -> Values:
    """Yield the object of each line.

    Raises:
        DatasetError: a line is none; says which.
    """
    for number, line in entries.read_lines(path):
        where = f"{path}: line {number}"
        yield where, _value(line, where)


def value_entries(
    values: Values, *, split: Split | None = None
) -> tuple[Fields, Iterator[entries.Entry]]:
    """Return what the fields of the first object are, and the items of all as they are read.

    Raises:
        DatasetError: an object lacks a field, or has one of another type; says where.
    """
    where, first = next(values)
    fields = find_fields([*first], where=where, split=split)
    return fields, _entries(chain([(where, first)], values), split)


def _entries(values: Values, split: Split | None) -> Iterator[entries.Entry]:
    known: dict[tuple[str, ...], Fields] = {}
    for where, value in values:
        keys = tuple(value)
        if keys not in known:
            known[keys] = find_fields(keys, where=where, split=split)
        yield entry_of(value, known[keys], where=where, split=split)


def _value(line: str, where: str) -> Mapping[str, Any]:
    try:
        value = parse_json(line)
    except BadSyntaxError as error:
        raise DatasetError(f"{where}: not JSON ({error})") from None
    if not isinstance(value, dict):
        raise DatasetError(f"{where}: not an object with the keys {', '.join(_KEYS)}")
    return value


def _header(header: Mapping[str, Any], *, where: str) -> tuple[list[str], str, Card | None]:
    if not header:
        return [], "", None
    if header["format"] != FORMAT:
        raise DatasetError(f"{where}: format {header['format']!r} is not {FORMAT!r}")
    _check_keys(header, _HEADER, where)
    labels, name = header.get("labels", []), header.get("name", "")
    if not entries.are_texts(labels) or not isinstance(name, str):
        raise DatasetError(f"{where}: labels must be a list of texts, and name a text")
    if not entries.are_texts(header.get("columns", [])):
        raise DatasetError(f"{where}: columns must be a list of texts")
    try:
        return labels, name, Card.from_json(header["card"]) if "card" in header else None
    except SentprobeError as error:
        raise DatasetError(f"{where}: {error}") from None


def _checked(values: Values, keys: tuple[str, ...]) -> Values:
    """Yield what lines of ours hold: they have no other keys."""
    for where, value in values:
        _check_keys(value, keys, where)
        yield where, value


def _check_keys(value: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in value:
        if key not in known:
            raise DatasetError(
                f"{where}: unknown key {key!r}{suggest(key, known)}; the keys are "
                + ", ".join(known)
            )
