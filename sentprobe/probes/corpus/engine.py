"""Where the work is done: processes of this machine, or a Dask cluster; the same to the work.

A process that is killed while it writes a long message leaves a pool of processes waiting for the
rest of it forever. A name fits into one write, which is whole or not there.

Both offer :class:`concurrent.futures.Executor`, and :func:`run` is written against that.
"""

import logging
import pickle
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import AbstractContextManager, contextmanager
from enum import StrEnum
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Generic, ParamSpec, TypeVar

from sentprobe.errors import SentprobeError, UsageError, path_error
from sentprobe.processes import interrupts_held_back, workers

Value = TypeVar("Value")
Some = ParamSpec("Some")


class ThroughFiles(Executor):
    """Does its work in *pool*, processes that see the same files; *folder* is for ours alone.

    The files are pickles, as in the pipes that they stand in for; they are in a new folder that no
    other user may write to, and nothing that was there before is read.
    """

    def __init__(self, pool: Executor, folder: Path) -> None:
        self._pool = pool
        try:
            self._folder = Path(mkdtemp(dir=folder, prefix="pipe-"))
        except OSError as error:
            raise path_error(folder, "cannot write there", error) from error
        self._count = 0

    def submit(
        self, fn: Callable[Some, Value], /, *args: Some.args, **kwargs: Some.kwargs
    ) -> "Future[Value]":
        """Write the work to a file and have it done."""
        self._count += 1
        path = self._folder / str(self._count)
        _write(path, partial(fn, *args, **kwargs))
        outer: Future[Value] = Future()
        inner = self._pool.submit(_do, str(path))
        inner.add_done_callback(partial(_pass_on, path, outer))
        return outer


def _do(name: str) -> None:
    """Do the work that is in a file, and put the result in its place."""
    path = Path(name)
    result = pickle.loads(path.read_bytes())()
    _write(path, result)


def _write(path: Path, value: object) -> None:
    try:
        path.write_bytes(pickle.dumps(value))
    except OSError as error:
        raise SentprobeError(f"{path}: cannot write it: {error.strerror}") from error


def _pass_on(path: Path, outer: "Future[Value]", inner: "Future[None]") -> None:
    try:
        inner.result()
        outer.set_result(pickle.loads(path.read_bytes()))
    except BaseException as error:
        outer.set_exception(error)
    finally:
        path.unlink(missing_ok=True)


log = logging.getLogger(__name__)

Task = TypeVar("Task")


MAX_BREAKS = 3
"""So many times in a row workers may be killed before anything is done."""


CONNECT_SECONDS = 10
"""So long a scheduler may take to answer."""


class EngineName(StrEnum):
    """The engines."""

    LOCAL = "local"
    DASK = "dask"


class EngineError(SentprobeError):
    """The workers cannot be reached, or are killed again and again."""


class Here(Executor):
    """Does the work at once, in this process."""

    def submit(
        self, fn: Callable[Some, Value], /, *args: Some.args, **kwargs: Some.kwargs
    ) -> "Future[Value]":
        """Do it, and return a future that is done."""
        future: Future[Value] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Engine:
    """Opens executors. *ahead* is how many pieces of work may wait in one."""

    def __init__(self, open_: Callable[[], AbstractContextManager[Executor]], ahead: int) -> None:
        self.open = open_
        self.ahead = ahead


@contextmanager
def make_engine(
    name: EngineName, *, jobs: int, scheduler: str | None, scratch: Path
) -> Iterator[Engine]:
    """Give the engine: *jobs* processes here, or the workers of the Dask *scheduler*.

    *scratch* is a folder for the processes here; it need not be there before they are opened.

    Raises:
        UsageError: a scheduler without Dask or Dask without a scheduler; no such number of jobs.
        EngineError: Dask is not installed, or the scheduler does not answer.
    """
    if (name is EngineName.DASK) != (scheduler is not None):
        raise UsageError("--engine dask and --scheduler tcp://HOST:PORT go together")
    if scheduler is None:
        yield Engine(lambda: _local(jobs, scratch), ahead=1 if jobs == 1 else 2 * jobs)
        return
    with _dask(scheduler) as engine:
        yield engine


@contextmanager
def _local(jobs: int, scratch: Path) -> Iterator[Executor]:
    with workers(jobs) as pool:
        yield Here() if pool is None else ThroughFiles(pool, scratch)


@contextmanager
def _dask(scheduler: str) -> Iterator[Engine]:
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise EngineError("--engine dask needs the extra: pip install 'sentprobe[dask]'") from error
    try:
        connect: Any = Client
        client = connect(scheduler, set_as_default=False, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        raise EngineError(f"no Dask scheduler answers at {scheduler}: {error}") from error

    @contextmanager
    def executor() -> Iterator[Executor]:
        pool = client.get_executor(pure=False)
        try:
            yield pool
        finally:
            pool.shutdown(wait=False)

    with client:
        yield Engine(executor, ahead=2 * max(4, sum(client.nthreads().values())))


def run(
    work: Callable[[Task], Value], tasks: Iterator[Task], engine: Engine
) -> Generator[tuple[Task, Value], None, None]:
    """Do *work* on each task and yield the task with the value, in the order in which they end.

    Tasks are taken as they are needed. When a worker is killed, what it had is done again.

    Raises:
        EngineError: workers are killed again and again, or the cluster is gone.
    """
    left = _Left(tasks)
    breaks = 0
    while left.more():
        try:
            with engine.open() as pool:
                for done in _run(work, left, pool, engine.ahead):
                    breaks = 0
                    yield done
        except BrokenExecutor:
            breaks += 1
            if breaks == MAX_BREAKS:
                raise EngineError(
                    f"worker processes were killed {breaks} times in a row (out of memory?); "
                    "what was done is kept: fewer --jobs need less, and the same command goes on"
                ) from None
            log.warning("a worker process was killed; its work is done again")


class _Left(Generic[Task]):
    """The tasks that are not done: those in hand, and those not yet taken."""

    def __init__(self, tasks: Iterator[Task]) -> None:
        self.tasks = tasks
        self.again: list[Task] = []

    def more(self) -> bool:
        """Say whether there is a task; the first is then the first of *again*."""
        if not self.again:
            self.again = list(islice(self.tasks, 1))
        return bool(self.again)


def _run(
    work: Callable[[Task], Value], left: _Left[Task], pool: Executor, ahead: int
) -> Iterator[tuple[Task, Value]]:
    waiting: dict[Future[Value], Task] = {}
    try:
        while True:
            _fill(waiting, work, left, pool, ahead)
            if not waiting:
                return
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                value = _result(future)
                yield waiting.pop(future), value
    finally:
        left.again[:0] = waiting.values()


def _fill(
    waiting: "dict[Future[Value], Task]",
    work: Callable[[Task], Value],
    left: _Left[Task],
    pool: Executor,
    ahead: int,
) -> None:
    """Submit tasks until so many are waiting; one that is refused is left."""
    while len(waiting) < ahead and left.more():
        future = _submit(pool, work, left.again[0])
        waiting[future] = left.again.pop(0)


def _submit(pool: Executor, work: Callable[[Task], Value], task: Task) -> "Future[Value]":
    with interrupts_held_back():
        return pool.submit(work, task)


def _result(future: "Future[Value]") -> Value:
    try:
        return future.result()
    except (SentprobeError, BrokenExecutor):
        raise
    except CancelledError:
        raise EngineError(
            "the Dask scheduler gave up the work; what was done is kept, and the same command "
            "goes on"
        ) from None
    except Exception as error:
        if type(error).__module__.startswith("distributed"):
            message = " ".join(str(error).split())
            raise EngineError(f"the Dask cluster could not do the work: {message}") from error
        raise
