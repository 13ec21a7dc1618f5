"""Datasets in each format, and their cards, sound ones to be damaged."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import mutations as mu
import numpy as np
from hostile_files import HostileReader
from probe_strategies import learnable

from sentprobe.generator.triplet_files import TripletFormat, write_triplets
from sentprobe.generator.triplets import TripletSpace
from sentprobe.lexicon import english
from sentprobe.probes.dataset import Card, ProbeDataset
from sentprobe.probes.formats import read_dataset, read_datasets, write_dataset
from sentprobe.probes.geometry.triplet_reader import is_triplets, read_triplets


@cache
def toy() -> ProbeDataset:
    return learnable(size=20)


def _plain() -> ProbeDataset:
    """Without probe words, which SentEval's files have none of."""
    from dataclasses import replace

    from sentprobe.probes.dataset import Items

    data = toy()
    splits = {
        split: Items(items.rows, np.empty((len(items), 0), np.int64), items.targets)
        for split, items in data.splits.items()
    }
    return replace(data, probe_words=(), splits=splits)


def _dataset(fmt: str, name: str, file: str = "", *, plain: bool = False) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        write_dataset(_plain() if plain else toy(), folder / name, format=fmt)
        return folder / name / file if file else folder / name

    return make


def _whole(path: Path) -> object:
    """Read the dataset that a file is part of, as any that look like one."""
    return read_datasets(path.parent)


def _use_dataset(path: Path) -> object:
    data = read_dataset(path)
    return data.fingerprint(), data.mirrored, data.balanced_probes


def _card_beside(folder: Path) -> Path:
    write_dataset(toy(), folder / "Toy.jsonl")
    return folder / "Toy.card.json"


def _json_card(path: Path) -> object:
    write_dataset(_plain(), path.parent / "again.jsonl")
    return read_dataset(path.parent / "Toy.jsonl")


def _card_text(folder: Path) -> Path:
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


def _triplets(name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        space = TripletSpace(english(), "role", vocabulary="compeval", templates=["transitive"])
        path = folder / name
        write_triplets(space.sample(3, seed=0), path, TripletFormat(path.suffix[1:]))
        return path

    return make


def _measured(path: Path) -> object:
    return is_triplets(path), read_triplets(path).fingerprint


OF_DATASETS: dict[str, HostileReader] = {
    "card": HostileReader(make=_card_text, read=_read_card, ways=mu.JSON),
    "directory: card": HostileReader(
        make=_dataset("directory", "Toy", "card.json"), read=_whole, ways=mu.JSON
    ),
    "directory: items": HostileReader(
        make=_dataset("directory", "Toy", "items.parquet"), read=_whole, ways=mu.PARQUET
    ),
    "directory: sentences": HostileReader(
        make=_dataset("directory", "Toy", "sentences.parquet"), read=_whole, ways=mu.PARQUET
    ),
    "jsonl": HostileReader(make=_dataset("jsonl", "Toy.jsonl"), read=_use_dataset, ways=mu.LINES),
    "jsonl: card": HostileReader(make=_card_beside, read=_json_card, ways=mu.JSON),
    "csv": HostileReader(make=_dataset("csv", "Toy.csv"), read=_use_dataset, ways=mu.TEXT),
    "senteval": HostileReader(
        make=_dataset("senteval", "Toy.txt", plain=True), read=_use_dataset, ways=mu.TEXT
    ),
    "published": HostileReader(
        make=_dataset("published", "Toy", "train.txt"), read=_whole, ways=mu.TEXT
    ),
    "splits": HostileReader(
        make=_dataset("splits", "Toy", "train.jsonl"), read=_whole, ways=mu.LINES
    ),
    "hub": HostileReader(
        make=_dataset("hub", "Toy", "train.parquet"), read=_whole, ways=mu.PARQUET
    ),
    "hub: card": HostileReader(make=_dataset("hub", "Toy", "card.json"), read=_whole, ways=mu.JSON),
    "triplets as lines": HostileReader(make=_triplets("role.jsonl"), read=_measured, ways=mu.LINES),
    "triplets": HostileReader(make=_triplets("role.parquet"), read=_measured, ways=mu.PARQUET),
}
