"""Progress of long work: bars in a terminal or notebook, lines in a file or pipe. Also the console for tables."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol, TextIO

from sentprobe.errors import escape_control_characters

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, TaskID


class Reporter(Protocol):
    """An object that displays the progress of long work, which consists of steps."""

    def begin(self, step: str, total: int) -> None:
        """End the previous step, and begin a step of *total* units; 0 means that the total is unknown."""

    def advance(self, amount: int = 1) -> None:
        """Add *amount* to the finished work of the current step, counted like *total* in :meth:`begin`."""

    def note(self, text: str) -> None:
        """Replace the note beside the step, such as the current loss."""


class SilentReporter:
    """A reporter without output."""

    def begin(self, step: str, total: int) -> None:
        """Do nothing."""

    def advance(self, amount: int = 1) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        """Do nothing."""


class BarReporter:
    """A reporter that draws a progress bar for each step; the bars of finished steps stay on the screen."""

    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def begin(self, step: str, total: int) -> None:
        """Add a bar."""
        # Without a total (standard input), the bar only pulses.
        self._task = self._progress.add_task(escape_control_characters(step), total=total or None, note="")

    def advance(self, amount: int = 1) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.advance(self._task, amount)

    def note(self, text: str) -> None:
        """Write the note beside the bar."""
        if self._task is not None:
            self._progress.update(self._task, note=escape_control_characters(text))


SECONDS_BETWEEN_LINES = 20.0


class LineReporter:
    """A reporter that writes a line at the end of each step; :meth:`write_progress` writes a line during a step.

    - shares: whether lines show the finished work as a percentage; otherwise, they show numbers such as "3 of 40"
    - title: text before the name of each step
    """

    def __init__(
        self, out: TextIO, *, shares: bool = False, title: str = "", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._out, self._shares, self._clock = out, shares, clock
        self._prefix = f"{title}: " if title else ""
        self._lock = threading.Lock()
        self._step, self._note, self._total, self._done = "", "", 0, 0
        self._start = clock()

    def begin(self, step: str, total: int) -> None:
        """End the previous step with a line, and begin a step of *total* units."""
        self.end_step()
        with self._lock:
            self._step, self._total, self._done, self._note = self._prefix + step, total, 0, ""
            self._start = self._clock()

    def advance(self, amount: int = 1) -> None:
        """Add *amount* to the finished units of the step; several threads may call this at the same time."""
        with self._lock:
            self._done += amount

    def note(self, text: str) -> None:
        """Store the note for the next line."""
        self._note = text

    def write_progress(self) -> None:
        """Write a line with the finished units of the step, the time passed, and an estimate of the time left."""
        with self._lock:
            passed = self._clock() - self._start
            left = estimate_time_left(self._done, self._total, passed)
            after = f"after {format_duration(passed)}" + (f", about {format_duration(left)} left" if left else "")
            self._write(f"{self._step}: {self._format_progress()} {after}" if self._step else f"at work {after}")

    def end_step(self) -> None:
        """End the current step, if any, and write a line with its finished work (such as 3 of 40) and duration."""
        with self._lock:
            if self._step:
                passed = format_duration(self._clock() - self._start)
                self._write(f"{self._step}: {self._format_progress()} in {passed}")
            self._step, self._start = "", self._clock()

    def _format_progress(self) -> str:
        note = f", {self._note}" if self._note else ""
        if self._shares and self._total:
            return f"{100 * self._done // self._total}%{note}"
        if self._note and not self._total and not self._done:
            return self._note  # without total and count, only the note describes the progress
        return f"{self._done:,}{f' of {self._total:,}' if self._total else ''}{note}"

    def _write(self, line: str) -> None:
        with suppress(OSError, ValueError):  # the reader has closed the pipe
            print(escape_control_characters(line), file=self._out, flush=True)


def estimate_time_left(done: int, total: int, passed: float) -> float | None:
    """Return the seconds left at the speed so far, or None before the first unit and after the last.

    >>> estimate_time_left(30, 120, 10.0), estimate_time_left(0, 120, 10.0)
    (30.0, None)
    """
    return passed * (total - done) / done if 0 < done < total else None


def format_duration(seconds: float) -> str:
    """Return a duration as text with units.

    >>> format_duration(0.2), format_duration(42), format_duration(84), format_duration(7500)
    ('0 s', '42 s', '1 min 24 s', '2 h 5 min')
    """
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60} s"
    return f"{total // 3600} h {total % 3600 // 60} min"


@contextmanager
def show_lines(out: TextIO, *, shares: bool = False, title: str = "") -> Iterator[Reporter]:
    """Provide a LineReporter that also writes the progress of the current step every SECONDS_BETWEEN_LINES."""
    reporter, finished = LineReporter(out, shares=shares, title=title), threading.Event()

    def write_lines() -> None:
        while not finished.wait(SECONDS_BETWEEN_LINES):
            reporter.write_progress()

    threading.Thread(target=write_lines, daemon=True).start()
    try:
        yield reporter
        reporter.end_step()
    finally:
        finished.set()


@contextmanager
def show_bars(*, show: bool = True, notes: bool = False) -> Iterator[Reporter]:
    """Provide a reporter that draws bars on stderr, or writes lines there if stderr is a file or pipe.

    - show: False gives a silent reporter
    - notes: whether to show percentage, note and time left, instead of the number of units and the time passed
    """
    if not show or sys.stderr is None:
        yield SilentReporter()
    elif not _can_draw():
        with show_lines(sys.stderr, shares=notes) as reporter:
            yield reporter
    else:
        from rich.console import Console
        from rich.progress import Progress

        bar_columns = make_columns(notes=notes)
        with Progress(*bar_columns, console=Console(stderr=True)) as progress:
            yield BarReporter(progress)


def _can_draw() -> bool:
    """Return whether bars can be drawn on stderr, because it is a terminal or belongs to a notebook."""
    if sys.stderr.isatty() or "IPython" not in sys.modules:
        return sys.stderr.isatty()
    from rich.console import Console

    return Console(stderr=True).is_jupyter


def make_columns(*, notes: bool = False) -> "tuple[ProgressColumn, ...]":
    """Return a bar's columns: step, bar, count, time passed; with *notes*: step, bar, percentage, note, time left."""
    from rich import progress as columns

    text, bar = columns.TextColumn("{task.description}", markup=False), columns.BarColumn(bar_width=24)
    if notes:
        note = columns.TextColumn("{task.fields[note]}", markup=False)
        return text, bar, columns.TaskProgressColumn(), note, columns.TimeRemainingColumn()
    return text, bar, columns.MofNCompleteColumn(), columns.TimeElapsedColumn()


def shorten(name: str, *, limit: int = 36) -> str:
    """Return a name of at most *limit* characters; a longer name loses its beginning, which says less than its end.

    >>> shorten("st:/home/models/minilm", limit=10)
    '…ls/minilm'
    """
    return name if len(name) <= limit else f"…{name[1 - limit :]}"


def make_console() -> "Console":
    """Return the console for tables: as wide as the terminal or COLUMNS, and 200 characters in a pipe or file."""
    from rich.console import Console

    return Console() if has_width() else Console(width=200)


def has_width() -> bool:
    """Return whether the width of lines is known, from the terminal or the environment variable COLUMNS."""
    return sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
