"""Folders that sentprobe recognises by a file in them: results, tables of corpora, datasets and trained encoders."""

from collections.abc import Mapping
from pathlib import Path

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
