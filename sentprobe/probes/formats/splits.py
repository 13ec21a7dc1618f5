"""A folder with a file for each split, as people keep them: train.csv, test.csv, dev.jsonl.

Each is a table or JSONL (:mod:`.records`). We write JSONL, and a card.json besides.
"""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from sentprobe.probes.dataset import Card, DatasetError, ProbeDataset, Split
from sentprobe.probes.formats import directory
from sentprobe.probes.formats.entries import Entry, assemble, entries_of, write_lines
from sentprobe.probes.formats.jsonl import read_values, value_entries
from sentprobe.probes.formats.records import SPLITS, TABLES, Fields, card_of, table_entries

JSONL = ".jsonl"


def write_splits(data: ProbeDataset, path: Path) -> None:
    """Write the dataset; sentences and probe words that no item has are left out.

    Raises:
        UsageError: something else is at *path*.
    """
    with directory.new_directory(path) as folder:
        for split in data.splits:
            write_lines(_lines(data, split), folder / f"{split.value}{JSONL}")
        directory.write_card_file(data, folder / directory.CARD, fmt=directory.SPLITS_FORMAT)
        directory.write_for_hub(data, folder)


def _lines(data: ProbeDataset, split: Split) -> Iterator[str]:
    for entry in entries_of(data):
        if entry.split is split:
            value = {"label": entry.label, "sentence": entry.sentence, "probes": [*entry.probes]}
            yield json.dumps({**value, **entry.columns}, ensure_ascii=False)


def read_splits(path: Path) -> ProbeDataset:
    """Read a dataset; the inverse of :func:`write_splits`.

    Raises:
        DatasetError: a broken line (says which), two files of one split, or a dataset that cannot
            be used.
    """
    if not path.is_dir():
        raise DatasetError(
            f"{path}: a dataset in the format splits is a directory with train.csv and test.csv, "
            "or JSONL"
        )
    found = [_file_entries(file, split) for split, file in files_of(path).items()]
    entries = chain.from_iterable(each for _, each in found)
    if directory.format_in(path) == directory.SPLITS_FORMAT:
        kept = directory.read_card_file(path, fmt=directory.SPLITS_FORMAT)
        name, card, labels = kept["name"], kept["card"], kept["labels"]
    else:
        name, labels = path.resolve().name, []
        others = (other for fields, _ in found for other in fields.others)
        card = Card(name, source=str(path), notes=card_of(path, others).notes)
    return assemble(entries, name=name, source=str(path), card=card, labels=labels)


def _file_entries(file: Path, split: Split) -> tuple[Fields, Iterator[Entry]]:
    if file.suffix != JSONL:
        return table_entries(file, split=split)
    values = read_values(file)
    first = next(values, None)
    if first is None:
        raise DatasetError(f"{file}: the file is empty")
    return value_entries(chain([first], values), split=split)


def files_of(path: Path) -> dict[Split, Path]:
    """Return the file of each split in a directory.

    Raises:
        DatasetError: two are of one split.
    """
    found: dict[Split, Path] = {}
    for file in sorted(path.iterdir()):
        split = SPLITS.get(file.stem.casefold())
        if split is None or file.suffix not in (*TABLES, JSONL) or not file.is_file():
            continue
        if found.setdefault(split, file) != file:
            raise DatasetError(f"{path}: {found[split].name} and {file.name} are of one split")
    return {split: found[split] for split in Split if split in found}


def is_splits(path: Path) -> bool:
    """Say whether a directory looks like a dataset in this format."""
    if directory.format_in(path) == directory.SPLITS_FORMAT:
        return True
    stems = {
        SPLITS.get(file.stem.casefold())
        for file in _children(path)
        if file.suffix in (*TABLES, JSONL)
    }
    return {Split.TRAIN, Split.TEST} <= stems


def _children(path: Path) -> list[Path]:
    try:
        return [*path.iterdir()]
    except OSError:  # a folder that may not be read
        return []
