"""Forecasts of a run: its missing probes, and its duration, estimated from two small runs.

The small runs have the requested encoders, tasks, classifier and controls, and two small numbers of items. The duration
of a stage is a line through both: a constant part (most of a fit by L-BFGS), and a part that grows with the items.
Building is timed once; its time grows with the number of items to the power GROWTH.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sentprobe.probes.dataset import ProbeDataset, Size, Split
from sentprobe.probes.encoders.resolve import bind_to_sentence_order, build_encoders
from sentprobe.probes.results.store import check_directory
from sentprobe.probes.runs.execution import missing_jobs
from sentprobe.probes.runs.execution.runner import run_tasks
from sentprobe.probes.runs.execution.task import make_tasks
from sentprobe.probes.runs.execution.word_source import make_word_source
from sentprobe.probes.runs.forecast.measured_speed import MeasuredRun, Sizes, extrapolate, sample_dataset
from sentprobe.probes.runs.forecast.planned_work import PlannedResult, Planner
from sentprobe.probes.runs.request.built_suites import CompevalSuite
from sentprobe.probes.runs.request.run_request import RunRequest
from sentprobe.probes.runs.request.settings import ONE_PROCESS
from sentprobe.probes.runs.request.targets import Targets, find_datasets
from sentprobe.probes.runs.run import prepare_draws
from sentprobe.progress import Reporter, TitledReporter

LARGE_SAMPLE: Sizes = {Split.TRAIN: 280, Split.VALIDATION: 100, Split.TEST: 100}
"""Maximum numbers of items of the larger small run."""

SMALL_SAMPLE: Sizes = {Split.TRAIN: 112, Split.VALIDATION: 40, Split.TEST: 40}
"""Maximum numbers of items of the smaller small run."""

BUILT_SIZES: Sizes = {Split.TRAIN: 400, Split.VALIDATION: 100, Split.TEST: 100}
"""Maximum numbers of built items; multiples of the size of every unit of compeval."""

GROWTH = 0.75
"""Building time grows with the number of items to this power (measured on compeval)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The planned results, and the estimated seconds of each stage."""

    planned: tuple[PlannedResult, ...]
    start: float = 0.0
    """The seconds for loading PyTorch and the encoders, once."""
    build: float = 0.0
    encode: float = 0.0
    train: float = 0.0

    @property
    def seconds(self) -> float:
        """The total number of seconds."""
        return self.start + self.build + self.encode + self.train


def make_forecast(request: RunRequest, *, reporter: Reporter) -> Forecast:
    """Plan the results of all draws, and estimate their duration from small runs.

    Natural-text tasks are built in full, and datasets are read.

    Raises:
        SentprobeError: the run itself would fail.
    """
    run, inputs, preset = request.make_run(), request.inputs, request.training.preset
    targets, encoders, words = inputs.targets, inputs.encoders, inputs.probe_vectors
    if run.out is not None:
        check_directory(run.out)
    stored_results = missing_jobs.find_results_by_recipe(run)
    begin = time.perf_counter()
    draws = list(prepare_draws(encoders, targets=targets, run=run))
    built_encoders = build_encoders(draws[0].encoders, seed=run.seed)
    source = None if words is None else make_word_source(words, seed=run.seed)
    start = time.perf_counter() - begin
    data = find_datasets(_reduce_sizes(targets), command="", reporter=reporter).datasets
    build = time.perf_counter() - begin - start
    built_encoders = bind_to_sentence_order(built_encoders, (dataset.sentences for dataset in data))
    planner = Planner(
        targets=targets, preset=preset, words=words, reporter=reporter, data=data, stored_results=stored_results
    )
    plans = [planner.plan_draw(draw_encoders, run=draw) for draw, draw_encoders, _ in draws]
    planned = tuple(
        PlannedResult(
            encoder=encoder.name,
            task=dataset.name,
            items=_find_sizes(targets, dataset),
            draws=tuple(plan.get((encoder.name, dataset.name), {}) for plan in plans),
        )
        for encoder in built_encoders
        for dataset in data
    )
    if not any(plan.unfinished for plan in planned):
        return Forecast(planned=planned)
    small_run = replace(run, seeds=run.seeds[:1], draws=1, out=None, cache=None, machines=ONE_PROCESS)
    small_tasks, large_tasks = (
        make_tasks(
            [sample_dataset(dataset, sample_size) for dataset in data], run=small_run, preset=preset, words=source
        )
        for sample_size in (SMALL_SAMPLE, LARGE_SAMPLE)
    )
    reporter = TitledReporter("small run", reporter)
    # A trial run loads everything that is loaded on first use, so that it is not measured below.
    begin = time.perf_counter()
    trial_run = replace(small_run, controls=False)
    run_tasks(small_tasks[:1], built_encoders, run=trial_run, reporter=reporter, recipes={})
    start += time.perf_counter() - begin
    small_measurement, large_measurement = (
        MeasuredRun.from_results(
            tasks, run_tasks(tasks, built_encoders, run=small_run, reporter=reporter, recipes={}).results
        )
        for tasks in (small_tasks, large_tasks)
    )
    unfinished = sum(any(plan.values()) for plan in plans)
    return Forecast(
        planned=planned,
        start=start,
        build=build * _compute_growth(targets, data) ** GROWTH * unfinished,
        encode=_extrapolate(small_measurement, large_measurement, planned, MeasuredRun.estimate_encoding),
        train=_extrapolate(small_measurement, large_measurement, planned, MeasuredRun.estimate_training)
        / run.machines.jobs,
    )


def _reduce_sizes(targets: Targets) -> Targets:
    """Return the targets with a small size of compeval's tasks."""
    reduced = tuple(
        replace(target, size=_reduce_size(target.size)) if isinstance(target, CompevalSuite) else target
        for target in targets.items
    )
    return replace(targets, items=reduced)


def _reduce_size(size: Size) -> Size:
    counts = {split.value: min(count, size.count_items(split)) for split, count in BUILT_SIZES.items()}
    return replace(size, **counts)


def _find_sizes(targets: Targets, data: ProbeDataset) -> dict[Split, int]:
    """Return the number of items of the task in the run itself, by split."""
    for target in targets.items:
        if isinstance(target, CompevalSuite) and data.name in {task.name for task in target.tasks}:
            return {split: count for split in Split if (count := target.size.count_items(split))}
    return {split: len(items) for split, items in data.splits.items()}


def _compute_growth(targets: Targets, data: Sequence[ProbeDataset]) -> float:
    """Return the ratio of the numbers of items in the run itself and in the small build."""
    growths = (sum(_find_sizes(targets, dataset).values()) / sum(map(len, dataset.splits.values())) for dataset in data)
    return max(growths, default=1.0)


Measure: TypeAlias = Callable[[MeasuredRun, Sequence[PlannedResult]], float]
"""A function from a small run to the seconds of a stage."""


def _extrapolate(first: MeasuredRun, last: MeasuredRun, planned: Sequence[PlannedResult], measure: Measure) -> float:
    """Return the seconds of a stage for all tasks, each extrapolated by its own line."""
    seconds = 0.0
    for task in last.items:
        task_plans = [plan for plan in planned if plan.task == task]
        measured = ((measurement.items[task], measure(measurement, task_plans)) for measurement in (first, last))
        seconds += extrapolate(sum(task_plans[0].items.values()), *measured)
    return seconds
