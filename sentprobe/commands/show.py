"""The command ``probe show``: the table of one or more runs."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands import options as opt
from sentprobe.commands.table_files import find_caption, find_format, print_or_write
from sentprobe.errors import UsageError
from sentprobe.lengths import Lengths
from sentprobe.probes.report.curves import Curve, apart, curve_tables, curves_of, read_measured
from sentprobe.probes.report.published import published_records
from sentprobe.probes.report.series import NOTES, check_series, series_grids, series_records
from sentprobe.probes.report.tables import (
    CellStyle,
    arrange,
    grid,
    single_draws,
    titles,
)
from sentprobe.probes.report.view import sections
from sentprobe.probes.report.view import to_text as write_sections
from sentprobe.probes.runs.results import Results
from sentprobe.probes.runs.store import read_results
from sentprobe.screen import print_table, say
from sentprobe.specs import choose
from sentprobe.table_writers import (
    NO_CAPTION,
    Caption,
    TableFormat,
    draw,
    write_grid,
    write_notes,
    write_records,
    write_title,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How results are shown: the cells, or series over lengths instead."""

    style: CellStyle = CellStyle()  # noqa: RUF009 - frozen
    by_length: Lengths | None = None
    caption: Caption = NO_CAPTION
    curves: tuple[Curve, ...] = ()
    """What is known of encoders in training, by step, shown below."""


@opt.with_groups
def show(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of results.")],
    format_: Annotated[
        str | None,
        opt.format_among(f"text, markdown, latex, csv, json or html. {opt.OUT_DECIDES}"),
    ] = None,
    intervals: opt.IntervalsOption = False,
    sources: opt.SourcesOption = False,
    all_rows: opt.AllRowsOption = False,
    published: Annotated[
        bool, typer.Option("--published", help="Add the papers' rows of these tasks.")
    ] = False,
    out: Annotated[Path | None, opt.out_to("Write to this file.")] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Plot accuracy by layer, by step of training, or what --by-length shows, into "
            "this file: .svg, .png or .pdf."
        ),
    ] = None,
    by_length: Annotated[
        str | None,
        typer.Option(
            metavar="bins|tokens",
            help="Show accuracy and norm by sentence length, in bins or for each number of tokens.",
        ),
    ] = None,
    *,
    latex: opt.LatexOptions,
) -> None:
    """Print the table of one or more runs."""
    style = find_format(format_, out)
    caption = find_caption(latex, style)
    lengths = None if by_length is None else choose(Lengths, by_length, what="--by-length")
    results = read_runs(runs)
    plain, trained = apart(results)
    curves = curves_of(trained, read_measured(runs))
    if not results.records and not curves:
        raise UsageError(f"{', '.join(map(str, runs))}: no results yet")
    if plot is not None:
        save_plot(results, plot, lengths, curves)
    if style not in FLAT and (lengths is None or style is TableFormat.HTML):
        results = plain
    else:
        curves = ()
    shown = CellStyle(intervals=intervals, sources=sources, all_rows=all_rows, published=published)
    view = View(style=shown, by_length=lengths, caption=caption, curves=curves)
    if style is TableFormat.TEXT and out is None:
        print_tables(results, view)
    else:
        print_or_write(to_text(results, view, style), out)


FLAT = (TableFormat.CSV, TableFormat.JSON)
"""The formats of records, which say of each at which step it was."""


def read_runs(runs: Sequence[Path]) -> Results:
    """Read several runs as one, layers of a model in order, and compeval tasks in the paper's."""
    records = [record for path in runs for record in read_results(path).records]
    return arrange(Results(tuple(records)))


def save_plot(
    results: Results, path: Path, by_length: Lengths | None, curves: Sequence[Curve] = ()
) -> None:
    """Write the plot of the series, of the one setting that has layers, or of the one curve.

    Raises:
        UsageError: there are layers in several settings, or several curves; there is neither; the
            extra is not installed.
    """
    from sentprobe.probes.report.plots import families  # noqa: PLC0415 - matplotlib is optional
    from sentprobe.probes.report.plots import save_plot as save_layers  # noqa: PLC0415 - optional

    if by_length is not None:
        save_series_plot(results, path, by=by_length)
        return
    layered = [each for each in single_draws(results) if families(each)]
    if curves and not layered:
        save_curve(curves, path)
        return
    if len(layered) > 1:
        raise UsageError(
            f"there are layers in {len(layered)} settings (classifier, data or seed), and one plot "
            "is of one: name fewer runs, or use --format html, which has a plot of each"
        )
    save_layers(layered[0] if layered else results, path)


def to_text(results: Results, view: View, fmt: TableFormat) -> str:
    """Return what is shown, as text in any of the formats."""
    if view.by_length is not None and fmt is not TableFormat.HTML:
        return series_text(results, view, by=view.by_length, fmt=fmt)
    if fmt in (TableFormat.CSV, TableFormat.JSON):
        papers = published_records(results) if view.style.published else []
        return write_records([*results.to_records(), *papers], fmt)
    if fmt is TableFormat.HTML:
        from sentprobe.probes.report.html import report  # noqa: PLC0415 - Jinja is not always needed

        by = view.by_length or Lengths.BINS
        return report(results, style=view.style, by=by, curves=view.curves)
    return write_sections(
        list(sections(results, view.style)), fmt, style=view.style, caption=view.caption
    ) + curves_text(view, fmt)


def curves_text(view: View, fmt: TableFormat) -> str:
    """Return the tables of curves as text."""
    tables = curve_tables(view.curves, intervals=view.style.intervals)
    return "\n".join(
        write_title(title, fmt) + write_grid(table, fmt, view.caption) + write_notes(notes, fmt)
        for title, table, notes in tables
    )


def print_tables(results: Results, view: View) -> None:
    """Print a table for each setting, with what it says."""
    if view.by_length is not None:
        print_series(results, by=view.by_length, style=view.style)
        return
    for title, each, notes in sections(results, view.style):
        say(write_title(title, TableFormat.TEXT), end="")
        print_table(draw(grid(each, style=view.style)))
        say(notes, end="")
    for title, table, notes in curve_tables(view.curves, intervals=view.style.intervals):
        say(write_title(title, TableFormat.TEXT), end="")
        print_table(draw(table))
        say(notes, end="")


def print_series(results: Results, *, by: Lengths, style: CellStyle) -> None:
    """Print a table for each setting, draw and task.

    Raises:
        UsageError: see :func:`check_series`.
    """
    check_series(results)
    tables = single_draws(results)
    for title, each in zip(titles(tables), tables, strict=True):
        say(write_title(title, TableFormat.TEXT), end="")
        for one in series_grids(each, by=by, style=style):
            print_table(draw(one))
    say("\n".join(NOTES))


def series_text(results: Results, view: View, *, by: Lengths, fmt: TableFormat) -> str:
    """Return the series as text, in any of the formats but HTML, whose page has plots of them.

    Raises:
        UsageError: see :func:`check_series`.
    """
    check_series(results)
    if fmt in (TableFormat.CSV, TableFormat.JSON):
        return write_records(series_records(results, by=by), fmt)
    tables = single_draws(results)
    grids = [list(series_grids(each, by=by, style=view.style)) for each in tables]
    count, numbers = sum(map(len, grids)), itertools.count(1)
    parts = [
        write_title(title, fmt)
        + "\n".join(write_grid(g, fmt, view.caption.of(next(numbers), count)) for g in each)
        for title, each in zip(titles(tables), grids, strict=True)
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
    found = single_draws(results)
    if len(found) > 1:
        raise UsageError(
            f"there are {len(found)} settings (classifier, data, probe words or seed), and one "
            "plot is of one: name fewer runs, or use --format html, which has a plot of each"
        )
    save_figure(lambda: draw_series(found[0], by=by), path)


def save_curve(curves: Sequence[Curve], path: Path) -> None:
    """Write the plot of the one curve that there is.

    Raises:
        UsageError: there are several curves; the extra is not installed.
    """
    from sentprobe.probes.report.curve_plots import draw_curve  # noqa: PLC0415 - optional
    from sentprobe.probes.report.plots import save_figure  # noqa: PLC0415 - optional

    if len(curves) > 1:
        raise UsageError(
            f"there are {len(curves)} trainings (name, seed or folder), and one plot is of one: "
            "name fewer runs, or use --format html, which has a plot of each"
        )
    save_figure(lambda: draw_curve(curves[0]), path)
