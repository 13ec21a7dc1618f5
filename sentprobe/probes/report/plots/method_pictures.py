"""Plots of accuracy by probe width, training items or vector width; heat map of correlations (Conneau et al. 2018)."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.probes.report.findings.correlations import Correlation, Correlations
from sentprobe.probes.report.plots import page_pictures
from sentprobe.probes.report.plots import panels as pn
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.progress import shorten
from sentprobe.specs import parse_spec
from sentprobe.values import group_by

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
