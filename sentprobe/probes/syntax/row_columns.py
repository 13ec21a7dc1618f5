"""The schema of the table, and the conversion of rows to record batches; importing it loads pyarrow."""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
import pyarrow as pa

from sentprobe.probes.syntax.clauses import Noun
from sentprobe.probes.syntax.rows import Row

CLAUSES_TYPE = pa.struct(
    [pa.field(name, pa.int16()) for name in ("conjunction", "first_start", "first_end", "second_start", "second_end")]
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
        pa.field("clauses", CLAUSES_TYPE),
        pa.field("clause_words", pa.list_(pa.string())),
        pa.field("dependency_depth", pa.int16()),
        pa.field("root_dependents", pa.string()),
        pa.field("voice", pa.string()),
    ]
)
"""The columns of a table; each distinct sentence is a row."""


def make_record_batch(rows: Sequence[Row], *, first: int = 0) -> pa.RecordBatch:
    """Return *rows* as a record batch of :data:`SCHEMA`, numbered from *first*."""
    universal = [row.universal for row in rows]
    columns: dict[str, pa.Array | Iterable[object]] = {
        "id": np.arange(first, first + len(rows), dtype=np.int64),
        "digest": [row.digest for row in rows],
        "source": [row.source for row in rows],
        "place": [row.place for row in rows],
        "text": [row.text for row in rows],
        "tokens": _make_string_lists([row.tokens for row in rows]),
        "tags": _make_string_lists([row.tags for row in rows]),
        "length": [len(row.tokens) for row in rows],
        "tree": [row.tree for row in rows],
        "depth": [row.depth for row in rows],
        "top": [row.top for row in rows],
        "verb_index": [row.verb for row in rows],
        "verb_tag": [_find_main_tag(row, 0, row.verb) for row in rows],
        **_make_noun_columns("subject", 1, [row.subject for row in rows], rows),
        **_make_noun_columns("object", 2, [row.object for row in rows], rows),
        "clauses": [_flatten_clauses(row) for row in rows],
        "clause_words": [labels and labels.clause_words for labels in universal],
        "dependency_depth": [labels and labels.depth for labels in universal],
        "root_dependents": [labels and labels.order for labels in universal],
        "voice": [labels and labels.voice for labels in universal],
    }
    values = ((columns[field.name], field.type) for field in SCHEMA)
    arrays = [column if isinstance(column, pa.Array) else pa.array(column, kind) for column, kind in values]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _make_string_lists(lists: Sequence[Sequence[str]]) -> pa.ListArray:
    """Return lists of strings, built from one flat list for speed."""
    offsets = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([len(one) for one in lists], out=offsets[1:])
    flat = pa.array(list(chain.from_iterable(lists)), pa.string())
    return pa.ListArray.from_arrays(pa.array(offsets), flat)


def _find_main_tag(row: Row, role: int, index: int | None) -> str | None:
    """Return the tag of verb (0), subject (1) or object (2), which may be one word of a token."""
    if row.universal is not None:
        return row.universal.main_tags[role]
    return None if index is None or not row.tags else row.tags[index]


def _make_noun_columns(
    name: str, role: int, nouns: Sequence[Noun | None], rows: Sequence[Row]
) -> dict[str, Iterable[object]]:
    return {
        f"{name}_index": [None if noun is None else noun.index for noun in nouns],
        f"{name}_tag": [
            _find_main_tag(row, role, None if noun is None else noun.index)
            for noun, row in zip(nouns, rows, strict=True)
        ],
        f"{name}_number": [None if noun is None or noun.number is None else noun.number.value for noun in nouns],
    }


def _flatten_clauses(row: Row) -> tuple[int, int, int, int, int] | None:
    coordination = row.clauses
    return None if coordination is None else (coordination.conjunction, *coordination.first, *coordination.second)
