"""Series over sentence length: accuracy and the norm of the vectors, as values and as tables.

Adi et al. 2017 plot both: the accuracy of the content and order tasks by sentence length, and the
mean norm of the embeddings of each length, which explains how an average of word vectors can know
the length of its sentence.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import stdev
from typing import Any

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.lengths import Bin, Lengths, bins_of
from sentprobe.probes.report.tables import CellStyle
from sentprobe.probes.runs.results import Condition, Norm, Result, Results
from sentprobe.probes.statistics import Interval, accuracy_interval
from sentprobe.table_writers import Grid, GridCell, GridRow


class SeriesMeasure(StrEnum):
    """What a series is of."""

    ACCURACY = "accuracy"
    NORM = "norm"


@dataclass(frozen=True, slots=True)
class SeriesPoint:
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
) -> tuple[SeriesPoint, ...]:
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
        points.append(SeriesPoint(each, int(chosen.sum()), float(means.mean()), spread, interval))
    return tuple(points)


def norm_by_length(result: Result, *, by: Lengths = Lengths.BINS) -> tuple[SeriesPoint, ...]:
    """Return the mean norm of the encoder's vectors of each length, as it gave them.

    All different sentences of the dataset count, whatever their split. Empty for a baseline, and
    where the result is from before norms were kept.
    """
    bins = bins_of([norm.tokens for norm in result.norms], by)
    return tuple(_pooled(b, [norm for norm in result.norms if norm.tokens in b]) for b in bins)


def _pooled(each: Bin, norms: Sequence[Norm]) -> SeriesPoint:
    """Put the norms of several lengths together: mean and deviation of all their sentences."""
    count = sum(norm.sentences for norm in norms)
    mean = sum(norm.sentences * norm.mean for norm in norms) / count
    squares = sum(n.sentences * (n.deviation**2 + (n.mean - mean) ** 2) for n in norms)
    return SeriesPoint(each, count, mean, float(np.sqrt(squares / count)))


def series_records(results: Results, *, by: Lengths = Lengths.BINS) -> list[dict[str, Any]]:
    """Return a flat dictionary for each point of each series, all with the same keys.

    There is an accuracy for each encoder, task, condition and length, and a norm for each encoder,
    task and length. *longest* is None in the bin of whatever is longer than the others.
    """
    return [record for result in results.records for record in _records(result, by)]


def _records(result: Result, by: Lengths) -> Iterator[dict[str, Any]]:
    for condition in result.scores:
        points = accuracy_by_length(result, condition=condition, by=by)
        yield from (_record(result, SeriesMeasure.ACCURACY, condition, point) for point in points)
    points = norm_by_length(result, by=by)
    yield from (_record(result, SeriesMeasure.NORM, None, point) for point in points)


def _record(
    result: Result, measure: SeriesMeasure, condition: Condition | None, point: SeriesPoint
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


NOTES = (
    "Accuracy in %, and the norm of the encoder's vectors as it gave them, mean ± standard "
    "deviation (of an accuracy, over the seeds), by the number of tokens of the sentence.",
    "Accuracies are of the test items; norms of all different sentences of the dataset.",
)
"""What is said below the tables."""


def check_series(results: Results) -> None:
    """Refuse results in which there are no lengths.

    Raises:
        UsageError: all are from before lengths were kept.
    """
    if not any(record.lengths for record in results.records):
        raise UsageError(
            "these results are from before sentence lengths were kept; "
            "run the same command again with --force"
        )


def series_grids(
    results: Results, *, by: Lengths = Lengths.BINS, style: CellStyle | None = None
) -> Iterator[Grid]:
    """Yield a table for each task of one setting; results without lengths are left out."""
    for task in results.tasks:
        here = [each for each in results.records if each.task == task and each.lengths]
        if here:
            yield _grid(task, here, by, style or CellStyle())


Column = Mapping[Bin, str]


def _grid(task: str, records: Sequence[Result], by: Lengths, style: CellStyle) -> Grid:
    accuracies = {each.encoder: accuracy_by_length(each, by=by) for each in records}
    norms = {each.encoder: points for each in records if (points := norm_by_length(each, by=by))}
    columns: dict[str, Column] = {"test items": _counts(next(iter(accuracies.values())))}
    columns |= {name: _accuracies(points, style) for name, points in accuracies.items()}
    if norms:
        columns["sentences"] = _counts(next(iter(norms.values())))
    columns |= {f"norm of {name}": _norms(points) for name, points in norms.items()}
    bins = sorted({each for column in columns.values() for each in column}, key=_order)
    rows = [_row(each, columns.values()) for each in bins]
    return Grid((f"{task}, tokens", *columns), tuple(rows))


def _order(each: Bin) -> int:
    return each.shortest


def _row(each: Bin, columns: Iterable[Column]) -> GridRow:
    return GridRow(str(each), "", tuple(GridCell(column.get(each, "")) for column in columns))


def _counts(points: Sequence[SeriesPoint]) -> Column:
    return {point.bin: str(point.count) for point in points}


def _accuracies(points: Sequence[SeriesPoint], style: CellStyle) -> Column:
    return {point.bin: _accuracy(point, style) for point in points}


def _accuracy(point: SeriesPoint, style: CellStyle) -> str:
    text = f"{100 * point.mean:.1f}"
    if point.deviation is not None:
        text += f" ± {100 * point.deviation:.1f}"
    if style.intervals and point.interval is not None:
        text += f" [{100 * point.interval.low:.1f}, {100 * point.interval.high:.1f}]"
    return text


def _norms(points: Sequence[SeriesPoint]) -> Column:
    return {p.bin: f"{_digits(p.mean, 4)} ± {_digits(p.deviation or 0.0, 2)}" for p in points}


def _digits(value: float, count: int) -> str:
    """Write so many significant digits, zeros at the end too."""
    return f"{value:#.{count}g}".removesuffix(".")
