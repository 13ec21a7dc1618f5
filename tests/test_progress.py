"""Bars: what they show of work of known and of unknown size."""

import io

from rich.console import Console
from rich.progress import Progress

from sentprobe.progress import Bars, columns


def drawn(total: int, done: int) -> Progress:
    progress = Progress(*columns(), console=Console(file=io.StringIO(), width=80))
    bars = Bars(progress)
    bars.begin("read", total)
    bars.advance(done)
    return progress


def test_work_of_unknown_size_is_not_finished_at_once() -> None:
    (task,) = drawn(0, 3).tasks
    assert (task.total, task.completed, task.finished) == (None, 3, False)


def test_work_of_known_size() -> None:
    (task,) = drawn(3, 3).tasks
    assert (task.total, task.finished) == (3, True)
