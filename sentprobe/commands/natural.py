"""What ``probe build natural`` and ``probe run natural`` do, as functions that anyone can call."""

import shlex
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentprobe.errors import SentprobeError, UsageError
from sentprobe.files import is_table, what_is
from sentprobe.probes.corpus.table import open_table
from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.formats import check_format, prepare_folder, write_dataset
from sentprobe.probes.natural.catalogue import TASKS, Suite, find_tasks
from sentprobe.probes.natural.datasets import NaturalRecipe, build_each, check_natural_size
from sentprobe.probes.natural.select import NaturalSettings, TooFewError, parse_band
from sentprobe.progress import Bars, Reporter, Silent, columns

if TYPE_CHECKING:
    from rich.table import Table as TextTable


SUITE = "natural"
"""The name of the suite on the command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalPlan:
    """Natural-text datasets as they are asked for on the command line; None means the default."""

    table: Path
    tasks: tuple[str, ...] = ()
    train: int | None = None
    test: int | None = None
    validation: int | None = None
    seed: int = 0
    band: str | None = None
    odd_band: str | None = None
    first_rank: int | None = None
    words: int | None = None
    sequences: int | None = None
    audit: bool = True

    @property
    def recipe(self) -> NaturalRecipe:
        """The recipe that these options make.

        Raises:
            UsageError: a band or a number is wrong.
        """
        size = NaturalRecipe().size.changed(self.train, self.test, self.validation)
        check_natural_size(size)
        settings = NaturalSettings(
            band=None if self.band is None else parse_band(self.band),
            odd_band=None if self.odd_band is None else parse_band(self.odd_band),
            first_rank=self.first_rank,
            words=self.words,
            sequences=self.sequences,
        )
        return NaturalRecipe(size=size, seed=self.seed, settings=settings, audit=self.audit)


def plan(
    table: Path | None,
    *,
    tasks: Sequence[str] | None,
    size: tuple[int | None, int | None, int | None],
    seed: int,
    options: Mapping[str, Any],
    audit: bool = True,
) -> NaturalPlan:
    """Return the plan of a command line; *size* is of training, test and validation.

    Raises:
        UsageError: the table was left out.
    """
    if table is None:
        raise UsageError(
            "the suite natural needs the table of a corpus: probe build natural TABLE; "
            "probe analyze makes one"
        )
    train, test, validation = size
    return NaturalPlan(
        table=table,
        tasks=tuple(tasks or ()),
        train=train,
        test=test,
        validation=validation,
        seed=seed,
        audit=audit,
        **options,
    )


def is_name(name: str) -> bool:
    """Say whether a task or a suite of natural text has that name."""
    return name in TASKS or is_suite_of_tasks(name)


def is_suite_of_tasks(name: str) -> bool:
    """Say whether *name* stands for several tasks: conneau, adi, adi-controls."""
    return name in {suite.value for suite in Suite}


def check_natural(plan: NaturalPlan) -> None:
    """Refuse what can be seen to be wrong before any work is done.

    Raises:
        UsageError: an unknown task, a band, a number; there is no table.
    """
    find_tasks(plan.tasks)
    _ = plan.recipe
    check_table(plan.table)


def check_table(path: Path) -> None:
    """Refuse what is not the table of a corpus; its shards are not read.

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
    open_table(path, check=False)


def natural_datasets(
    plan: NaturalPlan, *, command: str = "", reporter: Reporter | None = None
) -> Iterator[tuple[str, ProbeDataset | TooFewError]]:
    """Yield the name of each task with its dataset, or with why it cannot be built.

    Raises:
        UsageError: see :func:`check_natural`.
        TableError: the table is none, or is damaged.
    """
    check_natural(plan)
    reporter = reporter or Silent()
    tasks = find_tasks(plan.tasks)
    table = open_table(plan.table)
    reporter.begin("build the tasks", len(tasks))
    for task, data in build_each(tasks, table, recipe=plan.recipe, command=command):
        yield task.name, data
        reporter.advance()


def failed(failures: Collection[TooFewError], *, of: int) -> SentprobeError:
    """Return the error that names the tasks of so many that could not be built."""
    count = f"{len(failures)} of {of} tasks could not be built"
    return SentprobeError("\n".join([f"{count}:", *map(str, failures)]))


def build_natural_command(plan: NaturalPlan, *, out: Path, fmt: str) -> None:
    """Build the datasets into *out* with a bar for the progress, and print what they are.

    Raises:
        SentprobeError: some tasks could not be built; the others are written.
    """
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(*columns(), console=Console(stderr=True)) as progress:
        datasets, failures = build_natural_into(plan, out=out, fmt=fmt, reporter=Bars(progress))
    if datasets:
        console = Console() if sys.stdout.isatty() else Console(width=200)
        console.print(summary(datasets))
    for data in datasets:
        for note in data.card.notes:
            print(f"{data.name}: {note}")
    if failures:
        raise failed(failures, of=len(datasets) + len(failures))
    print(f"datasets: {out}")


def build_natural_into(
    plan: NaturalPlan, *, out: Path, fmt: str, reporter: Reporter
) -> tuple[list[ProbeDataset], list[TooFewError]]:
    """Write each dataset into *out*, under the name of its task.

    Return them, and the errors of the tasks that could not be built.

    Raises:
        UsageError: see :func:`check_natural`; no such format; *out* is in the way.
        SentprobeError: the table or a dataset cannot be read or written.
    """
    check_natural(plan)
    suffix = check_format(fmt).suffix
    tasks = find_tasks(plan.tasks)
    asking = [task.name for task in tasks if task.slots]
    if asking and fmt == "senteval":
        raise UsageError(
            f"{asking[0]} has probe words, which the format senteval cannot hold; "
            "choose directory, jsonl or published"
        )
    places = {task.name: out / f"{task.name}{suffix}" for task in tasks}
    prepare_folder(out, [] if suffix else [*places.values()])
    command = shlex.join(["probe", *sys.argv[1:]])
    datasets: list[ProbeDataset] = []
    failures: list[TooFewError] = []
    for name, data in natural_datasets(plan, command=command, reporter=reporter):
        if isinstance(data, ProbeDataset):
            write_dataset(data, places[name], format=fmt)
            datasets.append(data)
        else:
            failures.append(data)
    return datasets, failures


BASELINES = ("majority", "length", "nb-uni-tfidf", "nb-bi-tfidf")
"""The baselines of a card's audit, in the order of the paper's table."""


def summary(datasets: Sequence[ProbeDataset]) -> "TextTable":
    """Return a table for a terminal: sizes, classes, and what the baselines achieve (percent)."""
    from rich.table import Table  # noqa: PLC0415

    table = Table("task")
    splits = [split for split in Split if any(split in data.splits for data in datasets)]
    for head in (*(split.value for split in splits), "classes", *BASELINES):
        table.add_column(head, justify="right")
    for data in datasets:
        sizes = [f"{len(data.splits[split]):,}" for split in splits]
        scores = data.card.audit.get("baselines", {})
        shown = [f"{100 * scores[name]:.1f}" if name in scores else "-" for name in BASELINES]
        table.add_row(data.name, *sizes, str(len(data.labels)), *shown)
    return table
