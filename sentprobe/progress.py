"""What a command shows while it works and where its tables are drawn: bars, and the console."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, TaskID


class Reporter(Protocol):
    """Told when a step of a long piece of work begins, and when some of it is done."""

    def begin(self, step: str, total: int) -> None:
        """Begin a step of *total* units; the step before it is over."""

    def advance(self, amount: int = 1) -> None:
        """Report that *amount* more units are done."""

    def note(self, text: str) -> None:
        """Say something about the step, instead of what was said before."""


class Silent:
    """A reporter that says nothing."""

    def begin(self, step: str, total: int) -> None:
        """Say nothing."""

    def advance(self, amount: int = 1) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""


class Bars:
    """A reporter that draws a bar per step, each left standing when it is full."""

    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def begin(self, step: str, total: int) -> None:
        """Add a bar."""
        # Where nothing is known of the total, as of standard input, the bar only pulses.
        self._task = self._progress.add_task(step, total=total or None, note="")

    def advance(self, amount: int = 1) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.advance(self._task, amount)

    def note(self, text: str) -> None:
        """Write it beside the bar."""
        if self._task is not None:
            self._progress.update(self._task, note=text)


@contextmanager
def bars(*, show: bool = True, notes: bool = False) -> Iterator[Reporter]:
    """Give a reporter that draws bars on stderr or, unless *show*, one that says nothing.

    With *notes*, a bar shows the share that is done, what is noted and the time that is left,
    instead of how many units are done and the time that has passed.
    """
    if not show:
        yield Silent()
        return
    from rich.console import Console  # noqa: PLC0415 - slow import
    from rich.progress import Progress  # noqa: PLC0415 - slow import

    shown = columns_with_notes() if notes else columns()
    with Progress(*shown, console=Console(stderr=True)) as progress:
        yield Bars(progress)


def columns() -> "tuple[ProgressColumn, ...]":
    """Return the columns of a bar: what, bar, how many of how many, time."""
    from rich.progress import (  # noqa: PLC0415 - slow import
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    text = TextColumn("{task.description}")
    return text, BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn()


def columns_with_notes() -> "tuple[ProgressColumn, ...]":
    """Return the columns of a bar with notes: what, bar, percent, note, the time that is left."""
    from rich.progress import (  # noqa: PLC0415 - slow import
        BarColumn,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    text, note = TextColumn("{task.description}"), TextColumn("{task.fields[note]}")
    return text, BarColumn(bar_width=24), TaskProgressColumn(), note, TimeRemainingColumn()


def shorten(name: str, *, limit: int = 36) -> str:
    """Return the end of a long name, which says more than its beginning, so that a bar fits.

    >>> shorten("st:/home/models/minilm", limit=10)
    '…ls/minilm'
    """
    return name if len(name) <= limit else f"…{name[1 - limit :]}"


def console() -> "Console":
    """Return where tables are drawn: the terminal, or wide lines for a pipe or file.

    In a pipe too, lines are as wide as COLUMNS says.
    """
    from rich.console import Console  # noqa: PLC0415 - slow import

    known = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return Console() if known else Console(width=200)
