"""The table of formats, and reading and writing by it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sentprobe.errors import UsageError, check_utf8, suggest
from sentprobe.probes.dataset import DatasetError, ProbeDataset
from sentprobe.probes.formats import records, text
from sentprobe.probes.formats.directory import is_directory, read_directory, write_directory
from sentprobe.probes.formats.entries import read_lines
from sentprobe.probes.formats.hub_dataset import is_hub, read_hub, write_hub
from sentprobe.probes.formats.jsonl import read_jsonl, write_jsonl
from sentprobe.probes.formats.splits import is_splits, read_splits, write_splits

_LOOKED_AT = 8
"""How many lines of a file are looked at to tell its format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of datasets: what it is, its files' suffix ("" for directories), both ways."""

    name: str
    what: str
    suffix: str
    read: Callable[[Path], ProbeDataset]
    write: Callable[[ProbeDataset, Path], None]


FORMATS: Mapping[str, Format] = {
    each.name: each
    for each in (
        Format(
            name="directory",
            what="a directory of sentences.parquet, items.parquet and card.json",
            suffix="",
            read=read_directory,
            write=write_directory,
        ),
        Format(
            name="jsonl",
            what="an item per line as JSON",
            suffix=".jsonl",
            read=read_jsonl,
            write=write_jsonl,
        ),
        Format(
            name="senteval",
            what="SentEval's probing files: split, label, tokens between tabs",
            suffix=".txt",
            read=text.read_senteval,
            write=text.write_senteval,
        ),
        Format(
            name="published",
            what="a directory of train.txt and test.txt: label, id, sentence, probe words",
            suffix="",
            read=text.read_published,
            write=text.write_published,
        ),
        Format(
            name="csv",
            what="a table with the columns split, label, sentence (or text), probe1, probe2",
            suffix=".csv",
            read=records.read_table,
            write=records.write_table,
        ),
        Format(
            name="splits",
            what="a directory with a file for each split, CSV or JSONL: train.csv, test.csv",
            suffix="",
            read=read_splits,
            write=write_splits,
        ),
        Format(
            name="hub",
            what="a directory as the Hugging Face hub has it: README.md, train.parquet, ...",
            suffix="",
            read=read_hub,
            write=write_hub,
        ),
    )
}
"""The formats by name."""

_BY_SUFFIX = {
    "": "directory",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".txt": "senteval",
    ".tsv": "senteval",
}
"""The format in which a file or directory of such a name is written."""


def check_format(name: str) -> Format:
    """Return the format of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in FORMATS:
        raise UsageError(
            f"there is no format {name!r} of datasets{suggest(name, FORMATS)}; the formats are "
            + ", ".join(FORMATS)
        )
    return FORMATS[name]


def read_dataset(path: Path | str, *, format: str | None = None) -> ProbeDataset:
    """Read a dataset from a file or directory; its content says in which format, if not given.

    Raises:
        UsageError: there is no such file or format, or its path is not UTF-8.
        DatasetError: the format is not to be recognised, or the content is wrong; says where.
    """
    path = Path(path)
    check_utf8(path)
    if format is not None:
        check_format(format)
    if not path.exists():
        raise UsageError(f"{path}: there is no such file or directory")
    name = format or _sniff(path)
    if name is None and path.suffix in records.TABLES and path.stat().st_size:
        name = "csv"  # whose reader says which columns it lacks
    if name is None:
        raise DatasetError(_unrecognised(path))
    return FORMATS[name].read(path)


def _unrecognised(path: Path) -> str:
    if path.is_file() and path.stat().st_size == 0:
        return f"{path}: is empty"
    return (
        f"{path}: not a dataset in a format that is recognised ({', '.join(FORMATS)}); "
        "probe audit --read-as and read_dataset(format=) name a format"
    )


def write_dataset(
    data: ProbeDataset,
    path: Path | str,
    *,
    format: str | None = None,
) -> None:
    """Write a dataset to a file or directory; the suffix says in which format, if not given.

    No suffix, or one that is part of the name (Order.v2), means our directory.

    Raises:
        UsageError: there is no such format, the format cannot hold the dataset, or what is at
            *path* is not ours.
        SentprobeError: it cannot be written.
    """
    path = Path(path)
    chosen = check_format(format or _BY_SUFFIX.get(path.suffix, "directory"))
    chosen.write(data, path)


def read_datasets(path: Path | str, *, format: str | None = None) -> list[ProbeDataset]:
    """Read the datasets in a directory, by name, or the one that *path* itself is.

    What is not a dataset is passed over.

    Raises:
        UsageError: there is no such file or format, or no dataset in the directory.
        DatasetError: two have one name, or one of them is wrong.
    """
    path = Path(path)
    if not path.is_dir() or recognise(path) is not None:
        return [read_dataset(path, format=format)]
    inside = [child for child in sorted(path.iterdir()) if not child.name.startswith(".")]
    found = {child: read_dataset(child, format=format) for child in inside if recognise(child)}
    if not found:
        raise UsageError(f"{path}: there is no dataset in it ({', '.join(FORMATS)})")
    names: dict[str, Path] = {}
    for child, data in found.items():
        if names.setdefault(data.name, child) != child:
            raise DatasetError(
                f"{child}: the dataset is named {data.name}, as is {names[data.name]}"
            )
    return list(found.values())


def recognise(path: Path) -> str | None:
    """Return the name of the format of a file or directory, or None."""
    try:
        return _sniff(path)
    except DatasetError:  # not text
        return None


def _sniff(path: Path) -> str | None:
    return _sniff_directory(path) if path.is_dir() else _sniff_file(path)


def _sniff_directory(path: Path) -> str | None:
    signs = {
        "directory": is_directory,
        "published": text.is_published,
        "splits": is_splits,
        "hub": is_hub,
    }
    return next((name for name, looks_like in signs.items() if looks_like(path)), None)


def _sniff_file(path: Path) -> str | None:
    if path.suffix == ".jsonl":
        return "jsonl"
    lines = [line for _, line in islice(read_lines(path), _LOOKED_AT)]
    if lines and lines[0].startswith("{") and path.suffix != ".json":
        return "jsonl"
    if lines and records.looks_like_table(path, lines[0]):
        return "csv"
    return "senteval" if any(map(text.looks_like_senteval, lines)) else None
