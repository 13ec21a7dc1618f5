"""The command ``probe methods``: what a paper's methods section has to say of a run."""

from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands import options as opt
from sentprobe.commands.given_runs import read_probed_runs
from sentprobe.commands.table_files import find_table_format, print_or_write
from sentprobe.files import write_atomically
from sentprobe.probes.report.methods_text import as_below, methods_text, references_text
from sentprobe.screen import say
from sentprobe.table_writers import TableFormat

FORMATS = (TableFormat.TEXT, TableFormat.MARKDOWN, TableFormat.LATEX)


def methods(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of results.")],
    format_: Annotated[
        str | None, opt.format_among(f"text, markdown or latex. {opt.OUT_DECIDES}")
    ] = None,
    out: Annotated[Path | None, opt.out_to("Write to this file.")] = None,
    bib: Annotated[
        Path | None, typer.Option("--bib", help="Write the BibTeX to this file, and not below.")
    ] = None,
) -> None:
    """Write the paragraph and the BibTeX that a paper's methods section needs."""
    style = find_table_format(format_, out, what="a paragraph", known=FORMATS)
    results = read_probed_runs(runs)
    text, bibtex = methods_text(results, style), references_text(results)
    below = f"\n{as_below(bibtex, style)}" if bib is None else ""
    if bib is not None:
        write_atomically(bib, bibtex)
    if style is TableFormat.TEXT and out is None:
        say(text, end="")
        print(below, end="")
    else:
        print_or_write(text + below, out)
