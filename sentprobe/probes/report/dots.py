"""A plot of geometry: by contrast, a dot and its interval for each encoder."""

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from sentprobe.errors import visible
from sentprobe.probes.geometry.draws import GeometryTable, TripletFigure, accuracy_of, by_cell
from sentprobe.probes.geometry.measures import Nearness, NegativeKind
from sentprobe.probes.geometry.tables import KINDS, contrasts_of, encoders_of
from sentprobe.probes.report.plots import MARKERS, empty_figure
from sentprobe.progress import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEGEND = 60
"""As many signs of an encoder's name are in the legend."""

HEIGHT = 0.2
"""In inches, of a dot's row."""


def draw_dots(table: GeometryTable, nearness: Nearness = Nearness.COSINE) -> "Figure":
    """Draw the accuracies of a table: a panel for each kind of negative.

    Raises:
        UsageError: matplotlib is not installed.
    """
    contrasts, encoders = contrasts_of(table), encoders_of(table)
    rows = len(contrasts) * (len(encoders) + 1)
    with empty_figure(10, 1.3 + HEIGHT * (rows + len(encoders))) as figure:
        panels = figure.subplots(1, len(KINDS), sharey=True)
        for panel, (kind, title) in zip(panels, KINDS.items(), strict=True):
            _draw_panel(panel, table, kind, nearness)
            panel.set_title(title, fontsize="medium")
        panels[0].set_yticks(
            [_middle(n, encoders) for n in range(len(contrasts))],
            [visible(each) for each in contrasts],
        )
        panels[0].set_ylim(rows - 1, -1)  # the first is at the top
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", fontsize="small", frameon=False)
    return figure


def _middle(contrast: int, encoders: Sequence[str]) -> float:
    """Return the height of the middle of a contrast's rows."""
    return contrast * (len(encoders) + 1) + (len(encoders) - 1) / 2


def _draw_panel(panel: Any, table: GeometryTable, kind: NegativeKind, nearness: Nearness) -> None:
    contrasts, encoders, cells = contrasts_of(table), encoders_of(table), by_cell(table)
    for at, (encoder, marker) in enumerate(zip(encoders, cycle(MARKERS), strict=False)):
        places = {name: n * (len(encoders) + 1) + at for n, name in enumerate(contrasts)}
        own = {
            name: accuracy_of(cells.get((encoder, name), []), kind, nearness) for name in contrasts
        }
        _draw_encoder(panel, encoder, own, places, marker=marker)
    for number in range(1, len(contrasts)):
        panel.axhline(number * (len(encoders) + 1) - 1, color="lightgrey", linewidth=0.6)
    panel.axvline(50, color="grey", linestyle=":", linewidth=1)
    panel.tick_params(axis="y", length=0)
    panel.set(xlabel=f"accuracy (%), by {nearness.value}", xlim=(-2, 102))


def _draw_encoder(
    panel: Any,
    encoder: str,
    own: dict[str, TripletFigure | None],
    places: dict[str, int],
    *,
    marker: str,
) -> None:
    """Draw an encoder's dots, from the left end of each interval to the right one."""
    there = {name: each for name, each in own.items() if each is not None}
    means = [100 * each.mean for each in there.values()]
    below = [100 * max(0.0, each.mean - each.interval.low) for each in there.values()]
    above = [100 * max(0.0, each.interval.high - each.mean) for each in there.values()]
    heights = [places[name] for name in there]
    panel.errorbar(
        means, heights, xerr=[below, above], fmt=marker, markersize=4, capsize=2, linewidth=1,
        label=shorten(visible(encoder), limit=LEGEND),
    )  # fmt: skip
