"""A table on each engine: the same bytes, also when workers are killed."""

import os
import re
import signal
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from helpers.clusters import DASK, cluster
from helpers.strategies.corpus_strategies import HERE, make_table, read_contents, write_trees

from sentprobe.common.engines import EngineChoice, EngineError, EngineName, make_engine, run_tasks_on_engine
from sentprobe.common.scratch import LOCK
from sentprobe.common.screen import SilentReporter
from sentprobe.probes.corpus.analysis import Analysis, analyze
from sentprobe.probes.corpus.sources import ChunkSize, find_sources
from sentprobe.probes.corpus.table import WORK_MARKER, AnalysisRecipe

SIZE = ChunkSize(pieces=20, characters=10**6)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
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


def make_plan(corpus: Path, out: Path) -> Analysis:
    return Analysis(sources=find_sources([str(corpus)]), recipe=AnalysisRecipe(), out=out, size=SIZE)


def test_a_killed_process_loses_nothing(corpus: Path, tmp_path: Path) -> None:
    make_table([corpus], tmp_path / "one", machines=HERE)
    killing = Killing()
    analyze(make_plan(corpus, tmp_path / "two"), EngineChoice(jobs=2), killing)
    assert len(killing.killed) == 1
    assert read_contents(tmp_path / "two") == read_contents(tmp_path / "one")


@DASK
@pytest.mark.slow  # a cluster of processes, which are killed
@pytest.mark.filterwarnings("ignore")  # distributed's own
def test_dask_gives_the_same_bytes_and_a_killed_worker_loses_nothing(corpus: Path, tmp_path: Path) -> None:
    from distributed import Client

    make_table([corpus], tmp_path / "local", machines=HERE)
    with cluster() as dask_cluster:
        address = dask_cluster.scheduler_address
        machines = EngineChoice(engine=EngineName.DASK, scheduler=address, jobs=1)
        make_table([corpus], tmp_path / "dask", machines=machines, size=SIZE)
        assert read_contents(tmp_path / "dask") == read_contents(tmp_path / "local")
        connect: Any = Client
        with connect(address, set_as_default=False) as client:
            victims = list(client.run(os.getpid).values())
        killing = Killing(victims)
        analyze(make_plan(corpus, tmp_path / "killed"), machines, killing)
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


def test_work_and_results_do_not_go_through_files(corpus: Path, tmp_path: Path) -> None:
    """Whoever may write in the folder of the table, or its parent, gives workers nothing to do."""
    paths: set[str] = set()

    class Looking(Killing):
        def note(self, text: str) -> None:
            paths.update(path.name for path in (tmp_path / "out").rglob("*"))
            super().note(text)

    analyze(make_plan(corpus, tmp_path / "out"), EngineChoice(jobs=2), Looking())
    chunks = {name for name in paths if re.fullmatch(r"chunk-\d{7}\.arrow", name)}
    assert len(chunks) == 20
    assert paths - chunks == {"work", WORK_MARKER, LOCK}
