"""The suites of tasks that are built, and all that their datasets are made from."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from sentprobe.errors import SentprobeError, UsageError
from sentprobe.files import is_table, what_is
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.lexicon.read import default_vocabulary, english
from sentprobe.probes.compeval import TASKS, CompevalTask, Sampling, build, check_size, find_task
from sentprobe.probes.corpus.table import Table, open_table
from sentprobe.probes.dataset import ProbeDataset, Size
from sentprobe.probes.natural.catalogue import find_tasks
from sentprobe.probes.natural.datasets import NaturalRecipe, build_each, check_natural_size
from sentprobe.probes.natural.select import NaturalSettings, TooFewError
from sentprobe.probes.natural.task import NaturalTask
from sentprobe.progress import Reporter
from sentprobe.specs import COMPEVAL, check_distinct

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

    def build(self, *, command: str) -> Iterator[tuple[str, Built]]:
        """Yield each task's name and dataset.

        Raises:
            SentprobeError: the vocabulary does not yield so many sentences.
        """
        for task in self.tasks:
            yield (
                task.name,
                build(
                    task,
                    self.lexicon,
                    vocabulary=self.vocabulary,
                    size=self.size,
                    seed=self.seed,
                    sampling=self.sampling,
                    command=command,
                ),
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


AnySuite: TypeAlias = CompevalSuite | NaturalSuite


def build_all(suite: AnySuite, *, command: str, reporter: Reporter) -> Iterator[tuple[str, Built]]:
    """Build the datasets of a suite one by one; see their ``build``."""
    if suite.tasks:
        reporter.begin("build the tasks", len(suite.tasks))
        for each in suite.build(command=command):
            yield each
            reporter.advance()


def failed(failures: Collection[TooFewError], *, of: int) -> SentprobeError:
    """Return the error that names the tasks of so many that could not be built."""
    count = f"{len(failures)} of {of} tasks could not be built"
    return SentprobeError("\n".join([f"{count}:", *map(str, failures)]))


@dataclass(frozen=True, slots=True)
class ItemCounts:
    """How many items each task has; None: as many as is usual in its suite."""

    train: int | None = None
    test: int | None = None
    validation: int | None = None

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
    seed: int = 0,
) -> CompevalSuite:
    """Return the suite compeval of these tasks; no *names* means all.

    The lexicon is asked for after all else is found to be right.

    Raises:
        UsageError: an unknown task or vocabulary, a task twice, a size that does not balance.
    """
    tasks = tuple(find_task(name) for name in names or TASKS)
    check_distinct("task", [task.name for task in tasks])
    size = counts.over(Size())
    for task in tasks:
        check_size(task, size, sampling=sampling)
    words = lexicon()
    vocabulary = vocabulary or default_vocabulary(words, COMPEVAL)
    words.vocabulary(vocabulary)
    return CompevalSuite(
        tasks=tasks, lexicon=words, vocabulary=vocabulary, size=size, sampling=sampling, seed=seed
    )


def make_natural(
    table: Path,
    names: Names,
    *,
    settings: NaturalSettings = NaturalSettings(),  # noqa: B008 - frozen
    counts: ItemCounts = ItemCounts(),
    seed: int = 0,
    audit: bool = False,
) -> NaturalSuite:
    """Return the natural-text tasks of a table, of these names or suites.

    Raises:
        UsageError: an unknown task, or a number; there is no such table, or it is something else.
        TableError: the table is not finished, or is damaged.
    """
    tasks = tuple(find_tasks(names))
    size = counts.over(NaturalRecipe().size)
    recipe = NaturalRecipe(size=size, seed=seed, settings=settings, audit=audit)
    check_natural_size(size)
    return NaturalSuite(tasks=tasks, table=find_table(table), recipe=recipe)


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
