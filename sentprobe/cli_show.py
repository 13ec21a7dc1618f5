"""The commands ``probe show`` and ``probe compare``: parse arguments, call the API."""

from pathlib import Path
from typing import Annotated

import typer


def show(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of results.")],
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="text, markdown, latex, csv, json or html.  [default: by the suffix of --out]",
        ),
    ] = None,
    intervals: Annotated[bool, typer.Option("--intervals", help="Show 95% intervals.")] = False,
    published: Annotated[
        bool, typer.Option("--published", help="Add the rows of Ettinger et al. 2018.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file.")] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Plot accuracy by layer, or what --by-length shows, into this file: .svg, .png or "
            ".pdf."
        ),
    ] = None,
    by_length: Annotated[
        str | None,
        typer.Option(
            metavar="bins|tokens",
            help="Show accuracy and norm by sentence length, in bins or for each number of tokens.",
        ),
    ] = None,
) -> None:
    """Print the table of one or more runs."""
    from sentprobe.commands import show as command  # noqa: PLC0415
    from sentprobe.lengths import Lengths  # noqa: PLC0415
    from sentprobe.specs import choose  # noqa: PLC0415

    view = command.View(
        format=command.find_format(format_, out),
        intervals=intervals,
        published=published,
        out=out,
        plot=plot,
        by_length=None if by_length is None else choose(Lengths, by_length, what="--by-length"),
    )
    command.show(runs, view)


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN [RUN]", help="A folder of results, or an encoder of one: DIR#ENCODER."
        ),
    ],
    format_: Annotated[
        str, typer.Option("--format", "-f", help="text, markdown, latex, csv or json.")
    ] = "text",
    correction: Annotated[
        str, typer.Option(help="For the number of comparisons: holm, bh or none.")
    ] = "holm",
    against: Annotated[
        str | None, typer.Option(help="Compare each encoder of the run with this one only.")
    ] = None,
    table: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Of a run that probe show prints as several tables, the one to use."
        ),
    ] = None,
) -> None:
    """Compare encoders task by task: differences, intervals and paired tests."""
    from sentprobe.commands import compare as command  # noqa: PLC0415
    from sentprobe.probes.report.grids import TableFormat  # noqa: PLC0415
    from sentprobe.probes.statistics import Correction  # noqa: PLC0415
    from sentprobe.specs import choose  # noqa: PLC0415

    command.compare_runs(
        runs,
        style=choose(TableFormat, format_, what="format"),
        correction=choose(Correction, correction, what="correction"),
        against=against,
        table=table,
    )
