"""Pairs that are written portion by portion: the same bytes as all at once, in memory that hardly grows."""

import json
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import pytest
from helpers.oracles.pairs_at_once import (
    NliColumns,
    build_contrast_space,
    build_events,
    build_training_columns,
    sample_pairs,
)
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.pairs import inference_pairs, triplet_files
from sentprobe.generator.pairs import inference_pairs as training_files
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.inference_pairs import (
    NEUTRAL_CONTRASTS,
    NliSpace,
    format_training_lines,
    iterate_training_columns,
    write_training_data,
)
from sentprobe.generator.pairs.triplet_files import TripletFormat, format_triplet_lines, write_triplets
from sentprobe.generator.pairs.triplets import SIDES, TripletSpace
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_records import to_json
from sentprobe.lexicon import english

seeds = st.integers(0, 10**6)
counts = st.integers(1, 14)
sizes = st.integers(1, 5)
SIZE_NAMES = (
    (triplet_files, "LINES_SIZE"),
    (triplet_files, "PART_SIZE"),
    (training_files, "PORTION_SIZE"),
    (inference_pairs, "PART_SIZE"),
)


def cut_portions(patch: pytest.MonkeyPatch, size: int) -> None:
    for module, name in SIZE_NAMES:
        patch.setattr(module, name, size)


def read_rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


@examples(20)
@given(st.sampled_from([*CONTRASTS]), seeds, counts, sizes)
def test_portions_leave_triplets_unchanged(contrast: str, seed: int, count: int, size: int) -> None:
    triplets = build_contrast_space(contrast).sample(count, seed=seed)
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        whole, cut = Path(name) / "whole", Path(name) / "cut"
        for fmt in TripletFormat:
            write_triplets(triplets, whole, fmt)
            cut_portions(patch, size)
            write_triplets(triplets, cut, fmt)
            patch.undo()
            read: Any = read_rows if fmt is TripletFormat.PARQUET else Path.read_bytes
            assert read(cut) == read(whole)


@examples(20)
@given(st.sampled_from([*CONTRASTS]), seeds, counts, sizes)
def test_triplet_lines_hold_realized_events(contrast: str, seed: int, count: int, size: int) -> None:
    """The ids run on from side to side: first all anchors, then all positives."""
    triplets = build_contrast_space(contrast).sample(count, seed=seed)
    events = {side: build_events(triplets, side) for side in SIDES}
    with pytest.MonkeyPatch.context() as patch:
        cut_portions(patch, size)
        lines = list(format_triplet_lines(triplets, TripletFormat.JSONL))
    for place, (line, stratum) in enumerate(zip(lines, triplets.list_strata(), strict=True)):
        record = json.loads(line)
        assert (record["id"], record["structure"]) == (f"{contrast}-{place + 1}", stratum.pattern.name)
        for number, side in enumerate(SIDES):
            sentence = realize(events[side][place], english(), id=f"s{1 + place + number * count}")
            annotation = record["annotation"][side]
            assert record[side] == sentence.text
            assert annotation == to_json(sentence) | {"template": annotation["template"]}


@examples(10)
@given(st.sampled_from([*CONTRASTS]), seeds, counts, sizes)
def test_portions_leave_training_data_unchanged(contrast: str, seed: int, count: int, size: int) -> None:
    triplets = build_contrast_space(contrast).sample(count, seed=seed)
    columns = build_training_columns(triplets)
    with pytest.MonkeyPatch.context() as patch:
        cut_portions(patch, size)
        assert build_training_columns(triplets) == columns
        check_files(iterate_training_columns(triplets), columns)


@examples(10)
@given(st.sampled_from(NEUTRAL_CONTRASTS), seeds, counts, sizes)
def test_portions_leave_entailment_pairs_unchanged(contrast: str, seed: int, count: int, size: int) -> None:
    space = NliSpace(english(), contrast)
    pairs = sample_pairs(space, count, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        cut_portions(patch, size)
        assert sample_pairs(space, count, seed=seed) == pairs
        check_files(space.iterate_pairs(count, seed=seed), pairs._asdict())


def check_files(portions: Iterable[Any], columns: Any) -> None:
    """Check the files of some portions against those of all columns at once."""
    portions = list(portions)
    assert [*format_training_lines(portions)] == [*format_training_lines([columns])]
    with TemporaryDirectory() as name:
        write_training_data(portions, Path(name) / "x.parquet", TripletFormat.PARQUET)
        assert read_rows(Path(name) / "x.parquet") == [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]


def test_groups_are_distinct() -> None:
    """The groups of a sample of the whole space are all groups."""
    space = NliSpace(english(), "role", templates=["transitive"])
    some, more = (group_pairs(sample_pairs(space, count, seed=0)) for count in (space.count() // 2, space.count()))
    assert len({*more}) == len(more) == space.count()
    assert {*some} <= {*more}


def group_pairs(pairs: NliColumns) -> list[frozenset[tuple[str, str, int]]]:
    rows = [*zip(pairs.premise, pairs.hypothesis, pairs.label, strict=True)]
    return [frozenset(rows[at : at + 8]) for at in range(0, len(rows), 8)]


@pytest.mark.slow
def test_triplets_are_written_in_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample is kept as integers; a triplet as text and records takes 17 KB."""
    cut_portions(monkeypatch, 50)
    space = TripletSpace(english(), "role", templates=["transitive-rc"])
    peaks = [measure_peak(space, count) for count in (200, 200, 1000)]  # the first fills the caches
    assert peaks[2] - peaks[1] < 800 * 1000


def measure_peak(space: TripletSpace, count: int) -> int:
    """Return the peak of the memory, in bytes, that writing the lines takes."""
    tracemalloc.start()
    try:
        for _ in format_triplet_lines(space.sample(count, seed=1), TripletFormat.JSONL):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
