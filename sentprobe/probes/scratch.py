"""A folder for what processes share, which does not outlive them for long."""

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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
