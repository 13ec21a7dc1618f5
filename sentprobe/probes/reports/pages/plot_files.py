"""Plots as SVG, PNG and PDF files (``--plot``), and all pictures of results.

Plots of accuracy by probe width, training items or vector width; heat map of correlations (Conneau et al. 2018).
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
from markupsafe import Markup

from sentprobe.common.errors import UsageError
from sentprobe.common.plots import Plot, Plots, check_suffix
from sentprobe.common.screen import shorten
from sentprobe.common.specs import Lengths, parse_spec
from sentprobe.common.values import group_by
from sentprobe.probes.reports.correlations import Correlation, Correlations
from sentprobe.probes.reports.pages import page_pictures
from sentprobe.probes.reports.pages import panels as pn
from sentprobe.probes.reports.pages.panels import LABEL_WIDTH, LETTER, DotPanel, LinePanel, Panel, ResultPicture
from sentprobe.probes.reports.table_findings import Standings, compute_standings
from sentprobe.probes.reports.tables.language_tables import split_by_language
from sentprobe.probes.reports.tables.view import divide_by_setting, load_template
from sentprobe.probes.results.result import Condition, Result, Results

_MEAN = (
    "the mean over seeds and draws, in percent, and one standard deviation to either side. Dotted: "
    f"chance. If there are more than {page_pictures.MAX_LINES} encoders, the best on average are drawn."
)

SIZES = pn.ResultPicture(
    title="Accuracy by size of the probe",
    caption="Accuracy of a linear probe, and of probes with a hidden layer of each width: "
    f"{_MEAN} A rising line means that a property is encoded, but not linearly. If the probe "
    "words are balanced, no linear probe can know the answer.",
)
ITEMS = pn.ResultPicture(
    title="Accuracy by training items",
    caption=f"Accuracy of probes by number of training items: {_MEAN} The further to the left a "
    "line rises, the easier a property can be read.",
)
DIMS = pn.ResultPicture(
    title="Accuracy by width of the vector",
    caption="Accuracy of the probe, in percent, with its 95% interval, by the number of dimensions that the vectors "
    "were cut to. The last point of a line is the uncut vectors, if they were probed. Dotted: chance.",
)


def draw_all_pictures(results: Results, standings: Standings, by: Lengths) -> tuple[pn.ResultPicture, ...]:
    """Return the pictures of comparable results: accuracy by task, layer, position, sentence length and method."""
    plain, _ = split_by_language(results)
    return (
        *((page_pictures.draw_task_picture(plain, standings),) if plain.records else ()),
        *page_pictures.draw_layer_pictures(plain),
        *page_pictures.draw_position_picture(plain),
        *page_pictures.draw_length_pictures(plain, by),
        *draw_method_pictures(results),
    )


def plot_results(results: Results) -> Plots:
    """Return the pictures of the report page, setting after setting."""
    return Plots(
        replace(plot, title=f"{plot.title}: {title}") if title else plot
        for title, table, _ in divide_by_setting(results)
        for plot in map(make_plot, draw_all_pictures(table, compute_standings(table), Lengths.BINS))
    )


def draw_method_pictures(results: Results) -> Iterator[pn.ResultPicture]:
    """Yield plots of accuracy by probe width, by training items and by vector width; plots without data are omitted."""
    yield from _draw_condition(results, Condition.WIDTHS, SIZES, "width of the hidden layer")
    yield from _draw_condition(results, Condition.PORTIONS, ITEMS, "training items")
    yield from _draw_widths(results)


def _draw_condition(
    results: Results, condition: Condition, picture: pn.ResultPicture, x_label: str
) -> Iterator[pn.ResultPicture]:
    records = [record for record in results.records if condition in record.scores]
    marks = pn.number_marks(page_pictures.select_best((r.encoder, r.accuracy) for r in records))
    by_line = group_by((r for r in records if r.encoder in marks), lambda record: (record.task, record.encoder))
    points = {key: _average_probes(group, condition) for key, group in by_line.items()}
    yield from _draw_lines(picture, points, marks, x_label=x_label, records=records)


def _average_probes(records: Sequence[Result], condition: Condition) -> page_pictures.Points:
    """Return mean accuracy ± one standard deviation, in percent, for each probe width or number of training items."""
    seeds = [seed for record in records for seed in record.scores[condition].seeds]
    complete = [seed for seed in seeds if len(seed.readings) == len(seeds[0].readings)]
    points = {}
    for index, first in enumerate(complete[0].readings):
        percents = [100 * seed.readings[index].correct / seed.total for seed in complete]
        mean, spread = fmean(percents), stdev(percents) if len(percents) > 1 else 0.0
        points[first.at] = (mean, mean - spread, mean + spread)
    return points


def _draw_widths(results: Results) -> Iterator[pn.ResultPicture]:
    families = group_by((record for record in results.records if record.dim), strip_width)  # baselines have no vectors
    cut = [
        record
        for name, group in families.items()
        if any(member.encoder != name for member in group) and len({member.dim for member in group}) > 1
        for record in group
    ]
    marks = pn.number_marks(page_pictures.select_best((strip_width(r), r.accuracy) for r in cut))
    points: dict[tuple[str, str], page_pictures.Points] = {}
    for record in cut:
        if (name := strip_width(record)) in marks:
            points.setdefault((record.task, name), {})[record.dim] = page_pictures.compute_percents(results, record)
    yield from _draw_lines(DIMS, points, marks, x_label="numbers in a vector", records=cut)


def strip_width(record: Result) -> str:
    """Return a result's encoder without the width that its vectors were cut to: MODEL for ``MODEL?dims=64``."""
    width = str(record.dim)
    if (label := _LABELLED.fullmatch(record.encoder)) and label["width"] == width:
        return label["name"] + label["suffix"]
    try:
        spec = parse_spec(record.encoder)
    except UsageError:
        return record.encoder
    options = tuple(pair for pair in spec.options if pair != ("dims", width))
    return str(replace(spec, options=options)) if options != spec.options else record.encoder


_LABELLED = re.compile(r"(?P<name>.+), (?P<width>[0-9]+) dims(?P<suffix>(, \w+)?)", re.DOTALL)
"""A pattern for names such as "mine, 64 dims": vectors cut to width 64, of an encoder named by ``name=mine``."""


def _draw_lines(
    picture: pn.ResultPicture,
    points: Mapping[tuple[str, str], page_pictures.Points],
    marks: dict[str, int],
    *,
    x_label: str,
    records: Sequence[Result],
) -> Iterator[pn.ResultPicture]:
    """Yield a line plot with a logarithmic x-axis and a panel for each task; nothing without points."""
    if not points:
        return
    numbers = sorted({number for line in points.values() for number in line})
    least = next((number for number in numbers if number), 1)
    places = {n: math.log2(n or least / 4) for n in numbers}  # 0 is drawn at a quarter of the least number
    tick_names = {n: str(n) if n else "linear" for n in numbers}
    yield page_pictures.draw_lines(
        picture, points, marks, x_label=x_label, records=records, places=places, tick_names=tick_names
    )


PALETTE = ((84, 39, 136), (178, 171, 210), (247, 247, 247), (253, 184, 99), (179, 88, 6))
"""Colours (red, green, blue) of correlations from -1 (purple) to 1 (orange), safe for colour-blind readers."""

CAPTION = (
    "Spearman's correlation of the accuracies of encoders in a probing task (row) with their "
    "scores in another task (column). Bold: significant. An empty cell has too few encoders."
)

_DARK = 0.18
"""Cells with a lower luminance (0: black, 1: white) have white text, since it is easier to read."""


def draw_heat_map(correlations: Correlations) -> pn.ResultPicture:
    """Return the heat map: a row for each task, a column for each score, significant correlations in bold."""
    pairs = {(pair.task, pair.score): pair for pair in correlations.pairs}
    panel = pn.HeatPanel(
        title="Spearman's correlation",
        rows=tuple(shorten(task) for task in correlations.tasks),
        columns=tuple(shorten(score) for score in correlations.scores),
        cells=tuple(
            tuple(_make_cell(pairs[task, score]) for score in correlations.scores) for task in correlations.tasks
        ),
        colours=tuple(("" if n % 5 else f"{n / 5:g}", _format_colour(n / 5)) for n in range(5, -6, -1)),
    )
    return pn.ResultPicture(title="", caption=CAPTION, panels=(panel,))


def _make_cell(pair: Correlation) -> pn.HeatCell:
    if pair.estimate is None:
        return pn.HeatCell("", "none", "#000")
    rho = pair.estimate.rho
    # Relative luminance as WCAG defines it, with a gamma of 2.2 for the curve of sRGB.
    red, green, blue = (math.pow(part / 255, 2.2) for part in _mix_colour(rho))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    ink = "#fff" if luminance < _DARK else "#000"
    return pn.HeatCell(f"{rho:.2f}", _format_colour(rho), ink, pair.is_significant)


def _mix_colour(rho: float) -> tuple[float, ...]:
    """Return (red, green, blue) for a correlation, interpolated between the colours of the palette."""
    places = np.linspace(-1, 1, len(PALETTE))
    return tuple(float(np.interp(rho, places, part)) for part in zip(*PALETTE, strict=True))


def _format_colour(rho: float) -> str:
    return "#" + "".join(f"{round(part):02x}" for part in _mix_colour(rho))


COLOURS = {"ink": "#1b1b1b", "soft": "#5c5c5c", "paper": "#fff", "line": "#c9c9c9"}
"""The page's colours in light mode, for programs that do not support CSS variables."""
MAX_COLUMNS = 3
PANEL_GAP = 26
TITLE_HEIGHT = 24
LEGEND_HEIGHT = 18
NAME_LIMIT = 60


@dataclass(frozen=True, slots=True)
class PlacedPanel:
    """A panel with the position of its upper left corner."""

    panel: Panel
    x: float
    y: float

    @property
    def title(self) -> str:
        """The title, shortened to the width of the panel."""
        unit = getattr(self.panel, "y_label", "")
        return shorten(self.panel.title, limit=int(self.panel.width / 7.5) - len(unit))


@dataclass(frozen=True, slots=True)
class PlacedName:
    """A name in the legend and its position; ``mark`` is the index (from 0) of the marker and the colour."""

    name: str
    mark: int
    x: float
    y: float


def write_plot(picture: ResultPicture, path: Path) -> None:
    """Write a plot in the format of the file's suffix; raise UsageError if it cannot be drawn or written."""
    check_suffix(path)
    if picture.missing:
        raise UsageError(picture.missing)
    make_plot(picture).save(path)


def make_plot(picture: ResultPicture) -> Plot:
    return Plot(picture.title, picture.caption, render_svg(picture))


def render_svg(picture: ResultPicture) -> str:
    picture = _show_full_names(picture)
    columns = ceil(len(picture.panels) / ceil(len(picture.panels) / MAX_COLUMNS))  # in rows of about equal size
    rows = [picture.panels[n : n + columns] for n in range(0, len(picture.panels), columns)]
    width = 2 * PANEL_GAP + max(sum(p.width for p in row) + PANEL_GAP * (len(row) - 1) for row in rows)
    top = float(PANEL_GAP + (TITLE_HEIGHT if picture.title else 0))
    names = tuple(_place_names(picture.legend, width, top))
    top = names[-1].y + LEGEND_HEIGHT + 4 if names else top
    panels = tuple(_place_panels(rows, top))
    css = load_template("panels.css").render()
    style = re.sub(r"var\(--(\w+)\)", lambda variable: COLOURS[variable[1]], css)
    return load_template("plot.svg.j2").render(
        picture=picture,
        names=names,
        panels=panels,
        width=round(width, 1),
        height=round(max(placed.y + placed.panel.height for placed in panels) + PANEL_GAP, 1),
        margin=PANEL_GAP,
        style=Markup(style),  # a constant file of the package
        colours=COLOURS,
    )


def _show_full_names(picture: ResultPicture) -> ResultPicture:
    """Return the picture with space for long names, because a file has no tooltips that show them."""
    dots = [panel for panel in picture.panels if isinstance(panel, DotPanel)]
    longest = max((len(row.encoder) for panel in dots for row in panel.rows), default=0)
    label_width = max(LABEL_WIDTH, 14 + LETTER * min(longest, NAME_LIMIT))
    lines = [panel for panel in picture.panels if isinstance(panel, LinePanel)]
    marks = {line.name: line.mark for panel in lines if panel.named for line in panel.lines}
    fits = all(line.label == line.name for panel in lines for line in panel.lines)
    panels = tuple(
        replace(panel, label_width=label_width)
        if isinstance(panel, DotPanel)
        else replace(panel, named=panel.named and fits)
        if isinstance(panel, LinePanel)
        else panel
        for panel in picture.panels
    )
    # If a name is shortened at its line, all names go into a legend instead.
    legend = picture.legend or (() if fits else tuple(marks.items()))
    return replace(picture, panels=panels, legend=legend)


def _place_names(legend: Sequence[tuple[str, int]], width: float, top: float) -> Iterator[PlacedName]:
    x, y = float(PANEL_GAP), top
    for name, mark in legend:
        label = shorten(name, limit=NAME_LIMIT)
        name_width = 46 + LETTER * len(label)
        if x > PANEL_GAP and x + name_width > width - PANEL_GAP:
            x, y = PANEL_GAP, y + LEGEND_HEIGHT
        yield PlacedName(label, mark, round(x, 1), y)
        x += name_width


def _place_panels(rows: Sequence[Sequence[Panel]], top: float) -> Iterator[PlacedPanel]:
    for row in rows:
        x = float(PANEL_GAP)
        for panel in row:
            yield PlacedPanel(panel, round(x, 1), top + TITLE_HEIGHT)
            x += panel.width + PANEL_GAP
        top += TITLE_HEIGHT + max(panel.height for panel in row) + PANEL_GAP / 2
