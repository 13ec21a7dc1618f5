"""Tables of texts, and how they are written: for a terminal, in columns, Markdown or LaTeX."""

import csv
import io
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sentprobe.errors import UsageError, visible

if TYPE_CHECKING:
    from rich.table import Table


class TableFormat(StrEnum):
    """How a table is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    CSV = "csv"
    """Flat records with all digits, one a line; not the layout of the table."""
    JSON = "json"
    """The same records."""
    HTML = "html"


@dataclass(frozen=True, slots=True)
class GridCell:
    """A figure, and whether it is the best of its column."""

    text: str
    best: bool = False


@dataclass(frozen=True, slots=True)
class GridRow:
    """A labelled row; neighbours of another *section* are divided by a line."""

    label: str
    section: str
    cells: tuple[GridCell, ...]
    heading: bool = False
    """Whether it has no figures, and says what the rows below it are."""
    whose: str = ""
    """The encoder that its figures are of; empty where they are of none, or of no one encoder."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A header, whose first text stands above the labels, and rows."""

    header: tuple[str, ...]
    rows: tuple[GridRow, ...]


def starred(grid: Grid) -> Grid:
    """Return the grid with a star before each best cell, for where bold cannot be seen.

    >>> row = GridRow("bow", "", (GridCell("50.0"), GridCell("99.9", best=True)))
    >>> [cell.text for cell in starred(Grid(("encoder", "Order", "SemRole"), (row,))).rows[0].cells]
    ['50.0', '* 99.9']
    """
    return replace(grid, rows=tuple(replace(row, cells=_star(row.cells)) for row in grid.rows))


def _star(cells: tuple[GridCell, ...]) -> tuple[GridCell, ...]:
    """Mark the best: figures are at the right, and stay one below the other."""
    return tuple(replace(cell, text=f"* {cell.text}") if cell.best else cell for cell in cells)


def draw(grid: Grid) -> "Table":
    """Return the table for a terminal, the best of each column in bold and with a star."""
    from rich.text import Text  # noqa: PLC0415 - slow import

    drawn = empty_table(grid.header)
    for section in _sections(starred(grid)):
        for row in section:
            cells = (
                Text(visible(cell.text), style="bold" if cell.best else "") for cell in row.cells
            )
            drawn.add_row(Text(visible(row.label)), *cells, end_section=row is section[-1])
    return drawn


def empty_table(header: Sequence[str], *, left: Collection[int] = ()) -> "Table":
    """Return a table for a terminal without rows: words at the left, figures at the right.

    Words are in the first column and those of *left*.
    """
    from rich.table import Table  # noqa: PLC0415 - slow import
    from rich.text import Text  # noqa: PLC0415 - slow import

    drawn = Table()
    for place, name in enumerate(header):
        words = place == 0 or place in left
        drawn.add_column(Text(visible(name)), justify="left" if words else "right")
    return drawn


@dataclass(frozen=True, slots=True)
class Caption:
    """What LaTeX prints with a table, and the label by which a document refers to it."""

    text: str = ""
    label: str = ""

    def of(self, number: int, count: int) -> "Caption":
        """Return that of one of several tables: no two have the same label.

        >>> Caption("Results", "tab:all").of(1, 2)
        Caption(text='Results (1 of 2)', label='tab:all-1')
        """
        if count == 1 or not self.text:
            return self
        label = f"{self.label}-{number}" if self.label else ""
        return Caption(f"{self.text} ({number} of {count})", label)

    def around(self, tabular: str) -> str:
        """Return a tabular in a table that floats; without a caption, as it is."""
        if not self.text:
            return tabular
        lines = [r"\begin{table}", r"  \centering", rf"  \caption{{{in_latex(self.text)}}}"]
        lines += [rf"  \label{{{self.label}}}"] if self.label else []
        return "\n".join([*lines, f"{tabular}\\end{{table}}\n"])


NO_CAPTION = Caption()
"""That of a table that stands where it is."""


def make_caption(text: str | None, label: str | None, *, dashes: str = "") -> Caption:
    """Return the caption and label of a table in LaTeX; *dashes* stand before their names.

    Raises:
        UsageError: one is empty; there is a label alone, or one that LaTeX cannot read.
    """
    for name, given in (("caption", text), ("label", label)):
        if given is not None and not given.strip():
            raise UsageError(f"{dashes}{name} is empty")
    if label is not None and text is None:
        raise UsageError(
            f"{dashes}label needs a {dashes}caption: LaTeX numbers the tables that have one"
        )
    if label is not None and not re.fullmatch(r"[\w:.+/-]+", label, re.ASCII):
        raise UsageError(
            f"{dashes}label {label!r}: wanted are letters, digits and the signs : . + / - _"
        )
    return Caption(" ".join((text or "").split()), label or "")


def write_grid(grid: Grid, style: TableFormat, caption: Caption = NO_CAPTION) -> str:
    """Return the table as plain columns (the best with a star), Markdown or LaTeX (in bold)."""
    text = WRITERS[style](grid)
    return caption.around(text) if style is TableFormat.LATEX else text


def write_tables(
    grids: Sequence[Grid],
    *,
    notes: str,
    records: Callable[[], Sequence[Mapping[str, Any]]],
    style: TableFormat,
    caption: Caption = NO_CAPTION,
) -> str:
    """Return tables and the lines below them, or the flat records, as the format demands."""
    if style in (TableFormat.CSV, TableFormat.JSON):
        return write_records(records(), style)
    tables = [
        write_grid(each, style, caption.of(number, len(grids)))
        for number, each in enumerate(grids, 1)
    ]
    return "\n".join(tables) + write_notes(notes, style)


def write_notes(text: str, style: TableFormat) -> str:
    """Return lines that stand below a table: a list in Markdown, comments in LaTeX."""
    text = visible(text)
    if style is TableFormat.LATEX:
        return "".join(f"% {line}\n" for line in text.splitlines())
    if style is TableFormat.MARKDOWN:
        return "\n" + "".join(f"- {in_markdown(line.strip())}\n" for line in text.splitlines())
    return text


def write_title(text: str, style: TableFormat) -> str:
    """Return a line that stands above a table, and nothing for no text."""
    if not text:
        return ""
    text = visible(text)
    written = {
        TableFormat.LATEX: "".join(f"% {line}\n" for line in text.splitlines()),
        TableFormat.MARKDOWN: f"**{in_markdown(text)}**\n\n",
    }
    return written.get(style, f"{text}\n")


def _sections(grid: Grid) -> list[list[GridRow]]:
    return [list(rows) for _, rows in groupby(grid.rows, key=lambda row: row.section)]


def _plain(grid: Grid) -> str:
    rows = starred(grid).rows
    written = [list(grid.header)] + [[row.label, *(c.text for c in row.cells)] for row in rows]
    lines = [list(map(visible, line)) for line in written]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(
            text.rjust(width) if place else text.ljust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip() + "\n"
        for line in lines
    )  # fmt: skip


def _markdown(grid: Grid) -> str:
    def cell(cell: GridCell) -> str:
        text = in_markdown(cell.text)
        return f"**{text}**" if cell.best else text

    return markdown_table(
        [in_markdown(text) for text in grid.header],
        ([in_markdown(row.label), *map(cell, row.cells)] for row in grid.rows),
    )


def markdown_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, left: Collection[int] = ()
) -> str:
    """Return a table of cells that are Markdown; words are in the first column and *left*."""

    def line(texts: Sequence[str]) -> str:
        return f"| {' | '.join(texts)} |\n"

    places = range(len(header))
    rule = ["---" if place == 0 or place in left else "---:" for place in places]
    return "".join(map(line, [header, rule, *rows]))


def in_markdown(text: str) -> str:
    """Return *text* so that Markdown shows it as it is."""
    return "".join(f"\\{sign}" if sign in r"\|*_`<[#&~" else sign for sign in visible(text))


def _latex(grid: Grid) -> str:
    """Write a tabular with the rules of the package booktabs."""

    def line(texts: list[str]) -> str:
        return "  " + " & ".join(texts) + r" \\" + "\n"

    def cell(cell: GridCell) -> str:
        text = in_latex(cell.text)
        return rf"\textbf{{{text}}}" if cell.best and text else text

    parts = [
        line([in_latex(row.label), *map(cell, row.cells)]) if row else "  \\midrule\n"
        for section in _sections(grid)
        for row in (None, *section)
    ]
    columns = "l" + "r" * (len(grid.header) - 1)
    head = line([in_latex(text) for text in grid.header])
    return (
        f"\\begin{{tabular}}{{{columns}}}\n  \\toprule\n{head}{''.join(parts)}"
        "  \\bottomrule\n\\end{tabular}\n"
    )


LATEX: Mapping[str, str] = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "±": r"$\pm$", "<": r"\textless{}", ">": r"\textgreater{}", "[": "{[}", "]": "{]}",
}  # fmt: skip
"""What stands for a sign that means something to LaTeX."""


def in_latex(text: str) -> str:
    """Return *text* so that LaTeX prints it as it is."""
    return "".join(LATEX.get(sign, sign) for sign in visible(text))


WRITERS: Mapping[TableFormat, Callable[[Grid], str]] = {
    TableFormat.TEXT: _plain,
    TableFormat.MARKDOWN: _markdown,
    TableFormat.LATEX: _latex,
}
"""A writer per format that keeps the layout."""


def _in_cell(value: object) -> object:
    """Return a value so that no spreadsheet takes it for a formula: such a text is after a quote.

    >>> _in_cell("=1+1"), _in_cell("bow"), _in_cell(-0.5)
    ("'=1+1", 'bow', -0.5)
    """
    if not isinstance(value, str):
        return value
    text = visible(value)  # a bare return would end a line
    return f"'{text}" if text.startswith(FORMULA) else text


FORMULA = ("=", "+", "-", "@", "\t")
"""What a text begins with that a spreadsheet takes for a formula."""


def write_records(records: Sequence[Mapping[str, Any]], style: TableFormat) -> str:
    """Write flat records, all with the same keys, as CSV or JSON with all digits."""
    if style is TableFormat.JSON:
        return json.dumps(list(records), indent=2, ensure_ascii=False) + "\n"
    out = io.StringIO()
    writer = csv.DictWriter(out, list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _in_cell(value) for key, value in record.items()} for record in records)
    return out.getvalue()
