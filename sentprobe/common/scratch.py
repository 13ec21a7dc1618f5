"""Temporary files and folders, which are removed at the end or, if their process is killed, by a later process.

A process locks its temporary paths, so a locked path is still in use. Process ids do not show this, because each
container has its own. Where locks are unsupported, the age of the path decides.

Locks of files and folders by ``flock``. A lock ends when its process ends. On Windows, locks have no effect.

sentprobe uses no library for lock files. Such a library locks only a separate file, which may remain if a process is
killed. But sentprobe also locks its temporary files and folders themselves.
"""

import errno
import hashlib
import os
import platform
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from errno import EBADF, EINVAL, ENOLCK, ENOSYS, ENOTSUP
from functools import cache
from pathlib import Path

LOCK = ".lock"
"""Lock file of a folder: only the process that locks it may write into the folder. It is removed afterwards."""
WAIT_MINUTES = 10
"""Minutes that a command waits for a lock by default."""
_UNSUPPORTED = {EBADF, EINVAL, ENOLCK, ENOSYS, ENOTSUP}
"""Error numbers by which a file system reports that it cannot lock files, or folders (NFS)."""


@contextmanager
def hold_lock(
    folder: Path, *, wait: float = 0.0, command: str = "", report: Callable[[str], None] = lambda _: None
) -> Iterator[bool]:
    """Lock a folder for the ``with`` block; provide True, or False if the lock is not free within *wait* seconds.

    The lock file names this process and its *command*. After a second of waiting, *report* is called once with the
    description of the process that holds the lock. Raises OSError if the folder is missing.
    """
    file = _open_locked(folder / LOCK, wait=wait, report=report)
    try:
        if file is not None:
            text = f"process {os.getpid()} on {platform.node()}{f': {command}' if command else ''}"
            with suppress(OSError):  # a full disk
                os.ftruncate(file, 0)
                os.write(file, text.encode("utf-8", "replace")[:_MAX_HOLDER])
        yield file is not None
    finally:
        if file is not None:
            try:
                # Removed while it is locked: a waiting process sees by is_at that it waits for a removed file.
                with suppress(OSError):  # the folder was removed with its lock
                    (folder / LOCK).unlink()
            finally:
                os.close(file)


def _open_locked(path: Path, *, wait: float, report: Callable[[str], None]) -> int | None:
    """Open and lock a file; return its descriptor, or None if its lock is not free within *wait* seconds."""
    is_reported = False
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | _NO_FOLLOW, 0o666)
        try:
            start = time.monotonic()
            while (is_locked := lock_file(file)) is False and is_at(file, path):
                waited = time.monotonic() - start
                if waited >= wait:
                    os.close(file)
                    return None
                if waited >= _SECONDS_BEFORE_REPORT and not is_reported:
                    report(read_holder(path.parent))
                    is_reported = True
                time.sleep(min(_POLL_SECONDS, wait - waited))
            if is_locked is not False and is_at(file, path):  # the previous holder may have removed the file
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


_POLL_SECONDS = 0.02
_SECONDS_BEFORE_REPORT = 1.0
"""Seconds of waiting after which the holder of a lock is reported; writing a result takes less."""
_MAX_HOLDER = 300
"""Maximum length in bytes of the description of the process that holds a lock."""


def read_holder(folder: Path) -> str:
    """Return a description of the process that holds a folder's lock: process id, machine and command."""
    try:
        with (folder / LOCK).open("rb") as file:
            text = file.read(_MAX_HOLDER).decode("utf-8", "replace")
    except OSError:
        text = ""
    return " ".join(text.split()) or "another process"


_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
"""Flag of ``os.open`` that refuses symbolic links, since a link could lead to another user's file."""


def is_at(file: int, path: Path) -> bool:
    """Return whether *path* is still the path of the open file or folder *file*."""
    try:
        return os.path.samestat(os.fstat(file), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def lock_file(file: int, *, wait: bool = False) -> bool | None:
    """Lock an open file or folder; with *wait*, wait until its lock is free.

    Returns True if it is locked, False if another process holds the lock, None if locks are unsupported.
    """
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        return None
    return True


HOUR = 3600.0
MAX_AGE_WITHOUT_LOCKS = 24 * HOUR
"""Age in seconds at which a temporary path is removed if locks are unsupported; a command may take hours."""
_MACHINE = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
"""Digest of the name of this machine or container, for the names of half-written files."""
_PART_NAME = re.compile(r"\.(?P<name>.+)\.sentprobe_(?P<machine>[0-9a-f]{8})_\w{8}\.part")
"""Names of half-written files and folders: final name, machine, random letters."""
_MAX_NAME = 64
"""Maximum number of characters of the final name that the name of a half-written file repeats."""
PREFIX = f"sentprobe-{re.sub(r'[^A-Za-z0-9.]', '_', platform.node())}-"
"""Beginning of the names of temporary folders, with the machine's name; the process id follows."""
_SCRATCH_NAME = re.compile(r"(?P<prefix>sentprobe-[A-Za-z0-9._]*-)(?P<process>\d+)-\w+")
"""Names of temporary folders: prefix, process id, and random letters."""


@contextmanager
def make_part(target: Path, *, folder: bool = False) -> Iterator[Path]:
    """Provide a hidden temporary file or folder beside *target*; first remove paths left there by killed processes."""
    remove_left_parts(target.parent)
    prefix, suffix = f".{target.name[:_MAX_NAME]}.sentprobe_{_MACHINE}_", ".part"

    def make() -> Path:
        if folder:
            return Path(tempfile.mkdtemp(dir=target.parent, prefix=prefix, suffix=suffix))
        file, name = tempfile.mkstemp(dir=target.parent, prefix=prefix, suffix=suffix)
        os.close(file)
        return Path(name)

    with _hold(make) as part:
        yield part


@contextmanager
def make_scratch_folder() -> Iterator[Path]:
    """Provide a temporary folder; first remove temporary folders left behind by killed sentprobe processes."""
    if os.name == "posix":  # on Windows, os.kill(process, 0) would end the process
        for left in Path(tempfile.gettempdir()).glob("sentprobe-*"):
            if (match := _SCRATCH_NAME.fullmatch(left.name)) and left.is_dir():
                _remove_if_left(left, ended=match["prefix"] == PREFIX and _is_gone(int(match["process"])))
    with _hold(lambda: Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))) as folder:
        yield folder


@contextmanager
def _hold(make: Callable[[], Path]) -> Iterator[Path]:
    """Create a path with *make*, lock it for the ``with`` block, and remove it afterwards."""
    with ExitStack() as stack:
        with _postpone_signals():  # a signal before the callback is registered would leave the path behind
            path, file = _make_locked(make)
            if file is not None:
                stack.callback(os.close, file)
            stack.callback(_remove_if_possible, path)
        yield path


@contextmanager
def _postpone_signals() -> Iterator[None]:
    """Deliver Ctrl-C and SIGTERM only after the ``with`` block."""
    if threading.current_thread() is not threading.main_thread():  # other threads get no signals
        yield
        return
    postponed: list[int] = []
    handlers = {
        number: signal.signal(number, lambda number, _: postponed.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for arrived in postponed:
            signal.raise_signal(arrived)


def _remove_if_possible(path: Path) -> None:
    with suppress(OSError):  # a later process tries again
        _remove(path)


def _make_locked(make: Callable[[], Path]) -> tuple[Path, int | None]:
    while True:
        path = make()
        if os.name != "posix":
            return path, None
        with suppress(FileNotFoundError):
            file = _open_for_lock(path)
            lock_file(file, wait=True)
            if is_at(file, path):
                return path, file
            os.close(file)  # another process removed the path before it was locked


def _open_for_lock(path: Path) -> int:
    # Network file systems lock only files that are open for writing, and no folders.
    return os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        restore_folder(path)
        if (path / OLD_FOLDER).exists():  # renamed, so that it is not restored if its removal is interrupted
            (path / OLD_FOLDER).rename(path / "gone")
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


OLD_FOLDER = "old"
"""Name of a replaced folder inside the half-written folder, where it stays until the new folder has the final name."""


def restore_folder(part: Path) -> None:
    """Undo an unfinished replacement: move the old folder, kept inside *part*, to its former path, if that is free."""
    match = _PART_NAME.fullmatch(part.name)
    if match and (part / OLD_FOLDER).exists():
        name = (part / NAME_FILE).read_text("utf-8", "surrogateescape")
        if not name:  # the machine stopped before the name was on disk
            raise FileNotFoundError(errno.ENOENT, "the name of the replaced folder is not known", str(part))
        if not part.with_name(name).exists():
            (part / OLD_FOLDER).rename(part.with_name(name))


NAME_FILE = "name"
"""File in a half-written folder that contains the former name of the replaced folder."""


@cache
def remove_left_parts(folder: Path) -> None:
    """Remove half-written files and folders of killed processes from *folder*, on the first call for *folder*."""
    if os.name != "posix":  # Windows cannot remove open files
        return
    with suppress(OSError):
        for path in list(folder.iterdir()):
            if match := _PART_NAME.fullmatch(path.name):
                _remove_if_left(path, ended=match["machine"] == _MACHINE)


def _remove_if_left(path: Path, *, ended: bool) -> None:
    """Remove a temporary path of this user if it is unlocked and old enough.

    An unlocked path must be an hour old, unless *ended* is True: then the process that made the path has ended. Where
    locks are unsupported, every path must be 24 hours old.
    """
    with suppress(OSError):
        if path.is_symlink() or path.stat().st_uid != os.getuid():
            return
        file = _open_for_lock(path)
        try:
            is_free = lock_file(file)
            limit = MAX_AGE_WITHOUT_LOCKS if is_free is None else 0 if ended else HOUR
            if is_free is not False and time.time() - path.stat().st_mtime >= limit:
                _remove(path)
        finally:
            os.close(file)


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:  # a process of another user
        return False
    return False
