"""A fault at any rename, removal or write leaves the old file or folder, or the new one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count as numbers
from pathlib import Path
from typing import Any

import pytest
from helpers.faults import FAULTS, KilledError, Watch, count, failing, interrupting, killing, terminating, watched
from helpers.strategies.corpus_strategies import make_table, read_rows, write_trees
from helpers.strategies.probe_strategies import make_learnable_dataset, make_sample_result

from sentprobe.common import files, scratch
from sentprobe.common.errors import SentprobeError
from sentprobe.common.files import write_atomically
from sentprobe.probes.corpus.sources import ChunkSize
from sentprobe.probes.corpus.table import open_table
from sentprobe.probes.datasets.formats import read_dataset, write_dataset
from sentprobe.probes.datasets.hub import write_split_files
from sentprobe.probes.results.item_table import read_item_table, write_item_table
from sentprobe.probes.results.store import prepare_directory, read_results, save_result
from sentprobe.probes.runs.completed_tasks import make_item_table

OLD, NEW = make_learnable_dataset(name="toy", size=20), make_learnable_dataset(name="toy", size=30)
LABELS = replace(NEW, labels=("NO", "YES"))
"""The new dataset with other labels, which the card of the old one would not fit."""


@dataclass(frozen=True, slots=True)
class Work:
    """Functions that write the old content, write the new content, and read it."""

    old: Callable[[Path], object]
    new: Callable[[Path], object]
    read: Callable[[Path], object]


def make_dataset_work(suffix: str, fmt: str) -> Work:
    def write(data: Any) -> Callable[[Path], None]:
        return lambda place: write_dataset(data, place / f"toy{suffix}", format=fmt)

    def read(place: Path) -> object:
        data = read_dataset(place / f"toy{suffix}")
        # The card of a CSV file names its path.
        return data.fingerprint(), data.labels, data.card if suffix != ".csv" else None

    return Work(write(OLD), write(LABELS), read)


def make_table_writer(*pairs: tuple[str, str], force: bool = False) -> Callable[[Path], object]:
    def make(place: Path) -> None:
        corpus = write_trees(place.parent / f"{len(pairs)}.mrg", pairs)
        make_table([corpus], place, size=ChunkSize(2, 1000), force=force)

    return make


def list_split_sizes(place: Path) -> list[int]:
    return [path.stat().st_size for path in sorted((place / "toy").glob("*.parquet"))]


def make_results_writer(seed: int) -> Callable[[Path], object]:
    result = replace(make_sample_result("bow", "content1", 900, 500), seed=seed)

    def write(place: Path) -> None:
        prepare_directory(place, f"seed = {seed}\n")
        save_result(result, place)

    return write


def make_items_writer(genre: str) -> Callable[[Path], object]:
    splits = {split: replace(part, columns={"genre": (genre,) * len(part)}) for split, part in OLD.splits.items()}
    table = make_item_table(replace(OLD, splits=splits))
    return lambda place: write_item_table(table, place)


def read_genres(place: Path) -> set[str]:
    item_table = read_item_table(place, task=OLD.name, fingerprint=OLD.fingerprint())
    return {*item_table.columns["genre"]} if item_table else set()


SLOW_WORKS = ("directory", "published", "splits", "hub", "a table", "items")

WORKS = {
    "a text": Work(
        lambda place: write_atomically(place / "a", "old"),
        lambda place: write_atomically(place / "a", "new"),
        lambda place: (place / "a").read_text(),
    ),
    "directory": make_dataset_work("", "directory"),
    "published": make_dataset_work("", "published"),
    "splits": make_dataset_work("", "splits"),
    "hub": make_dataset_work("", "hub"),
    "jsonl": make_dataset_work(".jsonl", "jsonl"),
    "csv": make_dataset_work(".csv", "csv"),
    "split files": Work(
        lambda place: write_split_files(OLD, place / "toy"),
        lambda place: write_split_files(NEW, place / "toy"),
        list_split_sizes,
    ),
    "a table": Work(
        make_table_writer(("men", "ran"), ("dogs", "ran"), ("kings", "ran")),
        make_table_writer(("men", "slept"), ("dogs", "slept"), force=True),
        lambda place: [row["text"] for row in read_rows(open_table(place))],
    ),
    "items": Work(make_items_writer("news"), make_items_writer("novel"), read_genres),
    "results": Work(make_results_writer(1), make_results_writer(2), lambda place: len(read_results(place).records)),
}


def is_slow(name: str, fault: Callable[[int], Watch]) -> bool:
    return name in SLOW_WORKS or (name != "a text" and fault not in {killing, interrupting})


CASES = [
    pytest.param(name, fault, marks=[pytest.mark.slow] if is_slow(name, fault) else [])
    for name in WORKS
    for fault in FAULTS
]


@pytest.mark.parametrize(("name", "fault"), CASES)
def test_fault_leaves_old_or_new(name: str, fault: Callable[[int], Watch], tmp_path: Path) -> None:
    check_work(WORKS[name], fault, tmp_path)


@pytest.mark.parametrize("fault", [failing, interrupting, terminating])
def test_fault_between_two_renames(
    fault: Callable[[int], Watch], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_exchange_names", lambda *_: False)
    check_work(WORKS["split files"], fault, tmp_path)


def test_next_process_restores_moved_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_exchange_names", lambda *_: False)
    work = WORKS["split files"]
    work.new(tmp_path)
    new = work.read(tmp_path)
    work.old(tmp_path)
    old = work.read(tmp_path)
    events = count(tmp_path, lambda: work.new(tmp_path))
    away = 0
    for number in range(1, events + 1):
        work.old(tmp_path)
        run_with_fault(work.new, tmp_path, killing(number))
        away += not (tmp_path / "toy").exists()
        next_process()
        write_atomically(tmp_path / "another", "")
        assert work.read(tmp_path) in (old, new)
    assert away == 1


def check_work(work: Work, fault: Callable[[int], Watch], tmp_path: Path) -> None:
    """Repeat the work with a fault at the first event, at the second, and so on."""
    for number in numbers(1):
        place = tmp_path / f"{number}" / "out"
        place.mkdir(parents=True)
        work.old(place)
        old = work.read(place)
        finished = run_with_fault(work.new, place, fault(number))
        new = work.read(place)
        if finished:
            break
        assert new in (old, read_new(work, tmp_path)), number
        next_process()
        work.new(place)
        assert work.read(place) == read_new(work, tmp_path)
        assert find_hidden(place.parent) == [], number
    assert number > 2
    assert new == read_new(work, tmp_path) != old


def run_with_fault(work: Callable[[Path], object], place: Path, watch: Watch) -> bool:
    """Do the work with a fault; return whether it finished before the fault."""
    seen: list[BaseException] = []

    def remember() -> None:
        try:
            watch()
        except BaseException as error:
            seen.append(error)
            raise

    with watched(place.parent, remember):
        try:
            work(place)
        except (SentprobeError, OSError, KeyboardInterrupt, SystemExit, KilledError):
            assert seen
    return not seen


def read_new(work: Work, tmp_path: Path) -> object:
    place = tmp_path / "new" / "out"
    if not place.exists():
        place.mkdir(parents=True)
        work.old(place)
        work.new(place)
    return work.read(place)


def next_process() -> None:
    """Let this process clean up again, as a new process would."""
    scratch.remove_left_parts.cache_clear()


def find_hidden(folder: Path) -> list[Path]:
    return [path for path in folder.rglob(".*")]
