"""Series over sentence length: accuracy, and the norm of the sentence vectors.

Adi et al. 2017 plot both: the accuracy of the content and order tasks by sentence length, and the
mean norm of the embeddings of each length, which explains how an average of word vectors can know
the length of its sentence.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.probes.intervals import Interval, accuracy_interval
from sentprobe.probes.lengths import Bin, Lengths, bins_of
from sentprobe.probes.results import Condition, Norm, Result, Results


class Measure(StrEnum):
    """What a series is of."""

    ACCURACY = "accuracy"
    NORM = "norm"


@dataclass(frozen=True, slots=True)
class Point:
    """A value of a series: of the sentences whose lengths are in *bin*."""

    bin: Bin
    count: int
    """Test items (of an accuracy), or different sentences (of a norm)."""
    mean: float
    deviation: float | None
    """Of an accuracy, over the seeds (of a sample; None for one); of a norm, over the sentences."""
    interval: Interval | None = None
    """Of an accuracy: 95%, as for the accuracy of all items."""


def accuracy_by_length(
    result: Result, *, condition: Condition = Condition.PROBE, by: Lengths = Lengths.BINS
) -> tuple[Point, ...]:
    """Return the accuracy of the test items of each length.

    Empty where the result has no score under the condition, or is from before lengths were kept.
    """
    score = result.scores.get(condition)
    if score is None or not result.lengths:
        return ()
    right = np.stack([each.items() for each in score.seeds])  # (seeds, items)
    units = np.array(result.units)
    points = []
    for each in bins_of(result.lengths, by):
        chosen = np.array([length in each for length in result.lengths])
        means = right[:, chosen].mean(axis=1, dtype=np.float64)
        here = units[chosen].tolist() if len(units) else ()
        interval = accuracy_interval(right[:, chosen].mean(axis=0, dtype=np.float64), here)
        spread = stdev(means.tolist()) if len(means) > 1 else None
        points.append(Point(each, int(chosen.sum()), float(means.mean()), spread, interval))
    return tuple(points)


def norm_by_length(result: Result, *, by: Lengths = Lengths.BINS) -> tuple[Point, ...]:
    """Return the mean norm of the encoder's vectors of each length, as it gave them.

    All different sentences of the dataset count, whatever their split. Empty for a baseline, and
    where the result is from before norms were kept.
    """
    bins = bins_of([norm.tokens for norm in result.norms], by)
    return tuple(_pooled(b, [norm for norm in result.norms if norm.tokens in b]) for b in bins)


def _pooled(each: Bin, norms: Sequence[Norm]) -> Point:
    """Put the norms of several lengths together: mean and deviation of all their sentences."""
    count = sum(norm.sentences for norm in norms)
    mean = sum(norm.sentences * norm.mean for norm in norms) / count
    squares = sum(n.sentences * (n.deviation**2 + (n.mean - mean) ** 2) for n in norms)
    return Point(each, count, mean, float(np.sqrt(squares / count)))


def norms_by_length(lengths: Sequence[int], norms: NDArray[np.float64]) -> tuple[Norm, ...]:
    """Return mean and standard deviation of *norms* (n,) float64, for each of the *lengths* (n,).

    >>> norms_by_length([3, 2, 3], np.array([1.0, 5.0, 3.0]))[1]
    Norm(tokens=3, sentences=2, mean=2.0, deviation=1.0)
    """
    array = np.array(lengths)
    groups = ((int(tokens), norms[array == tokens]) for tokens in np.unique(array))
    return tuple(Norm(t, len(each), float(each.mean()), float(each.std())) for t, each in groups)


def series_records(results: Results, *, by: Lengths = Lengths.BINS) -> list[dict[str, Any]]:
    """Return a flat dictionary for each point of each series, all with the same keys.

    There is an accuracy for each encoder, task, condition and length, and a norm for each encoder,
    task and length. *longest* is None in the bin of whatever is longer than the others.
    """
    return [record for result in results.records for record in _records(result, by)]


def _records(result: Result, by: Lengths) -> Iterator[dict[str, Any]]:
    for condition in result.scores:
        points = accuracy_by_length(result, condition=condition, by=by)
        yield from (_record(result, Measure.ACCURACY, condition, point) for point in points)
    points = norm_by_length(result, by=by)
    yield from (_record(result, Measure.NORM, None, point) for point in points)


def _record(
    result: Result, measure: Measure, condition: Condition | None, point: Point
) -> dict[str, Any]:
    return {
        "run": result.source,
        "encoder": result.encoder,
        "task": result.task,
        "series": measure.value,
        "condition": condition and condition.value,
        "shortest": point.bin.shortest,
        "longest": point.bin.longest,
        "count": point.count,
        "mean": point.mean,
        "deviation": point.deviation,
        "low": point.interval and point.interval.low,
        "high": point.interval and point.interval.high,
        "preset": result.preset.name,
        "seed": result.seed,
        "probe_vectors": result.probe_vectors,
    }
