"""What ``probe build`` does, as functions that anyone can call."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sentprobe.errors import UsageError, suggest
from sentprobe.lexicon.read import default_vocabulary, load_lexicon
from sentprobe.probes.compeval import (
    TASKS,
    CompevalTask,
    Sampling,
    build,
    check_size,
    find_task,
    structures_of,
)
from sentprobe.probes.dataset import ProbeDataset, Size, Split
from sentprobe.probes.formats import check_format, prepare_folder, write_dataset
from sentprobe.progress import Bars, Reporter, columns
from sentprobe.specs import check_distinct

if TYPE_CHECKING:
    from rich.table import Table


SUITE = "compeval"
"""The suite that is built here; the other, of natural text, is in :mod:`.natural`."""
SUITES = (SUITE, "natural")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompevalRecipe:
    """Which datasets to build; no tasks means all of them."""

    tasks: tuple[str, ...] = ()
    size: Size = Size()  # noqa: RUF009 - frozen
    seed: int = 0
    vocabulary: str | None = None
    """None: compeval, or the only one of a lexicon that has none of that name."""
    lexicon: Path | None = None
    sampling: Sampling = Sampling.MIRROR

    @property
    def found_tasks(self) -> list[CompevalTask]:
        """The tasks themselves."""
        return [find_task(name) for name in self.tasks or TASKS]


def check_no_table(suite: str, table: Path | None) -> None:
    """Refuse the table of the natural-text tasks where *suite* is another.

    Raises:
        UsageError: one was given.
    """
    if suite == SUITE and table is not None:
        raise UsageError(f"a table ({table}) is for the suite natural, not for {suite}")


def build_command(suite: str, recipe: CompevalRecipe, *, out: Path, fmt: str) -> None:
    """Build the datasets into *out* with a bar for the progress, and print what they are."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    if suite != SUITE:
        near = suggest(suite, SUITES)
        raise UsageError(f"there is no suite {suite!r}{near}; the suites are: {', '.join(SUITES)}")
    with Progress(*columns(), console=Console(stderr=True)) as progress:
        datasets = build_into(recipe, out=out, fmt=fmt, reporter=Bars(progress))
    console = Console() if sys.stdout.isatty() else Console(width=200)
    console.print(summary(datasets))
    for data in datasets:
        for note in data.card.notes:
            print(f"{data.name}: {note}")
    print(f"datasets: {out}")


def build_into(
    recipe: CompevalRecipe, *, out: Path, fmt: str, reporter: Reporter
) -> list[ProbeDataset]:
    """Build the datasets and write each into *out*, under the name of its task; return them.

    Raises:
        UsageError: see :func:`check_recipe`; no such format, or one that holds no probe words;
            *out*, or what is to be written there, is in the way.
        SentprobeError: a dataset could not be made or written.
    """
    check_recipe(recipe)
    suffix = check_format(fmt).suffix
    if fmt == "senteval":
        raise UsageError(
            "the compeval tasks have probe words, which the format senteval cannot hold; "
            "choose directory, jsonl or published"
        )
    places = {task.name: out / f"{task.name}{suffix}" for task in recipe.found_tasks}
    prepare_folder(out, [] if suffix else [*places.values()])
    command = shlex.join(["probe", *sys.argv[1:]])
    datasets = []
    reporter.begin("build the tasks", len(places))
    for task in recipe.found_tasks:
        data = build_task(task, recipe, command=command)
        write_dataset(data, places[task.name], format=fmt)
        datasets.append(data)
        reporter.advance()
    return datasets


def check_recipe(recipe: CompevalRecipe) -> None:
    """Refuse what can be seen to be wrong before any work is done.

    Raises:
        UsageError: an unknown task or vocabulary, a task twice, a size that does not balance.
    """
    tasks = recipe.found_tasks
    check_distinct("task", [task.name for task in tasks])
    for task in tasks:
        check_size(task, recipe.size, sampling=recipe.sampling)
    lexicon = load_lexicon(recipe.lexicon)
    lexicon.vocabulary(recipe.vocabulary or default_vocabulary(lexicon, SUITE))


def build_task(task: CompevalTask, recipe: CompevalRecipe, *, command: str) -> ProbeDataset:
    """Build the dataset of a task as the recipe says."""
    lexicon = load_lexicon(recipe.lexicon)
    return build(
        task,
        lexicon,
        vocabulary=recipe.vocabulary or default_vocabulary(lexicon, SUITE),
        size=recipe.size,
        seed=recipe.seed,
        command=command,
        sampling=recipe.sampling,
    )


def summary(datasets: Sequence[ProbeDataset]) -> "Table":
    """Return a table for a terminal: what each dataset consists of."""
    from rich.table import Table  # noqa: PLC0415

    table = Table("task")
    splits = [split for split in Split if any(split in data.splits for data in datasets)]
    heads = (*(split.value for split in splits), "sentences", "structures", "largest share")
    for head in heads:
        table.add_column(head, justify="right")
    for data in datasets:
        sizes = [str(len(data.splits[split])) for split in splits]
        structures = len(structures_of(data.card, Split.TRAIN))
        share = f"{100 * max(data.card.largest_share.values()):.1f}%"
        table.add_row(data.name, *sizes, str(len(data.sentences)), str(structures), share)
    return table
