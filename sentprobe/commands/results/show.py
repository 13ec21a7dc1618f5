"""The command ``probe show``: print or write the tables of one or more runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.results.item_options import ItemViewOptions
from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.output_paths import INPUT, OUTPUT_FILE
from sentprobe.commands.shared.table_output import (
    FLAT,
    MTEB,
    find_caption,
    find_table_format,
    print_or_write,
    print_tables,
)
from sentprobe.display import table_writers as tw
from sentprobe.errors import UsageError
from sentprobe.lengths import Lengths
from sentprobe.specs import choose_member

if TYPE_CHECKING:
    from sentprobe.probes.results.result import Results


@opt.expand_option_groups
def show(
    context: typer.Context,
    runs: opt.RunsArgument,
    format_: Annotated[
        str | None, opt.build_format_option((*opt.TABLE_FORMATS, "html", "mteb (a folder)"), opt.DEFAULT_FORMAT_HELP)
    ] = None,
    intervals: opt.IntervalsOption = False,
    sources: opt.SourcesOption = False,
    all_rows: opt.AllRowsOption = False,
    notes: opt.NotesOption = False,
    published: opt.PublishedOption = False,
    out: Annotated[
        Path | None, opt.build_out_option(f"File to write (mteb: folder); {opt.REPLACED}"), OUTPUT_FILE
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help=f"File for a plot (.svg, .png, .pdf); {opt.REPLACED} It shows accuracy by layer, training step or "
            "--by-length, or distances, whichever the run has."
        ),
        OUTPUT_FILE,
    ] = None,
    by_length: opt.ByLengthOption = None,
    nearness: opt.NearnessOption = "cosine",
    audits: Annotated[
        list[Path] | None,
        typer.Option(
            "--audit",
            metavar="FILE",
            help="With --format html: add an audit (probe audit --format json) to the page; repeatable.",
        ),
        INPUT,
    ] = None,
    *,
    items: ItemViewOptions,
    latex: opt.LatexOptions,
) -> None:
    """Print the tables of one or more runs.

    Several runs are shown as one. With --out, the tables are written to a file.
    """
    from sentprobe.commands.results import shown_results as shown
    from sentprobe.probes.geometry.measures import Nearness
    from sentprobe.probes.language_models.pair_results import read_pair_tables
    from sentprobe.probes.report.plots.plot_files import check_suffix, write_plot
    from sentprobe.probes.report.tables.main_table import CellStyle
    from sentprobe.probes.report.tables.table_notes import COMPLETE, SHORT
    from sentprobe.probes.results.training_curve import read_learning_curves

    if format_ == MTEB:
        from sentprobe.commands.results.mteb_export import write_for_mteb

        write_for_mteb(runs, out, context)
        return
    items.check()
    style = find_table_format(format_, out, subject="probe show", allowed=[*tw.TableFormat], also=[MTEB])
    caption = find_caption(latex, style)
    lengths = None if by_length is None else choose_member(Lengths, by_length, what="--by-length")
    results = shown.read_runs(runs)
    distances = shown.read_distances(runs)
    pair_tables = read_pair_tables(runs)
    if not results.records and not distances and not pair_tables:
        raise UsageError(f"{', '.join(map(str, runs))}: no results yet")
    learning_curves = read_learning_curves(runs)
    chosen_nearness = choose_member(Nearness, nearness, what="nearness")
    shown.check_distances(distances, chosen_nearness)
    requested = {
        "--by-length": lengths is not None,
        "--published": published,
        "--audit": bool(audits),
        "--notes": notes,
    }
    _check_notes(by_length, style, notes_requested=notes)
    _check_probed(results, {**requested, items.view_option: bool(items.view_option)})
    if items.view_option:
        _reject_with_items(items.view_option, {**requested, "--plot": plot is not None, "--sources": sources})
        from sentprobe.commands.results.show_items import ItemView, show_items

        cells = CellStyle(all_rows=all_rows)
        show_items(results, ItemView(options=items, style=cells, caption=caption, out=out), format_)
        return
    if plot is not None:
        check_suffix(plot)
        write_plot(shown.draw_plot(results, lengths, distances, chosen_nearness, learning_curves), plot)
    in_tables = lengths is None and style not in FLAT and style is not tw.TableFormat.HTML
    cell_style = CellStyle(intervals=intervals, sources=sources, all_rows=all_rows, published=published)
    if audits and style is not tw.TableFormat.HTML:
        raise UsageError("--audit is for the page: add --format html")
    view = shown.View(
        style=cell_style,
        notes=COMPLETE if notes else SHORT,
        by_length=lengths,
        caption=caption,
        distances=distances,
        nearness=chosen_nearness,
        items=shown.find_held_out_items(results) if in_tables else (),
        audits=shown.read_shown_audits(audits or ()),
        pair_tables=pair_tables,
    )
    if style not in FLAT and (lengths is None or style is tw.TableFormat.HTML):
        results, view = shown.separate_curves(results, view, learning_curves)
    if style is tw.TableFormat.TEXT and out is None:
        print_tables(shown.build_tables(results, view))
    else:
        print_or_write(shown.format_results(results, view, style), out)


def _check_notes(by_length: str | None, style: tw.TableFormat, *, notes_requested: bool) -> None:
    """Raise UsageError for --notes with a format or table that has no notes."""
    if notes_requested and (by_length is not None or style in FLAT):
        raise UsageError("--notes is for tables of encoders by task in text, markdown or latex")


def _check_probed(results: "Results", requested: Mapping[str, bool]) -> None:
    """Raise UsageError for the first requested option if there are no results of probes."""
    for option, is_requested in requested.items():
        if is_requested and not results.records:
            raise UsageError(f"{option} is for probes, and there are no results of probes")


def _reject_with_items(view: str, requested: Mapping[str, bool]) -> None:
    """Raise UsageError for the first requested option; none can be combined with *view*, --by or --wrong."""
    for option, is_requested in requested.items():
        if is_requested:
            raise UsageError(f"{option} and {view} cannot be combined: omit one of them")
