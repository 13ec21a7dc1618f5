"""What ``probe show`` does, as functions that anyone can call."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sentprobe.errors import UsageError
from sentprobe.files import write_atomically
from sentprobe.lengths import Lengths
from sentprobe.probes.report.grids import (
    TableFormat,
    draw,
    write_grid,
    write_notes,
    write_records,
    write_title,
)
from sentprobe.probes.report.series import NOTES, check_series, series_grids, series_records
from sentprobe.probes.report.tables import (
    CellStyle,
    arrange,
    explain,
    grid,
    origins,
    published,
    settings,
    titles,
)
from sentprobe.probes.runs.results import Results
from sentprobe.probes.runs.store import read_results
from sentprobe.progress import console
from sentprobe.specs import choose

if TYPE_CHECKING:
    from rich.console import Console


SUFFIXES = {
    ".md": TableFormat.MARKDOWN,
    ".tex": TableFormat.LATEX,
    ".csv": TableFormat.CSV,
    ".json": TableFormat.JSON,
    ".html": TableFormat.HTML,
}
"""The format of a file by its suffix; of any other it is text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How results are shown."""

    format: TableFormat = TableFormat.TEXT
    intervals: bool = False
    published: bool = False
    out: Path | None = None
    """A file for what would be printed."""
    plot: Path | None = None
    """A file for a plot of accuracy by layer or, with *by_length*, of the series."""
    by_length: Lengths | None = None
    """Series over the length of sentences instead of the table."""


def find_format(name: str | None, out: Path | None) -> TableFormat:
    """Return the format of that name; of none, the one that the suffix of *out* says.

    Raises:
        UsageError: there is no such format.
    """
    if name is not None:
        return choose(TableFormat, name, what="format")
    return TableFormat.TEXT if out is None else SUFFIXES.get(out.suffix.lower(), TableFormat.TEXT)


def show(runs: Sequence[Path], view: View) -> None:
    """Print the table of one or more runs, or write it to a file.

    Raises:
        UsageError: a plot where there are no layers; its extra is not installed.
        ResultsError: a run cannot be read.
    """
    results = read_runs(runs)
    if not results.records:
        raise UsageError(f"{', '.join(map(str, runs))}: no results yet")
    if view.plot is not None:
        _save_plot(results, view)
    if view.format is TableFormat.TEXT and view.out is None:
        print_tables(results, view)
        return
    text = to_text(results, view)
    if view.out is None:
        print(text, end="")
    else:
        write_atomically(view.out, text)


def read_runs(runs: Sequence[Path]) -> Results:
    """Read several runs as one, layers of a model in order, and compeval tasks in the paper's."""
    records = [record for path in runs for record in read_results(path).records]
    return arrange(Results(tuple(records)))


def _save_plot(results: Results, view: View) -> None:
    """Write the plot of the series, or of the one setting that has layers."""
    from sentprobe.probes.report.plots import families, save_plot  # noqa: PLC0415 - matplotlib is optional

    assert view.plot is not None
    if view.by_length is not None:
        save_series_plot(results, view.plot, by=view.by_length)
        return
    layered = [each for each in settings(results) if families(each)]
    if len(layered) > 1:
        raise UsageError(
            f"there are layers in {len(layered)} settings (classifier, data or seed), and one plot "
            "is of one: name fewer runs, or use --format html, which has a plot of each"
        )
    save_plot(layered[0] if layered else results, view.plot)


def to_text(results: Results, view: View) -> str:
    """Return what is shown, as text in any of the formats."""
    if view.by_length is not None and view.format is not TableFormat.HTML:
        return series_text(results, by=view.by_length, style=_style(view), fmt=view.format)
    if view.format in (TableFormat.CSV, TableFormat.JSON):
        return write_records(results.to_records(), view.format)
    if view.format is TableFormat.HTML:
        from sentprobe.probes.report.html import report  # noqa: PLC0415 - Jinja is not always needed

        by = view.by_length or Lengths.BINS
        return report(results, style=_style(view), note=published_note(view).strip(), by=by)
    parts = []
    for title, each, notes in _tables(results, view):
        table = write_grid(grid(each, style=_style(view)), view.format)
        parts.append(write_title(title, view.format) + table + write_notes(notes, view.format))
    return "\n".join(parts)


def print_tables(results: Results, view: View) -> None:
    """Print a table for each setting, with what it says."""
    screen = console()
    if view.by_length is not None:
        print_series(results, by=view.by_length, style=_style(view), screen=screen)
        return
    for title, each, notes in _tables(results, view):
        print(write_title(title, TableFormat.TEXT), end="")
        screen.print(draw(grid(each, style=_style(view))))
        print(notes, end="")


def _tables(results: Results, view: View) -> Iterator[tuple[str, Results, str]]:
    """Yield each table with what stands above it and below."""
    tables = settings(results)
    several = len({record.source for record in results.records}) > 1
    for title, each in zip(titles(tables), tables, strict=True):
        folders = "".join(f"{line}\n" for line in origins(each)) if several else ""
        yield title, each, folders + explain(each) + published_note(view)


def _style(view: View) -> CellStyle:
    style = CellStyle(intervals=view.intervals)
    if not view.published:
        return style
    return replace(style, published=tuple(row for row in published().rows if row.accuracies))


def published_note(view: View) -> str:
    """Return the source of the published rows, or why there are none."""
    if not view.published:
        return ""
    found = published()
    shown = f"Published rows: {found.citation}; their data and classifier, not these."
    parts = [shown] if any(row.accuracies for row in found.rows) else []
    return "".join(f"{part}\n" for part in (*parts, found.note) if part)


def print_series(results: Results, *, by: Lengths, style: CellStyle, screen: "Console") -> None:
    """Print a table for each setting and task.

    Raises:
        UsageError: see :func:`check_series`.
    """
    check_series(results)
    tables = settings(results)
    for title, each in zip(titles(tables), tables, strict=True):
        print(write_title(title, TableFormat.TEXT), end="")
        for one in series_grids(each, by=by, style=style):
            screen.print(draw(one))
    print("\n".join(NOTES))


def series_text(results: Results, *, by: Lengths, style: CellStyle, fmt: TableFormat) -> str:
    """Return the series as text, in any of the formats but HTML, whose page has plots of them.

    Raises:
        UsageError: see :func:`check_series`.
    """
    check_series(results)
    if fmt in (TableFormat.CSV, TableFormat.JSON):
        return write_records(series_records(results, by=by), fmt)
    tables = settings(results)
    parts = [
        write_title(title, fmt)
        + "\n".join(write_grid(g, fmt) for g in series_grids(each, by=by, style=style))
        for title, each in zip(titles(tables), tables, strict=True)
    ]
    return "\n".join(parts) + write_notes("".join(f"{note}\n" for note in NOTES), fmt)


def save_series_plot(results: Results, path: "Path", *, by: Lengths) -> None:
    """Write the plot of the one setting that there is.

    Raises:
        UsageError: there are several settings; the extra is not installed; see
            :func:`check_series`.
    """
    from sentprobe.probes.report.plots import draw_series, save_figure  # noqa: PLC0415 - optional

    check_series(results)
    found = settings(results)
    if len(found) > 1:
        raise UsageError(
            f"there are {len(found)} settings (classifier, data, probe words or seed), and one "
            "plot is of one: name fewer runs, or use --format html, which has a plot of each"
        )
    save_figure(lambda: draw_series(found[0], by=by), path)
