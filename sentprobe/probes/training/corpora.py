"""The training texts of encoders, as tokens separated by spaces, and counts of texts that were left out.

Read lines and named columns of text files, which may be compressed.
"""

import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import FormatError, UsageError, format_count, suggest
from sentprobe.common.inputs import is_table
from sentprobe.common.reading import iterate_batches, report_parquet_errors
from sentprobe.common.values import BadSyntaxError, parse_json
from sentprobe.generator.bulk.generate import write_sentences
from sentprobe.generator.events.notation import write_event
from sentprobe.generator.pairs.inference_pairs import NliLabel
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english
from sentprobe.lexicon.read import choose_vocabulary
from sentprobe.probes.corpus import sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Omissions:
    """The number of texts, pairs or trees that were left out for each reason.

    >>> str(Omissions(empty=1, long=20))
    '21 were left out: 1 without a token, 20 too long'
    """

    empty: int = 0
    long: int = 0
    unlabelled: int = 0
    untranslated: int = 0
    unparsed: int = 0

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return sum(getattr(self, field.name) for field in fields(self))

    def __str__(self) -> str:
        counts = [f"{count} {words}" for name, words in _REASON_PHRASES.items() if (count := getattr(self, name))]
        verb = "was" if self.total == 1 else "were"
        return f"{self.total} {verb} left out: {', '.join(counts)}" if counts else "none was left out"


_REASON_PHRASES = {
    "empty": "without a token",
    "long": "too long",
    "unlabelled": "without a label",
    "untranslated": "not translated",
    "unparsed": "without a tree",
}


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences in reading order, from one or more documents.

    A document also ends where a sentence is left out. Thus, neighbours in a document are neighbours in the source.

    >>> text = Sentences(("a dog", "it ran", "a cat"), documents=(0, 2))
    >>> [text.texts[start:end] for start, end in text.list_spans()]
    [('a dog', 'it ran'), ('a cat',)]
    """

    texts: tuple[str, ...]
    documents: tuple[int, ...]
    """The index of each document's first sentence; no document is empty."""
    omitted: Omissions = Omissions()

    def __len__(self) -> int:
        return len(self.texts)

    def __str__(self) -> str:
        return f"{format_count(len(self), 'sentence')} in {format_count(len(self.documents), 'document')}"

    def list_spans(self) -> list[tuple[int, int]]:
        """Return, for each document, the index of its first sentence and the index after its last."""
        return [*zip(self.documents, (*self.documents[1:], len(self)), strict=True)]


@dataclass(frozen=True, slots=True)
class SentencePairs:
    """Sentences and their translations."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    omitted: Omissions = Omissions()

    def __len__(self) -> int:
        return len(self.sources)

    def __str__(self) -> str:
        return format_count(len(self), "pair")


@dataclass(frozen=True, slots=True, eq=False)
class NliPairs:
    """Pairs of a premise and a hypothesis for natural language inference, with their labels."""

    premises: tuple[str, ...]
    hypotheses: tuple[str, ...]
    labels: NDArray[np.int64]
    """The number of each pair's :class:`~sentprobe.generator.pairs.inference_pairs.NliLabel`, (pairs,)."""
    omitted: Omissions = Omissions()

    def __len__(self) -> int:
        return len(self.premises)

    def __str__(self) -> str:
        numbers = np.bincount(self.labels, minlength=len(NliLabel))
        label_counts = ", ".join(f"{numbers[label]} {label.name.lower()}" for label in NliLabel)
        return f"{format_count(len(self), 'pair')} ({label_counts})"


@dataclass(frozen=True, slots=True)
class Triplets:
    """Triplets of an anchor, a positive (a sentence of the same meaning) and a negative."""

    anchors: tuple[str, ...]
    positives: tuple[str, ...]
    negatives: tuple[str, ...]
    omitted: Omissions = Omissions()

    def __len__(self) -> int:
        return len(self.anchors)

    def __str__(self) -> str:
        return format_count(len(self), "triplet")


@dataclass(frozen=True, slots=True)
class Trees:
    """Sentences and, for each sentence, its tree as one line of symbols (:func:`.running_text.linearise`)."""

    sentences: tuple[str, ...]
    trees: tuple[str, ...]
    omitted: Omissions = Omissions()

    def __len__(self) -> int:
        return len(self.sentences)

    def __str__(self) -> str:
        return format_count(len(self), "tree")


LearnedTexts: TypeAlias = Sentences | SentencePairs | NliPairs | Triplets | Trees


@dataclass(frozen=True, slots=True)
class Meanings:
    """Sentences, and for each sentence the notation of its event, with spaces added by :func:`split_notation`."""

    sentences: tuple[str, ...]
    events: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.sentences)

    def __str__(self) -> str:
        return f"{format_count(len(self), 'sentence')} with {'its event' if len(self) == 1 else 'their events'}"


def sample_meanings(count: int, *, seed: int) -> Meanings:
    """Draw *count* different events of all templates at random; return their sentences and notations."""
    lexicon = english()
    space = Space(lexicon, vocabulary=choose_vocabulary(lexicon))
    places = space.sample(count, seed=seed)
    text_file = io.StringIO()
    write_sentences(space, places, text_file, "text")
    events = (split_notation(write_event(event)) for event in space.events(places))
    return Meanings(tuple(text_file.getvalue().splitlines()), tuple(events))


def split_notation(notation: str) -> str:
    """Insert spaces before the brackets of an event's notation, so that lemmas and features are separate words."""
    for bracket in ("[", "(agent:", "(patient:"):
        notation = notation.replace(bracket, f" {bracket}")
    return notation


Cells: TypeAlias = tuple[Any, ...]
SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".tsv": "tsv"}
_PARQUET = "parquet"


def find_suffix(name: str) -> str:
    """Return the suffix of a file in lower case, ignoring suffixes of compression such as ``.xz``.

    >>> find_suffix("novels/Sentences.TXT.xz")
    '.txt'
    """
    stem = name.lower()
    for packed_suffix in sources.PACKED_SUFFIXES:
        stem = stem.removesuffix(packed_suffix)
    folder, dot, suffix = stem.rpartition(".")
    return dot + suffix if folder and "/" not in suffix else ""


def find_format(name: str, formats: Mapping[str, str], *, advice: str = "") -> str:
    """Return the format of a file by its suffix. Raises UsageError, whose message ends with *advice*.

    - formats: the format of each suffix, as in ``{".tsv": "tsv"}``
    """
    suffix = find_suffix(name)
    if suffix not in formats:
        suggestion = suggest(suffix, formats) if suffix else ""
        raise UsageError(
            f"{name}: its suffix names no format{suggestion}; known suffixes: {', '.join(formats)}, "
            f"each compressed or not ({', '.join(sources.PACKED_SUFFIXES)}){advice}"
        )
    return formats[suffix]


def find_files(paths: Sequence[Path | str]) -> list[str]:
    """Return the files that match paths or patterns; an analysed table counts as one file. Raises UsageError."""
    names: list[str] = []
    for path in map(str, paths):
        if is_table(Path(path)):
            names.append(path)
        else:
            names += [source.name for source in sources.find_sources([path], format="lines")]
    if not names:
        sources.find_sources([])  # raises the error that no file is named
    return names


@contextmanager
def open_file(name: str, file_format: str) -> Iterator[sources.OpenSource]:
    """Open a file for reading, decompressed unless it is Parquet. Raises UsageError."""
    source, *other_sources = sources.find_sources([name], format=_PARQUET if file_format == _PARQUET else "lines")
    if other_sources:
        raise UsageError(f"{name}: stands for {len(other_sources) + 1} files; name one")
    with sources.open_source(source) as opened:
        yield opened


def read_lines(name: str, encoding: str) -> Iterator[str]:
    """Yield the lines of a file; the line break at the end of each line is removed."""
    with open_file(name, "lines") as opened:
        for line in sources.decode_lines(opened, encoding):
            yield line.removesuffix("\n").removesuffix("\r")


def read_rows(name: str, file_format: str, column_names: Sequence[str], encoding: str) -> Iterator[Cells]:
    """Yield, for each row of a file, the values of the named columns. Raises UsageError or FormatError."""
    if file_format == _PARQUET:
        yield from _read_parquet_rows(name, column_names)
        return
    lines = read_lines(name, encoding)
    yield from (_read_json_rows if file_format == "jsonl" else _read_tsv_rows)(name, lines, column_names)


def read_column_names(name: str, file_format: str, encoding: str) -> list[str]:
    """Return the names of a file's columns; for JSONL, the keys of the first object."""
    if file_format == _PARQUET:
        with _open_parquet(name) as file:
            return [*file.schema_arrow.names]
    for number, line in enumerate(read_lines(name, encoding), 1):
        if line.strip():
            return [*_parse_record(name, number, line)] if file_format == "jsonl" else line.split("\t")
    return []


def check_columns(name: str, column_names: Iterable[str], file_columns: Sequence[str]) -> None:
    """Raise UsageError if a file lacks one of the named columns, or has it twice."""
    for column in column_names:
        if column not in file_columns:
            raise UsageError(_describe_missing_column(name, column, file_columns))
        if file_columns.count(column) > 1:
            raise UsageError(f"{name}: there is more than one column {column!r}")


def _describe_missing_column(where: str, column: str, columns: Collection[str]) -> str:
    column_list = ", ".join(map(repr, columns)) or "none"
    return f"{where}: there is no column {column!r}{suggest(column, columns)}; its columns: {column_list}"


def _read_json_rows(name: str, lines: Iterable[str], column_names: Sequence[str]) -> Iterator[Cells]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        record = _parse_record(name, number, line)
        try:
            yield tuple([record[column] for column in column_names])
        except KeyError as error:
            raise UsageError(_describe_missing_column(f"{name}, line {number}", error.args[0], record)) from None


def _parse_record(name: str, number: int, line: str) -> Mapping[str, Any]:
    try:
        record = parse_json(line)
    except BadSyntaxError as error:
        raise FormatError(f"{name}, line {number}: not JSON: {error.reason}") from None
    if not isinstance(record, dict):
        raise FormatError(f"{name}, line {number}: expected an object with columns, found another value")
    return record


def _read_tsv_rows(name: str, lines: Iterable[str], column_names: Sequence[str]) -> Iterator[Cells]:
    rows = enumerate(lines, 1)
    header = next(rows, (1, ""))[1].split("\t")
    check_columns(name, column_names, header)
    places = [header.index(column) for column in column_names]
    for number, line in rows:
        cells = line.split("\t")
        if line.strip():
            yield tuple(_select_cells(f"{name}, line {number}", cells, places))


def _select_cells(where: str, cells: Sequence[str], places: Sequence[int]) -> list[str]:
    if len(cells) <= max(places):
        raise FormatError(f"{where}: expected at least {max(places) + 1} columns separated by tabs, found {len(cells)}")
    return [cells[place] for place in places]


def read_tab_pairs(name: str, encoding: str) -> Iterator[tuple[str, str]]:
    """Yield the first two columns of each line of a TSV file without a header. Raises FormatError."""
    for number, line in enumerate(read_lines(name, encoding), 1):
        if line.strip():
            source, target = _select_cells(f"{name}, line {number}", line.split("\t"), (0, 1))
            yield source, target


def _read_parquet_rows(name: str, column_names: Sequence[str]) -> Iterator[Cells]:
    with _open_parquet(name) as file:
        check_columns(name, column_names, file.schema_arrow.names)
        for batch in iterate_batches(file, name, columns=[*column_names]):
            columns = (batch.column(column).to_pylist() for column in column_names)
            yield from zip(*columns, strict=True)


@contextmanager
def _open_parquet(name: str) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with open_file(name, _PARQUET) as opened, report_parquet_errors(name):
        yield pq.ParquetFile(opened.stream)


def to_text(where: str, column: str, value: object) -> str:
    """Return text unchanged, and None as an empty text. Raises FormatError, beginning with *where*, for other types."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    raise FormatError(f"{where}: {column!r} holds {type(value).__name__}; text is expected")
