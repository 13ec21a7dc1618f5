"""Options that several commands share: single options, and dataclasses of options for :func:`expand_option_groups`."""

import inspect
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import partial, wraps
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args, get_type_hints

import typer
from typer.models import ParameterInfo

from sentprobe import __version__
from sentprobe.commands.shared import output_paths
from sentprobe.commands.shared.output_paths import OUTPUT_FILE, OUTPUT_FOLDER
from sentprobe.common import specs
from sentprobe.common.errors import check_seed
from sentprobe.common.specs import GENERATED, NATURAL, SUITES, choose_member

if TYPE_CHECKING:
    from sentprobe.common.engines import EngineChoice
    from sentprobe.generator.events.event import Mood
else:
    Mood = str  # Typer sees a text; to import the class would slow down every --help

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
"""Typer's settings for every program: names of the help option, and the maximum width of the help."""
WHAT = "Data"
HELD_OUT = "Held-out data"
NATURAL_TEXT = "Natural text"
CLASSIFIER = "The classifier"
MACHINE = "Machine"
METHODS = "Methods"
FIX = "Features to set"
VARY = "Words to allow (repeatable)"
"""The constants from WHAT to VARY are titles of panels (groups of options) in ``--help``."""


Repeatable = list[str] | None
"""Type of an option that the user may repeat; None if it is not set."""


def declare_option(panel: str | None, *names: str, **details: Any) -> Any:
    """Return a Typer option that ``--help`` shows in the named panel."""
    return typer.Option(*names, rich_help_panel=panel, **details)


data_option, machine_option, natural_option = (
    partial(declare_option, panel) for panel in (WHAT, MACHINE, NATURAL_TEXT)
)
"""Functions that declare an option in the ``--help`` panel WHAT, MACHINE or NATURAL_TEXT."""


def format_command_line() -> str:
    """Return the command line of this process, which dataset cards and results record."""
    return shlex.join(["probe", *sys.argv[1:]])


def build_seed_option(purpose: str, panel: str | None = None) -> Any:
    """Return the option ``--seed``; its help says that it is the random seed of *purpose*."""
    return declare_option(panel, "--seed", min=0, callback=check_seed, help=f"Random seed of {purpose}.")


def build_out_option(description: str, panel: str | None = None) -> Any:
    """Return the option ``--out`` with *description* as its help."""
    return declare_option(panel, "--out", "-o", help=description)


def build_format_option(formats: Iterable[str], more: str = "", panel: str | None = None) -> Any:
    """Return the option ``--format``; its help lists *formats* and then has the text *more*.

    A format may have a remark in brackets, which is not part of its name: ``conllu (default)``.
    """
    format_names = [*formats]
    return declare_option(
        panel,
        "--format",
        "-f",
        help=f"{specs.enumerate_names(format_names)}. {more}".rstrip(),
        autocompletion=output_paths.build_completer(lambda: [name.partition(" ")[0] for name in format_names]),
    )


REPLACED = "replaced if it exists."
"""End of the help of options that name an output file which may exist already."""

OutFileOption = Annotated[Path | None, build_out_option(f"File to write; {REPLACED}"), OUTPUT_FILE]
InsteadOfStdoutOption = Annotated[
    Path | None, build_out_option(f"File to write instead of stdout; {REPLACED}"), OUTPUT_FILE
]
RunsArgument = Annotated[
    list[Path], typer.Argument(metavar="RUN...", help="Results folders, as written by probe run --out.")
]
TABLE_FORMATS = ("text", "markdown", "latex", "csv", "json")
TableFormatOption = Annotated[str, build_format_option(TABLE_FORMATS)]
DEFAULT_FORMAT_HELP = "Default: by the suffix of --out, else text."
AllRowsOption = Annotated[bool, typer.Option("--all-rows", help="Also show the rows of controls.")]
NotesOption = Annotated[bool, typer.Option("--notes", help="Print all notes, not only a summary.")]
IntervalsOption = Annotated[bool, typer.Option("--intervals", help="Show 95% confidence intervals.")]
SourcesOption = Annotated[bool, typer.Option("--sources", help="Show standard deviations between and within draws.")]
PublishedOption = Annotated[bool, typer.Option("--published", help="Add rows with results from the tasks' papers.")]

ByLengthOption = Annotated[
    str | None,
    typer.Option(
        metavar="bins|tokens",
        help="Show accuracy and vector norm by sentence length: in the bins of Adi et al., or by number of tokens.",
    ),
]

AuditsOption = Annotated[
    list[Path] | None,
    typer.Option("--audit", metavar="FILE", help="Add an audit (probe audit --format json) to the page; repeatable."),
]

ForceOption = Annotated[bool, typer.Option("--force", help="Compute existing results again, and replace them.")]


def build_jobs_option(description: str) -> Any:
    """Return the option ``--jobs``; *description* says how many processes are the default."""
    return machine_option("--jobs", help=f"Number of processes. {description}")


JobsOption = Annotated[int | None, build_jobs_option("Default: one per core.")]

NearnessOption = Annotated[
    str,
    typer.Option(
        help="For results of probe geometry: nearness by cosine, dot, euclid or whitened (cosine after whitening)."
    ),
]

TableOption = Annotated[
    int | None, typer.Option(metavar="N", help="Number of the table to use, if probe show prints several.")
]
CorrectionOption = Annotated[
    str, typer.Option(help="Correction for multiple comparisons: holm, bh (Benjamini-Hochberg) or none.")
]
ThreadsOption = Annotated[int | None, machine_option(help="PyTorch threads. Default: one per core.")]
CacheOption = Annotated[bool, machine_option("--cache/--no-cache", help="Cache sentence vectors on disk.")]

EncodersOption = Annotated[
    Repeatable,
    typer.Option(
        "--encoder",
        "-e",
        help="Encoder, as listed by probe encoders; repeatable. Default: bow and bilstm-max?hidden=256.",
    ),
]

ResultsOption = Annotated[Path | None, build_out_option("Results folder; existing results are reused."), OUTPUT_FOLDER]

TaskOption = Annotated[Repeatable, typer.Option(help="Only this task, or group such as adi; repeatable.")]

LanguageOption = Annotated[
    str,
    data_option(
        help=f"Language of the grammar: {specs.enumerate_names(specs.LANGUAGES)}.",
        autocompletion=output_paths.build_completer(lambda: specs.LANGUAGES),
    ),
]

LexiconOption = Annotated[Path | None, data_option(help="Your own lexicon (TOML file).")]

CONTRASTS = specs.enumerate_names(specs.CONTRASTS).replace(
    "negation, polarity", "negation (moved to another verb), polarity (negated or not)"
)

ContrastsOption = Annotated[
    Repeatable, typer.Option("--contrast", "-c", help=f"{CONTRASTS}; repeatable. Default: all.")
]

_REMARKS = {"published": "published (Ettinger et al. 2018)", "splits": "splits (a file per split)"}
DATASET_FORMATS = [_REMARKS.get(name, name) for name in specs.DATASET_FORMATS]
"""Formats of datasets, some with a remark for the help: ``splits (a file per split)``."""


def build_vocabulary_option(default: str) -> Any:
    """Return the option ``--vocabulary``; its help says that *default* is the default."""
    return data_option(
        "--vocabulary",
        "-v",
        help=f"Word list: {', '.join(specs.VOCABULARIES)}, or one from --lexicon. Default: {default}.",
    )


VocabularyOption = Annotated[str | None, build_vocabulary_option("english")]

ProfileOption = Annotated[str | None, data_option(help="Sampling weights: uniform, published or FILE.")]


def _find_mood(name: str | None) -> "Mood | None":
    from sentprobe.generator.events.event import Mood

    return None if name is None else choose_member(Mood, name, what="mood")


MoodOption = Annotated[
    Mood | None,
    data_option(
        callback=_find_mood, help=f"Mood of the anchors: {specs.enumerate_names(specs.MOODS)}. [default: statement]"
    ),
]

HeldOutOption = Annotated[
    Repeatable,
    declare_option(
        HELD_OUT,
        metavar="SHARE|TEMPLATE",
        help="Use only the words or structures left out by gen pairs --hold-out (give the same value); repeatable.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """Options that choose local processes or a Dask cluster for the work."""

    engine: Annotated[str, machine_option(help="Workers: local, or dask (needs --scheduler).")] = "local"
    scheduler: Annotated[str | None, machine_option(metavar="tcp://HOST:PORT", help="Address of the scheduler.")] = None

    def find_machines(self, *, jobs: int, runs_small_work_inline: bool = False) -> "EngineChoice":
        """Return the chosen engine: *jobs* local processes, or a Dask cluster."""
        from sentprobe.common.engines import EngineChoice, EngineName

        engine = choose_member(EngineName, self.engine, what="engine")
        return EngineChoice(
            engine=engine, jobs=jobs, scheduler=self.scheduler, runs_small_work_inline=runs_small_work_inline
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TripletOptions:
    """Options for the structures and words of triplets."""

    template: Annotated[
        Repeatable,
        data_option(
            "--template",
            "-t",
            help="Sentence structure, from gen templates; repeatable. Default: all with the contrast.",
        ),
    ] = None
    vocabulary: Annotated[str | None, build_vocabulary_option("compeval")] = None
    lexicon: LexiconOption = None
    language: LanguageOption = "en"
    held_out: HeldOutOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompevalOptions:
    """Options for the words and structures of generated sentences."""

    SUITES: ClassVar = GENERATED

    vocabulary: Annotated[str | None, build_vocabulary_option("the suite's")] = None
    lexicon: LexiconOption = None
    language: LanguageOption = "en"
    profile: ProfileOption = None
    held_out: HeldOutOption = None
    hold_out_structure: Annotated[
        str | None,
        declare_option(
            HELD_OUT,
            metavar="NAME",
            help="Exclude a structure from training; half of the test items have it. One of: "
            f"{specs.enumerate_names(specs.STRUCTURES)}.",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOptions:
    """Options for items: how they are sampled, and how many each split of a task has (None: the suite's default)."""

    SUITES: ClassVar = SUITES

    sampling: Annotated[
        str,
        data_option(help="Items: mirror (same words, other labels) or paper (as published; not for group conneau)."),
    ] = "mirror"

    train: Annotated[int | None, data_option(help="Training items. Default: 4000; natural text: 100000.")] = None
    test: Annotated[int | None, data_option(help="Test items. Default: 1000; natural text: 10000.")] = None
    validation: Annotated[int | None, data_option(help="Validation items. Default: 0; natural text: 10000.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CardOptions:
    """Options for the dataset cards of natural-text tasks."""

    SUITES: ClassVar = (NATURAL,)

    audit: Annotated[bool, natural_option("--audit/--no-audit", help="Add the paper's baselines to the cards.")] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalOptions:
    """Options for the languages and classes of natural-text tasks; None means the default."""

    SUITES: ClassVar = (NATURAL,)

    train_on: Annotated[
        str | None,
        natural_option(metavar="LANGUAGES", help="Languages to train on, such as de,fr. Default: of all tables."),
    ] = None
    test_on: Annotated[
        str | None, natural_option(metavar="LANGUAGES", help="Languages to test on. Default: of all tables.")
    ] = None

    band: Annotated[
        str | None,
        natural_option(
            "--frequency-band",
            help="Least and greatest corpus count of the target words of Tense, SubjNum and ObjNum. Default: 100-5000, "
            "lower in a small corpus.",
        ),
    ] = None
    odd_band: Annotated[
        str | None,
        natural_option(
            help="Least and greatest corpus count of SOMO's exchanged words. Default: 40-400, lower in a small corpus."
        ),
    ] = None
    words: Annotated[
        int | None, natural_option(help="Number of words (classes) of WC. Default: 1000, fewer in a small corpus.")
    ] = None
    first_rank: Annotated[
        int | None, natural_option(help="Frequency rank of WC's first word. Default: 2001, lower in a small corpus.")
    ] = None
    sequences: Annotated[
        int | None, natural_option(help="Number of classes of TopConst, without OTHER. Default: 19.")
    ] = None
    depths: Annotated[str | None, natural_option(help="Depths to use. Default: TreeDepth 5-12, DepDepth 3-5.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LatexOptions:
    """Caption and label of a LaTeX table."""

    caption: Annotated[str | None, typer.Option(help="Caption; the LaTeX table then floats.")] = None
    label: Annotated[str | None, typer.Option(help="Label of the LaTeX table, such as tab:results.")] = None


def expand_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command: replace each parameter that is a dataclass by one option for each field of the dataclass.

    Options without shell completion get the completer of :data:`~.output_paths.COMPLETERS`.
    """
    signature = inspect.signature(command)
    parameters = signature.parameters.values()
    groups: dict[str, Any] = {p.name: p.annotation for p in parameters if is_dataclass(p.annotation)}

    @wraps(command)
    def wrapped(**arguments: Any) -> None:
        for name, group in groups.items():
            arguments[name] = group(**{field.name: arguments.pop(field.name) for field in fields(group)})
        command(**arguments)

    options = [option for parameter in parameters for option in _expand_parameter(parameter)]
    for option in options:
        for information in get_args(option.annotation):
            if isinstance(information, ParameterInfo) and information.autocompletion is None:
                information.autocompletion = output_paths.COMPLETERS.get(option.name)
    wrapped.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    return wrapped


def _expand_parameter(parameter: Parameter) -> Iterator[Parameter]:
    """Yield the options of a parameter that is a dataclass of options; yield any other parameter itself."""
    group = parameter.annotation
    if not is_dataclass(group):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    annotations = get_type_hints(group, include_extras=True)
    for field in fields(group):
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=annotations[field.name])


def _print_version(requested: bool) -> None:
    if requested:
        print(f"sentprobe {__version__}")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
]
