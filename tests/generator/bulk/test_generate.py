"""Sentences to a file in one call, with the bytes of the command, and without excluded sentences."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.gen_command import ALL_FORMATS, Gen
from hypothesis import given
from hypothesis import strategies as st

import sentprobe
from sentprobe import Choices, Event, Tense, UsageError
from sentprobe.common.errors import FormatError, SentprobeError
from sentprobe.generator.bulk.generate import find_excluded_indices, write_file
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.counting import skip_excluded
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english


@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".conllu", ".trees"])
def test_generated_file_equals_command(suffix: str, tmp_path: Path, gen: Gen) -> None:
    ours, theirs = tmp_path / f"ours{suffix}", tmp_path / f"theirs{suffix}"
    options = ("--template", "transitive", "--n", "20", "--seed", "3", "--tense", "past")
    constraints = ("--require-word", "doctor", "--forbid", "help(agent: lawyer)")
    assert gen(*options, *constraints, "--out", theirs).code == 0
    space = sentprobe.generate(
        ours,
        template="transitive",
        n=20,
        seed=3,
        require_word="doctor",
        forbid=["help(agent: lawyer)"],
        choices=Choices(main=Event(tense=Tense.PAST)),
    )
    assert ours.read_bytes() == theirs.read_bytes()
    assert space.count() > 20


def test_format_may_be_named(tmp_path: Path) -> None:
    sentprobe.generate(str(tmp_path / "a"), n=2, format="jsonl")
    sentprobe.generate(tmp_path / "b.jsonl", n=2)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"template": "transitiv"}, "did you mean 'transitive'?"),
        ({"n": 0}, "the number of sentences must be positive, not 0"),
        ({"format": "jsonn"}, "did you mean 'jsonl'?"),
        ({"vocabulary": "englsh"}, "did you mean 'english'?"),
        ({"require": "help("}, "event:1:6"),
        ({"forbid": "hlep"}, "hlep"),
        ({"require_word": "lwayer"}, "did you mean 'lawyer'?"),
    ],
)
def test_bad_options_write_nothing(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        sentprobe.generate(tmp_path / "out.txt", **options)
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_progress_is_shown_when_asked_for(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sentprobe.generate(tmp_path / "out.txt")
    assert capfd.readouterr() == ("", "")
    sentprobe.generate(tmp_path / "out.txt", progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "generate" in err


LEXICON = english()
SMALL = Space(LEXICON, vocabulary="compeval", templates=["intransitive"])
LARGE = Space(LEXICON, templates=["all"])


@given(st.sets(st.integers(0, 60)), st.integers(0, 2**70))
def test_ranks_skip_excluded(excluded: set[int], base: int) -> None:
    left = [base + n for n in range(80) if n not in excluded]
    moved = sorted(base + n for n in excluded)
    ranks = np.array([base + n for n in range(len(left))], dtype=object)
    if not base:
        ranks = ranks.astype(np.int64)
    assert skip_excluded(moved, ranks).tolist() == left


@given(st.sets(st.integers(0, 223), max_size=223), st.integers(0, 9), st.data())
def test_excluded_sentences_are_not_drawn(excluded: set[int], seed: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 224 - len(excluded)))
    drawn = SMALL.sample(count, seed=seed, without=excluded).tolist()
    assert len({*drawn}) == count and excluded.isdisjoint(drawn)
    assert all(0 <= index < 224 for index in drawn)
    everything = SMALL.sample(224 - len(excluded), seed=seed, without=excluded).tolist()
    assert {*everything} | excluded == {*range(224)}


def test_empty_exclusion_changes_nothing() -> None:
    assert LARGE.sample(9, seed=3, without=()).tolist() == LARGE.sample(9, seed=3).tolist()


def test_too_few_sentences_left_are_refused() -> None:
    message = "25 sentences were asked for, but there are only 24 .*; 200 are excluded"
    with pytest.raises(UsageError, match=message):
        SMALL.sample(25, seed=0, without=range(200))


@pytest.mark.parametrize("suffix", [*ALL_FORMATS.values(), ".csv"])
def test_exclusions_are_read_in_every_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    fmt = "text" if suffix == ".csv" else None
    for space in (SMALL, LARGE):
        drawn = space.sample(30, seed=1)
        write_file(space, drawn, path, fmt)
        assert find_excluded_indices([path, path], space) == sorted(drawn.tolist())


def test_exclusions_accept_ordinary_text(tmp_path: Path) -> None:
    one, two = (realize(SMALL[at], LEXICON).text for at in (5, 9))
    path = tmp_path / "x.txt"
    path.write_text(f"{one.capitalize()}.\n\nnot a sentence\n{two}\nthe tailor sleeps", "utf-8")
    assert find_excluded_indices([path], SMALL) == [5, 9]  # tailors are not in this vocabulary


def test_event_outside_space_is_not_found() -> None:
    assert SMALL.find(LARGE[LARGE.count() - 1]) is None
    assert SMALL.find(SMALL[7]) == 7
    assert SMALL.find(Event()) is None


INFINITE = pa.array([float("inf")] * 3)
LATE = pa.array([2**31 - 1] * 3, pa.date32())
UNREADABLE: list[tuple[str, bytes | pa.Array | None, type[SentprobeError], str]] = [
    ("x.parquet", INFINITE, FormatError, "x.parquet: row 1: the index is not an integer"),
    ("x.parquet", LATE, FormatError, "x.parquet: not a Parquet file that can be"),
    ("x.jsonl", b"{}\n", FormatError, "x.jsonl: line 1: the sentence lacks 'tokens'"),
    ("x.txt", b"a\n\xff\n", FormatError, "x.txt: line 2: not UTF-8"),
    ("none", None, UsageError, "none: cannot read it: No such file"),
]


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    UNREADABLE,
    ids=["infinite index", "index after the year 9999", "no tokens", "not UTF-8", "no file"],
)
def test_unreadable_exclusions_are_refused(
    tmp_path: Path, name: str, content: bytes | pa.Array | None, error: type[SentprobeError], message: str
) -> None:
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        write_file(SMALL, np.array([0, 1, 2]), path)
        table = pq.read_table(path)
        pq.write_table(table.set_column(table.column_names.index("index"), "index", content), path)
    with pytest.raises(error) as caught:
        find_excluded_indices([path], SMALL)
    assert message in str(caught.value)
