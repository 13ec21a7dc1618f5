"""Locks of files and folders by ``flock``. A lock ends when its process ends. On Windows, locks have no effect.

sentprobe uses no library for lock files. Such a library locks only a separate file, which may remain if a process is
killed. But sentprobe also locks its temporary files and folders themselves.
"""

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EBADF, EINVAL, ENOLCK, ENOSYS, ENOTSUP
from pathlib import Path

LOCK = ".lock"
"""Lock file of a folder: only the process that locks it may write into the folder. It is removed afterwards."""
WAIT_MINUTES = 10
"""Minutes that a command waits for a lock by default."""
_UNSUPPORTED = {EBADF, EINVAL, ENOLCK, ENOSYS, ENOTSUP}
"""Error numbers by which a file system reports that it cannot lock files, or folders (NFS)."""


@contextmanager
def hold_lock(
    folder: Path, *, wait: float = 0.0, command: str = "", report: Callable[[str], None] = lambda _: None
) -> Iterator[bool]:
    """Lock a folder for the ``with`` block; provide True, or False if the lock is not free within *wait* seconds.

    The lock file names this process and its *command*. After a second of waiting, *report* is called once with the
    description of the process that holds the lock. Raises OSError if the folder is missing.
    """
    file = _open_locked(folder / LOCK, wait=wait, report=report)
    try:
        if file is not None:
            _write_holder(file, command)
        yield file is not None
    finally:
        if file is not None:
            try:
                # Removed while it is locked: a waiting process sees by is_at that it waits for a removed file.
                with suppress(OSError):  # the folder was removed with its lock
                    (folder / LOCK).unlink()
            finally:
                os.close(file)


def _open_locked(path: Path, *, wait: float, report: Callable[[str], None]) -> int | None:
    """Open and lock a file; return its descriptor, or None if its lock is not free within *wait* seconds."""
    is_reported = False
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | _NO_FOLLOW, 0o666)
        try:
            start = time.monotonic()
            while (is_locked := lock_file(file)) is False and is_at(file, path):
                waited = time.monotonic() - start
                if waited >= wait:
                    os.close(file)
                    return None
                if waited >= _SECONDS_BEFORE_REPORT and not is_reported:
                    report(read_holder(path.parent))
                    is_reported = True
                time.sleep(min(_POLL_SECONDS, wait - waited))
            if is_locked is not False and is_at(file, path):  # the previous holder may have removed the file
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


_POLL_SECONDS = 0.02
_SECONDS_BEFORE_REPORT = 1.0
"""Seconds of waiting after which the holder of a lock is reported; writing a result takes less."""
_MAX_HOLDER = 300
"""Maximum length in bytes of the description of the process that holds a lock."""


def _write_holder(file: int, command: str) -> None:
    text = f"process {os.getpid()} on {platform.node()}{f': {command}' if command else ''}"
    with suppress(OSError):  # a full disk
        os.ftruncate(file, 0)
        os.write(file, text.encode("utf-8", "replace")[:_MAX_HOLDER])


def read_holder(folder: Path) -> str:
    """Return a description of the process that holds a folder's lock: process id, machine and command."""
    try:
        with (folder / LOCK).open("rb") as file:
            text = file.read(_MAX_HOLDER).decode("utf-8", "replace")
    except OSError:
        text = ""
    return " ".join(text.split()) or "another process"


_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
"""Flag of ``os.open`` that refuses symbolic links, since a link could lead to another user's file."""


def is_at(file: int, path: Path) -> bool:
    """Return whether *path* is still the path of the open file or folder *file*."""
    try:
        return os.path.samestat(os.fstat(file), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def lock_file(file: int, *, wait: bool = False) -> bool | None:
    """Lock an open file or folder; with *wait*, wait until its lock is free.

    Returns True if it is locked, False if another process holds the lock, None if locks are unsupported.
    """
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        return None
    return True
