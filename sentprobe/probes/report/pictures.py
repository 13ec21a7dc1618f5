"""The pictures of a page: which of them given results allow, and what is in each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from sentprobe.errors import UsageError, visible
from sentprobe.lengths import Bin, Lengths
from sentprobe.probes.geometry import tables as geometry_tables
from sentprobe.probes.geometry.draws import GeometryTable, accuracy_of, by_cell
from sentprobe.probes.geometry.measures import Nearness, NegativeKind
from sentprobe.probes.report import panels as pn
from sentprobe.probes.report.curve_plots import axis_of
from sentprobe.probes.report.curves import HELD_OUT, Curve, columns_of, title_of
from sentprobe.probes.report.draws import draws_of
from sentprobe.probes.report.figures import Figure, figure_of
from sentprobe.probes.report.plots import families, tasks_with_series
from sentprobe.probes.report.series import SeriesPoint, accuracy_by_length, norm_by_length
from sentprobe.probes.report.standings import Standings
from sentprobe.probes.runs.learning_curve import LearningCurve
from sentprobe.probes.runs.results import Condition, Result, Results
from sentprobe.probes.statistics import take_apart

MOST = 12
"""So many encoders are drawn as lines, the best."""

ENCODERS = pn.PagePicture(
    title="Accuracy by task",
    caption="A dot is an accuracy in percent, its line the 95% interval. Filled: tied with the "
    "best of the task. Dotted: what is to be above, a bag of words of the same width where "
    "words alone tell something, else chance.",
)
LAYERS = pn.PagePicture(
    title="Accuracy by layer",
    caption="Accuracy of the probe by layer, in percent, with its 95% interval. Dotted: chance, "
    "the share of the commonest label. Layer 0 is the embeddings.",
)
LENGTHS = pn.PagePicture(
    title="Accuracy and norm by sentence length",
    caption="Accuracy of the probe on the test items of each length, in percent, with its 95% "
    "interval; dotted: chance, the share of the commonest label among all test items. The "
    "mean norm of the encoder's vectors, as it gave them, of all different sentences of "
    "each length, and one standard deviation to either side. Of several draws: the mean, "
    f"and the interval is Student's t over them. Of more than {MOST} encoders, those are "
    "drawn that are best on average.",
)
CONTRASTS = pn.PagePicture(
    title="Accuracy by contrast",
    caption="How often the positive is nearer to the anchor than the negative, in percent, with "
    "its 95% interval; of several draws, their mean. Dotted: chance, and what a bag of "
    "words has in the positive's form where both are of the same words.",
    of_encoders=False,
)
MOMENTS = pn.PagePicture(
    title="Accuracy by step",
    caption="Accuracy by step of training, in percent, with its 95% interval. Dotted: chance.",
)


def encoders_by_task(results: Results, found: Standings) -> pn.PagePicture:
    """Return the picture that there always is: a panel for each task, a row for each encoder."""
    controls = [standing.control for standing in found.values()]
    lows = [standing.figure.interval.low for standing in found.values()]
    low = pn.floor_of(100 * share for share in (*controls, *lows))
    panels = (_task_panel(task, results.encoders, found, low) for task in results.tasks)
    return replace(ENCODERS, panels=tuple(panels))


def _task_panel(task: str, encoders: Sequence[str], found: Standings, low: float) -> pn.DotPanel:
    here = {name: found[name, task] for name in encoders if (name, task) in found}
    rows = (
        pn.DotRow(visible(name), (_dot(each.figure, hollow=each.group > 1),), 100 * each.control)
        for name, each in here.items()
    )
    return pn.DotPanel(title=visible(task), rows=tuple(rows), low=low)


def _dot(figure: Figure, *, hollow: bool) -> pn.Dot:
    return pn.Dot(
        value=100 * figure.accuracy,
        low=100 * figure.interval.low,
        high=100 * figure.interval.high,
        hollow=hollow,
    )


def layers(results: Results) -> Iterator[pn.PagePicture]:
    """Yield the picture of accuracies by layer, where there are models with several."""
    models = families(results)
    if not models:
        return
    marks = pn.marks_of(models)
    records = [record for own in models.values() for record in own]
    low = pn.floor_of(100 * share for each in records for share in (each.accuracy, each.majority))
    panels = [
        pn.LinePanel(
            title=visible(task),
            across="layer",
            up="accuracy (%)",
            lines=tuple(_of_layers(results, models, task, marks)),
            low=low,
            high=100,
            named=len(marks) <= pn.NAMED,
            references=chances(each for each in records if each.task == task),
        )
        for task in dict.fromkeys(each.task for each in records)
    ]
    yield replace(LAYERS, panels=tuple(panels), legend=pn.legend_of(marks))


def _of_layers(
    results: Results, models: Mapping[str, Sequence[Result]], task: str, marks: Mapping[str, int]
) -> Iterator[pn.Line]:
    for name, records in models.items():
        own = {each.layer or 0: each for each in records if each.task == task}
        points = (_layer_point(results, own[layer]) for layer in sorted(own))
        if own:
            yield pn.Line(name=visible(name), mark=marks[name], points=tuple(points))


def _layer_point(results: Results, record: Result) -> pn.LinePoint:
    figure = figure_of(draws_of(results, record), Condition.PROBE)
    assert figure is not None  # a record has the score of its probe
    return pn.LinePoint(
        x=record.layer or 0,
        y=100 * figure.accuracy,
        low=100 * figure.interval.low,
        high=100 * figure.interval.high,
    )


def chances(records: Iterable[Result]) -> tuple[float, ...]:
    """Return the shares of the commonest label in percent, each once."""
    return tuple(sorted({round(100 * each.majority, 2) for each in records}))


def lengths(results: Results, by: Lengths) -> Iterator[pn.PagePicture]:
    """Yield the picture of accuracies and norms by sentence length, where lengths differ."""
    tasks = tasks_with_series(results)
    if not tasks:
        return
    marks = pn.marks_of(best((each.encoder, each.accuracy) for each in results.records))
    panels = [
        panel
        for norms in (False, True)
        for task in tasks
        for panel in _length_panels(results, task, marks, by, norms=norms)
    ]
    yield replace(LENGTHS, panels=tuple(panels), legend=pn.legend_of(marks))


def best(accuracies: Iterable[tuple[str, float]]) -> list[str]:
    """Return the names that are drawn, given each with its accuracies, in the order of the table.

    >>> best([("a", 0.5), ("b", 0.75), ("a", 0.25)])
    ['a', 'b']
    """
    by_name: dict[str, list[float]] = {}
    for name, accuracy in accuracies:
        by_name.setdefault(name, []).append(accuracy)
    drawn = sorted(by_name, key=lambda name: fmean(by_name[name]), reverse=True)[:MOST]
    return [name for name in by_name if name in drawn]


def _length_panels(
    results: Results, task: str, marks: Mapping[str, int], by: Lengths, *, norms: bool
) -> Iterator[pn.LinePanel]:
    """Yield the panel of a task, unless there is nothing to be in it."""
    found = {
        name: points for name in marks if (points := _pooled(results, name, task, by, norms=norms))
    }
    if not found:
        return
    bins = sorted({each.bin for points in found.values() for each in points}, key=_shortest)
    places = {b: b.shortest if by is Lengths.TOKENS else n for n, b in enumerate(bins)}
    scale = 1 if norms else 100
    lines = tuple(_by_length(name, found[name], marks[name], places, scale) for name in found)
    values = [point.y for line in lines for point in line.points]
    chance = () if norms else chances(r for r in results.records if r.task == task)
    yield pn.LinePanel(
        title=visible(task),
        across="tokens",
        up="norm" if norms else "accuracy (%)",
        lines=lines,
        low=_least(values) if norms else pn.floor_of((*values, *chance)),
        high=1.1 * max(values) if norms else 100,
        named=len(marks) <= pn.NAMED,
        references=chance,
        places=() if by is Lengths.TOKENS else tuple((n, str(b)) for b, n in places.items()),
        logarithmic=norms and _least(values) > 0,
    )


WIDE = 20
"""Norms that differ by this factor are drawn on a logarithmic scale."""


def _least(values: Sequence[float]) -> float:
    """Return where norms begin: at 0 or, where they differ very much, below the smallest."""
    least = min(values)
    return 0.8 * least if least > 0 and max(values) > WIDE * least else 0.0


def _shortest(each: Bin) -> int:
    return each.shortest


def _pooled(
    results: Results, encoder: str, task: str, by: Lengths, *, norms: bool
) -> list[SeriesPoint]:
    """Return the points of an encoder on a task; of several draws, their mean with its interval."""
    points: dict[Bin, list[SeriesPoint]] = {}
    for record in results.records:
        if record.cell == (encoder, task):
            own = norm_by_length(record, by=by) if norms else accuracy_by_length(record, by=by)
            for point in own:
                points.setdefault(point.bin, []).append(point)
    return [_mean_point(points[each]) for each in sorted(points, key=_shortest)]


def _mean_point(draws: Sequence[SeriesPoint]) -> SeriesPoint:
    first = draws[0]
    if len(draws) == 1:
        return first
    mean = fmean(each.mean for each in draws)
    if first.interval is None:  # a norm
        return replace(first, mean=mean, deviation=fmean(each.deviation or 0.0 for each in draws))
    return replace(first, mean=mean, interval=take_apart([[each.mean] for each in draws]).interval)


def _by_length(
    encoder: str,
    points: Sequence[SeriesPoint],
    mark: int,
    places: Mapping[Bin, float],
    scale: float,
) -> pn.Line:
    drawn = tuple(
        pn.LinePoint(x=places[each.bin], y=scale * each.mean, low=scale * low, high=scale * high)
        for each in points
        for low, high in (_ends(each),)
    )
    return pn.Line(name=visible(encoder), mark=mark, points=drawn)


def _ends(point: SeriesPoint) -> tuple[float, float]:
    if point.interval is not None:
        return point.interval.low, point.interval.high
    deviation = point.deviation or 0.0
    return point.mean - deviation, point.mean + deviation


def contrasts(table: GeometryTable, nearness: Nearness) -> pn.PagePicture:
    """Return the picture of a table of geometry: a panel for each contrast."""
    names = geometry_tables.contrasts_of(table)
    rows = {name: tuple(_contrast_rows(table, name, nearness)) for name in names}
    dots = [dot for own in rows.values() for row in own for dot in row.dots]
    low = pn.floor_of([50.0, *(dot.low for dot in dots)])
    panels = tuple(
        pn.DotPanel(title=visible(name), rows=own, low=low) for name, own in rows.items() if own
    )
    legend = tuple((kind, mark) for mark, kind in enumerate(geometry_tables.KINDS.values()))
    return replace(CONTRASTS, panels=panels, legend=legend)


def _contrast_rows(table: GeometryTable, contrast: str, nearness: Nearness) -> Iterator[pn.DotRow]:
    there = by_cell(table)
    for encoder in geometry_tables.encoders_of(table):
        draws = there.get((encoder, contrast), [])
        found = [
            (mark, title, accuracy_of(draws, kind, nearness))
            for mark, (kind, title) in enumerate(geometry_tables.KINDS.items())
        ]
        dots = tuple(
            pn.Dot(
                value=100 * figure.mean,
                low=100 * figure.interval.low,
                high=100 * figure.interval.high,
                name=title,
                mark=mark,
            )
            for mark, title, figure in found
            if figure is not None
        )
        if dots:
            yield pn.DotRow(visible(encoder), dots, 50.0)


def moments(curve: Curve) -> pn.PagePicture:
    """Return the picture of a training: a panel for probes, and for each kind of negative.

    The last is of what it is trained to do, if that is known.
    """
    try:
        axis = axis_of(curve)
    except UsageError as error:
        return replace(MOMENTS, missing=str(error))
    marks = pn.marks_of(columns_of(curve))
    panels = tuple(_moment_panel(curve, kind, axis, marks) for kind in curve.kinds)
    if curve.learned:
        panels = (*panels, _learned_panel(curve.learned, axis))
    return replace(MOMENTS, panels=panels, legend=pn.legend_of(marks))


def _moment_panel(
    curve: Curve, kind: NegativeKind | None, axis: str, marks: Mapping[str, int]
) -> pn.LinePanel:
    named = [(n, line) for n, own in columns_of(curve).items() for line in own if line.kind is kind]
    lines = tuple(
        pn.Line(
            name=visible(name),
            mark=marks[name],
            points=tuple(
                pn.LinePoint(
                    x=getattr(point, axis),
                    y=100 * point.accuracy,
                    low=100 * point.interval.low,
                    high=100 * point.interval.high,
                )
                for point in curve.lines[line]
            ),
        )
        for name, line in named
    )
    chances = sorted({100 * line.chance for _, line in named})
    values = [point.y for line in lines for point in line.points]
    return pn.LinePanel(
        title=title_of(kind),
        across=axis,
        up="accuracy (%)",
        lines=lines,
        low=pn.floor_of((*values, *chances)),
        high=100,
        named=len(marks) <= pn.NAMED,
        references=tuple(chances),
    )


def _learned_panel(learned: LearningCurve, axis: str) -> pn.LinePanel:
    values = [learned.shown(point) for point in learned.points]
    places = [getattr(point, axis) for point in learned.points]
    points = (pn.LinePoint(x=x, y=y, low=y, high=y) for x, y in zip(places, values, strict=True))
    return pn.LinePanel(
        title=HELD_OUT,
        across=axis,
        up=learned.told,
        lines=(pn.Line(name=learned.metric, mark=0, points=tuple(points)),),
        low=0,
        high=max(values) or 1,
        named=False,
    )
