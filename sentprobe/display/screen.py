"""Terminal output: wrapped text, and tables, which become several tables or lists if they are too wide."""

import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sentprobe.errors import escape_control_characters, format_message
from sentprobe.progress import has_width, make_console

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

FRAME, PADDING = 1, 3
"""Width of a table's frame and spaces, in characters: FRAME once, and PADDING for each column."""


def print_message(text: str) -> None:
    """Print a message on stderr, with control characters escaped and long quotations cut."""
    print(format_message(text), file=sys.stderr)


def print_text(text: str, *, end: str = "\n") -> None:
    """Print text, with lines wrapped between words if the width is known."""
    width = make_console().width if has_width() else None
    print(wrap(escape_control_characters(text), width), end=end)


def print_place(text: str) -> None:
    """Print a line with a path, which users copy: control characters are escaped, and the line is not wrapped."""
    print(escape_control_characters(text))


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
    min_widths = [_compute_min_width(column, is_numeric=is_numeric_column(table, n)) for n, column in enumerate(cells)]
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
