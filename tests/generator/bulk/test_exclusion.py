"""Sampling with excluded sentences: uniform over the rest, and unchanged without exclusions."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.gen_command import ALL_FORMATS
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import FormatError, UsageError
from sentprobe.generator.bulk.generate import find_excluded_indices, write_file
from sentprobe.generator.events.event import Event
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.counting import skip_excluded
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english

LEXICON = english()
SMALL = Space(LEXICON, vocabulary="compeval", templates=["intransitive"])
LARGE = Space(LEXICON, templates=["all"])


@given(st.sets(st.integers(0, 60)), st.integers(0, 2**70))
def test_ranks_pass_over_what_is_taken(excluded: set[int], base: int) -> None:
    left = [base + n for n in range(80) if n not in excluded]
    moved = sorted(base + n for n in excluded)
    ranks = np.array([base + n for n in range(len(left))], dtype=object)
    if not base:
        ranks = ranks.astype(np.int64)
    assert skip_excluded(moved, ranks).tolist() == left


@given(st.sets(st.integers(0, 223), max_size=223), st.integers(0, 9), st.data())
def test_what_is_excluded_is_not_drawn(excluded: set[int], seed: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 224 - len(excluded)))
    drawn = SMALL.sample(count, seed=seed, without=excluded).tolist()
    assert len({*drawn}) == count and excluded.isdisjoint(drawn)
    assert all(0 <= index < 224 for index in drawn)
    everything = SMALL.sample(224 - len(excluded), seed=seed, without=excluded).tolist()
    assert {*everything} | excluded == {*range(224)}


def test_without_anything_excluded_the_sample_is_as_ever() -> None:
    assert LARGE.sample(9, seed=3, without=()).tolist() == LARGE.sample(9, seed=3).tolist()


def test_too_few_are_left() -> None:
    message = "25 sentences were asked for, but there are only 24 .*; 200 are excluded"
    with pytest.raises(UsageError, match=message):
        SMALL.sample(25, seed=0, without=range(200))


@pytest.mark.parametrize("suffix", [*ALL_FORMATS.values(), ".csv"])
def test_sentences_are_found_in_every_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    fmt = "text" if suffix == ".csv" else None
    for space in (SMALL, LARGE):
        drawn = space.sample(30, seed=1)
        write_file(space, drawn, path, fmt)
        assert find_excluded_indices([path, path], space) == sorted(drawn.tolist())


def test_text_as_people_write_it(tmp_path: Path) -> None:
    one, two = (realize(SMALL[at], LEXICON).text for at in (5, 9))
    path = tmp_path / "x.txt"
    path.write_text(f"{one.capitalize()}.\n\nnot a sentence\n{two}\nthe tailor sleeps", "utf-8")
    assert find_excluded_indices([path], SMALL) == [5, 9]  # tailors are not in this vocabulary


def test_an_event_outside_the_space() -> None:
    assert SMALL.find(LARGE[LARGE.count() - 1]) is None
    assert SMALL.find(SMALL[7]) == 7
    assert SMALL.find(Event()) is None


INFINITE = pa.array([float("inf")] * 3)
LATE = pa.array([2**31 - 1] * 3, pa.date32())


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (INFINITE, r"x\.parquet: row 1: the index is not an integer"),
        (LATE, r"x\.parquet: not a Parquet file that can be"),
    ],
    ids=["infinite", "after the year 9999"],
)
def test_parquet_with_an_odd_index_is_refused(tmp_path: Path, column: pa.Array, message: str) -> None:
    path = tmp_path / "x.parquet"
    write_file(SMALL, np.array([0, 1, 2]), path)
    table = pq.read_table(path)
    pq.write_table(table.set_column(table.column_names.index("index"), "index", column), path)
    with pytest.raises(FormatError, match=message):
        find_excluded_indices([path], SMALL)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("{}\n", "utf-8")
    (tmp_path / "x.txt").write_bytes(b"a\n\xff\n")
    with pytest.raises(FormatError, match=r"x\.jsonl: line 1: the sentence lacks 'tokens'"):
        find_excluded_indices([tmp_path / "x.jsonl"], SMALL)
    with pytest.raises(FormatError, match=r"x\.txt: line 2: not UTF-8"):
        find_excluded_indices([tmp_path / "x.txt"], SMALL)
    with pytest.raises(UsageError, match=r"none: cannot read it: No such file"):
        find_excluded_indices([tmp_path / "none"], SMALL)
