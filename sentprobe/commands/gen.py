"""The command ``gen``: its options, and the sentences that are written as they say."""

from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands import options as opt
from sentprobe.commands.completion import complete_template
from sentprobe.commands.gen_options import OUTPUT, ContentOptions, FeatureOptions, WordOptions
from sentprobe.errors import UsageError
from sentprobe.files import check_apart


@opt.with_groups
def generate(
    context: typer.Context,
    template: Annotated[
        list[str] | None,
        typer.Option(
            "--template",
            "-t",
            help="Structure, from gen templates; repeatable. By default all, "
            "which leaves out transitive-rc-both.",
            rich_help_panel=opt.WHAT,
            autocompletion=complete_template,
        ),
    ] = None,
    n: Annotated[
        int, typer.Option("--n", "-n", help="How many sentences.", rich_help_panel=opt.WHAT)
    ] = 10,
    seed: Annotated[int, opt.seed_of("the sample", opt.WHAT)] = 0,
    vocabulary: opt.VocabularyOption = None,
    lexicon: opt.LexiconOption = None,
    exclude: Annotated[
        list[Path] | None,
        typer.Option(
            "--exclude",
            metavar="FILE",
            help="Draw no sentence of this file: one of gen's formats, or a sentence on each "
            "line; repeatable.",
            rich_help_panel=opt.WHAT,
        ),
    ] = None,
    count: Annotated[
        bool,
        typer.Option("--count", help="Only print how many there are.", rich_help_panel=opt.WHAT),
    ] = False,
    *,
    content: ContentOptions,
    features: FeatureOptions,
    words: WordOptions,
    out: Annotated[
        Path | None, opt.out_to("File instead of stdout; its folder is made.", OUTPUT)
    ] = None,
    format: Annotated[
        str | None,
        opt.format_among("text, jsonl, conllu, trees, parquet (else by the suffix).", OUTPUT),
    ] = None,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="No signs of progress.", rich_help_panel=OUTPUT),
    ] = False,
    jobs: Annotated[
        int | None,
        opt.jobs_of(
            "By default one for each core but one, which writes, and no more than one for each "
            "200,000 sentences (1,000,000 of plain text). What is written is the same."
        ),
    ] = None,
    version: opt.VersionOption = False,  # noqa: ARG001 - its callback does it
) -> None:
    """Generate sentences, uniformly from all that the options admit, without repetition.

    Every sentence stands for one event and has one; what is not fixed varies.
    """
    if context.invoked_subcommand is not None:
        _refuse_options_before(context)
        return
    from sentprobe.commands.gen_space import (  # noqa: PLC0415 - slow
        excluded,
        make_space,
        record_format,
        write_sample,
    )
    from sentprobe.lexicon.read import load_lexicon  # noqa: PLC0415 - slow

    name = None if count else record_format(out, format, otherwise=".txt")
    if out is not None:
        check_apart(out, filter(None, (lexicon, content.config, *(exclude or ()))))
    space = make_space(
        load_lexicon(lexicon),
        vocabulary=vocabulary,
        templates=template or (),
        content=content,
        features=features,
        words=words,
    )
    apart = excluded(exclude or (), space)
    if name is None:
        print(space.count() - len(apart))
    else:
        write_sample(space, n, out, name, seed=seed, without=apart, quiet=quiet, jobs=jobs)


def _refuse_options_before(context: typer.Context) -> None:
    """Refuse the options of ``gen`` itself where a subcommand follows: they would do nothing."""
    for name in opt.options_given(context):
        raise UsageError(
            f"--{name.replace('_', '-')} stands before {context.invoked_subcommand!r} and would do "
            "nothing; options of a subcommand go after it"
        )
