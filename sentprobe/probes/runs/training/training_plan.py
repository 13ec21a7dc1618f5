"""Plans for training an encoder, and the check that the texts fit the objective."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from sentprobe.errors import UsageError, format_count, suggest
from sentprobe.generator.pairs.contrasts import find_contrast
from sentprobe.probes.compeval.tasks import TASKS
from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.formats.registry import read_datasets
from sentprobe.probes.pretraining import loop, objective_options, objectives
from sentprobe.probes.pretraining.objective_options import EVENTS
from sentprobe.probes.pretraining.objectives import TextKind
from sentprobe.probes.pretraining.texts import running_text, text_files
from sentprobe.probes.pretraining.texts.text_filters import TextOptions
from sentprobe.probes.runs.execution.task import list_task_names
from sentprobe.specs import check_distinct

ProbedTask: TypeAlias = str | ProbeDataset
"""A task to probe: the name of a compeval task, whose dataset is then built, or a dataset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbingPlan:
    """The tasks and contrasts on which an encoder is scored during its training, with their sizes."""

    tasks: tuple[ProbedTask, ...]
    contrasts: tuple[str, ...]
    triplets: int
    train: int
    test: int

    @property
    def builds(self) -> bool:
        """Whether sentences are generated for a task or a contrast."""
        return bool(self.contrasts) or any(isinstance(task, str) for task in self.tasks)


def plan_probing(tasks: Sequence[str], contrasts: Sequence[str], *, items: int) -> ProbingPlan:
    """Return the plan for probing *tasks* (names or paths) and *contrasts*; if both are empty, all compeval tasks.

    A task given by name has *items* training items and *items* / 2 test items. A contrast has *items* / 5 triplets.
    Raises UsageError or DatasetError.
    """
    if items < 2:
        raise UsageError(f"items={items}: at least 2 are needed, for one test item")
    probed_tasks = tuple(_find_tasks(tasks or ([] if contrasts else [*TASKS])))
    for kind, names in (("task", list_task_names(probed_tasks)), ("contrast", tuple(contrasts))):
        if names:
            check_distinct(kind, names)
    return ProbingPlan(
        tasks=probed_tasks,
        contrasts=tuple(find_contrast(name).name for name in contrasts),
        triplets=max(1, items // 5),
        train=items,
        test=items // 2,
    )


def _find_tasks(words: Sequence[str]) -> Iterator[ProbedTask]:
    """Yield the compeval tasks that *words* name, and the datasets in the files or folders that *words* name."""
    for word in words:
        if word in TASKS:
            yield word
        elif Path(word).exists():
            yield from read_datasets(Path(word))
        else:
            raise UsageError(
                f"there is no task {word!r} of compeval{suggest(word, TASKS)}, nor such a file or "
                f"directory of datasets; the tasks are {', '.join(TASKS)}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPlan:
    """The training texts, and how they are read."""

    corpus: tuple[Path, ...]
    parallel: Path | None = None
    """The file whose lines translate the lines of the corpus; None if the corpus file has both languages."""
    format: str | None = None
    columns: tuple[str, ...] = ()
    """The name of the column of sentences, or of the two columns of translated sentences (in TMX: the languages)."""
    document: str | None = None
    options: TextOptions = field(default_factory=TextOptions)
    events: int = EVENTS


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlan:
    """The model to train."""

    architecture: Architecture
    words: int = 50_000
    """The maximum number of words with a vector, as in Adi et al. 2017."""
    vectors: str = ""
    """The initial word vectors: a file, or SKIP_GRAM to learn them from the texts; empty means random vectors."""
    frozen: bool = False
    reverse: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """The complete plan of a training, which can be sent to another process."""

    name: str
    objective: str
    texts: TextPlan
    model: ModelPlan
    options: objective_options.ObjectiveOptions
    settings: loop.TrainingSettings
    out: Path
    probing: ProbingPlan | None = None
    command: str = ""

    @property
    def kind(self) -> objectives.ObjectiveKind:
        """The kind of the objective. Raises UsageError for an unknown objective."""
        return objectives.find_objective(self.objective)


_EXPECTED_TEXTS: Mapping[TextKind, str] = {
    TextKind.SENTENCES: "sentences",
    TextKind.PARALLEL: "sentences and their translations",
    TextKind.NLI: "pairs with a label",
    TextKind.TRIPLETS: "triplets, as gen pairs --for training writes them",
    TextKind.TREES: "trees",
}


def check_texts(plan: TrainingPlan) -> None:
    """Raise UsageError if the options about text files do not fit the objective; the files are not read."""
    kind, texts = plan.kind, plan.texts
    option = f"--objective {kind.name}"
    if kind.texts is TextKind.EVENTS:
        if texts.corpus:
            raise UsageError(f"{option} learns from generated sentences, not from --corpus")
        return
    if not texts.corpus:
        raise UsageError(f"{option} learns from {_EXPECTED_TEXTS[kind.texts]}: --corpus is missing")
    _check_columns(option, kind.texts, texts)
    if kind.texts not in (TextKind.SENTENCES, TextKind.TREES) and len(texts.corpus) > 1:
        raise UsageError(f"{option} learns from one file, but --corpus is given {len(texts.corpus)} times")
    if texts.parallel and kind.texts is not TextKind.PARALLEL:
        raise UsageError(f"--parallel is for --objective nmt, not for {kind.name}")
    corpus = texts.corpus[0]
    unpaired = running_text.SUFFIXES.keys() - text_files.SUFFIXES
    if kind.texts is TextKind.PARALLEL and not texts.parallel and text_files.find_suffix(str(corpus)) in unpaired:
        raise UsageError(
            f"{option} learns from {_EXPECTED_TEXTS[TextKind.PARALLEL]}: --parallel is missing, "
            f"the file with the translation of each line of {corpus}"
        )


def _check_columns(option: str, kind: TextKind, texts: TextPlan) -> None:
    """Raise UsageError if ``--format``, ``--document`` or ``--column`` does not fit the objective."""
    options = {"--format": texts.format, "--document": texts.document}
    if kind is not TextKind.SENTENCES and (unused_options := [name for name in options if options[name]]):
        raise UsageError(
            f"{unused_options[0]} is for files of sentences, but {option} learns from {_EXPECTED_TEXTS[kind]}"
        )
    expected_count = {TextKind.SENTENCES: 1, TextKind.PARALLEL: 2}.get(kind, 0)
    if texts.columns and len(texts.columns) != expected_count:
        number = format_count(expected_count, "column") if expected_count else "no column"
        times = format_count(len(texts.columns), "time")
        raise UsageError(f"{option} needs {number}, but --column is given {times}")
    if texts.columns and texts.parallel:
        raise UsageError("--column is for one file that holds both languages: leave out --column or --parallel")
