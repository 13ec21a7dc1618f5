"""Exceptions of sentprobe, the formatting of their messages, and checks of arguments."""

import errno
import re
from collections.abc import Iterable
from difflib import get_close_matches
from os import PathLike, fspath
from typing import SupportsIndex

MAX_QUOTED = 200
"""Maximum number of characters of a quotation in a message."""

_MAX_NAME = 255
"""Maximum length of a file name; in messages, longer sequences without space or slash are cut to MAX_QUOTED."""

_MAX_LINE = 2000
_DIRECTION_CHARACTERS = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""The characters that turn the direction of writing."""
DANGEROUS_CHARACTERS = rf"\x7f-\x9f\u2028\u2029\ufffe\uffff{_DIRECTION_CHARACTERS}"
"""What a terminal or an editor would obey, beyond ASCII, and XML forbids; for a pattern of a set of characters.

These are C1 controls, line separators, characters that turn the direction, and U+FFFE and U+FFFF.
"""

_CONTROL_CHARACTERS = re.compile(rf"[\x00-\x08\x0b-\x1f{DANGEROUS_CHARACTERS}\ud800-\udfff]")
_LONG_WORD = re.compile(rf"[^\s/]{{{_MAX_NAME + 1},}}")
_QUOTATION = re.compile(rf"""(?<!\w)(['"])((?:(?!\1)[^\n]){{{MAX_QUOTED}}})(?:(?!\1)[^\n])+\1""")
_LONG_LINE = re.compile(rf"[^\n]{{{_MAX_LINE + 1},}}")


def escape_control_characters(text: str) -> str:
    r"""Return the text with control characters escaped as Python writes them.

    >>> print(escape_control_characters("red: \x1b[31m"))
    red: \x1b[31m
    """
    return _CONTROL_CHARACTERS.sub(lambda match: ascii(match[0])[1:-1], text)


def split_lines(text: str) -> list[str]:
    r"""Return the lines of a text with control characters escaped; only a line feed ends a line.

    >>> split_lines("two\nlines\u2028here\n")
    ['two', 'lines\\u2028here']
    """
    return escape_control_characters(text).splitlines()


def format_message(text: str) -> str:
    """Return a message that is safe to print: control characters are escaped, and long quotations are cut.

    >>> len(format_message("there is no task " + repr("x" * 680_000)))
    220
    """
    text = escape_control_characters(text)
    if len(text) <= MAX_QUOTED:
        return text
    text = _QUOTATION.sub(lambda match: f"{match[1]}{match[2]}…{match[1]}", text)
    text = _LONG_WORD.sub(lambda match: f"{match[0][:MAX_QUOTED]}…", text)
    return _LONG_LINE.sub(lambda match: f"{match[0][: _MAX_LINE - MAX_QUOTED]} … {match[0][-100:]}", text)


class SentprobeError(Exception):
    """Base class of sentprobe's errors. A program prints the error's message, then exits with :attr:`exit_code`."""

    exit_code = 1

    def __str__(self) -> str:
        return format_message(super().__str__())


class UsageError(SentprobeError, ValueError):
    """The request itself is wrong: an unknown name, a number out of range, a contradiction."""

    exit_code = 2


class ArgumentTypeError(UsageError, TypeError):
    """An argument of a function has a type that the function cannot use."""


WRONG_PATH = {
    *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP),
    *(errno.EACCES, errno.EPERM, errno.EROFS),
}
"""Error numbers for wrong paths: missing, not accessible, or a folder instead of a file, for example."""


def path_error(
    path: PathLike[str] | str, what: str, error: OSError, *, otherwise: type[SentprobeError] = SentprobeError
) -> SentprobeError:
    """Return the exception to raise for *error* at *path*: UsageError for a wrong path (WRONG_PATH), else *otherwise*.

    >>> path_error("x.txt", "cannot read it", FileNotFoundError(2, "No such file")).exit_code
    2
    """
    error_type = UsageError if error.errno in WRONG_PATH else otherwise
    return error_type(f"{path}: {what}: {error.strerror or error}")


def folder_part_error(
    path: PathLike[str] | str, what: str, error: OSError, *, damaged: type[SentprobeError]
) -> SentprobeError:
    """Return the error for an unreadable file of a dataset or model: UsageError if access is denied, else *damaged*.

    >>> missing = FileNotFoundError(2, "none")
    >>> folder_part_error("t/a", "cannot read it", missing, damaged=FormatError)
    FormatError('t/a: cannot read it: none')
    """
    error_type = UsageError if error.errno in (errno.EACCES, errno.EPERM) else damaged
    return error_type(f"{path}: {what}: {error.strerror or error}")


def check_whole(name: str, value: object) -> None:
    """Raise ArgumentTypeError, with *name* in the message, if *value* is neither a whole number nor None."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, SupportsIndex)):
        raise ArgumentTypeError(f"{name} must be a whole number, not {value!r}")


LARGEST_SEED = 2**62
"""Largest seed that a user may choose; a run also uses the numbers after its seed, which must fit 63 bits."""


def check_seed(seed: int) -> int:
    """Return *seed*; raise UsageError if it is above LARGEST_SEED."""
    if seed > LARGEST_SEED:
        raise UsageError(f"the seed must be at most {LARGEST_SEED}, not {seed}")
    return seed


def check_utf8(*names: PathLike[str] | str) -> None:
    """Raise UsageError for a path or argument that is not UTF-8, which a results file could not store."""
    for name in [fspath(path) for path in names]:
        try:
            name.encode()
        except UnicodeEncodeError:
            shown = ascii(name).replace(r"\udc", r"\x")  # Python keeps a byte that is no character as a surrogate
            raise UsageError(f"{shown} is not UTF-8; rename it") from None


def suggest(name: str, names: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the name nearest to *name*, or the empty string.

    >>> suggest("lwayer", ["lawyer", "doctor"])
    " (did you mean 'lawyer'?)"
    >>> suggest("xyz", ["lawyer", "doctor"])
    ''
    """
    matches = get_close_matches(name, list(names), n=1)
    return f" (did you mean {matches[0]!r}?)" if matches else ""


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where needed.

    >>> format_count(1, "field"), format_count(2, "probe word")
    ('1 field', '2 probe words')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def first_line(error: BaseException) -> str:
    r"""Return the first line of an error's text, and the next if the first ends with a colon.

    An error without text gives the name of its class.

    >>> first_line(ValueError("no such device\nThe devices are: cpu")), first_line(KeyError())
    ('no such device', 'KeyError')
    >>> first_line(ValueError("Error in 'eps':\n  TypeError: it is a text\nSee there"))
    "Error in 'eps': TypeError: it is a text"
    """
    line, *later_lines = (str(error).strip() or type(error).__name__).splitlines()
    reason = next(filter(None, map(str.strip, later_lines)), "") if line.endswith(":") else ""
    return f"{line} {reason}".rstrip()


_MEMORY_TEXT = re.compile("an(no|')t allocate memory|failed to map segment|an't start new thread|bad_alloc")
"""Pattern of the messages by which libraries report that memory is exhausted."""

_LIBRARY_ERRORS = (RuntimeError, OSError, ImportError)
"""Exceptions whose messages are searched for _MEMORY_TEXT; other exceptions may quote the same words from a file."""


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error of Python, the system or a library means that memory is exhausted."""
    says_memory = isinstance(error, _LIBRARY_ERRORS) and _MEMORY_TEXT.search(str(error)) is not None
    return isinstance(error, MemoryError) or getattr(error, "errno", 0) == errno.ENOMEM or says_memory


class ResultsError(SentprobeError):
    """A folder or file of results cannot be read or written, or was not made by sentprobe."""


class FormatError(SentprobeError):
    """A record, such as a line of a JSON file, is invalid; the message gives the line or field, and the reason."""


class NotationError(UsageError):
    """A text is not valid event notation. ``offset`` (from 0), ``line`` and ``column`` (from 1) locate the mistake."""

    def __init__(self, message: str, text: str, offset: int, source: str = "") -> None:
        super().__init__(message, text, offset, source)
        self.message = message
        self.text = text
        self.offset = offset
        self.source = source

    @property
    def line(self) -> int:
        """Line of the mistake, counted from 1."""
        return self.text.count("\n", 0, self.offset) + 1

    @property
    def column(self) -> int:
        """Column of the mistake, counted from 1."""
        return self.offset - self.text.rfind("\n", 0, self.offset)

    def __str__(self) -> str:
        place = f"{self.source or 'event'}:{self.line}:{self.column}"
        line = self.text.split("\n")[self.line - 1].expandtabs(1).rstrip()
        start = max(0, self.column - 1 - MAX_QUOTED)
        shown = _CONTROL_CHARACTERS.sub("?", line[start : start + 2 * MAX_QUOTED])  # same length, for the caret
        before = "…" if start else ""
        caret = f"{'^':>{self.column - start + len(before)}}"
        return f"{format_message(f'{place}: {self.message}')}\n  {before}{shown}\n  {caret}"
