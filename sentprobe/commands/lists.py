"""The command ``probe encoders``: list the kinds of encoder.

The command ``probe tasks``: list the tasks of all suites, with question, classes and number of items.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.shared.table_output import find_table_format
from sentprobe.common.screen import print_table, print_text
from sentprobe.common.specs import COMPEVAL, NATURAL_SIZE, STRUCTURE, Size
from sentprobe.common.tables import TableFormat, build_empty_table

if TYPE_CHECKING:
    from sentprobe.probes.datasets.known_task import KnownTask
    from sentprobe.probes.encoders.kinds import EncoderKind

FIELDS = ("name", "example", "summary", "argument", "extra", "extra_for", "installed")


def encoders(format_: Annotated[str, typer.Option("--format", help="text or json.")] = "text") -> None:
    """List the kinds of encoder, each with an example and its pip extra."""
    style = find_table_format(format_, None, subject="probe encoders", allowed=(TableFormat.TEXT, TableFormat.JSON))
    from rich.text import Text

    from sentprobe.probes.encoders.kinds import ENCODERS

    if style is TableFormat.JSON:
        print(json.dumps([{field: getattr(kind, field) for field in FIELDS} for kind in ENCODERS], indent=2))
        return
    table = build_empty_table(("kind", "what it is, and an example", "extra"), left=[1, 2])
    for kind in ENCODERS:
        description = Text.assemble(kind.summary, "\n", (kind.example, "cyan"))
        table.add_row(Text(kind.name), description, Text(describe_extra(kind)))
    print_table(table)


def describe_extra(kind: "EncoderKind") -> str:
    """Return the pip extra that a kind of encoder needs, and its state: ``"probe: not installed"``."""
    if not kind.extra:
        return "none needed"
    purpose = f" (for {kind.extra_for})" if kind.extra_for else ""
    return f"{kind.extra}{purpose}: {'installed' if kind.installed else 'not installed'}"


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
    from sentprobe.lexicon.languages import LANGUAGES
    from sentprobe.probes.datasets.dataset import Split
    from sentprobe.probes.generated.tasks import SUITE_TASKS, CompevalTask
    from sentprobe.probes.natural.datasets import TASKS as DRAWN

    rows: list[tuple[KnownTask, str, Size]] = []
    rows += [(task, suite, Size()) for suite, tasks in SUITE_TASKS.items() for task in tasks.values()]
    rows += [(task, task.suite.value, NATURAL_SIZE) for task in DRAWN.values()]
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

    from sentprobe.lexicon.languages import LANGUAGES

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
        for code in LANGUAGES:
            if missing := [task.name for task in chosen if task.languages and code not in task.languages]:
                print_text(f"--language {code} lacks {', '.join(missing)}.")
