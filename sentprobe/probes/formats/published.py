"""The format of the published compeval datasets (Ettinger et al. 2018): a directory of text files.

train.txt, test.txt and perhaps dev.txt have a line for each item: label, id of the sentence,
sentence, probe words (lemmas), between tabs. Ids are not kept. We write a card.json besides.
"""

from collections.abc import Iterator
from pathlib import Path

from sentprobe.probes.dataset import DatasetError, ProbeDataset, Split
from sentprobe.probes.formats.entries import (
    Entry,
    assemble,
    check_writable,
    entries_of,
    read_lines,
    write_lines,
)
from sentprobe.probes.formats.folders import (
    CARD,
    FILES,
    format_in,
    new_directory,
    read_card_file,
    write_card_file,
)

FORMAT = "sentprobe-published 1"
"""The format in our card.json; the published datasets have none."""

_TEXTS = 3
"""Fields before the probe words."""


def write_published(data: ProbeDataset, path: Path) -> None:
    """Write the dataset; sentences and probe words that no item has are left out.

    Raises:
        UsageError: a label or probe word that a field cannot hold; something else is at *path*.
    """
    check_writable(data, format_name="published")
    ids = {sentence: f"s{row}" for row, sentence in enumerate(data.sentences)}
    with new_directory(path) as directory:
        for split, name in FILES.items():
            if split in data.splits:
                lines = (
                    "\t".join((entry.label, ids[entry.sentence], entry.sentence, *entry.probes))
                    for entry in entries_of(data)
                    if entry.split is split
                )
                write_lines(lines, directory / name)
        write_card_file(data, directory / CARD, fmt=FORMAT)


def read_published(path: Path) -> ProbeDataset:
    """Read a dataset; the inverse of :func:`write_published`.

    Raises:
        DatasetError: a broken line (says which), a file that is missing, or a dataset that cannot
            be used.
    """
    if not path.is_dir():
        raise DatasetError(
            f"{path}: a dataset in the format published is a directory with train.txt and test.txt"
        )
    for split in (Split.TRAIN, Split.TEST):
        if not (path / FILES[split]).is_file():
            raise DatasetError(f"{path}: there is no {FILES[split]}: no {split} split")
    if format_in(path) != FORMAT:
        name = path.resolve().name
        return assemble(_entries(path), name=name, source=str(path))
    kept = read_card_file(path, fmt=FORMAT)
    return assemble(
        _entries(path),
        name=kept["name"],
        source=str(path),
        card=kept["card"],
        labels=kept["labels"],
    )


def _entries(path: Path) -> Iterator[Entry]:
    for split, name in FILES.items():
        file = path / name
        if not file.is_file():
            continue
        empty = True
        for number, line in read_lines(file):
            empty = False
            yield _entry(line, split, where=f"{file}: line {number}")
        if empty:
            raise DatasetError(f"{file}: there are no items: the {split} split is empty")


def _entry(line: str, split: Split, *, where: str) -> Entry:
    fields = line.split("\t")
    if len(fields) < _TEXTS:
        raise DatasetError(
            f"{where}: {len(fields)} field{'' if len(fields) == 1 else 's'} between tabs; "
            "expected label, id, sentence and probe words"
        )
    label, _, sentence, *probes = fields
    return Entry(
        split=split,
        label=label.strip(),
        sentence=sentence,
        probes=tuple(word.strip() for word in probes),
        where=where,
    )


def is_published(path: Path) -> bool:
    """Say whether a directory looks like a dataset in this format."""
    return any((path / FILES[split]).is_file() for split in (Split.TRAIN, Split.TEST))
