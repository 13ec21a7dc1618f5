"""Ctrl-C: what a command says of what it had done until then."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sentprobe.errors import SentprobeError


class StoppedError(SentprobeError):
    """The user stopped the work; the message says what is kept of it."""

    exit_code = 130


BY_SIGNALS = (129, 143)
"""The exit codes of SIGHUP and SIGTERM, where the work takes these to keep what is done."""


@contextmanager
def stopping(kept: str | Callable[[], str]) -> Iterator[None]:
    """End with *kept*, which says what is kept, when the work is stopped by Ctrl-C or a signal.

    What depends on how far the work was is a function, which is asked then.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise _stopped(kept) from None
    except SystemExit as end:
        if end.code not in BY_SIGNALS:
            raise
        error = _stopped(kept)
        error.exit_code = int(end.code)
        raise error from None


def _stopped(kept: str | Callable[[], str]) -> StoppedError:
    return StoppedError(f"stopped; {kept if isinstance(kept, str) else kept()}")


def goes_on(out: Path) -> str:
    """Return what is said where the same command goes on.

    >>> goes_on(Path("results"))
    'what is done is kept in results, and the same command goes on from there'
    """
    return f"what is done is kept in {out}, and the same command goes on from there"
