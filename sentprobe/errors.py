"""The exceptions that sentprobe raises for a user's mistake, and how a suggestion is made."""

import errno
from collections.abc import Iterable
from difflib import get_close_matches
from os import PathLike


class SentprobeError(Exception):
    """Something that the user asked for failed; the message is one clear sentence.

    The command line prints the message and leaves with :attr:`exit_code`.
    """

    exit_code = 1


class UsageError(SentprobeError, ValueError):
    """The request itself is wrong: an unknown name, a number out of range, a contradiction."""

    exit_code = 2


WRONG_PATH = frozenset(
    {
        *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP),
        *(errno.EACCES, errno.EPERM, errno.EROFS),
    }
)
"""What is wrong with a path that is not there, is of another kind, or is not ours to use."""


def path_error(
    path: PathLike[str] | str,
    what: str,
    error: OSError,
    *,
    otherwise: type[SentprobeError] = SentprobeError,
) -> SentprobeError:
    """Return the error for a path: a wrong request, or *otherwise* (a full disk, damage).

    >>> path_error("x.txt", "cannot read it", FileNotFoundError(2, "No such file")).exit_code
    2
    """
    kind = UsageError if error.errno in WRONG_PATH else otherwise
    return kind(f"{path}: {what}: {error.strerror or error}")


def suggest(name: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the known name nearest to *name*, or the empty string.

    >>> suggest("lwayer", ["lawyer", "doctor"])
    " (did you mean 'lawyer'?)"
    >>> suggest("xyz", ["lawyer", "doctor"])
    ''
    """
    near = get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
