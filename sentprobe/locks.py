"""Locks of files and folders: whoever holds one loses it when it ends, however it ends.

They are the system's own (flock), taken here and not by a library's lock files: these can lock
neither a folder nor a file that is being written, and some outlive a process that is killed. Where
a file system has no locks, or on Windows, nobody is kept out.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EBADF, EINVAL, ENOLCK, ENOSYS, ENOTSUP
from pathlib import Path

LOCK = ".lock"
"""The file in a folder by which those who write there keep each other out; gone at the end."""

_NO_LOCKS = {EBADF, EINVAL, ENOLCK, ENOSYS, ENOTSUP}
"""What is said of a file system that has none, or none for folders (NFS)."""


@contextmanager
def locked(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Hold a folder's lock until the end; false: another has it, and *wait* does not say to wait.

    Raises:
        OSError: there is no such folder, or it cannot be written to.
    """
    file = _open(folder / LOCK, wait=wait)
    try:
        yield file is not None
    finally:
        if file is not None:
            try:
                with suppress(OSError):  # the folder is gone, and its lock with it
                    (folder / LOCK).unlink()
            finally:
                os.close(file)


def _open(path: Path, *, wait: bool) -> int | None:
    """Return an open file that is locked; None: another has it."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o666)
        try:
            if take(file, wait=wait) is False:
                os.close(file)
                return None
            if is_at(file, path):  # and not one that its last holder has just removed
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
"""A lock that is a link would be another's file."""


def is_at(file: int, path: Path) -> bool:
    """Say whether an open file is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(file), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def take(file: int, *, wait: bool = False) -> bool | None:
    """Lock an open file or folder; false: another has it. None: there are no locks here."""
    if sys.platform == "win32":
        return None
    import fcntl  # noqa: PLC0415 - not on Windows

    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return None
    return True
