"""The targets of a run: suites to build, datasets in files, and datasets in memory."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from sentprobe.common.errors import ArgumentTypeError, UsageError, suggest, suggest_path
from sentprobe.common.inputs import is_table
from sentprobe.common.screen import Reporter
from sentprobe.common.specs import GENERATED, NATURAL, SUITES, TaskGroup, check_distinct
from sentprobe.probes.corpus.table import open_table
from sentprobe.probes.datasets.dataset import ProbeDataset, TooFewError
from sentprobe.probes.datasets.formats import read_datasets
from sentprobe.probes.encoders.kinds import is_encoder
from sentprobe.probes.generated.tasks import SUITE_TASKS
from sentprobe.probes.natural.datasets import TASKS as NATURAL_TASKS
from sentprobe.probes.runs import suites
from sentprobe.probes.runs.suite_options import CompevalOptions, ItemOptions, NaturalOptions, reject_unused_options
from sentprobe.probes.runs.suites import to_own_name

Target: TypeAlias = suites.AnySuite | Path | ProbeDataset
"""A suite to build, a file or folder of datasets, or a dataset in memory."""
TargetWord: TypeAlias = str | ProbeDataset
"""A target as the user requests it: the name of a suite, a path, or a dataset in memory."""


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets of a run: suites, files or folders of datasets, and datasets in memory, in the requested order."""

    words: tuple[str, ...]
    """The targets as the user named them."""
    items: tuple[Target, ...]
    names: tuple[str, ...] = ()
    """The names of the requested tasks; empty means all tasks."""

    @property
    def built(self) -> list[suites.AnySuite]:
        """The targets whose datasets must be built: the suites. Other targets are datasets in files or in memory."""
        return [target for target in self.items if not isinstance(target, Path | ProbeDataset)]

    @property
    def suites(self) -> list[str]:
        """The names of the suites among the targets."""
        return [suite.name for suite in self.built]

    def replace_seed(self, seed: int) -> "Targets":
        """Return the targets with another seed for building the suites."""
        items = (t if isinstance(t, Path | ProbeDataset) else t.replace_seed(seed) for t in self.items)
        return replace(self, items=tuple(items))


ClassifiedTarget: TypeAlias = tuple[TargetWord, str | None]
"""A requested target and the name of its suite; the name is None for stored datasets and datasets in memory."""


def classify_targets(words: Sequence[TargetWord]) -> list[ClassifiedTarget]:
    """Return each target with the name of its suite, or with None if it has no suite.

    The word ``natural`` adds no target: ``TABLE`` and ``natural TABLE`` both give ``[("TABLE", "natural")]``.
    """
    written_words = [word for word in words if isinstance(word, str)]
    if written_words or not words:
        check_distinct("target", written_words)
    classified = [(word, _find_suite(word)) for word in words if word != NATURAL]
    if NATURAL in written_words and not any(suite == NATURAL for _, suite in classified):
        for name in written_words:
            if name not in SUITES:
                suites.open_table_unchecked(Path(name))
        raise missing_table_error("probe run")
    for word, suite in classified:
        if isinstance(word, str) and suite is None and not Path(word).exists():
            raise unknown_suite_error(word, why=f", nor such a file or directory{suggest_path(word)}")
    return classified


def _find_suite(word: TargetWord) -> str | None:
    if not isinstance(word, str):
        return None
    return word if word in GENERATED else NATURAL if word and is_table(Path(word)) else None


DatasetsArgument: TypeAlias = str | Path | ProbeDataset | Iterable[str | Path | ProbeDataset]
"""A suite, a path of datasets or of a table, a dataset in memory, or several of them."""


def find_targets(
    datasets: DatasetsArgument,
    *,
    tasks: Sequence[str] | str = (),
    compeval: CompevalOptions = CompevalOptions(),  # noqa: B008 - frozen
    natural: NaturalOptions = NaturalOptions(),  # noqa: B008
    items: ItemOptions = ItemOptions(),  # noqa: B008
    seed: int = 0,
    given_options: Mapping[str, str] | None = None,
) -> Targets:
    """Return the targets that *datasets* name, restricted to *tasks*. Raises UsageError or ArgumentTypeError.

    - given_options: the options that the user set on the command line, by parameter; one that no target uses raises
      UsageError
    """
    words = [_to_target_word(dataset) for dataset in _as_list(datasets)]
    if not words:
        check_distinct("dataset", [])
    classified = classify_targets(words)
    written_words = tuple(word if isinstance(word, str) else word.name for word in words)
    chosen = [suite for _, suite in classified if suite]
    reject_unused_options(given_options or {}, chosen, data_name=", ".join(written_words))
    if (items.train, items.test, items.validation) != (None, None, None) and not chosen:
        raise UsageError(
            "train, test and validation are for tasks that are built (compeval, structure, or a table); "
            "stored datasets are used as they are"
        )
    if (natural.train_on, natural.test_on) != (None, None) and NATURAL not in chosen:
        raise UsageError("train_on and test_on are for tables of corpora, one of each language")
    if compeval.hold_out_structure is not None and not {*GENERATED} & {*chosen}:
        raise UsageError("hold_out_structure is for the suite compeval or structure, which is not requested")
    names = (tasks,) if isinstance(tasks, str) else tuple(tasks)
    tables = [word for word, suite in classified if suite == NATURAL]
    targets: list[Target] = []
    for word, suite in classified:
        # With one suite, its own check rejects an unknown task, and suggests a name.
        own_names = _select_suite_names(names, suite) if len(classified) > max(1, len(tables)) else names
        # Tables of several languages make one suite, which the first of them stands for.
        if (names and not own_names) or word in tables[1:]:
            continue
        if isinstance(word, ProbeDataset):
            targets.append(word)
        elif suite is None:
            targets.append(Path(word))
        elif suite == NATURAL:
            opened = [open_table(Path(str(path)), check=False) for path in tables]
            targets.append(suites.make_natural(opened, own_names, natural, items, seed=seed))
        else:
            targets.append(suites.make_compeval(own_names, compeval, items, suite=suite, seed=seed))
    found = Targets(written_words, tuple(targets), names)
    match found.built:
        # Suites of generated sentences have both kinds of sampling.
        case [suites.NaturalSuite(tasks=natural_tasks, recipe=recipe)]:
            suites.check_sampling(natural_tasks, recipe.settings.sampling)
    return found


def _as_list(value: object) -> list[object]:
    is_single = isinstance(value, str | PathLike | ProbeDataset | Mapping | bytes | type) or is_encoder(value)
    return list(value) if isinstance(value, Iterable) and not is_single else [value]


def _to_target_word(value: object) -> TargetWord:
    if isinstance(value, str | ProbeDataset):
        return value
    if isinstance(value, PathLike):
        return str(os.fspath(value))
    hint = "; encoders come after the datasets" if is_encoder(value) else ""
    raise ArgumentTypeError(
        f"a {type(value).__name__} is no dataset; expected: 'compeval', 'structure', a path of datasets or of a "
        f"table, a ProbeDataset, or a list of these{hint}"
    )


def _select_suite_names(names: Sequence[str], suite: str | None) -> tuple[str, ...]:
    """Return those *names* that are tasks or task groups of *suite*; if *suite* is None, return all *names*."""
    if suite in GENERATED:
        return tuple(name for name in names if name in SUITE_TASKS[suite])
    if suite == NATURAL:
        suite_names = {*NATURAL_TASKS, *(group.value for group in TaskGroup)}
        return tuple(name for name in names if to_own_name(name) in suite_names)
    return tuple(names)


def find_datasets(
    targets: Targets, *, command: str, reporter: Reporter
) -> tuple[list[ProbeDataset], dict[str, TooFewError]]:
    """Build or read the datasets of all targets. Also return the error for each task that could not be built, by name.

    Raises UsageError for an unknown task or a repeated dataset name.
    """
    datasets: list[ProbeDataset] = []
    failures: dict[str, TooFewError] = {}
    for target in targets.items:
        if isinstance(target, Path | ProbeDataset):
            datasets += _read_selected(target, targets)
            continue
        for name, built_dataset in suites.build_all(target, command=command, reporter=reporter):
            if isinstance(built_dataset, ProbeDataset):
                datasets.append(built_dataset)
            else:
                failures[name] = built_dataset
    if failures and not datasets:
        raise suites.build_failure_error(failures.values(), total=len(failures))
    names = [data.name for data in datasets]
    for name in targets.names:
        known_names = {*map(to_own_name, (*names, *failures)), *(group.value for group in TaskGroup)}
        if to_own_name(name) not in known_names:
            raise UsageError(f"there is no task {name!r} in {', '.join(targets.words)}")
    check_distinct("dataset", names)
    return datasets, failures


def _read_selected(target: Path | ProbeDataset, targets: Targets) -> list[ProbeDataset]:
    """Return the requested tasks' datasets from a file, a folder or memory. Raises UsageError for an unknown task."""
    if isinstance(target, ProbeDataset):
        datasets, source = [target], target.name
    else:
        datasets, source = read_datasets(target), str(target)
    if not targets.names:
        return datasets
    names = [data.name for data in datasets]
    names_by_request = {
        # An exact name is not taken for the task that it may also mean: bigram_shift also means BShift.de-fr.
        name: [name] if name in names else [n for n in names if to_own_name(n) == to_own_name(name)]
        for name in targets.names
    }
    unknown = [name for name, matches in names_by_request.items() if not matches]
    if unknown and sum(word != NATURAL for word in targets.words) == 1:
        raise UsageError(
            f"{source}: there is no task {unknown[0]!r}{suggest(unknown[0], names)}; the tasks are {', '.join(names)}"
        )
    chosen = {name for matches in names_by_request.values() for name in matches}
    return [data for data in datasets if data.name in chosen]


def missing_table_error(command: str) -> UsageError:
    """Return the error for a request of the suite natural without a table."""
    return UsageError(
        f"the suite natural needs the table of a corpus: {command} natural TABLE; probe analyze makes one"
    )


def unknown_suite_error(name: str, *, why: str = "") -> UsageError:
    """Return the error for the unknown suite *name*; *why* extends the message."""
    if name in list(TaskGroup):
        return UsageError(f"the tasks of {name} are in the suite natural: name natural and the table of a corpus")
    return UsageError(f"there is no suite {name!r}{suggest(name, SUITES)}{why}; the suites are: {', '.join(SUITES)}")
