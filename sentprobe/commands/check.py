"""The command ``probe check``: what stands in the way of a claim about results."""

from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands import options as opt
from sentprobe.commands.given_runs import read_probed_runs
from sentprobe.commands.table_files import find_table_format, print_or_write
from sentprobe.probes.review.checks import review
from sentprobe.probes.review.wording import write_review
from sentprobe.screen import say
from sentprobe.table_writers import TableFormat


def check(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of results.")],
    format_: Annotated[
        str | None, opt.format_among(f"text, markdown or json. {opt.OUT_DECIDES}")
    ] = None,
    out: Annotated[Path | None, opt.out_to("Write to this file.")] = None,
) -> None:
    """List what stands in the way of a claim about results: what, where, and what to do.

    The exit code is 1 if a finding is grave, so that what rests on these figures is not to be
    believed; a script can ask.
    """
    style = find_table_format(format_, out, what="a review", known=FORMATS)
    found = review(read_probed_runs(runs))
    text = write_review(found, style)
    if style is TableFormat.TEXT and out is None:
        say(text, end="")
    else:
        print_or_write(text, out)
    raise typer.Exit(1 if found.grave else 0)


FORMATS = (TableFormat.TEXT, TableFormat.MARKDOWN, TableFormat.JSON)
