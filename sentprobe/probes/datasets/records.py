"""Items as texts (:class:`Entry`), the dataset that is built from them, and the formats csv and tsv.

The fields of a record are found by their names. Unknown fields become columns, unless they look misspelt.
"""

import csv
import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, islice, starmap
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.common import reading
from sentprobe.common.errors import FormatError, SentprobeError, UsageError, format_count, path_error, suggest
from sentprobe.common.files import atomic_path
from sentprobe.common.tables import format_csv_row, pad_formula, unpad_formula
from sentprobe.common.values import format_json
from sentprobe.probes.datasets.dataset import (
    MAX_PROBES,
    Card,
    DatasetError,
    Items,
    ProbeDataset,
    Split,
    check_card_counts,
)

PROBES = tuple(f"probe{slot + 1}" for slot in range(MAX_PROBES))
"""The names of the columns of probe words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An item as texts, with the file and line that it was read from."""

    split: Split
    label: str
    sentence: str
    probes: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    where: str = ""
    original: str = ""
    """In tasks that change sentences, the unchanged sentence of the corpus; empty in other tasks."""


def iterate_entries(data: ProbeDataset, splits: Iterable[Split] = tuple(Split)) -> Iterator[Entry]:
    """Yield a dataset's items in *splits* (default: all), split after split; the inverse of :func:`build_dataset`."""
    for split in [split for split in data.splits if split in splits]:
        items = data.splits[split]
        for i, (row, words) in enumerate(zip(items.rows, items.probes, strict=True)):
            yield Entry(
                split=split,
                label=data.labels[items.targets[i]],
                sentence=data.sentences[row],
                probes=tuple(data.probe_words[word] for word in words),
                columns={name: values[i] for name, values in items.columns.items()},
            )


def build_dataset(
    entries: Iterable[Entry], *, name: str, source: str, card: Card | None = None, labels: Sequence[str] = ()
) -> ProbeDataset:
    """Return the dataset of the items; labels are sorted unless *labels* lists them. Raises DatasetError.

    Any white space in sentences becomes a single space. Items with equal sentences share one sentence. *source* is the
    path of the file or directory.
    """
    builder = _DatasetBuilder(given_labels=tuple(labels))
    for entry in entries:
        builder.add_entry(entry)
    try:
        data = builder.build(name, card or Card(name, source=source))
    except DatasetError as error:
        raise DatasetError(f"{source}: {error}") from None
    check_card_counts(data, source)
    return data


MAX_COLUMNS = 1000
_NO_COLUMNS: Mapping[str, str] = {}
"""The columns of all items that have none: a dictionary for each of a million items would take memory."""


class _SplitArrays:
    def __init__(self) -> None:
        self.rows, self.targets, self.probes = array("q"), array("q"), array("q")
        self.columns: list[Mapping[str, str]] = []
        """The values of each item's additional columns, by name."""

    def to_items(self, slots: int, names: Iterable[str]) -> Items:
        rows, targets, probes = (np.array(column, np.int64) for column in (self.rows, self.targets, self.probes))
        columns = {name: tuple(values.get(name, "") for values in self.columns) for name in names}
        return Items(rows, probes.reshape(len(rows), slots), targets, columns)


@dataclass(slots=True)
class _DatasetBuilder:
    """Builds a dataset from its items; sentences, labels and probe words are numbered by first occurrence."""

    given_labels: tuple[str, ...]
    sentences: dict[str, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    casefolded: dict[str, Entry] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)
    splits: dict[Split, _SplitArrays] = field(default_factory=dict)
    slots: int | None = None

    def add_entry(self, entry: Entry) -> None:
        sentence = " ".join(entry.sentence.split())
        for kind, text in (("sentence", sentence), ("label", entry.label)):
            if not text:
                raise DatasetError(f"{entry.where}: the {kind} is empty")
        self._check_probes(entry)
        if entry.label not in self.labels:
            self._check_label(entry)
        arrays = self.splits.setdefault(entry.split, _SplitArrays())
        arrays.rows.append(self.sentences.setdefault(sentence, len(self.sentences)))
        arrays.targets.append(self.labels.setdefault(entry.label, len(self.labels)))
        arrays.probes.extend(self.words.setdefault(w, len(self.words)) for w in entry.probes)
        arrays.columns.append(entry.columns or _NO_COLUMNS)

    def _check_probes(self, entry: Entry) -> None:
        count = len(entry.probes)
        if self.slots is None:
            self.slots = count
        if count != self.slots:
            raise DatasetError(
                f"{entry.where}: {format_count(count, 'probe word')}, the items before have {self.slots}"
            )
        if count > MAX_PROBES:
            raise DatasetError(f"{entry.where}: {format_count(count, 'probe word')} for an item, at most {MAX_PROBES}")
        if "" in entry.probes:
            raise DatasetError(f"{entry.where}: probe word {entry.probes.index('') + 1} is empty")

    def _check_label(self, entry: Entry) -> None:
        if self.given_labels and entry.label not in self.given_labels:
            suggestion = suggest(entry.label, self.given_labels)
            raise DatasetError(f"{entry.where}: unknown label {entry.label!r}{suggestion}")
        first = self.casefolded.setdefault(entry.label.casefold(), entry)
        if not self.given_labels and first is not entry:
            raise DatasetError(
                f"{entry.where}: label {entry.label!r} differs from {first.label!r} "
                f"({first.where.rpartition(': ')[2]}) in case only"
            )

    def build(self, name: str, card: Card) -> ProbeDataset:
        labels = self.given_labels or tuple(sorted(self.labels))
        indices = {label: index for index, label in enumerate(labels)}
        label_indices = np.array([indices[label] for label in self.labels], np.int64)
        columns_of_items = (columns for arrays in self.splits.values() for columns in arrays.columns)
        names = dict.fromkeys(chain.from_iterable(columns_of_items))
        if len(names) > MAX_COLUMNS:  # each item has a value in each
            raise DatasetError(f"{name}: {len(names):,} columns (keys) in its items; at most {MAX_COLUMNS:,} are read")
        splits = {split: arrays.to_items(self.slots or 0, names) for split, arrays in self.splits.items()}
        return ProbeDataset(
            name=name,
            sentences=tuple(self.sentences),
            labels=labels,
            probe_words=tuple(self.words),
            splits={s: replace(i, targets=label_indices[i.targets]) for s, i in splits.items()},
            card=card,
        )


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number (from 1) and text of each line that is not blank, without BOM and line end. Raises DatasetError."""
    with open_lines(path) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, line.rstrip("\r\n")


def read_head(path: Path) -> list[str]:
    """Return the first eight lines of a file that are not blank, by which its format is recognised."""
    return [line for _, line in islice(read_lines(path), 8)]


@contextmanager
def open_lines(path: Path) -> Iterator[Iterator[str]]:
    """Open a text file in UTF-8, as an iterator over its lines. Raises DatasetError if it cannot be read."""
    try:
        with reading.open_lines(path) as lines:
            yield lines
    except FormatError as error:
        raise DatasetError(f"{path}: {error}") from None
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=DatasetError) from error


def write_lines(lines: Iterable[str], path: Path) -> None:
    """Write the lines to *path*, in UTF-8."""
    try:
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
    except UnicodeEncodeError as error:
        raise DatasetError(f"{path}: the text is not valid Unicode: {error.object!r:.60}") from None
    except OSError as error:
        raise SentprobeError(f"{path}: cannot write it: {error.strerror}") from error


def is_text_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def check_line_texts(data: ProbeDataset, *, format_name: str) -> None:
    """Raise UsageError if a label or probe word would be another text after it is written to a line and read back."""
    for kind, texts in (("label", data.labels), ("probe word", data.probe_words)):
        for text in texts:
            if not text or " ".join(text.split()) != text or text.startswith("\ufeff"):
                raise UsageError(
                    f"the format {format_name} cannot hold the {kind} {text!r}: "
                    "it must be words with single spaces; use directory or jsonl"
                )


def check_label_case(data: ProbeDataset, *, format_name: str) -> None:
    """Raise UsageError if two labels differ in case only."""
    if len({label.casefold() for label in data.labels}) < len(data.labels):
        raise UsageError(
            f"the format {format_name} cannot hold labels that differ in case only; use directory, jsonl or published"
        )


def check_columns(data: ProbeDataset, reserved: Iterable[str], *, format_name: str) -> None:
    """Raise UsageError if the name of a column is reserved or blank."""
    reserved_names = {*reserved}
    for name in data.columns:
        if name.casefold() in reserved_names or not name.strip():
            raise UsageError(f"the format {format_name} cannot hold a column named {name!r}")


SENTENCE = ("sentence", "text")
PROBE_LIST = "probes"

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
"""The split by its usual names, in lower case."""

TAB = "\t"
TABLES: Mapping[str, str] = {".csv": ",", ".tsv": TAB}
"""The default separator of the fields of a table, by the suffix of the file."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The names that a file gives to the fields of an item; an empty name means that the field is absent."""

    sentence: str
    label: str
    split: str
    probes: tuple[str, ...]
    columns: tuple[str, ...]
    """Further fields, which become columns of the items."""


def find_fields(names: Sequence[str], *, where: str, split: Split | None) -> Fields:
    """Find the fields of an item among *names*; if *split* is set, the split field is optional. Raises DatasetError."""
    names_by_field: dict[str, str] = {}
    for name in names:
        normalized = name.strip().casefold()
        field = SENTENCE[0] if normalized in SENTENCE else normalized
        field = field if field in _ITEM_FIELDS else name.strip()
        if field in names_by_field and field:
            raise DatasetError(f"{where}: both {names_by_field[field]!r} and {name!r}; only one is allowed")
        names_by_field.setdefault(field, name)
    other_names = tuple(name for field, name in names_by_field.items() if field and field not in _ITEM_FIELDS)
    required = [field for field in _REQUIRED_FIELDS if not (split and field == "split")]
    _check_other_names(other_names, [field for field in required if field not in names_by_field], where=where)
    for field in required:
        if field not in names_by_field:
            raise DatasetError(f"{where}: {_describe_missing(field, names)}")
    probes = tuple(names_by_field[name] for name in (PROBE_LIST, *PROBES) if name in names_by_field)
    return Fields(
        names_by_field["sentence"], names_by_field["label"], names_by_field.get("split", ""), probes, other_names
    )


_REQUIRED_FIELDS = ("split", "label", SENTENCE[0])
_ITEM_FIELDS = (*_REQUIRED_FIELDS, PROBE_LIST, *PROBES)


def _check_other_names(names: Sequence[str], missing: Sequence[str], *, where: str) -> None:
    """Raise DatasetError for a name that looks like a misspelling of a missing field or of a probe word's field."""
    for name in names:
        normalized = name.strip().casefold()
        suggestion = suggest(normalized, missing)
        if normalized.startswith("probe"):
            suggestion = suggestion or suggest(normalized, (PROBE_LIST, *PROBES))
        if suggestion:
            keys = ", ".join((*_REQUIRED_FIELDS, PROBE_LIST))
            raise DatasetError(f"{where}: unknown key {name!r}{suggestion}; the keys are {keys}")


def _describe_missing(field: str, names: Sequence[str]) -> str:
    if field == "split":
        return (
            "'split' is missing: give each item its split (train, validation or test), "
            "or put the splits into files of one folder, such as train.csv and test.csv"
        )
    alias = " (it may be called 'text')" if field == SENTENCE[0] else ""
    return f"{field!r} is missing{alias}; the fields are {', '.join(map(repr, names)) or 'nothing'}"


def parse_entry(record: Mapping[str, Any], fields: Fields, *, where: str, split: Split | None) -> Entry:
    """Return the item that a record describes; its label may be an integer or a Boolean. Raises DatasetError."""
    sentence = record[fields.sentence]
    if not isinstance(sentence, str):
        raise DatasetError(f"{where}: {fields.sentence!r} must be a text")
    label = record[fields.label]
    if isinstance(label, int):
        label = json.dumps(label)
    if not isinstance(label, str):
        raise DatasetError(f"{where}: {fields.label!r} must be a text or a whole number")
    split = split or parse_split(record[fields.split], where=where)
    is_list = fields.probes[:1] == (PROBE_LIST,)
    probes = record[PROBE_LIST] if is_list else [record[name] for name in fields.probes]
    if not is_text_list(probes):
        expected = "'probes' must be a list of texts" if is_list else f"{fields.probes[0]!r} must be a text"
        raise DatasetError(f"{where}: {expected}")
    columns = {}
    for name in fields.columns:
        value = record[name]
        columns[name] = value or "" if value is None or isinstance(value, str) else format_json(value)
    return Entry(split=split, label=label, sentence=sentence, probes=tuple(probes), columns=columns, where=where)


def parse_split(value: object, *, where: str) -> Split:
    """Return the split that a value names, such as ``"dev"`` in any case, or raise DatasetError."""
    if not isinstance(value, str):
        raise DatasetError(f"{where}: 'split' must be a text")
    split = SPLITS.get(value.strip().casefold())
    if split is None:
        split_names = [split.value for split in Split]
        raise DatasetError(
            f"{where}: unknown split {value!r}{suggest(value, split_names)}; the splits are " + ", ".join(split_names)
        )
    return split


def read_table(path: Path) -> ProbeDataset:
    """Read a dataset from a CSV or TSV table whose first line names the columns. Raises DatasetError, with the line."""
    fields, table_items = read_table_entries(path)
    return build_dataset(table_items, name=path.stem, source=str(path), card=build_card(path, fields.columns))


def write_table(data: ProbeDataset, path: Path) -> None:
    """Write the dataset as CSV, without name, card and the order of labels. Raises UsageError."""
    check_line_texts(data, format_name="csv")
    check_label_case(data, format_name="csv")
    check_columns(data, (*_ITEM_FIELDS, *SENTENCE), format_name="csv")
    with atomic_path(path) as temporary:
        write_lines(_format_table_lines(data, TABLES.get(path.suffix, ",")), temporary)


def _format_table_lines(data: ProbeDataset, separator: str) -> Iterator[str]:
    yield _format_row((*_REQUIRED_FIELDS, *PROBES[: data.slots], *data.columns), separator)
    for entry in iterate_entries(data):
        item_fields = (entry.split.value, entry.label, entry.sentence, *entry.probes)
        yield _format_row((*item_fields, *entry.columns.values()), separator)


def _format_row(fields: Sequence[str], separator: str) -> str:
    """Return a row that :func:`read_table_rows` reads. Raises UsageError if the format cannot hold a field."""
    for text in fields:
        has_break = not {"\r", "\n"}.isdisjoint(text)
        if (has_break or separator in text) if separator == TAB else (has_break and separator in text):
            raise UsageError(f"the format csv cannot hold {text!r}, with its line breaks or separators; use jsonl")
    if separator == TAB:
        return TAB.join(str(pad_formula(text)) for text in fields)
    return format_csv_row(fields, separator=separator, padded=True)


def build_card(path: Path, columns: Iterable[str]) -> Card:
    """Return a card for a dataset whose file has none; a note lists the additional columns of the file."""
    column_list = ", ".join(map(repr, dict.fromkeys(columns)))
    note = f"Further fields of {path.name}, available to probe show --by: {column_list}."
    return Card(path.stem, source=str(path), notes=(note,) if column_list else ())


def read_table_entries(path: Path, *, split: Split | None = None) -> tuple[Fields, Iterator[Entry]]:
    """Return the field names of a table, and an iterator over its items. Raises DatasetError."""
    rows = read_table_rows(path)
    where, names = next(rows, ("", []))
    if not where:
        raise DatasetError(f"{path}: the file is empty")
    names = [*map(unpad_formula, names)]  # the fields of items are stripped
    fields = find_fields(names, where=where, split=split)
    first = next(rows, None)
    if first is None:
        raise DatasetError(f"{path}: there are no items")

    def parse_row(where: str, row: list[str]) -> Entry:
        if len(row) != len(names):
            raise DatasetError(f"{where}: {format_count(len(row), 'field')}, the first line names {len(names)}")
        return parse_entry(dict(zip(names, map(str.strip, row), strict=True)), fields, where=where, split=split)

    return fields, starmap(parse_row, chain([first], rows))


def read_table_rows(path: Path, *, suffix: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield the place (file and line) and the fields of each row that is not blank. Raises DatasetError.

    - suffix: of the stated format, .csv or .tsv, whose separator is a tab; empty: by the file's suffix and first line
    """
    with open_lines(path) as lines:
        first = next(lines, "")
        delimiter = TAB if suffix == ".tsv" else find_delimiter(path.with_suffix(suffix or path.suffix), first)
        for number, row in _split_rows(chain([first], lines), delimiter):
            if any(map(str.strip, row)):
                yield f"{path}: line {number}", row


def read_named_rows(
    path: Path, required: Sequence[str], *, aliases: Mapping[str, str] | None
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the place of each row of a table, and its fields, stripped, by the names in the first line.

    The cells of *required* columns are not empty. Names in *aliases* (in lower case) are replaced by its values.
    Raises FormatError or DatasetError.
    """
    rows = read_table_rows(path)
    header = [unpad_formula(name).strip() for name in next(rows, ("", []))[1]]
    known = {name: name for name in required} | dict(aliases or {})
    names = [known.get(name.casefold(), name) for name in header]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    missing = next((name for name in required if name not in names), None)
    if twice or missing:
        state = f"{twice} is given twice" if twice else f"{missing} is missing{suggest(str(missing), header)}"
        expected = ", ".join(required)
        raise FormatError(f"{path}: the column {state}; the first line must name the columns {expected}")
    for where, row in rows:
        if len(row) != len(names):
            raise FormatError(f"{where}: {format_count(len(row), 'field')}, the first line names {len(names)}")
        fields = dict(zip(names, map(str.strip, row), strict=True))
        if empty := next((name for name in required if not fields[name]), None):
            raise FormatError(f"{where}: the field {empty} is empty")
        yield where, fields


def _split_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the last line, and the fields, of each row. Tab-separated files have no quoting.

    Raises FormatError, with the line where a quote opens, if the quote is not closed in its row: it holds a separator
    and a line break, or a row of several lines does not have as many fields as the first row.
    """
    if delimiter == TAB:
        yield from ((number, line.rstrip("\r\n").split(TAB)) for number, line in enumerate(lines, 1))
        return
    row_lines: list[str] = []
    width = 0

    def keep_lines() -> Iterator[str]:  # the reader tells where a row ends, and these lines tell where it began
        for line in lines:
            row_lines.append(line)
            yield line

    reader = csv.reader(keep_lines(), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            line = reader.line_num - len(row_lines) + 1
            width = width or len(row)
            if len(row_lines) > 1 and len(row) != width:
                raise FormatError(f"line {line}: {len(row)} fields, and a line break; is a quote not closed?")
            _check_line_breaks(row, line, delimiter)
            row_lines.clear()
            yield reader.line_num, row
    except csv.Error as error:
        if len(row_lines) > 1 or "end of data" in str(error):
            line = reader.line_num - len(row_lines) + 1
            raise FormatError(f"line {line}: a quote opens here, and is not closed in this line: {error}") from None
        raise FormatError(f"line {reader.line_num}: {error}") from None


def _check_line_breaks(row: Iterable[str], line: int, delimiter: str) -> None:
    """Raise FormatError if a field of the row that begins at *line* holds a separator and a line break."""
    for cell in row:
        if delimiter in cell and not {"\r", "\n"}.isdisjoint(cell):
            raise FormatError(f"line {line}: a quoted field holds {delimiter!r} and a line break; is its quote closed?")
        line += cell.count("\n")


def find_delimiter(path: Path, line: str) -> str:
    """Return the most frequent separator in a table's first line; ties favour the default of the file's suffix."""
    default = TABLES.get(path.suffix, ",")
    return max((default, ",", TAB, ";"), key=line.count)


def is_table(path: Path) -> bool:
    """Return whether the first line of a file could be the header of a table: it names a sentence and a label field."""
    head = read_head(path)
    if not head:
        return False
    names = {name.strip(' "\r\n').casefold() for name in head[0].split(find_delimiter(path, head[0]))}
    return "label" in names and not names.isdisjoint(SENTENCE)
