"""The speed of small runs: the duration of encoding and training, and its growth with the items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from sentprobe.errors import SentprobeError
from sentprobe.probes.dataset import Items, ProbeDataset, Split
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.runs.execution import missing_jobs
from sentprobe.probes.runs.execution.runner import ENCODING
from sentprobe.probes.runs.execution.task import Task
from sentprobe.probes.runs.forecast.planned_work import MissingSeeds, PlannedResult
from sentprobe.probes.trainer.classifier import Optimizer

Sizes: TypeAlias = Mapping[Split, int]


def sample_dataset(data: ProbeDataset, sizes: Sizes) -> ProbeDataset:
    """Return a sample of the dataset's items; the sample grows until it is a valid dataset."""
    for factor in (1, 2, 4, 8):
        try:
            return _sample_splits(data, {split: factor * count for split, count in sizes.items()})
        except SentprobeError:  # a label is missing in training, or a split is empty
            continue
    return data


def _sample_splits(data: ProbeDataset, sizes: Sizes) -> ProbeDataset:
    """Return a sample of the items; all labels and words of other splits are in training."""
    generator = np.random.default_rng(0)
    train = _sample_items(data.splits[Split.TRAIN], sizes[Split.TRAIN], generator)
    splits = {
        split: train
        if split is Split.TRAIN
        else _sample_items(_select_answerable(items, train), sizes[split], generator)
        for split, items in data.splits.items()
    }
    rows = np.unique(np.concatenate([items.rows for items in splits.values()]))
    renumbered = {split: replace(items, rows=np.searchsorted(rows, items.rows)) for split, items in splits.items()}
    return replace(data, sentences=tuple(data.sentences[row] for row in rows), splits=renumbered)


def _sample_items(items: Items, count: int, generator: np.random.Generator) -> Items:
    return items.select(np.sort(generator.permutation(len(items))[:count]))


def _select_answerable(items: Items, train: Items) -> Items:
    """Return the items whose label and probe words are all in training."""
    is_answerable = np.isin(items.targets, train.targets)
    for column, training_words in zip(items.probes.T, train.probes.T, strict=True):
        is_answerable &= np.isin(column, training_words)
    return items.select(is_answerable)


def extrapolate(size: float, first: tuple[float, float], last: tuple[float, float]) -> float:
    """Return the duration for *size*, from two sizes with their durations, the larger size last.

    The result is on the line through both points. Noise is corrected: the constant part is not negative, and the
    duration does not fall with the size.

    >>> [extrapolate(10, (1, cost), (2, 4.0)) for cost in (3.0, 1.0, 5.0)]
    [12.0, 20.0, 4.0]
    """
    (small_size, small_cost), (large_size, large_cost) = first, last
    if small_size >= large_size:
        return large_cost * size / large_size
    small_cost = min(max(small_cost, large_cost * small_size / large_size), large_cost)
    return large_cost + (large_cost - small_cost) * (size - large_size) / (large_size - small_size)


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A small run: numbers of items by task, and results by the names of encoder and task."""

    items: Mapping[str, int]
    results: Mapping[tuple[str, str], Result]

    @classmethod
    def from_results(cls, tasks: Sequence[Task], results: Results) -> "MeasuredRun":
        """Return the small run that has these tasks and results."""
        return cls(
            {task.name: sum(map(len, task.data.splits.values())) for task in tasks},
            {result.cell: result for result in results.records},
        )

    def estimate_encoding(self, planned: Sequence[PlannedResult]) -> float:
        """Return the seconds of all planned encoding.

        The encoding time of a result covers all tasks of its encoder.
        """
        return sum(
            self._find_result(plan).seconds.get(ENCODING, 0.0) / len(self.items) * plan.unfinished for plan in planned
        )

    def estimate_training(self, planned: Sequence[PlannedResult]) -> float:
        """Return the seconds of training all planned probes, in one process."""
        draws = range(max((len(plan.draws) for plan in planned), default=0))
        return sum(self._estimate_draw([(plan, plan.draws[draw]) for plan in planned]) for draw in draws)

    def _estimate_draw(self, planned: Sequence[tuple[PlannedResult, MissingSeeds]]) -> float:
        """Return the seconds of one draw; fits that encoders share count once."""
        seconds: dict[object, float] = {}
        for plan, missing in planned:
            result = self._find_result(plan)
            for condition, seeds in missing.items():
                duration = result.seconds.get(condition.value, 0.0)
                key: object = (plan.encoder, condition)
                if condition in missing_jobs.SHARED:
                    key = missing_jobs.make_shared_key(condition, result, dim=result.dim)[:2]
                elif duration == result.seconds.get(Condition.BAG_OF_WORDS.value):
                    continue  # equal to the control's encoder, and trained once
                is_deterministic = result.preset.optimizer is Optimizer.LBFGS  # at most one probe is trained
                seconds[plan.task, key] = duration * (min(1, len(seeds)) if is_deterministic else len(seeds))
        return sum(seconds.values())

    def _find_result(self, planned: PlannedResult) -> Result:
        return self.results[planned.encoder, planned.task]
