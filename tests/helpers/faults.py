"""Faults at a rename or removal of a file, raised by an audit hook."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

Watch = Callable[[], None]
"""Called at each event; what it raises, the operation raises."""

EVENTS = frozenset({"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.link"})

_watch: list[tuple[Path, Watch]] = []


class KilledError(BaseException):
    """The process is no more: whatever it does to clean up does not happen."""


@cache
def _install() -> None:
    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if _watch and (event in EVENTS or (event == "open" and _writes(arguments))):
            place, watch = _watch[-1]
            if any(_is_in(item, place) for item in arguments[:2]):
                watch()

    sys.addaudithook(hook)  # for good: it cannot be taken away


def _writes(arguments: tuple[Any, ...]) -> bool:
    flags = arguments[2] if isinstance(arguments[2], int) else 0
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def _is_in(arguments: object, place: Path) -> bool:
    if not isinstance(arguments, str | bytes | os.PathLike):
        return False
    # rmtree removes by names in an open folder.
    path = Path(os.fsdecode(arguments))
    return not path.is_absolute() or path.is_relative_to(place)


@contextmanager
def watched(place: Path, watch: Watch) -> Iterator[None]:
    """Have *watch* called at each change of names below *place*, and where a file is written."""
    _install()
    _watch.append((place.resolve(), watch))
    try:
        yield
    finally:
        _watch.pop()


def count(place: Path, work: Callable[[], object]) -> int:
    """Return how many such events there are in the work."""
    seen: list[None] = []
    with watched(place, lambda: seen.append(None)):
        work()
    return len(seen)


def failing(number: int) -> Watch:
    """Fail at that event, and only there."""
    return _once(number, lambda: OSError(errno.EIO, os.strerror(errno.EIO)))


def full(number: int) -> Watch:
    """Let the disk be full from that event on."""
    return _from(number, lambda: OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))


def interrupting(number: int) -> Watch:
    """Press Ctrl-C at that event."""
    return _once(number, KeyboardInterrupt)


def terminating(number: int) -> Watch:
    """End the process by SIGTERM, or SIGHUP, at that event."""
    return _once(number, lambda: SystemExit(143))


def killing(number: int) -> Watch:
    """Kill the process at that event: from then on nothing happens."""
    return _from(number, KilledError)


def _once(number: int, make: Callable[[], BaseException]) -> Watch:
    seen: list[None] = []

    def watch() -> None:
        seen.append(None)
        if len(seen) == number:
            raise make()

    return watch


def _from(number: int, make: Callable[[], BaseException]) -> Watch:
    seen: list[None] = []

    def watch() -> None:
        seen.append(None)
        if len(seen) >= number:
            raise make()

    return watch


FAULTS = (failing, full, interrupting, terminating, killing)
