"""The exceptions that sentprobe raises for a user's mistake, and parts of their messages."""

import errno
import re
from collections.abc import Iterable
from difflib import get_close_matches
from os import PathLike, fsencode, fspath
from typing import SupportsIndex

QUOTED = 200
"""So many characters of a text of somebody else's are enough for a message."""

_LONGEST_NAME = 255
"""The characters of what has no space and no slash: no name of a file is longer."""

_LONGEST_LINE = 2000

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_WORD = re.compile(rf"[^\s/]{{{_LONGEST_NAME + 1},}}")
_QUOTATION = re.compile(rf"""(?<!\w)(['"])((?:(?!\1)[^\n]){{{QUOTED}}})(?:(?!\1)[^\n])+\1""")
_LINE = re.compile(rf"[^\n]{{{_LONGEST_LINE + 1},}}")


def visible(text: str) -> str:
    r"""Return the text with what a terminal would obey, and not show, as Python writes it.

    >>> print(visible("red: \x1b[31m"))
    red: \x1b[31m
    """
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def told(text: str) -> str:
    """Return a message as people may see it: visible, and nothing in it quoted at length.

    >>> len(told("there is no task " + repr("x" * 680_000)))
    220
    """
    text = visible(text)
    if len(text) <= QUOTED:
        return text
    text = _QUOTATION.sub(lambda found: f"{found[1]}{found[2]}…{found[1]}", text)
    text = _WORD.sub(lambda found: f"{found[0][:QUOTED]}…", text)
    return _LINE.sub(
        lambda found: f"{found[0][: _LONGEST_LINE - QUOTED]} … {found[0][-100:]}", text
    )


class SentprobeError(Exception):
    """Something that the user asked for failed; the message is one clear sentence.

    The command line prints the message and leaves with :attr:`exit_code`.
    """

    exit_code = 1

    def __str__(self) -> str:
        return told(super().__str__())


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


def part_error(
    path: PathLike[str] | str, what: str, error: OSError, *, damaged: type[SentprobeError]
) -> SentprobeError:
    """Return the error for a file of a folder of ours: that it is missing is damage.

    >>> part_error("t/a", "cannot read it", FileNotFoundError(2, "none"), damaged=FormatError)
    FormatError('t/a: cannot read it: none')
    """
    ours = error.errno not in (errno.EACCES, errno.EPERM)
    kind = damaged if ours else UsageError
    return kind(f"{path}: {what}: {error.strerror or error}")


def check_whole(name: str, value: object) -> None:
    """Refuse what is no whole number; None is left to mean none.

    >>> check_whole("train", 400)

    Raises:
        GivenError: it is not one.
    """
    if value is not None and (isinstance(value, bool) or not isinstance(value, SupportsIndex)):
        raise GivenError(f"{name} must be a whole number, not {value!r}")


LARGEST_SEED = 2**62
"""What fits beside those counted up from it into every generator, column and file."""


def check_seed(seed: int) -> int:
    """Return a seed, unless it is one that not every generator takes.

    Raises:
        UsageError: it is too large.
    """
    if seed > LARGEST_SEED:
        raise UsageError(f"the seed must be at most {LARGEST_SEED}, not {seed}")
    return seed


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
        line = self.text.split("\n")[self.line - 1].expandtabs(1).rstrip()
        start = max(0, self.column - 1 - QUOTED)
        shown = _UNSEEN.sub("?", line[start : start + 2 * QUOTED])  # one for one: see the caret
        before = "…" if start else ""
        caret = f"{'^':>{self.column - start + len(before)}}"
        return f"{told(f'{place}: {self.message}')}\n  {before}{shown}\n  {caret}"
