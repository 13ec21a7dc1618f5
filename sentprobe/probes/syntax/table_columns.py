"""The columns of an analysed table, and the conversion of rows to record batches. This module imports pyarrow."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from sentprobe.probes.syntax.main_clauses import Noun
from sentprobe.probes.syntax.table_rows import Row

CLAUSES_TYPE = pa.struct(
    [pa.field(name, pa.int16()) for name in ("conjunction", "first_start", "first_end", "second_start", "second_end")]
)
_TEXT, _TEXTS, _SMALL, _LARGE = pa.string(), pa.list_(pa.string()), pa.int16(), pa.int64()


def _find_main_tag(row: Row, role: int, word: Noun | int | None) -> str | None:
    """Return the tag of the main verb (*role* 0), subject (1) or object (2): one tag, even in a multiword token."""
    if row.universal is not None:
        return row.universal.main_tags[role]
    index = word.index if isinstance(word, Noun) else word
    return None if index is None or not row.tags else row.tags[index]


_COLUMNS: dict[str, tuple[pa.DataType, Callable[[Row], Any]]] = {
    "digest": (_TEXT, lambda row: row.digest),
    "source": (_TEXT, lambda row: row.source),
    "place": (_LARGE, lambda row: row.place),
    "text": (_TEXT, lambda row: row.text),
    "tokens": (_TEXTS, lambda row: row.tokens),
    "tags": (_TEXTS, lambda row: row.tags),
    "length": (_SMALL, lambda row: len(row.tokens)),
    "tree": (_TEXT, lambda row: row.tree),
    "depth": (_SMALL, lambda row: row.depth),
    "top": (_TEXT, lambda row: row.top),
    "verb_index": (_SMALL, lambda row: row.verb),
    "verb_tag": (_TEXT, lambda row: _find_main_tag(row, 0, row.verb)),
    "subject_index": (_SMALL, lambda row: row.subject and row.subject.index),
    "subject_tag": (_TEXT, lambda row: _find_main_tag(row, 1, row.subject)),
    "subject_number": (_TEXT, lambda row: row.subject and row.subject.number),
    "object_index": (_SMALL, lambda row: row.object and row.object.index),
    "object_tag": (_TEXT, lambda row: _find_main_tag(row, 2, row.object)),
    "object_number": (_TEXT, lambda row: row.object and row.object.number),
    "clauses": (CLAUSES_TYPE, lambda row: (pair := row.clauses) and (pair.conjunction, *pair.first, *pair.second)),
    "clause_words": (_TEXTS, lambda row: row.universal and row.universal.clause_words),
    "dependency_depth": (_SMALL, lambda row: row.universal and row.universal.depth),
    "root_dependents": (_TEXT, lambda row: row.universal and row.universal.order),
    "voice": (_TEXT, lambda row: row.universal and row.universal.voice),
    "sentence_ids": (_TEXTS, lambda row: row.sentence_id and [row.sentence_id]),
}
"""The type of each column except ``id``, and the function from a row to the column's value."""
_REQUIRED = ("id", "digest", "source", "place", "text", "tokens", "tags", "length")

SCHEMA = pa.schema(
    pa.field(name, kind, nullable=name not in _REQUIRED)
    for name, kind in {"id": _LARGE, **{name: kind for name, (kind, _) in _COLUMNS.items()}}.items()
)
"""The names and types of a table's columns; each distinct sentence is a row."""


def make_record_batch(rows: Sequence[Row], *, first: int = 0) -> pa.RecordBatch:
    """Return *rows* as a record batch of :data:`SCHEMA`, with ids from *first* on."""
    arrays = [pa.array(np.arange(first, first + len(rows), dtype=np.int64))]
    for name, (kind, get_value) in _COLUMNS.items():
        make_array = _make_string_lists if name in {"tokens", "tags"} else pa.array
        arrays.append(make_array(list(map(get_value, rows)), kind))
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _make_string_lists(lists: Iterable[Sequence[str]], kind: pa.DataType) -> pa.ListArray:
    """Return an array of string lists, built from one flat list for speed."""
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(list(chain.from_iterable(lists)), kind.value_type))
