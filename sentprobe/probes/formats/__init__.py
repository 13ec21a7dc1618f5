"""Dataset formats: each is read, written and recognised by its content."""

from sentprobe.probes.formats.directory import check_place, prepare_folder, write_card
from sentprobe.probes.formats.hub import PARQUET, remove_folder_readme, write_folder_readme, write_split_files
from sentprobe.probes.formats.hub_dataset import HUB, UNKNOWN, check_licence, write_hub_readme
from sentprobe.probes.formats.registry import (
    FORMATS,
    Format,
    check_format,
    read_dataset,
    read_datasets,
    recognise,
    write_dataset,
)

__all__ = [
    "FORMATS",
    "HUB",
    "PARQUET",
    "UNKNOWN",
    "Format",
    "check_format",
    "check_licence",
    "check_place",
    "prepare_folder",
    "read_dataset",
    "read_datasets",
    "recognise",
    "remove_folder_readme",
    "write_card",
    "write_dataset",
    "write_folder_readme",
    "write_hub_readme",
    "write_split_files",
]
