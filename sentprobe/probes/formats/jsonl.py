"""JSONL: an item per line, as an object with split, label, sentence and probes.

The first line may instead be an object with format, name, labels and card; we write it always.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sentprobe.errors import SentprobeError, suggest
from sentprobe.files import atomic_path
from sentprobe.probes.dataset import Card, DatasetError, ProbeDataset, Split
from sentprobe.probes.formats.entries import (
    Entry,
    are_texts,
    assemble,
    entries_of,
    read_lines,
    write_lines,
)

FORMAT = "sentprobe-items 1"
"""The value of ``format`` in the first line."""

_HEADER = ("format", "name", "labels", "card")
_KEYS = ("split", "label", "sentence", "probes")


def write_jsonl(data: ProbeDataset, path: Path) -> None:
    """Write the dataset; sentences and probe words that no item has are left out."""
    header = {
        "format": FORMAT,
        "name": data.name,
        "labels": list(data.labels),
        "card": data.card.to_json(),
    }
    with atomic_path(path) as temporary:
        write_lines(_lines(header, data), temporary)


def _lines(header: Mapping[str, Any], data: ProbeDataset) -> Iterator[str]:
    yield json.dumps(header, ensure_ascii=False)
    for entry in entries_of(data):
        value = {
            "split": entry.split.value,
            "label": entry.label,
            "sentence": entry.sentence,
            "probes": list(entry.probes),
        }
        yield json.dumps(value, ensure_ascii=False)


def read_jsonl(path: Path) -> ProbeDataset:
    """Read a dataset; the inverse of :func:`write_jsonl`.

    Raises:
        DatasetError: a broken line (says which), or a dataset that cannot be used.
    """
    lines = ((f"{path}: line {number}", line) for number, line in read_lines(path))
    values = ((where, _value(line, where)) for where, line in lines)
    first = next(values, None)
    if first is None:
        raise DatasetError(f"{path}: the file is empty")
    header = first[1] if "format" in first[1] else {}
    labels, name, card = _header(header, where=first[0])

    def entries() -> Iterator[Entry]:
        if not header:
            yield _entry(first[1], first[0])
        for where, value in values:
            yield _entry(value, where)

    return assemble(entries(), name=name or path.stem, source=str(path), card=card, labels=labels)


def _value(line: str, where: str) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
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
    if not are_texts(labels) or not isinstance(name, str):
        raise DatasetError(f"{where}: labels must be a list of texts, and name a text")
    try:
        return labels, name, Card.from_json(header["card"]) if "card" in header else None
    except SentprobeError as error:
        raise DatasetError(f"{where}: {error}") from None


def _entry(value: Mapping[str, Any], where: str) -> Entry:
    _check_keys(value, _KEYS, where)
    for key in _KEYS[:3]:
        if not isinstance(value.get(key), str):
            what = "must be a text" if key in value else "is missing"
            raise DatasetError(f"{where}: {key!r} {what}")
    splits = [split.value for split in Split]
    if value["split"] not in splits:
        near = suggest(value["split"], splits)
        raise DatasetError(
            f"{where}: unknown split {value['split']!r}{near}; the splits are {', '.join(splits)}"
        )
    probes = value.get("probes", [])
    if not are_texts(probes):
        raise DatasetError(f"{where}: 'probes' must be a list of texts")
    return Entry(
        split=Split(value["split"]),
        label=value["label"],
        sentence=value["sentence"],
        probes=tuple(probes),
        where=where,
    )


def _check_keys(value: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in value:
        if key not in known:
            raise DatasetError(
                f"{where}: unknown key {key!r}{suggest(key, known)}; the keys are "
                + ", ".join(known)
            )
