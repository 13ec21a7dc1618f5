"""Exceptions of sentprobe, the formatting of their messages, and checks of arguments.

Import of optional dependencies (pip extras), with errors that name the missing library and its extra.

Versions of sentprobe, Python and libraries; datasets and results record them.
"""

import errno
import json
import platform
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from hashlib import file_digest, sha256
from importlib import import_module
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path
from shlex import quote
from typing import Any, SupportsIndex
from urllib.parse import urlsplit

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
    """Return the text with control characters escaped as Python writes them."""
    return _CONTROL_CHARACTERS.sub(lambda match: ascii(match[0])[1:-1], text)


def split_lines(text: str) -> list[str]:
    """Return the lines of a text with control characters escaped; only a line feed ends a line."""
    return escape_control_characters(text).splitlines()


def escape_line(text: str) -> str:
    r"""Return the text on one line: control characters, line feeds and tabs are escaped as Python writes them.

    >>> print(escape_line("a file\nprobe: all is well"))
    a file\nprobe: all is well
    """
    return escape_control_characters(text).replace("\n", r"\n").replace("\t", r"\t")


def format_message(text: str) -> str:
    """Return a message that is safe to print: on one line, control characters escaped, long quotations cut.

    >>> len(format_message("there is no task " + repr("x" * 680_000)))
    220
    """
    text = escape_line(text)
    if len(text) <= MAX_QUOTED:
        return text
    text = _QUOTATION.sub(lambda match: f"{match[1]}{match[2]}…{match[1]}", text)
    text = _LONG_WORD.sub(lambda match: f"{match[0][:MAX_QUOTED]}…", text)
    return _LONG_LINE.sub(lambda match: f"{match[0][: _MAX_LINE - MAX_QUOTED]} … {match[0][-100:]}", text)


class SentprobeError(Exception):
    """Base class of sentprobe's errors. A program prints the error's message, then exits with :attr:`exit_code`.

    Each argument is a line of the message; a line feed in an argument is escaped, since a name may have one.
    """

    exit_code = 1

    def __str__(self) -> str:
        return "\n".join(format_message(str(line)) for line in self.args)


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
    """Return the exception for *error* at *path*: UsageError for a wrong path (WRONG_PATH), else *otherwise*."""
    error_type = UsageError if error.errno in WRONG_PATH else otherwise
    near = suggest_path(path) if error.errno == errno.ENOENT else ""
    return error_type(f"{path}: {what}: {error.strerror or first_line(error)}{near}")


def folder_part_error(path: PathLike[str] | str, error: OSError, *, damaged: type[SentprobeError]) -> SentprobeError:
    """Return the error for an unreadable file of a dataset or model: UsageError if access is denied, else *damaged*."""
    error_type = UsageError if error.errno in (errno.EACCES, errno.EPERM) else damaged
    return error_type(f"{path}: cannot read it: {error.strerror or first_line(error)}")


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
    """Return `` (did you mean 'x'?)`` for the name nearest to *name*, or the empty string."""
    matches = get_close_matches(name, list(names), n=1)
    return f" (did you mean {matches[0]!r}?)" if matches else ""


def suggest_path(path: PathLike[str] | str) -> str:
    """Return `` (did you mean 'x'?)`` for the existing path nearest to one that does not exist, or the empty string.

    The first part of the path that does not exist is compared with the names in its folder.
    """
    missing = Path(path)
    try:
        if missing.exists():
            return ""
        while not missing.parent.is_dir():
            missing = missing.parent
        names = sorted(entry.name for entry in missing.parent.iterdir())
    except (OSError, ValueError):  # the folder cannot be read, or the name is none
        return ""
    matches = get_close_matches(missing.name, names, n=1)
    return f" (did you mean {str(missing.with_name(matches[0]))!r}?)" if matches else ""


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where needed: "1 field", "2 fields"."""
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


_LACKING_ARGUMENTS = re.compile(r"missing \d+ required [\w-]+(?: [\w-]+)? arguments?: (.*)")
_UNEXPECTED_ARGUMENT = re.compile(r"unexpected keyword argument ('[^']*')")


def describe_damage(error: Exception) -> str:
    """Return why a record of JSON is not as expected, from the error that Python raised for it.

    >>> describe_damage(KeyError("tokens")), describe_damage(AttributeError("'int' object has no attribute 'split'"))
    ("the key 'tokens' is missing", "a value has another type than expected: 'int' object has no attribute 'split'")
    >>> describe_damage(TypeError("f() got an unexpected keyword argument 'steps'. Did you mean 'step'?"))
    "the key 'steps' is not expected"
    """
    text = first_line(error)
    if isinstance(error, KeyError):
        return f"the key {text} is missing"
    if match := _LACKING_ARGUMENTS.search(text):
        return f"keys are missing: {match[1]}"
    if match := _UNEXPECTED_ARGUMENT.search(text):
        return f"the key {match[1]} is not expected"
    if text.startswith("zip() argument"):
        return "lists that belong together have different lengths"
    is_type_error = isinstance(error, TypeError | AttributeError) and not isinstance(error, SentprobeError)
    return f"a value has another type than expected: {text}" if is_type_error else text


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


PROBE = {"torch": "PyTorch", "sklearn": "scikit-learn", "duckdb": "DuckDB", "lightgbm": "LightGBM"}
"""Libraries of the extra ``probe``: import name to display name."""

LIBRARIES_BY_EXTRA = {
    "probe": PROBE,
    "train": {"lightning_fabric": "lightning-fabric", "defusedxml": "defusedxml"},
    "dask": {"distributed": "Dask"},
    "sentence-transformers": {
        "sentence_transformers": "sentence-transformers",
        "accelerate": "accelerate",
        "datasets": "datasets",
    },
}
"""Libraries of each extra: import name to display name."""

_WITH_PROBE = {"mteb", "sentence-transformers", "train", "transformers"}
"""Extras that install all libraries of ``probe``, too."""

_SYSTEM_LIBRARIES = {"lightgbm": "the OpenMP library of the system, libgomp (of macOS: libomp)"}
"""System libraries that pip does not install, by the Python library that needs them."""


class MissingError(SentprobeError, ImportError):
    """A library of an extra is not installed; the message names the library and the extra."""


class UnusableError(SentprobeError, ImportError):
    """An installed library cannot be loaded or is too old; the message names the missing part."""


def require_libraries(*libraries: str, extras: Iterable[str] = ()) -> None:
    """Raise MissingError if a library is not installed; the pip command in its message also installs *extras*."""
    # By find_spec, since an import of PyTorch takes seconds.
    if missing := [library for library in libraries if find_spec(library) is None]:
        raise _missing_error(missing, extras)


def import_module_of_extra(module: str) -> Any:
    """Import and return a module of a library that the extra ``probe``, ``train`` or ``dask`` installs.

    >>> import_module_of_extra("sklearn.utils").__name__
    'sklearn.utils'

    Raises:
        MissingError: the library is not installed.
        UnusableError: a system library that the library needs is missing.
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != library:  # the library lacks a dependency of its own
            raise
        raise _missing_error([library]) from None
    except OSError as error:  # ctypes cannot open a shared library
        system_library = _SYSTEM_LIBRARIES.get(library)
        hint = f"; it needs {system_library}" if system_library else ""
        message = f"{PROBE[library]} is installed, but cannot be loaded{hint}: {first_line(error)}"
        raise UnusableError(message) from error


def _missing_error(libraries: Sequence[str], extras: Iterable[str] = ()) -> MissingError:
    missing = [
        (extra, name)
        for extra, names in LIBRARIES_BY_EXTRA.items()
        for library, name in names.items()
        if library in libraries
    ]
    verb = "is" if len(missing) == 1 else "are"
    return MissingError(
        f"this needs {' and '.join(name for _, name in missing)}, which {verb} not installed: "
        f"{format_install(*(extra for extra, _ in missing), *extras)}"
    )


def format_install(*extras: str) -> str:
    """Return the pip command that installs *extras* from where sentprobe came: PyPI, a folder or a repository."""
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.request import url2pathname

    needed = sorted({*extras} - ({"probe"} if _WITH_PROBE & {*extras} else set()))
    named = f"sentprobe[{','.join(needed)}]"
    try:
        record = distribution("sentprobe").read_text("direct_url.json")
        source = json.loads(record or "{}")
    except (PackageNotFoundError, ValueError):  # it runs from a checkout
        source = {"url": Path(__file__).resolve().parents[2].as_uri(), "dir_info": {"editable": True}}
    url = source.get("url", "")
    if "dir_info" in source:
        option = "-e " if source["dir_info"].get("editable") else ""
        return f"pip install {option}{quote(url2pathname(urlsplit(url).path) + named.removeprefix('sentprobe'))}"
    if "vcs_info" in source:
        url = f"{source['vcs_info']['vcs']}+{url}@{source['vcs_info']['commit_id']}"
    return f"pip install {quote(f'{named} @ {url}' if url else named)}"


def get_own_version() -> str:
    """Return the version of sentprobe."""
    from sentprobe import __version__

    return __version__


def describe_package(package: str) -> str:
    """Return the name and version of an installed package."""
    return f"{package} {find_version(package)}"


def digest_folder(folder: Path) -> str:
    """Return a digest of the names and contents of all files in and below a folder, except hidden ones.

    >>> digest_folder(Path("there is none"))
    'e3b0c44298fc1c14'
    """
    digest = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder)
        if any(part.startswith(".") for part in name.parts):
            continue
        with path.open("rb") as file:
            digest.update(f"{name} ".encode())
            digest.update(file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


@cache
def digest_code() -> str:
    """Return a digest of sentprobe's code; results with the same digest were made by the same code.

    >>> len(digest_code())
    64
    """
    folder, digest = Path(__file__).parents[1], sha256()
    for path in find_code_files(folder):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def find_code_files(folder: Path) -> list[Path]:
    """Return the files in and below a folder, except byte code, type stubs and files without a suffix."""
    sources = (path for path in folder.rglob("*") if path.suffix not in {"", ".pyc", ".pyi"} and path.is_file())
    return sorted(path for path in sources if "__pycache__" not in path.relative_to(folder).parts)


def find_versions(*packages: str) -> dict[str, str]:
    """Return the versions of Python and of the packages."""
    return {"python": platform.python_version()} | {name: find_version(name) for name in packages}


def find_version(package: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"
