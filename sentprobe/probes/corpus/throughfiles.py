"""An executor whose work and results go through files, and only their names through its pipes.

A process that is killed while it writes a long message leaves a pool of processes waiting for the
rest of it forever. A name fits into one write, which is whole or not there.
"""

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import ParamSpec, TypeVar

from sentprobe.errors import SentprobeError, path_error

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
