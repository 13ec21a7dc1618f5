"""What the commands of ``gen`` and ``probe`` have in common."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer

SETTINGS = {"help_option_names": ["-h", "--help"]}

WHAT = "What to generate"


LexiconOption = Annotated[
    Path | None, typer.Option("--lexicon", help="Your own lexicon file.", rich_help_panel=WHAT)
]


VocabularyOption = Annotated[
    str | None,
    typer.Option(
        "--vocabulary",
        "-v",
        help="Which words of the lexicon: english, compeval, published, or your own.",
        rich_help_panel=WHAT,
    ),
]


TaskVocabularyOption = Annotated[
    str | None,
    typer.Option(
        "--vocabulary",
        "-v",
        help="Which words of the lexicon: english, compeval, published, or your own. By default "
        "compeval, or the only one of your own lexicon.",
        rich_help_panel=WHAT,
    ),
]


TrainOption = Annotated[
    int | None,
    typer.Option(
        "--train",
        help="Training items of each task. By default 4000, of natural text 100000.",
        rich_help_panel=WHAT,
    ),
]


TestOption = Annotated[
    int | None,
    typer.Option(
        "--test",
        help="Test items of each task. By default 1000, of natural text 10000.",
        rich_help_panel=WHAT,
    ),
]


ValidationOption = Annotated[
    int | None,
    typer.Option(
        "--validation",
        help="Validation items of each task. By default 0, of natural text 10000.",
        rich_help_panel=WHAT,
    ),
]


NATURAL = "Natural text"


FrequencyBandOption = Annotated[
    str | None,
    typer.Option(
        "--frequency-band",
        help="Of the words that Tense, SubjNum and ObjNum ask about: LOW-HIGH. "
        "By default 100-5000, less in a small corpus.",
        rich_help_panel=NATURAL,
    ),
]


OddBandOption = Annotated[
    str | None,
    typer.Option(
        "--odd-band",
        help="Of the words of SOMO: LOW-HIGH. By default 40-400, less in a small corpus.",
        rich_help_panel=NATURAL,
    ),
]


WordsOption = Annotated[
    int | None,
    typer.Option(
        "--words",
        help="Words of WC. By default 1000, fewer in a small corpus.",
        rich_help_panel=NATURAL,
    ),
]


FirstRankOption = Annotated[
    int | None,
    typer.Option(
        "--first-rank",
        help="Frequency rank of the first word of WC. By default 2001, less in a small corpus.",
        rich_help_panel=NATURAL,
    ),
]


SequencesOption = Annotated[
    int | None,
    typer.Option(
        "--sequences",
        help="Sequences of TopConst, besides OTHER. By default 19.",
        rich_help_panel=NATURAL,
    ),
]


NATURAL_OPTIONS: Mapping[str, tuple[str, Any]] = {
    "frequency_band": ("band", FrequencyBandOption),
    "odd_band": ("odd_band", OddBandOption),
    "words": ("words", WordsOption),
    "first_rank": ("first_rank", FirstRankOption),
    "sequences": ("sequences", SequencesOption),
}
"""The options of the natural-text tasks: to the field of a ``NaturalPlan``, and their type."""


def natural_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options; its parameter *natural* gets their values by field."""

    @wraps(command)
    def wrapped(**given: Any) -> None:
        natural = {field: given.pop(name) for name, (field, _) in NATURAL_OPTIONS.items()}
        command(natural=natural, **given)

    signature = inspect.signature(command)
    own = [each for each in signature.parameters.values() if each.name != "natural"]
    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, (_, kind) in NATURAL_OPTIONS.items()
    ]
    wrapped.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    return wrapped


def options_given(context: typer.Context) -> tuple[str, ...]:
    """Return the names of the parameters that the command line gives."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return tuple(name for name, each in sources.items() if each and each.name == "COMMANDLINE")


def _print_version(wanted: bool) -> None:
    if wanted:
        from sentprobe import __version__  # noqa: PLC0415

        print(f"sentprobe {__version__}")
        raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
]
