"""Items as the text formats give them, one by one, and the dataset that they make."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from sentprobe.errors import FormatError, SentprobeError, UsageError, counted, path_error, suggest
from sentprobe.files import decode_lines
from sentprobe.probes.dataset import MAX_PROBES, Card, DatasetError, Items, ProbeDataset, Split


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An item by its texts, and the file and line that it was read from."""

    split: Split
    label: str
    sentence: str
    probes: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    where: str = ""


def entries_of(data: ProbeDataset) -> Iterator[Entry]:
    """Yield the items of a dataset, split by split; the inverse of :func:`assemble`."""
    for split, items in data.splits.items():
        columns = items.columns.items()
        for at, (row, words) in enumerate(zip(items.rows, items.probes, strict=True)):
            yield Entry(
                split=split,
                label=data.labels[items.targets[at]],
                sentence=data.sentences[row],
                probes=tuple(data.probe_words[word] for word in words),
                columns={name: values[at] for name, values in columns},
            )


def assemble(
    entries: Iterable[Entry],
    *,
    name: str,
    source: str,
    card: Card | None = None,
    labels: Sequence[str] = (),
) -> ProbeDataset:
    """Return the dataset of the items; white space in sentences becomes single spaces.

    Equal sentences become one. Labels are sorted, unless *labels* says all of them in order.
    *source* is the file or directory: errors begin with it, and it is in the card, unless *card*
    is given.

    Raises:
        DatasetError: an empty text, another number of probe words than before, a label that is not
            one of *labels* or differs from another in case only; a dataset that contradicts itself
            or cannot be learned from.
    """
    made = _Assembly(known=tuple(labels))
    for entry in entries:
        made.add(entry)
    try:
        return made.dataset(name, card or Card(name, source=source))
    except DatasetError as error:
        raise DatasetError(f"{source}: {error}") from None


class _Columns:
    """The growing arrays of a split."""

    def __init__(self) -> None:
        self.rows, self.targets, self.probes = array("q"), array("q"), array("q")
        self.others: dict[str, list[str]] = {}
        """The columns, each as long as the last item that has a value there."""

    def add_others(self, values: Mapping[str, str]) -> None:
        """Add what else is known of the last item."""
        for name, value in values.items():
            column = self.others.setdefault(name, [])
            column.extend([""] * (len(self.rows) - 1 - len(column)))
            column.append(value)

    def filled(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the columns of these names, with nothing where an item has no value."""
        found = {name: self.others.get(name, []) for name in names}
        return {name: (*each, *[""] * (len(self.rows) - len(each))) for name, each in found.items()}

    def items(self, slots: int) -> Items:
        rows, targets, probes = (
            np.frombuffer(column, np.int64) if column else np.empty(0, np.int64)
            for column in (self.rows, self.targets, self.probes)
        )
        return Items(rows, probes.reshape(len(rows), slots), targets)


@dataclass(slots=True)
class _Assembly:
    """Sentences, labels and probe words in the order in which they came."""

    known: tuple[str, ...]
    sentences: dict[str, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    folded: dict[str, Entry] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)
    columns: dict[Split, _Columns] = field(default_factory=dict)
    slots: int | None = None

    def add(self, entry: Entry) -> None:
        sentence = " ".join(entry.sentence.split())
        for what, text in (("sentence", sentence), ("label", entry.label)):
            if not text:
                raise DatasetError(f"{entry.where}: the {what} is empty")
        self._check_probes(entry)
        if entry.label not in self.labels:
            self._check_label(entry)
        columns = self.columns.setdefault(entry.split, _Columns())
        columns.rows.append(self.sentences.setdefault(sentence, len(self.sentences)))
        columns.targets.append(self.labels.setdefault(entry.label, len(self.labels)))
        columns.probes.extend(self.words.setdefault(w, len(self.words)) for w in entry.probes)
        columns.add_others(entry.columns)

    def _check_probes(self, entry: Entry) -> None:
        if self.slots is None:
            self.slots = len(entry.probes)
        if len(entry.probes) != self.slots:
            words = counted(len(entry.probes), "probe word")
            raise DatasetError(f"{entry.where}: {words}, the items before have {self.slots}")
        if len(entry.probes) > MAX_PROBES:
            words = counted(len(entry.probes), "probe word")
            raise DatasetError(f"{entry.where}: {words} for an item, at most {MAX_PROBES}")
        if "" in entry.probes:
            raise DatasetError(f"{entry.where}: probe word {entry.probes.index('') + 1} is empty")

    def _check_label(self, entry: Entry) -> None:
        if self.known and entry.label not in self.known:
            near = suggest(entry.label, self.known)
            raise DatasetError(f"{entry.where}: unknown label {entry.label!r}{near}")
        other = self.folded.setdefault(entry.label.casefold(), entry)
        if not self.known and other is not entry:
            raise DatasetError(
                f"{entry.where}: label {entry.label!r} differs from {other.label!r} "
                f"({other.where.rpartition(': ')[2]}) in case only"
            )

    def dataset(self, name: str, card: Card) -> ProbeDataset:
        labels = self.known or tuple(sorted(self.labels))
        places = np.array([labels.index(label) for label in self.labels], np.int64)
        names = dict.fromkeys(name for each in self.columns.values() for name in each.others)
        splits = {
            split: replace(columns.items(self.slots or 0), columns=columns.filled(names))
            for split, columns in self.columns.items()
        }
        return ProbeDataset(
            name=name,
            sentences=tuple(self.sentences),
            labels=labels,
            probe_words=tuple(self.words),
            splits={s: replace(i, targets=places[i.targets]) for s, i in splits.items()},
            card=card,
        )


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, each with its number, without BOM and line end.

    Raises:
        DatasetError: a line is not UTF-8, or the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(decode_lines(file), 1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except FormatError as error:
        raise DatasetError(f"{path}: {error}") from None
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=DatasetError) from error


def write_lines(lines: Iterable[str], path: Path) -> None:
    """Write the lines to *path*, in UTF-8.

    Raises:
        SentprobeError: it cannot be written.
    """
    try:
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
    except UnicodeEncodeError as error:
        raise DatasetError(f"{path}: text that is no valid Unicode: {error.object!r:.60}") from None
    except OSError as error:
        raise SentprobeError(f"{path}: cannot write it: {error.strerror}") from error


def are_texts(value: object) -> bool:
    """Say whether what JSON holds is a list of texts."""
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def check_writable(data: ProbeDataset, *, format_name: str) -> None:
    """Refuse texts that a line of fields between tabs would not give back.

    Raises:
        UsageError: a label or probe word is empty, has odd white space, or begins with a BOM.
    """
    for what, texts in (("label", data.labels), ("probe word", data.probe_words)):
        for text in texts:
            if not text or " ".join(text.split()) != text or text.startswith("\ufeff"):
                raise UsageError(
                    f"the format {format_name} cannot hold the {what} {text!r}: "
                    "it must be words with single spaces; use directory or jsonl"
                )


def check_case(data: ProbeDataset, *, format_name: str) -> None:
    """Refuse labels that would be taken for one, written in two ways.

    Raises:
        UsageError: two differ in case only.
    """
    if len({label.casefold() for label in data.labels}) < len(data.labels):
        raise UsageError(
            f"the format {format_name} cannot hold labels that differ in case only; "
            "use directory, jsonl or published"
        )


def check_columns(data: ProbeDataset, taken: Iterable[str], *, format_name: str) -> None:
    """Refuse columns that would not be read back: of a name that is *taken*, or with odd spaces.

    Raises:
        UsageError: there is such a column.
    """
    known = {*taken}
    for name in data.columns:
        if name.casefold() in known or not name.strip():
            raise UsageError(f"the format {format_name} cannot hold a column named {name!r}")
