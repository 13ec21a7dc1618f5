"""The command ``probe report``: write one or more runs as an HTML page."""

from inspect import signature
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.output_paths import OUTPUT_FILE
from sentprobe.display.screen import print_place
from sentprobe.display.table_writers import TableFormat
from sentprobe.errors import UsageError

PAGE = Path("report.html")


def report(
    context: typer.Context,
    runs: opt.RunsArgument,
    out: Annotated[Path, opt.build_out_option(f"HTML file to write; {opt.REPLACED}"), OUTPUT_FILE] = PAGE,
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
    from sentprobe.commands.results.show import show

    if out.suffix.lower() not in (".html", ".htm"):
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
    print_place(f"report: {out}")
