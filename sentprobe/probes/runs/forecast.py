"""What a run would do, and about how long it would take: by a small run that is made and measured.

The small run has the encoders, tasks, classifier and controls that are asked for, and few items.
How many passes a probe takes depends on the task, the condition and the width of the vectors far
more than on the number of items (measured for ``ettinger``); so the time of training grows with the
items, and that of encoding with the sentences. Building grows more slowly, by GROWTH.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentprobe.errors import SentprobeError
from sentprobe.probes.dataset import Items, ProbeDataset, Split
from sentprobe.probes.encoders import Baseline, Encoder
from sentprobe.probes.encoders.given import Known, make_known
from sentprobe.probes.runs import recipes, todo
from sentprobe.probes.runs.built_suites import CompevalSuite
from sentprobe.probes.runs.results import Condition, Result
from sentprobe.probes.runs.run import ENCODING, placed_encoders, run_tasks
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.store import results_there
from sentprobe.probes.runs.targets import Targets, find_datasets
from sentprobe.probes.runs.task import Task, make_tasks
from sentprobe.probes.runs.word_source import make_source
from sentprobe.probes.suites import ClassifierChoice
from sentprobe.progress import Reporter
from sentprobe.specs import Spec

FEW = {Split.TRAIN: 400, Split.VALIDATION: 100, Split.TEST: 100}
"""The items of the small run, at most; multiples of every unit of compeval."""

GROWTH = 0.75
"""Building takes as much longer as there are more items, to this power (measured on compeval)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """An encoder on a task: how many items, and the seeds that are missing for each condition."""

    encoder: str
    task: str
    items: Mapping[Split, int]
    missing: Mapping[Condition, tuple[int, ...]]


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
    """Say what would be done, and measure a small run for how long it would take.

    Natural-text tasks are built whole for it, and datasets are read.

    Raises:
        SentprobeError: whatever keeps the run itself from being made.
    """
    light = recipes.light(encoders, seed=run.seed)
    asked = recipes.requests(targets, light, run=run, preset=preset, words=words)
    begin = time.perf_counter()
    small = replace(run, seeds=run.seeds[:1], out=None, cache=None, jobs=1)
    made = make_known(light, seed=run.seed)
    source = None if words is None else make_source(words, seed=run.seed)
    before = time.perf_counter()
    data = find_datasets(_fewer(targets), command="", reporter=reporter).datasets
    build = time.perf_counter() - before
    made = placed_encoders(made, data)
    whole = make_tasks(data, run=run, preset=preset, words=source)
    parts = make_tasks([_part(each) for each in data], run=small, preset=preset, words=source)
    # What is loaded when it is first wanted is no part of the pace.
    run_tasks(parts[:1], made[:1], run=replace(small, controls=False), reporter=reporter, known={})
    start = time.perf_counter() - begin - build
    results, _ = run_tasks(parts, made, run=small, reporter=reporter, known={})
    found = {(each.encoder, each.task): each for each in results.records}
    planned = tuple(
        Planned(
            encoder=each.name,
            task=task.name,
            items=_sizes(targets, task),
            missing=_missing(asked, task, each, run=run),
        )
        for each in made
        for task in whole
    )
    if not any(each.missing for each in planned):
        return Forecast(planned=planned)
    grown = {task.name: _growth(planned, task) for task in parts}
    built = [task for task in parts if any(isinstance(t, CompevalSuite) for t in targets.found)]
    growth = max((grown[task.name] for task in built), default=1.0)
    return Forecast(
        planned=planned,
        start=start,
        build=build * growth**GROWTH,
        encode=_encoding(planned, found, grown),
        train=_training(planned, found, grown) / run.jobs,
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
                    **{split.value: min(few, each.size.of(split)) for split, few in FEW.items()},
                ),
            )
            if isinstance(each, CompevalSuite)
            else each
            for each in targets.found
        ),
    )


def _part(data: ProbeDataset) -> ProbeDataset:
    """Return the dataset with FEW of its items or, where that is no dataset, with some more."""
    for factor in (1, 2, 4, 8):
        try:
            return _cut(data, factor)
        except SentprobeError:  # a label or a probe word of test is not in training
            continue
    return data


def _cut(data: ProbeDataset, factor: int) -> ProbeDataset:
    generator = np.random.default_rng(0)
    chosen = {
        split: np.sort(generator.permutation(len(items))[: factor * FEW[split]])
        for split, items in data.splits.items()
    }
    rows = np.unique(
        np.concatenate([data.splits[split].rows[kept] for split, kept in chosen.items()])
    )
    splits = {
        split: Items(
            np.searchsorted(rows, data.splits[split].rows[kept]),
            data.splits[split].probes[kept],
            data.splits[split].targets[kept],
        )
        for split, kept in chosen.items()
    }
    return replace(data, sentences=tuple(data.sentences[row] for row in rows), splits=splits)


def _sizes(targets: Targets, task: Task) -> dict[Split, int]:
    """Return how many items the task has in the run itself."""
    for each in targets.found:
        if isinstance(each, CompevalSuite) and task.name in {known.name for known in each.tasks}:
            return {split: each.size.of(split) for split in Split if each.size.of(split)}
    return {split: len(items) for split, items in task.data.splits.items()}


def _missing(
    asked: Sequence[recipes.Request], task: Task, encoder: Encoder | Baseline, *, run: Run
) -> dict[Condition, tuple[int, ...]]:
    """Return the seeds that are to be trained: by recipe where it is known, else by data."""
    if not asked:
        known = todo.known_result(task, encoder, run=run)
        jobs = todo.missing_jobs(task, encoder, known, run=run)
        return {job.condition: job.seeds for job in jobs}
    there = {} if run.out is None or run.force else {r.recipe: r for r in results_there(run.out)}
    (request,) = (e for e in asked if (e.encoder, e.task.name) == (encoder.name, task.name))
    found = there.get(request.recipe)
    if found is None:
        return dict.fromkeys(request.conditions, run.seeds)
    return todo.missing_seeds(found, request.conditions, run=run)


def _growth(planned: Sequence[Planned], task: Task) -> float:
    """Return how many times as many items the run itself has."""
    items = next(each.items for each in planned if each.task == task.name)
    return sum(items.values()) / sum(len(each) for each in task.data.splits.values())


Found = Mapping[tuple[str, str], Result]
"""The results of the small run, by the names of encoder and task."""


def _encoding(planned: Sequence[Planned], found: Found, grown: Mapping[str, float]) -> float:
    """Return the seconds of encoding; those of a result are for all tasks of its encoder."""
    tasks = {each.encoder: 0 for each in planned}
    for each in planned:
        tasks[each.encoder] += 1
    seconds = (
        found[each.encoder, each.task].seconds.get(ENCODING, 0.0) * grown[each.task]
        / tasks[each.encoder]
        for each in planned
        if each.missing
    )  # fmt: skip
    return sum(seconds)


def _training(planned: Sequence[Planned], found: Found, grown: Mapping[str, float]) -> float:
    """Return the seconds of training in one process; what encoders share counts once."""
    seconds: dict[object, float] = {}
    for each in planned:
        result = found[each.encoder, each.task]
        for condition, seeds in each.missing.items():
            spent = result.seconds.get(condition.value, 0.0)
            key: object = (each.encoder, condition)
            if condition in todo.SHARED:
                key = todo.shared_key(condition, result, dim=result.dim)[:2]
            elif spent == result.seconds.get(Condition.BAG_OF_WORDS.value):
                continue  # the encoder is that of the control, and trained as it
            seconds[each.task, key] = spent * grown[each.task] * len(seeds)
    return sum(seconds.values())
