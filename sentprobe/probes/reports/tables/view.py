"""Rendering of results as tables with titles and notes: plain text, terminal, notebook, Markdown or LaTeX.

Tables of methods: selectivity, codelength, V-information, and accuracy by the width of the probe.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from sentprobe.common import tables as tw
from sentprobe.common.errors import escape_control_characters, split_lines
from sentprobe.common.screen import split_table, wrap
from sentprobe.common.tables import Grid, GridCell, GridRow, ShownTable
from sentprobe.common.values import group_by
from sentprobe.probes.reports.tables import main_table
from sentprobe.probes.reports.tables.language_tables import build_language_tables, split_by_language
from sentprobe.probes.reports.tables.main_table import describe_differences, split_settings
from sentprobe.probes.reports.tables.table_notes import COMPLETE, SHORT, NoteStyle, say_where_more_is, write_table_notes
from sentprobe.probes.results import records as rc
from sentprobe.probes.results.draws import find_missing_cells
from sentprobe.probes.results.result import METHODS, Condition, Result, Results, SeedScore

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

LARGE_GAP = 3.0
"""The gain over a linear probe, in percentage points, above which a gain is large (Conneau et al. 2018)."""


@dataclass(frozen=True, slots=True)
class MethodColumn:
    """A column of a method table: its name, the function that computes a probe's figure, and its decimals."""

    name: str
    figure: Callable[[Result, SeedScore], float]
    decimals: int = 1

    def show(self, probes: Sequence[tuple[Result, SeedScore]]) -> str:
        """Return the mean over probes and the standard deviation, such as "71.2 ± 0.4"; "-" without probes."""
        if not probes:
            return "-"
        figures = [self.figure(*probe) for probe in probes]
        spread = f" ± {stdev(figures):.{self.decimals}f}" if len(figures) > 1 else ""
        return f"{mean(figures):.{self.decimals}f}{spread}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodTable:
    """A kind of table, such as that of selectivity. Each task has its own table, with a row for each encoder."""

    title: str
    condition: Condition
    columns: Callable[[SeedScore], Sequence[MethodColumn]]
    """A function that returns the columns for the portions or hidden widths in the first probe's score."""
    note: str


def build_method_tables(results: Results) -> Iterator[ShownTable]:
    """Yield a table, as (title, grid, note), for each method and each task with results of this method."""
    tables = split_settings(results)
    for title, setting in zip(describe_differences(tables), tables, strict=True):
        for method in TABLES:
            with_method = (record for record in setting.records if method.condition in record.scores)
            for task, records in group_by(with_method, lambda record: record.task).items():
                method_title = f"{method.title}, {task}{f' ({title})' if title else ''}"
                yield method_title, _build_grid(records, method), f"{method.note}\n"


def _build_grid(records: Sequence[Result], table: MethodTable) -> Grid:
    first = records[0].scores[table.condition].seeds[0]
    columns = table.columns(first)
    rows = []
    for encoder, draws in group_by(records, lambda record: record.encoder).items():
        probes = [
            (result, seed)
            for result in draws
            for seed in result.scores[table.condition].seeds
            if len(seed.readings) == len(first.readings)  # a draw with fewer items may have fewer portions
        ]
        rows.append(GridRow(encoder, "", tuple(GridCell(column.show(probes)) for column in columns)))
    return Grid(("encoder", *(column.name for column in columns)), tuple(rows))


def _get_probe_percent(result: Result, seed: SeedScore) -> float:
    return 100 * rc.compute_probe_accuracy(result, seed)


def _make_column(figure: rc.MethodFigure) -> MethodColumn:
    return MethodColumn(
        figure.heading, lambda result, seed: figure.scale * figure.compute(result, seed), figure.decimals
    )


CONTROL_COLUMNS = (
    MethodColumn("accuracy", _get_probe_percent),
    MethodColumn("control task", lambda result, seed: 100 * seed.accuracy),  # noqa: ARG005
    _make_column(rc.SELECTIVITY),
)

CODELENGTH_COLUMNS = tuple(map(_make_column, rc.PORTION_FIGURES))


def _list_item_columns(seed: SeedScore) -> list[MethodColumn]:
    def compute_accuracy(place: int, _: Result, seed: SeedScore) -> float:
        return 100 * seed.readings[place].correct / seed.total

    points = enumerate(seed.readings)
    return [MethodColumn(str(point.at), partial(compute_accuracy, place)) for place, point in points]


def _list_portion_columns(seed: SeedScore) -> list[MethodColumn]:
    def compute_bits_per_label(place: int, _: Result, seed: SeedScore) -> float:
        left, right = seed.readings[place : place + 2]
        return left.bits / (right.at - left.at)

    portions = enumerate(seed.readings[:-1])
    return [MethodColumn(str(left.at), partial(compute_bits_per_label, place), 2) for place, left in portions]


def _list_width_columns(seed: SeedScore) -> list[MethodColumn]:
    widths = [replace(column, name="linear") if column.name == "0" else column for column in _list_item_columns(seed)]
    return [*widths, MethodColumn("classifier", _get_probe_percent), _make_column(rc.GAP)]


TABLES = (
    MethodTable(
        title="control task",
        condition=Condition.CONTROL_TASK,
        columns=lambda first: CONTROL_COLUMNS,  # noqa: ARG005
        note="Selectivity (Hewitt & Liang 2019): accuracy minus accuracy on random labels that are "
        "fixed for each word type, in points.",
    ),
    MethodTable(
        title="description length",
        condition=Condition.PORTIONS,
        columns=lambda first: CODELENGTH_COLUMNS,  # noqa: ARG005
        note="kbit: online codelength of the training labels. Compression: codelength without the vectors "
        "divided by this codelength (Voita & Titov 2020). V-information: bits per test item (Xu et al. 2020). "
        "Area: area under the curve of accuracy by the logarithm of training items, in %.",
    ),
    MethodTable(
        title="accuracy by training items",
        condition=Condition.PORTIONS,
        columns=_list_item_columns,
        note="Accuracy in % of probes trained on this number of items, with early stopping by validation loss.",
    ),
    MethodTable(
        title="bits per label by training items",
        condition=Condition.PORTIONS,
        columns=_list_portion_columns,
        note="Codelength of the labels in the next portion of items, in bits per label, by a probe trained on this "
        "number of items.",
    ),
    MethodTable(
        title="complexity",
        condition=Condition.WIDTHS,
        columns=_list_width_columns,
        note="Accuracy in % of a linear probe, of probes with hidden layers of these widths, and of the "
        f"classifier. Gap: classifier minus linear probe, in points. A gap above {LARGE_GAP:.0f} means "
        "that the property is not encoded linearly, if it depends on the sentence alone. If the "
        "probe words are balanced, no linear probe can know the answer.",
    ),
)


def to_method_records(results: Results) -> list[dict[str, Any]]:
    """Return a dictionary for each PORTIONS or WIDTHS probe; ``at`` is its number of training items or hidden width."""
    return [
        {
            **rc.identify_result(result),
            "condition": condition.value,
            "seed": seed.seed,
            "at": reading.at,
            "accuracy": reading.correct / seed.total,
            "bits": reading.bits if condition is Condition.PORTIONS else None,
            "total": seed.total,
            "preset": result.preset.name,
        }
        for result in results.records
        for condition in METHODS
        if condition in result.scores
        for seed in result.scores[condition].seeds
        for reading in seed.readings
    ]


WIDTH = 200
"""The width of a text table in characters if the width of the terminal is unknown."""
EMPTY_TEXT = "no results"


def build_sections(results: Results, style: main_table.CellStyle, notes: NoteStyle = SHORT) -> Iterator[ShownTable]:
    """Yield tables of results as (title, grid, notes). Results that are not comparable are in different tables."""
    tables = [*divide_by_setting(results)]
    missing = find_missing_cells([table for _, table, _ in tables])
    for n, (title, table, origins) in enumerate(tables):
        text = write_table_notes(table, style, notes, folders=bool(origins), missing=missing[n])
        text += say_where_more_is(results, notes) if n == len(tables) - 1 else ""
        plain, _ = split_by_language(table)
        grids = [(grid, "".join(f"{line}\n" for line in lines)) for grid, lines in build_language_tables(table, style)]
        if plain.records:
            grids = [(main_table.build_grid(plain, style=style), text), *grids]
        else:
            grids[-1] = (grids[-1][0], grids[-1][1] + text)
        for number, (grid, grid_notes) in enumerate(grids):
            yield "" if number else title, grid, grid_notes


def divide_by_setting(results: Results) -> Iterator[tuple[str, Results, tuple[str, ...]]]:
    """Yield (title, results, lines) for each table. With several results folders, lines name the table's folders."""
    tables = main_table.split_settings(results)
    has_several = len({record.source for record in results.records}) > 1
    for title, table in zip(main_table.describe_differences(tables), tables, strict=True):
        yield title, table, tuple(main_table.describe_origins(table)) if has_several else ()


def show_results(
    results: Results,
    fmt: tw.TableFormat,
    *,
    intervals: bool = False,
    all_rows: bool = False,
    notes: bool = False,
    caption: tw.Caption = tw.NO_CAPTION,
) -> str:
    """Return the tables of results in a format: plain text, Markdown, LaTeX, or HTML for a notebook."""
    style = main_table.CellStyle(intervals=intervals, all_rows=all_rows)
    if fmt is tw.TableFormat.HTML:
        sections = [(title, grid, split_lines(notes)) for title, grid, notes in _build_all_tables(results, style)]
        return load_template("notebook.html.j2").render(sections=sections, nothing=EMPTY_TEXT)
    if fmt is tw.TableFormat.TEXT:
        from rich.console import Console

        width = shutil.get_terminal_size((WIDTH, 1)).columns
        page = StringIO()
        Console(file=page, width=width, color_system=None).print(RenderedResults(results))
        return "\n".join(line.rstrip() for line in page.getvalue().splitlines())
    tables = _build_all_tables(results, style, choose_notes(fmt, COMPLETE if notes else SHORT))
    return tw.format_tables([*tables], fmt, caption=caption)


def _build_all_tables(results: Results, style: main_table.CellStyle, notes: NoteStyle = SHORT) -> Iterator[ShownTable]:
    yield from build_sections(results, style, notes)
    yield from build_method_tables(results)


def choose_notes(fmt: tw.TableFormat, notes: NoteStyle) -> NoteStyle:
    """Return *notes*; for LaTeX, return the style with all notes, because notes are LaTeX comments."""
    return COMPLETE if fmt is tw.TableFormat.LATEX else notes


@dataclass(frozen=True, slots=True)
class RenderedResults:
    """The tables and notes of results, for rich to print at the width of its console."""

    results: Results

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[RenderableType]":
        from rich.text import Text

        parts: list[Table | str] = [] if self.results.records else [EMPTY_TEXT]
        for title, grid, notes in _build_all_tables(self.results, main_table.CellStyle()):
            tables = split_table(tw.build_rich_table(grid), options.max_width)
            parts += [*([title] if title else []), *tables, notes.rstrip("\n")]
        for part in parts:
            if isinstance(part, str):
                yield Text(wrap(part, options.max_width), no_wrap=True, overflow="ignore")
            else:
                yield part


def load_template(name: str) -> Template:
    """Load a Jinja template of the report page. It escapes HTML and control characters in inserted texts."""
    environment = Environment(
        loader=PackageLoader("sentprobe.probes.reports.pages"),
        autoescape=True,
        finalize=_escape_text,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)


def _escape_text(value: object) -> object:
    return escape_control_characters(value) if isinstance(value, str) and not isinstance(value, Markup) else value
