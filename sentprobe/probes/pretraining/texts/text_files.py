"""Files of texts: what says their format, and their lines and named columns.

Files may be packed (gzip, xz, zstd, bzip2). What is not in the format that it should be in ends in
an error that says where.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from sentprobe.errors import FormatError, UsageError, first_line, suggest
from sentprobe.files import is_table
from sentprobe.probes.corpus import sources
from sentprobe.values import BadSyntaxError, parse_json

Cells: TypeAlias = tuple[Any, ...]
"""The values of the columns that are wanted."""

SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".tsv": "tsv"}
"""The formats with columns, by suffix."""

_BINARY = "parquet"


def suffix_of(name: str) -> str:
    """Return the suffix of a file as it is when unpacked, in lower case.

    >>> suffix_of("novels/Sentences.TXT.xz")
    '.txt'
    """
    stem = name.lower()
    for packed in sources.PACKED_SUFFIXES:
        stem = stem.removesuffix(packed)
    folder, dot, suffix = stem.rpartition(".")
    return dot + suffix if folder and "/" not in suffix else ""


def find_format(name: str, known: Mapping[str, str], *, otherwise: str = "") -> str:
    """Return the format that the suffix of a file stands for; *otherwise* says what else would do.

    Raises:
        UsageError: it is not known; names those that are.
    """
    suffix = suffix_of(name)
    if suffix not in known:
        near = suggest(suffix, known) if suffix else ""
        raise UsageError(
            f"{name}: nothing says what format it has{near}; known suffixes: {', '.join(known)}, "
            f"each of them packed or not ({', '.join(sources.PACKED_SUFFIXES)}){otherwise}"
        )
    return known[suffix]


def find_files(paths: Sequence[Path | str]) -> list[str]:
    """Return the files that names and patterns stand for; the table of a corpus is one of them.

    Raises:
        UsageError: nothing is there, or it is another folder.
    """
    tables = {str(path) for path in paths if is_table(Path(path))}
    found = [_found(str(path)) if str(path) not in tables else [str(path)] for path in paths]
    return [name for names in found for name in names] or _found()


def _found(*patterns: str) -> list[str]:
    return [source.name for source in sources.find_sources(patterns, format="lines")]


@contextmanager
def opened_file(name: str, style: str) -> Iterator[sources.Opened]:
    """Open a file as its format wants it: Parquet is not unpacked.

    Raises:
        UsageError: it is not there, or a folder.
        SourceError: it cannot be read.
    """
    source, *others = sources.find_sources([name], format=_BINARY if style == _BINARY else "lines")
    if others:
        raise UsageError(f"{name}: stands for {len(others) + 1} files; name one")
    with sources.open_source(source) as opened:
        yield opened


def lines_of(name: str, encoding: str) -> Iterator[str]:
    r"""Yield the lines of a file, without what ends them; ``\n`` alone does, or ``\r\n``.

    Raises:
        UsageError, SourceError: it cannot be read; says where.
    """
    with opened_file(name, "lines") as opened:
        for line in sources.decoded_lines(opened, encoding):
            yield line.removesuffix("\n").removesuffix("\r")


def rows_of(name: str, style: str, wanted: Sequence[str], encoding: str) -> Iterator[Cells]:
    """Yield the values of the wanted columns of each row.

    Raises:
        FormatError: a row is damaged or lacks a column; says which.
        UsageError: the file has no such column; names the nearest.
    """
    if style == _BINARY:
        yield from _parquet_rows(name, wanted)
        return
    lines = lines_of(name, encoding)
    yield from (_json_rows if style == "jsonl" else _tsv_rows)(name, lines, wanted)


def column_names(name: str, style: str, encoding: str) -> list[str]:
    """Return the columns that a file has; of JSONL, the keys of the first line."""
    if style == _BINARY:
        with opened_file(name, style) as opened, _arrow_errors(name):
            return [*_parquet(opened).schema_arrow.names]
    for number, line in enumerate(lines_of(name, encoding), 1):
        if line.strip():
            return [*_record(name, number, line)] if style == "jsonl" else line.split("\t")
    return []


def check_columns(name: str, wanted: Iterable[str], known: Sequence[str]) -> None:
    """Refuse a file that lacks a column, or has two of one name.

    Raises:
        UsageError: it does; names the nearest that it has.
    """
    for each in wanted:
        if each not in known:
            raise UsageError(_lacking(name, each, known))
        if known.count(each) > 1:
            raise UsageError(f"{name}: there is more than one column {each!r}")


def _lacking(where: str, column: str, known: Iterable[str]) -> str:
    known = list(known)
    has = ", ".join(map(repr, known)) or "none"
    return f"{where}: there is no column {column!r}{suggest(column, known)}; its columns: {has}"


def _json_rows(name: str, lines: Iterable[str], wanted: Sequence[str]) -> Iterator[Cells]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        record = _record(name, number, line)
        try:
            yield tuple([record[column] for column in wanted])
        except KeyError as error:
            raise UsageError(_lacking(f"{name}, line {number}", error.args[0], record)) from None


def _record(name: str, number: int, line: str) -> Mapping[str, Any]:
    try:
        record = parse_json(line)
    except BadSyntaxError as error:
        raise FormatError(f"{name}, line {number}: not JSON: {error.reason}") from None
    if not isinstance(record, dict):
        raise FormatError(
            f"{name}, line {number}: expected an object with columns, found another value"
        )
    return record


def _tsv_rows(name: str, lines: Iterable[str], wanted: Sequence[str]) -> Iterator[Cells]:
    """Yield the columns that the first line names; see :func:`tab_pairs` for files without."""
    rows = enumerate(lines, 1)
    header = next(rows, (1, ""))[1].split("\t")
    check_columns(name, wanted, header)
    places = [header.index(column) for column in wanted]
    for number, line in rows:
        cells = line.split("\t")
        if line.strip():
            yield tuple(_cells(f"{name}, line {number}", cells, places))


def _cells(where: str, cells: Sequence[str], places: Sequence[int]) -> list[str]:
    if len(cells) <= max(places):
        raise FormatError(
            f"{where}: expected at least {max(places) + 1} columns with a tab between any two, "
            f"found {len(cells)}"
        )
    return [cells[place] for place in places]


def tab_pairs(name: str, encoding: str) -> Iterator[tuple[str, str]]:
    """Yield the first two columns of each line of a file that names none.

    Raises:
        FormatError: a line has only one.
    """
    for number, line in enumerate(lines_of(name, encoding), 1):
        if line.strip():
            source, target = _cells(f"{name}, line {number}", line.split("\t"), (0, 1))
            yield source, target


def _parquet_rows(name: str, wanted: Sequence[str]) -> Iterator[Cells]:
    with opened_file(name, _BINARY) as opened, _arrow_errors(name):
        file = _parquet(opened)
        check_columns(name, wanted, file.schema_arrow.names)
        for batch in file.iter_batches(columns=[*wanted]):
            columns = (batch.column(column).to_pylist() for column in wanted)
            yield from zip(*columns, strict=True)


def _parquet(opened: sources.Opened) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 - slow import

    return pq.ParquetFile(opened.stream)


@contextmanager
def _arrow_errors(name: str) -> Iterator[None]:
    import pyarrow as pa  # noqa: PLC0415 - slow import

    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise FormatError(f"{name}: not a Parquet file: {first_line(error)}") from error


def text_value(where: str, column: str, value: object) -> str:
    """Return a value as a text; nothing is an empty one.

    Raises:
        FormatError: it is something else.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    raise FormatError(f"{where}: {column!r} holds no text, but {type(value).__name__}")
