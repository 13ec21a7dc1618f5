"""Items of other people: records with a sentence or text, a label and a split.

A record is an object of JSONL, or a row of a table whose first line names the columns. Two names
of one thing are in SENTENCE; case does not count. Other fields are columns of the items, and a note
of the card names them; but one whose name is nearly that of a field that is missing is taken as a
mistake.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from sentprobe.errors import FormatError, counted, path_error, suggest
from sentprobe.files import atomic_path, decode_lines
from sentprobe.probes.dataset import Card, DatasetError, ProbeDataset, Split
from sentprobe.probes.formats import entries

SENTENCE = ("sentence", "text")
"""What the field of the sentence is called."""

PROBE_LIST = "probes"
"""The field of the probe words, a list of texts (JSONL)."""

PROBES = ("probe1", "probe2")
"""The fields of the probe words, one each."""

SPLITS: Mapping[str, Split] = {
    "train": Split.TRAIN,
    "validation": Split.VALIDATION,
    "test": Split.TEST,
    "training": Split.TRAIN,
    "valid": Split.VALIDATION,
    "val": Split.VALIDATION,
    "dev": Split.VALIDATION,
    "tr": Split.TRAIN,
    "va": Split.VALIDATION,
    "te": Split.TEST,
}
"""The splits by what people call them; case does not count."""

TABLES: Mapping[str, str] = {".csv": ",", ".tsv": "\t"}
"""The suffixes of tables, and what is between their fields, unless the first line has another."""


@dataclass(frozen=True, slots=True)
class Fields:
    """What the fields of records are called; an empty name: there is none."""

    sentence: str
    label: str
    split: str
    probes: tuple[str, ...]
    others: tuple[str, ...]
    """Those that are no part of the question: columns of the items."""


def find_fields(names: Sequence[str], *, where: str, split: Split | None = None) -> Fields:
    """Return which field is what; no split is wanted where *split* is known.

    Raises:
        DatasetError: one is missing, or there twice.
    """
    found: dict[str, str] = {}
    for name in names:
        plain = name.strip().casefold()
        thing = SENTENCE[0] if plain in SENTENCE else plain
        if thing in found and thing in _KNOWN:
            raise DatasetError(f"{where}: both {found[thing]!r} and {name!r}; one is wanted")
        found.setdefault(thing, name)
    others = tuple(name for thing, name in found.items() if thing and thing not in _KNOWN)
    wanted = [thing for thing in _NEEDED if not (split and thing == "split")]
    _check_others(others, [thing for thing in wanted if thing not in found], where=where)
    for thing in wanted:
        if thing not in found:
            raise DatasetError(f"{where}: {_missing(thing, names)}")
    probes = tuple(found[name] for name in (PROBE_LIST, *PROBES) if name in found)
    return Fields(found["sentence"], found["label"], found.get("split", ""), probes, others)


_NEEDED = ("split", "label", SENTENCE[0])
_KNOWN = (*_NEEDED, PROBE_LIST, *PROBES)


def _check_others(others: Sequence[str], missing: Sequence[str], *, where: str) -> None:
    """Refuse a name that is nearly that of a missing field, or of one of probe words."""
    for name in others:
        plain = name.strip().casefold()
        near = suggest(plain, missing)
        if plain.startswith("probe"):
            near = near or suggest(plain, (PROBE_LIST, *PROBES))
        if near:
            keys = ", ".join((*_NEEDED, PROBE_LIST))
            raise DatasetError(f"{where}: unknown key {name!r}{near}; the keys are {keys}")


def _missing(thing: str, names: Sequence[str]) -> str:
    if thing == "split":
        return (
            "'split' is missing: give each item its split (train, validation or test), "
            "or put the splits into files of one folder, such as train.csv and test.csv"
        )
    alias = " (it may be called 'text')" if thing == SENTENCE[0] else ""
    there = ", ".join(map(repr, names)) or "nothing"
    return f"{thing!r} is missing{alias}; there is {there}"


def entry_of(
    record: Mapping[str, Any], fields: Fields, *, where: str, split: Split | None = None
) -> entries.Entry:
    """Return the item of a record; a label may be a whole number, or true or false.

    Raises:
        DatasetError: a value is of another type, or no split.
    """
    sentence = record[fields.sentence]
    if not isinstance(sentence, str):
        raise DatasetError(f"{where}: {fields.sentence!r} must be a text")
    label = record[fields.label]
    if isinstance(label, int):
        label = json.dumps(label)
    if not isinstance(label, str):
        raise DatasetError(f"{where}: {fields.label!r} must be a text or a whole number")
    return entries.Entry(
        split=split or split_of(record[fields.split], where=where),
        label=label,
        sentence=sentence,
        probes=_probes(record, fields, where=where),
        columns={name: _as_text(record[name]) for name in fields.others},
        where=where,
    )


def _as_text(value: object) -> str:
    """Return a value of a column as text: JSON, where it is not text or nothing."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def split_of(value: object, *, where: str) -> Split:
    """Return the split that a value names.

    Raises:
        DatasetError: none.
    """
    if not isinstance(value, str):
        raise DatasetError(f"{where}: 'split' must be a text")
    found = SPLITS.get(value.strip().casefold())
    if found is None:
        known = [split.value for split in Split]
        raise DatasetError(
            f"{where}: unknown split {value!r}{suggest(value, known)}; the splits are "
            + ", ".join(known)
        )
    return found


def _probes(record: Mapping[str, Any], fields: Fields, *, where: str) -> tuple[str, ...]:
    if fields.probes[:1] == (PROBE_LIST,):
        probes = record[PROBE_LIST]
        if not entries.are_texts(probes):
            raise DatasetError(f"{where}: 'probes' must be a list of texts")
        return tuple(probes)
    probes = [record[name] for name in fields.probes]
    if not entries.are_texts(probes):
        raise DatasetError(f"{where}: {fields.probes[0]!r} must be a text")
    return tuple(probes)


def read_table(path: Path) -> ProbeDataset:
    """Read a dataset from a table whose first line names the columns, as CSV.

    Raises:
        DatasetError: a broken line (says which), or a dataset that cannot be used.
    """
    fields, read = table_entries(path)
    return entries.assemble(
        read, name=path.stem, source=str(path), card=card_of(path, fields.others)
    )


def write_table(data: ProbeDataset, path: Path) -> None:
    """Write the dataset as CSV; its name and card, and the order of its labels, are not kept.

    Raises:
        UsageError: a label or probe word that would not be given back.
    """
    entries.check_writable(data, format_name="csv")
    entries.check_case(data, format_name="csv")
    entries.check_columns(data, (*_KNOWN, *SENTENCE), format_name="csv")
    between = TABLES.get(path.suffix, ",")
    with atomic_path(path) as temporary:
        entries.write_lines(_table_lines(data, between), temporary)


def _table_lines(data: ProbeDataset, between: str) -> Iterator[str]:
    """Yield the lines of a table: what has a comma or a quotation mark is in quotation marks."""
    yield _row((*_NEEDED, *PROBES[: data.slots], *data.columns), between)
    for entry in entries.entries_of(data):
        known = (entry.split.value, entry.label, entry.sentence, *entry.probes)
        yield _row((*known, *entry.columns.values()), between)


def _row(fields: Sequence[str], between: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=between, lineterminator="").writerow(fields)
    return text.getvalue()


def card_of(path: Path, others: Iterable[str]) -> Card:
    """Return the card of what others made; its note names the fields that are columns."""
    named = ", ".join(map(repr, dict.fromkeys(others)))
    told = f"Other fields of {path.name}, by which probe show --by tells: {named}."
    notes = (told,) if named else ()
    return Card(path.stem, source=str(path), notes=notes)


def table_entries(
    path: Path, *, split: Split | None = None
) -> tuple[Fields, Iterator[entries.Entry]]:
    """Return what the columns of a table are, and its items as they are read.

    Raises:
        DatasetError: the table is empty, or its columns are wrong.
    """
    rows = table_rows(path)
    where, names = next(rows, ("", []))
    if not where:
        raise DatasetError(f"{path}: the file is empty")
    fields = find_fields(names, where=where, split=split)
    first = next(rows, None)
    if first is None:
        raise DatasetError(f"{path}: there are no items")
    return fields, _table_entries(chain([first], rows), names, fields, split)


def _table_entries(
    rows: Iterator[tuple[str, list[str]]], names: list[str], fields: Fields, split: Split | None
) -> Iterator[entries.Entry]:
    for where, row in rows:
        if len(row) != len(names):
            have = counted(len(row), "field")
            raise DatasetError(f"{where}: {have}, the first line names {len(names)}")
        record = dict(zip(names, map(str.strip, row), strict=True))
        yield entry_of(record, fields, where=where, split=split)


def table_rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a table that are not blank, and where each ends."""
    try:
        with path.open("rb") as file:
            lines = decode_lines(file)
            first = next(lines, "")
            reader = csv.reader(
                chain([first], lines), delimiter=delimiter(path, first), strict=True
            )
            try:
                for row in reader:
                    if any(map(str.strip, row)):
                        yield f"{path}: line {reader.line_num}", row
            except csv.Error as error:
                raise DatasetError(f"{path}: line {reader.line_num}: {error}") from None
    except FormatError as error:
        raise DatasetError(f"{path}: {error}") from None
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=DatasetError) from error


def delimiter(path: Path, line: str) -> str:
    """Return what is between the fields of a table, by its first line and its suffix."""
    usual = TABLES.get(path.suffix, ",")
    return max((usual, ",", "\t", ";"), key=line.count)


def looks_like_table(path: Path, line: str) -> bool:
    """Say whether a line could be the first of a table of items: it names sentence and label."""
    names = {name.strip(' "\r\n').casefold() for name in line.split(delimiter(path, line))}
    return "label" in names and not names.isdisjoint(SENTENCE)
