"""The command ``probe report``: the page of one or more runs, as ``probe show`` writes it."""

from inspect import signature
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands import options as opt
from sentprobe.errors import UsageError
from sentprobe.table_writers import TableFormat

PAGE = Path("report.html")
"""Where the page is written by default."""

SUFFIXES = (".html", ".htm")
"""Of the files of pages."""


def report(
    context: typer.Context,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of results.")],
    out: Annotated[Path, opt.out_to("Write to this file, .html.")] = PAGE,
    intervals: opt.IntervalsOption = False,
    sources: opt.SourcesOption = False,
    all_rows: opt.AllRowsOption = False,
    published: opt.PublishedOption = False,
    by_length: opt.ByLengthOption = None,
    nearness: opt.NearnessOption = "cosine",
    audits: opt.AuditsOption = None,
) -> None:
    """Write one or more runs as a page: its table, sanity runs, plots, how to do it again.

    It is what probe show writes with --format html: one file, which loads nothing.
    """
    from sentprobe.commands.show import show  # noqa: PLC0415 - its help does without

    if out.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{out}: a report is a page, .html; probe show writes other formats")
    usual = {each.name: each.default for each in signature(show).parameters.values()}
    asked = dict(
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
    show(**usual | asked)
