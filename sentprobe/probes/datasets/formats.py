"""The registry of dataset formats, and reading and writing by format name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sentprobe.common.errors import UsageError, check_utf8, suggest, suggest_path
from sentprobe.common.inputs import record_input
from sentprobe.probes.datasets import directory, hub_dataset, records, row_files
from sentprobe.probes.datasets.dataset import DatasetError, ProbeDataset


@dataclass(frozen=True, slots=True)
class Format:
    """A dataset format; its suffix is "" if a dataset is a directory."""

    name: str
    suffix: str
    recognise: Callable[[Path], bool]
    """Returns whether a directory or, with a suffix, a file is in this format. Raises DatasetError if not text."""
    read: Callable[[Path], ProbeDataset]
    write: Callable[[ProbeDataset, Path], None]


_FORMATS = (
    Format("directory", "", directory.is_directory, directory.read_directory, directory.write_directory),
    Format("jsonl", ".jsonl", row_files.is_jsonl, row_files.read_jsonl, row_files.write_jsonl),
    Format("senteval", ".txt", row_files.is_senteval, row_files.read_senteval, row_files.write_senteval),
    Format("published", "", row_files.is_published, row_files.read_published, row_files.write_published),
    Format("csv", ".csv", records.is_table, records.read_table, records.write_table),
    Format("splits", "", row_files.is_splits, row_files.read_splits, row_files.write_splits),
    Format("hub", "", hub_dataset.is_hub, hub_dataset.read_hub, hub_dataset.write_hub),
)
FORMATS: Mapping[str, Format] = {entry.name: entry for entry in _FORMATS}
"""The formats by name. The first that recognises a directory or file reads it, so their order matters."""
_FORMAT_BY_SUFFIX = {entry.suffix: entry.name for entry in _FORMATS if entry.suffix} | {".tsv": "senteval"}


def check_format(name: str) -> Format:
    """Return the format *name*. Raises UsageError for an unknown name."""
    if name not in FORMATS:
        raise UsageError(
            f"there is no format {name!r} of datasets{suggest(name, FORMATS)}; the formats are " + ", ".join(FORMATS)
        )
    return FORMATS[name]


def read_dataset(path: Path | str, *, format: str | None = None) -> ProbeDataset:
    """Read a dataset from a file or directory; without *format*, the content decides about the format.

    Raises:
        UsageError: there is no such file or format, or *path* (the name, not the content) is not UTF-8.
        DatasetError: the format is not recognised, or the content is wrong; the message says where.
    """
    path = Path(path)
    check_utf8(path)
    if format is not None:
        check_format(format)
    if not path.exists():
        raise UsageError(f"{path}: there is no such file or directory{suggest_path(path)}")
    record_input(path)
    name = format or _detect_format(path)
    if name is None:
        if path.is_file() and path.stat().st_size == 0:
            raise DatasetError(f"{path}: is empty")
        if path.suffix not in records.TABLES or not path.stat().st_size:
            raise DatasetError(
                f"{path}: not a dataset in a known format ({', '.join(FORMATS)}); "
                "name the format with probe audit --read-as or read_dataset(format=)"
            )
        name = "csv"  # the reader names the missing columns
    return FORMATS[name].read(path)


def write_dataset(data: ProbeDataset, path: Path | str, *, format: str | None = None) -> None:
    """Write a dataset to a file or directory; without *format*, the suffix of *path* decides about the format.

    Without a suffix, or with an unknown one (Order.v2), the format is ``directory``.

    Raises:
        UsageError: the format is unknown or cannot hold the dataset, or writing would destroy other files in *path*.
    """
    path = Path(path)
    check_format(format or _FORMAT_BY_SUFFIX.get(path.suffix, "directory")).write(data, path)


def read_datasets(path: Path | str) -> list[ProbeDataset]:
    """Read the dataset *path*, or all datasets in a folder, sorted by file name. Raises UsageError or DatasetError."""
    path = Path(path)
    if not path.is_dir() or recognise(path) is not None:
        return [read_dataset(path)]
    record_input(path)
    children = [child for child in sorted(path.iterdir()) if not child.name.startswith(".")]
    datasets = {child: read_dataset(child) for child in children if recognise(child)}
    if not datasets:
        raise UsageError(f"{path}: there is no dataset in it ({', '.join(FORMATS)})")
    names: dict[str, Path] = {}
    for child, data in datasets.items():
        if names.setdefault(data.name, child) != child:
            raise DatasetError(f"{child}: the dataset is named {data.name}, as is {names[data.name]}")
    return list(datasets.values())


def recognise(path: Path) -> str | None:
    """Return the format name of a file or directory; None if it is not a dataset."""
    try:
        return _detect_format(path)
    except DatasetError:  # not text
        return None


def _detect_format(path: Path) -> str | None:
    is_folder = path.is_dir()
    candidates = [entry for entry in _FORMATS if (not entry.suffix) == is_folder]
    return next((entry.name for entry in candidates if entry.recognise(path)), None)
