"""The command ``gen``: parse arguments, call the API, print."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.options import (
    SETTINGS,
    WHAT,
    LexiconOption,
    VersionOption,
    VocabularyOption,
)
from sentprobe.errors import UsageError

gen_app = typer.Typer(
    name="gen",
    help="Generate controlled, grammatical, annotated English sentences.",
    context_settings=SETTINGS,
    pretty_exceptions_enable=False,
    add_completion=False,
)


class _Tense(StrEnum):
    past = "past"
    pres = "pres"


class _Voice(StrEnum):
    active = "active"
    passive = "passive"


class _Aspect(StrEnum):
    simple = "simple"
    prog = "prog"


class _Polarity(StrEnum):
    pos = "pos"
    neg = "neg"


class _Number(StrEnum):
    sg = "sg"
    pl = "pl"


class _Allow(StrEnum):
    stative = "stative"
    syncretic = "syncretic"


_MUST = "What the sentences must and must not contain"
_FIX = "Features to fix (otherwise they vary)"
_VARY = "Words that structure allows (each option may be repeated)"
_OUT = "Output"


@gen_app.callback(invoke_without_command=True)
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
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample.", rich_help_panel=WHAT)] = 0,
    vocabulary: VocabularyOption = None,
    lexicon: LexiconOption = None,
    count: Annotated[
        bool,
        typer.Option("--count", help="Only print how many there are.", rich_help_panel=WHAT),
    ] = False,
    require: Annotated[
        list[str] | None,
        typer.Option(
            help="Event to contain, e.g. 'help[past](agent: lawyer[pl])'.", rich_help_panel=_MUST
        ),
    ] = None,
    forbid: Annotated[
        list[str] | None, typer.Option(help="Event not to contain.", rich_help_panel=_MUST)
    ] = None,
    require_word: Annotated[
        list[str] | None, typer.Option(help="Lemma to contain.", rich_help_panel=_MUST)
    ] = None,
    forbid_word: Annotated[
        list[str] | None, typer.Option(help="Lemma not to contain.", rich_help_panel=_MUST)
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            help="Constraint file of the published compeval generator.", rich_help_panel=_MUST
        ),
    ] = None,
    tense: Annotated[_Tense | None, typer.Option(rich_help_panel=_FIX)] = None,
    voice: Annotated[_Voice | None, typer.Option(rich_help_panel=_FIX)] = None,
    aspect: Annotated[_Aspect | None, typer.Option(rich_help_panel=_FIX)] = None,
    polarity: Annotated[_Polarity | None, typer.Option(rich_help_panel=_FIX)] = None,
    rc_tense: Annotated[
        _Tense | None, typer.Option(help="Of relative clauses.", rich_help_panel=_FIX)
    ] = None,
    rc_voice: Annotated[
        _Voice | None, typer.Option(help="Of relative clauses.", rich_help_panel=_FIX)
    ] = None,
    rc_aspect: Annotated[
        _Aspect | None, typer.Option(help="Of relative clauses.", rich_help_panel=_FIX)
    ] = None,
    rc_polarity: Annotated[
        _Polarity | None, typer.Option(help="Of relative clauses.", rich_help_panel=_FIX)
    ] = None,
    number: Annotated[
        _Number | None, typer.Option(help="Of all nouns.", rich_help_panel=_FIX)
    ] = None,
    determiner: Annotated[
        list[str] | None,
        typer.Option(help="the, a, some, no, this, that.", rich_help_panel=_VARY),
    ] = None,
    relativizer: Annotated[
        list[str] | None, typer.Option(help="that, who.", rich_help_panel=_VARY)
    ] = None,
    negator: Annotated[
        list[str] | None, typer.Option(help="not, n't.", rich_help_panel=_VARY)
    ] = None,
    adverbs: Annotated[
        str, typer.Option(help="How many before a verb: 2, or 0-2.", rich_help_panel=_VARY)
    ] = "0",
    allow: Annotated[
        list[_Allow] | None,
        typer.Option(
            help="Use stative verbs in the progressive; use verbs like hit, where the vocabulary "
            "has them (published).",
            rich_help_panel=_VARY,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File instead of stdout.", rich_help_panel=_OUT),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="text, jsonl, conllu, trees, parquet (from the file's suffix if not given).",
            rich_help_panel=_OUT,
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress bar.", rich_help_panel=_OUT)
    ] = False,
    version: VersionOption = False,  # noqa: ARG001 - its callback does it
) -> None:
    """Generate sentences, uniformly from all that the options admit, without repetition.

    Every sentence stands for one event and has one; what is not fixed varies.
    """
    if context.invoked_subcommand is not None:
        _refuse_options_before(context)
        return
    from sentprobe.commands import gen as commands  # noqa: PLC0415

    request = commands.GenRequest(
        templates=tuple(template or ()),
        vocabulary=vocabulary,
        lexicon=lexicon,
        required=tuple(require or ()),
        forbidden=tuple(forbid or ()),
        required_words=tuple(require_word or ()),
        forbidden_words=tuple(forbid_word or ()),
        config=config,
        main=commands.features(tense=tense, voice=voice, aspect=aspect, polarity=polarity),
        clause=commands.features(
            tense=rc_tense, voice=rc_voice, aspect=rc_aspect, polarity=rc_polarity
        ),
        number=number,
        determiners=tuple(determiner or ("the",)),
        relativizers=tuple(relativizer or ("that",)),
        negators=tuple(negator or ("not",)),
        adverbs=adverbs,
        allow=tuple(allow or ()),
    )
    if count:
        print(commands.count(request))
    else:
        commands.generate(request, n=n, seed=seed, out=out, fmt=format, quiet=quiet)


def _refuse_options_before(context: typer.Context) -> None:
    """Refuse the options of ``gen`` itself where a subcommand follows: they would do nothing."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{option} stands before {context.invoked_subcommand!r} and would do nothing; "
                "options of a subcommand go after it"
            )


@gen_app.command("templates")
def list_templates(vocabulary: VocabularyOption = None, lexicon: LexiconOption = None) -> None:
    """List the templates and sub-templates, each with an example and the number of sentences."""
    from sentprobe.commands import gen as commands  # noqa: PLC0415

    commands.list_templates(vocabulary, lexicon)


@gen_app.command("parse")
def parse(
    sentences: Annotated[
        list[str] | None, typer.Argument(help="Sentences; their tokens separated by spaces.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="A file with a sentence on each line.")
    ] = None,
    lexicon: LexiconOption = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File instead of stdout.")] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", help="conllu (default), jsonl, trees, text, parquet."),
    ] = None,
) -> None:
    """Annotate sentences that came from elsewhere: arguments, a file, or standard input.

    They are written as gen writes them: in lower case, tokens separated by spaces (did n't),
    without a final stop.

    Those that the grammar does not cover are reported on stderr, with the token where parsing
    stopped; the exit code is then 1.
    """
    from sentprobe.commands import gen as commands  # noqa: PLC0415

    if not commands.annotate(sentences or [], file, lexicon, out=out, fmt=format):
        raise typer.Exit(1)


@gen_app.command("show")
def show(
    event: Annotated[str, typer.Argument(help="An event, e.g. 'help[past](agent: lawyer)'.")],
    svg: Annotated[Path | None, typer.Option("--svg", help="Write a picture.")] = None,
    lexicon: LexiconOption = None,
) -> None:
    """Draw an event as a tree; with its sentence, if it is fully specified."""
    from sentprobe.commands import gen as commands  # noqa: PLC0415

    commands.show(event, lexicon, svg=svg)
