"""The commands ``gen`` and ``probe``: parse arguments, call the API, print.

What a command needs is imported when it runs, so that ``--help`` answers at once.
"""

import io
import os
import signal
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.errors import SentprobeError, UsageError, suggest

_SETTINGS = {"help_option_names": ["-h", "--help"]}

gen_app = typer.Typer(
    name="gen",
    help="Generate controlled, grammatical, annotated English sentences.",
    context_settings=_SETTINGS,
    pretty_exceptions_enable=False,
    add_completion=False,
)
probe_app = typer.Typer(
    name="probe",
    help="Find out what can be read from sentence vectors.",
    context_settings=_SETTINGS,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
)


_INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def gen() -> None:
    """Run the command ``gen``."""
    _main(gen_app, "gen")


def probe() -> None:
    """Run the command ``probe``."""
    _main(probe_app, "probe")


def _main(app: typer.Typer, name: str) -> None:
    """Run *app*; a user's mistake ends in one line on stderr and its exit code."""
    _prepare()
    try:
        app(prog_name=name)
    except SentprobeError as error:
        print(f"{name}: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except SystemExit as error:
        # Typer makes these of Ctrl-C, and of a reader that has had enough (| head).
        if error.code == _INTERRUPTED:
            print(f"{name}: stopped", file=sys.stderr)
        if isinstance(error.__context__, BrokenPipeError):
            _drop_output()
            raise SystemExit(0) from None
        raise
    except OSError as error:
        where = error.filename or "standard output"
        print(f"{name}: {where}: {error.strerror}", file=sys.stderr)
        _drop_output()
        raise SystemExit(1) from None


def _prepare() -> None:
    """Make the streams UTF-8, whatever the locale, and let a kill clean up as Ctrl-C does."""
    if sys.stdout is None:  # closed by whoever started us (gen >&-)
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def _drop_output() -> None:
    """Let what is still buffered for stdout go nowhere, or Python complains at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


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


_WHAT = "What to generate"
_MUST = "What the sentences must and must not contain"
_FIX = "Features to fix (otherwise they vary)"
_VARY = "Words that structure allows (each option may be repeated)"
_OUT = "Output"

Lexicon = Annotated[
    Path | None, typer.Option("--lexicon", help="Your own lexicon file.", rich_help_panel=_WHAT)
]
Vocabulary = Annotated[
    str | None,
    typer.Option(
        "--vocabulary",
        "-v",
        help="Which words of the lexicon: english, compeval, published, or your own.",
        rich_help_panel=_WHAT,
    ),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        from sentprobe import __version__  # noqa: PLC0415

        print(f"sentprobe {__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
]


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
            rich_help_panel=_WHAT,
        ),
    ] = None,
    n: Annotated[
        int, typer.Option("--n", "-n", help="How many sentences.", rich_help_panel=_WHAT)
    ] = 10,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the sample.", rich_help_panel=_WHAT)
    ] = 0,
    vocabulary: Vocabulary = None,
    lexicon: Lexicon = None,
    count: Annotated[
        bool,
        typer.Option("--count", help="Only print how many there are.", rich_help_panel=_WHAT),
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
    version: Version = False,  # noqa: ARG001 - its callback does it
) -> None:
    """Generate sentences, uniformly from all that the options admit, without repetition.

    Every sentence stands for one event and has one; what is not fixed varies.
    """
    if context.invoked_subcommand is not None:
        _refuse_options_before(context)
        return
    from sentprobe.generator import commands  # noqa: PLC0415

    request = commands.Request(
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
def list_templates(vocabulary: Vocabulary = None, lexicon: Lexicon = None) -> None:
    """List the templates and sub-templates, each with an example and the number of sentences."""
    from sentprobe.generator import commands  # noqa: PLC0415

    commands.list_templates(vocabulary, lexicon)


@gen_app.command("parse")
def parse(
    sentences: Annotated[
        list[str] | None, typer.Argument(help="Sentences; their tokens separated by spaces.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="A file with a sentence on each line.")
    ] = None,
    lexicon: Lexicon = None,
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
    from sentprobe.generator import commands  # noqa: PLC0415

    if not commands.annotate(sentences or [], file, lexicon, out=out, fmt=format):
        raise typer.Exit(1)


@gen_app.command("show")
def show(
    event: Annotated[str, typer.Argument(help="An event, e.g. 'help[past](agent: lawyer)'.")],
    svg: Annotated[Path | None, typer.Option("--svg", help="Write a picture.")] = None,
    lexicon: Lexicon = None,
) -> None:
    """Draw an event as a tree; with its sentence, if it is fully specified."""
    from sentprobe.generator import commands  # noqa: PLC0415

    commands.show(event, lexicon, svg=svg)


@probe_app.callback()
def _probe(version: Version = False) -> None:
    """Find out what can be read from sentence vectors."""


@probe_app.command("run")
def run(
    suite: Annotated[str, typer.Argument(help="The tasks: compeval.")],
    encoder: Annotated[
        list[str] | None,
        typer.Option(
            "--encoder",
            "-e",
            help="bow, bow:FILE, bilstm-max, st:MODEL; repeatable.  [default: bow, bilstm-max]",
        ),
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="Only this task; may be repeated.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the results, as JSON.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of data, encoders and probes.")] = 0,
    vocabulary: Vocabulary = "compeval",
    lexicon: Lexicon = None,
    train: Annotated[int, typer.Option(help="Training items of each task.")] = 4000,
    test: Annotated[int, typer.Option(help="Test items of each task.")] = 1000,
    preset: Annotated[str, typer.Option(help="The classifier.")] = "ettinger",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Override a value of the preset: max_epochs=50."),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    jobs: Annotated[
        int | None, typer.Option(help="Processes that train.  [default: one for each core]")
    ] = None,
) -> None:
    """Build the tasks, encode their sentences, train a probe for each, and print the table."""
    from sentprobe.probes import commands  # noqa: PLC0415

    if suite != "compeval":
        near = suggest(suite, ["compeval"])
        raise UsageError(f"there is no suite {suite!r}{near}; the suites are: compeval")
    plan = commands.Plan(
        encoders=tuple(encoder or ("bow", "bilstm-max")),
        tasks=tuple(task or ()),
        seed=seed,
        vocabulary=vocabulary or "compeval",
        lexicon=lexicon,
        train=train,
        test=test,
        preset=preset,
        overrides=tuple(set_ or ()),
        device=device,
        jobs=jobs,
    )
    commands.run_compeval(plan, out=out)
