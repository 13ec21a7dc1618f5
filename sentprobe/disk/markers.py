"""Folders that sentprobe recognises by a file in them: results, tables of corpora, datasets and trained encoders."""

from collections.abc import Mapping
from pathlib import Path

RESULTS_MARKER = "run.json"
"""File by which sentprobe recognises a results folder."""
TABLE_MARKER = "table.json"
"""File by which sentprobe recognises the folder of a corpus table."""
README_HEAD = "# Written by sentprobe, which replaces this file."
"""First line in the YAML head of each README that sentprobe writes into a folder of datasets."""

_RESULTS, _TABLE = "a folder of results, which probe run made", "the table of a corpus, which probe analyze made"
_MARKERS: Mapping[str, tuple[str, str]] = {
    RESULTS_MARKER: ('"sentprobe-run', _RESULTS),
    TABLE_MARKER: ('"sentprobe-table', _TABLE),
    "card.json": ('"sentprobe-', "a dataset, which probe build made"),
    "README.md": (README_HEAD, "a folder of datasets, which probe build made"),
    "config.json": ('"sentprobe sentence model', "a trained encoder, which probe train made"),
}
"""For each marker file, a text in its first bytes, and the kind of the folder as a phrase for messages."""
_FIRST_BYTES = 200


def is_table(folder: Path) -> bool:
    """Return whether a folder is a corpus table."""
    return (folder / TABLE_MARKER).is_file()


def describe_folder(folder: Path) -> str | None:
    """Return the kind of a results folder or corpus table as a phrase for messages; None for any other folder."""
    if (folder / RESULTS_MARKER).is_file():
        return _RESULTS
    return _TABLE if is_table(folder) else None


def describe_marked_folder(folder: Path) -> str | None:
    """Return the kind of a folder, as a phrase, if the content of a marker file shows that sentprobe made it."""
    for name, (mark, kind) in _MARKERS.items():
        try:
            with (folder / name).open("rb") as file:
                if mark.encode() in file.read(_FIRST_BYTES):
                    return kind
        except OSError:
            continue
    return None
