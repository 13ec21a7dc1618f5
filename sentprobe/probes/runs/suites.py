"""Find a task of any suite by its name in sentprobe or by the name of its published file.

Suites whose datasets are built: compeval and structure by the generator, natural from tables of corpora.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from os import PathLike
from pathlib import Path
from typing import ClassVar, TypeAlias

from sentprobe.common.errors import ArgumentTypeError, SentprobeError, UsageError, require_libraries, suggest_path
from sentprobe.common.inputs import describe_folder, is_table
from sentprobe.common.screen import Reporter, show_bars
from sentprobe.common.specs import (
    COMPEVAL,
    NATURAL,
    OptionPair,
    Sampling,
    Size,
    TaskGroup,
    check_distinct,
    choose_member,
)
from sentprobe.generator.spaces.profile import Profile, load_profile
from sentprobe.generator.spaces.templates import SplitSide, parse_side
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.lexicon.read import choose_vocabulary, load_lexicon
from sentprobe.lexicon.word_counts import leave_out_rare_words
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.classifier.probe import Preset
from sentprobe.probes.corpus.table import Table, open_table
from sentprobe.probes.datasets.dataset import ONE_HOT, ProbeDataset, TooFewError
from sentprobe.probes.datasets.known_task import Cue, KnownTask, Reasons, Redundancy, find_task_name, remove_languages
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.generated.held_out_pairs import Structure, find_structure
from sentprobe.probes.generated.tasks import SUITE_TASKS, CompevalTask, check_size, find_task
from sentprobe.probes.natural.crossing import Crossing, build_crossed_datasets, make_crossing
from sentprobe.probes.natural.datasets import TASKS as NATURAL_TASKS
from sentprobe.probes.natural.datasets import NaturalRecipe, build_datasets, check_natural_size, find_tasks
from sentprobe.probes.natural.natural_task import NaturalTask, TableNeed
from sentprobe.probes.natural.selection import DEPTHS, NaturalSettings, parse_band, parse_depths
from sentprobe.probes.runs.suite_options import CompevalOptions, ItemOptions, NaturalOptions

FALLBACK_PRESET = "ettinger"
"""The classifier preset for datasets of unknown tasks."""


@dataclass(frozen=True, slots=True)
class PresetChoice:
    """The choice of a classifier: the preset *name* (None: the preset of the task's paper), changed by *values*."""

    name: str | None = None
    values: tuple[OptionPair, ...] = ()

    def find_preset_of(self, *names: str) -> Preset:
        """Return the chosen preset; by default, the one that :func:`find_preset_name` names. Raises UsageError."""
        return _make_preset(self.name or find_preset_name(*names), tuple((name, value) for name, value in self.values))

    def __call__(self, data: ProbeDataset) -> Preset:
        return self.find_preset_of(data.card.task, data.name)


@cache
def _make_preset(name: str, values: tuple[OptionPair, ...]) -> Preset:
    return override(find_preset(name), values)


USUAL_PRESET = PresetChoice()
"""For each task, the classifier of its paper."""

ClassifierChoice = Preset | Callable[[ProbeDataset], Preset]
"""One classifier for all datasets, or a function from dataset to classifier."""


def list_known_tasks() -> tuple[KnownTask, ...]:
    """Return all known tasks, suite by suite, in the order of the papers' tables."""
    return (*(task for tasks in SUITE_TASKS.values() for task in tasks.values()), *NATURAL_TASKS.values())


def to_own_name(name: str) -> str:
    """Return sentprobe's name of a known task, without languages such as ``.de-fr``; return other names unchanged.

    >>> to_own_name("bigram_shift"), to_own_name("WordContent"), to_own_name("BShift.de-fr"), to_own_name("mine")
    ('BShift', 'WC', 'BShift', 'mine')
    """
    tasks = list_known_tasks()
    task_name = find_task_name(remove_languages(name), tasks)
    return task_name if any(task.name == task_name for task in tasks) else find_task_name(name, tasks)


def find_known_task(*names: str) -> KnownTask | None:
    """Return the first known task among *names*, whatever their case; None if all names are unknown."""
    tasks = {task.name.lower(): task for task in list_known_tasks()}
    return next((tasks[key] for key in (to_own_name(name).lower() for name in names) if key in tasks), None)


def rename_as_published(data: ProbeDataset) -> ProbeDataset:
    """Return a dataset with the name and labels of its published file; unchanged if there is no such file."""
    task = find_known_task(data.name)
    if task is None or not task.published:
        return data
    labels = tuple(task.published_labels.get(label, label) for label in data.labels)
    languages = data.name.removeprefix(remove_languages(data.name))
    return replace(data, name=task.published + languages, labels=labels)


def find_preset_name(*names: str) -> str:
    """Return the name of the preset of the first known task among *names*; FALLBACK_PRESET if there is none."""
    task = find_known_task(*names)
    return FALLBACK_PRESET if task is None else task.preset


def find_redundancy(*names: str) -> Redundancy | None:
    """Return the way to guess answers in the first known task among *names*; None if there is no such task or way."""
    task = find_known_task(*names)
    return None if task is None else task.redundancy


def find_usual_words(data: ProbeDataset) -> str:
    """Return how a dataset's probe words are encoded: ``encoder`` in tasks of Adi et al., else ``one-hot``."""
    task = find_known_task(data.card.task, data.name)
    return ONE_HOT if task is None else task.words


def explain_expected_cue(name: str, cue: Cue) -> str:
    """Return why a surface cue is allowed to predict the answers of the task *name*, or "" if it is not allowed to."""
    task = find_known_task(name)
    return "" if task is None else _find_reason(task.may_answer, cue)


def explain_inverted_cue(name: str, cue: Cue) -> str:
    """Return why the accuracy of a surface cue is below chance on the test items of the task *name*."""
    task = find_known_task(name)
    reason = "" if task is None else _find_reason(task.reversed_cues, cue)
    return reason or "training and test disagree about this cue"


def _find_reason(reasons: Reasons, cue: Cue) -> str:
    return reasons.get(cue) or (reasons.get(Cue.NGRAMS, "") if cue is Cue.PLACES else "")


log = logging.getLogger(__name__)
Names: TypeAlias = Sequence[str]
BuildResult: TypeAlias = ProbeDataset | TooFewError


@dataclass(frozen=True, slots=True, kw_only=True)
class CompevalSuite:
    """Tasks of the suite ``compeval`` or the suite ``structure``, with the settings for generating their datasets."""

    name: str = COMPEVAL

    tasks: tuple[CompevalTask, ...]
    lexicon: Lexicon
    vocabulary: str
    size: Size
    sampling: Sampling
    seed: int
    side: SplitSide | None = None
    """The side of a held-out split (training or test) whose words and structures are used; None means all."""
    structure: Structure | None = None
    """The structure that is held out of training, if any."""
    profile: Profile | None = None
    """The weights of structures and features; None means uniform sampling."""
    notes: tuple[str, ...] = ()
    """Remarks for the card of each dataset."""

    def build(self, *, command: str) -> Iterator[tuple[str, BuildResult]]:
        """Yield each task's name with its dataset or, if it cannot be built, the error."""
        # Each setting is an argument of the same name.
        settings = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("name", "tasks")}
        for task in self.tasks:
            try:
                dataset = build(task, command=command, **settings)
                yield task.name, dataset
            except TooFewError as error:
                yield task.name, error

    def replace_seed(self, seed: int) -> "CompevalSuite":
        """Return the suite with another seed."""
        return replace(self, seed=seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalSuite:
    """Natural-text tasks, with the corpus tables from which their datasets are built."""

    name: ClassVar = NATURAL

    tasks: tuple[NaturalTask, ...]
    """The tasks; across languages, one for each task and pair of training and test language."""
    tables: tuple[Table, ...]
    recipe: NaturalRecipe
    crossing: Crossing | None = None

    def build(self, *, command: str) -> Iterator[tuple[str, BuildResult]]:
        """Yield each task's name with its dataset or, if it cannot be built, the error."""
        for table in self.tables:
            table.check_shards()
        if self.crossing is not None:
            yield from build_crossed_datasets(self.crossing, self.tables, recipe=self.recipe, command=command)
            return
        for task, built in build_datasets(self.tasks, self.tables[0], recipe=self.recipe, command=command):
            yield task.name, built

    def replace_seed(self, seed: int) -> "NaturalSuite":
        """Return the suite with another seed."""
        return replace(self, recipe=replace(self.recipe, seed=seed))


AnySuite: TypeAlias = CompevalSuite | NaturalSuite


def build_all(suite: AnySuite, *, command: str, reporter: Reporter) -> Iterator[tuple[str, BuildResult]]:
    """Build a suite and report progress; yield each task's name with its dataset or the error that prevents it."""
    if suite.tasks:
        reporter.begin("build the tasks", len(suite.tasks))
        unbuilt = {task.name for task in suite.tasks}
        for name, built in suite.build(command=command):
            yield name, built
            if name in unbuilt:  # not a failure in one of several languages
                unbuilt.remove(name)
                reporter.advance()
        reporter.advance(len(unbuilt))


def build_failure_error(failures: Collection[TooFewError], *, total: int) -> SentprobeError:
    """Return the error for *failures* among *total* tasks; a UsageError if the user's request made all tasks fail."""
    is_wrong_request = len(failures) == total and all(isinstance(failure, UsageError) for failure in failures)
    count = f"{len(failures)} of {total} tasks could not be built"
    return (UsageError if is_wrong_request else SentprobeError)(f"{count}:", *map(str, failures))


def make_compeval(
    names: Names,
    options: CompevalOptions,
    items: ItemOptions = ItemOptions(),  # noqa: B008
    *,
    suite: str = COMPEVAL,
    seed: int = 0,
) -> CompevalSuite:
    """Return the suite *suite* with the tasks *names*, by default all. Raises UsageError."""
    sampling = choose_member(Sampling, items.sampling, what="sampling")
    profile = load_profile(options.profile)
    side = parse_side(options.held_out or (), held_out=True)
    structure = None if options.hold_out_structure is None else find_structure(options.hold_out_structure)
    tasks = tuple(find_task(name, suite) for name in names or SUITE_TASKS[suite])
    check_distinct("task", [task.name for task in tasks])
    size = Size().override(items.train, items.test, items.validation)
    for task in tasks:
        check_size(task, size, sampling=sampling, halves=structure is not None)
    lexicon = load_lexicon(options.lexicon, options.language)  # after the checks that need no lexicon
    tasks = _select_possible_tasks(tasks, lexicon.language, chosen=bool(names))
    vocabulary = options.vocabulary or choose_vocabulary(lexicon, suite)
    lexicon.vocabulary(vocabulary)
    note = ""
    if options.counts is not None and options.min_count is not None:
        lexicon, note = leave_out_rare_words(lexicon, vocabulary, options.counts, minimum=options.min_count)
    if side:
        side.restrict_lexicon(lexicon, vocabulary)
    return CompevalSuite(
        name=suite,
        tasks=tasks,
        lexicon=lexicon,
        vocabulary=vocabulary,
        size=size,
        sampling=sampling,
        seed=seed,
        side=side,
        structure=structure,
        profile=profile,
        notes=(note,) if note else (),
    )


def _select_possible_tasks(
    tasks: tuple[CompevalTask, ...], language: Language, *, chosen: bool
) -> tuple[CompevalTask, ...]:
    """Return the tasks that *language* has; log a warning for others, or raise UsageError if the user *chose* them."""
    if chosen:
        return tuple(task.adapt(language) for task in tasks)
    missing = {
        task.name: f"{task.name} (no {', no '.join(needs)})" for task in tasks if (needs := task.list_missing(language))
    }
    if missing:
        log.warning("left out in %s: %s", language.name, ", ".join(missing.values()))
    return tuple(task.adapt(language) for task in tasks if task.name not in missing)


def make_natural(
    tables: Sequence[Table],
    names: Names,
    options: NaturalOptions = NaturalOptions(),  # noqa: B008 - frozen
    items: ItemOptions = ItemOptions(),  # noqa: B008
    *,
    seed: int = 0,
    audit: bool = False,
) -> NaturalSuite:
    """Return a suite with the natural-text tasks *names*, by default those of Conneau et al. 2018. Raises UsageError.

    *names* may include groups of tasks, such as ``"adi"``. By default, tasks about constituents are left out if no
    table has trees. Tasks train and test on different languages if there are several tables, or if the options list
    languages to train or test on (``"de,fr"``). *audit* says whether dataset cards get the paper's baselines.
    """
    settings = NaturalSettings(
        band=None if options.band is None else parse_band(options.band),
        odd_band=None if options.odd_band is None else parse_band(options.odd_band),
        first_rank=options.first_rank,
        words=options.words,
        sequences=options.sequences,
        depths=DEPTHS if options.depths is None else parse_depths(options.depths),
        sampling=choose_member(Sampling, items.sampling, what="sampling"),
    )
    tasks = tuple(find_tasks(names))
    size = NaturalRecipe().size.override(items.train, items.test, items.validation)
    require_libraries(*(("duckdb", "sklearn") if audit else ("duckdb",)))
    recipe = NaturalRecipe(size=size, seed=seed, settings=settings, audit=audit)
    check_natural_size(size)
    if not names and not any(table.has_values("depth") for table in tables):
        tasks = tuple(task for task in tasks if task.need is not TableNeed.TREE)
    crossing = None
    train_on, test_on = options.train_on, options.test_on
    if len(tables) > 1 or train_on is not None or test_on is not None:
        crossing = make_crossing(tables, tasks, train_on=train_on, test_on=test_on, chosen=bool(names))
        tasks = crossing.list_datasets()
    return NaturalSuite(tasks=tasks, tables=tuple(tables), recipe=recipe, crossing=crossing)


def check_sampling(tasks: Iterable[NaturalTask], sampling: Sampling) -> None:
    """Raise UsageError if *sampling* is PAPER but none of the tasks is from Adi et al. 2017."""
    if sampling is Sampling.PAPER and not any(task.suite in {TaskGroup.ADI, TaskGroup.CONTROLS} for task in tasks):
        raise UsageError(
            "sampling paper is for the tasks of Adi et al. (task adi), and none of them is requested; "
            "the tasks of Conneau et al. are always sampled in the same way"
        )


def open_table_unchecked(path: Path) -> Table:
    """Return the corpus table at *path* without checking its data files. Raises UsageError or TableError."""
    if not path.exists():
        raise UsageError(f"there is no table {path}{suggest_path(path)}; make one of a corpus with probe analyze")
    if not is_table(path) and (kind := describe_folder(path)):
        raise UsageError(f"{path}: not a table of an analysed corpus, but {kind}; make one with probe analyze")
    return open_table(path, check=False)


def build_natural(
    table: Path | str | Sequence[Path | str],
    tasks: Sequence[str] | str = (),
    *,
    train: int | None = None,
    test: int | None = None,
    validation: int | None = None,
    seed: int = 0,
    train_on: str | None = None,
    test_on: str | None = None,
    frequency_band: str | None = None,
    odd_band: str | None = None,
    words: int | None = None,
    first_rank: int | None = None,
    sequences: int | None = None,
    depths: str | None = None,
    sampling: str = Sampling.MIRROR,
    audit: bool = True,
    progress: bool | None = None,
) -> list[ProbeDataset]:
    """Build natural-text tasks from a corpus table, as ``probe build natural`` does.

    - table: the output of ``probe analyze``; several tables, one for each language, give tasks across languages
    - tasks: names of tasks or groups (``"adi"``); by default the ten of Conneau et al. 2018
    - the other arguments are the options of ``probe build natural``

    A task for which the corpus is too small is left out, with a warning.

    Raises:
        ArgumentTypeError: the table is not a path.
        UsageError: an unknown task, a band or number out of range, or a missing table.
        SentprobeError: none of the tasks can be built; the table is damaged.
    """
    paths = [table] if isinstance(table, str | PathLike) or not isinstance(table, Sequence) else table
    for path in paths:
        if not isinstance(path, str | PathLike):
            raise ArgumentTypeError(f"a {type(path).__name__} is no path of the table of a corpus")
    options = NaturalOptions(
        train_on=train_on,
        test_on=test_on,
        band=frequency_band,
        odd_band=odd_band,
        words=words,
        first_rank=first_rank,
        sequences=sequences,
        depths=depths,
    )
    suite = make_natural(
        [open_table_unchecked(Path(path)) for path in paths],
        (tasks,) if isinstance(tasks, str) else tuple(tasks),
        options,
        ItemOptions(sampling=sampling, train=train, test=test, validation=validation),
        seed=seed,
        audit=audit,
    )
    check_sampling(suite.tasks, suite.recipe.settings.sampling)
    with show_bars(show=progress) as reporter:
        built = [dataset for _, dataset in build_all(suite, command="", reporter=reporter)]
    failures = [failure for failure in built if isinstance(failure, TooFewError)]
    if len(failures) == len(built):
        raise build_failure_error(failures, total=len(built))
    warn_left_out(failures)
    return [dataset for dataset in built if isinstance(dataset, ProbeDataset)]


def warn_left_out(failures: Iterable[TooFewError]) -> None:
    """Log a warning for each task that was left out."""
    for failure in failures:
        log.warning("left out: %s", failure)
