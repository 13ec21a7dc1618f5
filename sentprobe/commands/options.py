"""Options that several commands have: each is declared once, alone or in a group.

A group is a frozen dataclass whose fields are options. A command that is decorated with
:func:`with_groups` has the options of every group among its parameters, and gets its instance.
"""

import inspect
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import typer

from sentprobe.commands import completion as offer
from sentprobe.errors import UsageError, check_seed
from sentprobe.specs import COMPEVAL, NATURAL, choose

if TYPE_CHECKING:
    from sentprobe.engines import Machines

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
"""How every command is asked for help, and how wide that may be."""

WHAT = "What to generate"
HELD_OUT = "What is held out"
NATURAL_TEXT = "Natural text"
CLASSIFIER = "The classifier"
MACHINE = "Where it runs"
METHODS = "Methods"
FIX = "Features to fix (otherwise they vary)"
VARY = "Words to allow (each option may be repeated)"
"""Panels of ``--help``."""


def command_line() -> str:
    """Return the command as it was written, for the cards and results of what it makes."""
    return shlex.join(["probe", *sys.argv[1:]])


def seed_of(what: str, panel: str | None = None) -> Any:
    """Return the option ``--seed``; *what* is drawn by it."""
    return typer.Option(
        "--seed", min=0, callback=check_seed, help=f"Seed of {what}.", rich_help_panel=panel
    )


def out_to(text: str, panel: str | None = None) -> Any:
    """Return the option ``--out``; *text* says what is written there."""
    return typer.Option("--out", "-o", help=text, rich_help_panel=panel)


def format_among(text: str, panel: str | None = None) -> Any:
    """Return the option ``--format``; *text* names the formats."""
    offered = offer.among(lambda: offer.names_in(text))
    return typer.Option("--format", "-f", help=text, rich_help_panel=panel, autocompletion=offered)


TableFormatOption = Annotated[str, format_among("text, markdown, latex, csv or json.")]
"""The format of a table that is printed."""

OUT_DECIDES = "By default as the suffix of --out says."
"""What the help of ``--format`` says of a command that also has ``--out``."""

AllRowsOption = Annotated[
    bool, typer.Option("--all-rows", help="Show rows of the sanity runs, too.")
]
"""A line below a table stands for them otherwise."""

IntervalsOption = Annotated[bool, typer.Option("--intervals", help="Show 95% intervals.")]

SourcesOption = Annotated[
    bool,
    typer.Option("--sources", help="Take ± apart: between draws, and within one."),
]

PublishedOption = Annotated[
    bool, typer.Option("--published", help="Add the papers' rows of these tasks.")
]

ByLengthOption = Annotated[
    str | None,
    typer.Option(
        "--by-length",
        metavar="bins|tokens",
        help="Show accuracy and norm by sentence length, in bins or for each number of tokens.",
    ),
]

AuditsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--audit",
        metavar="FILE",
        help="Add to the page what probe audit --format json found of the data; repeatable.",
    ),
]

ForceOption = Annotated[bool, typer.Option("--force", help="Redo what is there.")]


def jobs_of(text: str) -> Any:
    """Return the option ``--jobs``; *text* says how many processes there are by default."""
    return typer.Option("--jobs", help=f"Processes. {text}", rich_help_panel=MACHINE)


JobsOption = Annotated[int | None, jobs_of("By default one for each core.")]

NearnessOption = Annotated[
    str,
    typer.Option("--nearness", help="What is near, in geometry: cosine, dot, euclid or whitened."),
]

TableOption = Annotated[
    int | None,
    typer.Option(
        "--table",
        metavar="N",
        help="Where probe show prints several tables, the one to use.",
    ),
]


def correction_for(what: str) -> Any:
    """Return the option ``--correction``; *what* it is that there are many of."""
    return typer.Option("--correction", help=f"For the number of {what}: holm, bh or none.")


CacheOption = Annotated[
    bool,
    typer.Option(
        "--cache/--no-cache", help="Keep sentence vectors on disk.", rich_help_panel=MACHINE
    ),
]

EncodersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--encoder",
        "-e",
        help="bow, bow:FILE, st:MODEL, ...; repeatable. By default bow and bilstm-max.",
        autocompletion=offer.complete_encoder,
    ),
]

ResultsOption = Annotated[
    Path | None, out_to("Folder for the results; what is there is not redone.")
]

TaskOption = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        help="Only this task (of natural also: adi); repeatable.",
        autocompletion=offer.complete_task,
    ),
]

LexiconOption = Annotated[
    Path | None, typer.Option("--lexicon", help="Your own lexicon file.", rich_help_panel=WHAT)
]

CONTRASTS = "role, modifier, negation, polarity, tense, aspect, number, noun, verb, adverb"

VOCABULARIES = "english, compeval, published, or one of your own."

VocabularyOption = Annotated[
    str | None,
    typer.Option(
        "--vocabulary",
        "-v",
        help=VOCABULARIES,
        rich_help_panel=WHAT,
        autocompletion=offer.complete_vocabulary,
    ),
]

CompevalVocabularyOption = Annotated[
    str | None,
    typer.Option(
        "--vocabulary",
        "-v",
        help=f"{VOCABULARIES} By default compeval, or the only one of your lexicon.",
        rich_help_panel=WHAT,
        autocompletion=offer.complete_vocabulary,
    ),
]


HeldOutOption = Annotated[
    list[str] | None,
    typer.Option(
        "--held-out",
        help="Only what --hold-out of gen pairs leaves out.",
        rich_help_panel=HELD_OUT,
        autocompletion=offer.complete_template,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """Whether the work is done here or on a cluster."""

    engine: Annotated[
        str,
        typer.Option("--engine", help="local, or dask with --scheduler.", rich_help_panel=MACHINE),
    ] = "local"
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="tcp://HOST:PORT",
            help="Of a Dask cluster.",
            rich_help_panel=MACHINE,
        ),
    ] = None

    def machines(self, *, jobs: int) -> "Machines":
        """Return where the work is done, with so many processes if that is here.

        Raises:
            UsageError: there is no such engine; see also :class:`~sentprobe.engines.Machines`.
        """
        from sentprobe.engines import EngineName, Machines  # noqa: PLC0415 - not for --help

        engine = choose(EngineName, self.engine, what="engine")
        return Machines(engine=engine, jobs=jobs, scheduler=self.scheduler)


@dataclass(frozen=True, slots=True, kw_only=True)
class TripletOptions:
    """From which structures and words triplets are drawn."""

    template: Annotated[
        list[str] | None,
        typer.Option(
            "--template",
            "-t",
            help="Structure, from gen templates; repeatable. By default all that can.",
            rich_help_panel=WHAT,
            autocompletion=offer.complete_template,
        ),
    ] = None
    vocabulary: CompevalVocabularyOption = None
    lexicon: LexiconOption = None
    held_out: HeldOutOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompevalOptions:
    """From which words the tasks of compeval are built."""

    SUITES: ClassVar = (COMPEVAL,)

    vocabulary: CompevalVocabularyOption = None
    lexicon: LexiconOption = None
    held_out: HeldOutOption = None
    hold_out_structure: Annotated[
        str | None,
        typer.Option(
            "--hold-out-structure",
            metavar="NAME",
            help="A structure that training lacks, and half of the test items have: passive, "
            "relative, subject-relative, object-relative, progressive, negated, past, plural or "
            "intransitive.",
            rich_help_panel=HELD_OUT,
            autocompletion=offer.complete_structure,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOptions:
    """How a task's items are drawn, and how many; None: as many as is usual in its suite."""

    SUITES: ClassVar = (COMPEVAL, NATURAL)

    sampling: Annotated[
        str,
        typer.Option(
            "--sampling",
            help="mirror, or paper, as published; of natural text only with --task adi.",
            rich_help_panel=WHAT,
            autocompletion=offer.complete_sampling,
        ),
    ] = "mirror"

    train: Annotated[
        int | None,
        typer.Option(
            "--train",
            help="Training items. By default 4000, natural 100000.",
            rich_help_panel=WHAT,
        ),
    ] = None
    test: Annotated[
        int | None,
        typer.Option(
            "--test",
            help="Test items. By default 1000, natural 10000.",
            rich_help_panel=WHAT,
        ),
    ] = None
    validation: Annotated[
        int | None,
        typer.Option(
            "--validation",
            help="Validation items. By default 0, natural 10000.",
            rich_help_panel=WHAT,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CardOptions:
    """What the cards of natural-text tasks say beside how these were made."""

    SUITES: ClassVar = (NATURAL,)

    audit: Annotated[
        bool,
        typer.Option(
            "--audit/--no-audit",
            help="Put the paper's baselines in the cards.",
            rich_help_panel=NATURAL_TEXT,
        ),
    ] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalOptions:
    """What the natural-text tasks ask about; None: what is usual, less in a small corpus."""

    SUITES: ClassVar = (NATURAL,)

    band: Annotated[
        str | None,
        typer.Option(
            "--frequency-band",
            help="Of the words that Tense, SubjNum and ObjNum ask about: LOW-HIGH. "
            "By default 100-5000, less in a small corpus.",
            rich_help_panel=NATURAL_TEXT,
        ),
    ] = None
    odd_band: Annotated[
        str | None,
        typer.Option(
            "--odd-band",
            help="Of the words of SOMO: LOW-HIGH. By default 40-400, less in a small corpus.",
            rich_help_panel=NATURAL_TEXT,
        ),
    ] = None
    words: Annotated[
        int | None,
        typer.Option(
            "--words",
            help="Words of WC. By default 1000, fewer in a small corpus.",
            rich_help_panel=NATURAL_TEXT,
        ),
    ] = None
    first_rank: Annotated[
        int | None,
        typer.Option(
            "--first-rank",
            help="Frequency rank of the first word of WC. By default 2001, less in a small corpus.",
            rich_help_panel=NATURAL_TEXT,
        ),
    ] = None
    sequences: Annotated[
        int | None,
        typer.Option(
            "--sequences",
            help="Sequences of TopConst, besides OTHER. By default 19.",
            rich_help_panel=NATURAL_TEXT,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemViewOptions:
    """Which test items are shown, and by what they are told apart."""

    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="COLUMN",
            help="Show accuracy by voice, clause, distance, attractors, length, label, template, "
            "or any column of the items.",
            autocompletion=offer.complete_column,
        ),
    ] = None
    wrong: Annotated[
        int | None,
        typer.Option(
            "--wrong",
            help="Show so many items that --encoder answers wrong on --task; with --by, of each "
            "part.",
        ),
    ] = None
    encoder: Annotated[
        str | None, typer.Option("--encoder", "-e", help="For --by and --wrong: only this one.")
    ] = None
    task: Annotated[
        str | None, typer.Option("--task", help="For --by and --wrong: only this one.")
    ] = None

    @property
    def asked(self) -> str:
        """The option that asks for items; empty: none does."""
        if self.wrong is not None:
            return "--wrong"
        return "" if self.by is None else "--by"

    def check(self) -> None:
        """Refuse options that do not go together.

        Raises:
            UsageError: --wrong without an encoder and a task, or of no items; one of these alone.
        """
        if self.wrong is not None and self.wrong < 1:
            raise UsageError(f"the number of wrong items must be positive, not {self.wrong}")
        if self.wrong is not None and None in (self.encoder, self.task):
            raise UsageError(
                "--wrong needs --encoder and --task: whose mistakes, and on which task"
            )
        for option, given in (("--encoder", self.encoder), ("--task", self.task)):
            if given is not None and not self.asked:
                raise UsageError(f"{option} is for --by and --wrong, neither of which is asked for")


@dataclass(frozen=True, slots=True, kw_only=True)
class LatexOptions:
    """What stands with a table in LaTeX."""

    caption: Annotated[
        str | None,
        typer.Option("--caption", help="In LaTeX, a table that floats, with this caption."),
    ] = None
    label: Annotated[
        str | None, typer.Option("--label", help="Its label there, such as tab:results.")
    ] = None


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of each group among its parameters, in the place of that group."""
    signature = inspect.signature(command)
    own = signature.parameters.values()
    groups = {each.name: each.annotation for each in own if is_dataclass(each.annotation)}

    @wraps(command)
    def wrapped(**given: Any) -> None:
        made = {name: _take(group, given) for name, group in groups.items()}
        command(**given, **made)

    options = [option for each in own for option in _options(each)]
    wrapped.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    return wrapped


def _take(group: Any, given: dict[str, Any]) -> Any:
    """Return the instance of a group that is given, and take its options out of *given*."""
    return group(**{each.name: given.pop(each.name) for each in fields(group)})


def _options(parameter: Parameter) -> Iterator[Parameter]:
    """Yield the parameter itself or, of a group, one for each of its options."""
    group = parameter.annotation
    if not is_dataclass(group):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    kinds = get_type_hints(group, include_extras=True)
    for each in fields(group):
        yield Parameter(
            each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=kinds[each.name]
        )


def options_given(context: typer.Context) -> tuple[str, ...]:
    """Return the names of the parameters that the command line gives, or a run file."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    given = ("COMMANDLINE", "DEFAULT_MAP")
    return tuple(name for name, each in sources.items() if each and each.name in given)


def given_as_written(context: typer.Context) -> dict[str, str]:
    """Return how each parameter that is given is written, by its name."""
    written = {
        each.name: "/".join([*each.opts[:1], *each.secondary_opts[:1]])
        for each in context.command.params
    }
    return {name: written[name] for name in options_given(context)}


def _of_suites(*groups: Any) -> Iterator[tuple[str, tuple[str, tuple[str, ...]]]]:
    for group in groups:
        for name, kind in get_type_hints(group, include_extras=True).items():
            if name != "SUITES":
                yield name, (kind.__metadata__[0].default, group.SUITES)


OF_SUITES: Mapping[str, tuple[str, tuple[str, ...]]] = dict(
    _of_suites(CompevalOptions, ItemOptions, CardOptions, NaturalOptions)
)
"""By parameter: the option as it is written, and the suites for which it means something."""


def refuse_idle(given: Iterable[str], suites: Collection[str], *, what: str) -> None:
    """Refuse options that mean nothing for the suites at hand; *what* names these in the message.

    Raises:
        UsageError: one of *given*, names of parameters, is for other suites.
    """
    for name in given:
        written, wanted = OF_SUITES.get(name, ("", ()))
        if wanted and not set(wanted) & set(suites):
            noun = "suite" if len(wanted) == 1 else "suites"
            raise UsageError(f"{written} is for the {noun} {' and '.join(wanted)}, not for {what}")


def _print_version(wanted: bool) -> None:
    if wanted:
        from sentprobe import __version__  # noqa: PLC0415

        print(f"sentprobe {__version__}")
        raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
]
