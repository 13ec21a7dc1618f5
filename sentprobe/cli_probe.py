"""The command ``probe``: parse arguments, call the API, print."""

from pathlib import Path
from typing import Annotated

import typer

from sentprobe.cli_analyze import agree, analyze
from sentprobe.cli_audit import audit
from sentprobe.cli_cache import cache_app
from sentprobe.cli_show import compare, show
from sentprobe.commands.build import build
from sentprobe.commands.options import SETTINGS, VersionOption
from sentprobe.commands.run import run
from sentprobe.commands.task_list import ListsTasks

probe_app = typer.Typer(
    name="probe",
    help="Find out what can be read from sentence vectors.",
    context_settings=SETTINGS,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
)
probe_app.add_typer(cache_app, name="cache")
probe_app.command("analyze")(analyze)
probe_app.command("agree")(agree)
probe_app.command("build", cls=ListsTasks)(build)
probe_app.command("audit")(audit)


@probe_app.callback()
def _probe(version: VersionOption = False) -> None:
    """Find out what can be read from sentence vectors."""


probe_app.command("run", cls=ListsTasks)(run)
probe_app.command("show")(show)
probe_app.command("compare")(compare)


@probe_app.command("embed")
def embed(
    source: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="A dataset, a text file with a sentence a line, or compeval.",
        ),
    ],
    encoder: Annotated[
        str, typer.Option("--encoder", "-e", help="bow, bow:FILE, st:MODEL, ...: probe encoders.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File for the vectors: .npz, .safetensors, ...")
    ],
    format_: Annotated[
        str | None,
        typer.Option(
            "--format", help="npz, safetensors, parquet or lookup.  [default: by the suffix]"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of data and encoder.")] = 0,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Keep no vectors, and use none that are kept.")
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option(help="PyTorch's threads. By default as many as there are cores."),
    ] = None,
) -> None:
    """Write the vectors of a dataset's sentences to a file, for use elsewhere."""
    from sentprobe.commands import embed as command  # noqa: PLC0415

    plan = command.EmbedRequest(
        source=source,
        encoder=encoder,
        out=out,
        format=format_,
        seed=seed,
        cache=not no_cache,
        threads=threads,
    )
    command.embed_command(plan)


@probe_app.command("encoders")
def encoders(
    format_: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
) -> None:
    """List the kinds of encoder, with an example, and whether their extra is installed."""
    from sentprobe.commands.encoders import print_encoders  # noqa: PLC0415

    print_encoders(fmt=format_)
