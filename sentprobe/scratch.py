"""What a process works in and is nobody's when it has ended: half-written files, scratch folders.

Each is locked by the process that made it. One that a killed process left goes when another process
comes by: what has no lock is nobody's. The process id alone would not tell, for a container has
ids of its own; and where there are no locks, only what is old enough is taken for left.
"""

import errno
import hashlib
import os
import platform
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from sentprobe.locks import is_at, take

HOUR = 3600.0

WITHOUT_LOCKS = 24 * HOUR
"""So old is what is taken for left where there are no locks: commands may run for hours."""

_MACHINE = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
"""Stands for this machine, or container, in the names of half-written files."""

_PART = re.compile(r"\.(?P<name>.+)\.sentprobe_(?P<machine>[0-9a-f]{8})_\w{8}\.part")

_NAME = 64
"""So much of a file's name is in that of its half-written one."""

PREFIX = f"sentprobe-{re.sub(r'[^A-Za-z0-9.]', '_', platform.node())}-"
"""Before the process id: a process of another machine or container is not looked for here."""

_SCRATCH = re.compile(r"(?P<prefix>sentprobe-[A-Za-z0-9._]*-)(?P<process>\d+)-\w+")


@contextmanager
def part_of(target: Path, *, folder: bool = False) -> Iterator[Path]:
    """Give a new hidden file or folder beside *target*, and remove it at the end if it is there.

    What killed processes left in the folder of *target* goes first.

    Raises:
        OSError: it cannot be made.
    """
    sweep(target.parent)
    prefix, suffix = f".{target.name[:_NAME]}.sentprobe_{_MACHINE}_", ".part"

    def make() -> Path:
        if folder:
            return Path(tempfile.mkdtemp(dir=target.parent, prefix=prefix, suffix=suffix))
        file, name = tempfile.mkstemp(dir=target.parent, prefix=prefix, suffix=suffix)
        os.close(file)
        return Path(name)

    with _held(make) as part:
        yield part


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a folder among the temporary ones, named by this process; it is removed at the end.

    One that a killed process could not remove goes when the next one is made.
    """
    place = Path(tempfile.gettempdir())
    _remove_leftovers(place)
    with _held(lambda: Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))) as folder:
        yield folder


@contextmanager
def _held(make: Callable[[], Path]) -> Iterator[Path]:
    """Give what *make* makes, locked until the end, and remove it then."""
    path, file = _locked(make)
    try:
        yield path
    finally:
        try:
            with suppress(OSError):  # what is left goes another time
                _remove(path)
        finally:
            if file is not None:
                os.close(file)


def _locked(make: Callable[[], Path]) -> tuple[Path, int | None]:
    while True:
        path = make()
        if os.name != "posix":
            return path, None
        with suppress(FileNotFoundError):
            file = _open(path)
            take(file, wait=True)
            if is_at(file, path):
                return path, file
            os.close(file)  # another process took it for left before it was locked


def _open(path: Path) -> int:
    # Over a network, only what is open for writing can be locked; a folder never is.
    return os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        put_back(path)
        if (path / OLD).exists():  # half of it is never put back
            (path / OLD).rename(path / "gone")
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


OLD = "old"
"""What is moved away in a half-written folder, until the new one has its name."""


def put_back(part: Path) -> None:
    """Give what was moved away into a half-written folder its name again, if nothing else has it.

    Raises:
        OSError: it cannot.
    """
    found = _PART.fullmatch(part.name)
    if found and (part / OLD).exists():
        name = (part / NAME).read_text("utf-8", "surrogateescape")
        if not name:  # the machine stopped before it was on the disk
            raise FileNotFoundError(errno.ENOENT, "nothing says what it was called", str(part))
        if not part.with_name(name).exists():
            (part / OLD).rename(part.with_name(name))


NAME = "name"
"""The file in a half-written folder that says of what name it will be, once that is moved away."""


@cache
def sweep(folder: Path) -> None:
    """Remove half-written files and folders that are nobody's; once for each folder."""
    if os.name != "posix":  # an open file cannot be removed there, and needs no lock
        return
    with suppress(OSError):
        for path in list(folder.iterdir()):
            if found := _PART.fullmatch(path.name):
                _remove_if(path, ended=found["machine"] == _MACHINE)


def _remove_leftovers(place: Path) -> None:
    if os.name != "posix":  # elsewhere there is no harmless way to ask for a process
        return
    for folder in place.glob("sentprobe-*"):
        found = _SCRATCH.fullmatch(folder.name)
        if found and folder.is_dir():
            ended = found["prefix"] == PREFIX and _is_gone(int(found["process"]))
            _remove_if(folder, ended=ended)


def _remove_if(path: Path, *, ended: bool) -> None:
    """Remove what is ours and nobody's; *ended*: it needs no time to be sure of that."""
    with suppress(OSError):
        if path.is_symlink() or path.stat().st_uid != os.getuid():
            return
        file = _open(path)
        try:
            free = take(file)
            limit = WITHOUT_LOCKS if free is None else 0 if ended else HOUR
            if free is not False and time.time() - path.stat().st_mtime >= limit:
                _remove(path)
        finally:
            os.close(file)


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:  # it is there, and another user's
        return False
    return False
