"""The command ``probe correlate``: what probing tasks go with, over encoders."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands import options as opt
from sentprobe.commands.given_runs import read_probed_runs, sides_of
from sentprobe.commands.table_files import find_caption, find_table_format, print_or_write
from sentprobe.errors import told
from sentprobe.probes.report import correlations
from sentprobe.probes.report.downstream import read_scores
from sentprobe.probes.report.plots import check_suffix
from sentprobe.probes.report.view import to_text as write_sections
from sentprobe.probes.statistics import Correction
from sentprobe.screen import print_table, say
from sentprobe.specs import choose
from sentprobe.table_writers import TableFormat, draw, write_records


@opt.with_groups
def correlate_command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of results.")],
    with_: Annotated[
        Path,
        typer.Option(
            "--with",
            metavar="SCORES",
            help="A CSV file (encoder, then a column for each task), or a folder of MTEB's "
            "results.",
        ),
    ],
    format_: Annotated[
        str | None, opt.format_among(f"text, markdown, latex, csv or json. {opt.OUT_DECIDES}")
    ] = None,
    out: Annotated[Path | None, opt.out_to("Write to this file.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="A heat map, into this file: .svg, .png or .pdf.")
    ] = None,
    correction: Annotated[str, opt.correction_for("pairs")] = "holm",
    seed: Annotated[int, opt.seed_of("intervals and p-values")] = 0,
    table: opt.TableOption = None,
    *,
    latex: opt.LatexOptions,
) -> None:
    """Correlate probing tasks with other scores of the same encoders: Spearman's, by rank."""
    style = find_table_format(format_, out, what="a table of correlations")
    caption = find_caption(latex, style)
    corrected = choose(Correction, correction, what="correction")
    if plot is not None:
        check_suffix(plot)
    results, named = read_probed_runs(runs), ", ".join(map(str, runs))
    found = correlations.correlate(
        sides_of(results, named, table),
        read_scores(with_),
        source=named,
        with_=str(with_),
        correction=corrected,
        seed=seed,
    )
    if plot is not None:
        _save_plot(found, plot)
    grid, notes = (
        correlations.correlation_grid(found),
        correlations.explain_correlations(found, correction=corrected),
    )
    if style is TableFormat.TEXT and out is None:
        print_table(draw(grid))
        say(notes, end="")
    elif style in (TableFormat.CSV, TableFormat.JSON):  # which have no lines below
        if warning := correlations.too_few_encoders(found):
            print(told(f"probe: warning: {warning}"), file=sys.stderr)
        print_or_write(write_records(correlations.correlation_records(found), style), out)
    else:
        print_or_write(write_sections([("", grid, notes)], style, caption=caption), out)


def _save_plot(found: correlations.Correlations, path: Path) -> None:
    from sentprobe.probes.report.heat_map import draw_heat_map  # noqa: PLC0415 - optional
    from sentprobe.probes.report.plots import save_figure  # noqa: PLC0415 - optional

    save_figure(lambda: draw_heat_map(found), path)
