"""Item tables: the test items of each dataset, stored as ``items/TASK.DIGEST.parquet`` in a results folder."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.common.errors import ResultsError, SentprobeError, UsageError, path_error
from sentprobe.common.files import atomic_path, to_local_path
from sentprobe.common.reading import read_parquet_table
from sentprobe.common.values import BadSyntaxError, parse_json
from sentprobe.probes.datasets.dataset import Indices
from sentprobe.probes.results.result import Condition, Result

FOLDER = "items"
FORMAT = "sentprobe-test-items 1"

LABEL, LENGTH = "label", "length"
"""The names of the property columns that every item table has."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemTable:
    """The test items of a dataset; each sequence except ``labels`` has one entry per item."""

    task: str
    fingerprint: str
    labels: tuple[str, ...]
    targets: Indices
    """The correct answers as indices into the labels, (n,) int64."""
    sentences: tuple[str, ...]
    probes: tuple[tuple[str, ...], ...]
    marks: tuple[tuple[int, ...], ...]
    """The index of each probe word among the tokens of the sentence, such as ``(2, 5)``."""
    events: tuple[str, ...]
    """The event of each sentence in text notation; "" if the grammar cannot parse the sentence."""
    columns: Mapping[str, tuple[str, ...]]
    """Properties of the items, such as the length, by which accuracy can be broken down; unknown values are ""."""

    def __len__(self) -> int:
        return len(self.sentences)


def find_item_table(directory: Path, *, task: str, fingerprint: str) -> Path:
    """Return the path of a dataset's item table in a results folder; the file may not exist."""
    safe = re.sub(r"[^A-Za-z0-9_.=-]+", "_", task[:60]).lstrip(".")
    return directory / FOLDER / f"{safe}.{fingerprint[:12]}.parquet"


def write_item_table(table: ItemTable, directory: Path) -> Path:
    """Write an item table into a results folder; raise UsageError or ResultsError if that fails."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = find_item_table(directory, task=table.task, fingerprint=table.fingerprint)
    head = {
        "format": FORMAT,
        "task": table.task,
        "fingerprint": table.fingerprint,
        "labels": list(table.labels),
        "columns": list(table.columns),
    }
    columns = {
        "sentence": pa.array(table.sentences, pa.string()),
        "target": pa.array(table.targets, pa.int64()),
        "probes": pa.array(map(list, table.probes), pa.list_(pa.string())),
        "marks": pa.array(map(list, table.marks), pa.list_(pa.int64())),
        "event": pa.array(table.events, pa.string()),
    }
    # By number: a property may have the name of a column above, such as "event".
    columns |= {
        f"{_COLUMN_PREFIX}{n}": pa.array(values, pa.string()).dictionary_encode()
        for n, values in enumerate(table.columns.values())
    }
    stored_table = pa.table(columns).replace_schema_metadata({_HEADER_KEY: json.dumps(head)})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise path_error(path.parent, "cannot write results here", error) from error
    try:
        with atomic_path(path) as temporary:
            pq.write_table(stored_table, to_local_path(temporary), compression="zstd")
    except UsageError:
        raise
    except SentprobeError as error:
        raise ResultsError(str(error)) from error
    return path


_HEADER_KEY, _COLUMN_PREFIX = "sentprobe", "column"
"""The header's key in the Parquet metadata, and the prefix of property columns (``column0``, ``column1``)."""


def read_item_table(directory: Path, *, task: str, fingerprint: str) -> ItemTable | None:
    """Read the item table of a dataset; return None if there is none, and raise ResultsError if it is damaged."""
    import pyarrow as pa

    path = find_item_table(directory, task=task, fingerprint=fingerprint)
    if not path.exists():
        return None
    try:
        table = read_parquet_table(path)
        item_table = _parse_item_table(table.to_pydict(), parse_json(table.schema.metadata[_HEADER_KEY.encode()]))
    except PermissionError as error:
        raise path_error(path, "cannot read the items", error) from error
    except (pa.ArrowException, OSError, BadSyntaxError, ArithmeticError, ValueError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise ResultsError(
            f"{path}: not an item table of sentprobe ({reason:.200}); remove it, and run the same command again"
        ) from None
    return item_table if (item_table.task, item_table.fingerprint) == (task, fingerprint) else None


def _parse_item_table(columns: Mapping[str, list[Any]], head: Mapping[str, Any]) -> ItemTable:
    """Return the item table; raise ValueError for a wrong format or type, or a value out of range."""
    if head["format"] != FORMAT:
        raise ValueError(f"the format {head['format']!r} is not {FORMAT!r}")
    table = ItemTable(
        task=head["task"],
        fingerprint=head["fingerprint"],
        labels=tuple(head["labels"]),
        targets=np.array(columns["target"], np.int64),
        sentences=tuple(columns["sentence"]),
        probes=tuple(map(tuple, columns["probes"])),
        marks=tuple(map(tuple, columns["marks"])),
        events=tuple(columns["event"]),
        columns={name: tuple(columns[f"{_COLUMN_PREFIX}{n}"]) for n, name in enumerate(head["columns"])},
    )
    # Parquet columns may hold nulls, and the file may come from a stranger: all is checked before it is used.
    texts = [table.task, table.fingerprint, *table.labels, *table.sentences, *table.events]
    texts += [text for column in (*table.probes, *table.columns.values()) for text in column]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a text is missing")
    if len(table) and not 0 <= table.targets.min() <= table.targets.max() < len(table.labels):
        raise ValueError("an answer is not one of the labels")
    for sentence, marks in zip(table.sentences, table.marks, strict=True):
        if not all(isinstance(at, int) and 0 <= at < len(sentence.split()) for at in marks):
            raise ValueError("the position of a probe word is outside of its sentence")
    return table


def has_items(result: Result, directory: Path) -> bool:
    """Return whether a results folder has the item table for a result."""
    return find_item_table(directory, task=result.task, fingerprint=result.dataset_fingerprint).exists()


def has_held_out(result: Result) -> bool:
    """Return whether a structure was held out of the training items of a result."""
    return result.data is not None and bool(result.data.held_out)


def read_item_tables(results: Iterable[Result], directory: Path | None = None) -> tuple[ItemTable, ...]:
    """Read the item table of each dataset in *results*, from *directory* or else from the folder of each result.

    Raises UsageError if a table is absent.
    """
    tables: dict[tuple[str, str], ItemTable] = {}
    folders_without: dict[tuple[str, str], Path] = {}
    for result in results:
        key = result.task, result.dataset_fingerprint
        folder = directory or Path(result.source or ".")
        if key not in tables:
            table = read_item_table(folder, task=key[0], fingerprint=key[1])
            # A table with another number of rows is not that of these answers, though task and digest are equal.
            if table is not None and len(table) == result.scores[Condition.PROBE].total:
                tables[key] = table
            else:
                folders_without.setdefault(key, folder)
    for key, folder in folders_without.items():
        if key not in tables:
            raise UsageError(
                f"{folder}: does not have the test items of {key[0]}; run the same command again: it adds them "
                "without training"
            )
    return tuple(tables.values())
