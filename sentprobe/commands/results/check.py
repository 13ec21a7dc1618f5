"""The command ``probe check``: list problems that weaken claims about results, with advice."""

from typing import Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.table_output import find_table_format, print_or_write
from sentprobe.display.table_writers import TableFormat


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
    from sentprobe.commands.results.shown_results import read_reviewed_runs
    from sentprobe.probes.review.checks import render_review, review_results

    formats = (TableFormat.TEXT, TableFormat.MARKDOWN, TableFormat.JSON)
    style = find_table_format(format_, out, subject="a review", allowed=formats)
    reviewed = review_results(*read_reviewed_runs(runs))
    print_or_write(render_review(reviewed, style), out, wrapped=style is TableFormat.TEXT)
    raise typer.Exit(1 if reviewed.has_severe_finding else 0)
