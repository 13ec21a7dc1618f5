"""Packed files: what comes out is refused where it is out of all proportion to what is on disk.

A file of a megabyte may unpack to gigabytes of nothing, which fill memory or disk, or take hours.
Text packs to a tenth, the most regular to a hundredth.
"""

import io
from collections.abc import Callable
from typing import IO, Any

HARMLESS = 1 << 28
"""So many bytes may come out of anything."""

RATIO = 500
"""And beyond that, so many for each byte on disk."""


class ProportionError(OSError):
    """What is in a packed file is out of all proportion to its size."""


def check_proportion(unpacked: int, packed: int) -> None:
    """Refuse what unpacks to far more than it is.

    Raises:
        ProportionError: it does.

    >>> check_proportion(8_000_000_000, 1_000_000)
    Traceback (most recent call last):
    ...
    sentprobe.unpacking.ProportionError: 1,000,000 bytes unpack to more than 500 times as many; \
unpack it yourself if it is meant
    """
    if unpacked > max(HARMLESS, RATIO * packed):
        raise ProportionError(
            f"{packed:,} bytes unpack to more than {RATIO} times as many; unpack it yourself if "
            "it is meant"
        )


class _Proportionate(io.RawIOBase):
    """A stream that is unpacked as it is read, and ends in an error when it is too much."""

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
        if self._count > HARMLESS:
            check_proportion(self._count, self._position())
        return len(part)

    def close(self) -> None:
        self._unpacked.close()
        super().close()


def proportionate(unpacked: IO[bytes], position: Callable[[], int]) -> io.BufferedReader:
    """Return the stream, which ends in a ProportionError when far more comes out than goes in.

    *position* says how many bytes on disk have been read so far.
    """
    return io.BufferedReader(_Proportionate(unpacked, position), 1 << 16)
