"""The command ``probe tasks``: list the tasks of all suites."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.probes.dataset import Size, Split
from sentprobe.screen import print_table, say
from sentprobe.specs import COMPEVAL
from sentprobe.table_writers import empty_table

if TYPE_CHECKING:
    from rich.table import Table

    from sentprobe.probes.known_task import KnownTask

PAPERS = {
    COMPEVAL: "Ettinger et al. 2018",
    "conneau": "Conneau et al. 2018",
    "adi": "Adi et al. 2017",
    "adi-controls": "Adi et al. 2017",
}
"""Where the tasks of each suite are from."""


@dataclass(frozen=True, slots=True)
class ListedTask:
    """A task, and what a user of it wants to know first."""

    name: str
    suite: str
    question: str
    classes: str
    items: dict[str, int]
    """By split, unless options say otherwise or a corpus has less."""
    paper: str
    published: str
    """What its published file is called, where that is another name; else empty."""
    classifier: str
    """The preset of its paper."""
    probe_words: str
    """What stands for probe words: one-hot, or encoder: the encoder's own vectors."""


def list_tasks() -> tuple[ListedTask, ...]:
    """Return the tasks of all suites, in the order of the papers' tables."""
    return tuple(_listed_tasks())


def _listed_tasks() -> Iterator[ListedTask]:
    from sentprobe.probes.compeval.tasks import TASKS as BUILT  # noqa: PLC0415 - not for --help
    from sentprobe.probes.natural.catalogue import TASKS as DRAWN  # noqa: PLC0415
    from sentprobe.probes.natural.datasets import SIZE  # noqa: PLC0415

    for task in BUILT.values():
        yield _listed(task, COMPEVAL, Size())
    for each in DRAWN.values():
        yield _listed(each, each.suite.value, SIZE)


def _listed(task: "KnownTask", suite: str, size: Size) -> ListedTask:
    counts = {Split.TRAIN: size.train, Split.VALIDATION: size.validation, Split.TEST: size.test}
    return ListedTask(
        name=task.name,
        suite=suite,
        question=task.asks,
        classes=task.classes,
        items={split.value: count for split, count in counts.items() if count},
        paper=PAPERS[suite],
        published=task.published,
        classifier=task.preset,
        probe_words=task.words,
    )


def tasks(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, with all details.")] = False,
) -> None:
    """List the tasks: the question that each asks, its classes, items, and paper."""
    listed = list_tasks()
    if as_json:
        print(json.dumps([asdict(task) for task in listed], indent=2))
        return
    for suite, paper in PAPERS.items():
        chosen = [task for task in listed if task.suite == suite]
        say(f"{suite} ({paper}): {_items(chosen[0])}")
        print_table(table(chosen))
    say("s is the sentence; n, v and w are probe words: a noun, a verb, any word.")


def _items(task: ListedTask) -> str:
    """Say how many items a task has.

    >>> _items(list_tasks()[0])
    '4,000 training and 1,000 test items each'
    """
    names = {"train": "training", "validation": "validation", "test": "test"}
    counts = [f"{count:,} {names[split]}" for split, count in task.items.items()]
    *first, last = counts
    return f"{', '.join(first)} and {last} items each"


def table(listed: list[ListedTask]) -> "Table":
    """Return the table of one suite."""
    from rich.text import Text  # noqa: PLC0415 - slow import

    made = empty_table(("task", "question", "classes"), left=[1, 2])
    for task in listed:
        made.add_row(Text(task.name), Text(task.question), Text(task.classes))
    return made
