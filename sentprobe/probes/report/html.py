"""A report on results as one HTML page: tables, sanity runs, verdicts, plots."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from markupsafe import Markup

from sentprobe.errors import UsageError
from sentprobe.lengths import Lengths
from sentprobe.probes.geometry.draws import geometry_tables
from sentprobe.probes.geometry.results import GeometryResult
from sentprobe.probes.report.curve_plots import draw_curve
from sentprobe.probes.report.curves import Curve, curve_tables
from sentprobe.probes.report.dots import draw_dots
from sentprobe.probes.report.draws import in_draws
from sentprobe.probes.report.geometry import geometry_sections
from sentprobe.probes.report.methods import method_tables
from sentprobe.probes.report.plots import (
    draw_layers,
    draw_series,
    families,
    tasks_with_series,
    to_svg,
)
from sentprobe.probes.report.sanity import SanityRun, sanity_runs, verdicts
from sentprobe.probes.report.tables import (
    CellStyle,
    classifiers,
    describe,
    grid,
    of_papers,
    trained,
)
from sentprobe.probes.report.view import template, titled
from sentprobe.probes.runs.results import Made, Results, makings
from sentprobe.probes.trainer.presets import short_name
from sentprobe.table_writers import Grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSection:
    """What the page says of one setting."""

    title: str
    grid: Grid
    notes: tuple[str, ...]
    verdicts: tuple[str, ...]
    runs: tuple[SanityRun, ...]
    plots: tuple["Plot", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A picture as SVG, or why there is none where one would be."""

    title: str
    caption: str
    svg: Markup | None = None
    missing: str = ""


LAYERS = Plot(
    title="Accuracy by layer",
    caption="Accuracy of the probe by layer, in percent: the mean over seeds, with its 95% "
    "interval (shaded). Dotted: chance, the share of the commonest label. Layer 0 is the "
    "embeddings.",
)
LENGTHS = Plot(
    title="Accuracy and norm by sentence length",
    caption="Left: accuracy of the probe on the test items of each length, in percent: the mean "
    "over seeds, with its 95% interval (shaded). Dotted: chance, the share of the commonest label "
    "among all test items. Right: the mean norm of the encoder's vectors, as it gave them, of all "
    "different sentences of each length, and one standard deviation to either side (shaded).",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceSection:
    """What the page says of one table of geometry."""

    title: str
    grid: Grid
    notes: tuple[str, ...]
    plot: Plot


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveSection:
    """What the page says of one training."""

    title: str
    grid: Grid
    notes: tuple[str, ...]
    plot: Plot


DOTS = Plot(
    title="Accuracy by contrast",
    caption="How often the positive is nearer to the anchor than the negative, by cosine, in "
    "percent, with its 95% interval; of several draws, their mean. Dotted: chance, and what a bag "
    "of words has in the positive's form where both are of the same words.",
)
STEPS = Plot(
    title="Accuracy by step",
    caption="Accuracy by step of training, in percent, with its 95% interval (shaded). Dotted: "
    "chance.",
)


def report(
    results: Results,
    distances: Sequence[GeometryResult] = (),
    *,
    style: CellStyle | None = None,
    by: Lengths = Lengths.BINS,
    curves: Sequence[Curve] = (),
) -> str:
    """Return the page; all texts are escaped.

    It loads nothing from elsewhere. *distances* are results of geometry, whose part comes last but
    for *curves*. *by* says how lengths of sentences are put together in plots.
    """
    sections = [
        _section(each, style, title=title, folders=folders, by=by)
        for title, each, folders in titled(results)
    ]
    made: list[Made | GeometryResult] = [
        *(made for record in results.records for made in makings(record)),
        *distances,
    ]
    return template("report.html.j2").render(
        sections=sections,
        distances=tuple(_distances(results, distances, style or CellStyle())),
        curves=tuple(_curves(curves, style or CellStyle())),
        methods=tuple(method_tables(results)),
        classifiers=tuple(classifiers(results)),
        versions=dict.fromkeys(
            _told(each)
            for each in (*(m.versions for m in made), *(v for c in curves for v in c.versions))
        ),
        commands=dict.fromkeys(each.command for each in made if each.command),
    )


def _distances(
    results: Results, distances: Sequence[GeometryResult], style: CellStyle
) -> Iterator[DistanceSection]:
    shown = geometry_sections(distances, results, intervals=style.intervals)
    for (title, table, notes), own in zip(shown, geometry_tables(distances), strict=True):
        yield DistanceSection(
            title=title[:1].upper() + title[1:],
            grid=table,
            notes=tuple(notes.splitlines()),
            plot=_plot(DOTS, partial(draw_dots, own)),
        )


def _curves(curves: Sequence[Curve], style: CellStyle) -> Iterator[CurveSection]:
    tables = curve_tables(curves, intervals=style.intervals)
    for curve, (title, table, notes) in zip(curves, tables, strict=True):
        yield CurveSection(
            title=title,
            grid=table,
            notes=tuple(notes.splitlines()),
            plot=_plot(STEPS, partial(draw_curve, curve)),
        )


def _told(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _section(
    results: Results, style: CellStyle | None, *, title: str, folders: tuple[str, ...], by: Lengths
) -> ReportSection:
    presets = dict.fromkeys(map(short_name, trained(results)))
    named = (f"classifier: {' and '.join(presets)}",) if presets else ()
    return ReportSection(
        title=title,
        grid=grid(results, style=style),
        notes=(*folders, *named, *describe(results), *of_papers(results, style)),
        verdicts=tuple(verdicts(results)),
        runs=sanity_runs(results),
        plots=tuple(_plots(results, by)),
    )


def _plots(results: Results, by: Lengths) -> Iterator[Plot]:
    """Yield the plots of each draw."""
    draws = in_draws(results)
    for draw in draws:
        of = f", seed {draw.records[0].seed}" if len(draws) > 1 else ""
        if families(draw):
            yield _plot(replace(LAYERS, title=LAYERS.title + of), partial(draw_layers, draw))
        if tasks_with_series(draw):
            title = LENGTHS.title + of
            yield _plot(replace(LENGTHS, title=title), partial(draw_series, draw, by=by))


def _plot(empty: Plot, draw: "Callable[[], Figure]") -> Plot:
    try:
        svg = to_svg(draw())
    except UsageError as error:
        return replace(empty, missing=str(error))
    return replace(empty, svg=Markup(svg[svg.index("<svg") :]))  # made here, from escaped texts
