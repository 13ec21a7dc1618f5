"""The directory of a table, before and while it is made."""

import json
import shutil
from pathlib import Path

from sentprobe.errors import UsageError, path_error
from sentprobe.probes.corpus.table import FAILURES, HEAD_NAME, SHARDS
from sentprobe.probes.results import write_atomically

WORK = "work"
"""The folder of the chunks that are done."""

MARKER = "work.json"
MARKER_TEXT = '{\n  "format": "sentprobe-table-work 1"\n}\n'


def prepare(out: Path, *, force: bool) -> None:
    """Make *out* a directory for a table.

    Raises:
        UsageError: it is a finished table and *force* is not given, or it has files in it that are
            not of a table, or it cannot be written to.
        SentprobeError: writing failed.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        ours = (out / WORK / MARKER).is_file() or _is_table(out / HEAD_NAME)
        if not ours and any(not _is_half_written(each) for each in out.iterdir()):
            raise UsageError(f"{out}: not empty, and not a table of an analysed corpus")
        if (out / HEAD_NAME).exists() and not force:
            raise UsageError(f"{out}: is a finished table; --force makes it anew")
        if force:
            _remove(out)
        (out / WORK).mkdir(exist_ok=True)
        write_atomically(out / WORK / MARKER, MARKER_TEXT)
    except OSError as error:
        raise path_error(out, "cannot write a table there", error) from error


def _is_table(head: Path) -> bool:
    try:
        return str(json.loads(head.read_text("utf-8"))["format"]).startswith("sentprobe-table ")
    except (OSError, ValueError, TypeError, KeyError):
        return False


def _is_half_written(path: Path) -> bool:
    return path.name.startswith(".") or (path.name == WORK and not any(path.glob("[!.]*")))


def _remove(out: Path) -> None:
    """Remove what is of a table; its head first, so that a half of it is not taken for whole."""
    (out / HEAD_NAME).unlink(missing_ok=True)
    (out / FAILURES).unlink(missing_ok=True)
    for folder in (SHARDS, WORK):
        shutil.rmtree(out / folder, ignore_errors=True)
