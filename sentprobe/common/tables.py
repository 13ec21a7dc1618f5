"""Tables of text cells, and their formats: terminal, plain text, Markdown, LaTeX, CSV and JSON."""

import csv
import io
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from sentprobe.common.errors import UsageError, escape_control_characters, format_install, split_lines
from sentprobe.common.values import format_json

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table


class TableFormat(StrEnum):
    """The formats of tables."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    CSV = "csv"
    """One line for each record instead of the rows of the table; numbers are not rounded (also in JSON)."""
    JSON = "json"
    HTML = "html"


@dataclass(frozen=True, slots=True)
class GridCell:
    """The text of a table cell, and whether it is the best of its column."""

    text: str
    best: bool = False
    style: str = ""
    """How the text looks on a terminal, such as ``bold red``; in other formats it looks like any text."""


@dataclass(frozen=True, slots=True)
class GridRow:
    """A table row; a horizontal rule separates rows of different sections."""

    label: str
    section: str
    cells: tuple[GridCell, ...]
    heading: bool = False
    """Whether the row is a heading for the rows below, with a label only."""
    encoder: str = ""
    """Name of the encoder whose results the cells contain; empty for no encoder or several."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: rows, and a header, whose first text stands above the row labels."""

    header: tuple[str, ...]
    rows: tuple[GridRow, ...]
    left: frozenset[int] = frozenset({0})
    """The columns whose texts are left-aligned; others are right-aligned."""


ShownTable: TypeAlias = tuple[str, Grid, str]
"""A table as (title, grid, notes below it)."""


def add_stars(grid: Grid) -> Grid:
    """Return the table with a star before each best cell, for output without bold text."""
    rows = []
    for row in grid.rows:
        cells = (replace(cell, text=f"* {cell.text}") if cell.best else cell for cell in row.cells)
        rows.append(replace(row, cells=tuple(cells)))
    return replace(grid, rows=tuple(rows))


def build_rich_table(grid: Grid) -> "Table":
    """Return a table for the terminal, in which best cells are bold and have a star."""
    from rich.text import Text

    table = build_empty_table(grid.header, left=grid.left)
    for section in _split_sections(add_stars(grid)):
        for row in section:
            cells = (
                Text(escape_control_characters(cell.text), style="bold" if cell.best else cell.style)
                for cell in row.cells
            )
            table.add_row(Text(escape_control_characters(row.label)), *cells, end_section=row is section[-1])
    return table


def build_empty_table(header: Sequence[str], *, left: Collection[int] = ()) -> "Table":
    """Return a table without rows; the first column and the columns *left* are left-aligned, others right."""
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for column, name in enumerate(header):
        is_text = column == 0 or column in left
        table.add_column(Text(escape_control_characters(name)), justify="left" if is_text else "right")
    return table


@dataclass(frozen=True, slots=True)
class Caption:
    """Caption of a LaTeX table, and the label by which a document refers to it."""

    text: str = ""
    label: str = ""

    def add_number(self, number: int, count: int) -> "Caption":
        """Return the caption of table *number* of *count*, which has the number in its text and label.

        >>> Caption("Results", "tab:all").add_number(1, 2)
        Caption(text='Results (1 of 2)', label='tab:all-1')
        """
        if count == 1 or not self.text:
            return self
        label = f"{self.label}-{number}" if self.label else ""
        return Caption(f"{self.text} ({number} of {count})", label)

    def wrap_tabular(self, tabular: str) -> str:
        """Return a LaTeX tabular in a floating table with this caption; if the caption is empty, the tabular alone."""
        if not self.text:
            return tabular
        lines = [r"\begin{table}", r"  \centering", rf"  \caption{{{escape_latex(self.text)}}}"]
        lines += [rf"  \label{{{self.label}}}"] if self.label else []
        return "\n".join([*lines, f"{tabular}\\end{{table}}\n"])


NO_CAPTION = Caption()


def build_caption(text: str | None, label: str | None, *, dashes: str = "") -> Caption:
    """Return the caption of a LaTeX table; raise UsageError for an empty text, a bad label, or a label without text.

    - dashes: text before "caption" and "label" in messages, such as "--" for options
    """
    for name, value in (("caption", text), ("label", label)):
        if value is not None and not value.strip():
            raise UsageError(f"{dashes}{name} is empty")
    if label is not None and text is None:
        raise UsageError(f"{dashes}label needs a {dashes}caption: LaTeX numbers the tables that have one")
    if label is not None and not re.fullmatch(r"[\w:.+/-]+", label, re.ASCII):
        raise UsageError(f"{dashes}label {label!r}: use letters, digits and the signs : . + / - _")
    return Caption(" ".join((text or "").split()), label or "")


def format_grid(grid: Grid, style: TableFormat, caption: Caption = NO_CAPTION) -> str:
    """Return the table as text; best cells have a star in plain text, and are bold in Markdown and LaTeX."""
    text = WRITERS[style](grid)
    return caption.wrap_tabular(text) if style is TableFormat.LATEX else text


def format_notes(text: str, style: TableFormat) -> str:
    """Return the notes below a table: plain lines, or the non-empty lines as a list (Markdown) or comments (LaTeX)."""
    lines = [line for line in split_lines(text) if line]
    if style is TableFormat.LATEX:
        return "".join(f"% {line}\n" for line in lines)
    if style is TableFormat.MARKDOWN:
        return "\n" + "".join(f"- {escape_markdown(line.strip())}\n" for line in lines)
    return escape_control_characters(text)


def format_title(text: str, style: TableFormat) -> str:
    """Return the title above a table: plain text, bold in Markdown, or a comment in LaTeX."""
    text = escape_control_characters(text)
    if not text or style is TableFormat.LATEX:
        return "".join(f"% {line}\n" for line in split_lines(text))
    return f"**{escape_markdown(text)}**\n\n" if style is TableFormat.MARKDOWN else f"{text}\n"


def format_tables(tables: Sequence[ShownTable], style: TableFormat, *, caption: Caption = NO_CAPTION) -> str:
    """Return tables with their titles and notes as one text in a format."""
    return "\n".join(
        format_title(title, style)
        + format_grid(grid, style, caption.add_number(number, len(tables)))
        + format_notes(notes, style)
        for number, (title, grid, notes) in enumerate(tables, 1)
    )


def build_frame(records: Sequence[Mapping[str, Any]]) -> "pd.DataFrame":
    """Return records as a pandas data frame. Raises UsageError if pandas is not installed."""
    try:
        import pandas as pd
    except ImportError:
        raise UsageError(
            f"a data frame needs the extra pandas (to_records() does not): {format_install('pandas')}"
        ) from None
    return pd.DataFrame(records)


def _split_sections(grid: Grid) -> list[list[GridRow]]:
    return [list(rows) for _, rows in groupby(grid.rows, key=lambda row: row.section)]


def _format_plain(grid: Grid) -> str:
    rows = add_stars(grid).rows
    texts = [list(grid.header)] + [[row.label, *(c.text for c in row.cells)] for row in rows]
    lines = [[escape_control_characters(text.replace("\n", " ")) for text in line] for line in texts]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(
            text.ljust(width) if place in grid.left else text.rjust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip() + "\n"
        for line in lines
    )  # fmt: skip


def _format_markdown(grid: Grid) -> str:
    def format_cell(cell: GridCell) -> str:
        text = escape_markdown(cell.text)
        return f"**{text}**" if cell.best else text

    lines = [
        [escape_markdown(text) for text in grid.header],
        ["---" if place in grid.left else "---:" for place in range(len(grid.header))],
        *([escape_markdown(row.label), *map(format_cell, row.cells)] for row in grid.rows),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def escape_markdown(text: str) -> str:
    """Return *text* with the signs escaped that Markdown would interpret; a line break becomes a blank."""
    text = escape_control_characters(text.replace("\n", " "))
    return "".join(f"\\{sign}" if sign in r"\|*_`<[#&~" else sign for sign in text)


def _format_latex(grid: Grid) -> str:
    def line(texts: list[str]) -> str:
        return "  " + " & ".join(texts) + r" \\" + "\n"

    def cell(cell: GridCell) -> str:
        text = escape_latex(cell.text)
        return rf"\textbf{{{text}}}" if cell.best and text else text

    parts = [
        line([escape_latex(row.label), *map(cell, row.cells)]) if row else "  \\midrule\n"
        for section in _split_sections(grid)
        for row in (None, *section)
    ]
    columns = "".join("l" if place in grid.left else "r" for place in range(len(grid.header)))
    head = line([escape_latex(text) for text in grid.header])
    return f"\\begin{{tabular}}{{{columns}}}\n  \\toprule\n{head}{''.join(parts)}  \\bottomrule\n\\end{{tabular}}\n"


LATEX_ESCAPES: Mapping[str, str] = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "±": r"$\pm$", "<": r"\textless{}", ">": r"\textgreater{}", "[": "{[}", "]": "{]}",
}  # fmt: skip


def escape_latex(text: str) -> str:
    """Return *text* with the signs escaped that LaTeX would interpret; a line break becomes a blank."""
    text = escape_control_characters(text.replace("\n", " "))
    return "".join(LATEX_ESCAPES.get(sign, sign) for sign in text)


WRITERS: Mapping[TableFormat, Callable[[Grid], str]] = {
    TableFormat.TEXT: _format_plain,
    TableFormat.MARKDOWN: _format_markdown,
    TableFormat.LATEX: _format_latex,
}


_FORMULA_SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
FORMULA_PREFIXES = (*_FORMULA_SIGNS, "\t", "\r", "\n")
"""What begins a formula for some spreadsheet; it may read full-width signs as = + - @ and skip a line break."""
_CELL_START = re.compile(rf"([;|\t]\s*)(?=[{re.escape(_FORMULA_SIGNS)}])(?!-[A-Z]{{3}}-|--)")
"""What may begin a cell within a text, before a formula; not the tokens -LRB- and -- of treebanks."""


def escape_formula(value: object) -> object:
    """Return a value for CSV; what a spreadsheet would read as a formula gets an apostrophe in front.

    That is a text, or a part of it after a sign at which some spreadsheets begin a new cell, even within quotes.
    """
    if not isinstance(value, str):
        return value
    text = escape_control_characters(value)  # a carriage return would end the line
    text = _CELL_START.sub(r"\1'", text)
    return f"'{text}" if text.startswith(FORMULA_PREFIXES) else text


def format_csv_row(fields: Iterable[object], *, separator: str = ",", padded: bool = False) -> str:
    """Return a line of CSV, without its end, in which no text is a formula (:func:`escape_formula`).

    - padded: put a blank before formulas instead, and keep control characters, for readers that strip fields
    """
    out = io.StringIO()
    cells = map(pad_formula if padded else escape_formula, fields)
    csv.writer(out, delimiter=separator, lineterminator="\r\n").writerow(cells)  # so that both are quoted in a field
    return out.getvalue().removesuffix("\r\n")


def pad_formula(value: object) -> object:
    """Return a value for a table whose reader strips fields; a text that would be a formula gets a blank in front."""
    return f" {value}" if isinstance(value, str) and _is_formula(value) else value


def unpad_formula(text: str) -> str:
    """Return the text that :func:`pad_formula` padded."""
    return text[1:] if text.startswith(" ") and _is_formula(text) else text


def _is_formula(text: str) -> bool:
    return text.lstrip(" ").startswith(FORMULA_PREFIXES)


def format_records(records: Sequence[Mapping[str, Any]], style: TableFormat) -> str:
    """Return dictionaries, all with the same keys, as CSV or JSON; numbers are not rounded."""
    if style is TableFormat.JSON:
        return format_json(list(records), indent=2) + "\n"
    names = list(records[0]) if records else []
    rows = [names, *([record[name] for name in names] for record in records)]
    return "".join(f"{format_csv_row(row)}\n" for row in rows)
