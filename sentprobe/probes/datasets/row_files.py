"""Text formats with one item per line.

- jsonl: a first line or a ``.card.json`` file can add name, list of labels and card
- published: the files of compeval
- senteval: without probe words
- splits: a folder with a table or JSONL file for each split, such as train.csv or dev.jsonl
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import file_digest
from itertools import chain
from pathlib import Path
from typing import Any

from sentprobe.common.errors import SentprobeError, UsageError, format_count, suggest
from sentprobe.common.files import atomic_path, write_atomically
from sentprobe.common.values import BadSyntaxError, format_json, parse_json
from sentprobe.probes.datasets import directory
from sentprobe.probes.datasets.dataset import Card, DatasetError, ProbeDataset, Split
from sentprobe.probes.datasets.records import (
    PROBES,
    SENTENCE,
    SPLITS,
    TABLES,
    Entry,
    Fields,
    build_card,
    build_dataset,
    check_columns,
    check_label_case,
    check_line_texts,
    find_fields,
    is_table,
    is_text_list,
    iterate_entries,
    parse_entry,
    read_head,
    read_lines,
    read_table_entries,
    write_lines,
)

ITEMS_FORMAT = "sentprobe-items 1"
JSONL = ".jsonl"
_HEADER = ("format", "name", "labels", "columns", "card")
_KEYS = ("split", "label", "sentence", "probes")


def get_card_path(path: Path) -> Path:
    """Return the path of the card of a JSONL file, such as ``Order.card.json`` for ``Order.jsonl``."""
    return path.with_name(f"{path.stem}.card.json")


def write_jsonl(data: ProbeDataset, path: Path) -> None:
    """Write the items, and the card to a second file. Sentences without an item are lost. Raises UsageError."""
    card_path = get_card_path(path)
    try:
        is_replaceable = not card_path.exists() or _is_header(parse_json(card_path.read_bytes()))
    except (BadSyntaxError, OSError):
        is_replaceable = False
    if not is_replaceable:
        raise UsageError(f"{card_path}: not a card of sentprobe, so not replaced: move it")
    check_columns(data, (*_KEYS, *PROBES, *SENTENCE), format_name="jsonl")
    columns = {"columns": list(data.columns)} if data.columns else {}
    header = {
        "format": ITEMS_FORMAT,
        "name": data.name,
        "labels": list(data.labels),
        **columns,
        "card": data.card.to_json(),
    }
    with atomic_path(path) as temporary:
        lines = (format_entry(entry, split=entry.split.value) for entry in iterate_entries(data))
        write_lines(lines, temporary)
        # The items are in place when the block ends. Until then, the card describes both the old and the new items.
        replaces = path.is_file()
        transition = {_ITEMS_DIGEST: _compute_digest(temporary), _PREVIOUS_CARD: _read_card_file(path)}
        _write_card(header | transition if replaces else header, path)
    if replaces:
        _write_card(header, path)


def _write_card(header: Mapping[str, Any], path: Path) -> None:
    write_atomically(get_card_path(path), format_json(header, indent=2) + "\n")


_ITEMS_DIGEST, _PREVIOUS_CARD = "items", "before"
"""Keys of a card while its items are replaced: the digest of the new items, and the old card. With them, the dataset
stays readable if the command is killed."""


def _compute_digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _is_header(value: object) -> bool:
    return isinstance(value, dict) and str(value.get("format", "")).startswith("sentprobe-items")


def format_entry(entry: Entry, **further: str) -> str:
    """Return an item as a line of JSON: *further* fields, label, sentence, probe words and columns."""
    value = {**further, "label": entry.label, "sentence": entry.sentence, "probes": entry.probes, **entry.columns}
    return format_json(value)


def is_jsonl(path: Path) -> bool:
    """Return whether a file is named .jsonl or begins with an object."""
    if path.suffix in (JSONL, ".json"):  # a .json file, such as a card, is one object in many lines
        return path.suffix == JSONL
    head = read_head(path)
    return bool(head) and head[0].startswith("{")


def read_jsonl(path: Path) -> ProbeDataset:
    """Read a dataset; the inverse of :func:`write_jsonl`. Raises DatasetError, with the line."""
    values = read_values(path)
    where, first = next(values, ("", {}))
    if not where:
        raise DatasetError(f"{path}: the file is empty")
    header = first if "format" in first else _read_card_file(path)
    if header is None:
        fields, items = read_value_entries((where, first), values)
        card = build_card(path, fields.columns)
        return build_dataset(items, name=path.stem, source=str(path), card=card)
    is_inline = header is first
    labels, name, header_card = _parse_header(header, where=where if is_inline else str(get_card_path(path)))
    item_values = values if is_inline else chain([(where, first)], values)
    return build_dataset(
        _iterate_entries(item_values, None, (*_KEYS, *header.get("columns", ()))),
        name=name or path.stem,
        source=str(path),
        card=header_card,
        labels=labels,
    )


def _read_card_file(path: Path) -> Mapping[str, Any] | None:
    """Return the card that describes the items at *path*: that of its card file, or the old one stored in it."""
    card_path = get_card_path(path)
    if not card_path.is_file():
        return None
    card = _parse_object("\n".join(line for _, line in read_lines(card_path)), str(card_path))
    if not _is_header(card):
        return None
    if _ITEMS_DIGEST not in card:
        return card
    if _compute_digest(path) == card[_ITEMS_DIGEST]:
        return {key: value for key, value in card.items() if key not in {_ITEMS_DIGEST, _PREVIOUS_CARD}}
    # The card is written before the items: if the process was killed between them, the old card still describes the old
    # items.
    previous = card.get(_PREVIOUS_CARD)
    return previous if _is_header(previous) else None


LocatedValue = tuple[str, Mapping[str, Any]]
"""A place (file and line) and the JSON object that was read there."""


def read_values(path: Path, *, keys: Sequence[str] = _KEYS) -> Iterator[LocatedValue]:
    """Yield the place and JSON object of each line; raise DatasetError that names the line and the expected *keys*."""
    for number, line in read_lines(path):
        where = f"{path}: line {number}"
        yield where, _parse_object(line, where, keys)


def read_value_entries(
    first: LocatedValue, values: Iterable[LocatedValue], *, split: Split | None = None
) -> tuple[Fields, Iterator[Entry]]:
    """Return the field names of the first object, and an iterator over all items. Raises DatasetError."""
    fields = find_fields([*first[1]], where=first[0], split=split)
    return fields, _iterate_entries(chain([first], values), split)


def _iterate_entries(
    values: Iterable[LocatedValue], split: Split | None, allowed_keys: tuple[str, ...] = ()
) -> Iterator[Entry]:
    fields_by_keys: dict[tuple[str, ...], Fields] = {}
    for where, value in values:
        keys = tuple(value)
        if keys not in fields_by_keys:
            if allowed_keys:
                _check_keys(value, allowed_keys, where)
            fields_by_keys[keys] = find_fields(keys, where=where, split=split)
        yield parse_entry(value, fields_by_keys[keys], where=where, split=split)


def _parse_object(line: str, where: str, keys: Sequence[str] = _KEYS) -> Mapping[str, Any]:
    try:
        value = parse_json(line)
    except BadSyntaxError as error:
        raise DatasetError(f"{where}: not JSON ({error})") from None
    if not isinstance(value, dict):
        raise DatasetError(f"{where}: not an object with the keys {', '.join(keys)}")
    return value


def _parse_header(header: Mapping[str, Any], *, where: str) -> tuple[list[str], str, Card | None]:
    if header["format"] != ITEMS_FORMAT:
        raise DatasetError(f"{where}: format {header['format']!r} is not {ITEMS_FORMAT!r}")
    _check_keys(header, _HEADER, where)
    labels, name = header.get("labels", []), header.get("name", "")
    if not is_text_list(labels) or not isinstance(name, str):
        raise DatasetError(f"{where}: labels must be a list of texts, and name a text")
    if not is_text_list(header.get("columns", [])):
        raise DatasetError(f"{where}: columns must be a list of texts")
    try:
        return labels, name, Card.from_json(header["card"]) if "card" in header else None
    except SentprobeError as error:
        raise DatasetError(f"{where}: {error}") from None


def _check_keys(value: Mapping[str, Any], allowed: tuple[str, ...], where: str) -> None:
    if unknown := [key for key in value if key not in allowed]:
        suggestion = suggest(unknown[0], allowed)
        raise DatasetError(f"{where}: unknown key {unknown[0]!r}{suggestion}; the keys are {', '.join(allowed)}")


PUBLISHED_FORMAT = "sentprobe-published 1"
"""The format name in card.json. The original compeval datasets have no card.json."""


def write_published(data: ProbeDataset, path: Path) -> None:
    """Write the dataset to the folder *path*. Sentences and probe words without an item are lost. Raises UsageError."""
    check_line_texts(data, format_name="published")
    ids = {sentence: f"s{row}" for row, sentence in enumerate(data.sentences)}
    with directory.open_new_directory(path) as folder:
        for split, name in directory.FILES.items():
            if split in data.splits:
                lines = (
                    "\t".join((entry.label, ids[entry.sentence], entry.sentence, *entry.probes))
                    for entry in iterate_entries(data, [split])
                )
                write_lines(lines, folder / name)
        directory.write_card_file(data, folder / directory.CARD, fmt=PUBLISHED_FORMAT)
        directory.write_hub_files(data, folder)


def read_published(path: Path) -> ProbeDataset:
    """Read a dataset as :func:`write_published` writes it. A DatasetError about a line names the file and the line."""
    if not path.is_dir():
        raise DatasetError(f"{path}: a dataset in the format published is a directory with train.txt and test.txt")
    for split in (Split.TRAIN, Split.TEST):
        if not (path / directory.FILES[split]).is_file():
            raise DatasetError(f"{path}: there is no {directory.FILES[split]}: no {split} split")
    card_file: dict[str, Any] = {"name": path.resolve().name, "card": None, "labels": ()}
    if directory.read_format_name(path) == PUBLISHED_FORMAT:
        card_file = directory.read_card_file(path, fmt=PUBLISHED_FORMAT)
    return directory.build_from_card(card_file, _read_published_entries(path), path)


def _read_published_entries(path: Path) -> Iterator[Entry]:
    for split, name in directory.FILES.items():
        file = path / name
        if not file.is_file():
            continue
        empty = True
        for number, line in read_lines(file):
            empty = False
            where, fields = f"{file}: line {number}", line.split("\t")
            if len(fields) < 3:
                count = format_count(len(fields), "field")
                raise DatasetError(f"{where}: {count} between tabs; expected label, id, sentence and probe words")
            label, _, sentence, *words = fields
            probes = tuple(word.strip() for word in words)
            yield Entry(split=split, label=label.strip(), sentence=sentence, probes=probes, where=where)
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
    check_line_texts(data, format_name="senteval")
    check_label_case(data, format_name="senteval")
    codes = {split: code for code, split in SPLIT_CODES.items()}
    lines = (f"{codes[entry.split]}\t{entry.label}\t{entry.sentence}" for entry in iterate_entries(data))
    with atomic_path(path) as temporary:
        write_lines(lines, temporary)


def read_senteval(path: Path) -> ProbeDataset:
    """Read a dataset, named after the file; the inverse of :func:`write_senteval`. Raises DatasetError."""
    return build_dataset(_read_senteval_entries(path), name=path.stem, source=str(path))


def _read_senteval_entries(path: Path) -> Iterator[Entry]:
    """Yield the items; raise DatasetError if the lines differ in their number of fields."""
    field_count = 0
    for number, line in read_lines(path):
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
        yield Entry(split=SPLIT_CODES[code], label=label.strip(), sentence=sentence, where=where)


def is_senteval(path: Path) -> bool:
    """Return whether one of a file's first lines could be an item: a split's code, and at least two more fields."""
    rows = [line.split("\t") for line in read_head(path)]
    # The rows of a table with a header, which is in the format csv, may have the same fields.
    return any(len(row) >= _LEAST_FIELDS and row[0] in SPLIT_CODES for row in rows) and not is_table(path)


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
