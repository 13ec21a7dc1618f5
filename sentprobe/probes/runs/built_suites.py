"""The suites of tasks that are built, and all that their datasets are made from."""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from sentprobe.errors import GivenError, SentprobeError, UsageError, check_whole
from sentprobe.extras import need
from sentprobe.files import is_table, what_is
from sentprobe.generator.split import SplitSide
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.lexicon.read import default_vocabulary, english
from sentprobe.probes.compeval import TASKS, CompevalTask, build, check_size, find_task
from sentprobe.probes.compeval.structures import Structure, find_structure
from sentprobe.probes.corpus.table import Table, open_table
from sentprobe.probes.dataset import ProbeDataset, Sampling, Size, TooFewError
from sentprobe.probes.natural.catalogue import find_tasks
from sentprobe.probes.natural.datasets import NaturalRecipe, build_each, check_natural_size
from sentprobe.probes.natural.select import NaturalSettings, parse_band
from sentprobe.probes.natural.task import NaturalTask, TaskGroup
from sentprobe.progress import Reporter, bars
from sentprobe.specs import COMPEVAL, check_distinct, choose

log = logging.getLogger(__name__)

Names: TypeAlias = Sequence[str]
"""Of tasks; none means all."""

Built: TypeAlias = ProbeDataset | TooFewError
"""A dataset, or why it cannot be built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompevalSuite:
    """Tasks of compeval, and all that their datasets are made from."""

    tasks: tuple[CompevalTask, ...]
    lexicon: Lexicon
    vocabulary: str
    size: Size
    sampling: Sampling
    seed: int
    side: SplitSide | None = None
    """That whose words and structures are used; None: all are."""
    structure: Structure | None = None
    """The one that is held out of training."""

    def build(self, *, command: str) -> Iterator[tuple[str, Built]]:
        """Yield each task's name with its dataset, or with why it cannot be built."""
        for task in self.tasks:
            try:
                yield task.name, self._build(task, command)
            except TooFewError as error:
                yield task.name, error

    def drawn(self, seed: int) -> "CompevalSuite":
        """Return the suite whose datasets are drawn by that seed."""
        return replace(self, seed=seed)

    def _build(self, task: CompevalTask, command: str) -> ProbeDataset:
        return build(
            task,
            self.lexicon,
            vocabulary=self.vocabulary,
            size=self.size,
            seed=self.seed,
            sampling=self.sampling,
            structure=self.structure,
            command=command,
            side=self.side,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalSuite:
    """Natural-text tasks, and the table of a corpus that their datasets are taken from."""

    tasks: tuple[NaturalTask, ...]
    table: Table
    recipe: NaturalRecipe

    def build(self, *, command: str) -> Iterator[tuple[str, Built]]:
        """Yield each task's name with its dataset, or with why it cannot be built.

        Raises:
            TableError: the table is damaged.
        """
        self.table.check()
        for task, built in build_each(self.tasks, self.table, recipe=self.recipe, command=command):
            yield task.name, built

    def drawn(self, seed: int) -> "NaturalSuite":
        """Return the suite whose datasets are drawn by that seed."""
        return replace(self, recipe=replace(self.recipe, seed=seed))


AnySuite: TypeAlias = CompevalSuite | NaturalSuite


def build_all(suite: AnySuite, *, command: str, reporter: Reporter) -> Iterator[tuple[str, Built]]:
    """Build the datasets of a suite one by one; see their ``build``."""
    if suite.tasks:
        reporter.begin("build the tasks", len(suite.tasks))
        for each in suite.build(command=command):
            yield each
            reporter.advance()


def failed(failures: Collection[TooFewError], *, of: int) -> SentprobeError:
    """Return the error that names the tasks of so many that could not be built.

    It is a wrong request if all were asked for with too few items.
    """
    wrong = len(failures) == of and all(isinstance(each, UsageError) for each in failures)
    count = f"{len(failures)} of {of} tasks could not be built"
    return (UsageError if wrong else SentprobeError)("\n".join([f"{count}:", *map(str, failures)]))


@dataclass(frozen=True, slots=True)
class ItemCounts:
    """How many items each task has; None: as many as is usual in its suite.

    Raises:
        GivenError: one is not a whole number.
    """

    train: int | None = None
    test: int | None = None
    validation: int | None = None

    def __post_init__(self) -> None:
        for name in ("train", "test", "validation"):
            check_whole(name, getattr(self, name))

    def over(self, usual: Size) -> Size:
        """Return the usual size with these counts where they are given."""
        return usual.changed(self.train, self.test, self.validation)


def make_compeval(
    names: Names,
    *,
    lexicon: Callable[[], Lexicon] = english,
    vocabulary: str | None = None,
    counts: ItemCounts = ItemCounts(),
    sampling: Sampling = Sampling.MIRROR,
    structure: str | None = None,
    seed: int = 0,
    side: SplitSide | None = None,
) -> CompevalSuite:
    """Return the suite compeval of these tasks; no *names* means all.

    The lexicon is asked for after all else is found to be right.

    Raises:
        UsageError: an unknown task, structure or vocabulary, a task twice, a size that does not
            balance; a side of a split that has none of the words, or of a task's structures.
    """
    held_out = None if structure is None else find_structure(structure)
    tasks = tuple(find_task(name) for name in names or TASKS)
    check_distinct("task", [task.name for task in tasks])
    size = counts.over(Size())
    for task in tasks:
        check_size(task, size, sampling=sampling, halves=held_out is not None)
    words = lexicon()
    vocabulary = vocabulary or default_vocabulary(words, COMPEVAL)
    words.vocabulary(vocabulary)
    if side:
        side.lexicon(words, vocabulary)
    return CompevalSuite(
        tasks=tasks,
        lexicon=words,
        vocabulary=vocabulary,
        size=size,
        sampling=sampling,
        seed=seed,
        side=side,
        structure=held_out,
    )


def make_natural(
    table: Table,
    names: Names,
    *,
    settings: NaturalSettings = NaturalSettings(),  # noqa: B008 - frozen
    counts: ItemCounts = ItemCounts(),
    seed: int = 0,
    audit: bool = False,
) -> NaturalSuite:
    """Return the natural-text tasks of a table, of these names or suites.

    Raises:
        UsageError: an unknown task, or a number.
    """
    tasks = tuple(find_tasks(names))
    size = counts.over(NaturalRecipe().size)
    need(*(("duckdb", "sklearn") if audit else ("duckdb",)))
    recipe = NaturalRecipe(size=size, seed=seed, settings=settings, audit=audit)
    check_natural_size(size)
    return NaturalSuite(tasks=tasks, table=table, recipe=recipe)


def check_sampled(tasks: Iterable[NaturalTask], sampling: Sampling) -> None:
    """Refuse a way of drawing that none of the tasks has.

    Raises:
        UsageError: it is that of the papers, and all tasks are of Conneau et al.
    """
    if sampling is Sampling.PAPER and all(task.suite is TaskGroup.CONNEAU for task in tasks):
        raise UsageError(
            "sampling paper is for the tasks of Adi et al. (task adi), none of which is asked for; "
            "those of Conneau et al. have one way"
        )


def find_table(path: Path) -> Table:
    """Return the table of a corpus; its shards are not read.

    Raises:
        UsageError: there is no such table, or it is something else.
        TableError: it is not finished, or is damaged.
    """
    if not path.exists():
        raise UsageError(f"there is no table {path}; make one of a corpus with probe analyze")
    kind = None if is_table(path) else what_is(path)
    if kind:
        raise UsageError(
            f"{path}: not a table of an analysed corpus, but {kind}; make one with probe analyze"
        )
    return open_table(path, check=False)


def build_natural(
    table: Path | str,
    tasks: Sequence[str] | str = (),
    *,
    train: int | None = None,
    test: int | None = None,
    validation: int | None = None,
    seed: int = 0,
    frequency_band: str | None = None,
    odd_band: str | None = None,
    words: int | None = None,
    first_rank: int | None = None,
    sequences: int | None = None,
    sampling: str = Sampling.MIRROR,
    audit: bool = True,
    progress: bool = False,
) -> list[ProbeDataset]:
    """Build natural-text tasks from the table of a corpus, as ``probe build natural`` does.

    - table: what ``probe analyze`` made
    - tasks: of these names or suites (``"adi"``); by default the ten of Conneau et al. 2018
    - the others are the options of that command

    A task for which the corpus has too little is left out, and a warning says why.

    Raises:
        GivenError: the table is no path.
        UsageError: an unknown task, a band, a number; there is no such table.
        SentprobeError: none of the tasks can be built; the table is damaged.
    """
    if not isinstance(table, str | PathLike):
        raise GivenError(f"a {type(table).__name__} is no path of the table of a corpus")
    settings = NaturalSettings(
        band=None if frequency_band is None else parse_band(frequency_band),
        odd_band=None if odd_band is None else parse_band(odd_band),
        words=words,
        first_rank=first_rank,
        sequences=sequences,
        sampling=choose(Sampling, sampling, what="sampling"),
    )
    suite = make_natural(
        find_table(Path(table)),
        (tasks,) if isinstance(tasks, str) else tuple(tasks),
        settings=settings,
        counts=ItemCounts(train, test, validation),
        seed=seed,
        audit=audit,
    )
    check_sampled(suite.tasks, suite.recipe.settings.sampling)
    with bars(show=progress) as reporter:
        built = [each for _, each in build_all(suite, command="", reporter=reporter)]
    failures = [each for each in built if isinstance(each, TooFewError)]
    if len(failures) == len(built):
        raise failed(failures, of=len(built))
    warn_of(failures)
    return [each for each in built if isinstance(each, ProbeDataset)]


def warn_of(failures: Iterable[TooFewError]) -> None:
    """Warn of the tasks that could not be built, where others could."""
    for failure in failures:
        log.warning("left out: %s", failure)
