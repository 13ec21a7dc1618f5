"""The exceptions that sentprobe raises for a user's mistake, and parts of their messages."""

import errno
from collections.abc import Iterable
from difflib import get_close_matches
from os import PathLike, fsencode, fspath
from typing import SupportsIndex


class SentprobeError(Exception):
    """Something that the user asked for failed; the message is one clear sentence.

    The command line prints the message and leaves with :attr:`exit_code`.
    """

    exit_code = 1


class UsageError(SentprobeError, ValueError):
    """The request itself is wrong: an unknown name, a number out of range, a contradiction."""

    exit_code = 2


class GivenError(UsageError, TypeError):
    """What a function was given is of a type that it cannot use."""


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


def check_whole(name: str, value: object) -> None:
    """Refuse what is no whole number; None is left to mean none.

    >>> check_whole("train", 400)

    Raises:
        GivenError: it is not one.
    """
    if value is not None and (isinstance(value, bool) or not isinstance(value, SupportsIndex)):
        raise GivenError(f"{name} must be a whole number, not {value!r}")


def check_utf8(*names: PathLike[str] | str) -> None:
    """Refuse a path, or what a command was given, that no file of results could name.

    Raises:
        UsageError: it is not UTF-8.
    """
    for name in [fspath(each) for each in names]:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{ascii(fsencode(name))[1:]} is not UTF-8; rename it") from None


def suggest(name: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the known name nearest to *name*, or the empty string.

    >>> suggest("lwayer", ["lawyer", "doctor"])
    " (did you mean 'lawyer'?)"
    >>> suggest("xyz", ["lawyer", "doctor"])
    ''
    """
    near = get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def counted(number: int, thing: str) -> str:
    """Return how many things there are, in words for a message.

    >>> counted(1, "field"), counted(2, "probe word")
    ('1 field', '2 probe words')
    """
    return f"{number} {thing}{'' if number == 1 else 's'}"


def first_line(error: BaseException) -> str:
    r"""Return the first line of the error's text, or its name when it has none.

    >>> first_line(ValueError("no such device\nThe devices are: cpu")), first_line(KeyError())
    ('no such device', 'KeyError')
    """
    return (str(error).strip() or type(error).__name__).splitlines()[0]


class ResultsError(SentprobeError):
    """A directory or file of results cannot be read or written, or is not ours."""


class FormatError(SentprobeError):
    """A record that cannot be read; the message says in which line and why."""


class NotationError(UsageError):
    """A text is not an event; ``offset`` counts from 0, ``line`` and ``column`` from 1."""

    def __init__(self, message: str, text: str, offset: int, source: str = "") -> None:
        super().__init__(message, text, offset, source)
        self.message = message
        self.text = text
        self.offset = offset
        self.source = source

    @property
    def line(self) -> int:
        """The line of the mistake, from 1."""
        return self.text.count("\n", 0, self.offset) + 1

    @property
    def column(self) -> int:
        """The column of the mistake, from 1."""
        return self.offset - self.text.rfind("\n", 0, self.offset)

    def __str__(self) -> str:
        place = f"{self.source or 'event'}:{self.line}:{self.column}"
        shown = self.text.split("\n")[self.line - 1].expandtabs(1).rstrip()
        return f"{place}: {self.message}\n  {shown}\n  {'^':>{self.column}}"
