"""Failures of the system: memory, file handles, standard streams, the working folder."""

import errno
import os
import sys

from sentprobe.errors import is_out_of_memory

_OUTPUT_ERRORS = {errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG, errno.EAGAIN, errno.EINVAL}
"""Error numbers of an error without a path that come from standard output."""

_HANDLE_ERRORS = {errno.EMFILE, errno.ENFILE}


def open_missing_streams() -> None:
    """Open the null device for each standard stream that the caller closed (``gen 2>&-``).

    Otherwise, the next file would get the number of the stream, and all that is written to the stream.
    """
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123


def describe_failure(error: BaseException) -> str | None:
    """Return the message for a failure of the system, or None for any other error.

    >>> describe_failure(OSError(errno.EMFILE, "Too many open files"))
    'too many open files; raise the limit (ulimit -n)'
    >>> describe_failure(OSError(errno.ENOSPC, "No space left on device"))
    'standard output: No space left on device'
    >>> describe_failure(KeyError("a"))
    """
    if is_out_of_memory(error):
        return "not enough memory; reduce the size of the work"
    if not isinstance(error, OSError):
        return None
    where = error.filename or ("standard output" if error.errno in _OUTPUT_ERRORS else None)
    what = "too many open files; raise the limit (ulimit -n)" if error.errno in _HANDLE_ERRORS else error.strerror
    return f"{where}: {what}" if where else f"{what or error}"


def note_missing_folder() -> str:
    """Return a remark if the working folder was deleted, which explains other errors."""
    try:
        os.getcwd()  # noqa: PTH109
    except OSError:
        return " (the working folder has been deleted)"
    return ""
