"""Plots as SVG, PNG and PDF files (``--plot``)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

from markupsafe import Markup

from sentprobe.disk.files import atomic_path
from sentprobe.errors import UsageError
from sentprobe.extras import format_install
from sentprobe.probes.report.plots.panels import LABEL_WIDTH, LETTER, DotPanel, LinePanel, Panel, ResultPicture
from sentprobe.probes.report.tables.view import load_template
from sentprobe.progress import shorten

SUFFIXES = (".svg", ".png", ".pdf")

COLOURS = {"ink": "#1b1b1b", "soft": "#5c5c5c", "paper": "#fff", "line": "#c9c9c9"}
"""The page's colours in light mode, for programs that do not support CSS variables."""
MAX_COLUMNS = 3
PANEL_GAP = 26
TITLE_HEIGHT = 24
LEGEND_HEIGHT = 18
NAME_LIMIT = 60
PIXELS = 2


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


def check_suffix(path: Path) -> None:
    """Raise UsageError if a plot file's suffix is not in ``SUFFIXES``."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path}: the suffix of a plot must be one of {', '.join(SUFFIXES)}")


def write_plot(picture: ResultPicture, path: Path) -> None:
    """Write a plot in the format of the file's suffix; raise UsageError if it cannot be drawn or written."""
    check_suffix(path)
    if picture.missing:
        raise UsageError(picture.missing)
    content = convert_svg(render_svg(picture), path.suffix.lower())
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def convert_svg(svg: str, suffix: str) -> bytes:
    """Return a plot in the format of a suffix; raise UsageError if the extra for PNG and PDF is not installed."""
    if suffix == ".svg":
        return svg.encode()
    try:
        import vl_convert
    except ImportError:
        raise UsageError(f"a plot as PNG or PDF needs the extra (SVG does not): {format_install('plots')}") from None
    if suffix == ".png":
        return vl_convert.svg_to_png(svg, scale=PIXELS)
    return vl_convert.svg_to_pdf(svg)


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
