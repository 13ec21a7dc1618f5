"""Processes and threads: how many, and processes that end with their work, however it ends."""

import os
import pickle
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple, ParamSpec, TypeVar

from sentprobe.errors import SentprobeError, UsageError, check_whole
from sentprobe.extras import load

MOST = 1_000_000
"""The largest number of seeds, draws, threads or processes that anybody can mean."""


def check_count(what: str, count: int | None) -> None:
    """Refuse a number that is not positive; None is no number.

    Raises:
        UsageError: it is not.
        GivenError: it is not a whole number.
    """
    check_whole(f"the number of {what}", count)
    if count is not None and count < 1:
        raise UsageError(f"the number of {what} must be positive, not {count}")
    if count is not None and count > MOST:
        raise UsageError(f"the number of {what} must be at most {MOST:,}, not {count}")


@contextmanager
def limit_threads(count: int | None) -> Iterator[None]:
    """Have PyTorch and BLAS use so many threads until the end; None leaves them as they are."""
    if count is None:
        yield
        return
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - slow

    torch = load("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        with threadpool_limits(limits=count, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(before)


Given = TypeVar("Given")
Value = TypeVar("Value")
Some = ParamSpec("Some")


@contextmanager
def workers(jobs: int) -> Iterator[Executor | None]:
    """Give a pool of processes, or None where one process is to do all.

    When the work fails or is interrupted, what they are doing is stopped at once.
    """
    check_jobs(jobs)
    if jobs == 1:
        yield None
        return
    pool = Processes(jobs)
    try:
        yield pool
        pool.shutdown()
    finally:
        pool.shutdown(cancel_futures=True)


def in_order(
    work: Callable[[Given], Value], tasks: Iterable[Given], *, pool: Executor, ahead: int
) -> Iterator[Value]:
    """Do *work* on each task in the pool, and yield what it gives in the order of the tasks.

    No more than *ahead* of them are begun, or done and not yet taken.
    """
    waiting: deque[Future[Value]] = deque()
    try:
        for task in tasks:
            if len(waiting) == ahead:
                yield waiting.popleft().result()
            waiting.append(pool.submit(work, task))
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise SentprobeError(
            "a worker process was killed (out of memory?); fewer --jobs need less"
        ) from None


class Processes(Executor):
    """Does work in so many processes, each at a pipe of its own.

    Where processes share a pipe, one that is killed while it writes a long result leaves all others
    waiting forever. Here its pipe ends: what it had in hand fails with
    :class:`~concurrent.futures.process.BrokenProcessPool`, and another process takes its place.
    """

    def __init__(self, jobs: int) -> None:
        self._threads = ThreadPoolExecutor(jobs, initializer=_ignore_interrupts)
        self._lock = threading.Lock()
        self._stopped = False
        self._running: set[_Worker] = set()
        self._idle: list[_Worker] = []

    def submit(
        self, fn: Callable[Some, Value], /, *args: Some.args, **kwargs: Some.kwargs
    ) -> "Future[Value]":
        """Have it done by a process that is idle, or by one that is started for it."""
        return self._threads.submit(self._do, partial(fn, *args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002
        """End the processes when the work is done; if it is cancelled, at once.

        Those that are cancelled may still keep what they have; Ctrl-C once more does not wait.
        """
        try:
            if cancel_futures:
                self._terminate()
            self._threads.shutdown(wait, cancel_futures=cancel_futures)
            self._join()
        except KeyboardInterrupt:
            if cancel_futures:
                self._kill()
            raise
        except SystemExit:  # a terminal that is closed may say so twice
            if cancel_futures:
                self.shutdown(wait, cancel_futures=True)
            raise

    def _join(self) -> None:
        for worker in self._idle:
            worker.pipe.close()
        # A thread that was waited for when a signal came passes for over: Python up to 3.12.
        for worker in tuple(self._running):
            worker.process.join()

    def _terminate(self) -> None:
        with self._lock:
            self._stopped = True
            for worker in self._running:
                worker.process.terminate()

    def _kill(self) -> None:
        with self._lock:
            for worker in self._running:
                worker.process.kill()

    def _do(self, work: Callable[[], Value]) -> Value:
        message = pickle.dumps(work)
        worker = self._take()
        try:
            worker.pipe.send_bytes(message)
            message = worker.pipe.recv_bytes()
        except (EOFError, OSError):
            self._drop(worker)
            raise BrokenProcessPool("a worker process was killed") from None
        self._idle.append(worker)
        value: Value
        value, error = pickle.loads(message)
        if error is not None:
            raise error
        return value

    def _take(self) -> "_Worker":
        with self._lock:
            if self._stopped:
                raise BrokenProcessPool("the work was stopped")
            while self._idle:
                worker = self._idle.pop()
                if worker.process.is_alive():
                    return worker
                self._running.remove(worker)  # it was killed when it had nothing to do
                worker.pipe.close()
            worker = _start()
            self._running.add(worker)
            return worker

    def _drop(self, worker: "_Worker") -> None:
        with self._lock:
            self._running.remove(worker)
        worker.pipe.close()
        worker.process.kill()
        worker.process.join()


class _Worker(NamedTuple):
    """A process, and our end of its pipe."""

    process: SpawnProcess
    pipe: "Connection[Any, Any]"


def _start() -> _Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    with theirs:  # once it is closed here, the pipe ends with the process
        process = context.Process(target=_serve, args=(theirs,))
        process.start()
    return _Worker(process, ours)


def _ignore_interrupts() -> None:
    """Let Ctrl-C and a closed terminal not exist for this thread and the processes that it starts.

    So they reach the process that started the others alone, and it ends them.
    """
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        resource_tracker.ensure_running()  # as it starts, it undoes the mask of the thread
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})


def _serve(pipe: "Connection[Any, Any]") -> None:
    """Do what comes through the pipe until it ends."""
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    while True:
        try:
            message = pipe.recv_bytes()
        except EOFError:
            return
        pipe.send_bytes(_answer(message))


def _answer(message: bytes) -> bytes:
    """Return what the work in *message* gives, or what it raises."""
    try:
        return pickle.dumps((pickle.loads(message)(), None))
    except SystemExit:  # a signal ended this process, which its pipe tells
        raise
    except BaseException as error:
        return pickle.dumps((None, _to_send(error)))


def _to_send(error: BaseException) -> BaseException:
    """Return the error with what happened as a note, or one that says so if it cannot be sent."""
    told = "".join(traceback.format_exception(error))
    error.add_note(told)
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever its class makes of it
        return RuntimeError(told)
    return error


def _end_with_the_parent() -> None:
    """End this process when the one that started it is gone, even if it was killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def check_jobs(jobs: int) -> None:
    """Refuse a number of processes that is not positive."""
    check_count("jobs", jobs)


def usual_jobs(threads: int | None) -> int:
    """Return how many processes of so many threads each the cores are enough for, but at least one.

    >>> usual_jobs(1) == usual_jobs(None) == cores()
    True
    """
    return max(1, cores() // max(1, threads or 1))


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
