"""What a command shows while it works and where its tables are drawn: bars, and the console.

Bars are for a terminal or a notebook. Where stderr is a file or a pipe, a line is written now and
then, and at the end of each step.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol, TextIO

from sentprobe.errors import visible

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


class Named:
    """A reporter that says before each step what it belongs to."""

    def __init__(self, whole: str, reporter: Reporter) -> None:
        self._whole = whole
        self._reporter = reporter

    def begin(self, step: str, total: int) -> None:
        """Begin the step of the whole."""
        self._reporter.begin(f"{self._whole}: {step}", total)

    def advance(self, amount: int = 1) -> None:
        """Pass it on."""
        self._reporter.advance(amount)

    def note(self, text: str) -> None:
        """Pass it on."""
        self._reporter.note(text)


class Bars:
    """A reporter that draws a bar per step, each left standing when it is full."""

    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def begin(self, step: str, total: int) -> None:
        """Add a bar."""
        # Where nothing is known of the total, as of standard input, the bar only pulses.
        self._task = self._progress.add_task(visible(step), total=total or None, note="")

    def advance(self, amount: int = 1) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.advance(self._task, amount)

    def note(self, text: str) -> None:
        """Write it beside the bar."""
        if self._task is not None:
            self._progress.update(self._task, note=visible(text))


EVERY = 20.0
"""The seconds between two lines of :class:`Lines`."""


class Lines:
    """A reporter that writes lines: how far the step is, whenever asked, and when it is over.

    With *shares*, units mean nothing to a reader, and percents stand for them.
    """

    def __init__(
        self, out: TextIO, *, shares: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._out = out
        self._shares = shares
        self._clock = clock
        self._lock = threading.Lock()
        self._step, self._note = "", ""
        self._total, self._done = 0, 0
        self._start = clock()

    def begin(self, step: str, total: int) -> None:
        """Say that the step before it is over."""
        self.end()
        with self._lock:
            self._step, self._total, self._done, self._note = step, total, 0, ""
            self._start = self._clock()

    def advance(self, amount: int = 1) -> None:
        """Count what is done; several threads may."""
        with self._lock:
            self._done += amount

    def note(self, text: str) -> None:
        """Keep it for the next line."""
        self._note = text

    def tell(self) -> None:
        """Write how far the step is, and how long it may still take."""
        with self._lock:
            passed = self._clock() - self._start
            left = time_left(self._done, self._total, passed)
            after = f"after {spoken(passed)}" + (f", about {spoken(left)} left" if left else "")
            self._write(
                f"{self._step}: {self._count()} {after}" if self._step else f"at work {after}"
            )

    def end(self) -> None:
        """Write what was done in which time, if there is a step."""
        with self._lock:
            if self._step:
                passed = spoken(self._clock() - self._start)
                self._write(f"{self._step}: {self._count()} in {passed}")
            self._step, self._start = "", self._clock()

    def _count(self) -> str:
        note = f", {self._note}" if self._note else ""
        if self._shares and self._total:
            return f"{100 * self._done // self._total}%{note}"
        if self._note and not self._total and not self._done:
            return self._note  # nobody knows how much there is, and the note says how far it is
        return f"{self._done:,}{f' of {self._total:,}' if self._total else ''}{note}"

    def _write(self, line: str) -> None:
        with suppress(OSError, ValueError):  # who read it is gone: no reason to stop
            print(visible(line), file=self._out, flush=True)


def time_left(done: int, total: int, passed: float) -> float | None:
    """Return the seconds that are left at the pace so far; None: nothing is known of them.

    >>> time_left(30, 120, 10.0), time_left(0, 120, 10.0)
    (30.0, None)
    """
    return passed * (total - done) / done if 0 < done < total else None


def spoken(seconds: float) -> str:
    """Return a time as one says it.

    >>> spoken(0.2), spoken(42), spoken(84), spoken(7500)
    ('0 s', '42 s', '1 min 24 s', '2 h 5 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@contextmanager
def lines(out: TextIO, *, shares: bool = False) -> Iterator[Reporter]:
    """Give a reporter that writes a line every EVERY seconds, even in the middle of a step."""
    reporter, over = Lines(out, shares=shares), threading.Event()

    def speak() -> None:
        while not over.wait(EVERY):
            reporter.tell()

    threading.Thread(target=speak, daemon=True).start()
    try:
        yield reporter
        reporter.end()
    finally:
        over.set()


@contextmanager
def bars(*, show: bool = True, notes: bool = False) -> Iterator[Reporter]:
    """Give a reporter that shows on stderr what is done or, unless *show*, one that says nothing.

    It draws bars or, where stderr is no terminal, writes lines. With *notes*, these show the share
    that is done, what is noted and the time that is left, instead of how many units are done and,
    in bars, the time that has passed.
    """
    if not show or sys.stderr is None:
        yield Silent()
    elif not _draws():
        with lines(sys.stderr, shares=notes) as reporter:
            yield reporter
    else:
        from rich.console import Console  # noqa: PLC0415 - slow import
        from rich.progress import Progress  # noqa: PLC0415 - slow import

        shown = columns_with_notes() if notes else columns()
        with Progress(*shown, console=Console(stderr=True)) as progress:
            yield Bars(progress)


def _draws() -> bool:
    """Say whether bars can be drawn on stderr: it is a terminal, or a notebook."""
    if sys.stderr.isatty() or "IPython" not in sys.modules:
        return sys.stderr.isatty()
    from rich.console import Console  # noqa: PLC0415 - slow import

    return Console(stderr=True).is_jupyter


def columns() -> "tuple[ProgressColumn, ...]":
    """Return the columns of a bar: what, bar, how many of how many, time."""
    from rich.progress import (  # noqa: PLC0415 - slow import
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    text = TextColumn("{task.description}", markup=False)
    return text, BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn()


def columns_with_notes() -> "tuple[ProgressColumn, ...]":
    """Return the columns of a bar with notes: what, bar, percent, note, the time that is left."""
    from rich.progress import (  # noqa: PLC0415 - slow import
        BarColumn,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    text = TextColumn("{task.description}", markup=False)
    note = TextColumn("{task.fields[note]}", markup=False)
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

    return Console() if has_width() else Console(width=200)


def has_width() -> bool:
    """Say whether it is known how wide lines may be: in a terminal, or if COLUMNS says so."""
    return sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
