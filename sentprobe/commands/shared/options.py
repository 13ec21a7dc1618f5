"""Options that several commands share: single options, and dataclasses of options for :func:`expand_option_groups`."""

import inspect
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import partial, wraps
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from typer.models import ParameterInfo

from sentprobe import __version__
from sentprobe.commands.shared import output_paths
from sentprobe.commands.shared.output_paths import OUTPUT_FILE, OUTPUT_FOLDER
from sentprobe.common import specs
from sentprobe.common.errors import UsageError, check_seed
from sentprobe.common.reading import parse_number
from sentprobe.common.settings import DATA, MACHINE, Repeatable, Setting
from sentprobe.common.specs import choose_member
from sentprobe.probes.runs import suite_options

if TYPE_CHECKING:
    from sentprobe.common.engines import EngineChoice
    from sentprobe.generator.events.event import Mood
else:
    Mood = str  # Typer sees a text; to import the class would slow down every --help

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
"""Typer's settings for every program: names of the help option, and the maximum width of the help."""


def declare_option(panel: str | None, *names: str, **details: Any) -> Any:
    """Return a Typer option that ``--help`` shows in the named panel."""
    return typer.Option(*names, rich_help_panel=panel, **details)


data_option, machine_option = (partial(declare_option, panel) for panel in (DATA, MACHINE))
"""Functions that declare an option in the ``--help`` panel DATA or MACHINE."""


def build_option(setting: Setting) -> Any:
    """Return the Typer option of a setting."""
    complete = output_paths.build_completer(lambda: setting.choices) if setting.choices else None
    return declare_option(
        setting.panel, *setting.names, help=setting.help, metavar=setting.metavar, autocompletion=complete
    )


def format_command_line() -> str:
    """Return the command line of this process, which dataset cards and results record."""
    return format_words(["probe", *sys.argv[1:]])


def format_words(words: Iterable[str]) -> str:
    """Return a command as one text for a shell, without the passwords in URLs.

    >>> format_words(["probe", "analyze", "a b.txt", "corenlp:http://bob:secret@host:9000"])
    "probe analyze 'a b.txt' 'corenlp:http://bob:***@host:9000'"
    """
    return shlex.join(re.sub(r"(://[^/@:\s]*):[^/@\s]*@", r"\1:***@", word) for word in words)


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
TargetsArgument = Annotated[
    list[str], typer.Argument(metavar="SUITE|PATH...", help="compeval, structure, natural TABLE... or datasets.")
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

LexiconOption = Annotated[Path | None, build_option(suite_options.LEXICON)]
LanguageOption = Annotated[str, build_option(suite_options.LANGUAGE)]

CONTRASTS = specs.enumerate_names(specs.CONTRASTS).replace(
    "negation, polarity", "negation (moved), polarity (negated or not)"
)

ContrastsOption = Annotated[
    Repeatable, typer.Option("--contrast", "-c", help=f"{CONTRASTS}; repeatable. Default: all.")
]

_REMARKS = {"published": "published (Ettinger et al. 2018)", "splits": "splits (a file per split)"}
DATASET_FORMATS = [_REMARKS.get(name, name) for name in specs.DATASET_FORMATS]
"""Formats of datasets, some with a remark for the help: ``splits (a file per split)``."""


VocabularyOption = Annotated[str | None, build_option(suite_options.describe_vocabulary("english"))]
ProfileOption = Annotated[str | None, build_option(suite_options.PROFILE)]


def _find_mood(name: str | None) -> "Mood | None":
    from sentprobe.generator.events.event import Mood

    return None if name is None else choose_member(Mood, name, what="mood")


MoodOption = Annotated[
    Mood | None,
    data_option(
        callback=_find_mood, help=f"Mood of the anchors: {specs.enumerate_names(specs.MOODS)}. [default: statement]"
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
        Setting(
            "Sentence structure, from gen templates; repeatable. Default: all with the contrast.",
            DATA,
            names=("--template", "-t"),
        ),
    ] = None
    vocabulary: Annotated[str | None, suite_options.describe_vocabulary("compeval")] = None
    lexicon: Annotated[Path | None, suite_options.LEXICON] = None
    language: Annotated[str, suite_options.LANGUAGE] = "en"
    held_out: Annotated[Repeatable, suite_options.LEFT_OUT] = None


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
        annotation = annotations[field.name]
        kind, option = get_args(annotation)[:2]
        if isinstance(option, Setting):
            annotation = Annotated[kind, build_option(option)]
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=annotation)


def _print_version(requested: bool) -> None:
    if requested:
        print(f"sentprobe {__version__}")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
]


def parse_share(text: str, option: str) -> float:
    """Convert a share such as ``5%`` or ``0.05`` to a number from 0 to 1. Raises UsageError, which names *option*.

    >>> parse_share("5%", "--keep"), parse_share("0.05", "--keep")
    (0.05, 0.05)
    """
    number, is_percent = text.removesuffix("%"), text.endswith("%")
    try:
        share = parse_number(number) / (100 if is_percent else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"{option} {text}: a share from 0% to 100% is expected, such as 5% or 0.05")
    return share
