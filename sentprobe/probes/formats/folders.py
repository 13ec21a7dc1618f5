"""Writing a dataset that is a directory: whole or not at all, and never over what is not ours."""

import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sentprobe.errors import SentprobeError, UsageError, path_error
from sentprobe.probes.dataset import Card, DatasetError, ProbeDataset, Split
from sentprobe.probes.formats.entries import write_lines
from sentprobe.probes.places import what_is

CARD = "card.json"
"""The file of a dataset's directory that says what it is and how it was made."""

OURS = "sentprobe-"
"""How the format in each card of ours begins."""

SENTENCES = "sentences.parquet"
ITEMS = "items.parquet"

FILES: Mapping[Split, str] = {
    Split.TRAIN: "train.txt",
    Split.VALIDATION: "dev.txt",
    Split.TEST: "test.txt",
}
"""The file of each split, in the format published."""

_OWN = {
    f"{OURS}dataset": {CARD, SENTENCES, ITEMS},
    f"{OURS}published": {CARD, *FILES.values()},
}
"""The files of a dataset, by the first word of its format; no others are ever removed."""


@contextmanager
def new_directory(path: Path) -> Iterator[Path]:
    """Give an empty directory beside *path*, which takes its place on success.

    A dataset of ours that was there is replaced: it is first moved away, so that for a moment
    neither is there, but never a mixture.

    Raises:
        UsageError: something else is at *path*, or the folder above it cannot be written.
        SentprobeError: a file cannot be written (a full disk).
    """
    check_place(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        workplace = Path(
            tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name[:64]}.", suffix=".part")
        )
    except OSError as error:
        raise path_error(path, "cannot write there", error) from error
    try:
        fresh = workplace / "new"
        fresh.mkdir()
        yield fresh
        check_place(path)  # again: a file may have come there since
        if path.exists():
            path.rename(workplace / "old")
        fresh.rename(path)
    except OSError as error:
        raise SentprobeError(f"{path}: cannot write it: {error.strerror or error}") from error
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def check_place(path: Path) -> None:
    """Refuse to write a dataset over what is not one of ours, or has another's file in it.

    Raises:
        UsageError: there is something else at *path*; names the file that would be lost.
    """
    if not path.exists() and not path.is_symlink():
        return
    if not path.is_dir() or path.is_symlink():
        raise UsageError(f"{path}: there is something else of that name; a dataset is a directory")
    names = sorted(child.name for child in path.iterdir())
    found = format_in(path)
    if names and not found.startswith(OURS):
        raise UsageError(f"{path}: not empty, and not a dataset of sentprobe's; not overwritten")
    own = _OWN.get(found.partition(" ")[0], {CARD})
    foreign = [name for name in names if _own_name(name) not in own or (path / name).is_dir()]
    if foreign:
        raise UsageError(
            f"{path / foreign[0]}: no file of the dataset there, and would be lost; not "
            "overwritten: move it, or write to another folder"
        )


def _own_name(name: str) -> str:
    """Return the name that a file has when it is whole: a killed command may leave a part."""
    half = re.fullmatch(r"\.(.+)\.[^.]+\.part", name)
    return half[1] if half else name


def prepare_folder(out: Path, directories: Sequence[Path]) -> None:
    """Make the folder that datasets go into; *directories* are those that will be datasets.

    Raises:
        UsageError: it is a folder of results or a table, or cannot be written to; something else
            is in the place of a dataset.
    """
    kind = what_is(out)
    if kind:
        raise UsageError(f"{out}: is {kind}; write the datasets to another folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for place in directories:
            check_place(place)
    except OSError as error:
        raise path_error(out, "cannot write datasets there", error) from error


def format_in(path: Path) -> str:
    """Return the format that the card in a directory states, or "" if there is none."""
    try:
        value = json.loads((path / CARD).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return ""
    found = value.get("format") if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def write_card_file(data: ProbeDataset, path: Path, *, fmt: str) -> None:
    """Write the card, and what the other files do not say: name, labels, probe words."""
    value = {
        "format": fmt,
        "name": data.name,
        "labels": list(data.labels),
        "probe_words": list(data.probe_words),
        "fingerprint": data.fingerprint(),
        "card": data.card.to_json(),
    }
    write_lines([json.dumps(value, indent=2, ensure_ascii=False)], path)


def read_card_file(directory: Path, *, fmt: str) -> dict[str, Any]:
    """Read the file back, with the card as a :class:`Card`.

    Raises:
        DatasetError: it is not there, broken, or of another format.
    """
    path = directory / CARD
    try:
        value = json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise DatasetError(f"{path}: cannot read it: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path}: not JSON ({error})") from None
    if not isinstance(value, dict) or value.get("format") != fmt:
        raise DatasetError(f"{path}: not a card in the format {fmt!r}")
    lists = all(_are_texts(value.get(key)) for key in ("labels", "probe_words"))
    if not lists or not all(isinstance(value.get(k), str) for k in ("name", "fingerprint")):
        raise DatasetError(
            f"{path}: name and fingerprint must be texts, labels and probe_words lists of texts"
        )
    try:
        return {**value, "card": Card.from_json(value.get("card"))}
    except SentprobeError as error:
        raise DatasetError(f"{path}: {error}") from None


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
