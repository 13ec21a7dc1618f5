"""Read lines and named columns of text files, which may be compressed."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from sentprobe.disk.markers import is_table
from sentprobe.disk.reading import iterate_batches, report_parquet_errors
from sentprobe.errors import FormatError, UsageError, suggest
from sentprobe.probes.corpus import sources
from sentprobe.values import BadSyntaxError, parse_json

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
    tables = {str(path) for path in paths if is_table(Path(path))}
    names_by_path = [_find_source_names(str(path)) if str(path) not in tables else [str(path)] for path in paths]
    return [name for names in names_by_path for name in names] or _find_source_names()


def _find_source_names(*patterns: str) -> list[str]:
    return [source.name for source in sources.find_sources(patterns, format="lines")]


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
