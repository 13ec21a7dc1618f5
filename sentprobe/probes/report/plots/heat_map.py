"""A heat map of correlations: probing tasks by other scores, as Conneau et al. 2018, figure 2."""

import math
from itertools import pairwise

from sentprobe.errors import escape_control_characters
from sentprobe.probes.report.findings.correlations import Correlation, Correlations
from sentprobe.probes.report.plots.panels import HeatCell, HeatPanel, ResultPicture
from sentprobe.progress import shorten

PALETTE = ((84, 39, 136), (178, 171, 210), (247, 247, 247), (253, 184, 99), (179, 88, 6))
"""From purple (-1) to orange (1), safe for colour-blind readers."""

CAPTION = (
    "Spearman's correlation of the accuracies of encoders in a probing task (row) with their "
    "scores in another task (column). Bold: significant. An empty cell has too few encoders."
)

_DARK = 0.18
"""Luminance below which white text is easier to read than black."""


def draw_heat_map(correlations: Correlations) -> ResultPicture:
    """Return the picture of all pairs: a cell with its figure for each, bold if significant."""
    pairs = {(pair.task, pair.score): pair for pair in correlations.pairs}
    panel = HeatPanel(
        title="Spearman's correlation",
        rows=tuple(shorten(escape_control_characters(task)) for task in correlations.tasks),
        columns=tuple(shorten(escape_control_characters(score)) for score in correlations.scores),
        cells=tuple(
            tuple(_make_cell(pairs[task, score]) for score in correlations.scores) for task in correlations.tasks
        ),
        colours=tuple((f"{n / 5:g}", _format_colour(n / 5)) for n in range(5, -6, -1)),
    )
    return ResultPicture(title="", caption=CAPTION, panels=(panel,))


def _make_cell(pair: Correlation) -> HeatCell:
    if pair.estimate is None:
        return HeatCell("", "none", "#000")
    rho = pair.estimate.rho
    red, green, blue = (math.pow(part / 255, 2.2) for part in _mix_colour(rho))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    ink = "#fff" if luminance < _DARK else "#000"
    return HeatCell(f"{rho:.2f}", _format_colour(rho), ink, pair.is_significant)


def _mix_colour(rho: float) -> tuple[float, ...]:
    """Return red, green and blue of a correlation, mixed from the two nearest of the palette."""
    position = (rho + 1) / 2 * (len(PALETTE) - 1)
    index = min(int(position), len(PALETTE) - 2)
    lower, upper = list(pairwise(PALETTE))[index]
    return tuple(a + (b - a) * (position - index) for a, b in zip(lower, upper, strict=True))


def _format_colour(rho: float) -> str:
    return "#" + "".join(f"{round(part):02x}" for part in _mix_colour(rho))
