"""Files: written whole or not at all, where a command may write, scratch folders, the cache."""

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from sentprobe.errors import FormatError, ResultsError, SentprobeError, UsageError, path_error


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
    try:
        with NamedTemporaryFile(
            dir=target.parent, prefix=f".{target.name[:64]}.", suffix=".part", delete=False
        ) as file:
            temporary = Path(file.name)
    except OSError as error:
        raise path_error(path, "cannot write there", error) from error
    try:
        with _write_errors(path):
            yield temporary
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


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
        raise SentprobeError(f"{path}: cannot write it: {error.strerror}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


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


PREFIX = f"sentprobe-{re.sub(r'[^A-Za-z0-9.]', '_', platform.node())}-"
"""Before the process id: a process of another machine or container is not looked for here."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a folder among the temporary ones, named by this process; it is removed at the end.

    One that a killed process could not remove goes when the next one is made.
    """
    _remove_leftovers(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(
        prefix=f"{PREFIX}{os.getpid()}-", ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


def _remove_leftovers(place: Path) -> None:
    if os.name != "posix":  # elsewhere there is no harmless way to ask for a process
        return
    for folder in place.glob(f"{PREFIX}*"):
        found = re.fullmatch(r"(\d+)-\w+", folder.name.removeprefix(PREFIX))
        with suppress(OSError):
            if found and _is_ours(folder) and _is_gone(int(found[1])):
                shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    return folder.is_dir() and not folder.is_symlink() and folder.stat().st_uid == os.getuid()


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:  # it is there, and another user's
        return False
    return False


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
