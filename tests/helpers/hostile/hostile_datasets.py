"""Sound datasets and cards in each format, to be damaged."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from helpers.hostile import mutations as mu
from helpers.hostile.hostile_files import HostileReader
from helpers.strategies.probe_strategies import make_learnable_dataset

from sentprobe.generator.pairs.triplet_files import TripletFormat, write_triplets
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.lexicon import english
from sentprobe.probes.datasets.dataset import Card, ProbeDataset
from sentprobe.probes.datasets.formats import read_dataset, read_datasets, write_dataset
from sentprobe.probes.similarity.triplet_sentences import is_triplet_file, read_triplets


@cache
def make_toy() -> ProbeDataset:
    return make_learnable_dataset(size=20)


def _make_plain_dataset() -> ProbeDataset:
    """Return a dataset without probe words, for SentEval's format."""
    from dataclasses import replace

    from sentprobe.probes.datasets.dataset import Items

    data = make_toy()
    splits = {
        split: Items(items.rows, np.empty((len(items), 0), np.int64), items.targets)
        for split, items in data.splits.items()
    }
    return replace(data, probe_words=(), splits=splits)


def _dataset_maker(fmt: str, name: str, file: str = "", *, plain: bool = False) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        write_dataset(_make_plain_dataset() if plain else make_toy(), folder / name, format=fmt)
        return folder / name / file if file else folder / name

    return make


def _read_folder(path: Path) -> object:
    """Read all datasets in the folder of a file."""
    return read_datasets(path.parent)


def _read_and_use_dataset(path: Path) -> object:
    data = read_dataset(path)
    return data.fingerprint(), data.mirrored, data.balanced_probes


def _make_jsonl_card(folder: Path) -> Path:
    write_dataset(make_toy(), folder / "Toy.jsonl")
    return folder / "Toy.card.json"


def _read_jsonl_with_card(path: Path) -> object:
    write_dataset(_make_plain_dataset(), path.parent / "again.jsonl")
    return read_dataset(path.parent / "Toy.jsonl")


def _make_card(folder: Path) -> Path:
    card = Card("Order", seed=3, versions={"a": "1"}, counts={"x": 2}, notes=("A note.",))
    path = folder / "card.json"
    path.write_text(json.dumps(card.to_json()), encoding="utf-8")
    return path


def _read_card(path: Path) -> object:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        return None
    return Card.from_json(value).to_json()


def _triplet_maker(name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        space = TripletSpace(english(), "role", vocabulary="compeval", templates=["transitive"])
        path = folder / name
        write_triplets(space.sample(3, seed=0), path, TripletFormat(path.suffix[1:]))
        return path

    return make


def _read_triplet_file(path: Path) -> object:
    return is_triplet_file(path), read_triplets(path).fingerprint


OF_DATASETS: dict[str, HostileReader] = {
    "card": HostileReader(make=_make_card, read=_read_card, ways=mu.JSON),
    "directory: card": HostileReader(
        make=_dataset_maker("directory", "Toy", "card.json"), read=_read_folder, ways=mu.JSON
    ),
    "directory: items": HostileReader(
        make=_dataset_maker("directory", "Toy", "items.parquet"), read=_read_folder, ways=mu.PARQUET
    ),
    "directory: sentences": HostileReader(
        make=_dataset_maker("directory", "Toy", "sentences.parquet"), read=_read_folder, ways=mu.PARQUET
    ),
    "jsonl": HostileReader(make=_dataset_maker("jsonl", "Toy.jsonl"), read=_read_and_use_dataset, ways=mu.LINES),
    "jsonl: card": HostileReader(make=_make_jsonl_card, read=_read_jsonl_with_card, ways=mu.JSON),
    "csv": HostileReader(make=_dataset_maker("csv", "Toy.csv"), read=_read_and_use_dataset, ways=mu.TEXT),
    "senteval": HostileReader(
        make=_dataset_maker("senteval", "Toy.txt", plain=True), read=_read_and_use_dataset, ways=mu.TEXT
    ),
    "published": HostileReader(make=_dataset_maker("published", "Toy", "train.txt"), read=_read_folder, ways=mu.TEXT),
    "splits": HostileReader(make=_dataset_maker("splits", "Toy", "train.jsonl"), read=_read_folder, ways=mu.LINES),
    "hub": HostileReader(make=_dataset_maker("hub", "Toy", "train.parquet"), read=_read_folder, ways=mu.PARQUET),
    "hub: card": HostileReader(make=_dataset_maker("hub", "Toy", "card.json"), read=_read_folder, ways=mu.JSON),
    "triplets as lines": HostileReader(make=_triplet_maker("role.jsonl"), read=_read_triplet_file, ways=mu.LINES),
    "triplets": HostileReader(make=_triplet_maker("role.parquet"), read=_read_triplet_file, ways=mu.PARQUET),
}
