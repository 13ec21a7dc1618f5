"""The probing plan of a training: compeval tasks, datasets and contrasts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from sentprobe.errors import UsageError, suggest
from sentprobe.generator.pairs.contrasts import find_contrast
from sentprobe.probes.compeval.tasks import TASKS
from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.formats import read_datasets
from sentprobe.specs import check_distinct

ProbedTask: TypeAlias = str | ProbeDataset
"""The name of a compeval task, which is built, or an existing dataset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbingPlan:
    """The tasks and contrasts on which an encoder is scored during training."""

    tasks: tuple[ProbedTask, ...]
    contrasts: tuple[str, ...]
    triplets: int
    train: int
    test: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tasks."""
        return list_task_names(self.tasks)

    @property
    def builds(self) -> bool:
        """Whether any task or contrast is built."""
        return bool(self.contrasts) or any(isinstance(task, str) for task in self.tasks)


def list_task_names(tasks: Sequence[ProbedTask]) -> tuple[str, ...]:
    """Return the names of tasks and datasets."""
    return tuple(task if isinstance(task, str) else task.name for task in tasks)


def plan_probing(tasks: Sequence[str], contrasts: Sequence[str], *, items: int) -> ProbingPlan:
    """Return the probing plan; without tasks and contrasts, it has all compeval tasks.

    - tasks: names of compeval tasks, and files or folders of datasets
    - items: training items of each built task; there are half as many test items, and a fifth as many triplets

    Raises:
        UsageError: an unknown or repeated task, file or contrast; too few items.
        DatasetError: a dataset is damaged.
    """
    if items < 2:
        raise UsageError(f"items={items}: at least 2 are wanted, of which there are tests for one")
    probed_tasks = tuple(_find_tasks(tasks or ([] if contrasts else [*TASKS])))
    for kind, names in (("task", list_task_names(probed_tasks)), ("contrast", tuple(contrasts))):
        if names:
            check_distinct(kind, names)
    return ProbingPlan(
        tasks=probed_tasks,
        contrasts=tuple(find_contrast(name).name for name in contrasts),
        triplets=max(1, items // 5),
        train=items,
        test=items // 2,
    )


def _find_tasks(words: Sequence[str]) -> Iterator[ProbedTask]:
    """Yield the tasks of each name or path; a folder may hold several datasets."""
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
