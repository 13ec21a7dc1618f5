"""Accuracy and vector norm by sentence length (Adi et al. 2017), as values and as tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import stdev
from typing import Any

import numpy as np

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import Bin, Lengths, find_bins
from sentprobe.common.tables import Grid, GridCell, GridRow
from sentprobe.probes.reports.tables.main_table import CellStyle
from sentprobe.probes.results.records import identify_result
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.statistics import Interval, accuracy_interval


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    """A bin of sentence lengths, with the mean accuracy on its test items or the mean norm of its sentence vectors."""

    bin: Bin
    count: int
    """The number of test items (accuracy) or of sentences (norm)."""
    mean: float
    deviation: float | None
    """The standard deviation of accuracies over seeds (None for one seed), or of norms over sentences."""
    interval: Interval | None = None


def accuracy_by_length(
    result: Result, *, condition: Condition = Condition.PROBE, by: Lengths = Lengths.BINS
) -> tuple[SeriesPoint, ...]:
    """Return the accuracy on the test items in each bin of sentence lengths.

    Return () if the result has no score under the condition, or no sentence lengths.
    """
    score = result.scores.get(condition)
    if score is None or not result.lengths:
        return ()
    right = np.stack([seed.items() for seed in score.seeds])  # (seeds, items)
    units, lengths = np.array(result.units), np.array(result.lengths)
    points = []
    for length_bin in find_bins(result.lengths, by):
        chosen = np.isin(lengths, [length for length in set(result.lengths) if length in length_bin])
        means = right[:, chosen].mean(axis=1, dtype=np.float64)
        chosen_units = units[chosen].tolist() if len(units) else ()
        interval = accuracy_interval(right[:, chosen].mean(axis=0, dtype=np.float64), chosen_units)
        spread = stdev(means.tolist()) if len(means) > 1 else None
        points.append(SeriesPoint(length_bin, int(chosen.sum()), float(means.mean()), spread, interval))
    return tuple(points)


def norm_by_length(result: Result, *, by: Lengths = Lengths.BINS) -> tuple[SeriesPoint, ...]:
    """Return the mean norm of the encoder's unscaled vectors in each bin of sentence lengths.

    Means are over all distinct sentences of the dataset, in all splits. Return () for a baseline.
    """
    points = []
    for length_bin in find_bins([norm.tokens for norm in result.norms], by):
        norms = [norm for norm in result.norms if norm.tokens in length_bin]
        count = sum(norm.sentences for norm in norms)
        mean = sum(norm.sentences * norm.mean for norm in norms) / count
        squares = sum(n.sentences * (n.deviation**2 + (n.mean - mean) ** 2) for n in norms)
        points.append(SeriesPoint(length_bin, count, mean, float(np.sqrt(squares / count))))
    return tuple(points)


def series_records(results: Results, *, by: Lengths = Lengths.BINS) -> list[dict[str, Any]]:
    """Return dictionaries with the same keys: one for each result, measure and bin of sentence lengths.

    Measures are the accuracy under each condition, and the mean vector norm. ``longest`` is None in an open-ended bin.
    """
    records = []
    for result in results.records:
        for condition in result.scores:
            points = accuracy_by_length(result, condition=condition, by=by)
            records += [_to_record(result, condition, point) for point in points]
        records += [_to_record(result, None, point) for point in norm_by_length(result, by=by)]
    return records


def _to_record(result: Result, condition: Condition | None, point: SeriesPoint) -> dict[str, Any]:
    return {
        **identify_result(result),
        "series": "accuracy" if condition else "norm",
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


SERIES_NOTES = (
    "Accuracy in % and norm of the unscaled vectors, by the number of tokens of the sentence: mean ± standard "
    "deviation (of accuracies over seeds, of norms over sentences).",
    "Accuracies are on the test items; norms are those of all distinct sentences of the dataset.",
)


def check_lengths(results: Results) -> None:
    """Raise UsageError if no result has sentence lengths."""
    if not any(record.lengths for record in results.records):
        raise UsageError("these results have no sentence lengths; run the same command again with --force")


def build_series_grids(
    results: Results, *, by: Lengths = Lengths.BINS, style: CellStyle | None = None
) -> Iterator[Grid]:
    """Yield, for each task with sentence lengths, a table: accuracies and norms of vectors, by sentence length."""
    for task in results.tasks:
        task_records = [record for record in results.records if record.task == task and record.lengths]
        if task_records:
            yield _build_grid(task, task_records, by, style or CellStyle())


Column = Mapping[Bin, str]


def _build_grid(task: str, records: Sequence[Result], by: Lengths, style: CellStyle) -> Grid:
    accuracies = {record.encoder: accuracy_by_length(record, by=by) for record in records}
    norms = {record.encoder: points for record in records if (points := norm_by_length(record, by=by))}
    columns: dict[str, Column] = {"test items": _format_counts(next(iter(accuracies.values())))}
    for name, points in accuracies.items():
        columns[name] = {point.bin: _format_accuracy(point, style) for point in points}
    if norms:
        columns["sentences"] = _format_counts(next(iter(norms.values())))
    for name, points in norms.items():
        columns[f"norm of {name}"] = {
            p.bin: f"{_format_digits(p.mean, 4)} ± {_format_digits(p.deviation or 0.0, 2)}" for p in points
        }
    bins = sorted({length_bin for column in columns.values() for length_bin in column}, key=attrgetter("shortest"))
    rows = (GridRow(str(b), "", tuple(GridCell(column.get(b, "")) for column in columns.values())) for b in bins)
    return Grid((f"{task}, tokens", *columns), tuple(rows))


def _format_counts(points: Sequence[SeriesPoint]) -> Column:
    return {point.bin: str(point.count) for point in points}


def _format_accuracy(point: SeriesPoint, style: CellStyle) -> str:
    text = f"{100 * point.mean:.1f}"
    if point.deviation is not None:
        text += f" ± {100 * point.deviation:.1f}"
    if style.intervals and point.interval is not None:
        text += f" [{100 * point.interval.low:.1f}, {100 * point.interval.high:.1f}]"
    return text


def _format_digits(value: float, count: int) -> str:
    """Return a value as text with *count* significant digits: for the value 12.3 and 4 digits, "12.30"."""
    return f"{value:#.{count}g}".removesuffix(".")
