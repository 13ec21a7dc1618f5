"""How a long piece of work tells how far it is."""

import sys
from typing import TYPE_CHECKING, Protocol

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

if TYPE_CHECKING:
    from rich.console import Console


class Reporter(Protocol):
    """Told when a step begins, and when some of it is done."""

    def begin(self, step: str, total: int) -> None:
        """Begin a step of *total* units; the step before it is over."""

    def advance(self, amount: int = 1) -> None:
        """Report that *amount* more units are done."""


class Silent:
    """A reporter that says nothing."""

    def begin(self, step: str, total: int) -> None:
        """Say nothing."""

    def advance(self, amount: int = 1) -> None:
        """Say nothing."""


class Bars:
    """A reporter that draws a bar per step, each left standing when it is full.

    ``with Progress(*columns()) as progress: run(..., reporter=Bars(progress))``
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def begin(self, step: str, total: int) -> None:
        """Add a bar."""
        self._task = self._progress.add_task(step, total=total)

    def advance(self, amount: int = 1) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.advance(self._task, amount)


def shorten(name: str, *, limit: int = 36) -> str:
    """Return the end of a long name, which says more than its beginning, so that a bar fits.

    >>> shorten("st:/home/models/minilm", limit=10)
    '…ls/minilm'
    """
    return name if len(name) <= limit else f"…{name[1 - limit :]}"


def columns() -> tuple[TextColumn, BarColumn, MofNCompleteColumn, TimeElapsedColumn]:
    """Return the columns of a bar: what, bar, how many of how many, time."""
    text = TextColumn("{task.description}")
    return text, BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn()


def console() -> "Console":
    """Return where tables are drawn: the terminal, or wide lines for a pipe or file."""
    from rich.console import Console  # noqa: PLC0415 - slow import

    return Console() if sys.stdout.isatty() else Console(width=200)
