"""What is built or read: a word, a path or a dataset at hand becomes a target of a run."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from sentprobe.errors import GivenError, UsageError, suggest
from sentprobe.files import is_table
from sentprobe.probes.compeval import TASKS
from sentprobe.probes.corpus.table import Table, open_table
from sentprobe.probes.dataset import ProbeDataset, TooFewError
from sentprobe.probes.encoders.given import is_encoder
from sentprobe.probes.natural.catalogue import TASKS as NATURAL_TASKS
from sentprobe.probes.natural.task import TaskGroup
from sentprobe.probes.runs import built_suites as built
from sentprobe.probes.suites import own_name
from sentprobe.progress import Reporter
from sentprobe.specs import COMPEVAL, NATURAL, SUITES, check_distinct


@dataclass(frozen=True, slots=True)
class Stored:
    """A file or folder of datasets."""

    path: Path


Target: TypeAlias = built.AnySuite | Stored | ProbeDataset

TargetWord: TypeAlias = str | ProbeDataset
"""What stands for a target: the name of a suite, a path, or a dataset at hand."""


@dataclass(frozen=True, slots=True)
class Targets:
    """What the words of a command line, or what Python was given, stand for, in their order."""

    words: tuple[str, ...]
    found: tuple[Target, ...]
    names: tuple[str, ...] = ()
    """Of the tasks that are wanted; none means all."""

    @property
    def written(self) -> str:
        """The words, for messages."""
        return ", ".join(self.words)

    @property
    def built(self) -> list[built.AnySuite]:
        """The suites among them: their datasets are built, all others are there."""
        return [each for each in self.found if not isinstance(each, Stored | ProbeDataset)]

    @property
    def suites(self) -> list[str]:
        """The names of the suites among them."""
        names: dict[type, str] = {built.CompevalSuite: COMPEVAL, built.NaturalSuite: NATURAL}
        return [names[type(each)] for each in self.built]

    def drawn(self, seed: int) -> "Targets":
        """Return the targets with suites whose datasets are drawn by that seed; others stay."""
        found = (
            each if isinstance(each, Stored | ProbeDataset) else each.drawn(seed)
            for each in self.found
        )
        return replace(self, found=tuple(found))


@dataclass(frozen=True, slots=True)
class SuiteMakers:
    """How suites are made: compeval of the tasks of these names, natural of a table and these."""

    compeval: Callable[[built.Names], built.CompevalSuite]
    natural: Callable[[Table, built.Names], built.NaturalSuite]


TargetKind: TypeAlias = tuple[TargetWord, str | None]
"""A word, and the suite that it stands for; None: datasets."""


def kinds_of(words: Sequence[TargetWord]) -> list[TargetKind]:
    """Return each word with the suite that it stands for; ``natural`` itself is left out.

    Raises:
        UsageError: a word twice, or that is not there; two tables, or none for ``natural``.
    """
    places = [word for word in words if isinstance(word, str)]
    if places or not words:
        check_distinct("target", places)
    kinds = [(word, _kind(word)) for word in words if word != NATURAL]
    _check_tables([word for word, kind in kinds if kind == NATURAL], places)
    for word, kind in kinds:
        if isinstance(word, str) and kind is None and not Path(word).exists():
            raise unknown_suite(word, why=", nor such a file or directory")
    return kinds


def make_targets(
    words: Sequence[TargetWord],
    names: built.Names,
    *,
    kinds: Sequence[TargetKind],
    makers: SuiteMakers,
) -> Targets:
    """Return what the words stand for; *kinds* are those of :func:`kinds_of`.

    Raises:
        UsageError: an unknown task, or what a suite is made of is wrong.
    """
    found: list[Target] = []
    for word, kind in kinds:
        mine = _mine(names, kind) if len(kinds) > 1 else tuple(names)
        if names and not mine:
            continue
        found.append(_target(word, kind, mine, makers))
    return Targets(tuple(map(_name, words)), tuple(found), tuple(names))


def _target(word: TargetWord, kind: str | None, names: built.Names, makers: SuiteMakers) -> Target:
    if isinstance(word, ProbeDataset):
        return word
    if kind == COMPEVAL:
        return makers.compeval(names)
    path = Path(word)
    if kind == NATURAL:
        return makers.natural(open_table(path, check=False), names)
    return Stored(path)


def _name(word: TargetWord) -> str:
    return word if isinstance(word, str) else word.name


DataGiven: TypeAlias = str | Path | ProbeDataset | Iterable[str | Path | ProbeDataset]
"""A suite, a path of datasets or of a table, a dataset at hand, or several of them."""


def find_targets(
    given: DataGiven,
    *,
    tasks: Sequence[str] | str = (),
    counts: built.ItemCounts = built.ItemCounts(),  # noqa: B008 - frozen
    structure: str | None = None,
    seed: int = 0,
) -> Targets:
    """Return what Python is given as targets.

    - tasks: only these; by default all
    - counts: of the items of tasks that are built
    - structure: the one that is held out of the training items of compeval

    Raises:
        GivenError: something is no dataset.
        UsageError: see :func:`kinds_of` and :func:`make_targets`; counts, and nothing is built.
    """
    words = [_word(each) for each in _listed(given)]
    if not words:
        check_distinct("dataset", [])
    kinds = kinds_of(words)
    if counts != built.ItemCounts() and not any(kind for _, kind in kinds):
        raise UsageError(
            "train, test and validation are for tasks that are built (compeval, or a table); "
            "the datasets given are there already"
        )
    if structure is not None and not any(kind == COMPEVAL for _, kind in kinds):
        raise UsageError("hold_out_structure is for the suite compeval, which is not asked for")
    makers = SuiteMakers(
        lambda names: built.make_compeval(names, counts=counts, structure=structure, seed=seed),
        lambda table, names: built.make_natural(table, names, counts=counts, seed=seed),
    )
    names = (tasks,) if isinstance(tasks, str) else tuple(tasks)
    return make_targets(words, names, kinds=kinds, makers=makers)


def _listed(given: object) -> list[object]:
    if isinstance(given, str | PathLike | ProbeDataset) or is_encoder(given):
        return [given]
    if isinstance(given, Iterable) and not isinstance(given, Mapping | bytes | type):
        return list(given)
    return [given]


def _word(given: object) -> TargetWord:
    if isinstance(given, str | ProbeDataset):
        return given
    if isinstance(given, PathLike):
        return str(os.fspath(given))
    hint = "; encoders come after the datasets" if is_encoder(given) else ""
    raise GivenError(
        f"a {type(given).__name__} is no dataset; wanted: 'compeval', a path of datasets or of a "
        f"table, a ProbeDataset, or a list of these{hint}"
    )


def _check_tables(tables: Sequence[TargetWord], places: Sequence[str]) -> None:
    if NATURAL in places and not tables:
        raise _no_table([place for place in places if place != NATURAL])
    if len(tables) > 1:
        raise UsageError(
            f"{' and '.join(map(str, tables))} are tables, and the same tasks would be built of "
            "each; run one at a time, or analyse their texts as one corpus"
        )


def _kind(word: TargetWord) -> str | None:
    """Return the suite that a word stands for; None: datasets."""
    if word == COMPEVAL:
        return COMPEVAL
    return NATURAL if isinstance(word, str) and is_table(Path(word)) else None


def _mine(names: Sequence[str], kind: str | None) -> tuple[str, ...]:
    """Return those of the tasks that may be of a suite; a stored dataset may have any name."""
    if kind == COMPEVAL:
        return tuple(name for name in names if name in TASKS)
    if kind == NATURAL:
        known = {*NATURAL_TASKS, *(each.value for each in TaskGroup)}
        return tuple(name for name in names if own_name(name) in known)
    return tuple(names)


def _no_table(places: Sequence[str]) -> UsageError:
    for place in places:
        if place != COMPEVAL:
            built.find_table(Path(place))
    return without_table("probe run")


@dataclass(frozen=True, slots=True)
class Found:
    """The datasets of targets, and why tasks are not among them, by name."""

    datasets: tuple[ProbeDataset, ...]
    failures: Mapping[str, TooFewError] = field(default_factory=dict)


def find_datasets(targets: Targets, *, command: str, reporter: Reporter) -> Found:
    """Build and read the datasets of all targets, in their order.

    Raises:
        UsageError: a task that is in none of the targets; two datasets of one name.
        SentprobeError: there is no dataset, since none of the tasks could be built.
    """
    datasets: list[ProbeDataset] = []
    failures: dict[str, TooFewError] = {}
    for target in targets.found:
        if isinstance(target, Stored | ProbeDataset):
            datasets += _read(target, targets)
            continue
        for name, made in built.build_all(target, command=command, reporter=reporter):
            if isinstance(made, ProbeDataset):
                datasets.append(made)
            else:
                failures[name] = made
    if failures and not datasets:
        raise built.failed(failures.values(), of=len(failures))
    there = [data.name for data in datasets]
    for name in targets.names:
        known = {*map(own_name, there), *failures, *(each.value for each in TaskGroup)}
        if own_name(name) not in known:
            raise UsageError(f"there is no task {name!r} in {targets.written}")
    check_distinct("dataset", there)
    return Found(tuple(datasets), failures)


def _read(target: Stored | ProbeDataset, targets: Targets) -> list[ProbeDataset]:
    """Return those of the datasets that are wanted."""
    if isinstance(target, ProbeDataset):
        found, place = [target], target.name
    else:
        from sentprobe.probes.formats import read_datasets  # noqa: PLC0415 - pyarrow is slow

        found, place = read_datasets(target.path), str(target.path)
    if not targets.names:
        return found
    known = [data.name for data in found]
    wanted = {name: _called(name, known) for name in targets.names}
    unknown = [name for name, which in wanted.items() if not which]
    if unknown and sum(word != NATURAL for word in targets.words) == 1:
        raise UsageError(
            f"{place}: there is no task {unknown[0]!r}{suggest(unknown[0], known)}; "
            f"the tasks are {', '.join(known)}"
        )
    chosen = {name for which in wanted.values() for name in which}
    return [data for data in found if data.name in chosen]


def _called(name: str, known: Sequence[str]) -> list[str]:
    """Return which of the datasets is meant: of that name, else of the task that it names."""
    return [name] if name in known else [each for each in known if own_name(each) == own_name(name)]


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
