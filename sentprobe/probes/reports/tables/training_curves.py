"""Training curves: an encoder's accuracies on probing tasks and on triplets, at each checkpoint of its training."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import TypeAlias

from sentprobe.common.errors import UsageError
from sentprobe.common.tables import Grid, GridCell, GridRow, ShownTable
from sentprobe.common.values import group_by
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.probes.results.records import TrainingCurve
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.similarity.distance_results import ALL_TRIPLETS, GeometryResult
from sentprobe.probes.similarity.distance_tables import KIND_TITLES
from sentprobe.probes.similarity.measures import NegativeKind
from sentprobe.probes.statistics import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveSeries:
    """The key of a line in ``Curve.lines``. A line belongs to a probing task, or to a contrast and kind of negative."""

    name: str
    kind: NegativeKind | None
    """The kind of negative in triplets; None if the line is the accuracy of probes."""
    identity: tuple[object, ...]
    """The data and the classifier, which distinguish lines with the same name."""
    chance: float
    measured: str


TrainingMoment: TypeAlias = tuple[int | None, float | None]
"""A point in training: (step, epoch). An unknown value is None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepAccuracy:
    """An accuracy at one point in training, with its 95% interval."""

    step: int | None
    epoch: float | None
    accuracy: float
    interval: Interval

    @property
    def moment(self) -> TrainingMoment:
        return self.step, self.epoch


@dataclass(frozen=True, slots=True)
class Curve:
    """All accuracies of one encoder during its training, for one seed of the data and one results folder."""

    name: str
    seed: int
    source: str
    lines: dict[CurveSeries, list[StepAccuracy]]
    learned: TrainingCurve | None = None
    versions: tuple[Mapping[str, str], ...] = ()

    @property
    def moments(self) -> list[TrainingMoment]:
        """The distinct points in training, sorted."""
        moments = dict.fromkeys(point.moment for points in self.lines.values() for point in points)
        return sorted(moments, key=_sort_key)

    @property
    def kinds(self) -> list[NegativeKind | None]:
        """The distinct kinds of negatives in ``lines``. None stands for accuracies of probes, and comes first."""
        present = {line.kind for line in self.lines}
        return [kind for kind in (None, *NegativeKind) if kind in present]


CurveKey = tuple[str, int, str]
"""A key: (name of the trained encoder, seed of the data, results folder)."""


def _get_curve_key(result: Result | GeometryResult) -> CurveKey:
    seed = result.seed if isinstance(result, Result) else result.drawing.seed
    return (result.family or result.encoder, seed, result.source)


def separate_training_curves(
    results: Results, distances: Sequence[GeometryResult], learned: Sequence[TrainingCurve]
) -> tuple[Results, tuple[GeometryResult, ...], tuple[Curve, ...]]:
    """Return the probe results that are in no curve, the geometry results that are in no curve, and all curves."""
    moments: dict[CurveKey, set[TrainingMoment]] = {}
    all_results: list[Result | GeometryResult] = [*results.records, *distances]
    for result in all_results:
        if result.step is not None or result.epoch is not None:
            moments.setdefault(_get_curve_key(result), set()).add((result.step, result.epoch))
    # One checkpoint is no curve: its results stay in the tables.
    keys = {key for key, distinct_moments in moments.items() if len(distinct_moments) > 1}
    probed = group_by(results.records, lambda result: _get_curve_key(result) in keys)
    in_geometry = group_by(distances, lambda result: _get_curve_key(result) in keys)
    curves = build_curves(probed.get(True, ()), in_geometry.get(True, ()), learned)
    return Results(tuple(probed.get(False, ()))), tuple(in_geometry.get(False, ())), curves


def build_curves(
    probed: Iterable[Result], distances: Iterable[GeometryResult] = (), learned: Iterable[TrainingCurve] = ()
) -> tuple[Curve, ...]:
    """Build a curve for each encoder, seed and results folder; *learned*: scores on encoders' training objectives."""
    curves: dict[CurveKey, dict[CurveSeries, list[StepAccuracy]]] = {}
    versions: dict[CurveKey, list[Mapping[str, str]]] = {}
    ranks = {contrast: rank for rank, contrast in enumerate(CONTRASTS)}
    # Contrasts in the order of the registry; unknown ones last.
    ranked = sorted(distances, key=lambda result: ranks.get(result.contrast, len(ranks)))
    results: list[Result | GeometryResult] = [*probed, *ranked]
    for result in results:
        key = _get_curve_key(result)
        lines = curves.setdefault(key, {})
        for series, accuracy, interval in _list_accuracies(result):
            point = StepAccuracy(step=result.step, epoch=result.epoch, accuracy=accuracy, interval=interval)
            lines.setdefault(series, []).append(point)
        versions.setdefault(key, []).append(result.versions)
    for lines in curves.values():
        for points in lines.values():
            points.sort(key=lambda point: _sort_key(point.moment))
    held_out = {(curve.family, curve.seed, curve.source): curve for curve in learned}
    return tuple(
        Curve(
            *key,
            lines,
            learned=held_out.get(key),
            versions=tuple({tuple(packages.items()): packages for packages in versions[key]}.values()),
        )
        for key, lines in sorted(curves.items())
    )


def _list_accuracies(result: Result | GeometryResult) -> Iterator[tuple[CurveSeries, float, Interval]]:
    if isinstance(result, Result):
        score = result.scores[Condition.PROBE]
        identity = result.dataset_fingerprint, str(result.preset), result.probe_vectors
        measured = f"a probe ({result.preset.name}) on {score.total} test items"
        series = CurveSeries(name=result.task, kind=None, identity=identity, chance=result.majority, measured=measured)
        yield series, score.accuracy, score.interval
        return
    measured = f"the positive is nearer by cosine, in {result.drawing.n} triplets"
    for kind in NegativeKind:
        series = CurveSeries(
            name=result.contrast, kind=kind, identity=(result.material,), chance=0.5, measured=measured
        )
        distances = result.find_by_group(kind)[ALL_TRIPLETS]
        yield series, distances.accuracy, distances.accuracy_interval


def build_curve_tables(curves: Sequence[Curve], *, intervals: bool) -> Iterator[ShownTable]:
    """Yield the table of each curve as (title, grid, notes)."""
    seeds = len({curve.seed for curve in curves}) > 1
    folders = len({curve.source for curve in curves}) > 1
    for curve in curves:
        title = f"{curve.name} in training{f', seed {curve.seed}' * seeds}{f', from {curve.source}' * folders}"
        yield title, build_curve_grid(curve, intervals=intervals), describe_figures(curve)


def build_curve_grid(curve: Curve, *, intervals: bool) -> Grid:
    """Build the table of a curve: a row for each training step, a column for each task and contrast."""
    steps = any(step is not None for step, _ in curve.moments)
    epochs = any(epoch is not None for _, epoch in curve.moments)
    objective = [curve.learned.metric] if curve.learned else []
    header = ["step"] * steps + ["epoch"] * epochs + objective + [*group_columns(curve)]
    rows = [row for kind in curve.kinds for row in _build_part(curve, kind, header, intervals=intervals)]
    return Grid(tuple(header), tuple(rows))


def group_columns(curve: Curve) -> dict[str, list[CurveSeries]]:
    """Return the keys of ``curve.lines`` by column. A column is named after a task or contrast, such as "Tense".

    If two keys agree in ``name`` and ``kind``, the second key is in a column of its own, such as "Tense (2)".
    """
    columns: dict[str, list[CurveSeries]] = {}
    for line in curve.lines:
        names = chain([line.name], (f"{line.name} ({number})" for number in count(2)))
        used_names = {name for name, group in columns.items() if any(series.kind is line.kind for series in group)}
        columns.setdefault(next(name for name in names if name not in used_names), []).append(line)
    return columns


def find_axis(curve: Curve) -> str:
    """Return "step" or, if some steps are unknown, "epoch"; raise UsageError if some epochs are unknown, too."""
    for axis, values in zip(("step", "epoch"), zip(*curve.moments, strict=True), strict=True):
        if None not in values:
            return axis
    raise UsageError(f"{curve.name} cannot be drawn: some of its results lack the step, and some lack the epoch")


def describe_kind(kind: NegativeKind | None) -> str:
    """Return the heading for a kind of negative: "accuracy, " and its title. For None: "accuracy of probes"."""
    return "accuracy of probes" if kind is None else f"accuracy, {KIND_TITLES[kind]}"


def _build_part(
    curve: Curve, kind: NegativeKind | None, header: Sequence[str], *, intervals: bool
) -> Iterator[GridRow]:
    title = describe_kind(kind)
    if len(curve.kinds) > 1:
        yield GridRow(title, title, (GridCell(""),) * (len(header) - 1), heading=True)
    columns = group_columns(curve)
    lines = [next((series for series in columns[n] if series.kind is kind), None) for n in columns]
    learned = curve.learned if kind is curve.kinds[0] else None  # the first part has the training objective, too
    known_steps = {step for step, _ in curve.moments}
    validations = [point for point in (learned.points if learned else ()) if point.step not in known_steps]
    moments: list[TrainingMoment] = [*curve.moments, *((point.step, point.epoch) for point in validations)]
    for step, epoch in sorted(moments, key=_sort_key):
        points = [
            next((p for p in curve.lines[line] if p.moment == (step, epoch)), None) if line else None for line in lines
        ]
        validation = learned.find_point(step) if learned else None
        objective = f"{learned.to_display_value(validation):.1f}" if learned and validation else ""
        if objective or any(points):
            cells = {"step": format_number(step), "epoch": format_number(epoch)}
            label, *first = (cells[name] for name in header[:2] if name in cells)
            objective_cells = [objective] if curve.learned else []
            texts = [*first, *objective_cells, *(_format_point(point, intervals=intervals) for point in points)]
            yield GridRow(label, title, tuple(map(GridCell, texts)))


def _sort_key(moment: TrainingMoment) -> tuple[float, float]:
    step, epoch = moment
    return (-1 if step is None else step, -1 if epoch is None else epoch)


def format_number(number: float | None) -> str:
    """Return a number as text with up to ten digits, or "-" for None."""
    return "-" if number is None else f"{number:.10g}"


def _format_point(point: StepAccuracy | None, *, intervals: bool) -> str:
    if point is None:
        return ""
    low, high = 100 * point.interval.low, 100 * point.interval.high
    return f"{100 * point.accuracy:.1f}" + (f" [{low:.1f}, {high:.1f}]" if intervals else "")


def describe_figures(curve: Curve) -> str:
    """Return the notes below a curve's table: measures, chance and seed."""
    columns = group_columns(curve)
    names_by_measure = group_by(columns, lambda name: (columns[name][0].measured, columns[name][0].chance))
    parts = "; ".join(f"{', '.join(n)}: {text}, chance {100 * p:.1f}" for (text, p), n in names_by_measure.items())
    sentences = [f"Accuracy in %, seed {curve.seed}. {parts}."]
    if len(columns) > len({line.name for line in curve.lines}):
        sentences.append("Columns with the same name differ in data or classifier.")
    if curve.learned:
        sentences.append(f"{curve.learned.label}: on held-out text.")
    if None in curve.kinds:
        sentences.append("These probes have no controls; probe run trains controls.")
    return "".join(f"{line}\n" for line in sentences)
