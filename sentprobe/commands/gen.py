"""The command ``gen``: its options, and the sentences that are written as they say."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.options import (
    WHAT,
    LexiconOption,
    VersionOption,
    VocabularyOption,
    format_among,
    options_given,
    out_to,
    seed_of,
    with_groups,
)
from sentprobe.errors import UsageError
from sentprobe.generator.event import Aspect, Number, Polarity, Tense, Voice
from sentprobe.lexicon import Flag

MUST = "What the sentences must and must not contain"
FIX = "Features to fix (otherwise they vary)"
VARY = "Words that structure allows (each option may be repeated)"
OUTPUT = "Output"
"""The panels of ``--help``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentOptions:
    """What the sentences must and must not contain: events as they are written, and lemmas."""

    require: Annotated[
        list[str] | None,
        typer.Option(
            help="Event to contain, e.g. 'help[past](agent: lawyer[pl])'.", rich_help_panel=MUST
        ),
    ] = None
    forbid: Annotated[
        list[str] | None, typer.Option(help="Event not to contain.", rich_help_panel=MUST)
    ] = None
    require_word: Annotated[
        list[str] | None, typer.Option(help="Lemma to contain.", rich_help_panel=MUST)
    ] = None
    forbid_word: Annotated[
        list[str] | None, typer.Option(help="Lemma not to contain.", rich_help_panel=MUST)
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            help="Constraint file of the published compeval generator.", rich_help_panel=MUST
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureOptions:
    """The features that are fixed: of main clauses, of relative clauses, of all nouns."""

    tense: Annotated[Tense | None, typer.Option(rich_help_panel=FIX)] = None
    voice: Annotated[Voice | None, typer.Option(rich_help_panel=FIX)] = None
    aspect: Annotated[Aspect | None, typer.Option(rich_help_panel=FIX)] = None
    polarity: Annotated[Polarity | None, typer.Option(rich_help_panel=FIX)] = None
    rc_tense: Annotated[
        Tense | None, typer.Option(help="Of relative clauses.", rich_help_panel=FIX)
    ] = None
    rc_voice: Annotated[
        Voice | None, typer.Option(help="Of relative clauses.", rich_help_panel=FIX)
    ] = None
    rc_aspect: Annotated[
        Aspect | None, typer.Option(help="Of relative clauses.", rich_help_panel=FIX)
    ] = None
    rc_polarity: Annotated[
        Polarity | None, typer.Option(help="Of relative clauses.", rich_help_panel=FIX)
    ] = None
    number: Annotated[Number | None, typer.Option(help="Of all nouns.", rich_help_panel=FIX)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WordOptions:
    """The words that structure allows, to choose from."""

    determiner: Annotated[
        list[str] | None, typer.Option(help="the, a, some, no, this, that.", rich_help_panel=VARY)
    ] = None
    relativizer: Annotated[
        list[str] | None, typer.Option(help="that, who.", rich_help_panel=VARY)
    ] = None
    negator: Annotated[list[str] | None, typer.Option(help="not, n't.", rich_help_panel=VARY)] = (
        None
    )
    adverbs: Annotated[
        str, typer.Option(help="How many before a verb: 2, or 0-2.", rich_help_panel=VARY)
    ] = "0"
    allow: Annotated[
        list[Flag] | None,
        typer.Option(
            help="Use stative verbs in the progressive; use verbs like hit, where the vocabulary "
            "has them (published).",
            rich_help_panel=VARY,
        ),
    ] = None


@with_groups
def generate(
    context: typer.Context,
    template: Annotated[
        list[str] | None,
        typer.Option(
            "--template",
            "-t",
            help="Structure, as listed by `gen templates`; repeatable.  [default: all, which "
            "leaves out transitive-rc-both]",
            rich_help_panel=WHAT,
        ),
    ] = None,
    n: Annotated[
        int, typer.Option("--n", "-n", help="How many sentences.", rich_help_panel=WHAT)
    ] = 10,
    seed: Annotated[int, seed_of("the sample", WHAT)] = 0,
    vocabulary: VocabularyOption = None,
    lexicon: LexiconOption = None,
    count: Annotated[
        bool,
        typer.Option("--count", help="Only print how many there are.", rich_help_panel=WHAT),
    ] = False,
    *,
    content: ContentOptions,
    features: FeatureOptions,
    words: WordOptions,
    out: Annotated[Path | None, out_to("File instead of stdout.", OUTPUT)] = None,
    format: Annotated[
        str | None,
        format_among(
            "text, jsonl, conllu, trees, parquet (from the file's suffix if not given).", OUTPUT
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress bar.", rich_help_panel=OUTPUT)
    ] = False,
    version: VersionOption = False,  # noqa: ARG001 - its callback does it
) -> None:
    """Generate sentences, uniformly from all that the options admit, without repetition.

    Every sentence stands for one event and has one; what is not fixed varies.
    """
    if context.invoked_subcommand is not None:
        _refuse_options_before(context)
        return
    from sentprobe.commands.gen_space import make_space, record_format, write_sample  # noqa: PLC0415 - slow
    from sentprobe.lexicon.read import load_lexicon  # noqa: PLC0415 - slow

    name = None if count else record_format(out, format, otherwise=".txt")
    space = make_space(
        load_lexicon(lexicon),
        vocabulary=vocabulary,
        templates=template or (),
        content=content,
        features=features,
        words=words,
    )
    if name is None:
        print(space.count())
    else:
        write_sample(space, space.sample(n, seed=seed), out, name, quiet=quiet)


def _refuse_options_before(context: typer.Context) -> None:
    """Refuse the options of ``gen`` itself where a subcommand follows: they would do nothing."""
    for name in options_given(context):
        raise UsageError(
            f"--{name.replace('_', '-')} stands before {context.invoked_subcommand!r} and would do "
            "nothing; options of a subcommand go after it"
        )
