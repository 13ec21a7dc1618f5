"""A heat map of correlations: probing tasks by other scores, as Conneau et al. 2018, figure 2."""

from typing import TYPE_CHECKING

import numpy as np

from sentprobe.errors import visible
from sentprobe.probes.report.correlations import Correlation, Correlations
from sentprobe.probes.report.plots import empty_figure
from sentprobe.progress import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = "PuOr_r"
"""From purple (-1) to orange (1), which colour-blind people can tell apart."""

_DARK = 0.6
"""Beyond this, figures are white."""


def draw_heat_map(found: Correlations) -> "Figure":
    """Draw a cell for each pair, with its figure: bold where it can be told from none.

    Raises:
        UsageError: matplotlib is not installed.
    """
    tasks, scores = found.tasks, found.scores
    cells = {(pair.task, pair.score): pair for pair in found.pairs}
    values = [[_rho(cells[task, score]) for score in scores] for task in tasks]
    with empty_figure(2.5 + 0.75 * len(scores), 1.5 + 0.45 * len(tasks)) as figure:
        panel = figure.subplots()
        image = panel.imshow(np.array(values), cmap=COLOURS, vmin=-1, vmax=1, aspect="auto")
        names = [shorten(visible(name)) for name in scores]
        panel.set_xticks(range(len(scores)), names, rotation=40, ha="right", fontsize="small")
        panel.set_yticks(range(len(tasks)), [shorten(visible(name)) for name in tasks])
        for y, task in enumerate(tasks):
            for x, score in enumerate(scores):
                pair = cells[task, score]
                if pair.found is not None:
                    panel.text(
                        x, y, f"{pair.found.rho:.2f}", ha="center", va="center", fontsize="small",
                        color="white" if abs(pair.found.rho) > _DARK else "black",
                        weight="bold" if pair.significant else "normal",
                    )  # fmt: skip
        figure.colorbar(image, ax=panel, label="Spearman's correlation")
    return figure


def _rho(pair: Correlation) -> float:
    return np.nan if pair.found is None else pair.found.rho
