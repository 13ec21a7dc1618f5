"""Worker processes, which end when their parent process ends, and the numbers of processes and threads."""

import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple, ParamSpec, TypeVar

from sentprobe.common.errors import UsageError, check_whole, import_module_of_extra

MAX_COUNT = 1_000_000
"""Largest sensible number of seeds, draws, threads or processes."""


def check_count(what: str, count: int | None) -> None:
    """Raise UsageError for a count below 1 or above MAX_COUNT, and ArgumentTypeError if it is not a whole number.

    None is accepted. *what* names the counted things in messages, such as "threads".
    """
    check_whole(f"the number of {what}", count)
    if count is not None and count < 1:
        raise UsageError(f"the number of {what} must be positive, not {count}")
    if count is not None and count > MAX_COUNT:
        raise UsageError(f"the number of {what} must be at most {MAX_COUNT:,}, not {count}")


def find_memory_size() -> int | None:
    """Return the memory of this machine in bytes, or None if the system does not report it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return None


@contextmanager
def limit_threads(count: int | None) -> Iterator[None]:
    """Limit PyTorch and BLAS to *count* threads in the ``with`` block; None leaves them unchanged."""
    if count is None:
        yield
        return
    from threadpoolctl import threadpool_limits

    torch = import_module_of_extra("torch")
    previous_threads = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        with threadpool_limits(limits=count, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(previous_threads)


ValueT = TypeVar("ValueT")
Params = ParamSpec("Params")


def call_in_time(function: Callable[[], ValueT], seconds: float) -> ValueT:
    """Return the result of a function, called in a thread; after *seconds*, raise TimeoutError (the thread goes on)."""
    outcome: Future[ValueT] = Future()

    def call_function() -> None:
        try:
            outcome.set_result(function())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=call_function, daemon=True).start()
    return outcome.result(seconds)


@contextmanager
def make_workers(jobs: int) -> Iterator[Executor | None]:
    """Provide a pool of *jobs* processes, or None if *jobs* is 1; an error in the ``with`` block stops them at once."""
    check_count("jobs", jobs)
    if jobs == 1:
        yield None
        return
    pool = ProcessExecutor(jobs)
    try:
        yield pool
        pool.shutdown()
    finally:
        pool.shutdown(cancel_futures=True)


SIGNAL_EXIT_CODES = (129, 143)
"""Exit codes after SIGHUP and SIGTERM."""


def is_stop_request(error: BaseException) -> bool:
    """Return whether an exception comes from SIGHUP or SIGTERM, and not from ``sys.exit`` in a user's code."""
    return isinstance(error, SystemExit) and error.code in SIGNAL_EXIT_CODES


def repeat_signal(number: int) -> None:
    """Send a signal to the main thread again, after a moment: its exception was lost in a destructor."""
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):  # not on Windows
        timer = threading.Timer(_SECONDS_BEFORE_REPEAT, signal.pthread_kill, [main, number])
        timer.daemon = True
        with suppress(RuntimeError):  # Python is about to exit
            timer.start()


_SECONDS_BEFORE_REPEAT = 0.05


STOP_SECONDS = 60.0
"""Seconds between SIGTERM, after which a worker process may save its work, and SIGKILL."""


class ProcessExecutor(Executor):
    """An executor of several processes, each with its own pipe to this process.

    With a shared pipe, a process that is killed while it writes a long result blocks all other processes. Here, only
    the pipe of the killed process closes: its task fails with BrokenProcessPool, and a new process replaces it.
    """

    def __init__(self, jobs: int) -> None:
        with _without_working_directory():
            resource_tracker.ensure_running()  # started here, since it resets the signal mask of the starting thread
        self._threads = ThreadPoolExecutor(jobs, initializer=_ignore_interrupts)
        self._lock = threading.Lock()
        self._stopped = False
        self._running: set[_Worker] = set()
        self._idle: list[_Worker] = []

    def submit(self, fn: Callable[Params, ValueT], /, *args: Params.args, **kwargs: Params.kwargs) -> "Future[ValueT]":
        """Call the function in an idle or a new process; return the future of its result."""
        return self._threads.submit(self._run_work, partial(fn, *args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002
        """End the processes when the submitted work is done, or terminate them at once if *cancel_futures* is true.

        Terminated processes have STOP_SECONDS to save their work; Ctrl-C meanwhile kills them.
        """
        try:
            if cancel_futures:
                self._terminate_workers()
            self._threads.shutdown(wait, cancel_futures=cancel_futures)
            for worker in self._idle:
                worker.pipe.close()
            # Up to Python 3.12, a signal during the join marks a running thread as finished.
            for worker in tuple(self._running):
                worker.process.join()
        except KeyboardInterrupt:
            if cancel_futures:
                with self._lock:
                    for worker in self._running:
                        worker.process.kill()
            raise
        except SystemExit:  # a closed terminal may send the signal twice
            if cancel_futures:
                self.shutdown(wait, cancel_futures=True)
            raise

    def _terminate_workers(self) -> None:
        """Terminate the processes; kill those that are still alive after STOP_SECONDS."""
        with self._lock:
            self._stopped = True
            for worker in self._running:
                worker.process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for worker in tuple(self._running):
            worker.process.join(max(0.0, deadline - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()

    def _run_work(self, work: Callable[[], ValueT]) -> ValueT:
        message = pickle.dumps(work)
        worker = self._take_worker()
        try:
            worker.pipe.send_bytes(message)
            message = worker.pipe.recv_bytes()
        except (EOFError, OSError):
            with self._lock:
                self._running.remove(worker)
            worker.pipe.close()
            worker.process.kill()
            worker.process.join()
            raise BrokenProcessPool("a worker process was killed") from None
        self._idle.append(worker)
        value: ValueT
        value, error = pickle.loads(message)
        if error is not None:
            raise error
        return value

    def _take_worker(self) -> "_Worker":
        with self._lock:
            if self._stopped:
                raise BrokenProcessPool("the work was stopped")
            while self._idle:
                worker = self._idle.pop()
                if worker.process.is_alive():
                    return worker
                self._running.remove(worker)  # killed while idle
                worker.pipe.close()
            worker = _start_worker()
            self._running.add(worker)
            return worker


class _Worker(NamedTuple):
    """A worker process, and the parent's end of its pipe."""

    process: SpawnProcess
    pipe: "Connection[Any, Any]"


def _start_worker() -> _Worker:
    context = get_context("spawn")
    parent_end, child_end = context.Pipe()
    with child_end:  # closed here, so that the pipe closes when the process ends
        process = context.Process(target=_serve_work, args=(child_end,))
        with _without_working_directory():
            process.start()
    return _Worker(process, parent_end)


@contextmanager
def _without_working_directory() -> Iterator[None]:
    """Let no process that is started import from the working directory, which may be a stranger's, before its work."""
    with _environment:
        before = os.environ.get("PYTHONSAFEPATH", "")
        os.environ["PYTHONSAFEPATH"] = "1"
        try:
            yield
        finally:
            os.environ["PYTHONSAFEPATH"] = before  # "" is as if it were not set


_environment = threading.Lock()


def _ignore_interrupts() -> None:
    """Block Ctrl-C and hang-up signals in this thread and the worker processes that it starts."""
    # A terminal sends these signals to all processes at once, and the parent alone decides how workers end.
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})


def _serve_work(pipe: "Connection[Any, Any]") -> None:
    """Call each function that arrives through the pipe and send its result back, until the pipe closes."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            message = pipe.recv_bytes()
        except EOFError:
            return
        pipe.send_bytes(_compute_answer(message))


def _compute_answer(message: bytes) -> bytes:
    """Call the function pickled in *message*; return the pair (result, None) or (None, error), pickled."""
    try:
        return pickle.dumps((pickle.loads(message)(), None))
    except SystemExit:  # a signal ended this process; its pipe closes
        raise
    except BaseException as error:
        return pickle.dumps((None, to_sendable_error(error)))


def to_sendable_error(error: BaseException) -> BaseException:
    """Return *error* with its traceback as a note; if it cannot be pickled, a RuntimeError with the traceback."""
    text = "".join(traceback.format_exception(error))
    error.add_note(text)
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # its class may raise anything
        return RuntimeError(text)
    return error


def _end_with_parent() -> None:
    """Wait until the parent process has ended, and then end this process."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def choose_jobs(threads: int | None) -> int:
    """Return how many processes can run at a time if each uses *threads* cores (None: one core); at least 1."""
    return max(1, count_cores() // max(1, threads or 1))


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
