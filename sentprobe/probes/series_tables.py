"""Series over sentence length as tables: a row for each length, the encoders side by side."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sentprobe.errors import UsageError
from sentprobe.probes.grids import Cell, Grid, Row
from sentprobe.probes.lengths import Bin, Lengths
from sentprobe.probes.results import Result, Results
from sentprobe.probes.series import Point, accuracy_by_length, norm_by_length
from sentprobe.probes.tables import Style

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
    results: Results, *, by: Lengths = Lengths.BINS, style: Style | None = None
) -> Iterator[Grid]:
    """Yield a table for each task of one setting; results without lengths are left out."""
    for task in results.tasks:
        here = [each for each in results.records if each.task == task and each.lengths]
        if here:
            yield _grid(task, here, by, style or Style())


Column = Mapping[Bin, str]


def _grid(task: str, records: Sequence[Result], by: Lengths, style: Style) -> Grid:
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


def _row(each: Bin, columns: Iterable[Column]) -> Row:
    return Row(str(each), "", tuple(Cell(column.get(each, "")) for column in columns))


def _counts(points: Sequence[Point]) -> Column:
    return {point.bin: str(point.count) for point in points}


def _accuracies(points: Sequence[Point], style: Style) -> Column:
    return {point.bin: _accuracy(point, style) for point in points}


def _accuracy(point: Point, style: Style) -> str:
    text = f"{100 * point.mean:.1f}"
    if point.deviation is not None:
        text += f" ± {100 * point.deviation:.1f}"
    if style.intervals and point.interval is not None:
        text += f" [{100 * point.interval.low:.1f}, {100 * point.interval.high:.1f}]"
    return text


def _norms(points: Sequence[Point]) -> Column:
    return {p.bin: f"{_digits(p.mean, 4)} ± {_digits(p.deviation or 0.0, 2)}" for p in points}


def _digits(value: float, count: int) -> str:
    """Write so many significant digits, zeros at the end too."""
    return f"{value:#.{count}g}".removesuffix(".")
