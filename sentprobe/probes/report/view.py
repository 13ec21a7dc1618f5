"""Results as they show by themselves: as text, in a terminal, in a notebook, in a document."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, TypeAlias

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from sentprobe import table_writers as tw
from sentprobe.probes.report.tables import CellStyle, explain, grid, origins, settings, titles
from sentprobe.probes.runs.results import Results
from sentprobe.screen import fit, wrap

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

WIDTH = 200
"""How wide a table may be where there is no terminal."""

ShownTable: TypeAlias = tuple[str, tw.Grid, str]
"""A table with what stands above it and the lines below."""

NOTHING = "no results"
"""What stands in place of a table where there is nothing to show."""


def sections(results: Results, style: CellStyle) -> Iterator[tuple[str, Results, str]]:
    """Yield each table's results with what stands above it and the lines below."""
    for title, each, folders in titled(results):
        lines = "".join(f"{line}\n" for line in folders)
        yield title, each, lines + explain(each, style=style)


def titled(results: Results) -> Iterator[tuple[str, Results, tuple[str, ...]]]:
    """Yield each table's results with what stands above it and, of several, its folders."""
    tables = settings(results)
    several = len({record.source for record in results.records}) > 1
    for title, each in zip(titles(tables), tables, strict=True):
        yield title, each, tuple(origins(each)) if several else ()


def show_results(
    results: Results,
    fmt: tw.TableFormat,
    *,
    intervals: bool = False,
    all_rows: bool = False,
    caption: tw.Caption = tw.NO_CAPTION,
) -> str:
    """Return the tables of results as text, Markdown, LaTeX, or HTML for a notebook."""
    style = CellStyle(intervals=intervals, all_rows=all_rows)
    if fmt is tw.TableFormat.HTML:
        return _in_notebook(results, style)
    if fmt is tw.TableFormat.TEXT:
        return _drawn(results)
    return to_text(list(in_grids(sections(results, style), style)), fmt, caption=caption)


def in_grids(shown: Iterable[tuple[str, Results, str]], style: CellStyle) -> Iterator[ShownTable]:
    """Yield tables of results as they are laid out."""
    return ((title, grid(each, style=style), notes) for title, each, notes in shown)


def to_text(
    shown: Sequence[ShownTable], fmt: tw.TableFormat, *, caption: tw.Caption = tw.NO_CAPTION
) -> str:
    """Return tables, each with what stands above it and below, as text."""
    return "\n".join(
        tw.write_title(title, fmt)
        + tw.write_grid(each, fmt, caption.of(number, len(shown)))
        + tw.write_notes(notes, fmt)
        for number, (title, each, notes) in enumerate(shown, 1)
    )


@dataclass(frozen=True, slots=True)
class RenderedResults:
    """The tables of results and the lines below them, as wide as the rich console is."""

    results: Results

    def __rich_console__(
        self, console: "Console", options: "ConsoleOptions"
    ) -> "Iterator[RenderableType]":
        from rich.text import Text  # noqa: PLC0415 - slow import

        for part in _parts(self.results, options.max_width):
            if isinstance(part, str):
                text = wrap(part, options.max_width)
                yield Text(text, no_wrap=True, overflow="ignore")
            else:
                yield part


def _parts(results: Results, width: int) -> "Iterator[Table | str]":
    if not results.records:
        yield NOTHING
    for title, each, notes in sections(results, CellStyle()):
        yield from [title] if title else []
        yield from fit(tw.draw(grid(each)), width)
        yield notes.rstrip("\n")


def render_results(results: Results) -> RenderedResults:
    """Return what a rich console shows of results."""
    return RenderedResults(results)


def _drawn(results: Results) -> str:
    """Return what a console as wide as the terminal shows, without colours and bold."""
    from rich.console import Console  # noqa: PLC0415 - slow import

    width = shutil.get_terminal_size((WIDTH, 1)).columns
    page = StringIO()
    Console(file=page, width=width, color_system=None).print(render_results(results))
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())


def _in_notebook(results: Results, style: CellStyle) -> str:
    """Return the tables as a part of a page; all texts are escaped."""
    shown = [
        (title, grid(each, style=style), notes.splitlines())
        for title, each, notes in sections(results, style)
    ]
    return template("notebook.html.j2").render(sections=shown, nothing=NOTHING)


def template(name: str) -> Template:
    """Return a template of the package; all texts that it is given are escaped."""
    environment = Environment(
        loader=PackageLoader("sentprobe.probes.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)
