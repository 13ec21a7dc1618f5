"""Where the work is done: processes of this machine, or a Dask cluster; the same to the work.

Both offer :class:`concurrent.futures.Executor`, and :func:`run` is written against that.
"""

import asyncio
import logging
import pickle
import re
import warnings
from collections.abc import Callable, Generator, Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import Any, ParamSpec, TypeVar

from sentprobe.errors import SentprobeError, UsageError, first_line
from sentprobe.extras import load
from sentprobe.processes import check_jobs, cores, workers
from sentprobe.versions import own_version

log = logging.getLogger(__name__)

Given = TypeVar("Given")
Value = TypeVar("Value")
Some = ParamSpec("Some")

MAX_KILLS = 3
"""So many workers may be killed at one task."""

CONNECT_SECONDS = 10
"""So long a scheduler may take to take us on."""

KNOCK_SECONDS = 4
"""So long it may take to answer at all."""

ADDRESS = re.compile(r"(?:tcp://)?([\w.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")


class EngineName(StrEnum):
    """The engines."""

    LOCAL = "local"
    DASK = "dask"


class EngineError(SentprobeError):
    """The workers cannot be reached, or are killed again and again."""


class Here(futures.Executor):
    """Does the work at once, in this process."""

    def submit(
        self, fn: Callable[Some, Value], /, *args: Some.args, **kwargs: Some.kwargs
    ) -> "futures.Future[Value]":
        """Do it, and return a future that is done."""
        future: futures.Future[Value] = futures.Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """Where the work is done.

    Raises:
        UsageError: a scheduler without Dask or Dask without a scheduler, or its address is none; no
            such number of jobs.
    """

    engine: EngineName = EngineName.LOCAL
    jobs: int = field(default_factory=cores)
    scheduler: str | None = None
    """The address of a Dask cluster."""

    def __post_init__(self) -> None:
        check_jobs(self.jobs)
        if (self.engine is EngineName.DASK) != (self.scheduler is not None):
            raise UsageError("--engine dask and --scheduler tcp://HOST:PORT go together")
        if self.scheduler is not None and not ADDRESS.fullmatch(self.scheduler):
            raise UsageError(f"--scheduler tcp://HOST:PORT is wanted, not {self.scheduler!r}")


def _same(value: Value) -> Value:
    return value


@dataclass(frozen=True, slots=True)
class Engine:
    """An executor, and how many pieces of work may wait in it."""

    pool: futures.Executor
    ahead: int
    share: Callable[[Any], Any] = _same
    """Puts a value that much work is about where all workers find it, and returns what stands for
    it among the arguments of the work."""

    @property
    def is_here(self) -> bool:
        """Whether all is done in this process."""
        return isinstance(self.pool, Here)


ALONE = Engine(Here(), ahead=1)
"""The engine that does all in this process."""


@contextmanager
def make_engine(machines: Machines) -> Iterator[Engine]:
    """Give the engine: processes here, or the workers of a Dask cluster.

    Raises:
        EngineError: Dask is not installed, or the scheduler does not answer.
    """
    scheduler = machines.scheduler
    with _local(machines.jobs) if scheduler is None else _dask(scheduler) as engine:
        yield engine


@contextmanager
def _local(jobs: int) -> Iterator[Engine]:
    with workers(jobs) as pool:
        yield ALONE if pool is None else Engine(pool, ahead=2 * jobs)


@contextmanager
def _dask(scheduler: str) -> Iterator[Engine]:
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise EngineError("--engine dask needs the extra: pip install 'sentprobe[dask]'") from error
    try:
        asyncio.run(_knock(scheduler))
    except Exception as error:  # what another kind of server says may be anything to Dask
        why = first_line(error)
        raise EngineError(f"no Dask scheduler answers at {scheduler}: {why}") from error
    try:
        connect: Any = Client
        client = connect(scheduler, set_as_default=False, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        raise EngineError(f"no Dask scheduler answers at {scheduler}: {error}") from error
    with client:
        pool = client.get_executor(pure=False)
        try:
            ahead = 2 * max(4, sum(client.nthreads().values()))
            yield Engine(pool, ahead, share=partial(_share, client))
        finally:
            pool.shutdown(wait=False)


def _share(client: Any, value: object) -> object:
    """Give a value to the cluster once; a task is done again if its worker is gone, data is not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that it is large
        return client.submit(_same, value, pure=False)


async def _knock(scheduler: str) -> None:
    """See whether anybody that speaks as Dask does is there; a client would try for much longer."""
    comm: Any = load("distributed").comm
    trying = comm.connect(scheduler, timeout=KNOCK_SECONDS)
    answer = await asyncio.wait_for(trying, KNOCK_SECONDS)
    answer.abort()


KEPT = "what was done is kept, and the same command goes on"
"""What a message says where each piece of work is kept as it comes."""


def run(
    work: Callable[..., Value],
    tasks: Iterator[Given],
    engine: Engine,
    *,
    shared: tuple[object, ...] = (),
    kept: str = KEPT,
) -> Generator[tuple[Given, Value], None, None]:
    """Do *work* on each task and yield the task with the value, in the order in which they end.

    Tasks are taken as they are needed, and may be added to as long as any is being done. When a
    worker is killed, what it had is done again, by an executor that replaces such workers, as ours
    and Dask's do.

    - shared: what the engine shares, and *work* gets after the task
    - kept: what an error says of what was done

    Raises:
        EngineError: workers are killed again and again, or the cluster is gone.
    """
    waiting: dict[futures.Future[Value], tuple[Given, int]] = {}
    while True:
        for task in islice(tasks, engine.ahead - len(waiting)):
            waiting[engine.pool.submit(work, task, *shared)] = task, 0
        if not waiting:
            return
        done, _ = futures.wait(waiting, return_when=futures.FIRST_COMPLETED)
        for future in done:
            task, kills = waiting.pop(future)
            try:
                value = _result(future, kept, cluster=engine.share is not _same)
            except futures.BrokenExecutor:
                _check_kills(kills + 1, kept)
                waiting[engine.pool.submit(work, task, *shared)] = task, kills + 1
            else:
                yield task, value


def _check_kills(kills: int, kept: str) -> None:
    """Refuse to go on with a task at which so many workers were killed."""
    if kills == MAX_KILLS:
        raise EngineError(
            f"worker processes were killed {kills} times in a row at the same work (out of "
            f"memory?): fewer --jobs need less; {kept}"
        ) from None
    log.warning("a worker process was killed; its work is done again")


_ANOTHER_VERSION = (ImportError, AttributeError, pickle.UnpicklingError)
"""What is raised where work is sent to a process that has not the same code."""


def _result(future: "futures.Future[Value]", kept: str, *, cluster: bool) -> Value:
    try:
        return future.result()
    except (SentprobeError, futures.BrokenExecutor):
        raise
    except futures.CancelledError:
        raise EngineError(f"the Dask scheduler gave up the work; {kept}") from None
    except Exception as error:
        if type(error).__module__.startswith("distributed"):
            message = " ".join(str(error).split())
            raise EngineError(f"the Dask cluster could not do the work: {message}") from error
        if cluster and isinstance(error, _ANOTHER_VERSION):
            raise EngineError(
                f"a process of the Dask cluster cannot read the work ({first_line(error)}); the "
                f"scheduler and all workers need sentprobe {own_version()}, as here; {kept}"
            ) from error
        raise


def check_version(found: str) -> None:
    """Refuse what a worker with another version of sentprobe made.

    Raises:
        EngineError: its version is *found*, and this process has another.
    """
    if found != own_version():
        raise EngineError(
            f"a worker has sentprobe {found} and this process {own_version()}; "
            "they must be the same"
        )
