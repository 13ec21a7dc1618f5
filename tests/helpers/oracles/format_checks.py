"""Checks shared by tests of dataset formats: texts of the items, and round trips."""

from pathlib import Path

from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.datasets.formats import FORMATS, read_dataset, recognise, write_dataset

TextsBySplit = dict[Split, list[tuple[str, str, tuple[str, ...]]]]


def list_texts(data: ProbeDataset) -> TextsBySplit:
    """Return the items of each split as texts, which every format keeps."""
    return {
        split: [
            (data.sentences[row], data.labels[target], tuple(data.probe_words[w] for w in words))
            for row, words, target in zip(part.rows, part.probes, part.targets, strict=True)
        ]
        for split, part in data.splits.items()
    }


def read_bytes_by_file(path: Path) -> dict[str, bytes]:
    files = sorted(path_ for path_ in path.rglob("*") if path_.is_file()) or [path]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def list_written_files(path: Path) -> set[str]:
    """Return the names of the files of a dataset: itself and, for JSONL, its card."""
    return {path.name} | ({f"{path.stem}.card.json"} if path.suffix == ".jsonl" else set())


def check_round_trip(data: ProbeDataset, name: str, folder: Path) -> ProbeDataset:
    """Write and read; check that the content decides the format, and the dataset the bytes."""
    path = folder / f"data{FORMATS[name].suffix}"
    write_dataset(data, path, format=name)
    assert recognise(path) == name
    back = read_dataset(path)
    write_dataset(back, path, format=name)
    first = read_bytes_by_file(path)
    assert read_dataset(path) == back
    write_dataset(back, path, format=name)
    assert read_bytes_by_file(path) == first
    assert {child.name for child in folder.iterdir()} == list_written_files(path)  # nothing is left behind
    return back
