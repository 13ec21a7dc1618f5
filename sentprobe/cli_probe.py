"""The command ``probe``: parse arguments, call the API, print."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sentprobe.cli_analyze import agree, analyze
from sentprobe.cli_audit import audit
from sentprobe.cli_build import build
from sentprobe.cli_cache import cache_app
from sentprobe.cli_options import (
    SETTINGS,
    WHAT,
    LexiconOption,
    TaskVocabularyOption,
    TestOption,
    TrainOption,
    ValidationOption,
    VersionOption,
    natural_options,
    options_given,
)
from sentprobe.cli_show import compare, show

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
probe_app.command("build")(build)
probe_app.command("audit")(audit)


@probe_app.callback()
def _probe(version: VersionOption = False) -> None:
    """Find out what can be read from sentence vectors."""


CLASSIFIER = "The classifier"
MACHINE = "Where it runs"


@probe_app.command("run")
@natural_options
def run(
    context: typer.Context,
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="SUITE|PATH...", help="compeval, natural TABLE, or datasets: files or folders."
        ),
    ],
    encoder: Annotated[
        list[str] | None,
        typer.Option(
            "--encoder",
            "-e",
            help="bow, bow:FILE, st:MODEL, ...; repeatable. By default bow and bilstm-max.",
        ),
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="Only this task; may be repeated.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the results; what is there is not redone."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Redo what is there.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of data, encoders and probes.")] = 0,
    seeds: Annotated[int, typer.Option(help="So many probes each, with seeds from --seed up.")] = 1,
    controls: Annotated[
        bool, typer.Option("--controls/--no-controls", help="Make the sanity runs.")
    ] = True,
    vocabulary: TaskVocabularyOption = None,
    lexicon: LexiconOption = None,
    train: TrainOption = None,
    test: TestOption = None,
    validation: ValidationOption = None,
    sampling: Annotated[
        str, typer.Option(help="mirror or paper.", rich_help_panel=WHAT)
    ] = "mirror",
    preset: Annotated[
        str | None,
        typer.Option(
            help="ettinger, adi, conneau, senteval or logreg. By default that of the paper of the "
            "task: ettinger, and of natural text conneau or adi.",
            rich_help_panel=CLASSIFIER,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Override a value of it: max_epochs=50.", rich_help_panel=CLASSIFIER
        ),
    ] = None,
    probe_vectors: Annotated[
        str | None,
        typer.Option(
            metavar="one-hot|encoder|SPEC",
            help="What stands for probe words: one-hot; encoder, each encoder's own vector of the "
            "word; or that of bow:FILE or another encoder. Without it encoder for the tasks of Adi "
            "et al., else one-hot.",
            rich_help_panel=CLASSIFIER,
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.", rich_help_panel=MACHINE)] = "cpu",
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Processes that train; by default one for each core.", rich_help_panel=MACHINE
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            help="PyTorch's threads, when encoding and in each process that trains. By default "
            "as many as there are cores for encoding, and one for training.",
            rich_help_panel=MACHINE,
        ),
    ] = None,
    cache: Annotated[
        bool,
        typer.Option(
            "--cache/--no-cache", help="Keep sentence vectors on disk.", rich_help_panel=MACHINE
        ),
    ] = True,
    *,
    natural: Mapping[str, Any],
) -> None:
    """Build or read the tasks, encode their sentences, train probes, and print the table."""
    from sentprobe.commands.run import run_plan  # noqa: PLC0415
    from sentprobe.commands.run_plan import RunRequest, find_sampling  # noqa: PLC0415

    plan = RunRequest(
        encoders=tuple(encoder or ("bow", "bilstm-max")),
        targets=tuple(targets),
        tasks=tuple(task or ()),
        seed=seed,
        seeds=seeds,
        vocabulary=vocabulary,
        lexicon=lexicon,
        train=train,
        test=test,
        validation=validation,
        sampling=find_sampling(sampling),
        preset=preset,
        overrides=tuple(set_ or ()),
        probe_vectors=probe_vectors,
        controls=controls,
        out=out,
        force=force,
        cache=cache,
        device=device,
        threads=threads,
        jobs=jobs,
        natural_options=natural,
        given=options_given(context),
    )
    run_plan(plan)


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
