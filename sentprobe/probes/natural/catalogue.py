"""The natural-text tasks as a list: a row for each, whose value stands at the end of its file."""

from collections.abc import Iterable, Sequence

from sentprobe.errors import UsageError, suggest
from sentprobe.probes.known_task import own_name_among
from sentprobe.probes.natural import (
    adicontent,
    adilength,
    adiorder,
    bshift,
    coordinv,
    sentlen,
    somo,
    subjnum_objnum,
    tense,
    topconst,
    treedepth,
    wc,
)
from sentprobe.probes.natural.task import NaturalTask, TaskGroup

TASKS: dict[str, NaturalTask] = {
    task.name: task
    for task in (
        sentlen.TASK,
        wc.TASK,
        treedepth.TASK,
        topconst.TASK,
        bshift.TASK,
        tense.TASK,
        subjnum_objnum.SUBJECT,
        subjnum_objnum.OBJECT,
        somo.TASK,
        coordinv.TASK,
        adilength.TASK,
        adicontent.TASK,
        adiorder.TASK,
        *adilength.CONTROLS,
        *adicontent.CONTROLS,
        *adiorder.CONTROLS,
    )
}
"""All tasks by name."""


def find_tasks(names: Iterable[str] = ()) -> list[NaturalTask]:
    """Return the tasks of those names or suites; of no names, the ten of Conneau et al. 2018.

    A task may also be called as its published file is.

    Raises:
        UsageError: there is none of that name, or one is named twice.
    """
    found = [task for name in [*names] or [TaskGroup.CONNEAU] for task in _named(name)]
    for place, task in enumerate(found):
        if task in found[:place]:
            raise UsageError(f"the task {task.name!r} is named twice")
    return found


def _named(name: str) -> Sequence[NaturalTask]:
    if (ours := own_name_among(name, TASKS.values())) in TASKS:
        return [TASKS[ours]]
    if name in {suite.value for suite in TaskGroup}:
        return [task for task in TASKS.values() if task.suite == name]
    known = [*TASKS, *(suite.value for suite in TaskGroup)]
    raise UsageError(
        f"there is no natural-text task {name!r}{suggest(name, known)}; the tasks are "
        f"{', '.join(TASKS)}; the suites are {', '.join(TaskGroup)}"
    )
