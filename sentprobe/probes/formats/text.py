"""Datasets as text: the files of the published compeval datasets, and of SentEval.

train.txt, test.txt and perhaps dev.txt have a line for each item: label, id of the sentence,
sentence, probe words (lemmas), between tabs. Ids are not kept. We write a card.json besides.

There are no probe words (Conneau et al. 2018). https://github.com/facebookresearch/SentEval
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from sentprobe.errors import UsageError, counted, suggest
from sentprobe.files import atomic_path
from sentprobe.probes.dataset import DatasetError, ProbeDataset, Split
from sentprobe.probes.formats import directory, entries

FORMAT = "sentprobe-published 1"
"""The format in our card.json; the published datasets have none."""

_TEXTS = 3
"""Fields before the probe words."""


def write_published(data: ProbeDataset, path: Path) -> None:
    """Write the dataset; sentences and probe words that no item has are left out.

    Raises:
        UsageError: a label or probe word that a field cannot hold; something else is at *path*.
    """
    entries.check_writable(data, format_name="published")
    ids = {sentence: f"s{row}" for row, sentence in enumerate(data.sentences)}
    with directory.new_directory(path) as folder:
        for split, name in directory.FILES.items():
            if split in data.splits:
                lines = (
                    "\t".join((entry.label, ids[entry.sentence], entry.sentence, *entry.probes))
                    for entry in entries.entries_of(data)
                    if entry.split is split
                )
                entries.write_lines(lines, folder / name)
        directory.write_card_file(data, folder / directory.CARD, fmt=FORMAT)
        directory.write_for_hub(data, folder)


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
        if not (path / directory.FILES[split]).is_file():
            raise DatasetError(f"{path}: there is no {directory.FILES[split]}: no {split} split")
    if directory.format_in(path) != FORMAT:
        name = path.resolve().name
        return entries.assemble(_published_entries(path), name=name, source=str(path))
    kept = directory.read_card_file(path, fmt=FORMAT)
    return entries.assemble(
        _published_entries(path),
        name=kept["name"],
        source=str(path),
        card=kept["card"],
        labels=kept["labels"],
    )


def _published_entries(path: Path) -> Iterator[entries.Entry]:
    for split, name in directory.FILES.items():
        file = path / name
        if not file.is_file():
            continue
        empty = True
        for number, line in entries.read_lines(file):
            empty = False
            yield _entry(line, split, where=f"{file}: line {number}")
        if empty:
            raise DatasetError(f"{file}: there are no items: the {split} split is empty")


def _entry(line: str, split: Split, *, where: str) -> entries.Entry:
    fields = line.split("\t")
    if len(fields) < _TEXTS:
        raise DatasetError(
            f"{where}: {counted(len(fields), 'field')} between tabs; "
            "expected label, id, sentence and probe words"
        )
    label, _, sentence, *probes = fields
    return entries.Entry(
        split=split,
        label=label.strip(),
        sentence=sentence,
        probes=tuple(word.strip() for word in probes),
        where=where,
    )


def is_published(path: Path) -> bool:
    """Say whether a directory looks like a dataset in this format."""
    return any((path / directory.FILES[split]).is_file() for split in (Split.TRAIN, Split.TEST))


CODES: Mapping[str, Split] = {"tr": Split.TRAIN, "va": Split.VALIDATION, "te": Split.TEST}
"""The splits as the files name them."""

_FIELDS = 3
"""The fewest; SentEval takes the last for the sentence, and some files have others before it."""


def write_senteval(data: ProbeDataset, path: Path) -> None:
    """Write the dataset; its card is not kept.

    Raises:
        UsageError: it has probe words, or a label that a field between tabs cannot hold.
    """
    if data.slots:
        raise UsageError(
            f"{data.name} has probe words, which the format senteval cannot hold; "
            "use directory, jsonl or published"
        )
    entries.check_writable(data, format_name="senteval")
    entries.check_case(data, format_name="senteval")
    names = {split: code for code, split in CODES.items()}
    lines = (f"{names[e.split]}\t{e.label}\t{e.sentence}" for e in entries.entries_of(data))
    with atomic_path(path) as temporary:
        entries.write_lines(lines, temporary)


def read_senteval(path: Path) -> ProbeDataset:
    """Read a dataset, named after the file; the inverse of :func:`write_senteval`.

    Raises:
        DatasetError: a broken line (says which), or a dataset that cannot be used.
    """
    return entries.assemble(_senteval_entries(path), name=path.stem, source=str(path))


def _senteval_entries(path: Path) -> Iterator[entries.Entry]:
    """Yield the items; there may be fields between label and sentence, as many in each line."""
    wanted = 0
    for number, line in entries.read_lines(path):
        where = f"{path}: line {number}"
        fields = line.split("\t")
        wanted = wanted or max(len(fields), _FIELDS)
        if len(fields) != wanted:
            more = f" ({wanted} fields in the lines before)" if wanted > _FIELDS else ""
            raise DatasetError(
                f"{where}: {len(fields)} fields between tabs; expected split, label, sentence{more}"
            )
        code, label, *_, sentence = fields
        if code not in CODES:
            raise DatasetError(
                f"{where}: unknown split {code!r}{suggest(code, CODES)}; the splits are "
                + ", ".join(CODES)
            )
        yield entries.Entry(split=CODES[code], label=label.strip(), sentence=sentence, where=where)


def looks_like_senteval(line: str) -> bool:
    """Say whether a line could be an item in this format."""
    fields = line.split("\t")
    return len(fields) >= _FIELDS and fields[0] in CODES
