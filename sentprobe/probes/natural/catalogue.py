"""The list of natural-text tasks; each task is defined at the end of its module."""

from collections.abc import Iterable, Sequence

from sentprobe.errors import UsageError, suggest
from sentprobe.probes.known_task import find_task_name
from sentprobe.probes.natural.adi_tasks import ADI_CONTENT, ADI_LENGTH, ADI_ORDER
from sentprobe.probes.natural.conneau import inversions, main_clause, sentlen, somo, topconst, treedepth, wc
from sentprobe.probes.natural.natural_task import NaturalTask, TaskGroup

_ADI_TASKS = (ADI_LENGTH, ADI_CONTENT, ADI_ORDER)

TASKS: dict[str, NaturalTask] = {
    task.name: task
    for task in (
        sentlen.TASK,
        wc.TASK,
        treedepth.TASK,
        topconst.TASK,
        inversions.BSHIFT,
        main_clause.TENSE,
        main_clause.SUBJECT,
        main_clause.OBJECT,
        somo.TASK,
        inversions.COORDINV,
        *(tasks[0] for tasks in _ADI_TASKS),
        *(control for tasks in _ADI_TASKS for control in tasks[1:]),
    )
}


def find_tasks(names: Iterable[str] = ()) -> list[NaturalTask]:
    """Return the tasks of these names or suites; by default the ten of Conneau et al. 2018.

    The name of a task's published file is accepted, too. Raises UsageError if a name is unknown or repeated.
    """
    tasks = [task for name in [*names] or [TaskGroup.CONNEAU] for task in _find_by_name(name)]
    for place, task in enumerate(tasks):
        if task in tasks[:place]:
            raise UsageError(f"the task {task.name!r} is named twice")
    return tasks


def _find_by_name(name: str) -> Sequence[NaturalTask]:
    if (own_name := find_task_name(name, TASKS.values())) in TASKS:
        return [TASKS[own_name]]
    if name in {suite.value for suite in TaskGroup}:
        return [task for task in TASKS.values() if task.suite == name]
    known_names = [*TASKS, *(suite.value for suite in TaskGroup)]
    raise UsageError(
        f"there is no natural-text task {name!r}{suggest(name, known_names)}; the tasks are "
        f"{', '.join(TASKS)}; the suites are {', '.join(TaskGroup)}"
    )
