"""What tests of the formats of datasets ask: the items as texts, and whether files read back."""

from pathlib import Path

from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.formats import FORMATS, read_dataset, recognise, write_dataset

Texts = dict[Split, list[tuple[str, str, tuple[str, ...]]]]


def texts_of(data: ProbeDataset) -> Texts:
    """The items of each split by their texts: what every format keeps."""
    return {
        split: [
            (data.sentences[row], data.labels[target], tuple(data.probe_words[w] for w in words))
            for row, words, target in zip(part.rows, part.probes, part.targets, strict=True)
        ]
        for split, part in data.splits.items()
    }


def content(path: Path) -> dict[str, bytes]:
    files = sorted(each for each in path.rglob("*") if each.is_file()) or [path]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def written(path: Path) -> set[str]:
    """The names of what is written for a dataset at *path*: itself and, of JSONL, its card."""
    return {path.name} | ({f"{path.stem}.card.json"} if path.suffix == ".jsonl" else set())


def there_and_back(data: ProbeDataset, name: str, folder: Path) -> ProbeDataset:
    """Write and read, and check that the content alone says the format, and decides the bytes."""
    path = folder / f"data{FORMATS[name].suffix}"
    write_dataset(data, path, format=name)
    assert recognise(path) == name
    back = read_dataset(path)
    write_dataset(back, path, format=name)
    first = content(path)
    assert read_dataset(path) == back
    write_dataset(back, path, format=name)
    assert content(path) == first
    assert {each.name for each in folder.iterdir()} == written(path)  # nothing is left behind
    return back
