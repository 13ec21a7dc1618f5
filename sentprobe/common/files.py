"""Atomic writing of files and folders, checks of output paths, and the cache folder."""

import errno
import filecmp
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock

from sentprobe.common.errors import ResultsError, SentprobeError, UsageError, first_line, path_error
from sentprobe.common.inputs import (
    check_output,
    find_descriptor,
    is_device,
    manage_folder,
    reading_outputs,
    record_written,
)
from sentprobe.common.scratch import NAME_FILE, OLD_FOLDER, make_part, make_scratch_folder, restore_folder


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Provide a temporary path to write to, which is renamed to *path* on success and removed on failure.

    A pipe or device (/dev/null) is written to directly, and an open file (/dev/stdout) at its position, or at its end
    if it was opened to append. Raises UsageError if *path* cannot be written, or must not be (see
    :func:`~.inputs.check_output`).
    """
    target = Path(os.path.realpath(path))
    if path.is_dir():
        raise UsageError(f"{path}: is a directory, not a file to write")
    check_output(path)
    descriptor = find_descriptor(path)
    if is_device(path) and not (path.is_socket() and descriptor is not None):  # a socket cannot be opened by its path
        with _explain_write_errors(path):
            yield path
        return
    if descriptor is not None:
        with make_scratch_folder() as folder, _explain_write_errors(path):
            temporary = folder / "output"
            temporary.touch()
            yield temporary
            # The content follows the text that was printed so far.
            for stream in (sys.stdout, sys.stderr):
                print(end="", file=stream, flush=True)
            with reading_outputs(), temporary.open("rb") as content, os.fdopen(os.dup(descriptor), "wb") as out:
                shutil.copyfileobj(content, out)
        record_written(path)
        return
    with _open_part(target, path) as temporary, _explain_write_errors(path):
        yield temporary
        # The mode that open() gives a new file; the umask can only be read by setting it.
        with _UMASK_LOCK:
            os.umask(mask := os.umask(0))
        temporary.chmod(0o666 & ~mask)
        sync_path(temporary)
        temporary.replace(target)
        record_written(target)
        sync_parent(target)


@contextmanager
def atomic_folder(path: Path, *, check: Callable[[], None] = lambda: None) -> Iterator[Path]:
    """Provide an empty temporary folder to fill, which replaces the folder *path* on success.

    *check* raises an exception if *path* must not be replaced; it is called before and after the ``with`` block. If
    the process is killed during the replacement, the next process that writes into the parent folder of *path* restores
    the old folder (not on Windows). Raises UsageError if the path is wrong, SentprobeError for other write errors.
    """
    check()
    check_output(path, is_folder=True)
    make_parent_folder(path)
    target = Path(os.path.realpath(path))
    with _open_part(target, path, folder=True) as part, _explain_write_errors(path):
        new_folder = part / "new"
        new_folder.mkdir()
        yield new_folder
        check()  # another process may have written there
        sync_folder(new_folder)
        _replace_folder(new_folder, target)
        sync_parent(target)


@contextmanager
def atomic_new_folder(path: Path, names: Collection[str]) -> Iterator[Path]:
    """Provide an empty temporary folder to fill, which becomes the new folder *path* on success.

    A folder with the same files is accepted as *path*: a command that is repeated, because it was killed after the
    renaming or the last flush failed, then succeeds. Raises UsageError for any other folder that is not empty.

    - names: paths of all files that will be in the folder, so that another folder is refused before the work
    """

    def check() -> None:
        is_acceptable = _list_files(path) in ([], sorted({*names})) if path.is_dir() else not path.exists()
        if not is_acceptable:
            raise UsageError(f"{path}: not a new or empty folder; name another with --out")

    with atomic_folder(path, check=check) as folder:
        yield folder
        old_names = _list_files(path)
        if old_names and filecmp.cmpfiles(folder, path, old_names, shallow=False)[0] != old_names:
            raise UsageError(f"{path}: not a new or empty folder; name another with --out")


def _list_files(folder: Path) -> list[str]:
    """Return the relative paths of all files in and below a folder, sorted; empty folders have a final slash."""
    if not folder.is_dir():
        return []
    paths = (path for path in folder.rglob("*") if not path.is_dir() or not any(path.iterdir()))
    return sorted(path.relative_to(folder).as_posix() + "/" * path.is_dir() for path in paths)


@contextmanager
def _open_part(target: Path, path: Path, *, folder: bool = False) -> Iterator[Path]:
    """Provide a temporary file or folder beside *target*; error messages name *path*, as the user wrote it."""
    with ExitStack() as stack:
        try:
            part = stack.enter_context(make_part(target, folder=folder))
        except OSError as error:
            raise path_error(path, "cannot write there", error) from error
        yield part


def _replace_folder(new_folder: Path, target: Path) -> None:
    """Rename *new_folder* to *target*; a non-empty old *target* is moved into the parent folder of *new_folder*."""
    if not target.exists() or not any(target.iterdir()):
        new_folder.rename(target)
    elif not _exchange_names(new_folder, target):
        (new_folder.parent / NAME_FILE).write_text(target.name, "utf-8", "surrogateescape")
        # On the disk before the old folder moves, so that restore_folder finds its name after a crash.
        sync_path(new_folder.parent / NAME_FILE)
        try:
            target.rename(new_folder.parent / OLD_FOLDER)
            new_folder.rename(target)
        except BaseException:  # including Ctrl-C
            restore_folder(new_folder.parent)
            raise


def _exchange_names(first: Path, second: Path) -> bool:
    """Exchange the names of two folders in one step; return False if the system cannot do so."""
    if sys.platform != "linux":
        return False
    import ctypes

    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    sys.audit("os.rename", first, second, -1, -1)  # the audit event that os.rename raises
    working_folder, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    names = [ctypes.c_char_p(os.fsencode(path)) for path in (first, second)]
    return bool(rename(working_folder, names[0], working_folder, names[1], exchange) == 0)


def sync_folder(folder: Path) -> None:
    """Flush a folder, and all files and folders in it, to the disk, so that none is empty after a crash."""
    # In reverse order, files come before the folders that list them.
    for path in sorted(folder.rglob("*"), reverse=True):
        sync_path(path)
    sync_path(folder)


def sync_path(path: Path) -> None:
    """Flush a file or folder to the disk, so that it is not empty after a crash."""
    if sys.platform == "win32" and path.is_dir():
        return
    with reading_outputs():
        file = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        if not path.is_dir() or error.errno != errno.EINVAL:  # some systems cannot flush folders
            raise
    finally:
        os.close(file)


def sync_parent(path: Path) -> None:
    """Flush the folder of a renamed path to the disk, so that the new name survives a crash."""
    with suppress(PermissionError):  # a folder that may be written but not read
        sync_path(path.parent)


def make_parent_folder(path: Path) -> None:
    """Create the folder of *path* and the folders above it; raise UsageError if that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:  # a file is in the way, which is reported when *path* is written
        pass
    except OSError as error:
        raise path_error(path, "cannot write there", error) from error


@contextmanager
def making_folder(folder: Path) -> Iterator[None]:
    """Create a folder and its parents; if the ``with`` block fails, remove the new folders that are still empty."""
    new_folders = [new_folder for new_folder in (folder, *folder.parents) if not new_folder.exists()]
    make_parent_folder(folder / "any")
    try:
        yield
    except BaseException:
        with suppress(OSError):  # a folder is not empty
            for new_folder in new_folders:
                new_folder.rmdir()
        raise


def to_local_path(path: Path) -> str:
    """Return *path* as an absolute path, which no library mistakes for a URL or a home folder."""
    return os.path.abspath(path)  # noqa: PTH100 - Path.resolve would follow links


@contextmanager
def _explain_write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SentprobeError(f"{path}: cannot write it: {error.strerror or first_line(error)}") from error


_UMASK_LOCK = Lock()
"""Lock for the umask: it can only be read by setting it, and all threads share it."""


RUN_FILE = "run.toml"
"""File in a results folder with the settings of the last run, for ``probe run --config``.

A run that is started from Python has no such settings; it removes the file of an earlier run.
"""


def write_atomically(path: Path, text: str) -> None:
    """Write *text* to *path*, which stays unchanged if this fails. Raises UsageError or ResultsError."""
    try:
        with atomic_path(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
    except UsageError:
        raise
    except SentprobeError as error:
        raise ResultsError(str(error)) from error


CACHE_VARIABLE = "SENTPROBE_CACHE"


def find_cache_directory() -> Path:
    """Return the cache folder: $SENTPROBE_CACHE, else $XDG_CACHE_HOME/sentprobe, else ~/.cache/sentprobe."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if path := os.environ.get(CACHE_VARIABLE):
        folder = Path(path).absolute()
    elif base.is_absolute():  # the XDG specification ignores relative paths
        folder = base / "sentprobe"
    else:
        try:
            folder = Path("~/.cache/sentprobe").expanduser()
        except RuntimeError:  # the user has no home folder
            folder = Path("/.cache/sentprobe")
    manage_folder(folder)
    return folder
