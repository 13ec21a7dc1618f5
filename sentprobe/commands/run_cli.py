"""The command ``probe run``: parse arguments, call the API."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.options import (
    CLASSIFIER,
    MACHINE,
    CompevalOptions,
    ForceOption,
    JobsOption,
    NaturalOptions,
    SizeOptions,
    TaskOption,
    options_given,
    out_to,
    seed_of,
    with_groups,
)


@with_groups
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
    task: TaskOption = None,
    out: Annotated[
        Path | None,
        out_to("Folder for the results; what is there is not redone."),
    ] = None,
    force: ForceOption = False,
    seed: Annotated[int, seed_of("data, encoders and probes")] = 0,
    seeds: Annotated[int, typer.Option(help="So many probes each, with seeds from --seed up.")] = 1,
    controls: Annotated[
        bool, typer.Option("--controls/--no-controls", help="Make the sanity runs.")
    ] = True,
    *,
    compeval: CompevalOptions,
    size: SizeOptions,
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
    jobs: JobsOption = None,
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
    natural: NaturalOptions,
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
        vocabulary=compeval.vocabulary,
        lexicon=compeval.lexicon,
        train=size.train,
        test=size.test,
        validation=size.validation,
        sampling=find_sampling(compeval.sampling),
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
        natural_options=asdict(natural),
        given=options_given(context),
    )
    run_plan(plan)
