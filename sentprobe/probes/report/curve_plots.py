"""Plots of curves: accuracy by step of training."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from sentprobe.errors import UsageError, visible
from sentprobe.probes.report.curves import (
    HELD_OUT,
    Curve,
    CurveLine,
    CurvePoint,
    columns_of,
    title_of,
)
from sentprobe.probes.report.plots import MARKERS, empty_figure
from sentprobe.probes.runs.learning_curve import LearningCurve
from sentprobe.progress import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure


COLOURS = 10
"""So many lines differ in colour."""


def draw_curve(curve: Curve) -> "Figure":
    """Draw accuracy by step with its 95% intervals: a panel for probes, one for each negative.

    The last has what the encoder was trained to do, if that is known. Where a step is not known,
    all are by epoch.

    Raises:
        UsageError: at some moments only the step is known, at others only the epoch; matplotlib is
            not installed.
    """
    axis = axis_of(curve)
    number = len(curve.kinds) + (curve.learned is not None)
    with empty_figure(7, 3.6 * number) as figure:
        panels = figure.subplots(number, squeeze=False, sharex=True)[:, 0]
        if curve.learned:
            _draw_learned(panels[-1], curve.learned, axis)
        for panel, kind in zip(panels, curve.kinds, strict=False):
            for marks, (name, line) in zip(_marks(), _lines(curve, kind), strict=False):
                _draw_line(panel, curve.lines[line], axis, label=name, marks=marks)
            for chance in sorted({line.chance for line in curve.of_kind(kind)}):
                panel.axhline(100 * chance, color="grey", linestyle=":", linewidth=1)
            panel.set_title(title_of(kind), fontsize="medium")
            panel.set(ylabel="accuracy (%)", ylim=(-2, 102))
            panel.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
        panels[-1].set_xlabel(axis)
        figure.suptitle(shorten(visible(curve.name)), fontsize="medium")
    return figure


def _draw_learned(panel: Any, learned: LearningCurve, axis: str) -> None:
    across = [getattr(point, axis) for point in learned.points]
    values = [learned.shown(point) for point in learned.points]
    panel.plot(across, values, marker="o", markersize=4, clip_on=False)
    panel.set_title(HELD_OUT, fontsize="medium")
    panel.set(ylabel=learned.told)
    panel.set_ylim(0, 1.1 * max(values) or 1)


def axis_of(curve: Curve) -> str:
    """Return what curves are drawn over: the step or, where one is not known, the epoch.

    Raises:
        UsageError: neither is known of all.
    """
    for axis, known in zip(("step", "epoch"), zip(*curve.moments, strict=True), strict=True):
        if None not in known:
            return axis
    raise UsageError(
        f"{curve.name} cannot be drawn: some of its results lack the step, others the epoch"
    )


def _lines(curve: Curve, kind: object) -> list[tuple[str, CurveLine]]:
    """Return the lines of a kind with the names of their columns."""
    columns = columns_of(curve).items()
    return [(name, line) for name, lines in columns for line in lines if line.kind is kind]


def _marks() -> Iterator[dict[str, str]]:
    """Yield markers, with other strokes where matplotlib begins its colours again."""
    return (
        {"marker": marker, "linestyle": "-" if n < COLOURS else "--"}
        for n, marker in enumerate(cycle(MARKERS))
    )


def _draw_line(
    panel: Any, points: Sequence[CurvePoint], axis: str, *, label: str, marks: Mapping[str, str]
) -> None:
    across = [getattr(point, axis) for point in points]
    shares = [100 * point.accuracy for point in points]
    shown = shorten(visible(label))
    line = panel.plot(across, shares, **marks, markersize=4, label=shown)[0]
    low = [100 * point.interval.low for point in points]
    high = [100 * point.interval.high for point in points]
    panel.fill_between(across, low, high, alpha=0.12, color=line.get_color(), linewidth=0)
