"""The format ``splits``: a folder with a table or JSONL file for each split, such as train.csv or dev.jsonl."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from sentprobe.probes.dataset import Card, DatasetError, ProbeDataset, Split
from sentprobe.probes.formats import directory
from sentprobe.probes.formats.entries import Entry, iterate_entries, write_lines
from sentprobe.probes.formats.jsonl import format_entry, read_value_entries, read_values
from sentprobe.probes.formats.records import SPLITS, TABLES, Fields, build_card, read_table_entries

JSONL = ".jsonl"


def write_splits(data: ProbeDataset, path: Path) -> None:
    """Write a dataset, but leave out texts that no item uses. Raises UsageError if *path* has non-dataset files."""
    with directory.open_new_directory(path) as folder:
        for split in data.splits:
            write_lines(map(format_entry, iterate_entries(data, [split])), folder / f"{split.value}{JSONL}")
        directory.write_card_file(data, folder / directory.CARD, fmt=directory.SPLITS_FORMAT)
        directory.write_hub_files(data, folder)


def read_splits(path: Path) -> ProbeDataset:
    """Read a dataset; the inverse of :func:`write_splits`. Raises DatasetError, which names the line of a bad item."""
    if not path.is_dir():
        raise DatasetError(
            f"{path}: a dataset in the format splits is a directory with train.csv and test.csv, or JSONL"
        )
    sources = [_read_file_entries(file, split) for split, file in find_split_files(path).items()]
    entries = chain.from_iterable(entries_ for _, entries_ in sources)
    if directory.read_format_name(path) == directory.SPLITS_FORMAT:
        card_file = directory.read_card_file(path, fmt=directory.SPLITS_FORMAT)
    else:
        name = path.resolve().name
        column_names = (column for fields, _ in sources for column in fields.columns)
        card = Card(name, source=str(path), notes=build_card(path, column_names).notes)
        card_file = {"name": name, "card": card, "labels": ()}
    return directory.build_from_card(card_file, entries, path)


def _read_file_entries(file: Path, split: Split) -> tuple[Fields, Iterator[Entry]]:
    if file.suffix != JSONL:
        return read_table_entries(file, split=split)
    objects = read_values(file)
    first = next(objects, None)
    if first is None:
        raise DatasetError(f"{file}: the file is empty")
    return read_value_entries(first, objects, split=split)


def find_split_files(path: Path) -> dict[Split, Path]:
    """Return the file of each split in a directory. Raises DatasetError if a split has two files."""
    files: dict[Split, Path] = {}
    for file in sorted(path.iterdir()):
        split = SPLITS.get(file.stem.casefold())
        if split is None or file.suffix not in (*TABLES, JSONL) or not file.is_file():
            continue
        if files.setdefault(split, file) != file:
            raise DatasetError(f"{path}: {files[split].name} and {file.name} are both of the {split} split")
    return {split: files[split] for split in Split if split in files}


def is_splits(path: Path) -> bool:
    """Return whether a directory is in the splits format: its card says so, or it has a training and a test file."""
    if directory.read_format_name(path) == directory.SPLITS_FORMAT:
        return True
    try:
        stems = {SPLITS.get(file.stem.casefold()) for file in path.iterdir() if file.suffix in (*TABLES, JSONL)}
    except OSError:  # a folder that may not be read
        return False
    return {Split.TRAIN, Split.TEST} <= stems
