"""A training as it is asked for, and whether its texts fit its objective."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sentprobe.errors import UsageError, counted
from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.pretraining import loop, objectives
from sentprobe.probes.pretraining.texts import sentences, text_files
from sentprobe.probes.pretraining.texts.open_texts import TextKind
from sentprobe.probes.pretraining.texts.sieves import TextOptions
from sentprobe.probes.runs.probing_plan import ProbingPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPlan:
    """What is learned from."""

    corpus: tuple[Path, ...]
    parallel: Path | None = None
    """The translation of the corpus, line by line."""
    format: str | None = None
    """Of files of sentences; none: as the suffix says."""
    columns: tuple[str, ...] = ()
    """The column of sentences, or the two of a translation: of TMX, the languages."""
    document: str | None = None
    """The column that says which document a sentence is from."""
    options: TextOptions = field(default_factory=TextOptions)
    events: int = 100_000
    """Events that are drawn, where no text is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlan:
    """What learns."""

    architecture: Architecture
    words: int = 50_000
    """Words that have a vector; Adi et al. 2017 have as many."""
    vectors: str = ""
    """A file of what word vectors are at first, or SKIP_GRAM; empty: they are drawn."""
    frozen: bool = False
    reverse: bool = False
    """Whether sentences are read from the last word to the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """All that a training is made of; it can be sent to another process."""

    name: str
    """What results call the encoder."""
    objective: str
    texts: TextPlan
    model: ModelPlan
    options: objectives.ObjectiveOptions
    settings: loop.TrainingSettings
    out: Path
    probing: ProbingPlan | None = None
    command: str = ""

    @property
    def kind(self) -> objectives.ObjectiveKind:
        """The objective.

        Raises:
            UsageError: there is none of that name.
        """
        return objectives.find_objective(self.objective)


_WANTED: Mapping[TextKind, str] = {
    TextKind.SENTENCES: "sentences",
    TextKind.PARALLEL: "sentences and their translations",
    TextKind.NLI: "pairs with a label",
    TextKind.TRIPLETS: "triplets, as gen pairs --for training writes them",
    TextKind.TREES: "trees",
}


def check_texts(plan: TrainingPlan) -> None:
    """Refuse texts that the objective cannot be learned from, before any is read.

    Raises:
        UsageError: it is so, or there is no such objective.
    """
    kind, texts = plan.kind, plan.texts
    option = f"--objective {kind.name}"
    if kind.texts is TextKind.EVENTS:
        if texts.corpus:
            raise UsageError(f"{option} learns from what the generator draws, not from --corpus")
        return
    if not texts.corpus:
        raise UsageError(f"{option} learns from {_WANTED[kind.texts]}: --corpus is missing")
    _check_columns(option, kind.texts, texts)
    if kind.texts not in (TextKind.SENTENCES, TextKind.TREES):
        _check_one(option, texts)
    if kind.texts is TextKind.PARALLEL:
        _check_parallel(option, texts)
    elif texts.parallel:
        raise UsageError(f"--parallel is for --objective nmt, not for {kind.name}")


def _check_parallel(option: str, texts: TextPlan) -> None:
    corpus = texts.corpus[0]
    unpaired = sentences.SUFFIXES.keys() - text_files.SUFFIXES
    if texts.parallel is None and text_files.suffix_of(str(corpus)) in unpaired:
        raise UsageError(
            f"{option} learns from {_WANTED[TextKind.PARALLEL]}: --parallel is missing, the file "
            f"with the translation of each line of {corpus}"
        )


def _check_columns(option: str, kind: TextKind, texts: TextPlan) -> None:
    """Refuse what is said of files that the objective does not read so."""
    given = {"--format": texts.format, "--document": texts.document}
    if kind is not TextKind.SENTENCES and (idle := [name for name in given if given[name]]):
        raise UsageError(
            f"{idle[0]} is of files of sentences: {option} learns from {_WANTED[kind]}"
        )
    wanted = {TextKind.SENTENCES: 1, TextKind.PARALLEL: 2}.get(kind, 0)
    if texts.columns and len(texts.columns) != wanted:
        number = counted(wanted, "column") if wanted else "no column"
        given_times = counted(len(texts.columns), "time")
        raise UsageError(f"{option} wants {number} named: --column is there {given_times}")
    if texts.columns and texts.parallel:
        raise UsageError("--column is of one file that holds both: leave out it or --parallel")


def _check_one(option: str, texts: TextPlan) -> None:
    """Refuse several files where a reader takes one."""
    if len(texts.corpus) > 1:
        raise UsageError(
            f"{option} learns from one file: --corpus is there {len(texts.corpus)} times"
        )
