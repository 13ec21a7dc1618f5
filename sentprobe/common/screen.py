"""Terminal output: wrapped text, and tables, which become several tables or lists if they are too wide.

Progress of long work: bars in a terminal or notebook, lines in a file or pipe. Also the console for tables.
"""

import os
import re
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol, TextIO

from sentprobe.common.errors import escape_control_characters, escape_line, format_message

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, TaskID
    from rich.table import Table
    from rich.text import Text


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

    def begin(self, step: str, total: int) -> None: ...

    def advance(self, amount: int = 1) -> None: ...

    def note(self, text: str) -> None: ...


PROGRESS_THRESHOLD = 50_000
"""Sampling shows its progress by default from this number of sentences."""


class BarReporter:
    """A reporter that draws a progress bar for each step; the bars of finished steps stay on the screen."""

    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def begin(self, step: str, total: int) -> None:
        """Add a bar."""
        # Without a total (standard input), the bar only pulses.
        self._task = self._progress.add_task(escape_line(step), total=total or None, note="")

    def advance(self, amount: int = 1) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.advance(self._task, amount)

    def note(self, text: str) -> None:
        """Write the note beside the bar."""
        if self._task is not None:
            self._progress.update(self._task, note=escape_line(text))


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
            print(escape_line(line), file=self._out, flush=True)


def estimate_time_left(done: int, total: int, passed: float) -> float | None:
    """Return the seconds left at the speed so far, or None before the first unit and after the last."""
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
def show_lines(out: TextIO, *, shares: bool, title: str = "") -> Iterator[Reporter]:
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
def show_bars(*, show: bool | None = True, notes: bool = False) -> Iterator[Reporter]:
    """Provide a reporter that draws bars on stderr, or writes lines there if stderr is a file or pipe.

    - show: False gives a silent reporter, and None a silent one if stderr is a file or pipe
    - notes: whether to show percentage, note and time left, instead of the number of units and the time passed
    """
    if show is False or sys.stderr is None or (show is None and not _can_draw()):
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


FRAME, PADDING = 1, 3
"""Width of a table's frame and spaces, in characters: FRAME once, and PADDING for each column."""


def print_message(text: str) -> None:
    """Print a message on stderr, on one line, with control characters escaped and long quotations cut."""
    print(format_message(text), file=sys.stderr)


def print_text(text: str, *, end: str = "\n") -> None:
    """Print text, with lines wrapped between words if the width is known."""
    width = make_console().width if has_width() else None
    print(wrap(escape_control_characters(text), width), end=end)


def print_place(text: str) -> None:
    """Print a line with a path, which users copy: control characters are escaped, and the line is not wrapped."""
    print(escape_line(text))


def wrap(text: str, width: int | None) -> str:
    r"""Return *text* with lines of at most *width* characters; words are not broken.

    >>> wrap("  a list of words\nand/a/path", 8)
    '  a list\n  of\n  words\nand/a/path'
    """
    if width is None:
        return text
    return "\n".join(_wrap_line(line, width) for line in text.split("\n"))


def _wrap_line(line: str, width: int) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    lines = textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def print_table(table: "Table", screen: "Console | None" = None) -> None:
    """Print a table on *screen* (by default, the terminal), as several tables or lists if it is too wide."""
    screen = screen or make_console()
    for part in split_table(table, screen.width):
        if isinstance(part, str):
            print_lines(part, screen)
        else:
            screen.print(part)


def split_table(table: "Table", width: int) -> Iterator["Table | str"]:
    """Yield the title and cells of *table* as one or more tables, or as lines of text.

    Each table is at most *width* characters wide, and repeats the first column. If any column is too wide to stand
    beside the first, there is no table, and each row becomes a list of lines.
    """
    if table.title:
        yield escape_control_characters(str(table.title))
    cells = _collect_cells(table)
    min_widths = _compute_min_widths(table, cells)
    if _compute_table_width(min_widths) > width:
        wrapped_cells = [cells[0], *map(_wrap_header, cells[1:])]
        wrapped_widths = _compute_min_widths(table, wrapped_cells)
        if _compute_table_width(wrapped_widths) <= width:  # one table is better than two with whole headers
            cells, min_widths = wrapped_cells, wrapped_widths
    available = width - FRAME - 2 * PADDING - min_widths[0]
    if len(min_widths) > 1 and max(min_widths[1:]) > available:
        yield from _format_rows_as_lists(table, cells, width)
        return
    for places in _split_columns(min_widths, width):
        yield _build_part(table, cells, places, min_widths, width)


def print_lines(text: str, screen: "Console") -> None:
    """Print text on *screen*, with lines wrapped between words."""
    screen.print(wrap(escape_control_characters(text), screen.width), markup=False, highlight=False, soft_wrap=True)


def is_numeric_column(table: "Table", column: int) -> bool:
    """Return whether a column is right-aligned; right-aligned columns contain numbers, which are not wrapped."""
    return table.columns[column].justify == "right"


def _collect_cells(table: "Table") -> list[list["Text"]]:
    """Return the cells of each column, beginning with its header, with control characters escaped."""
    from rich.text import Text

    def text(cell: object) -> Text:
        rich_text = cell if isinstance(cell, Text) else Text(str(cell))
        clean_text = escape_control_characters(rich_text.plain)
        return rich_text if clean_text == rich_text.plain else Text(clean_text, style=rich_text.style)

    return [[text(column.header), *map(text, column.cells)] for column in table.columns]


def _compute_min_width(column: Sequence["Text"], *, is_numeric: bool) -> int:
    """Return the width that a column needs so that no word and no number is broken."""
    head, *cells = column
    words = [head, *([] if is_numeric else cells)]
    longest = [len(word) for cell in words for word in cell.plain.split()]
    return max([1, *longest, *([_measure_longest_line(cells)] if is_numeric else [])])


def _compute_min_widths(table: "Table", cells: Sequence[Sequence["Text"]]) -> list[int]:
    return [_compute_min_width(column, is_numeric=is_numeric_column(table, n)) for n, column in enumerate(cells)]


def _wrap_header(column: Sequence["Text"]) -> list["Text"]:
    """Return a column whose header, if wider than the cells, is wrapped within names such as Content1Probe."""
    from rich.text import Text

    head, *cells = column
    if len(head.plain) > _measure_longest_line(cells):
        head = Text(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "\n", head.plain), style=head.style)
    return [head, *cells]


def _measure_longest_line(cells: Sequence["Text"]) -> int:
    return max((len(line) for cell in cells for line in cell.plain.split("\n")), default=1)


def _split_columns(min_widths: Sequence[int], width: int) -> Iterator[list[int]]:
    """Yield column indices for each part of a wide table: column 0, then the next columns that fit *width*."""
    part = [0]
    for column in range(1, len(min_widths)):
        if len(part) > 1 and _compute_table_width([min_widths[index] for index in [*part, column]]) > width:
            yield part
            part = [0]
        part.append(column)
    yield part


def _compute_table_width(widths: Sequence[int]) -> int:
    return FRAME + sum(widths) + PADDING * len(widths)


def _build_part(
    table: "Table", cells: Sequence[Sequence["Text"]], columns: Sequence[int], min_widths: Sequence[int], width: int
) -> "Table":
    """Return a table of *columns* (indices); spare width goes to columns whose text would be wrapped."""
    from rich.table import Table

    part = Table()
    spare_width = width - _compute_table_width([min_widths[column] for column in columns])
    for column in columns:
        # From left to right: the first columns, which name the rows, are the last to be wrapped.
        extra_width = max(0, min(spare_width, _measure_longest_line(cells[column]) - min_widths[column]))
        spare_width -= extra_width
        justify = table.columns[column].justify
        part.add_column(cells[column][0], justify=justify, width=min_widths[column] + extra_width)
    for number, row in enumerate(table.rows, 1):
        texts = (cells[column][number] for column in columns)
        part.add_row(*texts, end_section=row.end_section)
    return part


def _format_rows_as_lists(table: "Table", cells: Sequence[Sequence["Text"]], width: int) -> Iterator[str]:
    for number in range(1, len(table.rows) + 1):
        yield cells[0][number].plain
        for column_index, (head, *column) in enumerate(cells[1:], 1):
            text = column[number - 1].plain
            line = f"  {head.plain}: {text}".replace("\n", "\n  ")
            if is_numeric_column(table, column_index) and len(line) > width:
                line = f"  {head.plain}:\n    {text}"
            if text:
                yield line
