"""The command ``probe audit``: parse arguments, call the API."""

from pathlib import Path
from typing import Annotated

import typer


def audit(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Datasets, or folders of datasets.")
    ],
    format_: Annotated[
        str, typer.Option("--format", "-f", help="How to print: text, markdown, json.")
    ] = "text",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File for the audit; verdicts are printed.")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Also put the audit in each dataset's card.json.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when a cue leaks.")] = False,
    read_as: Annotated[
        str | None,
        typer.Option(
            "--read-as",
            metavar="FORMAT",
            help="Format of the datasets: directory, jsonl, senteval, published.  "
            "[default: what they look like]",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the classifiers.")] = 0,
    lexicon: Annotated[
        Path | None,
        typer.Option(help="Your own lexicon file, which knows the forms of the probe words."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Processes.  [default: one for each core]")
    ] = None,
) -> None:
    """Report what surface cues alone achieve on datasets, and which of them leak the answer."""
    from sentprobe.commands import audit as command  # noqa: PLC0415

    plan = command.AuditPlan(
        paths=tuple(paths),
        read_as=read_as,
        seed=seed,
        lexicon=lexicon,
        jobs=jobs,
        style=format_,
        out=out,
        write=write,
        strict=strict,
    )
    command.audit_command(plan)
