"""Rendering of results as tables with titles and notes: plain text, terminal, notebook, Markdown or LaTeX."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, TypeAlias

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from sentprobe.display import table_writers as tw
from sentprobe.display.screen import split_table, wrap
from sentprobe.errors import escape_control_characters, split_lines
from sentprobe.probes.report.findings.draws import find_missing_cells
from sentprobe.probes.report.tables import main_table
from sentprobe.probes.report.tables.language_tables import build_language_tables, split_by_language
from sentprobe.probes.report.tables.method_tables import build_method_tables
from sentprobe.probes.report.tables.table_notes import COMPLETE, SHORT, NoteStyle, say_where_more_is, write_table_notes
from sentprobe.probes.results.result import Results

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

WIDTH = 200
"""The width of a text table in characters if the width of the terminal is unknown."""
ShownTable: TypeAlias = tuple[str, tw.Grid, str]
"""A table as (title, grid, notes below it)."""
EMPTY_TEXT = "no results"


def build_sections(results: Results, style: main_table.CellStyle, notes: NoteStyle = SHORT) -> Iterator[ShownTable]:
    """Yield tables of results as (title, grid, notes). Results that are not comparable are in different tables."""
    tables = [*divide_by_setting(results)]
    missing = find_missing_cells([table for _, table, _ in tables])
    for n, (title, table, origins) in enumerate(tables):
        text = write_table_notes(table, style, notes, folders=bool(origins), missing=missing[n])
        text += say_where_more_is(results, notes) if n == len(tables) - 1 else ""
        plain, _ = split_by_language(table)
        grids = [(grid, "".join(f"{line}\n" for line in lines)) for grid, lines in build_language_tables(table, style)]
        if plain.records:
            grids = [(main_table.build_grid(plain, style=style), text), *grids]
        else:
            grids[-1] = (grids[-1][0], grids[-1][1] + text)
        for number, (grid, grid_notes) in enumerate(grids):
            yield "" if number else title, grid, grid_notes


def divide_by_setting(results: Results) -> Iterator[tuple[str, Results, tuple[str, ...]]]:
    """Yield (title, results, lines) for each table. With several results folders, lines name the table's folders."""
    tables = main_table.split_settings(results)
    has_several = len({record.source for record in results.records}) > 1
    for title, table in zip(main_table.describe_differences(tables), tables, strict=True):
        yield title, table, tuple(main_table.describe_origins(table)) if has_several else ()


def show_results(
    results: Results,
    fmt: tw.TableFormat,
    *,
    intervals: bool = False,
    all_rows: bool = False,
    notes: bool = False,
    caption: tw.Caption = tw.NO_CAPTION,
) -> str:
    """Return the tables of results in a format: plain text, Markdown, LaTeX, or HTML for a notebook."""
    style = main_table.CellStyle(intervals=intervals, all_rows=all_rows)
    if fmt is tw.TableFormat.HTML:
        sections = [(title, grid, split_lines(notes)) for title, grid, notes in _build_all_tables(results, style)]
        return load_template("notebook.html.j2").render(sections=sections, nothing=EMPTY_TEXT)
    if fmt is tw.TableFormat.TEXT:
        from rich.console import Console

        width = shutil.get_terminal_size((WIDTH, 1)).columns
        page = StringIO()
        Console(file=page, width=width, color_system=None).print(RenderedResults(results))
        return "\n".join(line.rstrip() for line in page.getvalue().splitlines())
    tables = _build_all_tables(results, style, choose_notes(fmt, COMPLETE if notes else SHORT))
    return to_text([*tables], fmt, caption=caption)


def _build_all_tables(results: Results, style: main_table.CellStyle, notes: NoteStyle = SHORT) -> Iterator[ShownTable]:
    yield from build_sections(results, style, notes)
    yield from build_method_tables(results)


def choose_notes(fmt: tw.TableFormat, notes: NoteStyle) -> NoteStyle:
    """Return *notes*; for LaTeX, return the style with all notes, because notes are LaTeX comments."""
    return COMPLETE if fmt is tw.TableFormat.LATEX else notes


def to_text(tables: Sequence[ShownTable], fmt: tw.TableFormat, *, caption: tw.Caption = tw.NO_CAPTION) -> str:
    """Return tables with their titles and notes as one text in a format."""
    return "\n".join(
        tw.format_title(title, fmt)
        + tw.format_grid(grid, fmt, caption.add_number(number, len(tables)))
        + tw.format_notes(notes, fmt)
        for number, (title, grid, notes) in enumerate(tables, 1)
    )


@dataclass(frozen=True, slots=True)
class RenderedResults:
    """The tables and notes of results, for rich to print at the width of its console."""

    results: Results

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[RenderableType]":
        from rich.text import Text

        parts: list[Table | str] = [] if self.results.records else [EMPTY_TEXT]
        for title, grid, notes in _build_all_tables(self.results, main_table.CellStyle()):
            tables = split_table(tw.build_rich_table(grid), options.max_width)
            parts += [*([title] if title else []), *tables, notes.rstrip("\n")]
        for part in parts:
            if isinstance(part, str):
                yield Text(wrap(part, options.max_width), no_wrap=True, overflow="ignore")
            else:
                yield part


def load_template(name: str) -> Template:
    """Load a Jinja template of the report page. It escapes HTML and control characters in inserted texts."""
    environment = Environment(
        loader=PackageLoader("sentprobe.probes.report.page"),
        autoescape=True,
        finalize=_escape_text,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)


def _escape_text(value: object) -> object:
    return escape_control_characters(value) if isinstance(value, str) and not isinstance(value, Markup) else value
