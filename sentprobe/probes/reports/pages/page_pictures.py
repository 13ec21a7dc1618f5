"""Plots of results: accuracy by task, layer, sentence length, contrast and training step."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from statistics import fmean
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import Lengths
from sentprobe.common.values import group_by
from sentprobe.probes.reports.pages import panels as pn
from sentprobe.probes.reports.pages.length_series import SeriesPoint, accuracy_by_length, norm_by_length
from sentprobe.probes.reports.table_findings import Standings, find_table
from sentprobe.probes.reports.tables import training_curves
from sentprobe.probes.results.records import TrainingCurve
from sentprobe.probes.results.result import Result, Results
from sentprobe.probes.similarity import distance_tables as geometry_tables
from sentprobe.probes.similarity.distance_draws import GeometryTable, estimate_accuracy, group_by_cell
from sentprobe.probes.similarity.measures import Nearness, NegativeKind
from sentprobe.probes.statistics import Interval, decompose_spread

MAX_LINES = 12
WIDE_RANGE = 20
"""The axis of norms is logarithmic if the largest norm is more than this many times the smallest norm."""

TASKS = pn.ResultPicture(
    title="Accuracy by task",
    caption="A dot is an accuracy in percent, and its line the 95% interval. Filled: not significantly worse than the "
    "best on the task. Dotted: the highest of the bag of words and the words and positions of the same width and "
    "the words at fixed places, if above chance; else chance.",
)
LAYERS = pn.ResultPicture(
    title="Accuracy by layer",
    caption="Accuracy of the probe by layer, in percent, with its 95% interval. Dotted: chance, "
    "the share of the most frequent label. Layer 0 is the embedding layer.",
)
POSITIONS = pn.ResultPicture(
    title="Accuracy by layer and position",
    caption="Accuracy of the probe by layer (row) and the token whose state is read (column), in percent. The deeper "
    "the colour, the further the accuracy is above chance. Bold: the 95% interval is above chance.",
)
LENGTHS = pn.ResultPicture(
    title="Accuracy and norm by sentence length",
    caption="Accuracy of the probe on the test items of each length, in percent, with its 95% interval. Dotted: "
    "chance, the share of the most frequent label in all test items. Norm: the mean over the unscaled vectors of all "
    "distinct sentences of each length, and one standard deviation to either side. Several draws: the mean and "
    f"Student's t interval. If there are more than {MAX_LINES} encoders, the best on average are drawn.",
)
CONTRASTS = pn.ResultPicture(
    title="Accuracy by contrast",
    caption="How often the positive is nearer to the anchor than the negative, in percent, with "
    "its 95% interval; for several draws, the mean. Dotted: chance, which is also "
    "the accuracy of a bag of words if both have the same words.",
    of_encoders=False,
)
TRAINING = pn.ResultPicture(
    title="Accuracy by step", caption="Accuracy by step of training, in percent, with its 95% interval. Dotted: chance."
)


def draw_task_picture(results: Results, standings: Standings) -> pn.ResultPicture:
    """Return the plot of accuracies by task, with a panel for each task and a row for each encoder."""
    controls = [standing.control for standing in standings.values()]
    lows = [standing.figure.interval.low for standing in standings.values()]
    low = pn.compute_floor(100 * share for share in (*controls, *lows))
    panels = []
    for task in results.tasks:
        rows = []
        for name in results.encoders:
            if standing := standings.get((name, task)):
                percents = pn.to_percent(standing.figure.accuracy, standing.figure.interval)
                dot = pn.Dot(*percents, hollow=standing.group > 1)
                rows.append(pn.DotRow(name, (dot,), 100 * standing.control))
        panels.append(pn.DotPanel(title=task, rows=tuple(rows), low=low))
    return replace(TASKS, panels=tuple(panels))


def find_layered_models(results: Results) -> dict[str, list[Result]]:
    """Return the results of each model with more than one probed layer, by the name of the model."""
    layers = (record for record in results.records if record.family and record.layer is not None)
    models = group_by(layers, lambda record: record.family)
    return {name: records for name, records in models.items() if len({record.layer for record in records}) > 1}


def draw_layer_pictures(results: Results) -> Iterator[pn.ResultPicture]:
    """Yield the plot of accuracies by layer, if any model has results of several layers."""
    models = find_layered_models(results)
    if not models:
        return
    records = [record for group in models.values() for record in group]
    points: dict[tuple[str, str], Points] = {}
    for record in records:
        line = points.setdefault((record.task, record.family), {})
        line[record.layer or 0] = compute_percents(results, record)
    yield draw_lines(LAYERS, points, pn.number_marks(models), x_label="layer", records=records)


def draw_position_picture(results: Results) -> Iterator[pn.ResultPicture]:
    """Yield a picture with a heat map for each task and model, if models were probed at several token positions."""
    records = [record for record in results.records if record.position and record.layer is not None]
    panels = [
        _draw_positions(results, group, title=f"{task}, {model}")
        for (task, model), group in group_by(records, lambda record: (record.task, strip_position(record))).items()
        if len({record.position for record in group}) > 1
    ]
    if panels:
        yield replace(POSITIONS, panels=tuple(panels))


def strip_position(record: Result) -> str:
    """Return a result's ``family`` (its model's name) without the token position: ``hf:m`` for ``hf:m?pool=verb``."""
    position = re.escape(record.position)
    return re.sub(rf" at {position}(?=$|,)|[?&]pool={position}$|pool={position}&", "", record.family)


def _draw_positions(results: Results, records: Sequence[Result], *, title: str) -> pn.HeatPanel:
    layers = sorted({record.layer or 0 for record in records}, reverse=True)
    positions = [*dict.fromkeys(record.position for record in records)]
    by_place = {(record.layer, record.position): record for record in records}
    chance = 100 * max(record.majority for record in records)
    empty = pn.HeatCell("", "none")

    def make_cell(layer: int, position: str) -> pn.HeatCell:
        if (record := by_place.get((layer, position))) is None:
            return empty
        share, low, high = compute_percents(results, record)
        tooltip = f"layer {layer}, {position}: {pn.Dot(share, low, high).tooltip}"
        return pn.HeatCell(f"{share:.1f}", _shade(share, chance), bold=low > chance, tooltip=tooltip)

    steps = np.linspace(100, chance, 9)
    return pn.HeatPanel(
        title=title,
        rows=tuple(f"layer {layer}" for layer in layers),
        columns=tuple(positions),
        cells=tuple(tuple(make_cell(layer, position) for position in positions) for layer in layers),
        colours=tuple((f"{step:.0f}" if step in {100, chance} else "", _shade(step, chance)) for step in steps),
    )


def _shade(percent: float, chance: float) -> str:
    """Return a cell's colour. It is transparent up to chance, then ever bluer. At 100%, text is still legible."""
    share = min(1.0, max(0.0, (percent - chance) / max(100 - chance, 1e-9)))
    return f"#0072b2{round(share * 0x99):02x}"


Points: TypeAlias = dict[int, tuple[float, float, float]]
"""The points of a line: {number on the x-axis: (accuracy, low end of its interval, high end)}, in percent."""


def draw_lines(
    picture: pn.ResultPicture,
    points: Mapping[tuple[str, str], Points],
    marks: dict[str, int],
    *,
    x_label: str,
    records: Sequence[Result],
    places: Mapping[int, float] = MappingProxyType({}),
    tick_names: Mapping[int, str] = MappingProxyType({}),
) -> pn.ResultPicture:
    """Return a line plot with a panel for each task.

    - points: the points of each line, by (task, name of the line)
    - places: the x-position of each number on the x-axis, such as its logarithm; by default, the number itself
    - tick_names: the labels of numbers on the x-axis
    """
    chance_levels = {task: compute_chance_levels(r for r in records if r.task == task) for task, _ in points}
    values = [share for line in points.values() for share, _, _ in line.values()]
    low = pn.compute_floor((*values, *(level for levels in chance_levels.values() for level in levels)))
    panels = []
    for task, levels in chance_levels.items():
        by_name = {name: points[task, name] for name in marks if (task, name) in points}
        lines = []
        for name, line in by_name.items():
            line_points = (pn.LinePoint(places.get(n, n), *percents) for n, percents in sorted(line.items()))
            lines.append(pn.Line(name=name, mark=marks[name], points=tuple(line_points)))
        numbers = sorted({number for line in by_name.values() for number in line})
        panels.append(
            pn.LinePanel(
                title=task,
                x_label=x_label,
                lines=tuple(lines),
                low=low,
                named=len(marks) <= pn.MAX_NAMED_LINES,
                references=levels,
                tick_names=tuple((places[n], tick_names[n]) for n in numbers if n in tick_names),
            )
        )
    return replace(picture, panels=tuple(panels), legend=pn.build_legend(marks))


def compute_percents(results: Results, record: Result) -> tuple[float, float, float]:
    """Return (mean accuracy over all draws, low end of its interval, high end) in percent."""
    figure = find_table(results).cells[record.cell].figure
    return pn.to_percent(figure.accuracy, figure.interval)


def compute_chance_levels(records: Iterable[Result]) -> tuple[float, ...]:
    """Return, sorted, the distinct levels of chance (shares of the most frequent label) in percent."""
    return tuple(sorted({round(100 * record.majority, 2) for record in records}))


def draw_length_pictures(results: Results, by: Lengths) -> Iterator[pn.ResultPicture]:
    """Yield one picture of accuracy and vector norm by sentence length, or none if no task has several lengths."""
    tasks = [*dict.fromkeys(record.task for record in results.records if len(set(record.lengths)) > 1)]
    if not tasks:
        return
    marks = pn.number_marks(select_best((r.encoder, r.accuracy) for r in results.records))
    kinds = [(task, norms) for norms in (False, True) for task in tasks]
    panels = (panel for task, norms in kinds for panel in _draw_lengths(results, task, marks, by, norms=norms))
    yield replace(LENGTHS, panels=tuple(panels), legend=pn.build_legend(marks))


def select_best(accuracies: Iterable[tuple[str, float]]) -> list[str]:
    """Return the names with the highest mean accuracies, at most ``MAX_LINES``, in order of their appearance."""
    by_name = group_by(accuracies, lambda pair: pair[0])
    best = sorted(by_name, key=lambda name: fmean(value for _, value in by_name[name]), reverse=True)[:MAX_LINES]
    return [name for name in by_name if name in best]


def _draw_lengths(
    results: Results, task: str, marks: Mapping[str, int], by: Lengths, *, norms: bool
) -> Iterator[pn.LinePanel]:
    series = {name: points for name in marks if (points := _pool_draws(results, name, task, by, norms=norms))}
    if not series:
        return
    bins = sorted({p.bin for points in series.values() for p in points}, key=attrgetter("shortest"))
    places = {b: b.shortest if by is Lengths.TOKENS else n for n, b in enumerate(bins)}
    scale = 1 if norms else 100
    lines = []
    for name, line in series.items():
        line_points = []
        for point in line:
            deviation = point.deviation or 0.0
            ends = point.interval or Interval(point.mean - deviation, point.mean + deviation)
            heights = (scale * height for height in (point.mean, ends.low, ends.high))
            line_points.append(pn.LinePoint(places[point.bin], *heights))
        lines.append(pn.Line(name=name, mark=marks[name], points=tuple(line_points)))
    values = [point.y for line in lines for point in line.points]
    chance = () if norms else compute_chance_levels(r for r in results.records if r.task == task)
    if norms:  # a logarithmic axis cannot begin at 0: it begins below all norms
        is_wide = max(values) > WIDE_RANGE * min(values) > 0
        low = 0.8 * min(values) if is_wide else 0.0
    else:
        low = pn.compute_floor((*values, *chance))
    yield pn.LinePanel(
        title=task,
        x_label="tokens",
        y_label="norm" if norms else pn.ACCURACY,
        lines=tuple(lines),
        low=low,
        high=1.1 * max(values) if norms else 100,
        named=len(marks) <= pn.MAX_NAMED_LINES,
        references=chance,
        tick_names=() if by is Lengths.TOKENS else tuple((n, str(b)) for b, n in places.items()),
        logarithmic=norms and low > 0,
    )


def _pool_draws(results: Results, encoder: str, task: str, by: Lengths, *, norms: bool) -> list[SeriesPoint]:
    """Return a point for each bin of lengths: that of the only draw, or the mean over draws."""
    compute = norm_by_length if norms else accuracy_by_length
    points = (p for record in results.records_by_cell.get((encoder, task), ()) for p in compute(record, by=by))
    pooled = []
    for draws in sorted(group_by(points, lambda point: point.bin).values(), key=lambda draws: draws[0].bin.shortest):
        point = draws[0]
        if len(draws) > 1:
            point = replace(point, mean=fmean(draw.mean for draw in draws))
            if norms:
                point = replace(point, deviation=fmean(draw.deviation or 0.0 for draw in draws))
            else:
                point = replace(point, interval=decompose_spread([[draw.mean] for draw in draws]).interval)
        pooled.append(point)
    return pooled


def draw_contrast_picture(table: GeometryTable, nearness: Nearness) -> pn.ResultPicture:
    """Return the plot of a geometry table, with a panel for each contrast."""
    names = geometry_tables.list_contrasts(table)
    rows = {name: tuple(_make_contrast_rows(table, name, nearness)) for name in names}
    dots = [dot for group in rows.values() for row in group for dot in row.dots]
    low = pn.compute_floor([50.0, *(dot.low for dot in dots)])
    panels = tuple(pn.DotPanel(title=name, rows=group, low=low) for name, group in rows.items() if group)
    legend = tuple((kind, mark) for mark, kind in enumerate(geometry_tables.KIND_TITLES.values()))
    return replace(CONTRASTS, panels=panels, legend=legend)


def _make_contrast_rows(table: GeometryTable, contrast: str, nearness: Nearness) -> Iterator[pn.DotRow]:
    cells = group_by_cell(table)
    for encoder in geometry_tables.list_encoders(table):
        draws = cells.get((encoder, contrast), [])
        dots = tuple(
            pn.Dot(*pn.to_percent(figure.mean, figure.interval), name=title, mark=mark)
            for mark, (kind, title) in enumerate(geometry_tables.KIND_TITLES.items())
            if (figure := estimate_accuracy(draws, kind, nearness)) is not None
        )
        if dots:
            yield pn.DotRow(encoder, dots, 50.0)


def draw_training_picture(curve: training_curves.Curve) -> pn.ResultPicture:
    """Return the plot of a training curve, with panels for probes, kinds of negatives and the training objective."""
    try:
        axis = training_curves.find_axis(curve)
    except UsageError as error:
        return replace(TRAINING, missing=str(error))
    marks = pn.number_marks(training_curves.group_columns(curve))
    panels = tuple(_draw_steps(curve, kind, axis, marks) for kind in curve.kinds)
    if curve.learned:
        panels = (*panels, _draw_objective(curve.learned, axis))
    return replace(TRAINING, panels=panels, legend=pn.build_legend(marks))


def _draw_steps(
    curve: training_curves.Curve, kind: NegativeKind | None, axis: str, marks: Mapping[str, int]
) -> pn.LinePanel:
    columns = training_curves.group_columns(curve).items()
    series_by_name = {name: series for name, group in columns for series in group if series.kind is kind}
    lines = []
    for name, series in series_by_name.items():
        points = curve.lines[series]
        line_points = (pn.LinePoint(getattr(p, axis), *pn.to_percent(p.accuracy, p.interval)) for p in points)
        lines.append(pn.Line(name=name, mark=marks[name], points=tuple(line_points)))
    chance_levels = sorted({100 * series.chance for series in series_by_name.values()})
    values = [point.y for line in lines for point in line.points]
    return pn.LinePanel(
        title=training_curves.describe_kind(kind),
        x_label=axis,
        lines=tuple(lines),
        low=pn.compute_floor((*values, *chance_levels)),
        named=len(marks) <= pn.MAX_NAMED_LINES,
        references=tuple(chance_levels),
    )


def _draw_objective(curve: TrainingCurve, axis: str) -> pn.LinePanel:
    values = [curve.to_display_value(point) for point in curve.points]
    points = [pn.LinePoint(getattr(p, axis), y, y, y) for p, y in zip(curve.points, values, strict=True)]
    return pn.LinePanel(
        title="training objective",
        x_label=axis,
        y_label=curve.label,
        lines=(pn.Line(name=curve.metric, mark=0, points=tuple(points)),),
        low=0,
        high=max(values) or 1,
        named=False,
    )
