"""Rows as columns: the schema of the table, in one place, and its record batches.

Imports pyarrow, so import this module only where a table is written or read.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
import pyarrow as pa

from sentprobe.probes.syntax.clauses import Noun
from sentprobe.probes.syntax.rows import Row

CLAUSES = pa.struct(
    [
        pa.field(name, pa.int16())
        for name in ("conjunction", "first_start", "first_end", "second_start", "second_end")
    ]
)

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("digest", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("place", pa.int64(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("tokens", pa.list_(pa.string()), nullable=False),
        pa.field("tags", pa.list_(pa.string()), nullable=False),
        pa.field("length", pa.int16(), nullable=False),
        pa.field("tree", pa.string()),
        pa.field("depth", pa.int16()),
        pa.field("top", pa.string()),
        pa.field("verb_index", pa.int16()),
        pa.field("verb_tag", pa.string()),
        pa.field("subject_index", pa.int16()),
        pa.field("subject_tag", pa.string()),
        pa.field("subject_number", pa.string()),
        pa.field("object_index", pa.int16()),
        pa.field("object_tag", pa.string()),
        pa.field("object_number", pa.string()),
        pa.field("clauses", CLAUSES),
    ]
)
"""The columns of a table; one row per distinct sentence."""


def record_batch(rows: Sequence[Row], *, first: int = 0) -> pa.RecordBatch:
    """Return *rows* in :data:`SCHEMA`, with the ids *first*, *first* + 1, ..."""
    tagged = [(row.tags, row.verb) for row in rows]
    columns: dict[str, pa.Array | Iterable[object]] = {
        "id": np.arange(first, first + len(rows), dtype=np.int64),
        "digest": [row.digest for row in rows],
        "source": [row.source for row in rows],
        "place": [row.place for row in rows],
        "text": [row.text for row in rows],
        "tokens": _strings([row.tokens for row in rows]),
        "tags": _strings([row.tags for row in rows]),
        "length": [len(row.tokens) for row in rows],
        "tree": [row.tree for row in rows],
        "depth": [row.depth for row in rows],
        "top": [row.top for row in rows],
        "verb_index": [row.verb for row in rows],
        "verb_tag": [None if verb is None else tags[verb] for tags, verb in tagged],
        **_nouns("subject", [row.subject for row in rows], rows),
        **_nouns("object", [row.object for row in rows], rows),
        "clauses": [_clauses(row) for row in rows],
    }
    arrays = [_array(columns[field.name], field.type) for field in SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _array(values: object, kind: pa.DataType) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(values, kind)


def _strings(lists: Sequence[Sequence[str]]) -> pa.ListArray:
    """Return lists of strings; from one flat list, which is quicker than from many."""
    offsets = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([len(one) for one in lists], out=offsets[1:])
    flat = pa.array(list(chain.from_iterable(lists)), pa.string())
    return pa.ListArray.from_arrays(pa.array(offsets), flat)


def _nouns(
    name: str, nouns: Sequence[Noun | None], rows: Sequence[Row]
) -> dict[str, Iterable[object]]:
    """Return the three columns of a subject or an object."""
    return {
        f"{name}_index": [None if noun is None else noun.index for noun in nouns],
        f"{name}_tag": [
            row.tags[noun.index] if noun is not None and row.tags else None
            for noun, row in zip(nouns, rows, strict=True)
        ],
        f"{name}_number": [
            None if noun is None or noun.number is None else noun.number.value for noun in nouns
        ],
    }


def _clauses(row: Row) -> tuple[int, int, int, int, int] | None:
    found = row.clauses
    return None if found is None else (found.conjunction, *found.first, *found.second)
