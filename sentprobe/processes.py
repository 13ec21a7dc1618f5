"""Processes and threads: how many, and processes that end with their work, however it ends."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from typing import TypeVar

from sentprobe.errors import SentprobeError, UsageError


def check_count(what: str, count: int | None) -> None:
    """Refuse a number that is not positive; None is no number.

    Raises:
        UsageError: it is not.
    """
    if count is not None and count < 1:
        raise UsageError(f"the number of {what} must be positive, not {count}")


@contextmanager
def limit_threads(count: int | None) -> Iterator[None]:
    """Have PyTorch and BLAS use so many threads until the end; None leaves them as they are."""
    import torch  # noqa: PLC0415 - slow
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        with threadpool_limits(limits=count, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(before)


Key = TypeVar("Key")
Value = TypeVar("Value")


@contextmanager
def workers(jobs: int) -> Iterator[Executor | None]:
    """Give a pool of processes, or None where one process is to do all.

    When the work fails or is interrupted, what they are doing is stopped at once.
    """
    check_jobs(jobs)
    if jobs == 1:
        yield None
        return
    others = set(active_children())
    pool = ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_end_with_the_parent
    )
    try:
        yield pool
    except BaseException:
        for process in set(active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def finished(
    work: Mapping[Key, Callable[[], Value]], *, pool: Executor | None
) -> Iterator[tuple[Key, Value]]:
    """Do each piece of work and yield it as it is done: in the pool, or here one after another."""
    if pool is None:
        for key, piece in work.items():
            yield key, piece()
        return
    with interrupts_held_back():
        keys = {pool.submit(piece): key for key, piece in work.items()}
    try:
        for done in as_completed(keys):
            yield keys[done], done.result()
    except BrokenProcessPool:
        raise SentprobeError(
            "a process that trained probes was killed (out of memory?); fewer --jobs need less"
        ) from None


def check_jobs(jobs: int) -> None:
    """Refuse a number of processes that is not positive."""
    if jobs < 1:
        raise UsageError(f"the number of jobs must be positive, not {jobs}")


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _end_with_the_parent() -> None:
    """End this process when the one that started it is gone, even if it was killed."""
    parent = parent_process()
    if parent is not None:

        def wait() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=wait, daemon=True).start()


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back until the end; for processes that start meanwhile it does not exist.

    So an interrupt reaches the process that started the others alone, and it ends them.
    """
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
