"""The command ``probe show``: print or write the tables of one or more runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.help import map_given_options
from sentprobe.commands.shared.output_paths import OUTPUT_FILE, complete_column
from sentprobe.commands.shared.table_output import (
    FLAT,
    MTEB,
    find_caption,
    find_table_format,
    print_or_write,
    print_tables,
)
from sentprobe.common import tables as tw
from sentprobe.common.errors import UsageError, format_count
from sentprobe.common.screen import print_place
from sentprobe.common.specs import Lengths, choose_member

if TYPE_CHECKING:
    from sentprobe.probes.reports.tables.training_curves import Curve
    from sentprobe.probes.results.result import Results


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemViewOptions:
    """Options of ``probe show`` that select and group test items."""

    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Show accuracy for each value of a column of the items: voice, clause, distance, length, label, ...",
            autocompletion=complete_column,
        ),
    ] = None
    wrong: Annotated[
        int | None,
        typer.Option(help="Show N wrongly answered test items of --encoder on --task; with --by, N for each value."),
    ] = None
    encoder: Annotated[str | None, typer.Option("--encoder", "-e", help="For --by, --wrong: only this encoder.")] = None
    task: Annotated[str | None, typer.Option(help="For --by, --wrong: only this task.")] = None

    @property
    def view_option(self) -> str:
        """The option that asks for a view of items, ``--wrong`` or ``--by``; empty if neither is set."""
        if self.wrong is not None:
            return "--wrong"
        return "" if self.by is None else "--by"

    def check(self) -> None:
        """Raise UsageError if ``--wrong`` is below 1, or if an option is set without another option that it needs."""
        if self.wrong is not None and self.wrong < 1:
            raise UsageError(f"the number of wrong items must be positive, not {self.wrong}")
        if self.wrong is not None and None in (self.encoder, self.task):
            raise UsageError("--wrong needs --encoder and --task")
        for option, value in (("--encoder", self.encoder), ("--task", self.task)):
            if value is not None and not self.view_option:
                raise UsageError(f"{option} needs --by or --wrong")


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
            help=f"File for a plot (.svg, .png, .pdf); {opt.REPLACED} The plot shows accuracy by layer, by training "
            "step or, with --by-length, by length. For probe geometry, it shows distances."
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
    ] = None,
    *,
    items: ItemViewOptions,
    latex: opt.LatexOptions,
) -> None:
    """Print the tables of one or more runs.

    The results of several runs are merged. With --out, the tables are written to a file.
    """
    from sentprobe.commands.shared import shown_results as shown
    from sentprobe.common.plots import check_suffix
    from sentprobe.probes.language_models.pair_results import read_pair_tables
    from sentprobe.probes.reports.pages.plot_files import write_plot
    from sentprobe.probes.reports.tables.main_table import CellStyle
    from sentprobe.probes.reports.tables.table_notes import COMPLETE, SHORT
    from sentprobe.probes.reports.tables.training_curves import separate_training_curves
    from sentprobe.probes.results.human_results import read_human
    from sentprobe.probes.results.records import read_learning_curves
    from sentprobe.probes.similarity.measures import Nearness

    if format_ == MTEB:
        _write_for_mteb(runs, out, context)
        return
    items.check()
    style = find_table_format(format_, out, subject="probe show", allowed=[*tw.TableFormat], also=[MTEB])
    caption = find_caption(latex, style)
    lengths = None if by_length is None else choose_member(Lengths, by_length, what="--by-length")
    results = shown.read_runs(runs)
    distances = shown.read_distances(runs)
    pair_tables = read_pair_tables(runs)
    human = read_human(runs)
    if not any((results.records, distances, pair_tables, human)):
        raise UsageError(f"{', '.join(map(str, runs))}: no results yet")
    learning_curves = read_learning_curves(runs)
    chosen_nearness = choose_member(Nearness, nearness, what="nearness")
    shown.check_distances(distances, chosen_nearness)
    requested = {
        "--by-length": lengths is not None,
        "--published": published,
        "--audit": bool(audits),
        "--notes": notes,
        "--plot": plot is not None,
        "--sources": sources,
    }
    _check_options([*compress(requested, requested.values())], results, style, items.view_option)
    if items.view_option:
        shown.write_item_view(
            results,
            find_table_format(format_, out, subject=f"probe show {items.view_option}"),
            encoder=items.encoder,
            task=items.task,
            by=items.by,
            wrong=items.wrong,
            style=CellStyle(all_rows=all_rows),
            caption=caption,
            out=out,
        )
        return
    if plot is not None:
        check_suffix(plot)
        write_plot(shown.draw_plot(results, lengths, distances, chosen_nearness, learning_curves), plot)
    if audits and style is not tw.TableFormat.HTML:
        raise UsageError("--audit is for the page: add --format html")
    in_tables = lengths is None and style not in FLAT and style is not tw.TableFormat.HTML
    held_out_items = shown.find_held_out_items(results) if in_tables else ()
    curves: tuple[Curve, ...] = ()
    if style not in FLAT and (lengths is None or style is tw.TableFormat.HTML):
        results, distances, curves = separate_training_curves(results, distances, learning_curves)
    view = shown.View(
        style=CellStyle(intervals=intervals, sources=sources, all_rows=all_rows, published=published, human=human),
        notes=COMPLETE if notes else SHORT,
        by_length=lengths,
        caption=caption,
        distances=distances,
        nearness=chosen_nearness,
        curves=curves,
        items=held_out_items,
        audits=shown.read_audit_files(audits) if audits else (),
        pair_tables=pair_tables,
    )
    if style is tw.TableFormat.TEXT and out is None:
        print_tables(shown.build_tables(results, view))
    else:
        print_or_write(shown.format_results(results, view, style), out)


def _check_options(requested: Sequence[str], results: "Results", style: tw.TableFormat, view_option: str) -> None:
    """Raise UsageError if a requested option does not fit the results, the table format or another requested option."""
    if "--notes" in requested and ("--by-length" in requested or style in FLAT):
        raise UsageError("--notes is for tables of encoders by task in text, markdown or latex")
    options_of_probes = [option for option in (*requested, view_option) if option not in ("--plot", "--sources", "")]
    if options_of_probes and not results.records:
        raise UsageError(f"{options_of_probes[0]} is for probes, and there are no results of probes")
    if view_option and requested:
        raise UsageError(f"{requested[0]} and {view_option} cannot be combined: omit one of them")


def _write_for_mteb(runs: Sequence[Path], out: Path | None, context: typer.Context) -> None:
    """Write the results of runs into the folder *out* in MTEB's layout, and print the number of files."""
    from sentprobe.commands.shared.shown_results import build_sides, read_distances, read_runs
    from sentprobe.probes.mteb import make_mteb_results, write_mteb_results

    if out is None:
        raise UsageError("--format mteb writes a folder: name it with --out")
    for name, option in map_given_options(context).items():
        if name not in ("runs", "format_", "out"):
            raise UsageError(f"{option} is for tables, and --format mteb writes none")
    source = ", ".join(map(str, runs))
    results, distances = read_runs(runs), read_distances(runs)
    if not results.records and not distances:
        raise UsageError(f"{source}: no results yet")
    hint = "MTEB's layout holds one of them: name fewer runs"
    contents = make_mteb_results(build_sides(results, source, hint=hint), distances)
    write_mteb_results(contents, out)
    tasks = format_count(sum(len(files) - 1 for files in contents.values()), "file")  # but for each encoder's own
    print_place(f"results of {format_count(len(contents), 'encoder')} in {tasks}: {out}")
