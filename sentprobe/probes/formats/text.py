"""Text formats with one item per line: ``published`` (the compeval files) and ``senteval`` (without probe words)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sentprobe.disk.files import atomic_path
from sentprobe.errors import UsageError, format_count, suggest
from sentprobe.probes.dataset import DatasetError, ProbeDataset, Split
from sentprobe.probes.formats import directory, entries

FORMAT = "sentprobe-published 1"
"""The format name in card.json. The original compeval datasets have no card.json."""
_FIXED_FIELDS = 3
"""The number of fields before the probe words in a published file: label, id and sentence."""


def write_published(data: ProbeDataset, path: Path) -> None:
    """Write the dataset to the folder *path*. Sentences and probe words without an item are lost. Raises UsageError."""
    entries.check_line_texts(data, format_name="published")
    ids = {sentence: f"s{row}" for row, sentence in enumerate(data.sentences)}
    with directory.open_new_directory(path) as folder:
        for split, name in directory.FILES.items():
            if split in data.splits:
                lines = (
                    "\t".join((entry.label, ids[entry.sentence], entry.sentence, *entry.probes))
                    for entry in entries.iterate_entries(data, [split])
                )
                entries.write_lines(lines, folder / name)
        directory.write_card_file(data, folder / directory.CARD, fmt=FORMAT)
        directory.write_hub_files(data, folder)


def read_published(path: Path) -> ProbeDataset:
    """Read a dataset as :func:`write_published` writes it. A DatasetError about a line names the file and the line."""
    if not path.is_dir():
        raise DatasetError(f"{path}: a dataset in the format published is a directory with train.txt and test.txt")
    for split in (Split.TRAIN, Split.TEST):
        if not (path / directory.FILES[split]).is_file():
            raise DatasetError(f"{path}: there is no {directory.FILES[split]}: no {split} split")
    card_file: dict[str, Any] = {"name": path.resolve().name, "card": None, "labels": ()}
    if directory.read_format_name(path) == FORMAT:
        card_file = directory.read_card_file(path, fmt=FORMAT)
    return directory.build_from_card(card_file, _read_published_entries(path), path)


def _read_published_entries(path: Path) -> Iterator[entries.Entry]:
    for split, name in directory.FILES.items():
        file = path / name
        if not file.is_file():
            continue
        empty = True
        for number, line in entries.read_lines(file):
            empty = False
            where, fields = f"{file}: line {number}", line.split("\t")
            if len(fields) < _FIXED_FIELDS:
                count = format_count(len(fields), "field")
                raise DatasetError(f"{where}: {count} between tabs; expected label, id, sentence and probe words")
            label, _, sentence, *words = fields
            probes = tuple(word.strip() for word in words)
            yield entries.Entry(split=split, label=label.strip(), sentence=sentence, probes=probes, where=where)
        if empty:
            raise DatasetError(f"{file}: there are no items: the {split} split is empty")


def is_published(path: Path) -> bool:
    return any((path / directory.FILES[split]).is_file() for split in (Split.TRAIN, Split.TEST))


SPLIT_CODES: Mapping[str, Split] = {"tr": Split.TRAIN, "va": Split.VALIDATION, "te": Split.TEST}
_LEAST_FIELDS = 3
"""The minimum number of fields: split, label and sentence. Some files have further fields before the sentence."""


def write_senteval(data: ProbeDataset, path: Path) -> None:
    """Write the dataset to a file, without its card. Raises UsageError for probe words and unsuitable labels."""
    if data.slots:
        raise UsageError(
            f"{data.name} has probe words, which the format senteval cannot hold; use directory, jsonl or published"
        )
    entries.check_line_texts(data, format_name="senteval")
    entries.check_label_case(data, format_name="senteval")
    codes = {split: code for code, split in SPLIT_CODES.items()}
    lines = (f"{codes[entry.split]}\t{entry.label}\t{entry.sentence}" for entry in entries.iterate_entries(data))
    with atomic_path(path) as temporary:
        entries.write_lines(lines, temporary)


def read_senteval(path: Path) -> ProbeDataset:
    """Read a dataset, named after the file; the inverse of :func:`write_senteval`. Raises DatasetError."""
    return entries.build_dataset(_read_senteval_entries(path), name=path.stem, source=str(path))


def _read_senteval_entries(path: Path) -> Iterator[entries.Entry]:
    """Yield the items; raise DatasetError if the lines differ in their number of fields."""
    field_count = 0
    for number, line in entries.read_lines(path):
        where = f"{path}: line {number}"
        fields = line.split("\t")
        field_count = field_count or max(len(fields), _LEAST_FIELDS)
        if len(fields) != field_count:
            previous = f" ({field_count} fields in the lines before)" if field_count > _LEAST_FIELDS else ""
            raise DatasetError(f"{where}: {len(fields)} fields between tabs; expected split, label, sentence{previous}")
        code, label, *_, sentence = fields
        if code not in SPLIT_CODES:
            raise DatasetError(
                f"{where}: unknown split {code!r}{suggest(code, SPLIT_CODES)}; the splits are " + ", ".join(SPLIT_CODES)
            )
        yield entries.Entry(split=SPLIT_CODES[code], label=label.strip(), sentence=sentence, where=where)


def looks_like_senteval(line: str) -> bool:
    """Check whether a line could be an item in the format senteval: a split's code, and at least two more fields."""
    fields = line.split("\t")
    return len(fields) >= _LEAST_FIELDS and fields[0] in SPLIT_CODES
