"""Resumed analyses: stopped runs, damaged chunks, other versions, a full disk."""

import errno
from pathlib import Path
from typing import Any

import pytest
from helpers.strategies.corpus_strategies import PAIRS, SMALL, make_table, read_contents, read_rows, write_trees
from helpers.thoroughness import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sentprobe import __version__
from sentprobe.common.errors import SentprobeError
from sentprobe.probes.corpus import analysis as module
from sentprobe.probes.corpus import chunks as shards
from sentprobe.probes.corpus.chunks import compute_chunk_rows, find_chunk_path
from sentprobe.probes.corpus.sources import Chunk
from sentprobe.probes.corpus.table import AnalysisRecipe, TableError, open_table


class StopError(Exception):
    """Stops a run in its middle."""


def test_a_stopped_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [(noun, verb) for noun in ("a", "b", "c", "d") for verb in ("x", "y", "z")]
    corpus = write_trees(tmp_path / "a.mrg", pairs)
    make_table([corpus], tmp_path / "whole", size=SMALL)
    done: list[int] = []

    def stop_after_two(chunk: Chunk, recipe: AnalysisRecipe, key: str) -> bytes:
        if len(done) == 2:
            raise StopError
        done.append(chunk.number)
        return compute_chunk_rows(chunk, recipe, key)

    monkeypatch.setattr(module, "compute_chunk_rows", stop_after_two)
    with pytest.raises(StopError):
        make_table([corpus], tmp_path / "out", size=SMALL)
    with pytest.raises(TableError, match="not finished: run probe analyze again"):
        open_table(tmp_path / "out")
    damaged = find_chunk_path(tmp_path / "out" / "work", 0)
    damaged.write_bytes(damaged.read_bytes()[:100])
    done.clear()
    done.append(-1)
    with pytest.raises(StopError):
        make_table([corpus], tmp_path / "out", size=SMALL)
    assert done == [-1, 0]
    done.clear()

    def count_chunks(chunk: Chunk, recipe: AnalysisRecipe, key: str) -> bytes:
        done.append(chunk.number)
        return compute_chunk_rows(chunk, recipe, key)

    monkeypatch.setattr(module, "compute_chunk_rows", count_chunks)
    make_table([corpus], tmp_path / "out", size=SMALL)
    assert len(done) == 2
    assert read_contents(tmp_path / "out") == read_contents(tmp_path / "whole")


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_flipped_bit_in_a_chunk_is_detected(done: Path, data: st.DataObject) -> None:
    """A resumed run makes the chunk anew; writing the table refuses it."""
    stored_bytes = done.read_bytes()
    place, bit = data.draw(st.integers(0, len(stored_bytes) - 1)), data.draw(st.integers(0, 7))
    key = shards.read_head(done).key
    try:
        done.write_bytes(stored_bytes[:place] + bytes([stored_bytes[place] ^ 1 << bit]) + stored_bytes[place + 1 :])
        assert shards.find_head(done, key) is None
        for read in (shards.read_head, shards.read_rows):
            with pytest.raises(SentprobeError, match="damaged; run the same command again"):
                read(done)
    finally:
        done.write_bytes(stored_bytes)
    assert shards.find_head(done, key) is not None


@pytest.fixture
def done(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a finished chunk."""
    monkeypatch.setattr(module, "_write_table", lambda *_, **__: None)
    make_table([corpus], tmp_path / "out", size=SMALL)
    return find_chunk_path(tmp_path / "out" / "work", 0)


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 500])
def test_a_chunk_cut_short_is_detected(done: Path, length: int) -> None:
    done.write_bytes(done.read_bytes()[:length])
    for read in (shards.read_head, shards.read_rows):
        with pytest.raises(SentprobeError, match="damaged; run the same command again"):
            read(done)


def test_a_chunk_damaged_in_the_middle_of_a_run(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish = module._write_table

    def damage_and_finish(*arguments: Any, **options: Any) -> object:
        path = find_chunk_path(tmp_path / "out" / "work", 1)
        path.write_bytes(path.read_bytes()[:-1] + b"x")
        return finish(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(module, "_write_table", damage_and_finish)
        with pytest.raises(SentprobeError, match=r"chunk-0000001.arrow: damaged"):
            make_table([corpus], tmp_path / "out", size=SMALL)
    make_table([corpus], tmp_path / "out", size=SMALL)
    assert read_contents(tmp_path / "out") == read_contents(make_table([corpus], tmp_path / "new").path)


def test_the_work_of_another_version_is_not_kept(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other_version = "9" * len(__version__)

    def compute_by_other_version(chunk: Chunk, recipe: AnalysisRecipe, key: str) -> bytes:
        version = f'"version": "{__version__}"'.encode()
        return compute_chunk_rows(chunk, recipe, key).replace(version, f'"version": "{other_version}"'.encode())

    monkeypatch.setattr(module, "compute_chunk_rows", compute_by_other_version)
    for _ in range(2):  # the second time as the first
        with pytest.raises(SentprobeError, match=f"a worker has sentprobe {other_version} and this"):
            make_table([corpus], tmp_path / "out", size=SMALL)
    monkeypatch.undo()
    make_table([corpus], tmp_path / "out", size=SMALL)
    assert read_contents(tmp_path / "out") == read_contents(make_table([corpus], tmp_path / "new").path)


def test_a_disk_that_fills_up_at_the_last_step(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(shards, "mark_first_rows", raise_full)
        with pytest.raises(SentprobeError, match=r"cannot write .*: No space left on device") as no:
            make_table([corpus], tmp_path / "out", size=SMALL)
    assert str(tmp_path / "out") in str(no.value)
    make_table([corpus], tmp_path / "out", size=SMALL)
    assert read_contents(tmp_path / "out") == read_contents(make_table([corpus], tmp_path / "new").path)


def test_a_changed_corpus_or_recipe_is_not_taken_for_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = write_trees(tmp_path / "a.mrg", PAIRS)
    monkeypatch.setattr(module, "_write_table", lambda *_, **__: None)
    make_table([corpus], tmp_path / "out", size=SMALL)
    monkeypatch.undo()
    write_trees(corpus, [*PAIRS[:3], ("men", "ran")])
    table = make_table([corpus], tmp_path / "out", size=SMALL)
    assert [row["text"] for row in read_rows(table)] == ["men slept .", "dogs ran .", "men ran ."]
