"""The test items of a dataset as a folder of results keeps them, so that answers can be looked at.

For each dataset there is one file, ``items/TASK.DIGEST.parquet``: sentences, probe words, answers,
events, and columns by which accuracy is told. Results have the answers in the same order.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.errors import ResultsError, SentprobeError, UsageError, path_error
from sentprobe.files import atomic_path, local_path
from sentprobe.probes.dataset import Indices
from sentprobe.probes.runs.results import Condition, Result
from sentprobe.values import BadSyntaxError, parse_json

FOLDER = "items"
"""The folder of these files in a folder of results."""

FORMAT = "sentprobe-test-items 1"
"""The format that each of them states."""

LABEL, LENGTH = "label", "length"
"""The columns that every dataset has."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemTable:
    """The test items of a dataset, in order: all sequences run in parallel."""

    task: str
    fingerprint: str
    """The dataset's."""
    labels: tuple[str, ...]
    """All that there are, in order."""
    targets: Indices
    """(n,) int64, index into the labels: the answers that are right."""
    sentences: tuple[str, ...]
    probes: tuple[tuple[str, ...], ...]
    marks: tuple[tuple[int, ...], ...]
    """Which tokens of the sentence are the probe words, from 0."""
    events: tuple[str, ...]
    """In the notation of events; empty where the grammar does not have the sentence."""
    columns: Mapping[str, tuple[str, ...]]
    """What accuracy is told by; empty where it is not known of an item."""

    def __len__(self) -> int:
        return len(self.sentences)


def table_path(directory: Path, *, task: str, fingerprint: str) -> Path:
    """Return where the test items of a dataset are in a folder of results."""
    safe = re.sub(r"[^A-Za-z0-9_.=-]+", "_", task[:60]).lstrip(".")
    return directory / FOLDER / f"{safe}.{fingerprint[:12]}.parquet"


def write_item_table(table: ItemTable, directory: Path) -> Path:
    """Write the test items into a folder of results.

    Raises:
        UsageError: the folder cannot be written to.
        ResultsError: writing failed.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow import
    import pyarrow.parquet as pq  # noqa: PLC0415

    path = table_path(directory, task=table.task, fingerprint=table.fingerprint)
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
    columns |= {
        f"{_OF_COLUMN}{n}": pa.array(values, pa.string()).dictionary_encode()
        for n, values in enumerate(table.columns.values())
    }
    made = pa.table(columns).replace_schema_metadata({_HEAD: json.dumps(head)})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise path_error(path.parent, "cannot write results here", error) from error
    try:
        with atomic_path(path) as temporary:
            pq.write_table(made, local_path(temporary), compression="zstd")
    except UsageError:
        raise
    except SentprobeError as error:
        raise ResultsError(str(error)) from error
    return path


_HEAD, _OF_COLUMN = "sentprobe", "column"
"""The key of what stands at the head of a file, and how the names of columns begin there."""


def read_item_table(directory: Path, *, task: str, fingerprint: str) -> ItemTable | None:
    """Return the test items of a dataset, if they are in a folder of results.

    Raises:
        UsageError: the file may not be read.
        ResultsError: it is damaged, or of another version.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow import
    import pyarrow.parquet as pq  # noqa: PLC0415

    path = table_path(directory, task=task, fingerprint=fingerprint)
    if not path.exists():
        return None
    try:
        table = pq.read_table(local_path(path))
        found = _parsed(table.to_pydict(), parse_json(table.schema.metadata[_HEAD.encode()]))
    except PermissionError as error:
        raise path_error(path, "cannot read the items", error) from error
    except (pa.ArrowException, OSError, *_DAMAGED) as error:
        reason = " ".join(str(error).split())
        raise ResultsError(
            f"{path}: no test items as sentprobe writes them ({reason:.200}); remove it, and run "
            "the same command again"
        ) from None
    return found if (found.task, found.fingerprint) == (task, fingerprint) else None


_DAMAGED = (BadSyntaxError, ArithmeticError, ValueError, KeyError, TypeError)
"""What reading a table raises that is not as we write it."""


def _parsed(columns: Mapping[str, list[Any]], head: Mapping[str, Any]) -> ItemTable:
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
        columns={
            name: tuple(columns[f"{_OF_COLUMN}{n}"]) for n, name in enumerate(head["columns"])
        },
    )
    return _checked(table)


def _checked(table: ItemTable) -> ItemTable:
    """Refuse what we do not write.

    Raises:
        ValueError: something is of another type, or out of range.
    """
    texts = [table.task, table.fingerprint, *table.labels, *table.sentences, *table.events]
    texts += [text for column in (*table.probes, *table.columns.values()) for text in column]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a text is missing")
    if len(table) and not 0 <= table.targets.min() <= table.targets.max() < len(table.labels):
        raise ValueError("an answer is no label")
    for sentence, marks in zip(table.sentences, table.marks, strict=True):
        if not all(isinstance(at, int) and 0 <= at < len(sentence.split()) for at in marks):
            raise ValueError("a mark is outside of its sentence")
    return table


def has_items(result: Result, directory: Path) -> bool:
    """Say whether a folder of results keeps the test items of a result."""
    return table_path(directory, task=result.task, fingerprint=result.dataset_fingerprint).exists()


def has_held_out(result: Result) -> bool:
    """Say whether a structure was held out of the training items of a result."""
    return result.data is not None and bool(result.data.held_out)


def item_tables(results: Iterable[Result], directory: Path | None = None) -> tuple[ItemTable, ...]:
    """Return the test items of each dataset of results, each once.

    - directory: that of the results; by default that which they were read from

    Raises:
        UsageError: they are not kept there.
        ResultsError: what is there is damaged.
    """
    found: dict[tuple[str, str], ItemTable] = {}
    without: dict[tuple[str, str], UsageError] = {}
    for each in results:
        of = each.task, each.dataset_fingerprint
        folder = directory or Path(each.source or ".")
        if of not in found:
            table = read_item_table(folder, task=of[0], fingerprint=of[1])
            if table is not None and len(table) == each.scores[Condition.PROBE].total:
                found[of] = table
            else:
                without.setdefault(of, _older(str(folder), each.task))
    for of, error in without.items():
        if of not in found:
            raise error
    return tuple(found.values())


def _older(directory: str, task: str) -> UsageError:
    return UsageError(
        f"{directory}: does not keep the test items of {task}, as results of older versions do "
        "not; run the same command again: it adds them, and trains nothing anew"
    )
