"""The command ``probe correlate``: rank correlations of probing accuracy with other scores of the same encoders."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.output_paths import OUTPUT_FILE
from sentprobe.commands.shared.table_output import FLAT, find_caption, find_table_format, write_tables
from sentprobe.display.screen import print_message
from sentprobe.errors import UsageError
from sentprobe.specs import choose_member


@opt.expand_option_groups
def correlate(
    runs: opt.RunsArgument,
    with_: Annotated[
        Path,
        typer.Option(
            "--with", metavar="SCORES", help="CSV file (columns: encoder, then scores), or folder of MTEB results."
        ),
    ],
    format_: Annotated[str | None, opt.build_format_option(opt.TABLE_FORMATS, opt.DEFAULT_FORMAT_HELP)] = None,
    out: opt.OutFileOption = None,
    plot: Annotated[
        Path | None, typer.Option(help=f"File for a heat map (.svg, .png, .pdf); {opt.REPLACED}"), OUTPUT_FILE
    ] = None,
    correction: opt.CorrectionOption = "holm",
    seed: Annotated[int, opt.build_seed_option("intervals and p-values")] = 0,
    table: opt.TableOption = None,
    *,
    latex: opt.LatexOptions,
) -> None:
    """Correlate probing accuracy with other scores of the encoders.

    The correlation is Spearman's, over encoders, for each probing task and each column of scores.
    """
    from sentprobe.commands.results.shown_results import build_sides, read_runs
    from sentprobe.probes.report.findings import correlations
    from sentprobe.probes.report.findings.downstream import read_scores
    from sentprobe.probes.report.plots.method_pictures import draw_heat_map
    from sentprobe.probes.report.plots.plot_files import check_suffix, write_plot
    from sentprobe.probes.statistics import Correction

    style = find_table_format(format_, out, subject="a table of correlations")
    caption = find_caption(latex, style)
    corrected = choose_member(Correction, correction, what="correction")
    if plot is not None:
        check_suffix(plot)
    results, source = read_runs(runs), ", ".join(map(str, runs))
    if not results.records:
        raise UsageError(f"{source}: no results of probes yet")
    correlations_found = correlations.correlate_tasks(
        build_sides(results, source, table),
        read_scores(with_),
        source=source,
        scores_source=str(with_),
        correction=corrected,
        seed=seed,
    )
    if plot is not None:
        write_plot(draw_heat_map(correlations_found), plot)
    grid = correlations.build_correlation_grid(correlations_found)
    notes = correlations.describe_correlations(correlations_found, correction=corrected)
    if style in FLAT and (warning := correlations.describe_small_sample(correlations_found)):  # in place of notes
        print_message(f"probe: warning: {warning}")
    make_records = partial(correlations.to_correlation_records, correlations_found)
    write_tables([("", grid, notes)], make_records, style, out=out, caption=caption)
