"""The command ``probe check``: list problems that weaken claims about results, with advice.

The command ``probe methods``: a paragraph for a paper's methods section.

The command ``probe report``: write one or more runs as an HTML page.

The command ``probe correlate``: rank correlations of probing accuracy with other scores of the same encoders.
"""

from functools import partial
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.output_paths import OUTPUT_FILE
from sentprobe.commands.shared.table_output import FLAT, find_caption, find_table_format, print_or_write, write_tables
from sentprobe.common.errors import UsageError
from sentprobe.common.files import write_atomically
from sentprobe.common.screen import print_message, print_place, print_text
from sentprobe.common.specs import choose_member
from sentprobe.common.tables import TableFormat


def check(
    runs: opt.RunsArgument,
    format_: Annotated[
        str | None, opt.build_format_option(("text", "markdown", "json"), opt.DEFAULT_FORMAT_HELP)
    ] = None,
    out: opt.OutFileOption = None,
) -> None:
    """List problems that weaken claims about results, and how to fix them.

    The exit code is 1 if a problem is severe.
    """
    from sentprobe.commands.shared.shown_results import read_reviewed_runs
    from sentprobe.probes.review.checks import render_review, review_results

    formats = (TableFormat.TEXT, TableFormat.MARKDOWN, TableFormat.JSON)
    style = find_table_format(format_, out, subject="a review", allowed=formats)
    reviewed = review_results(*read_reviewed_runs(runs))
    print_or_write(render_review(reviewed, style), out, wrapped=style is TableFormat.TEXT)
    raise typer.Exit(1 if reviewed.has_severe_finding else 0)


def methods(
    runs: opt.RunsArgument,
    format_: Annotated[
        str | None, opt.build_format_option(("text", "markdown", "latex"), opt.DEFAULT_FORMAT_HELP)
    ] = None,
    out: opt.OutFileOption = None,
    bib: Annotated[
        Path | None,
        typer.Option(help=f"File for the BibTeX, which otherwise follows the text; {opt.REPLACED}"),
        OUTPUT_FILE,
    ] = None,
) -> None:
    """Write a paragraph for the methods section of a paper, and its BibTeX."""
    from sentprobe.commands.shared.shown_results import read_reviewed_runs
    from sentprobe.probes.language_models.pair_results import write_pair_methods, write_pair_paragraph
    from sentprobe.probes.reports.pages import methods_paragraph as paper

    formats = (TableFormat.TEXT, TableFormat.MARKDOWN, TableFormat.LATEX)
    style = find_table_format(format_, out, subject="a paragraph", allowed=formats)
    results, tables = read_reviewed_runs(runs)
    text = "\n".join(filter(None, (paper.write_methods_text(results, style), write_pair_methods(tables, style))))
    pieces = chain.from_iterable(map(write_pair_paragraph, tables))
    provenances = chain.from_iterable(table.provenances for table in tables)
    bibtex = paper.write_references_text(results, pieces, provenances)
    references = f"\n{paper.BIBTEX_FORMATS[style](bibtex)}" if bib is None else ""
    if bib is not None:
        write_atomically(bib, bibtex)
    if style is TableFormat.TEXT and out is None:
        print_text(text, end="")
        print(references, end="")
    else:
        print_or_write(text + references, out)


PAGE = Path("report.html")


def report(
    context: typer.Context,
    runs: opt.RunsArgument,
    out: Annotated[Path | None, opt.build_out_option(f"HTML file to write; {opt.REPLACED}"), OUTPUT_FILE] = PAGE,
    intervals: opt.IntervalsOption = False,
    sources: opt.SourcesOption = False,
    all_rows: opt.AllRowsOption = False,
    published: opt.PublishedOption = False,
    by_length: opt.ByLengthOption = None,
    nearness: opt.NearnessOption = "cosine",
    audits: opt.AuditsOption = None,
) -> None:
    """Write one or more runs as an HTML page with tables, controls and plots.

    The page is one file that loads no other files. probe show --format html writes the same page.
    """
    from sentprobe.commands.show import show

    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{out}: a report is an .html file; probe show writes other formats")
    defaults = {parameter.name: parameter.default for parameter in signature(show).parameters.values()}
    arguments = dict(
        context=context,
        runs=runs,
        format_=TableFormat.HTML.value,
        out=out,
        intervals=intervals,
        sources=sources,
        all_rows=all_rows,
        published=published,
        by_length=by_length,
        nearness=nearness,
        audits=audits,
    )
    show(**defaults | arguments)
    if out is not None:
        print_place(f"report: {out}")


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
    from sentprobe.commands.shared.shown_results import build_sides, read_runs
    from sentprobe.common.plots import check_suffix
    from sentprobe.probes.reports import correlations
    from sentprobe.probes.reports.correlations import read_scores
    from sentprobe.probes.reports.pages.plot_files import draw_heat_map, write_plot
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
