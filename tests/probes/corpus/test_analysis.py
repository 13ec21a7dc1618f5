"""Analysis of a corpus: on each engine, stopped, damaged, swapped, and by two processes at once."""

import errno
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from helpers.clusters import DASK, cluster
from helpers.faults import watched
from helpers.in_process import Command
from helpers.processes import ENVIRONMENT
from helpers.strategies.corpus_strategies import HERE, PAIRS, SMALL, make_table, read_contents, read_rows, write_trees
from helpers.thoroughness import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sentprobe import __version__
from sentprobe.common.engines import EngineChoice, EngineError, EngineName, make_engine, run_tasks_on_engine
from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.common.scratch import LOCK, hold_lock
from sentprobe.common.screen import SilentReporter
from sentprobe.probes.corpus import analysis as module
from sentprobe.probes.corpus import chunks as shards
from sentprobe.probes.corpus.analysis import Analysis, analyze
from sentprobe.probes.corpus.chunks import compute_chunk_rows, find_chunk_path
from sentprobe.probes.corpus.sources import Chunk, ChunkSize, find_sources
from sentprobe.probes.corpus.table import WORK_MARKER, AnalysisRecipe, TableError, open_table


class StopError(Exception):
    """Stops a run in its middle."""


def test_stopped_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_flipped_bit_in_chunk_is_detected(done: Path, data: st.DataObject) -> None:
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
def test_chunk_cut_short_is_detected(done: Path, length: int) -> None:
    done.write_bytes(done.read_bytes()[:length])
    for read in (shards.read_head, shards.read_rows):
        with pytest.raises(SentprobeError, match="damaged; run the same command again"):
            read(done)


def test_chunk_damaged_during_run_is_refused(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_work_of_another_version_is_dropped(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_full_disk_at_last_step_is_reported(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(shards, "mark_first_rows", raise_full)
        with pytest.raises(SentprobeError, match=r"cannot write .*: No space left on device") as no:
            make_table([corpus], tmp_path / "out", size=SMALL)
    assert str(tmp_path / "out") in str(no.value)
    make_table([corpus], tmp_path / "out", size=SMALL)
    assert read_contents(tmp_path / "out") == read_contents(make_table([corpus], tmp_path / "new").path)


def test_changed_corpus_is_analysed_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = write_trees(tmp_path / "a.mrg", PAIRS)
    monkeypatch.setattr(module, "_write_table", lambda *_, **__: None)
    make_table([corpus], tmp_path / "out", size=SMALL)
    monkeypatch.undo()
    write_trees(corpus, [*PAIRS[:3], ("men", "ran")])
    table = make_table([corpus], tmp_path / "out", size=SMALL)
    assert [row["text"] for row in read_rows(table)] == ["men slept .", "dogs ran .", "men ran ."]


ENGINE_SIZE = ChunkSize(pieces=20, characters=10**6)


@pytest.fixture
def long_corpus(tmp_path: Path) -> Path:
    pairs = [(f"noun{n % 350}", "ran") for n in range(400)]
    return write_trees(tmp_path / "a.mrg", pairs)


class Killing(SilentReporter):
    """A reporter that kills a worker when the first chunk is done."""

    def __init__(self, victims: list[int] | None = None) -> None:
        self.victims = victims
        self.killed: list[int] = []

    def note(self, text: str) -> None:  # noqa: ARG002
        if not self.killed:
            victims = self.victims or [process.pid or 0 for process in active_children()]
            os.kill(victims[0], signal.SIGKILL)
            self.killed.append(victims[0])


def make_plan(long_corpus: Path, out: Path) -> Analysis:
    return Analysis(sources=find_sources([str(long_corpus)]), recipe=AnalysisRecipe(), out=out, size=ENGINE_SIZE)


def test_killed_process_loses_nothing(long_corpus: Path, tmp_path: Path) -> None:
    make_table([long_corpus], tmp_path / "one", machines=HERE)
    killing = Killing()
    analyze(make_plan(long_corpus, tmp_path / "two"), EngineChoice(jobs=2), killing)
    assert len(killing.killed) == 1
    assert read_contents(tmp_path / "two") == read_contents(tmp_path / "one")


@DASK
@pytest.mark.slow  # a cluster of processes, which are killed
@pytest.mark.filterwarnings("ignore")  # distributed's own
def test_dask_gives_same_bytes_despite_kill(long_corpus: Path, tmp_path: Path) -> None:
    from distributed import Client

    make_table([long_corpus], tmp_path / "local", machines=HERE)
    with cluster() as dask_cluster:
        address = dask_cluster.scheduler_address
        machines = EngineChoice(engine=EngineName.DASK, scheduler=address, jobs=1)
        make_table([long_corpus], tmp_path / "dask", machines=machines, size=ENGINE_SIZE)
        assert read_contents(tmp_path / "dask") == read_contents(tmp_path / "local")
        connect: Any = Client
        with connect(address, set_as_default=False) as client:
            victims = list(client.run(os.getpid).values())
        killing = Killing(victims)
        analyze(make_plan(long_corpus, tmp_path / "killed"), machines, killing)
        assert killing.killed == victims[:1]
        assert read_contents(tmp_path / "killed") == read_contents(tmp_path / "local")
        # One death is enough: a worker that is killed while it starts may not be replaced.
        dask_cluster.scheduler.allowed_failures = 0
        with make_engine(machines) as dask:
            with pytest.raises(EngineError, match="the Dask cluster could not do the work: "):
                list(run_tasks_on_engine(die, iter([1]), dask))
            with pytest.raises(ZeroDivisionError):
                list(run_tasks_on_engine(divide, iter([0]), dask))


def die(_: int) -> None:
    os._exit(1)


def divide(number: int) -> float:
    return 1 / number


def test_work_does_not_go_through_files(long_corpus: Path, tmp_path: Path) -> None:
    """Whoever may write in the folder of the table, or its parent, gives workers nothing to do."""
    paths: set[str] = set()

    class Looking(Killing):
        def note(self, text: str) -> None:
            paths.update(path.name for path in (tmp_path / "out").rglob("*"))
            super().note(text)

    analyze(make_plan(long_corpus, tmp_path / "out"), EngineChoice(jobs=2), Looking())
    chunks = {name for name in paths if re.fullmatch(r"chunk-\d{7}\.arrow", name)}
    assert len(chunks) == 20
    assert paths - chunks == {"work", WORK_MARKER, LOCK}


FIRST = [(noun, "ran") for noun in "abcdefgh"]
SECOND = [(noun, "slept") for noun in "uvwxyz"]
BUSY = "out: another probe analyze is writing a table there; wait until it is done"


def analyze_pairs(folder: Path, pairs: list[tuple[str, str]]) -> None:
    """Replace the table in the folder ``out``."""
    corpus = write_trees(folder / f"{len(pairs)}.mrg", pairs)
    make_table([corpus], folder / "out", size=ChunkSize(2, 1000), force=True)


def test_second_writer_is_refused_any_time(tmp_path: Path) -> None:
    """It starts at each file operation of the first: writing, renaming, removing."""
    analyze_pairs(tmp_path, FIRST)
    expected = read_contents(tmp_path / "out")
    refused: list[bool] = []

    def second() -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        with watched(tmp_path / "elsewhere", lambda: None):
            try:
                analyze_pairs(tmp_path, SECOND)
            except UsageError as error:
                assert BUSY in str(error)
                refused.append(True)
            else:
                refused.append(False)

    with watched(tmp_path / "out", second):
        analyze_pairs(tmp_path, FIRST)
    assert sum(refused) >= 20
    assert refused == sorted(refused)  # not until the first has the lock, and then always
    assert read_contents(tmp_path / "out") == expected


def test_busy_folder_is_one_line(tmp_path: Path, command: Command) -> None:
    corpus = write_trees(tmp_path / "a.mrg", FIRST)
    (tmp_path / "out").mkdir()
    with hold_lock(tmp_path / "out"):
        code, out, err = command("analyze", corpus, "--out", tmp_path / "out", "--jobs", 1)
    assert (code, out) == (2, "")
    assert err == f"probe: {tmp_path / BUSY}, or write to another folder\n"
    assert command("analyze", corpus, "--out", tmp_path / "out", "--jobs", 1)[0] == 0
    assert not (tmp_path / "out" / LOCK).exists()


HOLD = """
import sys, time
from pathlib import Path
from sentprobe.common.scratch import hold_lock
with hold_lock(Path(sys.argv[1])) as alone:
    print(alone, flush=True)
    time.sleep(60)
"""


def test_lock_of_killed_process_is_released(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    line = [sys.executable, "-c", HOLD, str(tmp_path / "out")]
    with subprocess.Popen(line, stdout=subprocess.PIPE, env=ENVIRONMENT) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"True\n"
        with pytest.raises(UsageError, match=BUSY):
            analyze_pairs(tmp_path, FIRST)
        holder.kill()
    analyze_pairs(tmp_path, FIRST)
    assert not (tmp_path / "out" / LOCK).exists()


SIX_PAIRS = [(noun, "ran") for noun in "abcdef"]


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


def test_pickle_runs_when_read(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Code(tmp_path / "mark")))
    assert (tmp_path / "mark").is_dir()


@pytest.mark.parametrize(("jobs", "offsets"), [(1, range(1, 46, 4)), pytest.param(2, [20], marks=pytest.mark.slow)])
def test_swapped_work_folder_runs_no_pickle(tmp_path: Path, jobs: int, offsets: Sequence[int]) -> None:
    """At the time when the first files are written, renamed and removed."""
    corpus = write_trees(tmp_path / "a.mrg", SIX_PAIRS)
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
