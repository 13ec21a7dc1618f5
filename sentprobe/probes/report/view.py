"""Results as they show by themselves: as text, in a terminal, in a notebook, in a document."""

import shutil
from collections.abc import Iterator
from io import StringIO
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

from sentprobe.probes.report.tables import CellStyle, explain, grid, origins, settings, titles
from sentprobe.probes.runs.results import Results
from sentprobe.table_writers import TableFormat, draw, write_grid, write_notes, write_title

if TYPE_CHECKING:
    from rich.console import RenderableType

WIDTH = 200
"""How wide a table may be where there is no terminal."""

NOTHING = "no results"
"""What stands in place of a table where there is nothing to show."""


def sections(results: Results, style: CellStyle) -> Iterator[tuple[str, Results, str]]:
    """Yield each table's results with what stands above it and the lines below."""
    tables = settings(results)
    several = len({record.source for record in results.records}) > 1
    for title, each in zip(titles(tables), tables, strict=True):
        folders = "".join(f"{line}\n" for line in origins(each)) if several else ""
        yield title, each, folders + explain(each, style=style)


def show_results(
    results: Results, fmt: TableFormat, *, intervals: bool = False, all_rows: bool = False
) -> str:
    """Return the tables of results as text, Markdown, LaTeX, or HTML for a notebook."""
    style = CellStyle(intervals=intervals, all_rows=all_rows)
    if fmt is TableFormat.HTML:
        return _in_notebook(results, style)
    if fmt is TableFormat.TEXT:
        return _drawn(results)
    return "\n".join(
        write_title(title, fmt) + write_grid(grid(each, style=style), fmt) + write_notes(notes, fmt)
        for title, each, notes in sections(results, style)
    )


def render_results(results: Results) -> "RenderableType":
    """Return the tables of results and the lines below them, for a rich console."""
    from rich.console import Group  # noqa: PLC0415 - slow import
    from rich.text import Text  # noqa: PLC0415 - slow import

    parts: list[RenderableType] = []
    for title, each, notes in sections(results, CellStyle()):
        above = [Text(title)] if title else []
        parts += [*above, draw(grid(each)), Text(notes.rstrip("\n"))]
    return Group(*(parts or [Text(NOTHING)]))


def _drawn(results: Results) -> str:
    """Return what a console as wide as the terminal shows, without colours and bold."""
    from rich.console import Console  # noqa: PLC0415 - slow import

    width = shutil.get_terminal_size((WIDTH, 1)).columns
    page = StringIO()
    Console(file=page, width=width, color_system=None).print(render_results(results))
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())


def _in_notebook(results: Results, style: CellStyle) -> str:
    """Return the tables as a part of a page; all texts are escaped."""
    environment = Environment(
        loader=PackageLoader("sentprobe.probes.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shown = [
        (title, grid(each, style=style), notes.splitlines())
        for title, each, notes in sections(results, style)
    ]
    return environment.get_template("notebook.html.j2").render(sections=shown, nothing=NOTHING)
