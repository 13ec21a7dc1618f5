"""The exceptions that sentprobe raises for a user's mistake, and how a suggestion is made."""

from collections.abc import Iterable
from difflib import get_close_matches


class SentprobeError(Exception):
    """Something that the user asked for failed; the message is one clear sentence.

    The command line prints the message and leaves with :attr:`exit_code`.
    """

    exit_code = 1


class UsageError(SentprobeError, ValueError):
    """The request itself is wrong: an unknown name, a number out of range, a contradiction."""

    exit_code = 2


def suggest(name: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the known name nearest to *name*, or the empty string.

    >>> suggest("lwayer", ["lawyer", "doctor"])
    " (did you mean 'lawyer'?)"
    >>> suggest("xyz", ["lawyer", "doctor"])
    ''
    """
    near = get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
