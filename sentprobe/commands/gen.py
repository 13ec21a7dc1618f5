"""The command ``gen``: generate sentences.

The command ``gen logical-forms``: sentences with logical forms, in splits that hold combinations out of training.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.gen_options import OUTPUT, ContentOptions, FeatureOptions, WordOptions
from sentprobe.commands.shared.help import map_given_options
from sentprobe.commands.shared.output_paths import OUTPUT_FILE, OUTPUT_FOLDER, build_completer
from sentprobe.common.errors import UsageError
from sentprobe.common.files import make_parent_folder
from sentprobe.common.processes import check_count
from sentprobe.common.screen import PROGRESS_THRESHOLD, show_bars
from sentprobe.common.settings import DATA, Repeatable
from sentprobe.common.specs import choose_member
from sentprobe.generator.sentences.sentence_records import FORMAT_NAMES
from sentprobe.lexicon.read import choose_vocabulary, load_lexicon
from sentprobe.probes.runs.suite_options import describe_vocabulary


@opt.expand_option_groups
def generate(
    context: typer.Context,
    template: Annotated[
        Repeatable,
        opt.data_option(
            "--template",
            "-t",
            help="Structure from gen templates; repeatable. Default: all with at most one relative clause, no "
            "recipient.",
        ),
    ] = None,
    n: Annotated[int, opt.data_option("--n", "-n", help="Number of sentences.")] = 10,
    seed: Annotated[int, opt.build_seed_option("the sample", DATA)] = 0,
    vocabulary: opt.VocabularyOption = None,
    lexicon: opt.LexiconOption = None,
    language: opt.LanguageOption = "en",
    profile: opt.ProfileOption = None,
    exclude: Annotated[
        list[Path] | None, opt.data_option(metavar="FILE", help="Exclude the sentences of this file; repeatable.")
    ] = None,
    count: Annotated[bool, opt.data_option("--count", help="Only print the number of possible sentences.")] = False,
    *,
    content: ContentOptions,
    features: FeatureOptions,
    words: WordOptions,
    out: Annotated[
        Path | None, opt.build_out_option(f"File to write instead of stdout; {opt.REPLACED}", OUTPUT), OUTPUT_FILE
    ] = None,
    format: Annotated[str | None, opt.build_format_option(FORMAT_NAMES, "Default: suffix.", OUTPUT)] = None,
    quiet: Annotated[bool, opt.declare_option(OUTPUT, "--quiet", "-q", help="Show no progress.")] = False,
    version: opt.VersionOption = False,  # noqa: ARG001 - read by its callback
) -> None:
    """Generate sentences, sampled uniformly (or by --profile) and without repetition."""
    if context.invoked_subcommand is not None:
        for option in map_given_options(context).values():
            raise UsageError(
                f"{option} stands before {context.invoked_subcommand!r} and has "
                "no effect; put options of a subcommand after it"
            )
        return
    from sentprobe.commands.shared.gen_space import choose_record_format, make_space
    from sentprobe.generator.bulk.generate import find_excluded_indices, write_file, write_sentences
    from sentprobe.generator.spaces.profile import load_profile

    format_name = None if count else choose_record_format(out, format, otherwise=".txt")
    space = make_space(
        load_lexicon(lexicon, language),
        vocabulary=vocabulary,
        templates=template or (),
        content=content,
        features=features,
        words=words,
        profile=load_profile(profile),
    )
    excluded_indices = find_excluded_indices(exclude or (), space)
    if format_name is None:
        print(space.count() - len(excluded_indices))
        return
    with show_bars(show=not quiet and n >= PROGRESS_THRESHOLD) as reporter:
        indices = space.sample(n, seed=seed, without=excluded_indices)
        if out is None:
            write_sentences(space, indices, sys.stdout, format_name, reporter)
            sys.stdout.flush()
        else:
            make_parent_folder(out)
            write_file(space, indices, out, format_name, reporter)


SPLITS, NOTATIONS = ("lexical", "structural", "recursive"), ("cogs", "variable-free")


def logical_forms(
    split: Annotated[
        str,
        typer.Option(
            help="Held out of training: lexical (a word's role or voice), structural (where relative clauses stand) or "
            "recursive (how deep they are nested).",
            autocompletion=build_completer(lambda: SPLITS),
        ),
    ],
    out: Annotated[Path, opt.build_out_option("Folder to write, new or empty."), OUTPUT_FOLDER],
    n: Annotated[
        int, typer.Option("--n", "-n", help="Number of training sentences; other files have a tenth.")
    ] = 10_000,
    seed: Annotated[int, opt.build_seed_option("words and sentences")] = 0,
    notation: Annotated[
        str,
        typer.Option(help="Logical forms: cogs or variable-free.", autocompletion=build_completer(lambda: NOTATIONS)),
    ] = "cogs",
    vocabulary: Annotated[str | None, opt.build_option(describe_vocabulary("everyday"))] = None,
    lexicon: opt.LexiconOption = None,
) -> None:
    """Write sentences with logical forms, in compositional splits.

    Files in COGS' layout: train.tsv, dev.tsv, test.tsv, and gen.tsv, whose sentences have combinations that training
    lacks. The file split.json counts each.
    """
    from sentprobe.generator.pairs import compositional_splits as cs

    check_count("n", n)
    words = load_lexicon(lexicon, "en")
    cs.write_split(
        choose_member(cs.CompositionalSplit, split, what="split"),
        words,
        vocabulary or choose_vocabulary(words, "everyday"),
        out,
        n=n,
        seed=seed,
        notation=choose_member(cs.LogicalNotation, notation, what="notation"),
    )
