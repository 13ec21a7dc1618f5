"""What an encoder is probed on while it is trained: tasks that are built, datasets, contrasts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from sentprobe.errors import UsageError, suggest
from sentprobe.generator.contrasts import find_contrast
from sentprobe.probes.compeval.tasks import TASKS
from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.formats import read_datasets
from sentprobe.specs import check_distinct

ProbedTask: TypeAlias = str | ProbeDataset
"""A task of compeval by its name, which is built, or a dataset that is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbingPlan:
    """What is looked at on the way."""

    tasks: tuple[ProbedTask, ...]
    contrasts: tuple[str, ...]
    triplets: int
    """Of each contrast."""
    train: int
    """Training items of each task that is built."""
    test: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tasks."""
        return names_of(self.tasks)

    @property
    def builds(self) -> bool:
        """Whether anything is built; else there are datasets alone."""
        return bool(self.contrasts) or any(isinstance(each, str) for each in self.tasks)


def names_of(tasks: Sequence[ProbedTask]) -> tuple[str, ...]:
    """Return what tasks and datasets are called."""
    return tuple(each if isinstance(each, str) else each.name for each in tasks)


def plan_probing(tasks: Sequence[str], contrasts: Sequence[str], *, items: int) -> ProbingPlan:
    """Return what is asked for; with neither tasks nor contrasts, all tasks of compeval.

    - tasks: names of tasks of compeval, and files or folders of datasets
    - items: for training, of each task that is built; for testing it are half, triplets a fifth

    Raises:
        UsageError: there is no such task, file or contrast, or it is there twice; too few items.
        DatasetError: a dataset is damaged.
    """
    if items < 2:
        raise UsageError(f"items={items}: at least 2 are wanted, of which there are tests for one")
    found = tuple(_find_tasks(tasks or ([] if contrasts else [*TASKS])))
    for what, names in (("task", names_of(found)), ("contrast", tuple(contrasts))):
        if names:
            check_distinct(what, names)
    return ProbingPlan(
        tasks=found,
        contrasts=tuple(find_contrast(name).name for name in contrasts),
        triplets=max(1, items // 5),
        train=items,
        test=items // 2,
    )


def _find_tasks(words: Sequence[str]) -> Iterator[ProbedTask]:
    """Yield what each word stands for: a folder may hold several datasets."""
    for word in words:
        if word in TASKS:
            yield word
        elif Path(word).exists():
            yield from read_datasets(Path(word))
        else:
            raise UsageError(
                f"there is no task {word!r} of compeval{suggest(word, TASKS)}, nor such a file or "
                f"directory of datasets; the tasks are {', '.join(TASKS)}"
            )
