"""Pickles that another user places in the table's folder are never read."""

import os
import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers.faults import watched
from helpers.strategies.corpus_strategies import make_table, write_trees

from sentprobe.common.engines import EngineChoice
from sentprobe.common.errors import SentprobeError
from sentprobe.probes.corpus.sources import ChunkSize

PAIRS = [(noun, "ran") for noun in "abcdef"]


class Code:
    """An object whose pickle creates a folder when it is loaded."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.mark),)


def replace_work_folder(work: Path, code: bytes) -> None:
    """Replace the work folder by one in which each file is a pickle."""
    work.rename(work.with_name(f"away{len(list(work.parent.iterdir()))}"))
    work.mkdir()
    for name in ("pipe-0", "pipe-1", "0.pickle", *(f"chunk-{n:07d}.arrow" for n in range(9))):
        (work / name).write_bytes(code)
    (work / "pipe-abc").mkdir()
    (work / "pipe-abc" / "0").write_bytes(code)


def test_a_pickle_runs_when_it_is_read(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Code(tmp_path / "mark")))
    assert (tmp_path / "mark").is_dir()


@pytest.mark.parametrize(("jobs", "offsets"), [(1, range(1, 46, 4)), pytest.param(2, [20], marks=pytest.mark.slow)])
def test_the_work_folder_is_swapped(tmp_path: Path, jobs: int, offsets: Sequence[int]) -> None:
    """At the time when the first files are written, renamed and removed."""
    corpus = write_trees(tmp_path / "a.mrg", PAIRS)
    code = pickle.dumps(Code(tmp_path / "mark"))
    refused = 0
    for number in offsets:
        out = tmp_path / f"{number}" / "out"
        seen: list[Path] = []

        def swapping(out: Path = out, seen: list[Path] = seen, number: int = number) -> None:
            seen.append(out)
            if len(seen) == number and (out / "work").is_dir():
                with watched(tmp_path / "nothing", lambda: None):
                    replace_work_folder(out / "work", code)

        with watched(out.parent, swapping):
            try:
                make_table([corpus], out, size=ChunkSize(2, 1000), machines=EngineChoice(jobs=jobs))
            except SentprobeError:
                refused += 1
        assert len(seen) >= number
        assert not (tmp_path / "mark").exists()
    assert refused
