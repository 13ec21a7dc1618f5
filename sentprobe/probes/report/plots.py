"""Plots: accuracy by layer of a model, and accuracy and norm by sentence length."""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentprobe.errors import UsageError
from sentprobe.files import atomic_path
from sentprobe.lengths import Bin, Lengths
from sentprobe.probes.report.series import SeriesPoint, accuracy_by_length, norm_by_length
from sentprobe.probes.runs.results import Condition, Result, Results
from sentprobe.progress import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SUFFIXES = (".svg", ".png", ".pdf")
"""The kinds of files that a plot is written to."""

TITLE = 75
"""As many signs of a model's name fit above its panel."""

NEEDS = "a plot needs the extra: pip install 'sentprobe[plots]'"


def families(results: Results) -> dict[str, list[Result]]:
    """Return the results of each model that has more than one layer among them."""
    found: dict[str, list[Result]] = {}
    for record in results.records:
        if record.family and record.layer is not None:
            found.setdefault(record.family, []).append(record)
    return {
        name: records
        for name, records in found.items()
        if len({record.layer for record in records}) > 1
    }


def draw_layers(results: Results) -> "Figure":
    """Draw accuracy by layer: a panel per model, a line per task with its 95% intervals.

    Raises:
        UsageError: no model has several layers here; matplotlib is not installed.
    """
    models = families(results)
    if not models:
        raise UsageError("there is nothing to plot: no encoder is one of several layers of a model")
    with empty_figure(7, 4 * len(models)) as figure:
        panels = figure.subplots(len(models), squeeze=False)[:, 0]
        for panel, (name, records) in zip(panels, models.items(), strict=True):
            _draw_model(panel, name, records)
    return figure


@contextmanager
def empty_figure(width: float, height: float) -> "Iterator[Figure]":
    """Give a figure of that size in inches to draw in, in which a $ in a name is a $.

    Raises:
        UsageError: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415 - optional, and slow
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        raise UsageError(NEEDS) from None
    figure = Figure(figsize=(width, height), layout="constrained")
    with mpl.rc_context({"text.parse_math": False}):
        yield figure


def _draw_model(panel: Any, name: str, records: list[Result]) -> None:
    for task in dict.fromkeys(record.task for record in records):
        here = sorted(
            (record for record in records if record.task == task),
            key=lambda record: record.layer or 0,
        )
        layers = [record.layer for record in here]
        scores = [record.scores[Condition.PROBE] for record in here]
        line = panel.plot(layers, [100 * s.accuracy for s in scores], marker="o", label=task)[0]
        low = [100 * score.interval.low for score in scores]
        high = [100 * score.interval.high for score in scores]
        panel.fill_between(layers, low, high, alpha=0.15, color=line.get_color(), linewidth=0)
    for chance in sorted({record.majority for record in records}):
        panel.axhline(100 * chance, color="grey", linestyle=":", linewidth=1)
    panel.set_title(shorten(name, limit=TITLE), fontsize="medium")
    panel.set(xlabel="layer", ylabel="accuracy (%)")
    panel.set_xticks(sorted({record.layer or 0 for record in records}))
    panel.legend(fontsize="small")


MARKERS = "osD^vPX*"
"""One for each line in turn, so that lines differ by more than their colour."""


def tasks_with_series(results: Results) -> list[str]:
    """Return the tasks in whose results there are test items of more than one length."""
    several = (r.task for r in results.records if len(set(r.lengths)) > 1)
    return list(dict.fromkeys(several))


def draw_series(results: Results, *, by: Lengths = Lengths.BINS) -> "Figure":
    """Draw accuracy with its 95% intervals, and mean norm with its deviation, by sentence length.

    A row of two panels for each task, a line for each encoder.

    Raises:
        UsageError: no task has sentences of several lengths; matplotlib is not installed.
    """
    tasks = tasks_with_series(results)
    if not tasks:
        raise UsageError("there is nothing to plot: no task has test sentences of several lengths")
    with empty_figure(10, 3.6 * len(tasks)) as figure:
        for panels, task in zip(figure.subplots(len(tasks), 2, squeeze=False), tasks, strict=True):
            records = [each for each in results.records if each.task == task]
            _draw_task(panels, records, by)
            panels[0].set_title(shorten(task, limit=TITLE), fontsize="medium")
    return figure


def _draw_task(panels: Sequence[Any], records: Sequence[Result], by: Lengths) -> None:
    accuracies = {each.encoder: accuracy_by_length(each, by=by) for each in records}
    norms = {each.encoder: norm_by_length(each, by=by) for each in records}
    places = _places([*accuracies.values(), *norms.values()], by)
    markers = dict(zip(accuracies, cycle(MARKERS), strict=False))
    for panel, series, scale in ((panels[0], accuracies, 100.0), (panels[1], norms, 1.0)):
        for encoder, points in series.items():
            _draw_line(panel, points, places, scale, label=encoder, marker=markers[encoder])
        panel.set_xlabel("tokens")
        if by is Lengths.BINS:
            panel.set_xticks([*places.values()], [*map(str, places)], fontsize="small")
    panels[0].set_ylabel("accuracy (%)")
    panels[0].axhline(100 * records[0].majority, color="grey", linestyle=":", linewidth=1)
    panels[0].legend(fontsize="small")
    panels[1].set_ylabel("norm of the vectors")
    panels[1].set_visible(any(norms.values()))


def _places(series: Sequence[Sequence[SeriesPoint]], by: Lengths) -> dict[Bin, float]:
    """Return where each bin stands: one after another, or at its number of tokens."""
    bins = sorted({point.bin for points in series for point in points}, key=_shortest)
    return {b: b.shortest if by is Lengths.TOKENS else n for n, b in enumerate(bins)}


def _shortest(each: Bin) -> int:
    return each.shortest


def _draw_line(
    panel: Any,
    points: Sequence[SeriesPoint],
    places: dict[Bin, float],
    scale: float,
    *,
    label: str,
    marker: str,
) -> None:
    """Draw the means, and around them the interval or, without one, a deviation to either side."""
    across = [places[point.bin] for point in points]
    means = [scale * point.mean for point in points]
    line = panel.plot(across, means, marker=marker, markersize=4, label=shorten(label))[0]
    ends = [_ends(point) for point in points]
    low, high = ([scale * end[side] for end in ends] for side in (0, 1))
    panel.fill_between(across, low, high, alpha=0.12, color=line.get_color(), linewidth=0)


def _ends(point: SeriesPoint) -> tuple[float, float]:
    if point.interval is not None:
        return point.interval.low, point.interval.high
    deviation = point.deviation or 0.0
    return point.mean - deviation, point.mean + deviation


def to_svg(figure: "Figure") -> str:
    """Return a figure as SVG, the same text for the same figure."""
    import matplotlib as mpl  # noqa: PLC0415 - optional, and slow

    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "sentprobe"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def save_plot(results: Results, path: Path) -> None:
    """Write the plot of accuracy by layer to a file; its suffix says the format.

    Raises:
        UsageError: an unknown suffix; see also :func:`draw_layers`.
    """
    save_figure(lambda: draw_layers(results), path)


def save_figure(draw: "Callable[[], Figure]", path: Path) -> None:
    """Draw and write to a file; its suffix says the format.

    Raises:
        UsageError: an unknown suffix, before anything is drawn.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path}: a plot is written to {', '.join(SUFFIXES)}")
    figure = draw()
    with atomic_path(path) as temporary:
        if path.suffix.lower() == ".svg":
            temporary.write_text(to_svg(figure), "utf-8")
        else:
            figure.savefig(temporary, format=path.suffix.lower()[1:], dpi=150)
