"""Locks of files and folders, which end with the process that holds them.

They are locks of the operating system (flock). The lock files of libraries can lock neither a folder nor a file that is
being written, and some remain after a process is killed. On Windows, and on file systems without locks, locking has no
effect.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EBADF, EINVAL, ENOLCK, ENOSYS, ENOTSUP
from pathlib import Path

LOCK = ".lock"
"""File in a folder that a writer locks to exclude other writers; removed when the lock is released."""

_UNSUPPORTED = {EBADF, EINVAL, ENOLCK, ENOSYS, ENOTSUP}
"""Error numbers of file systems without locks, or without locks of folders (NFS)."""


@contextmanager
def hold_lock(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Hold a folder's lock until the end of the ``with`` block.

    The value is False if another process holds the lock and *wait* is false.

    Raises:
        OSError: the folder is missing or cannot be written to.
    """
    file = _open_locked(folder / LOCK, wait=wait)
    try:
        yield file is not None
    finally:
        if file is not None:
            try:
                with suppress(OSError):  # the folder was removed with its lock
                    (folder / LOCK).unlink()
            finally:
                os.close(file)


def _open_locked(path: Path, *, wait: bool) -> int | None:
    """Return a locked open file; None if another process holds the lock."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | _NO_FOLLOW, 0o666)
        try:
            if lock_file(file, wait=wait) is False:
                os.close(file)
                return None
            if is_at(file, path):  # its last holder may have removed the file
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
"""Flag that refuses symbolic links; through a link, the lock could be a file of somebody else."""


def is_at(file: int, path: Path) -> bool:
    """Return whether an open file is still the file at *path*."""
    try:
        return os.path.samestat(os.fstat(file), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def lock_file(file: int, *, wait: bool = False) -> bool | None:
    """Lock an open file or folder; return False if another process holds the lock, None if locks are unsupported."""
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
