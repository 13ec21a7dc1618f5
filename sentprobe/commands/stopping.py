"""Ctrl-C: what a command says of what it had done until then."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sentprobe.errors import SentprobeError


class StoppedError(SentprobeError):
    """The user stopped the work; the message says what is kept of it."""

    exit_code = 130


@contextmanager
def stopping(kept: str) -> Iterator[None]:
    """End with *kept*, which says what is kept, when the work is stopped by Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        raise StoppedError(f"stopped; {kept}") from None


def goes_on(out: Path) -> str:
    """Return what is said where the same command goes on.

    >>> goes_on(Path("results"))
    'what is done is kept in results, and the same command goes on from there'
    """
    return f"what is done is kept in {out}, and the same command goes on from there"
