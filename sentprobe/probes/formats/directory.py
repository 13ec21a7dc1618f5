"""Our own format: a directory of sentences.parquet, items.parquet and card.json.

sentences.parquet has the column ``sentence``; items.parquet has, for each item, ``split``, ``row``
(of its sentence, from 0), ``label`` and ``probe1``, ``probe2`` as far as there are any.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.generator.files import atomic_path
from sentprobe.probes.dataset import DatasetError, Indices, Items, ProbeDataset, Split
from sentprobe.probes.formats.folders import (
    CARD,
    ITEMS,
    SENTENCES,
    format_in,
    new_directory,
    read_card_file,
    write_card_file,
)

FORMAT = "sentprobe-dataset 1"
"""The format in card.json."""


def write_directory(data: ProbeDataset, path: Path) -> None:
    """Write the dataset; equal datasets give equal bytes.

    Raises:
        UsageError: something else is at *path*.
        SentprobeError: it cannot be written.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow import
    import pyarrow.parquet as pq  # noqa: PLC0415

    with new_directory(path) as directory:
        try:
            sentences = pa.table({"sentence": pa.array(data.sentences, pa.string())})
            items = pa.table(_columns(data))
        except UnicodeEncodeError as error:
            raise DatasetError(f"{path}: no valid Unicode: {error.object!r:.60}") from None
        pq.write_table(sentences, directory / SENTENCES, compression="zstd")
        pq.write_table(items, directory / ITEMS, compression="zstd")
        write_card_file(data, directory / CARD, fmt=FORMAT)


def _columns(data: ProbeDataset) -> dict[str, Any]:
    parts = list(data.splits.values())
    sizes = [len(items) for items in parts]
    probes = np.concatenate([items.probes for items in parts])
    splits = np.repeat(np.arange(len(parts)), sizes)
    return {
        "split": _texts(splits, [split.value for split in data.splits]),
        "row": np.concatenate([items.rows for items in parts]),
        "label": _texts(np.concatenate([items.targets for items in parts]), data.labels),
    } | {
        f"probe{slot + 1}": _texts(probes[:, slot], data.probe_words) for slot in range(data.slots)
    }


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
    sentences = _table(path / SENTENCES, {"sentence": "string"})
    table = _table(path / ITEMS, {"split": "string", "row": "int64", "label": "string"})
    names = [f"probe{slot}" for slot in (1, 2) if f"probe{slot}" in table.column_names]
    file = path / ITEMS
    probes = [_indices(table, name, kept["probe_words"], file) for name in names]
    columns = (
        table["row"].to_numpy(),
        np.stack(probes, axis=1) if probes else np.empty((len(table), 0), np.int64),
        _indices(table, "label", kept["labels"], file),
    )
    splits = _indices(table, "split", [split.value for split in Split], file)
    try:
        data = ProbeDataset(
            name=kept["name"],
            sentences=tuple(sentences["sentence"].to_pylist()),
            labels=tuple(kept["labels"]),
            probe_words=tuple(kept["probe_words"]),
            splits={
                split: Items(*(column[splits == code] for column in columns))
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


def _table(path: Path, columns: dict[str, str]) -> Any:
    """Read a Parquet file that has at least these columns, of these types, without nulls."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        table = pq.read_table(path)
        table.validate(full=True)
    except FileNotFoundError:
        raise DatasetError(f"{path}: there is no such file") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise DatasetError(f"{path}: not a Parquet file that can be read ({reason})") from None
    for name, kind in columns.items():
        if name not in table.column_names:
            raise DatasetError(f"{path}: there is no column {name!r}")
        found = table.schema.field(name).type
        found = found.value_type if pa.types.is_dictionary(found) else found
        if str(found).removeprefix("large_") != kind or table[name].null_count:
            raise DatasetError(f"{path}: column {name!r} must be of {kind}, with no value missing")
    return table


def _indices(table: Any, name: str, texts: Sequence[str], file: Path) -> Indices:
    """Return for each value of a column its place in *texts*, (n,) int64."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    column = table[name].cast(pa.string())
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
