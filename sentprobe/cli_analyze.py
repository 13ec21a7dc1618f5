"""The commands ``probe analyze`` and ``probe agree``: parse arguments, call the API."""

from pathlib import Path
from typing import Annotated

import typer

READING = "How the files are read"
WHERE = "Where it runs"


def analyze(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Files, patterns such as 'books/*.txt', or - ."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the table.")],
    parser: Annotated[
        str | None,
        typer.Option(
            "--parser",
            "-p",
            help="stanza, bllip:MODEL, corenlp:URL, benepar, spacy:PIPELINE, or none.  "
            "[default: files of trees need none]",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Make a finished table anew.")] = False,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="text, lines, tokens, trees, conllu, jsonl or parquet.  [default: by the suffix]",
            rich_help_panel=READING,
        ),
    ] = None,
    encoding: Annotated[
        str, typer.Option(help="Of the files' text.", rich_help_panel=READING)
    ] = "utf-8",
    punkt: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Split text into sentences by Punkt, with the parameters in this folder.  "
            "[default: as the parser does]",
            rich_help_panel=READING,
        ),
    ] = None,
    text_column: Annotated[
        str, typer.Option(help="Of JSONL and Parquet.", rich_help_panel=READING)
    ] = "text",
    holds: Annotated[
        str,
        typer.Option(
            help="What is in that column: text, sentence or tokens.", rich_help_panel=READING
        ),
    ] = "text",
    max_tokens: Annotated[
        int,
        typer.Option(min=1, help="Longer sentences are not parsed.", rich_help_panel=READING),
    ] = 100,
    engine: Annotated[
        str, typer.Option(help="local, or dask with --scheduler.", rich_help_panel=WHERE)
    ] = "local",
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="tcp://HOST:PORT", help="Of a Dask cluster.", rich_help_panel=WHERE),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Processes.  [default: one for each core]", rich_help_panel=WHERE),
    ] = None,
) -> None:
    """Turn a corpus into a table, from which natural-text tasks are built.

    A stopped run goes on with the same command.
    """
    from sentprobe.commands import analyze as command  # noqa: PLC0415
    from sentprobe.probes.corpus.analyze import Machines  # noqa: PLC0415
    from sentprobe.probes.corpus.engine import EngineName  # noqa: PLC0415
    from sentprobe.probes.corpus.text_formats import Holds  # noqa: PLC0415
    from sentprobe.processes import cores  # noqa: PLC0415
    from sentprobe.specs import choose  # noqa: PLC0415

    request = command.AnalyzeRequest(
        sources=tuple(sources),
        out=out,
        parser=parser,
        format=format_,
        encoding=encoding,
        punkt=punkt,
        text_column=text_column,
        holds=choose(Holds, holds, what="content"),
        max_tokens=max_tokens,
        force=force,
    )
    machines = Machines(
        engine=choose(EngineName, engine, what="engine"),
        jobs=cores() if jobs is None else jobs,
        scheduler=scheduler,
    )
    command.analyze_command(request, machines)


def agree(
    first: Annotated[
        Path, typer.Argument(metavar="GOLD", help="A: a table, of gold trees if you have them.")
    ],
    second: Annotated[
        Path, typer.Argument(metavar="PARSED", help="B: a table of the same sentences.")
    ],
    disagreements: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write every disagreement to this file, as JSONL."),
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", "-f", help="text, markdown, latex, csv or json.")
    ] = "text",
) -> None:
    """Say how often two tables agree on the same sentences: what automatic parsing costs."""
    from sentprobe.commands import agree as command  # noqa: PLC0415
    from sentprobe.probes.report.grids import TableFormat  # noqa: PLC0415
    from sentprobe.specs import choose  # noqa: PLC0415

    request = command.AgreeRequest(
        first=first,
        second=second,
        style=choose(TableFormat, format_, what="format"),
        disagreements=disagreements,
    )
    command.agree_command(request)
