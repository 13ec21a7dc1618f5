"""The command ``probe build``: parse arguments, call the API."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.options import (
    CardOptions,
    CompevalOptions,
    NaturalOptions,
    SizeOptions,
    TaskOption,
    format_among,
    options_given,
    out_to,
    refuse_idle,
    seed_of,
    with_groups,
)


@with_groups
def build(
    context: typer.Context,
    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="The tasks: compeval, or natural with a table.")
    ],
    out: Annotated[Path, out_to("Folder for the datasets.")],
    table: Annotated[
        Path | None, typer.Argument(metavar="[TABLE]", help="What probe analyze made of a corpus.")
    ] = None,
    task: TaskOption = None,
    seed: Annotated[int, seed_of("the datasets; the same gives the same bytes")] = 0,
    format_: Annotated[str, format_among("directory, jsonl, published or senteval.")] = "directory",
    *,
    compeval: CompevalOptions,
    size: SizeOptions,
    card: CardOptions,
    natural: NaturalOptions,
) -> None:
    """Build the datasets of a suite and write them into a folder."""
    from sentprobe.commands import build as command  # noqa: PLC0415
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
            size=(size.train, size.test, size.validation),
            seed=seed,
            options=asdict(natural),
            audit=card.audit,
        )
        corpus.build_natural_command(plan, out=out, fmt=format_)
        return
    command.check_no_table(suite, table)
    recipe = command.CompevalRecipe(
        tasks=tuple(task or ()),
        size=Size().changed(size.train, size.test, size.validation),
        seed=seed,
        vocabulary=compeval.vocabulary,
        lexicon=compeval.lexicon,
        sampling=choose(Sampling, compeval.sampling, what="sampling"),
    )
    command.build_command(suite, recipe, out=out, fmt=format_)
