"""The format jsonl: one item per line. A first line or a ``.card.json`` file can add name, list of labels and card."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import file_digest
from itertools import chain
from pathlib import Path
from typing import Any

from sentprobe.disk.files import atomic_path, write_atomically
from sentprobe.errors import SentprobeError, UsageError, suggest
from sentprobe.probes.dataset import Card, DatasetError, ProbeDataset, Split
from sentprobe.probes.formats import entries
from sentprobe.probes.formats.records import SENTENCE, Fields, build_card, find_fields, parse_entry
from sentprobe.values import BadSyntaxError, format_json, parse_json

FORMAT = "sentprobe-items 1"
_FORMAT_PREFIX = FORMAT.split(maxsplit=1)[0]
_HEADER = ("format", "name", "labels", "columns", "card")
_KEYS = ("split", "label", "sentence", "probes")


def get_card_path(path: Path) -> Path:
    """Return the path of the card of a JSONL file, such as ``Order.card.json`` for ``Order.jsonl``."""
    return path.with_name(f"{path.stem}.card.json")


def write_jsonl(data: ProbeDataset, path: Path) -> None:
    """Write the items, and the card to a second file. Sentences without an item are lost. Raises UsageError."""
    card_path = get_card_path(path)
    try:
        is_replaceable = not card_path.exists() or _is_header(parse_json(card_path.read_bytes()))
    except (BadSyntaxError, OSError):
        is_replaceable = False
    if not is_replaceable:
        raise UsageError(f"{card_path}: not a card of sentprobe, so not replaced: move it")
    entries.check_columns(data, (*_KEYS, *entries.PROBES, *SENTENCE), format_name="jsonl")
    columns = {"columns": list(data.columns)} if data.columns else {}
    header = {"format": FORMAT, "name": data.name, "labels": list(data.labels), **columns, "card": data.card.to_json()}
    with atomic_path(path) as temporary:
        lines = (format_entry(entry, split=entry.split.value) for entry in entries.iterate_entries(data))
        entries.write_lines(lines, temporary)
        replaces = path.is_file()
        transition = {_ITEMS_DIGEST: _compute_digest(temporary), _PREVIOUS_CARD: _read_card_file(path)}
        _write_card(header | transition if replaces else header, path)
    if replaces:
        _write_card(header, path)


def _write_card(header: Mapping[str, Any], path: Path) -> None:
    write_atomically(get_card_path(path), format_json(header, indent=2) + "\n")


_ITEMS_DIGEST, _PREVIOUS_CARD = "items", "before"
"""Keys of a card while its items are replaced: the digest of the new items, and the old card. With them, the dataset
stays readable if the command is killed."""


def _resolve_transition(card: Mapping[str, Any], path: Path) -> Mapping[str, Any] | None:
    """Return *card* if it describes the items at *path*. Otherwise return the old card that *card* stores, or None."""
    if _ITEMS_DIGEST not in card:
        return card
    if _compute_digest(path) == card[_ITEMS_DIGEST]:
        return {key: value for key, value in card.items() if key not in {_ITEMS_DIGEST, _PREVIOUS_CARD}}
    previous = card.get(_PREVIOUS_CARD)
    return previous if _is_header(previous) else None


def _compute_digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _is_header(value: object) -> bool:
    return isinstance(value, dict) and str(value.get("format", "")).startswith(_FORMAT_PREFIX)


def format_entry(entry: entries.Entry, **further: str) -> str:
    """Return an item as a line of JSON: *further* fields, label, sentence, probe words and columns."""
    value = {**further, "label": entry.label, "sentence": entry.sentence, "probes": entry.probes, **entry.columns}
    return format_json(value)


def read_jsonl(path: Path) -> ProbeDataset:
    """Read a dataset; the inverse of :func:`write_jsonl`. Raises DatasetError, with the line."""
    values = read_values(path)
    where, first = next(values, ("", {}))
    if not where:
        raise DatasetError(f"{path}: the file is empty")
    header = first if "format" in first else _read_card_file(path)
    if header is None:
        fields, items = read_value_entries((where, first), values)
        card = build_card(path, fields.columns)
        return entries.build_dataset(items, name=path.stem, source=str(path), card=card)
    is_inline = header is first
    labels, name, header_card = _parse_header(header, where=where if is_inline else str(get_card_path(path)))
    item_values = values if is_inline else chain([(where, first)], values)
    return entries.build_dataset(
        _iterate_entries(item_values, None, (*_KEYS, *header.get("columns", ()))),
        name=name or path.stem,
        source=str(path),
        card=header_card,
        labels=labels,
    )


def _read_card_file(path: Path) -> Mapping[str, Any] | None:
    card_path = get_card_path(path)
    if not card_path.is_file():
        return None
    value = _parse_object("\n".join(line for _, line in entries.read_lines(card_path)), str(card_path))
    return _resolve_transition(value, path) if _is_header(value) else None


LocatedValue = tuple[str, Mapping[str, Any]]
"""A place (file and line) and the JSON object that was read there."""


def read_values(path: Path, *, keys: Sequence[str] = _KEYS) -> Iterator[LocatedValue]:
    """Yield the place and JSON object of each line; raise DatasetError that names the line and the expected *keys*."""
    for number, line in entries.read_lines(path):
        where = f"{path}: line {number}"
        yield where, _parse_object(line, where, keys)


def read_value_entries(
    first: LocatedValue, values: Iterable[LocatedValue], *, split: Split | None = None
) -> tuple[Fields, Iterator[entries.Entry]]:
    """Return the field names of the first object, and an iterator over all items. Raises DatasetError."""
    fields = find_fields([*first[1]], where=first[0], split=split)
    return fields, _iterate_entries(chain([first], values), split)


def _iterate_entries(
    values: Iterable[LocatedValue], split: Split | None, allowed_keys: tuple[str, ...] = ()
) -> Iterator[entries.Entry]:
    fields_by_keys: dict[tuple[str, ...], Fields] = {}
    for where, value in values:
        keys = tuple(value)
        if keys not in fields_by_keys:
            if allowed_keys:
                _check_keys(value, allowed_keys, where)
            fields_by_keys[keys] = find_fields(keys, where=where, split=split)
        yield parse_entry(value, fields_by_keys[keys], where=where, split=split)


def _parse_object(line: str, where: str, keys: Sequence[str] = _KEYS) -> Mapping[str, Any]:
    try:
        value = parse_json(line)
    except BadSyntaxError as error:
        raise DatasetError(f"{where}: not JSON ({error})") from None
    if not isinstance(value, dict):
        raise DatasetError(f"{where}: not an object with the keys {', '.join(keys)}")
    return value


def _parse_header(header: Mapping[str, Any], *, where: str) -> tuple[list[str], str, Card | None]:
    if not header:
        return [], "", None
    if header["format"] != FORMAT:
        raise DatasetError(f"{where}: format {header['format']!r} is not {FORMAT!r}")
    _check_keys(header, _HEADER, where)
    labels, name = header.get("labels", []), header.get("name", "")
    if not entries.is_text_list(labels) or not isinstance(name, str):
        raise DatasetError(f"{where}: labels must be a list of texts, and name a text")
    if not entries.is_text_list(header.get("columns", [])):
        raise DatasetError(f"{where}: columns must be a list of texts")
    try:
        return labels, name, Card.from_json(header["card"]) if "card" in header else None
    except SentprobeError as error:
        raise DatasetError(f"{where}: {error}") from None


def _check_keys(value: Mapping[str, Any], allowed: tuple[str, ...], where: str) -> None:
    if unknown := [key for key in value if key not in allowed]:
        suggestion = suggest(unknown[0], allowed)
        raise DatasetError(f"{where}: unknown key {unknown[0]!r}{suggestion}; the keys are {', '.join(allowed)}")
