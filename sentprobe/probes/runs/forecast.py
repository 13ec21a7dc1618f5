"""What a run would do, and about how long it would take: by two small runs, measured.

The small runs have the encoders, tasks, classifier and controls that are asked for, and few items,
one of them fewer than the other. What a step takes is a line through both: a part that is the same
for all numbers of items (it is most of a fit by L-BFGS), and a part that grows with them. Building
is measured once, and grows more slowly, by GROWTH.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.encoders import Encoder
from sentprobe.probes.encoders.given import Known, make_known, placed_encoders
from sentprobe.probes.runs import todo
from sentprobe.probes.runs.built_suites import CompevalSuite
from sentprobe.probes.runs.pace import Measured, Sizes, cut, on_line
from sentprobe.probes.runs.plan import Planned, Planner
from sentprobe.probes.runs.run import each_draw
from sentprobe.probes.runs.runner import run_tasks
from sentprobe.probes.runs.settings import ONE_PROCESS, Run
from sentprobe.probes.runs.store import check_directory
from sentprobe.probes.runs.targets import Targets, find_datasets
from sentprobe.probes.runs.task import make_tasks
from sentprobe.probes.runs.word_source import make_source
from sentprobe.probes.suites import ClassifierChoice
from sentprobe.progress import Named, Reporter
from sentprobe.specs import Spec

FEW: Sizes = {Split.TRAIN: 280, Split.VALIDATION: 100, Split.TEST: 100}
"""The items of the larger of the small runs, at most."""

FEWER: Sizes = {Split.TRAIN: 112, Split.VALIDATION: 40, Split.TEST: 40}
"""Those of the smaller one."""

BUILT: Sizes = {Split.TRAIN: 400, Split.VALIDATION: 100, Split.TEST: 100}
"""The items that are built, at most; multiples of every unit of compeval."""

GROWTH = 0.75
"""Building takes as much longer as there are more items, to this power (measured on compeval)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What would be done, and the seconds that it would take."""

    planned: tuple[Planned, ...]
    start: float = 0.0
    """Loading what trains and the encoders, once."""
    build: float = 0.0
    encode: float = 0.0
    train: float = 0.0

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.start + self.build + self.encode + self.train


def forecast(
    targets: Targets,
    encoders: Sequence[Known],
    *,
    run: Run,
    preset: ClassifierChoice | None = None,
    words: Encoder | Spec | str | None = None,
    reporter: Reporter,
) -> Forecast:
    """Say what would be done in all draws, and measure small runs for how long it would take.

    Natural-text tasks are built whole for it, and datasets are read.

    Raises:
        SentprobeError: whatever keeps the run itself from being made.
    """
    if run.out is not None:
        check_directory(run.out)
    there = todo.by_recipe(run)
    begin = time.perf_counter()
    draws = list(each_draw(encoders, targets=targets, run=run))
    made = make_known(draws[0].encoders, seed=run.seed)
    source = None if words is None else make_source(words, seed=run.seed)
    start = time.perf_counter() - begin
    data = find_datasets(_fewer(targets), command="", reporter=reporter).datasets
    build = time.perf_counter() - begin - start
    made = placed_encoders(made, (each.sentences for each in data))
    planner = Planner(
        targets=targets, preset=preset, words=words, reporter=reporter, data=data, there=there
    )
    plans = [planner.plan(known, run=draw) for draw, known, _ in draws]
    planned = tuple(
        Planned(
            encoder=each.name,
            task=part.name,
            items=_sizes(targets, part),
            draws=tuple(plan.get((each.name, part.name), {}) for plan in plans),
        )
        for each in made
        for part in data
    )
    if not any(each.unfinished for each in planned):
        return Forecast(planned=planned)
    small = replace(run, seeds=run.seeds[:1], draws=1, out=None, cache=None, machines=ONE_PROCESS)
    less, more = (
        make_tasks([cut(each, few) for each in data], run=small, preset=preset, words=source)
        for few in (FEWER, FEW)
    )
    reporter = Named("small run", reporter)
    # What is loaded when it is first wanted is no part of the pace.
    begin = time.perf_counter()
    alone = replace(small, controls=False)
    run_tasks(less[:1], made, run=alone, reporter=reporter, known={})
    start += time.perf_counter() - begin
    first, last = (
        Measured.of(tasks, run_tasks(tasks, made, run=small, reporter=reporter, known={}).results)
        for tasks in (less, more)
    )
    unfinished = sum(any(plan.values()) for plan in plans)
    return Forecast(
        planned=planned,
        start=start,
        build=build * _growth(targets, data) ** GROWTH * unfinished,
        encode=_extrapolated(first, last, planned, Measured.encoding),
        train=_extrapolated(first, last, planned, Measured.training) / run.machines.jobs,
    )


def _fewer(targets: Targets) -> Targets:
    """Return the targets with compeval's tasks at a small size; others are built or read whole."""
    return replace(
        targets,
        found=tuple(
            replace(
                each,
                size=replace(
                    each.size,
                    **{split.value: min(few, each.size.of(split)) for split, few in BUILT.items()},
                ),
            )
            if isinstance(each, CompevalSuite)
            else each
            for each in targets.found
        ),
    )


def _sizes(targets: Targets, data: ProbeDataset) -> dict[Split, int]:
    """Return how many items the task has in the run itself."""
    for each in targets.found:
        if isinstance(each, CompevalSuite) and data.name in {known.name for known in each.tasks}:
            return {split: each.size.of(split) for split in Split if each.size.of(split)}
    return {split: len(items) for split, items in data.splits.items()}


def _growth(targets: Targets, data: Sequence[ProbeDataset]) -> float:
    """Return how many times as many items the run itself builds, where fewer were built."""
    growths = (
        sum(_sizes(targets, each).values()) / sum(map(len, each.splits.values())) for each in data
    )
    return max(growths, default=1.0)


Measure: TypeAlias = Callable[[Measured, Sequence[Planned]], float]
"""What is taken of a small run."""


def _extrapolated(
    first: Measured, last: Measured, planned: Sequence[Planned], measure: Measure
) -> float:
    """Return the seconds of a step for all tasks, each on a line of its own."""
    seconds = 0.0
    for task in last.items:
        mine = [each for each in planned if each.task == task]
        known = ((each.items[task], measure(each, mine)) for each in (first, last))
        seconds += on_line(sum(mine[0].items.values()), *known)
    return seconds
