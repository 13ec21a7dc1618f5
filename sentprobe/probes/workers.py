"""Processes to train in, which end when the work does, or is interrupted."""

import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from sentprobe.errors import UsageError


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
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    try:
        yield pool
    except BaseException:
        for process in set(active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def check_jobs(jobs: int) -> None:
    """Refuse a number of processes that is not positive."""
    if jobs < 1:
        raise UsageError(f"the number of jobs must be positive, not {jobs}")


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
