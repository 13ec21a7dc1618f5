"""Messages for interruptions (Ctrl-C, signals) and for failures of the system (memory, file handles, streams)."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sentprobe.common.errors import SentprobeError, is_out_of_memory
from sentprobe.common.inputs import RESULTS_MARKER, TABLE_MARKER
from sentprobe.common.processes import is_stop_request


class StoppedError(SentprobeError):
    """The user stopped the work; the message says which results are kept."""

    exit_code = 130


@contextmanager
def report_interruption(resume_message: str | Callable[[], str]) -> Iterator[None]:
    """If Ctrl-C or a signal stops the block, raise StoppedError.

    - resume_message: text that says which work is kept, or a function that returns this text
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit) as stop:
        if isinstance(stop, SystemExit) and not is_stop_request(stop):
            raise
        error = StoppedError(f"stopped; {resume_message if isinstance(resume_message, str) else resume_message()}")
        error.exit_code = getattr(stop, "code", StoppedError.exit_code)  # KeyboardInterrupt has no code
        raise error from None


def describe_resumption(out: Path) -> str:
    """Return the message for work that the same command can resume."""
    return f"finished work is kept in {out}; the same command resumes from there"


def describe_kept_work(out: Path) -> str:
    """Return the message for stopped work: how to resume it, or that nothing was finished."""
    return describe_resumption(out) if has_finished_work(out) else "no part of the work is finished: nothing is kept"


def has_finished_work(out: Path) -> bool:
    """Return whether a folder holds a result (of ``probe run``, ``geometry`` or ``lm``) or part of a corpus table."""
    patterns = ("[!.]*.json", "geometry/[!.]*.json", "lm/[!.]*.json", "work/[!.]*.arrow")
    paths = (path for pattern in patterns for path in out.glob(pattern))
    return any(path.name not in {RESULTS_MARKER, TABLE_MARKER} for path in paths)


_OUTPUT_ERRORS = {errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG, errno.EAGAIN, errno.EINVAL}
"""Error numbers of failed writes; if the error names no path, standard output could not be written."""
_HANDLE_ERRORS = {errno.EMFILE, errno.ENFILE}
"""Error numbers for too many open files."""


def open_missing_streams() -> None:
    """Open the null device for each closed standard stream, so that no later file gets its file descriptor."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123


def describe_failure(error: BaseException) -> str | None:
    """Return a message for a failure of the system (memory, disk, file handles), or None for any other error."""
    if is_out_of_memory(error):
        return "not enough memory; reduce the size of the work"
    if not isinstance(error, OSError):
        return None
    where = error.filename or ("standard output" if error.errno in _OUTPUT_ERRORS else None)
    what = "too many open files; raise the limit (ulimit -n)" if error.errno in _HANDLE_ERRORS else error.strerror
    return f"{where}: {what}" if where else f"{what or error}"


def note_missing_folder() -> str:
    """Return a remark for error messages if the working folder was deleted; else an empty text."""
    try:
        os.getcwd()  # noqa: PTH109
    except OSError:
        return " (the working folder has been deleted)"
    return ""
