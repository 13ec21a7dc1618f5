"""The one way to open a file for reading, and to decode its text: UTF-8, without a byte-order mark.

Limits on the unpacked size of compressed files, as protection from decompression bombs.
"""

import errno
import io
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from os import PathLike
from pathlib import Path
from typing import IO, Any, TypeVar
from zipfile import BadZipFile, ZipFile, is_zipfile

from sentprobe.common.errors import FormatError, SentprobeError
from sentprobe.common.inputs import to_input_path

ASCII_BLANKS = " \t\r\n\f\v"
"""The characters that separate fields in ARPA files and word vectors; other white space, such as U+3000, is a word."""
_FIELD = re.compile(rf"[^{ASCII_BLANKS}]+")
_NUMBER_SIGNS = re.compile(rf"[-+.0-9A-Za-z{ASCII_BLANKS}]*")
MAX_LINE = 1 << 20
"""Maximum length of a line in bytes. A line with a vector of 10,000 numbers has about 200,000 bytes."""
MAX_DOCUMENT = 1 << 24
"""Maximum length in bytes of a line or a Parquet row of a corpus, which may be a document, such as a book."""
Line = TypeVar("Line", str, bytes)
_read_pipes: set[tuple[int, int]] = set()


def open_input(path: PathLike[str] | str) -> BufferedReader:
    """Open a file to read its bytes. Raises OSError, also for a named pipe that was opened before.

    A pipe can be read once. A second reader would wait forever for a second writer, or find the pipe empty.
    """
    if "\0" in str(path):  # no system has such a file; Python raises ValueError
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    status = Path(path).stat()
    if stat.S_ISFIFO(status.st_mode):
        if (status.st_dev, status.st_ino) in _read_pipes:
            text = "it is a pipe, which can be read only once; write its content to a file first"
            raise OSError(errno.ESPIPE, text, os.fspath(path))
        _read_pipes.add((status.st_dev, status.st_ino))
    return Path(path).open("rb")


def read_text(path: PathLike[str] | str) -> str:
    """Return the text of a file. Raises OSError, and FormatError (such as ``line 3: not UTF-8``)."""
    with open_lines(path) as lines:
        return "".join(lines)


@contextmanager
def open_lines(path: PathLike[str] | str) -> Iterator[Iterator[str]]:
    """Open a text file; provide its lines. Raises OSError, and FormatError (such as ``line 3: not UTF-8``)."""
    with open_input(path) as file:
        yield decode_lines(iterate_lines(file))


def iterate_lines(stream: IO[Line], limit: int = MAX_LINE) -> Iterator[Line]:
    """Yield the lines of a stream; raise FormatError for the first line longer than *limit*, before it is read."""
    number = 0
    while line := stream.readline(limit + 1):
        number += 1
        if len(line) > limit:
            raise FormatError(f"line {number}: longer than {limit:,} bytes")
        yield line


def iterate_batches(file: Any, source: PathLike[str] | str, **options: Any) -> Iterator[Any]:
    """Yield the record batches of an open Parquet file. Raises FormatError for a row larger than MAX_DOCUMENT.

    *options* are those of PyArrow's ``iter_batches``.
    """
    number = 1
    for batch in file.iter_batches(**options):
        if batch.nbytes > MAX_DOCUMENT:
            for index in range(len(batch)):
                if batch.slice(index, 1).nbytes > MAX_DOCUMENT:
                    raise FormatError(f"{source}, row {number + index}: longer than {MAX_DOCUMENT:,} bytes")
        number += len(batch)
        yield batch


@contextmanager
def report_parquet_errors(
    source: PathLike[str] | str, error_type: type[SentprobeError] = FormatError
) -> Iterator[None]:
    """Raise *error_type*, beginning with *source*, for PyArrow's exceptions for a damaged Parquet file.

    PyArrow raises ValueError or OverflowError for values that Python cannot hold, such as dates after the year 9999.
    """
    import pyarrow as pa

    try:
        yield
    except SentprobeError:
        raise
    except (pa.ArrowException, OSError, ValueError, ArithmeticError) as error:
        reason = " ".join(str(error).split())
        raise error_type(f"{source}: not a Parquet file that can be read ({reason})") from None


def decode_line(line: bytes, number: int) -> str:
    """Return line *number* of a file as text (line 1 without byte-order mark); raise FormatError if not UTF-8."""
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        raise FormatError("not UTF-8") from None


def decode_lines(lines: Iterable[bytes]) -> Iterator[str]:
    """Yield lines as text, without a byte-order mark; raise FormatError for the first line that is not UTF-8."""
    for number, line in enumerate(lines, 1):
        try:
            yield decode_line(line, number)
        except FormatError as error:
            raise FormatError(f"line {number}: {error}") from None


def shorten_line(text: str, limit: int = 40) -> str:
    """Return *text* on one line, cut off after *limit* characters."""
    text = " ".join(text[: 4 * limit].split())
    return text if len(text) <= limit else text[:limit] + "..."


def split_at_blanks(line: str) -> list[str]:
    """Return the fields of a line, which ASCII blanks separate; a no-break space is part of a field."""
    return _FIELD.findall(line)


def parse_numbers(text: str) -> list[float]:
    """Return the numbers that ASCII blanks separate, also nan and infinite ones; raise ValueError for other texts.

    Python would also read ``1_000`` and digits of other scripts.
    """
    if not _NUMBER_SIGNS.fullmatch(text):
        bad = next(field for field in split_at_blanks(text) if not _NUMBER_SIGNS.fullmatch(field))
        raise ValueError(f"could not convert string to float: {bad!r}")
    return [float(field) for field in text.split()]


def parse_number(text: str) -> float:
    """Return the one number in a text, as :func:`parse_numbers` reads it; raise ValueError for other texts."""
    (number,) = parse_numbers(text)
    return number


HARMLESS_BYTES = 1 << 28
"""Unpacked size in bytes up to which every archive and Parquet file is accepted; vectors may be mostly zeros."""
HARMLESS_TEXT = 1 << 24
"""The same of packed text, which is read line by line."""
RATIO = 200
"""Maximum number of unpacked bytes per packed byte, for larger files; generated sentences as JSONL reach 10."""


class ProportionError(OSError):
    """A compressed file unpacks to more than RATIO times its size."""


def check_proportion(unpacked: int, packed: int, *, harmless: int | None = None) -> None:
    """Raise ProportionError if *unpacked* bytes are too many for a compressed file of *packed* bytes."""
    if unpacked > max(harmless or HARMLESS_BYTES, RATIO * packed):
        raise ProportionError(
            f"{packed:,} bytes unpack to more than {RATIO} times as many; save it uncompressed if it is meant"
        )


def check_archive(path: Path) -> None:
    """Raise OSError if a part of a zip file differs from its checksum, or all unpack to too much. Ignore other files.

    PyTorch does not compare the checksums of a file of weights.
    """
    if not is_zipfile(path):
        return
    try:
        with ZipFile(path) as archive:
            # Of all parts together, since the bytes of several may overlap.
            check_proportion(sum(part.file_size for part in archive.infolist()), path.stat().st_size)
            damaged = archive.testzip()
    except BadZipFile as error:
        raise OSError(str(error)) from None
    if damaged is not None:
        raise OSError(f"damaged: {damaged!r} in it differs from its checksum")


def read_parquet_table(path: Path, columns: Sequence[str] | None = None) -> Any:
    """Return a Parquet file, or some of its columns, as an Arrow table. Raises ProportionError if it is too large.

    Raises what pyarrow raises for a damaged file. The file's own sizes are not asked for: they leave out values that it
    states once for many rows, and pyarrow aborts the process where they are damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    batches: list[Any] = []
    size, packed = 0, path.stat().st_size
    try:
        with pq.ParquetFile(to_input_path(path)) as file:
            schema = file.schema_arrow
            if len(set(schema.names)) < len(schema.names):
                raise pa.ArrowInvalid("two columns have the same name")
            for batch in file.iter_batches(ROWS_PER_BATCH, columns=columns):
                size += batch.nbytes
                check_proportion(size, packed)
                batches.append(batch)
    except KeyError as error:  # the names in the file's header differ from those of its columns
        raise pa.ArrowInvalid(str(error.args[0])) from None
    schema = schema if columns is None else pa.schema([schema.field(name) for name in columns], schema.metadata)
    return pa.Table.from_batches(batches, schema)


ROWS_PER_BATCH = 8192


class _UnpackedStreams(io.RawIOBase):
    """The unpacked bytes of all streams in a bz2 or xz file. Bytes after a stream that begin no other are damage.

    Python's own readers end there in silence, so that one wrong bit costs all streams that follow.
    """

    def __init__(self, raw: IO[bytes], make_decompressor: Callable[[], Any]) -> None:
        self._raw, self._make = raw, make_decompressor
        self._decompressor = make_decompressor()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        unpacked = b""
        while not unpacked:
            decompressor, packed = self._decompressor, b""
            if decompressor.eof:
                packed = decompressor.unused_data.lstrip(b"\0")  # zeros may follow an xz stream
                while not packed:
                    part = self._raw.read(io.DEFAULT_BUFFER_SIZE)
                    if not part:
                        return 0
                    packed = part.lstrip(b"\0")
                decompressor = self._decompressor = self._make()
            elif decompressor.needs_input:
                packed = self._raw.read(io.DEFAULT_BUFFER_SIZE)
                if not packed:
                    raise EOFError("the file ended before the end of its packed text")
            unpacked = decompressor.decompress(packed, len(buffer))
        buffer[: len(unpacked)] = unpacked
        return len(unpacked)


def unpack_streams(raw: IO[bytes], make_decompressor: Callable[[], Any]) -> io.BufferedReader:
    """Return a reader of a bz2 or xz file. It raises OSError, EOFError or LZMAError where the file is damaged."""
    return io.BufferedReader(_UnpackedStreams(raw, make_decompressor))


class _LimitedStream(io.RawIOBase):
    """A stream of unpacked bytes. It raises ProportionError if they are too many for the packed bytes read so far."""

    def __init__(self, unpacked: IO[bytes], position: Callable[[], int]) -> None:
        self._unpacked = unpacked
        self._position = position
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer)
        part = self._unpacked.read(len(view))
        view[: len(part)] = part
        self._count += len(part)
        if self._count > HARMLESS_TEXT:
            check_proportion(self._count, self._position(), harmless=HARMLESS_TEXT)
        return len(part)

    def close(self) -> None:
        self._unpacked.close()
        super().close()


def limit_unpacking(unpacked: IO[bytes], position: Callable[[], int]) -> io.BufferedReader:
    """Return a reader that raises ProportionError for a decompression bomb. *position* counts the packed bytes read."""
    return io.BufferedReader(_LimitedStream(unpacked, position), 1 << 16)
