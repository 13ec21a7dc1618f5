"""Items as texts (:class:`Entry`), and the dataset that is built from them."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import numpy as np

from sentprobe.disk import reading
from sentprobe.errors import FormatError, SentprobeError, UsageError, format_count, path_error, suggest
from sentprobe.probes.dataset import MAX_PROBES, Card, DatasetError, Items, ProbeDataset, Split

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
        return builder.build(name, card or Card(name, source=source))
    except DatasetError as error:
        raise DatasetError(f"{source}: {error}") from None


_NO_COLUMNS: Mapping[str, str] = {}


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
        label_indices = np.array([labels.index(label) for label in self.labels], np.int64)
        columns_of_items = (columns for arrays in self.splits.values() for columns in arrays.columns)
        names = dict.fromkeys(chain.from_iterable(columns_of_items))
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
