"""Engines that run work in parallel: local processes or a Dask cluster, each as a ``concurrent.futures.Executor``."""

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

from sentprobe.common.errors import (
    SentprobeError,
    UsageError,
    first_line,
    format_install,
    get_own_version,
    import_module_of_extra,
)
from sentprobe.common.processes import check_count, count_cores, make_workers

log = logging.getLogger(__name__)
TaskT = TypeVar("TaskT")
ValueT = TypeVar("ValueT")
Params = ParamSpec("Params")

MAX_KILLS = 3
"""The run fails if worker processes are killed at the same task this number of times in a row."""

CONNECT_SECONDS = 10  # timeout for a client to connect to the scheduler
ANSWER_SECONDS = 4  # timeout for the scheduler to answer at all
ADDRESS = re.compile(r"(?:tcp://)?([\w.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")


class EngineName(StrEnum):
    """Names of the engines."""

    LOCAL = "local"
    DASK = "dask"


class EngineError(SentprobeError):
    """The workers cannot be reached, or are killed repeatedly."""


class InlineExecutor(futures.Executor):
    """An executor that calls each submitted function at once, in this process."""

    def submit(
        self, fn: Callable[Params, ValueT], /, *args: Params.args, **kwargs: Params.kwargs
    ) -> "futures.Future[ValueT]":
        """Call the function, and return a finished future."""
        future: futures.Future[ValueT] = futures.Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """The engine, its number of processes, and the address of a Dask scheduler.

    Raises UsageError for a malformed address, an address without the engine ``dask``, or ``dask`` without an address.
    """

    engine: EngineName = EngineName.LOCAL
    jobs: int = field(default_factory=count_cores)
    scheduler: str | None = None
    runs_small_work_inline: bool = False
    """Whether a small amount of work is done in this process, because workers take seconds to start."""

    def __post_init__(self) -> None:
        check_count("jobs", self.jobs)
        if (self.engine is EngineName.DASK) != (self.scheduler is not None):
            raise UsageError("--engine dask and --scheduler tcp://HOST:PORT need each other")
        if self.scheduler is not None and not ADDRESS.fullmatch(self.scheduler):
            raise UsageError(f"--scheduler tcp://HOST:PORT is expected, not {self.scheduler!r}")


def _return_unchanged(value: ValueT) -> ValueT:
    return value


@dataclass(frozen=True, slots=True)
class Engine:
    """An executor, the maximum number of its unfinished tasks, and its number of worker processes."""

    pool: futures.Executor
    max_waiting: int
    share: Callable[[Any], Any] = _return_unchanged
    """Function that sends a value to the workers once; its result (on Dask, a future) is passed to tasks instead."""
    workers: int = 1

    @property
    def is_inline(self) -> bool:
        """Whether all work is done in this process."""
        return isinstance(self.pool, InlineExecutor)


INLINE_ENGINE = Engine(InlineExecutor(), max_waiting=1)


@contextmanager
def make_engine(machines: EngineChoice) -> Iterator[Engine]:
    """Start the chosen engine, or connect to a Dask cluster, for the ``with`` block."""
    if machines.scheduler is None:
        with make_workers(machines.jobs) as pool:
            yield INLINE_ENGINE if pool is None else Engine(pool, max_waiting=2 * machines.jobs)
    else:
        with _make_dask_engine(machines.scheduler) as engine:
            yield engine


@contextmanager
def _make_dask_engine(scheduler: str) -> Iterator[Engine]:
    try:
        from distributed import Client
    except ImportError as error:
        raise EngineError(f"--engine dask needs the extra: {format_install('dask')}") from error
    try:
        asyncio.run(_check_scheduler(scheduler))
    except Exception as error:  # another kind of server may answer anything
        raise EngineError(f"no Dask scheduler answers at {scheduler}: {first_line(error)}") from error
    try:
        connect: Any = Client
        client = connect(scheduler, set_as_default=False, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        raise EngineError(f"no Dask scheduler answers at {scheduler}: {first_line(error)}") from error
    with client:
        pool = client.get_executor(pure=False)
        try:
            threads = client.nthreads()
            # Twice as many tasks as threads, so that none waits while its next task is sent.
            max_waiting = 2 * max(4, sum(threads.values()))
            yield Engine(pool, max_waiting, share=partial(_share_with_cluster, client), workers=len(threads))
        finally:
            pool.shutdown(wait=False)


def _share_with_cluster(client: Any, value: object) -> object:
    """Return a Dask future of *value* that survives the loss of a worker; data sent with ``scatter`` would be lost."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about the size of the value
        return client.submit(_return_unchanged, value, pure=False)


async def _check_scheduler(scheduler: str) -> None:
    """Raise an exception if no server answers within ANSWER_SECONDS; a Dask client would try for much longer."""
    comm: Any = import_module_of_extra("distributed").comm
    answer = await asyncio.wait_for(comm.connect(scheduler, timeout=ANSWER_SECONDS), ANSWER_SECONDS)
    answer.abort()


KEPT_MESSAGE = "finished work is saved, and the same command continues"
"""End of the error messages of commands that save each result as soon as it is finished."""


def run_tasks_on_engine(
    work: Callable[..., ValueT],
    tasks: Iterator[TaskT],
    engine: Engine,
    *,
    shared: tuple[object, ...] = (),
    kept_message: str = KEPT_MESSAGE,
) -> Generator[tuple[TaskT, ValueT], None, None]:
    """Call *work* with each task, and yield pairs of a task and its result in the order of completion.

    The next task is requested from the iterator when a worker becomes free, so the iterator may use earlier results.
    If a worker is killed, the executor replaces it, and the task is repeated. Raises EngineError if workers are killed
    repeatedly, or if the cluster is lost.

    - shared: arguments that are sent to the workers once and passed to *work* after the task
    - kept_message: end of an error message, which says what happens to finished work
    """
    waiting: dict[futures.Future[ValueT], tuple[TaskT, int]] = {}
    while True:
        for task in islice(tasks, engine.max_waiting - len(waiting)):
            waiting[engine.pool.submit(work, task, *shared)] = task, 0
        if not waiting:
            return
        done, _ = futures.wait(waiting, return_when=futures.FIRST_COMPLETED)
        for future in done:
            task, kills = waiting.pop(future)
            try:
                value = _read_result(future, kept_message, cluster=engine.share is not _return_unchanged)
            except futures.BrokenExecutor:
                if kills + 1 == MAX_KILLS:
                    raise EngineError(
                        f"worker processes were killed {MAX_KILLS} times in a row at the same work (out of "
                        f"memory?): fewer --jobs need less memory; {kept_message}"
                    ) from None
                log.warning("a worker process was killed; its work is repeated")
                waiting[engine.pool.submit(work, task, *shared)] = task, kills + 1
            else:
                yield task, value


def call_work(item: tuple[object, Callable[[], ValueT]]) -> ValueT:
    """Call the function of a pair of a key and a function; a worker process can import this one."""
    return item[1]()


_VERSION_ERRORS = (ImportError, AttributeError, pickle.UnpicklingError)
"""Exceptions that a worker raises if its version of the code differs from the version in this process."""


def _read_result(future: "futures.Future[ValueT]", kept_message: str, *, cluster: bool) -> ValueT:
    try:
        return future.result()
    except (SentprobeError, futures.BrokenExecutor):
        raise
    except futures.CancelledError:
        raise EngineError(f"the Dask scheduler cancelled the work; {kept_message}") from None
    except Exception as error:
        if type(error).__module__.startswith("distributed"):
            message = " ".join(str(error).split())
            raise EngineError(f"the Dask cluster could not do the work: {message}") from error
        if cluster and isinstance(error, _VERSION_ERRORS):
            raise EngineError(
                f"a process of the Dask cluster cannot read the work ({first_line(error)}); the scheduler and all "
                f"workers need sentprobe {get_own_version()}, as here; {kept_message}"
            ) from error
        raise


def check_version(worker_version: str) -> None:
    """Raise EngineError if a worker has another version of sentprobe."""
    if worker_version != get_own_version():
        raise EngineError(
            f"a worker has sentprobe {worker_version} and this process {get_own_version()}; they must be the same"
        )
