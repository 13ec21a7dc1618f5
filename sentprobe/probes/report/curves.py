"""Results at the steps of a training as curves: a table by step for each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sentprobe.generator.contrasts import CONTRASTS
from sentprobe.probes.geometry.measures import NegativeKind
from sentprobe.probes.geometry.results import WHOLE, GeometryResult
from sentprobe.probes.geometry.tables import KINDS
from sentprobe.probes.report.view import ShownTable
from sentprobe.probes.runs.learning_curve import LearningCurve
from sentprobe.probes.runs.results import Condition, Result, Results
from sentprobe.probes.statistics import Interval
from sentprobe.table_writers import Grid, GridCell, GridRow

PROBES = "accuracy of probes"
"""What stands above the rows of tasks."""

HELD_OUT = "what it is trained to do"
"""What stands above the figures of a training itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveLine:
    """Of what a figure is: a probe's task, or a kind of negative of a contrast, and its data."""

    name: str
    kind: NegativeKind | None
    """None: it is a probe's."""
    made: tuple[object, ...]
    """What tells it from others of the name: the data, and the classifier."""
    chance: float
    measured: str
    """What was done with how many items."""


CurveMoment: TypeAlias = tuple[int | None, float | None]
"""A step and an epoch, as far as they are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """An accuracy at one moment of training, with its 95% interval."""

    step: int | None
    epoch: float | None
    accuracy: float
    interval: Interval

    @property
    def at(self) -> tuple[float, float]:
        """What points are in order of: the step, then the epoch; what is not known is first."""
        return _place((self.step, self.epoch))


@dataclass(frozen=True, slots=True)
class Curve:
    """All that was measured of one encoder in training, of one seed and folder."""

    name: str
    seed: int
    source: str
    lines: dict[CurveLine, list[CurvePoint]]
    """Of each line its points, in order."""
    learned: LearningCurve | None = None
    """How well it did what it was trained to do; None: nothing says."""
    versions: tuple[Mapping[str, str], ...] = ()
    """Of the packages that made its results, each once."""

    @property
    def moments(self) -> list[CurveMoment]:
        """Each step and epoch once, in order."""
        points = sorted((p for each in self.lines.values() for p in each), key=lambda p: p.at)
        return list(dict.fromkeys((point.step, point.epoch) for point in points))

    @property
    def kinds(self) -> list[NegativeKind | None]:
        """The kinds of its lines, each once: probes first."""
        there = {line.kind for line in self.lines}
        return [kind for kind in (None, *NegativeKind) if kind in there]

    def of_kind(self, kind: NegativeKind | None) -> list[CurveLine]:
        """Return the lines of one kind."""
        return [line for line in self.lines if line.kind is kind]


CurveKey = tuple[str, int, str]
"""Of what a curve is: a family of encoders, the seed of the data, and the results' folder."""


def _key(result: Result | GeometryResult) -> CurveKey:
    seed = result.seed if isinstance(result, Result) else result.drawing.seed
    return (result.family or result.encoder, seed, result.source)


def _in_training(results: Iterable[Result | GeometryResult]) -> frozenset[CurveKey]:
    """Return of what there are several moments of a training; one alone is no curve."""
    moments: dict[CurveKey, set[CurveMoment]] = {}
    for each in results:
        if each.step is not None or each.epoch is not None:
            moments.setdefault(_key(each), set()).add((each.step, each.epoch))
    return frozenset(key for key, several in moments.items() if len(several) > 1)


@dataclass(frozen=True, slots=True)
class InTraining:
    """Results, and those among them that are of encoders at several moments of a training."""

    plain: Results
    still: tuple[GeometryResult, ...]
    """Those of distances that are in no training."""
    curves: "tuple[Curve, ...]"


def apart(
    results: Results,
    measured: Sequence[GeometryResult] = (),
    learned: Sequence[LearningCurve] = (),
) -> InTraining:
    """Tell results of encoders in training, as curves, from those of others."""
    keys = _in_training([*results.records, *measured])
    parts: tuple[list[Result], list[Result]] = ([], [])
    for record in results.records:
        parts[_key(record) in keys].append(record)
    return InTraining(
        plain=Results(tuple(parts[0])),
        still=tuple(each for each in measured if _key(each) not in keys),
        curves=curves_of(parts[1], [each for each in measured if _key(each) in keys], learned),
    )


def curves_of(
    probed: Iterable[Result],
    measured: Iterable[GeometryResult] = (),
    learned: Iterable[LearningCurve] = (),
) -> tuple[Curve, ...]:
    """Return the curves of results in training, of probes and of distances, in order of name."""
    curves: dict[CurveKey, dict[CurveLine, list[CurvePoint]]] = {}
    versions: dict[CurveKey, list[Mapping[str, str]]] = {}
    for record in probed:
        key = _key(record)
        lines = curves.setdefault(key, {})
        lines.setdefault(_probe_line(record), []).append(_probe_point(record))
        versions.setdefault(key, []).append(record.versions)
    for found in sorted(measured, key=_by_contrast):
        key = _key(found)
        lines = curves.setdefault(key, {})
        for kind in NegativeKind:
            lines.setdefault(_distance_line(found, kind), []).append(_distance_point(found, kind))
        versions.setdefault(key, []).append(found.versions)
    for lines in curves.values():
        for points in lines.values():
            points.sort(key=lambda point: point.at)
    held_out = {(each.family, each.seed, each.source): each for each in learned}
    return tuple(
        Curve(*key, lines, learned=held_out.get(key), versions=_distinct(versions[key]))
        for key, lines in sorted(curves.items())
    )


def _distinct(found: Iterable[Mapping[str, str]]) -> tuple[Mapping[str, str], ...]:
    return tuple({tuple(each.items()): each for each in found}.values())


def _by_contrast(found: GeometryResult) -> int:
    return [*CONTRASTS, found.contrast].index(found.contrast)


def _probe_line(record: Result) -> CurveLine:
    total = record.scores[Condition.PROBE].total
    return CurveLine(
        name=record.task,
        kind=None,
        made=(record.dataset_fingerprint, str(record.preset), record.probe_vectors),
        chance=record.majority,
        measured=f"a probe ({record.preset.name}) on {total} test items",
    )


def _probe_point(record: Result) -> CurvePoint:
    score = record.scores[Condition.PROBE]
    return CurvePoint(
        step=record.step, epoch=record.epoch, accuracy=score.accuracy, interval=score.interval
    )


def _distance_line(found: GeometryResult, kind: NegativeKind) -> CurveLine:
    return CurveLine(
        name=found.contrast,
        kind=kind,
        made=(found.material,),
        chance=0.5,
        measured=f"the positive is nearer by cosine, in {found.drawing.n} triplets",
    )


def _distance_point(found: GeometryResult, kind: NegativeKind) -> CurvePoint:
    whole = found.find(kind)[WHOLE]
    return CurvePoint(
        step=found.step,
        epoch=found.epoch,
        accuracy=whole.accuracy,
        interval=whole.accuracy_interval,
    )


def curve_tables(curves: Sequence[Curve], *, intervals: bool) -> Iterator[ShownTable]:
    """Yield a table for each curve: a row for each step, a column for each task and contrast."""
    for curve in curves:
        yield curve_title(curve, curves), curve_grid(curve, intervals=intervals), explain(curve)


def curve_title(curve: Curve, curves: Sequence[Curve]) -> str:
    """Return what stands above a curve: its name and, where others differ, its seed and folder."""
    seeds = len({each.seed for each in curves}) > 1
    folders = len({each.source for each in curves}) > 1
    told = [f"{curve.name} in training", *([f"seed {curve.seed}"] if seeds else [])]
    return ", ".join([*told, *([f"from {curve.source}"] if folders else [])])


def curve_grid(curve: Curve, *, intervals: bool = False) -> Grid:
    """Lay a curve out: a part for probes and for each kind of negative, a row for each step."""
    names = columns_of(curve)
    steps = any(step is not None for step, _ in curve.moments)
    epochs = any(epoch is not None for _, epoch in curve.moments)
    first = [*(["step"] if steps else []), *(["epoch"] if epochs else [])]
    header = [*first, *([curve.learned.metric] if curve.learned else []), *names]
    rows = [row for kind in curve.kinds for row in _part(curve, kind, header, intervals)]
    return Grid(tuple(header), tuple(rows))


def columns_of(curve: Curve) -> dict[str, list[CurveLine]]:
    """Return the columns: the lines of one name; where there are two of a kind, they have numbers.

    Two of one name are of other data, or other classifiers.
    """
    columns: dict[str, list[CurveLine]] = {}
    for line in curve.lines:
        place = next(
            name
            for name in _numbered(line.name)
            if all(other.kind is not line.kind for other in columns.get(name, ()))
        )
        columns.setdefault(place, []).append(line)
    return columns


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name} ({number})"
        number += 1


def title_of(kind: NegativeKind | None) -> str:
    """Return what the lines of a kind are."""
    return PROBES if kind is None else f"accuracy, {KINDS[kind]}"


def _part(
    curve: Curve,
    kind: NegativeKind | None,
    header: Sequence[str],
    intervals: bool,  # noqa: FBT001
) -> Iterator[GridRow]:
    title = title_of(kind)
    if len(curve.kinds) > 1:
        yield GridRow(title, title, (GridCell(""),) * (len(header) - 1), heading=True)
    columns = columns_of(curve)
    lines = [next((e for e in columns[n] if e.kind is kind), None) for n in columns]
    for step, epoch in _rows(curve, kind):
        found = [_find(curve, line, (step, epoch)) for line in lines]
        learned = _learned(curve, step, kind)
        if learned or any(found):
            told = {"step": _told(step), "epoch": _told(epoch)}
            label, *first = (told[name] for name in header[:2] if name in told)
            own = [learned] if curve.learned else []
            texts = [*first, *own, *(_shown(point, intervals=intervals) for point in found)]
            yield GridRow(label, title, tuple(map(GridCell, texts)))


def _rows(curve: Curve, kind: NegativeKind | None) -> list[CurveMoment]:
    """Return the moments of a part: in the first, those of validations, too."""
    if curve.learned is None or kind is not curve.kinds[0]:
        return curve.moments
    known = {step for step, _ in curve.moments}
    own = [(each.step, each.epoch) for each in curve.learned.points if each.step not in known]
    return sorted([*curve.moments, *own], key=_place)


def _place(moment: CurveMoment) -> tuple[float, float]:
    """Return what moments are in order of; what is not known is first."""
    step, epoch = moment
    return (-1 if step is None else step, -1 if epoch is None else epoch)


def _find(curve: Curve, line: CurveLine | None, moment: CurveMoment) -> CurvePoint | None:
    points = curve.lines[line] if line else ()
    return next((each for each in points if (each.step, each.epoch) == moment), None)


def _learned(curve: Curve, step: int | None, kind: NegativeKind | None) -> str:
    """Return the figure of what is held out, in the first part; empty: none was found there."""
    learned = curve.learned if kind is curve.kinds[0] else None
    point = learned.at(step) if learned else None
    return f"{learned.shown(point):.1f}" if learned and point else ""


def _told(number: float | None) -> str:
    return "-" if number is None else f"{number:.10g}"


def _shown(point: CurvePoint | None, *, intervals: bool) -> str:
    if point is None:
        return ""
    low, high = 100 * point.interval.low, 100 * point.interval.high
    return f"{100 * point.accuracy:.1f}" + (f" [{low:.1f}, {high:.1f}]" if intervals else "")


def explain(curve: Curve) -> str:
    """Return the lines below the table: of what the figures are, and what chance is."""
    columns = columns_of(curve)
    told: dict[str, list[str]] = {}
    for name, lines in columns.items():
        text = f"{lines[0].measured}, chance {100 * lines[0].chance:.1f}"
        told.setdefault(text, []).append(name)
    parts = "; ".join(f"{', '.join(names)}: {text}" for text, names in told.items())
    said = [f"Accuracy in %, seed {curve.seed}. {parts}."]
    if len(columns) > len({line.name for line in curve.lines}):
        said.append("Columns of one name are of other data, or of another classifier.")
    if curve.learned:
        said.append(f"{curve.learned.told}: of what the training held out.")
    if None in curve.kinds:
        said.append("Probes have no sanity runs here; probe run makes them.")
    return "".join(f"{line}\n" for line in said)
