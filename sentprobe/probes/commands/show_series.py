"""What ``probe show --by-length`` does: series over sentence length instead of the table."""

from typing import TYPE_CHECKING

from sentprobe.errors import UsageError
from sentprobe.probes.frames import write_records
from sentprobe.probes.grids import TableFormat, draw, write_grid, write_notes, write_title
from sentprobe.probes.lengths import Lengths
from sentprobe.probes.results import Results
from sentprobe.probes.series import series_records
from sentprobe.probes.series_tables import NOTES, check_series, series_grids
from sentprobe.probes.tables import Style, settings, titles

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console


def print_series(results: Results, *, by: Lengths, style: Style, screen: "Console") -> None:
    """Print a table for each setting and task.

    Raises:
        UsageError: see :func:`check_series`.
    """
    check_series(results)
    tables = settings(results)
    for title, each in zip(titles(tables), tables, strict=True):
        print(write_title(title, TableFormat.TEXT), end="")
        for grid in series_grids(each, by=by, style=style):
            screen.print(draw(grid))
    print("\n".join(NOTES))


def series_text(results: Results, *, by: Lengths, style: Style, fmt: TableFormat) -> str:
    """Return the series as text, in any of the formats but HTML, whose page has plots of them.

    Raises:
        UsageError: see :func:`check_series`.
    """
    check_series(results)
    if fmt in (TableFormat.CSV, TableFormat.JSON):
        return write_records(series_records(results, by=by), fmt)
    tables = settings(results)
    parts = [
        write_title(title, fmt)
        + "\n".join(write_grid(g, fmt) for g in series_grids(each, by=by, style=style))
        for title, each in zip(titles(tables), tables, strict=True)
    ]
    return "\n".join(parts) + write_notes("".join(f"{note}\n" for note in NOTES), fmt)


def save_series_plot(results: Results, path: "Path", *, by: Lengths) -> None:
    """Write the plot of the one setting that there is.

    Raises:
        UsageError: there are several settings; the extra is not installed; see
            :func:`check_series`.
    """
    from sentprobe.probes.plots import draw_series, save_figure  # noqa: PLC0415 - optional

    check_series(results)
    found = settings(results)
    if len(found) > 1:
        raise UsageError(
            f"there are {len(found)} settings (classifier, data, probe words or seed), and one "
            "plot is of one: name fewer runs, or use --format html, which has a plot of each"
        )
    save_figure(lambda: draw_series(found[0], by=by), path)
