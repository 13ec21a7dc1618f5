"""The command ``probe tasks``: list the tasks of all suites, with question, classes and number of items."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe import names
from sentprobe.display.screen import print_table, print_text
from sentprobe.display.table_writers import build_empty_table
from sentprobe.specs import COMPEVAL, STRUCTURE

if TYPE_CHECKING:
    from sentprobe.probes.known_task import KnownTask

PAPERS: Mapping[str, str] = {
    COMPEVAL: "Ettinger et al. 2018",
    STRUCTURE: "after Ettinger et al. 2018",
    "conneau": "Conneau et al. 2018",
    "adi": "Adi et al. 2017",
    "universal": "from Universal Dependencies",
    "adi-controls": "Adi et al. 2017",
}
"""Source of the tasks in each suite or task group."""


@dataclass(frozen=True, slots=True)
class ListedTask:
    """A task with the details that ``probe tasks --json`` prints."""

    name: str
    suite: str
    question: str
    classes: str
    items: dict[str, int]
    paper: str
    published: str
    """Name of the task's published file, if it differs from the task's name; else empty."""
    classifier: str
    """The task's default classifier preset."""
    probe_words: str
    """Vectors of probe words: ``"one-hot"``, or ``"encoder"`` for the encoder's own word vectors."""
    languages: tuple[str, ...] = ()
    """For a generated task, codes of its languages (``"de"``); empty for natural text, which may have any language."""


def list_tasks() -> tuple[ListedTask, ...]:
    """Return the tasks of all suites, in the order of the papers' tables."""
    from sentprobe.lexicon.languages.table import LANGUAGES
    from sentprobe.probes.compeval.tasks import SUITE_TASKS, CompevalTask
    from sentprobe.probes.dataset import Size, Split
    from sentprobe.probes.natural.datasets import PUBLISHED_SIZE
    from sentprobe.probes.natural.datasets import TASKS as DRAWN

    rows: list[tuple[KnownTask, str, Size]] = []
    rows += [(task, suite, Size()) for suite, tasks in SUITE_TASKS.items() for task in tasks.values()]
    rows += [(task, task.suite.value, PUBLISHED_SIZE) for task in DRAWN.values()]
    return tuple(
        ListedTask(
            name=task.name,
            suite=suite,
            question=task.question_text,
            classes=task.classes,
            items={split.value: count for split in Split if (count := size.count_items(split))},
            paper=PAPERS[suite],
            published=task.published,
            classifier=task.preset,
            probe_words=task.words,
            languages=tuple(code for code, language in LANGUAGES.items() if not task.list_missing(language))
            if isinstance(task, CompevalTask)
            else (),
        )
        for task, suite, size in rows
    )


def tasks(as_json: Annotated[bool, typer.Option("--json", help="Print JSON with all details.")] = False) -> None:
    """List the tasks: question, classes, number of items, and paper."""
    from rich.text import Text

    listed = list_tasks()
    if as_json:
        print(json.dumps([asdict(task) for task in listed], indent=2))
        return
    print_text("In the questions, s is the sentence; n, v and w are probe words: a noun, a verb, any word.")
    for suite, paper in PAPERS.items():
        chosen = [task for task in listed if task.suite == suite]
        *first, last = (
            f"{count:,} {'training' if split == 'train' else split}" for split, count in chosen[0].items.items()
        )
        print_text(f"{suite} ({paper}): {', '.join(first)} and {last} items each")
        table = build_empty_table(("task", "question", "classes"), left=[1, 2])
        for task in chosen:
            table.add_row(Text(task.name), Text(task.question), Text(task.classes))
        print_table(table)
        if suite == "adi-controls":
            print_text("permuted: the tokens of s are in random order; random: s consists of random words.")
        for code in names.LANGUAGES:
            if missing := [task.name for task in chosen if task.languages and code not in task.languages]:
                print_text(f"--language {code} lacks {', '.join(missing)}.")
