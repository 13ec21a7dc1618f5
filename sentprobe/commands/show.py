"""The command ``probe show``: the table of one or more runs."""

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe import table_writers as tw
from sentprobe.commands import options as opt
from sentprobe.commands.given_runs import check_distances, read_distances, read_runs
from sentprobe.commands.table_files import FLAT, MTEB, find_caption, find_format, print_or_write
from sentprobe.errors import SentprobeError, UsageError, told
from sentprobe.lengths import Lengths
from sentprobe.probes.geometry.draws import geometry_tables
from sentprobe.probes.geometry.measures import Nearness
from sentprobe.probes.geometry.results import GeometryResult
from sentprobe.probes.report.curves import Curve, apart, curve_tables
from sentprobe.probes.report.geometry import all_records, geometry_sections
from sentprobe.probes.report.methods import method_records, method_tables
from sentprobe.probes.report.part_tables import by_fingerprint, structure_sections
from sentprobe.probes.report.published import published_records
from sentprobe.probes.report.series import NOTES, check_series, series_grids, series_records
from sentprobe.probes.report.tables import CellStyle, single_draws, titles
from sentprobe.probes.report.view import ShownTable, in_grids, sections
from sentprobe.probes.report.view import to_text as write_sections
from sentprobe.probes.runs.item_table import ItemTable, has_held_out, has_items, item_tables
from sentprobe.probes.runs.learning_curve import LearningCurve, read_learning_curves
from sentprobe.probes.runs.results import Result, Results
from sentprobe.screen import print_table, say
from sentprobe.specs import choose

if TYPE_CHECKING:
    from sentprobe.probes.audit import Audit


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How results are shown: the cells, or series over lengths instead."""

    style: CellStyle = CellStyle()  # noqa: RUF009 - frozen
    by_length: Lengths | None = None
    caption: tw.Caption = tw.NO_CAPTION
    distances: tuple[GeometryResult, ...] = ()
    """What is known of geometry, shown below."""
    nearness: Nearness = Nearness.COSINE
    curves: tuple[Curve, ...] = ()
    """What is known of encoders in training, by step, shown below."""
    items: tuple[ItemTable, ...] = ()
    """Test items of which some have a structure that was held out; the gap is shown below."""
    audits: "tuple[Audit, ...]" = ()
    """What surface cues achieve on the data, for the page."""


@opt.with_groups
def show(
    context: typer.Context,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of results.")],
    format_: Annotated[
        str | None,
        opt.format_among(
            f"text, markdown, latex, csv, json, html or mteb (a folder). {opt.OUT_DECIDES}"
        ),
    ] = None,
    intervals: opt.IntervalsOption = False,
    sources: opt.SourcesOption = False,
    all_rows: opt.AllRowsOption = False,
    published: opt.PublishedOption = False,
    out: Annotated[Path | None, opt.out_to("Write to this file; mteb: into this folder.")] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Plot accuracy by layer, by step of training, what --by-length shows, or geometry "
            "alone, into this file: .svg, .png or .pdf."
        ),
    ] = None,
    by_length: opt.ByLengthOption = None,
    nearness: opt.NearnessOption = "cosine",
    audits: opt.AuditsOption = None,
    *,
    items: opt.ItemViewOptions,
    latex: opt.LatexOptions,
) -> None:
    """Print the table of one or more runs, and those of probe geometry."""
    if format_ == MTEB:
        from sentprobe.commands.mteb_files import write_for_mteb  # noqa: PLC0415 - seldom needed

        write_for_mteb(runs, out, context)
        return
    items.check()
    style = find_format(format_, out, also=[MTEB])
    caption = find_caption(latex, style)
    lengths = None if by_length is None else choose(Lengths, by_length, what="--by-length")
    results = read_runs(runs)
    distances = read_distances(runs, probed=bool(results.records))
    if not results.records and not distances:
        raise UsageError(f"{', '.join(map(str, runs))}: no results yet")
    learned = read_learning_curves(runs)
    near = choose(Nearness, nearness, what="nearness")
    check_distances(distances, near)
    asked = {
        "--by-length": lengths is not None,
        "--published": published,
        "--audit": bool(audits),
    }
    _check_probed(results, {**asked, items.asked: bool(items.asked)})
    if items.asked:
        _check_alone(items.asked, {**asked, "--plot": plot is not None, "--sources": sources})
        from sentprobe.commands.show_items import ItemView, show_items  # noqa: PLC0415 - few ask

        cells = CellStyle(all_rows=all_rows)
        show_items(results, ItemView(options=items, style=cells, caption=caption, out=out), format_)
        return
    if plot is not None:
        save_plot(results, plot, lengths, distances, near, learned)
    in_tables = lengths is None and style not in FLAT and style is not tw.TableFormat.HTML
    shown = CellStyle(intervals=intervals, sources=sources, all_rows=all_rows, published=published)
    if audits and style is not tw.TableFormat.HTML:
        raise UsageError("--audit is of the page: add --format html, or leave it out")
    view = View(
        style=shown,
        by_length=lengths,
        caption=caption,
        distances=distances,
        nearness=near,
        items=_held_out_items(results) if in_tables else (),
        audits=_read_audits(audits or ()),
    )
    if style not in FLAT and (lengths is None or style is tw.TableFormat.HTML):
        results, view = without_curves(results, view, learned)
    if style is tw.TableFormat.TEXT and out is None:
        print_tables(results, view)
    else:
        print_or_write(to_text(results, view, style), out)


def without_curves(
    results: Results, view: View, learned: Sequence[LearningCurve]
) -> tuple[Results, View]:
    """Return what is in no training, and a view that has what is as curves."""
    parts = apart(results, view.distances, learned)
    return parts.plain, replace(view, distances=parts.still, curves=parts.curves)


def _check_probed(results: Results, asked: Mapping[str, bool]) -> None:
    """Refuse options about probes where there are distances alone."""
    for option, given in asked.items():
        if given and not results.records:
            raise UsageError(f"{option} is of probes, and here are results of geometry alone")


def _check_alone(view: str, asked: Mapping[str, bool]) -> None:
    """Refuse options that a view of test items does not have."""
    for option, given in asked.items():
        if given:
            raise UsageError(f"{option} does not go with {view}: leave one of them out")


def _read_audits(paths: Sequence[Path]) -> "tuple[Audit, ...]":
    """Read the audits of several files."""
    if not paths:
        return ()
    from sentprobe.probes.audit.read import read_audits  # noqa: PLC0415 - slow, seldom asked for

    return tuple(audit for path in paths for audit in read_audits(path))


def _kept_items(results: Results) -> tuple[ItemTable, ...]:
    """Return the test items that the folders keep, and leave out those that are damaged."""
    of = {(r.source, r.task, r.dataset_fingerprint): r for r in results.records}
    there = (each for each in of.values() if has_items(each, Path(each.source)))
    tables = (table for each in there for table in _items_of(each))
    return tuple({(each.task, each.fingerprint): each for each in tables}.values())


def _items_of(result: Result) -> tuple[ItemTable, ...]:
    """Return the test items of a result or, where they cannot be used, say why on stderr."""
    try:
        return item_tables([result])
    except SentprobeError as error:
        print(told(f"left out: test items: {error}"), file=sys.stderr)
        return ()


def _held_out_items(results: Results) -> tuple[ItemTable, ...]:
    """Return the test items of which some have a structure that was held out, where kept."""
    return _kept_items(Results(tuple(filter(has_held_out, results.records))))


def save_plot(
    results: Results,
    path: Path,
    by_length: Lengths | None,
    distances: Sequence[GeometryResult] = (),
    nearness: Nearness = Nearness.COSINE,
    learned: Sequence[LearningCurve] = (),
) -> None:
    """Write the plot of the series, of the one setting with layers, of a training, or of geometry.

    Raises:
        UsageError: there are layers in several settings, or several curves; there is neither; the
            extra is not installed.
    """
    from sentprobe.probes.report.plots import families  # noqa: PLC0415 - matplotlib is optional
    from sentprobe.probes.report.plots import save_plot as save_layers  # noqa: PLC0415 - optional

    if by_length is not None:
        save_series_plot(results, path, by=by_length)
        return
    trained = apart(results, distances, learned).curves
    layered = [each for each in single_draws(results) if families(each)]
    if trained and not layered:
        save_curve(trained, path)
        return
    if not results.records:
        save_dots(distances, path, nearness)
        return
    if len(layered) > 1:
        raise UsageError(
            f"there are layers in {len(layered)} settings (classifier, data or seed), and one plot "
            "is of one: name fewer runs, or use --format html, which has a plot of each"
        )
    save_layers(layered[0] if layered else results, path)


def to_text(results: Results, view: View, fmt: tw.TableFormat) -> str:
    """Return what is shown, as text in any of the formats."""
    if view.by_length is not None and fmt is not tw.TableFormat.HTML:
        return series_text(results, view, by=view.by_length, fmt=fmt)
    if fmt in FLAT:
        papers = published_records(results) if view.style.published else []
        return tw.write_records(
            all_records(results, view.distances, papers, method_records(results)), fmt
        )
    if fmt is tw.TableFormat.HTML:
        from sentprobe.probes.report.html import report  # noqa: PLC0415 - Jinja is not always needed

        by = view.by_length or Lengths.BINS
        return report(
            results,
            view.distances,
            style=view.style,
            by=by,
            curves=view.curves,
            nearness=view.nearness,
            items=_kept_items(results),
            audits=view.audits,
        )
    return write_sections(list(_tables(results, view)), fmt, caption=view.caption)


def print_tables(results: Results, view: View) -> None:
    """Print a table for each setting, with what it says."""
    if view.by_length is not None:
        print_series(results, by=view.by_length, style=view.style)
        return
    for title, each, notes in _tables(results, view):
        say(tw.write_title(title, tw.TableFormat.TEXT), end="")
        print_table(tw.draw(each))
        say(notes, end="")


def _tables(results: Results, view: View) -> Iterator[ShownTable]:
    """Yield each table with what stands above it and below; then geometry, curves, methods."""
    yield from in_grids(sections(results, view.style), view.style)
    yield from structure_sections(results, by_fingerprint(view.items), view.style)
    yield from geometry_sections(
        view.distances, results, intervals=view.style.intervals, nearness=view.nearness
    )
    yield from curve_tables(view.curves, intervals=view.style.intervals)
    yield from method_tables(results)


def print_series(results: Results, *, by: Lengths, style: CellStyle) -> None:
    """Print a table for each setting, draw and task.

    Raises:
        UsageError: see :func:`check_series`.
    """
    check_series(results)
    tables = single_draws(results)
    for title, each in zip(titles(tables), tables, strict=True):
        say(tw.write_title(title, tw.TableFormat.TEXT), end="")
        for one in series_grids(each, by=by, style=style):
            print_table(tw.draw(one))
    say("\n".join(NOTES))


def series_text(results: Results, view: View, *, by: Lengths, fmt: tw.TableFormat) -> str:
    """Return the series as text, in any of the formats but HTML, whose page has plots of them.

    Raises:
        UsageError: see :func:`check_series`.
    """
    check_series(results)
    if fmt in (tw.TableFormat.CSV, tw.TableFormat.JSON):
        return tw.write_records(series_records(results, by=by), fmt)
    tables = single_draws(results)
    grids = [list(series_grids(each, by=by, style=view.style)) for each in tables]
    count, numbers = sum(map(len, grids)), itertools.count(1)
    parts = [
        tw.write_title(title, fmt)
        + "\n".join(tw.write_grid(g, fmt, view.caption.of(next(numbers), count)) for g in each)
        for title, each in zip(titles(tables), grids, strict=True)
    ]
    return "\n".join(parts) + tw.write_notes("".join(f"{note}\n" for note in NOTES), fmt)


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


def save_dots(distances: Sequence[GeometryResult], path: Path, nearness: Nearness) -> None:
    """Write the plot of the one table of geometry that there is.

    Raises:
        UsageError: there are several tables; the extra is not installed.
    """
    from sentprobe.probes.report.dots import draw_dots  # noqa: PLC0415 - matplotlib is optional
    from sentprobe.probes.report.plots import save_figure  # noqa: PLC0415 - optional

    tables = geometry_tables(distances)
    if len(tables) > 1:
        raise UsageError(
            f"there are {len(tables)} tables of geometry, and one plot is of one: name fewer runs, "
            "or use --format html, which has a plot of each"
        )
    save_figure(lambda: draw_dots(tables[0], nearness), path)


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
