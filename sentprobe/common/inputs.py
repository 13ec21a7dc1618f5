"""The paths that a command reads and writes: no output replaces an input or a file of a results or data folder.

While a command runs, an audit hook of Python records every file that is opened for reading. Folders, and files that
libraries open without Python, are recorded by :func:`record_input`. The writers of files and folders call
:func:`check_output` before the first byte. A program that imports sentprobe has no such guard.

Files are compared by identity, so a path such as /dev/stdout or /dev/fd/3, which names an open file, is no exception.

Folders that sentprobe recognises by a file in them: results, tables of corpora, datasets and trained encoders.
"""

import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from sentprobe.common.errors import SentprobeError, UsageError

RESULTS_MARKER = "run.json"
"""File by which sentprobe recognises a results folder."""
TABLE_MARKER = "table.json"
"""File by which sentprobe recognises the folder of a corpus table."""
README_HEAD = "# Written by sentprobe, which replaces this file."
"""First line in the YAML head of each README that sentprobe writes into a folder of datasets."""

_MODEL_MARKER = "config.json"
_RESULTS, _TABLE = "a folder of results, which probe run made", "the table of a corpus, which probe analyze made"
_MARKERS: Mapping[str, tuple[str, str]] = {
    RESULTS_MARKER: ('"sentprobe-run', _RESULTS),
    TABLE_MARKER: ('"sentprobe-table', _TABLE),
    "card.json": ('"sentprobe-', "a dataset, which probe build made"),
    "README.md": (README_HEAD, "a folder of datasets, which probe build made"),
    _MODEL_MARKER: ('"sentprobe sentence model', "a trained encoder, which probe train made"),
}
"""For each marker file, a text in its first bytes, and the kind of the folder as a phrase for messages."""
_FIRST_BYTES = 200


def is_table(folder: Path) -> bool:
    """Return whether a folder is a corpus table."""
    return (folder / TABLE_MARKER).is_file()


def describe_folder(folder: Path) -> str | None:
    """Return the kind of a results folder, corpus table or trained encoder as a phrase for messages; else None."""
    if (folder / RESULTS_MARKER).is_file():
        return _RESULTS
    return _TABLE if is_table(folder) else _read_kind(folder, _MODEL_MARKER)


def describe_marked_folder(folder: Path) -> str | None:
    """Return the kind of a folder, as a phrase, if the content of a marker file shows that sentprobe made it."""
    return next(filter(None, (_read_kind(folder, name) for name in _MARKERS)), None)


def _read_kind(folder: Path, name: str) -> str | None:
    """Return the kind of a folder with the marker file *name*; None if that file is absent or of other content."""
    mark, kind = _MARKERS[name]
    try:
        with (folder / name).open("rb") as file:
            return kind if mark.encode() in file.read(_FIRST_BYTES) else None
    except OSError:
        return None


FileIdentity: TypeAlias = tuple[int, int]
"""Device and inode number, which are the same for all links to a file or folder."""

_guard: "_Guard | None" = None
"""The guard of the command that runs; None between commands."""
_is_paused: ContextVar[bool] = ContextVar("_is_paused", default=False)
STANDARD_INPUT = "standard input"
_DESCRIPTOR_FOLDERS = ("/dev/fd", "/proc/self/fd", "/proc/thread-self/fd")
_MAX_LINKS = 40
"""Maximum number of symbolic links in a path: the limit of Linux."""


class _Guard:
    """The files and folders that a command reads, its outputs, and the folders that it manages."""

    def __init__(self, command_line: Sequence[str]) -> None:
        # A path may follow a name in a word, as in file:vectors.npy?sentences=lines.txt.
        parts = [part for word in command_line for part in (word, *re.split("[=?&]", word), word.partition(":")[2])]
        parts += [part.partition(":")[2] for part in parts]
        self.named_paths = {os.path.abspath(os.path.expanduser(part)) for part in parts if part}  # noqa: PTH100, PTH111
        self.files: dict[FileIdentity, str] = {}
        """For each file that was read: the words for it in messages."""
        self.folders: dict[FileIdentity, Path] = {}
        self.written: set[FileIdentity] = set()
        self.outputs: dict[Path, FileIdentity | None] = {}
        """The output files that the command line names, with their identities, if they exist."""
        self.managed: set[str] = set()
        """Real paths of folders that the command reads and writes itself, such as its results folder."""
        self.refusal: UsageError | None = None
        """The first error that an ``open`` raised."""


@contextmanager
def guarding_inputs(command_line: Sequence[str] = ()) -> Iterator[None]:
    """Record what is read in the ``with`` block, and refuse outputs that would replace it.

    Pipes and devices are read only if a word of the *command_line* names them.
    """
    global _guard  # noqa: PLW0603 - an audit hook cannot be removed, and has no arguments
    _install_hook()
    _guard = _Guard(command_line)
    with suppress(OSError):  # standard input is closed
        status = os.fstat(0)
        if stat.S_ISREG(status.st_mode):
            _guard.files[status.st_dev, status.st_ino] = STANDARD_INPUT
    try:
        yield
    except SentprobeError:
        if _guard.refusal is not None:  # without the words that libraries and readers added
            raise _guard.refusal from None
        raise
    finally:
        _guard = None


@contextmanager
def reading_outputs() -> Iterator[None]:
    """Do not record what is read in the ``with`` block: files that the command wrote, or may replace."""
    token = _is_paused.set(True)
    try:
        yield
    finally:
        _is_paused.reset(token)


def declare_output(path: Path) -> None:
    """Announce an output file before the work, so that reading it fails at once. Raises UsageError if it was read."""
    check_output(path)
    if _guard is not None:
        _guard.outputs[path] = _identify(path)


def record_input(path: Path) -> None:
    """Record a folder, or a file that is opened by a library without Python. Raises UsageError if it is an output."""
    if _guard is None or _is_managed(path) or not (identity := _identify(path)):
        return
    if path.is_dir():
        with os.scandir(path) as entries:  # libraries may open what is in it without Python
            for entry in entries:
                with suppress(OSError):
                    _check_special_file(entry.path, entry.stat().st_mode)
        _guard.folders.setdefault(identity, path)
    else:
        _guard.files.setdefault(identity, "an input")
    for output in _guard.outputs:
        check_output(output)


def _check_special_file(path: str, mode: int) -> None:
    """Raise UsageError for a pipe, device or socket that the command line does not name.

    In the folder of a stranger, reading a pipe would never begin, and reading a device would never end.
    """
    is_special = not stat.S_ISREG(mode) and not stat.S_ISDIR(mode) and path != os.devnull
    if _guard is not None and is_special and os.path.abspath(path) not in _guard.named_paths:  # noqa: PTH100
        _guard.refusal = UsageError(f"{path}: is a pipe or a device, and a file is expected")
        raise _guard.refusal


def to_input_path(path: Path) -> str:
    """Record a file, and return its absolute path for a library that opens it without Python."""
    record_input(path)
    return os.path.abspath(path)  # noqa: PTH100 - Path.resolve would follow links


def manage_folder(folder: Path) -> None:
    """Declare that the command reads and replaces files in *folder*, such as its results; it checks what is there."""
    if _guard is not None:
        _guard.managed.add(os.path.realpath(folder))


def record_written(path: Path) -> None:
    """Record a file that the command wrote, and so may read and write again."""
    if _guard is not None and (identity := _identify(path)):
        _guard.written.add(identity)


def check_output(path: Path, *, is_folder: bool = False) -> None:
    """Raise UsageError if writing *path* would change an input, or a file of a folder that is read or marked.

    An output that *is_folder* may lie inside such a folder: it is new, or its writer checks its content. UsageError is
    also raised for an open file (:func:`find_descriptor`) that cannot be written to.
    """
    find_descriptor(path)
    if _guard is None or _is_managed(path) or is_device(path):
        return
    # To look at an output must not record it as an input.
    with reading_outputs():
        identity = _identify(path)
        kind = _guard.files.get(identity) if identity and identity not in _guard.written else None
        if kind is None and (identity in _guard.folders or _is_imported(path)):
            kind = "an input"
        if kind is not None:
            raise UsageError(f"{path}: is {kind}; the output needs another path")
        if is_folder:
            return
        for folder in Path(os.path.realpath(path)).parents:
            if (folder_identity := _identify(folder)) in _guard.folders:
                read_folder = _guard.folders[folder_identity]
                raise UsageError(f"{path}: lies inside {read_folder}, which is read; write it elsewhere")
            if marked := describe_marked_folder(folder):
                raise UsageError(f"{path}: lies in {marked}; write it elsewhere")


def is_device(path: Path) -> bool:
    """Return whether *path* is a device, a pipe or a socket; /dev/stdout may be one, or a regular file."""
    return path.exists() and not path.is_file() and not path.is_dir()


def find_descriptor(path: Path) -> int | None:
    """Return the descriptor of the open file that *path* names, as /dev/stdout and /dev/fd/3 do; else return None.

    Raises UsageError if there is no such open file, or it is open only for reading.
    """
    number = _read_descriptor(path)
    if number is None or path.is_dir():
        return None
    import fcntl

    try:
        flags = fcntl.fcntl(number, fcntl.F_GETFL)
    except OSError:
        raise UsageError(f"{path}: is not open; the output needs another path") from None
    if flags & os.O_ACCMODE == os.O_RDONLY:
        raise UsageError(f"{path}: is open only for reading; the output needs another path")
    return number


def _read_descriptor(path: Path) -> int | None:
    """Return the descriptor in a path of /dev/fd, after following symbolic links one by one; None for other paths."""
    descriptor_folders = {os.path.realpath(folder) for folder in _DESCRIPTOR_FOLDERS}
    for _ in range(_MAX_LINKS):
        folder = os.path.realpath(path.parent)
        if folder in descriptor_folders and path.name.isdecimal():
            return int(path.name)
        if not path.is_symlink():
            return None
        path = Path(folder, os.readlink(path))  # noqa: PTH115 - Path.readlink would do the same
    return None


def _is_managed(path: Path) -> bool:
    if _guard is None or not _guard.managed:
        return False
    real_path = os.path.realpath(path)
    return any(real_path == folder or real_path.startswith(f"{folder}{os.sep}") for folder in _guard.managed)


def _is_imported(path: Path) -> bool:
    """Return whether *path* is the source of an imported module, which Python may have read as byte code."""
    real_path = os.path.realpath(path)
    files = (getattr(module, "__file__", None) for module in [*sys.modules.values()] if real_path.endswith(".py"))
    return any(os.path.realpath(file) == real_path for file in files if file)


def _identify(path: Path | str | bytes) -> FileIdentity | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - called for each file that Python opens
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


@cache
def _install_hook() -> None:
    sys.addaudithook(_record_open)


def _record_open(event: str, arguments: tuple[Any, ...]) -> None:
    """Record a file that is opened for reading. Raises UsageError, which ``open`` passes on, if it is an output."""
    if event != "open" or _guard is None or _is_paused.get():
        return
    path, _, flags = arguments
    if not isinstance(path, str | bytes) or flags & (os.O_WRONLY | os.O_RDWR):
        return
    try:
        status = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return
    if not stat.S_ISREG(status.st_mode):
        _check_special_file(os.fsdecode(path), status.st_mode)
        return
    if _is_managed(Path(os.fsdecode(path))):
        return
    identity = status.st_dev, status.st_ino
    _guard.files.setdefault(identity, "an input")
    for output in [output for output, existing in _guard.outputs.items() if existing == identity]:
        try:
            check_output(output)
        except UsageError as error:
            _guard.refusal = error
            raise
