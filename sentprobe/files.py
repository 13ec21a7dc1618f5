"""Files: written whole or not at all, where a command may write, what folders are, the cache."""

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock

from sentprobe.errors import FormatError, ResultsError, SentprobeError, UsageError, path_error
from sentprobe.scratch import NAME, OLD, part_of, put_back


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Give a temporary path beside *path*; it is renamed on success and removed on failure.

    What is there and is not a file (a pipe, /dev/null) is written to and not replaced.

    Raises:
        UsageError: it is a directory; its folder does not exist or cannot be written.
    """
    if _is_device(path):
        with _write_errors(path):
            yield path
        return
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise UsageError(f"{path}: is a directory, not a file to write")
    with _part(target, path) as temporary, _write_errors(path):
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        _sync(temporary)
        temporary.replace(target)


@contextmanager
def atomic_folder(path: Path, *, check: Callable[[], None] = lambda: None) -> Iterator[Path]:
    """Give an empty folder beside *path*, which takes its place on success.

    A folder that was there and is not empty is replaced in one step, where the system can, else in
    two: what happens between them is undone, here or by the next process that writes there.

    - check: raises when what is at *path* may not be replaced; it is asked before and after

    Raises:
        UsageError: the folder above it cannot be written.
        SentprobeError: a file cannot be written (a full disk).
    """
    check()
    make_folder_of(path)
    target = Path(os.path.realpath(path))
    with _part(target, path, folder=True) as part, _write_errors(path):
        fresh = part / "new"
        fresh.mkdir()
        yield fresh
        check()  # again: a file may have come there since
        sync_folder(fresh)
        _put(fresh, target)


@contextmanager
def _part(target: Path, path: Path, *, folder: bool = False) -> Iterator[Path]:
    """Give a half-written file or folder for *target*, which is called *path* in messages."""
    with ExitStack() as stack:
        try:
            part = stack.enter_context(part_of(target, folder=folder))
        except OSError as error:
            raise path_error(path, "cannot write there", error) from error
        yield part


def _put(fresh: Path, target: Path) -> None:
    """Give a folder its name, and leave in its part what had that name."""
    if not target.exists() or not any(target.iterdir()):
        fresh.rename(target)
    elif not _exchange(fresh, target):
        (fresh.parent / NAME).write_text(target.name, "utf-8", "surrogateescape")
        _sync(fresh.parent / NAME)
        try:
            target.rename(fresh.parent / OLD)
            fresh.rename(target)
        except BaseException:  # Ctrl-C too
            put_back(fresh.parent)
            raise


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change their names in one step; false: the system cannot."""
    if sys.platform != "linux":
        return False
    import ctypes  # noqa: PLC0415 - slow import

    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    sys.audit("os.rename", one, other, -1, -1)  # as each of Python's own does
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    names = [ctypes.c_char_p(os.fsencode(path)) for path in (one, other)]
    return bool(rename(here, names[0], here, names[1], exchange) == 0)


def sync_folder(folder: Path) -> None:
    """Have all in a folder, and the folder, on the disk before it gets its name.

    Raises:
        OSError: it cannot be written there.
    """
    for path in sorted(folder.rglob("*"), reverse=True):
        _sync(path)
    _sync(folder)


def _sync(path: Path) -> None:
    """Have a file or folder on the disk: after a crash, a name must not stand for nothing."""
    if sys.platform == "win32":
        if path.is_dir():
            return
        file = os.open(path, os.O_RDWR)
    else:
        file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        if not path.is_dir() or error.errno != errno.EINVAL:  # some systems have none for folders
            raise
    finally:
        os.close(file)


def make_folder_of(path: Path) -> None:
    """Make the folder that *path* is to be in, with those above it, if it is not there.

    Raises:
        UsageError: it cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:  # what is there is no folder: writing says so
        pass
    except OSError as error:
        raise path_error(path, "cannot write there", error) from error


@contextmanager
def folder_for(work: Path) -> Iterator[None]:
    """Make a folder for some work, with those above it; those left empty by a failure go again.

    Raises:
        UsageError: it cannot be made.
    """
    fresh = [each for each in (work, *work.parents) if not each.exists()]
    make_folder_of(work / "any")
    try:
        yield
    except BaseException:
        with suppress(OSError):  # it is not empty: nor are those above it
            for each in fresh:
                each.rmdir()
        raise


def local_path(path: Path) -> str:
    """Return a path that is one to any library: ``s3:x`` or ``~`` may be the name of a folder.

    >>> local_path(Path("/tables/~/s3:x"))
    '/tables/~/s3:x'
    """
    return os.path.abspath(path)  # noqa: PTH100 - links stay, as where a folder is written


def _is_device(path: Path) -> bool:
    """Say whether *path* is a device or pipe, or stands for an open file (/dev/stdout)."""
    if path.is_symlink() and path.is_relative_to("/dev"):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SentprobeError(f"{path}: cannot write it: {error.strerror or error}") from error


def _umask() -> int:
    with _ASKING:
        mask = os.umask(0)
        os.umask(mask)
    return mask


_ASKING = Lock()
"""The mask can only be asked for by setting it, and it is that of all threads."""


def decode_line(line: bytes, number: int) -> str:
    """Return a line as text, the first (1) without a byte-order mark.

    Raises:
        FormatError: it is not UTF-8.
    """
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        raise FormatError("not UTF-8") from None


def decode_lines(lines: Iterable[bytes]) -> Iterator[str]:
    """Yield lines as text, without a byte-order mark.

    Raises:
        FormatError: a line is not UTF-8; says which.
    """
    for number, line in enumerate(lines, 1):
        try:
            yield decode_line(line, number)
        except FormatError as error:
            raise FormatError(f"line {number}: {error}") from None


RESULTS = "run.json"
"""The file that a folder of results is known by."""

RUN_FILE = "run.toml"
"""The file in it that has the settings of the last run, as ``probe run --config`` reads them.

A run that finds all writes it too; one from Python, which has no such settings, removes it when it
makes results there.
"""

TABLE = "table.json"
"""The file that the table of a corpus is known by."""


def check_apart(out: Path, inputs: Iterable[Path]) -> None:
    """Refuse to write to a file that is read, or that lies in a directory that is read.

    Links are followed. An input that is not there is passed over.

    Raises:
        UsageError: *out* is one of the inputs, or inside it.
    """
    place = _real(out)
    for each in inputs:
        if not each.exists():
            continue
        # A hard link has another path, and is the same file.
        if place == _real(each) or (out.exists() and out.samefile(each)):
            raise UsageError(f"{out}: is what is read; the output needs another path")
        if _real(each) in place.parents:
            raise UsageError(f"{out}: lies inside {each}, which is read; write it elsewhere")


def is_table(folder: Path) -> bool:
    """Say whether a directory is an analysed corpus."""
    return (folder / TABLE).is_file()


def what_is(folder: Path) -> str | None:
    """Say what a folder that another command made is; None: none of these."""
    if (folder / RESULTS).is_file():
        return "a folder of results, which probe run made"
    if is_table(folder):
        return "the table of a corpus, which probe analyze made"
    return None


def _real(path: Path) -> Path:
    # Path.resolve raises where links go round in a circle.
    return Path(os.path.realpath(path))


def write_atomically(path: Path, text: str) -> None:
    """Write *text* beside *path*, then rename: under its name a file is whole or not there.

    Raises:
        UsageError: *path* cannot be written to.
        ResultsError: writing failed.
    """
    try:
        with atomic_path(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
    except UsageError:
        raise
    except SentprobeError as error:
        raise ResultsError(str(error)) from error


VARIABLE = "SENTPROBE_CACHE"
"""The environment variable that says where the cache is."""


def cache_directory() -> Path:
    """Return where the cache is.

    That is SENTPROBE_CACHE, else ``sentprobe`` in XDG_CACHE_HOME, else ``~/.cache/sentprobe``.
    """
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).absolute()
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():  # the XDG specification ignores relative ones
        base = Path("~/.cache")
    try:
        return base.expanduser() / "sentprobe"
    except RuntimeError:  # a user without a home
        return Path("/.cache/sentprobe")
