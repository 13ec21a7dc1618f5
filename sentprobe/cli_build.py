"""The command ``probe build``: parse arguments, call the API."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sentprobe.cli_options import (
    NATURAL,
    WHAT,
    LexiconOption,
    TaskVocabularyOption,
    TestOption,
    TrainOption,
    ValidationOption,
    natural_options,
    options_given,
)


@natural_options
def build(
    context: typer.Context,
    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="The tasks: compeval, or natural with a table.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the datasets.")],
    table: Annotated[
        Path | None, typer.Argument(metavar="[TABLE]", help="What probe analyze made of a corpus.")
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(help="Only this task (or, of natural, suite: adi); may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed; the same gives the same bytes.")] = 0,
    vocabulary: TaskVocabularyOption = None,
    lexicon: LexiconOption = None,
    train: TrainOption = None,
    test: TestOption = None,
    validation: ValidationOption = None,
    sampling: Annotated[
        str,
        typer.Option(
            help="mirror, or paper: as the published datasets were drawn.", rich_help_panel=WHAT
        ),
    ] = "mirror",
    format_: Annotated[
        str, typer.Option("--format", "-f", help="directory, jsonl, published or senteval.")
    ] = "directory",
    audit: Annotated[
        bool,
        typer.Option(
            "--audit/--no-audit",
            help="Put the paper's baselines in the cards.",
            rich_help_panel=NATURAL,
        ),
    ] = True,
    *,
    natural: Mapping[str, Any],
) -> None:
    """Build the datasets of a suite and write them into a folder."""
    from sentprobe.commands import build as command  # noqa: PLC0415
    from sentprobe.commands.options import refuse_idle  # noqa: PLC0415
    from sentprobe.probes.compeval import Sampling  # noqa: PLC0415
    from sentprobe.probes.dataset import Size  # noqa: PLC0415
    from sentprobe.specs import choose  # noqa: PLC0415

    if suite in command.SUITES:
        refuse_idle(options_given(context), [suite], what=suite)
    if suite == "natural":
        from sentprobe.commands import natural as corpus  # noqa: PLC0415

        plan = corpus.plan(
            table,
            tasks=task,
            size=(train, test, validation),
            seed=seed,
            options=natural,
            audit=audit,
        )
        corpus.build_natural_command(plan, out=out, fmt=format_)
        return
    command.check_no_table(suite, table)
    recipe = command.CompevalRecipe(
        tasks=tuple(task or ()),
        size=Size().changed(train, test, validation),
        seed=seed,
        vocabulary=vocabulary,
        lexicon=lexicon,
        sampling=choose(Sampling, sampling, what="sampling"),
    )
    command.build_command(suite, recipe, out=out, fmt=format_)
