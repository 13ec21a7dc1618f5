"""What a command prints for people: tables and sentences, as wide as the screen, nothing cut.

A table that is too wide is printed in parts, each with the first column again. Where even two
columns are too wide, each row becomes a few lines, a line for each cell.
"""

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sentprobe.errors import visible
from sentprobe.progress import console, has_width

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

FRAME, PADDING = 1, 3
"""What a table's frame takes of a line: once, and for each column."""


def say(text: str, *, end: str = "\n") -> None:
    """Print sentences; in a terminal, lines end between words."""
    width = console().width if has_width() else None
    print(wrap(visible(text), width), end=end)


def wrap(text: str, width: int | None) -> str:
    r"""Return *text* with no line longer than *width*, except of one word that is.

    >>> wrap("  a list of words\nand/a/path", 8)
    '  a list\n  of\n  words\nand/a/path'
    """
    if width is None:
        return text
    return "\n".join(_wrap_line(line, width) for line in text.split("\n"))


def _wrap_line(line: str, width: int) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    made = textwrap.wrap(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(made)


def print_table(table: "Table", screen: "Console | None" = None) -> None:
    """Print a table whole, in parts or as lists, as the width of the screen demands."""
    screen = screen or console()
    for part in fit(table, screen.width):
        if isinstance(part, str):
            print_lines(part, screen)
        else:
            screen.print(part)


def fit(table: "Table", width: int) -> Iterator["Table | str"]:
    """Yield a table as what is no wider than *width*: tables of some columns each, or lines."""
    if table.title:
        yield visible(str(table.title))
    cells = _cells(table)
    least = [_least(column, figures=is_figures(table, n)) for n, column in enumerate(cells)]
    room = width - FRAME - 2 * PADDING - least[0]
    if len(least) > 1 and max(least[1:]) > room:
        yield from _lists(table, cells, width)
        return
    for places in _parts(least, width):
        yield _part(table, cells, places, least, width)


def print_lines(text: str, screen: "Console") -> None:
    """Print text as it is, its lines wrapped between words."""
    screen.print(wrap(visible(text), screen.width), markup=False, highlight=False, soft_wrap=True)


def is_figures(table: "Table", place: int) -> bool:
    """Say whether a column has figures, which are at the right and never broken."""
    return table.columns[place].justify == "right"


def _cells(table: "Table") -> list[list["Text"]]:
    """Return the texts of each column, its header first."""
    from rich.text import Text  # noqa: PLC0415 - slow import

    def text(cell: object) -> Text:
        shown = cell if isinstance(cell, Text) else Text(str(cell))
        clean = visible(shown.plain)
        return shown if clean == shown.plain else Text(clean, style=shown.style)

    return [[text(each.header), *map(text, each.cells)] for each in table.columns]


def _least(column: Sequence["Text"], *, figures: bool) -> int:
    """Return the width at which no word of a column is broken, and no figure."""
    head, *cells = column
    words = [head, *([] if figures else cells)]
    longest = [len(word) for each in words for word in each.plain.split()]
    return max([1, *longest, *([_longest_line(cells)] if figures else [])])


def _longest_line(cells: Sequence["Text"]) -> int:
    return max((len(line) for each in cells for line in each.plain.split("\n")), default=1)


def _parts(least: Sequence[int], width: int) -> Iterator[list[int]]:
    """Yield the columns of each part: the first, and as many of the others as there is room for."""
    part = [0]
    for place in range(1, len(least)):
        if len(part) > 1 and _needed([least[each] for each in [*part, place]]) > width:
            yield part
            part = [0]
        part.append(place)
    yield part


def _needed(widths: Sequence[int]) -> int:
    return FRAME + sum(widths) + PADDING * len(widths)


def _part(
    table: "Table",
    cells: Sequence[Sequence["Text"]],
    places: Sequence[int],
    least: Sequence[int],
    width: int,
) -> "Table":
    """Return a table of some of the columns, which are as wide as they need to be or can be."""
    from rich.table import Table  # noqa: PLC0415 - slow import

    part = Table()
    spare = width - _needed([least[place] for place in places])
    for place in places:
        more = max(0, min(spare, _longest_line(cells[place]) - least[place]))
        spare -= more
        justify = table.columns[place].justify
        part.add_column(cells[place][0], justify=justify, width=least[place] + more)
    for number, row in enumerate(table.rows, 1):
        texts = (cells[place][number] for place in places)
        part.add_row(*texts, end_section=row.end_section)
    return part


def _lists(table: "Table", cells: Sequence[Sequence["Text"]], width: int) -> Iterator[str]:
    """Yield each row as its first cell and, below, each other cell that has a text."""
    for number in range(1, len(table.rows) + 1):
        yield cells[0][number].plain
        for place, (head, *column) in enumerate(cells[1:], 1):
            text = column[number - 1].plain
            line = f"  {head.plain}: {text}".replace("\n", "\n  ")
            if is_figures(table, place) and len(line) > width:
                line = f"  {head.plain}:\n    {text}"
            if text:
                yield line
