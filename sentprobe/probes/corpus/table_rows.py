"""Conversion of a parsed sentence to a row of the analysed table, and of rows to record batches with its columns.

This module imports pyarrow.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from sentprobe.common.errors import SentprobeError
from sentprobe.probes.corpus.main_clauses import NO_CLAUSE, MainClause, Noun, find_main_clause
from sentprobe.probes.corpus.tree_files import Coordination, compute_depth, find_coordination, list_top_constituents
from sentprobe.probes.corpus.trees import (
    ParsedSentence,
    Tree,
    TreeError,
    read_tree,
    straighten_word,
    unescape_word,
    write_tree,
)
from sentprobe.probes.corpus.universal_labels import (
    DependencyError,
    UniversalLabels,
    find_main_clause_from_dependencies,
    find_universal_labels,
    has_penn_tags,
)

MAX_TOKENS = 32_767
"""Maximum number of tokens of a sentence, and maximum depth of a tree: the largest 16-bit integer."""


class RowError(SentprobeError):
    """A parsed sentence is inconsistent, or too long or too deep for a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A sentence, and the parts of its parse that tasks use. Token numbers start at 0; unknown parts are None."""

    source: str
    place: int
    text: str
    """The tokens joined by one space."""
    digest: str
    """The first 16 hexadecimal digits of the SHA-256 of the text."""
    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    tree: str | None = None
    """The tree in Penn brackets under ROOT, with function tags, without traces."""
    depth: int | None = None
    top: str | None = None
    """The categories of the top constituents, joined by one space."""
    verb: int | None
    subject: Noun | None
    object: Noun | None
    clauses: Coordination | None = None
    sentence_id: str | None = None
    universal: UniversalLabels | None = None
    """Labels from Universal Dependencies, if they are used instead of the tree and the Penn tags."""


def build_row(parsed: ParsedSentence, *, universal: bool = False, language: str = "") -> Row:
    """Return the row of *parsed*. Raises RowError if the parse contradicts itself, or is too long or too deep.

    The row's labels, such as tags and subject, come from a tree or Penn tags and, without these, from Universal
    Dependencies. With *universal*, Universal Dependencies are preferred to a tree and to Penn tags. The code of the
    *language*, such as ``hr``, decides what their compound tenses mean.

    >>> row = build_row(ParsedSentence(tree="(S (NP (NNS men)) (VP (VBD slept)) (. .))"))
    >>> row.text, row.top, row.depth, row.tags[row.verb], row.subject.number.value
    ('men slept .', 'NP VP .', 4, 'VBD', 'pl')
    """
    words = parsed.universal
    try:
        if words and (universal or (parsed.tree is None and not has_penn_tags(parsed, words))):
            labels = find_universal_labels(parsed, words, language)
            return replace(
                _make_row(parsed, labels.tokens, labels.tags, labels.clause),
                clauses=labels.coordination,
                universal=labels,
            )
        if parsed.tree is not None:
            return _build_row_from_tree(parsed, parsed.tree)
        clause = NO_CLAUSE
        if parsed.heads:
            clause = find_main_clause_from_dependencies(
                _straighten_words(parsed.tokens), parsed.tags, parsed.heads, parsed.relations
            )
    except (TreeError, DependencyError) as error:
        raise RowError(str(error)) from error
    if parsed.tags and len(parsed.tags) != len(parsed.tokens):
        raise RowError(f"{len(parsed.tokens)} tokens with {len(parsed.tags)} tags")
    tokens = _restore_written(parsed, tuple(map(unescape_word, parsed.tokens)))
    return _make_row(parsed, tokens, parsed.tags, clause)


def _build_row_from_tree(parsed: ParsedSentence, tree: Tree | str) -> Row:
    if isinstance(tree, str):
        tree = read_tree(tree)
    if parsed.tokens and len(parsed.tokens) != len(tree.words):
        raise RowError(f"{len(parsed.tokens)} tokens, but the tree has {len(tree.words)} words")
    for token, word in zip(map(unescape_word, parsed.tokens), tree.words, strict=False):
        if token != word:
            raise RowError(f"the token {token!r} is {word!r} in the tree")
    # The rules know words with straight quotes only ("'s"); the row keeps the words as written.
    clause = find_main_clause(replace(tree, words=_straighten_words(tree.words)))
    tree = replace(tree, words=_restore_written(parsed, tree.words))
    row = _make_row(parsed, tree.words, tree.tags, clause)
    depth, top = compute_depth(tree), list_top_constituents(tree)
    if depth > MAX_TOKENS:
        raise RowError(f"a tree of depth {depth}; a row holds at most {MAX_TOKENS}")
    top_text = None if top is None else " ".join(top)
    return replace(row, tree=write_tree(tree), depth=depth, top=top_text, clauses=find_coordination(tree))


def _straighten_words(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words with ASCII quotes and dashes, as in the word lists of :mod:`.main_clauses`."""
    return tuple(map(straighten_word, words))


def _restore_written(parsed: ParsedSentence, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words in the text's typography (``n’t``), or *words* if ``parsed.written`` has more or fewer words."""
    if len(parsed.written) != len(words):
        return words
    return tuple(map(unescape_word, parsed.written))


def _make_row(parsed: ParsedSentence, tokens: tuple[str, ...], tags: tuple[str, ...], clause: MainClause) -> Row:
    if not 0 < len(tokens) <= MAX_TOKENS:
        raise RowError(f"a sentence of {len(tokens)} tokens; a row holds 1 to {MAX_TOKENS}")
    tokens = tuple("_".join(token.split()) for token in tokens)
    if "" in tokens:
        raise RowError(f"token {tokens.index('') + 1} of {len(tokens)} is empty")
    text = " ".join(tokens)
    return Row(
        source=parsed.source,
        place=parsed.place,
        text=text,
        digest=sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        tokens=tokens,
        tags=tags,
        verb=clause.verb,
        subject=clause.subject,
        object=clause.object,
        sentence_id=parsed.sentence_id,
    )


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
