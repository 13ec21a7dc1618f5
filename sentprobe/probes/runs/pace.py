"""The pace of small runs: what encoding and training take, and how it grows with the items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from sentprobe.errors import SentprobeError
from sentprobe.probes.dataset import Items, ProbeDataset, Split
from sentprobe.probes.runs import todo
from sentprobe.probes.runs.plan import Missing, Planned
from sentprobe.probes.runs.results import Condition, Result, Results
from sentprobe.probes.runs.runner import ENCODING
from sentprobe.probes.runs.task import Task
from sentprobe.probes.trainer.classifier import Optimizer

Sizes: TypeAlias = Mapping[Split, int]


def cut(data: ProbeDataset, few: Sizes) -> ProbeDataset:
    """Return the dataset with few of its items or, where that is no dataset, with some more."""
    for factor in (1, 2, 4, 8):
        try:
            return _cut(data, {split: factor * count for split, count in few.items()})
        except SentprobeError:  # a label is not in training, or nothing is left of a split
            continue
    return data


def _cut(data: ProbeDataset, few: Sizes) -> ProbeDataset:
    """Return a sample of the items; of other splits than training those that it can be asked."""
    generator = np.random.default_rng(0)
    train = _sample(data.splits[Split.TRAIN], few[Split.TRAIN], generator)
    splits = {
        split: train
        if split is Split.TRAIN
        else _sample(_answerable(items, train), few[split], generator)
        for split, items in data.splits.items()
    }
    rows = np.unique(np.concatenate([items.rows for items in splits.values()]))
    placed = {
        split: replace(items, rows=np.searchsorted(rows, items.rows))
        for split, items in splits.items()
    }
    return replace(data, sentences=tuple(data.sentences[row] for row in rows), splits=placed)


def _sample(items: Items, count: int, generator: np.random.Generator) -> Items:
    kept = np.sort(generator.permutation(len(items))[:count])
    return items.at(kept)


def _answerable(items: Items, train: Items) -> Items:
    """Return the items of which the label and each probe word are in training."""
    kept = np.isin(items.targets, train.targets)
    for column, known in zip(items.probes.T, train.probes.T, strict=True):
        kept &= np.isin(column, known)
    return items.at(kept)


def on_line(size: float, first: tuple[float, float], last: tuple[float, float]) -> float:
    """Return what *size* takes, given two sizes with what they take, the larger one last.

    It is on the line through both. Neither is less than nothing taken for no items, nor does more
    take less: where one was measured so, it is as if it had been measured as near as can be.

    >>> [on_line(10, (1, less), (2, 4.0)) for less in (3.0, 1.0, 5.0)]
    [12.0, 20.0, 4.0]
    """
    (few, less), (many, more) = first, last
    if few >= many:
        return more * size / many
    less = min(max(less, more * few / many), more)
    return more + (more - less) * (size - many) / (many - few)


@dataclass(frozen=True, slots=True)
class Measured:
    """A small run: the items of its tasks, and its results by the names of encoder and task."""

    items: Mapping[str, int]
    results: Mapping[tuple[str, str], Result]

    @classmethod
    def of(cls, tasks: Sequence[Task], results: Results) -> "Measured":
        """Return what was measured of those tasks."""
        return cls(
            {each.name: sum(map(len, each.data.splits.values())) for each in tasks},
            {each.cell: each for each in results.records},
        )

    def encoding(self, planned: Sequence[Planned]) -> float:
        """Return the seconds of encoding as often as is planned.

        Those of a result are for all tasks of its encoder.
        """
        return sum(
            self._result(each).seconds.get(ENCODING, 0.0) / len(self.items) * each.unfinished
            for each in planned
        )

    def training(self, planned: Sequence[Planned]) -> float:
        """Return the seconds of training so many probes as are planned, in one process."""
        draws = range(max((len(each.draws) for each in planned), default=0))
        return sum(self._draw([(each, each.draws[draw]) for each in planned]) for draw in draws)

    def _draw(self, planned: Sequence[tuple[Planned, Missing]]) -> float:
        """Return those of one draw; what encoders share counts once."""
        seconds: dict[object, float] = {}
        for each, missing in planned:
            result = self._result(each)
            for condition, seeds in missing.items():
                spent = result.seconds.get(condition.value, 0.0)
                key: object = (each.encoder, condition)
                if condition in todo.SHARED:
                    key = todo.shared_key(condition, result, dim=result.dim)[:2]
                elif spent == result.seconds.get(Condition.BAG_OF_WORDS.value):
                    continue  # the encoder is that of the control, and trained as it
                seconds[each.task, key] = spent * _fits(result, seeds)
        return sum(seconds.values())

    def _result(self, planned: Planned) -> Result:
        return self.results[planned.encoder, planned.task]


def _fits(result: Result, seeds: Sequence[int]) -> int:
    """Return how many probes are trained for these seeds: one for all where nothing is drawn."""
    same = result.preset.optimizer is Optimizer.LBFGS
    return min(1, len(seeds)) if same else len(seeds)
