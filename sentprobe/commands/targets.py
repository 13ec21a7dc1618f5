"""What a command builds or reads: a word or path of its line becomes a suite or stored datasets."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from sentprobe.commands import options as opt
from sentprobe.errors import SentprobeError, UsageError, suggest
from sentprobe.files import is_table, what_is
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.lexicon.read import default_vocabulary, load_lexicon
from sentprobe.probes.compeval import TASKS, CompevalTask, Sampling, build, check_size, find_task
from sentprobe.probes.corpus.table import Table, open_table
from sentprobe.probes.dataset import ProbeDataset, Size, TooFewError
from sentprobe.probes.natural.catalogue import TASKS as NATURAL_TASKS
from sentprobe.probes.natural.catalogue import find_tasks
from sentprobe.probes.natural.datasets import (
    NaturalRecipe,
    build_each,
    check_natural_size,
)
from sentprobe.probes.natural.select import NaturalSettings, parse_band
from sentprobe.probes.natural.task import NaturalTask, TaskGroup
from sentprobe.progress import Reporter
from sentprobe.specs import check_distinct, choose

SUITES = (opt.COMPEVAL, opt.NATURAL)
"""The suites by name; a path of such a name must be written ``./compeval``."""

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
        """Yield each task's name with its dataset, or with why it cannot be built."""
        for task in self.tasks:
            try:
                yield task.name, self._build(task, command)
            except TooFewError as error:
                yield task.name, error

    def _build(self, task: CompevalTask, command: str) -> ProbeDataset:
        return build(
            task,
            self.lexicon,
            vocabulary=self.vocabulary,
            size=self.size,
            seed=self.seed,
            sampling=self.sampling,
            command=command,
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


@dataclass(frozen=True, slots=True)
class Stored:
    """A file or folder of datasets."""

    path: Path
    alone: bool
    """Whether it is the only target, so that all tasks that are named must be there."""


Target: TypeAlias = AnySuite | Stored


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


def parse_compeval(
    names: Sequence[str], options: opt.CompevalOptions, size: opt.SizeOptions, *, seed: int
) -> CompevalSuite:
    """Return the suite compeval as it is asked for; no *names* means all tasks.

    Raises:
        UsageError: an unknown task, sampling or vocabulary, a task twice, a size that does not
            balance.
        SentprobeError: the lexicon cannot be read.
    """
    sampling = choose(Sampling, options.sampling, what="sampling")
    tasks = tuple(find_task(name) for name in names or TASKS)
    check_distinct("task", [task.name for task in tasks])
    items = Size().changed(size.train, size.test, size.validation)
    for task in tasks:
        check_size(task, items, sampling=sampling)
    lexicon = load_lexicon(options.lexicon)
    vocabulary = options.vocabulary or default_vocabulary(lexicon, opt.COMPEVAL)
    lexicon.vocabulary(vocabulary)
    return CompevalSuite(
        tasks=tasks,
        lexicon=lexicon,
        vocabulary=vocabulary,
        size=items,
        sampling=sampling,
        seed=seed,
    )


def parse_natural(
    table: Table,
    names: Sequence[str],
    options: opt.NaturalOptions,
    size: opt.SizeOptions,
    *,
    seed: int,
    audit: bool,
) -> NaturalSuite:
    """Return the natural-text tasks of a table as they are asked for.

    - names: of tasks or suites of these; none means the ten of Conneau et al. 2018
    - audit: whether the cards get the paper's baselines

    Raises:
        UsageError: an unknown task, a band, a number.
    """
    tasks = tuple(find_tasks(names))
    recipe = NaturalRecipe(
        size=NaturalRecipe().size.changed(size.train, size.test, size.validation),
        seed=seed,
        settings=NaturalSettings(
            band=None if options.band is None else parse_band(options.band),
            odd_band=None if options.odd_band is None else parse_band(options.odd_band),
            first_rank=options.first_rank,
            words=options.words,
            sequences=options.sequences,
        ),
        audit=audit,
    )
    check_natural_size(recipe.size)
    return NaturalSuite(tasks=tasks, table=table, recipe=recipe)


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


@dataclass(frozen=True, slots=True)
class Targets:
    """What the words of a command line stand for, in their order."""

    words: tuple[str, ...]
    found: tuple[Target, ...]
    names: tuple[str, ...] = ()
    """Of the tasks that are wanted; none means all."""

    @property
    def written(self) -> str:
        """The words, for messages."""
        return ", ".join(self.words)

    @property
    def suites(self) -> list[str]:
        """The names of the suites among them."""
        names = {CompevalSuite: opt.COMPEVAL, NaturalSuite: opt.NATURAL}
        return [names[type(each)] for each in self.found if not isinstance(each, Stored)]


def parse_targets(
    words: Sequence[str],
    names: Sequence[str] = (),
    *,
    compeval: opt.CompevalOptions = opt.CompevalOptions(),  # noqa: B008 - frozen
    natural: opt.NaturalOptions = opt.NaturalOptions(),  # noqa: B008
    size: opt.SizeOptions = opt.SizeOptions(),  # noqa: B008
    seed: int = 0,
    given: Iterable[str] = (),
) -> Targets:
    """Return what each word stands for: the suite compeval, the table of a corpus, or a path.

    The word ``natural`` may stand before a table.

    - names: of the tasks that are wanted; none means all
    - given: the options that were written; those that would do nothing are refused

    Raises:
        UsageError: a target twice, or that is not there; two tables; an unknown task, or an option
            that is wrong or would do nothing.
    """
    check_distinct("target", words)
    kinds = _kinds(words)
    suites = [_suite(kind) for kind in kinds.values()]
    opt.refuse_idle(given, [suite for suite in suites if suite], what=", ".join(words))
    alone = len(kinds) == 1
    found: list[Target] = []
    for word, kind in kinds.items():
        mine = tuple(names) if alone else _mine(names, _suite(kind))
        if names and not mine:
            continue
        if isinstance(kind, Table):
            found.append(parse_natural(kind, mine, natural, size, seed=seed, audit=False))
        elif kind is None:
            found.append(Stored(Path(word), alone))
        else:
            found.append(parse_compeval(mine, compeval, size, seed=seed))
    return Targets(tuple(words), tuple(found), tuple(names))


MeantBy: TypeAlias = Table | str | None
"""What a word stands for: a table, the suite compeval or, None, stored datasets."""


def _kinds(words: Sequence[str]) -> dict[str, MeantBy]:
    """Return what each word but ``natural`` stands for."""
    kinds = {word: _kind(word) for word in words if word != opt.NATURAL}
    tables = [word for word, kind in kinds.items() if isinstance(kind, Table)]
    if opt.NATURAL in words and not tables:
        raise _no_table([*kinds])
    if len(tables) > 1:
        raise UsageError(
            f"{' and '.join(tables)} are tables, and the same tasks would be built of each; "
            "run one at a time, or analyse their texts as one corpus"
        )
    for word, kind in kinds.items():
        if kind is None and not Path(word).exists():
            raise unknown_suite(word, why=", nor such a file or directory")
    return kinds


def _kind(word: str) -> MeantBy:
    if word == opt.COMPEVAL:
        return opt.COMPEVAL
    path = Path(word)
    return open_table(path, check=False) if is_table(path) else None


def _suite(kind: MeantBy) -> str | None:
    """Return the suite that a word stands for; None: stored datasets."""
    return opt.NATURAL if isinstance(kind, Table) else kind


def _mine(names: Sequence[str], kind: str | None) -> tuple[str, ...]:
    """Return those of the tasks that may be of a suite; a stored dataset may have any name."""
    if kind == opt.COMPEVAL:
        return tuple(name for name in names if name in TASKS)
    if kind == opt.NATURAL:
        known = {*NATURAL_TASKS, *(each.value for each in TaskGroup)}
        return tuple(name for name in names if name in known)
    return tuple(names)


def _no_table(places: Sequence[str]) -> UsageError:
    for place in places:
        if place != opt.COMPEVAL:
            find_table(Path(place))
    return without_table("probe run")


@dataclass(frozen=True, slots=True)
class Found:
    """The datasets of targets, and why tasks are not among them."""

    datasets: tuple[ProbeDataset, ...]
    failures: tuple[TooFewError, ...] = ()


def find_datasets(targets: Targets, *, command: str, reporter: Reporter) -> Found:
    """Build and read the datasets of all targets, in their order.

    Raises:
        UsageError: a task that is in none of the targets; two datasets of one name.
        SentprobeError: there is no dataset, since none of the tasks could be built.
    """
    datasets: list[ProbeDataset] = []
    failures: dict[str, TooFewError] = {}
    for target in targets.found:
        if isinstance(target, Stored):
            datasets += _read(target, targets)
            continue
        for name, built in build_all(target, command=command, reporter=reporter):
            if isinstance(built, ProbeDataset):
                datasets.append(built)
            else:
                failures[name] = built
    if failures and not datasets:
        raise failed(failures.values(), of=len(failures))
    there = [data.name for data in datasets]
    for name in targets.names:
        if name not in {*there, *failures, *(each.value for each in TaskGroup)}:
            raise UsageError(f"there is no task {name!r} in {targets.written}")
    check_distinct("dataset", there)
    return Found(tuple(datasets), tuple(failures.values()))


def _read(stored: Stored, targets: Targets) -> list[ProbeDataset]:
    from sentprobe.probes.formats import read_datasets  # noqa: PLC0415 - pyarrow is slow

    found = read_datasets(stored.path)
    if not targets.names:
        return found
    known = [data.name for data in found]
    unknown = [name for name in targets.names if name not in known]
    if unknown and stored.alone:
        raise UsageError(
            f"{stored.path}: there is no task {unknown[0]!r}{suggest(unknown[0], known)}; "
            f"the tasks are {', '.join(known)}"
        )
    return [data for data in found if data.name in targets.names]


def without_table(command: str) -> UsageError:
    """Return the error that the suite natural lacks its table."""
    return UsageError(
        f"the suite natural needs the table of a corpus: {command} natural TABLE; "
        "probe analyze makes one"
    )


def unknown_suite(name: str, *, why: str = "") -> UsageError:
    """Return the error that there is no suite of that name; *why* says what else there is not."""
    return UsageError(
        f"there is no suite {name!r}{suggest(name, SUITES)}{why}; "
        f"the suites are: {', '.join(SUITES)}"
    )
