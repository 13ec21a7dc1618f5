"""The default format: a directory with sentences.parquet, items.parquet and card.json (see ``docs/datasets.md``)."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.common.errors import SentprobeError, UsageError, first_line, folder_part_error, path_error
from sentprobe.common.files import atomic_folder, atomic_path, to_local_path
from sentprobe.common.inputs import describe_folder, manage_folder
from sentprobe.common.reading import read_parquet_table
from sentprobe.common.values import BadSyntaxError, format_json, parse_json
from sentprobe.probes.datasets import hub
from sentprobe.probes.datasets.dataset import Card, DatasetError, Indices, Items, ProbeDataset, Split, check_card_counts
from sentprobe.probes.datasets.records import (
    PROBES,
    Entry,
    build_dataset,
    check_columns,
    is_text_list,
    iterate_entries,
    write_lines,
)

CARD = "card.json"
FORMAT_PREFIX = "sentprobe-"
"""The beginning of the format name in each card.json of sentprobe."""
SENTENCES = "sentences.parquet"
ITEMS = "items.parquet"
FILES: Mapping[Split, str] = {Split.TRAIN: "train.txt", Split.VALIDATION: "dev.txt", Split.TEST: "test.txt"}
SPLITS_FORMAT = f"{FORMAT_PREFIX}splits 1"

_FILES_BY_FORMAT = {
    f"{FORMAT_PREFIX}dataset": {CARD, SENTENCES, ITEMS},
    f"{FORMAT_PREFIX}published": {CARD, *FILES.values()},
    f"{FORMAT_PREFIX}splits": {CARD, *(f"{split.value}.jsonl" for split in Split)},
    f"{FORMAT_PREFIX}hub": {CARD, *map(hub.name_split_file, Split)},
}
"""The files of a dataset, by its format name without the version; no other file is ever overwritten or removed."""


def open_new_directory(path: Path) -> AbstractContextManager[Path]:
    """Open an empty folder that replaces *path* after the ``with`` block. Raises UsageError (:func:`check_place`)."""
    return atomic_folder(path, check=partial(check_place, path))


def check_place(path: Path) -> None:
    """Raise UsageError if writing a dataset to *path* would destroy files that do not belong to an older dataset."""
    if not path.exists() and not path.is_symlink():
        return
    if not path.is_dir() or path.is_symlink():
        raise UsageError(f"{path}: is not a directory, as a dataset must be")
    names = sorted(child.name for child in path.iterdir())
    format_name = read_format_name(path)
    if names and not format_name.startswith(FORMAT_PREFIX):
        raise UsageError(f"{path}: is not empty and not a dataset of sentprobe; not overwritten")
    dataset_files = _FILES_BY_FORMAT.get(format_name.partition(" ")[0], {CARD})
    if foreign := [name for name in names if not _is_dataset_file(path / name, dataset_files)]:
        raise UsageError(
            f"{path / foreign[0]}: not a file of the dataset, so not overwritten: move it, or write to another folder"
        )


def _is_dataset_file(file: Path, dataset_files: Collection[str]) -> bool:
    """Return whether *file* belongs to a dataset. The folder ``parquet`` does if it has nothing but split files."""
    name = _strip_part_suffix(file.name)
    if name == hub.PARQUET and file.is_dir():
        split_files = set(map(hub.name_split_file, Split))
        return all(_strip_part_suffix(child.name) in split_files for child in file.iterdir())
    if name == hub.README:
        return hub.is_sentprobe_readme(file)
    return name in dataset_files and not file.is_dir()


def _strip_part_suffix(name: str) -> str:
    """Return an unfinished file's final name (``a.txt`` for ``.a.txt.x.part``), or else *name* itself."""
    partial_name = re.fullmatch(r"\.(.+)\.[^.]+\.part", name)
    return partial_name[1] if partial_name else name


def prepare_folder(out: Path, directories: Sequence[Path]) -> None:
    """Create the folder *out*; raise UsageError if writing datasets to *directories* would destroy other files."""
    if kind := describe_folder(out):
        raise UsageError(f"{out}: is {kind}; write the datasets to another folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for directory in directories:
            check_place(directory)
        manage_folder(out)
    except OSError as error:
        raise path_error(out, "cannot write datasets there", error) from error


def read_format_name(path: Path) -> str:
    """Return the format name in the card.json of a directory; empty if the file is missing or unreadable."""
    try:
        value = parse_json((path / CARD).read_bytes())
    except (OSError, BadSyntaxError):
        return ""
    format_name = value.get("format") if isinstance(value, dict) else None
    return format_name if isinstance(format_name, str) else ""


def write_card_file(data: ProbeDataset, path: Path, *, fmt: str) -> None:
    """Write card.json: the card, name, labels, probe words, and the fingerprint of the dataset as it will be read."""
    as_read = data
    if fmt != FORMAT:  # the files have items only, whose order numbers the sentences and probe words
        as_read = build_dataset(iterate_entries(data), name=data.name, source=str(path), labels=data.labels)
    value = {
        "format": fmt,
        "name": data.name,
        "labels": list(data.labels),
        "probe_words": list(data.probe_words),
        "fingerprint": as_read.fingerprint(),
        "card": data.card.to_json(),
    }
    write_lines([format_json(value, indent=2)], path)


def read_card_file(directory: Path, *, fmt: str) -> dict[str, Any]:
    """Return the object in card.json, with the value of its key ``card`` as a :class:`Card`. Raises DatasetError."""
    path = directory / CARD
    try:
        value = parse_json(path.read_bytes())
    except OSError as error:
        raise folder_part_error(path, error, damaged=DatasetError) from error
    except BadSyntaxError as error:
        raise DatasetError(f"{path}: not JSON ({error})") from None
    if not isinstance(value, dict) or value.get("format") != fmt:
        raise DatasetError(f"{path}: not a card in the format {fmt!r}")
    lists = all(is_text_list(value.get(key)) for key in ("labels", "probe_words"))
    if not lists or not all(isinstance(value.get(k), str) for k in ("name", "fingerprint")):
        raise DatasetError(f"{path}: name and fingerprint must be texts, labels and probe_words lists of texts")
    try:
        return {**value, "card": Card.from_json(value.get("card"))}
    except SentprobeError as error:
        raise DatasetError(f"{path}: {error}") from None


def build_from_card(card_file: Mapping[str, Any], items: Iterable[Entry], path: Path) -> ProbeDataset:
    """Build the dataset of the items read from *path*, with the name, card and labels in *card_file*.

    Raises DatasetError if *card_file* has the fingerprint of another dataset.
    """
    name, card, labels = card_file["name"], card_file["card"], card_file["labels"]
    data = build_dataset(items, name=name, source=str(path), card=card, labels=labels)
    if "fingerprint" in card_file and data.fingerprint() != card_file["fingerprint"]:
        is_for_hub = card_file["format"].startswith(f"{FORMAT_PREFIX}hub")
        advice = "" if is_for_hub else f", or remove {CARD} if you changed them yourself"
        raise DatasetError(
            f"{path}: the items are not those that {CARD} was written for (fingerprints differ): write the dataset "
            f"again{advice}"
        )
    return data


FORMAT = "sentprobe-dataset 1"
_ITEM_COLUMNS = {"split": "string", "row": "int64", "label": "string"}


def write_directory(data: ProbeDataset, path: Path) -> None:
    """Write the dataset; equal datasets give equal bytes. Raises UsageError if *path* holds anything but a dataset."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_columns(data, (*_ITEM_COLUMNS, *PROBES), format_name="directory")
    with open_new_directory(path) as directory:
        try:
            sentences = pa.table({"sentence": pa.array(data.sentences, pa.string())})
            items = pa.table(_build_columns(data))
        except UnicodeEncodeError as error:
            raise DatasetError(f"{path}: not valid Unicode: {error.object!r:.60}") from None
        pq.write_table(sentences, to_local_path(directory / SENTENCES), compression="zstd")
        pq.write_table(items, to_local_path(directory / ITEMS), compression="zstd")
        write_card_file(data, directory / CARD, fmt=FORMAT)
        write_hub_files(data, directory)


def write_hub_files(data: ProbeDataset, directory: Path) -> None:
    """Write the files for ``load_dataset``: a Parquet file for each split, and the README."""
    hub.write_split_files(data, directory / hub.PARQUET)
    hub.write_readme(data, directory)


def _build_columns(data: ProbeDataset) -> dict[str, Any]:
    import pyarrow as pa

    parts = list(data.splits.values())
    probes = np.concatenate([items.probes for items in parts])
    splits = np.repeat(np.arange(len(parts)), [*map(len, parts)])
    columns = {
        "split": _encode_texts(splits, [split.value for split in data.splits]),
        "row": np.concatenate([items.rows for items in parts]),
        "label": _encode_texts(np.concatenate([items.targets for items in parts]), data.labels),
    }
    for slot, name in enumerate(PROBES[: data.slots]):
        columns[name] = _encode_texts(probes[:, slot], data.probe_words)
    for name in data.columns:
        texts = [text for items in parts for text in items.columns[name]]
        columns[name] = pa.array(texts, pa.string()).dictionary_encode()
    return columns


def _encode_texts(indices: Indices, texts: Sequence[str]) -> Any:
    import pyarrow as pa

    words = pa.array(list(texts), pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(indices.astype(np.int32)), words)


def read_directory(path: Path) -> ProbeDataset:
    """Read a dataset; the inverse of :func:`write_directory`. Raises DatasetError."""
    card = read_card_file(path, fmt=FORMAT)
    sentences = read_columns(path / SENTENCES, {"sentence": "string"})
    file = path / ITEMS
    table = read_columns(file, _ITEM_COLUMNS)
    names = [name for name in PROBES if name in table.column_names]
    probes = [_find_indices(table, name, card["probe_words"], file) for name in names]
    targets = _find_indices(table, "label", card["labels"], file)
    splits = _find_indices(table, "split", [split.value for split in Split], file)
    columns = {}
    for name in table.column_names:
        if name not in {*_ITEM_COLUMNS, *names}:
            columns[name] = tuple("" if value is None else str(value) for value in table[name].to_pylist())
    try:
        all_items = Items(
            rows=table["row"].to_numpy(),
            probes=np.stack(probes, axis=1) if probes else np.empty((len(table), 0), np.int64),
            targets=targets,
            columns=columns,
        )
        data = ProbeDataset(
            name=card["name"],
            sentences=tuple(sentences["sentence"].to_pylist()),
            labels=tuple(card["labels"]),
            probe_words=tuple(card["probe_words"]),
            splits={split: all_items.select(splits == code) for code, split in enumerate(Split) if code in splits},
            card=card["card"],
        )
    except DatasetError as error:
        raise DatasetError(f"{path}: {error}") from None
    check_card_counts(data, str(path))
    if data.fingerprint() != card["fingerprint"]:
        raise DatasetError(f"{path}: the files do not belong together (fingerprints differ)")
    return data


def read_columns(path: Path, columns: dict[str, str]) -> Any:
    """Read a Parquet file as an Arrow table; raise DatasetError if it is unreadable or :func:`check_types` fails."""
    import pyarrow as pa

    try:
        table = read_parquet_table(path)
        table.validate(full=True)
    except FileNotFoundError:
        raise DatasetError(f"{path}: there is no such file") from None
    except PermissionError as error:
        raise folder_part_error(path, error, damaged=DatasetError) from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise DatasetError(f"{path}: not a Parquet file that can be read ({reason})") from None
    check_types(table, columns, path)
    return table


def check_types(table: Any, columns: dict[str, str], path: Path) -> None:
    """Raise DatasetError unless a table has *columns* (name and type, such as ``int64``) without missing values."""
    import pyarrow as pa

    for name, dtype in columns.items():
        if name not in table.column_names:
            raise DatasetError(f"{path}: there is no column {name!r}")
        column_type = table.schema.field(name).type
        column_type = column_type.value_type if pa.types.is_dictionary(column_type) else column_type
        if str(column_type).removeprefix("large_") != dtype or table[name].null_count:
            raise DatasetError(f"{path}: column {name!r} must be of {dtype}, with no value missing")


def _find_indices(table: Any, name: str, allowed: Sequence[str], file: Path) -> Indices:
    """Return the index in *allowed* of each value of the column *name*, (n,) int64. Raises DatasetError."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        column = table[name].cast(pa.string())
    except pa.ArrowException as error:
        raise DatasetError(f"{file}: column {name!r} must be of texts: {first_line(error)}") from None
    indices = pc.index_in(column, value_set=pa.array(list(allowed), pa.string()))
    if indices.null_count:
        item = int(np.argmax(indices.is_null().to_numpy()))
        value = column[item].as_py()
        raise DatasetError(f"{file}: item {item}: {name} {value!r} is not one of those in {CARD}")
    return np.asarray(indices.to_numpy(), np.int64)


def write_card(data: ProbeDataset, path: Path) -> None:
    """Replace the card in the folder *path* atomically; raise DatasetError if the folder's dataset is not *data*."""
    card = read_card_file(path, fmt=FORMAT)
    if data.fingerprint() != card["fingerprint"]:
        raise DatasetError(f"{path}: holds another dataset than {data.name}")
    manage_folder(path)
    with atomic_path(path / CARD) as temporary:
        write_card_file(data, temporary, fmt=FORMAT)


def is_directory(path: Path) -> bool:
    return read_format_name(path) == FORMAT or (path / SENTENCES).exists() or (path / ITEMS).exists()
