"""Our own format: a directory of sentences.parquet, items.parquet and card.json.

sentences.parquet has the column ``sentence``; items.parquet has, for each item, ``split``, ``row``
(of its sentence, from 0), ``label`` and ``probe1``, ``probe2`` as far as there are any; all other
columns are those of the items.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.errors import SentprobeError, UsageError, part_error, path_error
from sentprobe.files import atomic_folder, atomic_path, local_path, what_is
from sentprobe.probes.dataset import Card, DatasetError, Indices, Items, ProbeDataset, Split
from sentprobe.probes.formats import hub
from sentprobe.probes.formats.entries import are_texts, check_columns, write_lines
from sentprobe.values import BadSyntaxError, parse_json

CARD = "card.json"
"""The file of a dataset's directory that says what it is and how it was made."""

OURS = "sentprobe-"
"""How the format in each card of ours begins."""

SENTENCES = "sentences.parquet"
ITEMS = "items.parquet"

FILES: Mapping[Split, str] = {
    Split.TRAIN: "train.txt",
    Split.VALIDATION: "dev.txt",
    Split.TEST: "test.txt",
}
"""The file of each split, in the format published."""

SPLITS_FORMAT = f"{OURS}splits 1"
"""The format in the card.json of a folder with a file for each split."""

_OWN = {
    f"{OURS}dataset": {CARD, SENTENCES, ITEMS},
    f"{OURS}published": {CARD, *FILES.values()},
    f"{OURS}splits": {CARD, *(f"{split.value}.jsonl" for split in Split)},
    f"{OURS}hub": {CARD, *(f"{split.value}.parquet" for split in Split)},
}
"""The files of a dataset, by the first word of its format; no others are ever removed."""


def new_directory(path: Path) -> AbstractContextManager[Path]:
    """Give an empty directory beside *path*, which takes its place on success.

    A dataset of ours that was there is replaced.

    Raises:
        UsageError: something else is at *path*, or the folder above it cannot be written.
        SentprobeError: a file cannot be written (a full disk).
    """
    return atomic_folder(path, check=partial(check_place, path))


def check_place(path: Path) -> None:
    """Refuse to write a dataset over what is not one of ours, or has another's file in it.

    Raises:
        UsageError: there is something else at *path*; names the file that would be lost.
    """
    if not path.exists() and not path.is_symlink():
        return
    if not path.is_dir() or path.is_symlink():
        raise UsageError(f"{path}: there is something else of that name; a dataset is a directory")
    names = sorted(child.name for child in path.iterdir())
    found = format_in(path)
    if names and not found.startswith(OURS):
        raise UsageError(f"{path}: not empty, and not a dataset of sentprobe's; not overwritten")
    own = _OWN.get(found.partition(" ")[0], {CARD})
    foreign = [name for name in names if not _is_own(path / name, own)]
    if foreign:
        raise UsageError(
            f"{path / foreign[0]}: no file of the dataset there, and would be lost; not "
            "overwritten: move it, or write to another folder"
        )


def _is_own(file: Path, own: Collection[str]) -> bool:
    """Say whether a file of a dataset's directory is one of ours, or our folder of split files."""
    name = _own_name(file.name)
    if name == hub.PARQUET and file.is_dir():
        known = {f"{split.value}.parquet" for split in Split}
        return all(_own_name(child.name) in known for child in file.iterdir())
    if name == hub.README:
        return hub.is_our_readme(file)
    return name in own and not file.is_dir()


def _own_name(name: str) -> str:
    """Return the name that a file has when it is whole: a killed command may leave a part."""
    half = re.fullmatch(r"\.(.+)\.[^.]+\.part", name)
    return half[1] if half else name


def prepare_folder(out: Path, directories: Sequence[Path]) -> None:
    """Make the folder that datasets go into; *directories* are those that will be datasets.

    Raises:
        UsageError: it is a folder of results or a table, or cannot be written to; something else
            is in the place of a dataset.
    """
    kind = what_is(out)
    if kind:
        raise UsageError(f"{out}: is {kind}; write the datasets to another folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for place in directories:
            check_place(place)
    except OSError as error:
        raise path_error(out, "cannot write datasets there", error) from error


def format_in(path: Path) -> str:
    """Return the format that the card in a directory states, or "" if there is none."""
    try:
        value = parse_json((path / CARD).read_bytes())
    except (OSError, BadSyntaxError):
        return ""
    found = value.get("format") if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def write_card_file(data: ProbeDataset, path: Path, *, fmt: str) -> None:
    """Write the card, and what the other files do not say: name, labels, probe words."""
    value = {
        "format": fmt,
        "name": data.name,
        "labels": list(data.labels),
        "probe_words": list(data.probe_words),
        "fingerprint": data.fingerprint(),
        "card": data.card.to_json(),
    }
    write_lines([json.dumps(value, indent=2, ensure_ascii=False)], path)


def read_card_file(directory: Path, *, fmt: str) -> dict[str, Any]:
    """Read the file back, with the card as a :class:`Card`.

    Raises:
        DatasetError: it is not there, broken, or of another format.
    """
    path = directory / CARD
    try:
        value = parse_json(path.read_bytes())
    except OSError as error:
        raise part_error(path, "cannot read it", error, damaged=DatasetError) from error
    except BadSyntaxError as error:
        raise DatasetError(f"{path}: not JSON ({error})") from None
    if not isinstance(value, dict) or value.get("format") != fmt:
        raise DatasetError(f"{path}: not a card in the format {fmt!r}")
    lists = all(are_texts(value.get(key)) for key in ("labels", "probe_words"))
    if not lists or not all(isinstance(value.get(k), str) for k in ("name", "fingerprint")):
        raise DatasetError(
            f"{path}: name and fingerprint must be texts, labels and probe_words lists of texts"
        )
    try:
        return {**value, "card": Card.from_json(value.get("card"))}
    except SentprobeError as error:
        raise DatasetError(f"{path}: {error}") from None


FORMAT = "sentprobe-dataset 1"
"""The format in card.json."""

_ITEM_COLUMNS = {"split": "string", "row": "int64", "label": "string"}
_PROBE_COLUMNS = ("probe1", "probe2")


def write_directory(data: ProbeDataset, path: Path) -> None:
    """Write the dataset; equal datasets give equal bytes.

    Raises:
        UsageError: something else is at *path*.
        SentprobeError: it cannot be written.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow import
    import pyarrow.parquet as pq  # noqa: PLC0415

    check_columns(data, (*_ITEM_COLUMNS, *_PROBE_COLUMNS), format_name="directory")
    with new_directory(path) as directory:
        try:
            sentences = pa.table({"sentence": pa.array(data.sentences, pa.string())})
            items = pa.table(_columns(data))
        except UnicodeEncodeError as error:
            raise DatasetError(f"{path}: no valid Unicode: {error.object!r:.60}") from None
        pq.write_table(sentences, local_path(directory / SENTENCES), compression="zstd")
        pq.write_table(items, local_path(directory / ITEMS), compression="zstd")
        write_card_file(data, directory / CARD, fmt=FORMAT)
        write_for_hub(data, directory)


def write_for_hub(data: ProbeDataset, directory: Path) -> None:
    """Write what ``load_dataset`` needs: a Parquet file for each split, and the README."""
    hub.write_split_files(data, directory / hub.PARQUET)
    hub.write_readme(data, directory, files=f"{hub.PARQUET}/{{}}.parquet")


def _columns(data: ProbeDataset) -> dict[str, Any]:
    parts = list(data.splits.values())
    sizes = [len(items) for items in parts]
    probes = np.concatenate([items.probes for items in parts])
    splits = np.repeat(np.arange(len(parts)), sizes)
    known = {
        "split": _texts(splits, [split.value for split in data.splits]),
        "row": np.concatenate([items.rows for items in parts]),
        "label": _texts(np.concatenate([items.targets for items in parts]), data.labels),
    }
    words = {f"probe{n + 1}": _texts(probes[:, n], data.probe_words) for n in range(data.slots)}
    others = {name: _coded([each.columns[name] for each in parts]) for name in data.columns}
    return {**known, **words, **others}


def _coded(parts: Sequence[Sequence[str]]) -> Any:
    """Return the values of a column in all splits, each different one once."""
    import pyarrow as pa  # noqa: PLC0415

    return pa.array([*chain.from_iterable(parts)], pa.string()).dictionary_encode()


def _texts(indices: Indices, texts: Sequence[str]) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    words = pa.array(list(texts), pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(indices.astype(np.int32)), words)


def read_directory(path: Path) -> ProbeDataset:
    """Read a dataset; the inverse of :func:`write_directory`.

    Raises:
        DatasetError: a file is missing, damaged or does not belong to the others.
    """
    kept = read_card_file(path, fmt=FORMAT)
    sentences = read_columns(path / SENTENCES, {"sentence": "string"})
    table = read_columns(path / ITEMS, _ITEM_COLUMNS)
    names = [name for name in _PROBE_COLUMNS if name in table.column_names]
    file = path / ITEMS
    probes = [_indices(table, name, kept["probe_words"], file) for name in names]
    columns = (
        table["row"].to_numpy(),
        np.stack(probes, axis=1) if probes else np.empty((len(table), 0), np.int64),
        _indices(table, "label", kept["labels"], file),
    )
    splits = _indices(table, "split", [split.value for split in Split], file)
    try:
        every = Items(*columns, _others(table, {*_ITEM_COLUMNS, *names}))
        data = ProbeDataset(
            name=kept["name"],
            sentences=tuple(sentences["sentence"].to_pylist()),
            labels=tuple(kept["labels"]),
            probe_words=tuple(kept["probe_words"]),
            splits={
                split: every.at(splits == code)
                for code, split in enumerate(Split)
                if code in splits
            },
            card=kept["card"],
        )
    except DatasetError as error:
        raise DatasetError(f"{path}: {error}") from None
    if data.fingerprint() != kept["fingerprint"]:
        raise DatasetError(f"{path}: the files do not belong together (fingerprints differ)")
    return data


def _others(table: Any, known: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the columns that are not *known*; a missing value is empty."""
    found = {name: table[name].to_pylist() for name in table.column_names if name not in known}
    return {
        name: tuple("" if each is None else str(each) for each in values)
        for name, values in found.items()
    }


def read_columns(path: Path, columns: dict[str, str]) -> Any:
    """Read a Parquet file that has at least these columns, of these types, without nulls."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        table = pq.read_table(local_path(path))
        table.validate(full=True)
    except FileNotFoundError:
        raise DatasetError(f"{path}: there is no such file") from None
    except PermissionError as error:
        raise part_error(path, "cannot read it", error, damaged=DatasetError) from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise DatasetError(f"{path}: not a Parquet file that can be read ({reason})") from None
    check_types(table, columns, path)
    return table


def check_types(table: Any, columns: dict[str, str], path: Path) -> None:
    """Refuse a table, read from *path*, without these columns of these types, without nulls."""
    import pyarrow as pa  # noqa: PLC0415

    for name, kind in columns.items():
        if name not in table.column_names:
            raise DatasetError(f"{path}: there is no column {name!r}")
        found = table.schema.field(name).type
        found = found.value_type if pa.types.is_dictionary(found) else found
        if str(found).removeprefix("large_") != kind or table[name].null_count:
            raise DatasetError(f"{path}: column {name!r} must be of {kind}, with no value missing")


def _indices(table: Any, name: str, texts: Sequence[str], file: Path) -> Indices:
    """Return for each value of a column its place in *texts*, (n,) int64."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    try:
        column = table[name].cast(pa.string())
    except pa.ArrowException as error:
        raise DatasetError(f"{file}: column {name!r} must be of texts: {error}") from None
    found = pc.index_in(column, value_set=pa.array(list(texts), pa.string()))
    if found.null_count:
        item = int(np.argmax(found.is_null().to_numpy()))
        value = column[item].as_py()
        raise DatasetError(f"{file}: item {item}: {name} {value!r} is not one of those in {CARD}")
    return np.asarray(found.to_numpy(), np.int64)


def write_card(data: ProbeDataset, path: Path) -> None:
    """Replace the card of a dataset in our format, atomically, by that of *data*.

    Raises:
        DatasetError: the directory holds another dataset.
    """
    kept = read_card_file(path, fmt=FORMAT)
    if data.fingerprint() != kept["fingerprint"]:
        raise DatasetError(f"{path}: holds another dataset than {data.name}")
    with atomic_path(path / CARD) as temporary:
        write_card_file(data, temporary, fmt=FORMAT)


def is_directory(path: Path) -> bool:
    """Say whether a directory looks like a dataset in this format."""
    if format_in(path) == FORMAT:
        return True
    return (path / SENTENCES).exists() or (path / ITEMS).exists()
