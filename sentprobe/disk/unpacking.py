"""Limits on the unpacked size of compressed files, as protection from decompression bombs."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile, is_zipfile

HARMLESS_BYTES = 1 << 28
"""Unpacked size in bytes up to which every file is accepted."""
RATIO = 500
"""Maximum number of unpacked bytes per packed byte, for larger files; text rarely exceeds 100."""


class ProportionError(OSError):
    """A compressed file unpacks to more than RATIO times its size."""


def check_proportion(unpacked: int, packed: int) -> None:
    """Raise ProportionError if *unpacked* bytes are too many for a compressed file of *packed* bytes.

    >>> check_proportion(8_000_000_000, 1_000_000)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    sentprobe.disk.unpacking.ProportionError: 1,000,000 bytes unpack to more than 500 times as many; ...
    """
    if unpacked > max(HARMLESS_BYTES, RATIO * packed):
        raise ProportionError(
            f"{packed:,} bytes unpack to more than {RATIO} times as many; unpack it yourself if it is meant"
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
        if self._count > HARMLESS_BYTES:
            check_proportion(self._count, self._position())
        return len(part)

    def close(self) -> None:
        self._unpacked.close()
        super().close()


def limit_unpacking(unpacked: IO[bytes], position: Callable[[], int]) -> io.BufferedReader:
    """Return a reader that raises ProportionError for a decompression bomb. *position* counts the packed bytes read."""
    return io.BufferedReader(_LimitedStream(unpacked, position), 1 << 16)
