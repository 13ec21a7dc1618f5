"""The command ``probe methods``: a paragraph for a paper's methods section."""

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.output_paths import OUTPUT_FILE
from sentprobe.commands.shared.table_output import find_table_format, print_or_write
from sentprobe.disk.files import write_atomically
from sentprobe.display.screen import print_text
from sentprobe.display.table_writers import TableFormat


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
    from sentprobe.commands.results.shown_results import read_reviewed_runs
    from sentprobe.probes.language_models.scoring_paragraph import write_pair_methods, write_pair_paragraph
    from sentprobe.probes.report.paper import methods_paragraph as paper

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
