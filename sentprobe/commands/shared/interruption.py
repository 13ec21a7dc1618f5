"""Messages of commands that are interrupted by Ctrl-C or a signal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from sentprobe.disk.files import RESULTS_MARKER, TABLE_MARKER
from sentprobe.errors import SentprobeError


class StoppedError(SentprobeError):
    """The user stopped the work; the message says which results are kept."""

    exit_code = 130


SIGNAL_EXIT_CODES = (129, 143)


@contextmanager
def report_interruption(resume_message: str | Callable[[], str]) -> Iterator[None]:
    """Exit with *resume_message* (or the text that it returns) when Ctrl-C or a signal stops the work."""
    try:
        yield
    except KeyboardInterrupt:
        raise _build_stop_error(resume_message) from None
    except SystemExit as end:
        if end.code not in SIGNAL_EXIT_CODES:
            raise
        error = _build_stop_error(resume_message)
        error.exit_code = int(end.code)
        raise error from None


def _build_stop_error(resume_message: str | Callable[[], str]) -> StoppedError:
    return StoppedError(f"stopped; {resume_message if isinstance(resume_message, str) else resume_message()}")


def describe_resumption(out: Path) -> str:
    """Return the message of work that the same command resumes.

    >>> describe_resumption(Path("results"))
    'finished work is kept in results; the same command resumes from there'
    """
    return f"finished work is kept in {out}; the same command resumes from there"


def describe_kept_work(out: Path) -> str:
    """Return the message of :func:`describe_resumption`, or that *out* holds no finished work."""
    return describe_resumption(out) if has_finished_work(out) else "no part of the work is finished: nothing is kept"


def has_finished_work(out: Path) -> bool:
    """Return whether a folder has a result of a run or of geometry, or a part of a table."""
    paths = chain.from_iterable(map(out.glob, ("[!.]*.json", "geometry/[!.]*.json", "work/[!.]*.arrow")))
    return any(path.name not in {RESULTS_MARKER, TABLE_MARKER} for path in paths)
