"""Where a command writes, and what it must not write over."""

import os
from collections.abc import Iterable
from pathlib import Path

from sentprobe.errors import UsageError

RESULTS = "run.json"
"""The file that a folder of results is known by."""

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
