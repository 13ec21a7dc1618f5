"""``probe report``: results as one HTML page with tables, controls, plots and commands."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import TYPE_CHECKING

from markupsafe import Markup

from sentprobe.common.errors import format_count, split_lines
from sentprobe.common.specs import Lengths
from sentprobe.common.tables import Grid, GridCell, GridRow, ShownTable
from sentprobe.probes.classifier.presets import format_preset_name
from sentprobe.probes.reports import table_findings as tf
from sentprobe.probes.reports.control_verdicts import ControlRun
from sentprobe.probes.reports.item_parts import ItemTables, WrongItems, find_mistakes
from sentprobe.probes.reports.pages import page_pictures, plot_files
from sentprobe.probes.reports.pages.panels import ResultPicture
from sentprobe.probes.reports.tables import main_table, table_notes
from sentprobe.probes.reports.tables.distance_report import build_geometry_sections
from sentprobe.probes.reports.tables.language_tables import TableWithNotes, build_language_tables, split_by_language
from sentprobe.probes.reports.tables.notes import (
    TableFacts,
    count_controls,
    describe_controls,
    describe_missing_cells,
    format_range,
    list_warnings,
)
from sentprobe.probes.reports.tables.part_tables import build_structure_tables, index_by_fingerprint
from sentprobe.probes.reports.tables.table_notes import DIGEST_LENGTH
from sentprobe.probes.reports.tables.training_curves import Curve, build_curve_tables
from sentprobe.probes.reports.tables.view import build_method_tables, divide_by_setting, load_template
from sentprobe.probes.results.control import CONTROLS
from sentprobe.probes.results.draws import find_missing_cells
from sentprobe.probes.results.item_table import ItemTable
from sentprobe.probes.results.result import Provenance, Result, Results, find_provenances
from sentprobe.probes.similarity.distance_draws import build_geometry_tables
from sentprobe.probes.similarity.distance_results import GeometryResult
from sentprobe.probes.similarity.measures import Nearness

if TYPE_CHECKING:
    from sentprobe.probes.audits.cue_audit import Audit


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCell:
    """A cell of the main table on the page."""

    text: str
    best: bool = False
    value: float | None = None
    """The number by which the page sorts the column; None if ``text`` has no number."""
    shade: float | None = None
    """The darkness of the cell, from 0 (not above the control) to 1; None without a control."""
    group: int | None = None
    """The encoder's group: 1 if not significantly worse than the task's best, else 2 or more; None if all are in 1."""
    interval: str = ""
    """The 95% interval, shown only on paper; empty if ``text`` includes the interval."""
    tooltip_lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A row of the main table: an encoder, a control, a row of a paper's table, or a heading above a model's layers."""

    label: str
    of: str = ""
    """If the row is a layer, the name of its model, which is shown before the label when rows are sorted."""
    name: str
    heading: bool = False
    cells: tuple[PageCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """The main table of the page."""

    header: tuple[str, ...]
    parts: tuple[tuple[PageRow, ...], ...]
    """Groups of rows, each sorted separately: encoders and, if shown, published rows and controls."""
    controls: tuple[str, ...] = ()
    """The last row: for each task, the accuracy that encoders should exceed, such as "chance 50.0"."""


def build_page_table(grid: Grid, standings: tf.Standings, *, intervals: bool) -> PageTable:
    """Build the main table of the page. *intervals* says whether the cell texts of *grid* include 95% intervals."""
    tasks = grid.header[1:]
    parts = (rows for _, rows in groupby(grid.rows, key=lambda row: row.section))
    return PageTable(
        header=grid.header,
        parts=tuple(tuple(_build_rows(list(part), tasks, standings, intervals=intervals)) for part in parts),
        controls=tuple(_describe_controls(task, standings) for task in tasks),
    )


def _build_rows(
    rows: Sequence[GridRow], tasks: Sequence[str], standings: tf.Standings, *, intervals: bool
) -> Iterator[PageRow]:
    heading = ""
    for row in rows:
        is_layer = row.label.startswith(" ")  # a layer, below its model
        heading = row.label if row.heading else heading if is_layer else ""
        cells = (
            _build_cell(cell, standings.get((row.encoder, task)), (row.encoder, task), intervals=intervals)
            for cell, task in zip(row.cells, tasks, strict=True)
        )
        yield PageRow(
            label=row.label.strip(),
            of=heading if is_layer else "",
            name=row.encoder or row.label,
            heading=row.heading,
            cells=tuple(cells),
        )


def _build_cell(cell: GridCell, standing: tf.Standing | None, names: tuple[str, str], *, intervals: bool) -> PageCell:
    if standing is None or not cell.text:
        return PageCell(text=cell.text, best=cell.best, value=_parse_number(cell.text))
    return PageCell(
        text=cell.text,
        best=cell.best,
        value=round(100 * standing.figure.accuracy, 6),
        shade=round(standing.shade, 3),
        group=standing.group if standing.groups > 1 else None,
        interval="" if intervals else standing.figure.interval.format_percent(),
        tooltip_lines=tuple(_describe_standing(standing, " on ".join(names))),
    )


def _parse_number(text: str) -> float | None:
    try:
        return float(text.split(maxsplit=1)[0])
    except (IndexError, ValueError):
        return None


def _describe_standing(standing: tf.Standing, heading: str) -> Iterator[str]:
    yield heading
    yield f"95% interval {standing.figure.interval.format_percent()}"
    points = f"{abs(100 * standing.margin):.1f}"
    direction = "below" if standing.margin < 0 and points != "0.0" else "above"
    yield f"{points} points {direction} its control ({standing.control_name})"
    if standing.groups > 1:
        tied = ": not significantly worse than the best" if standing.group == 1 else ""
        yield f"group {standing.group} of {standing.groups}{tied}"


def _describe_controls(task: str, standings: tf.Standings) -> str:
    task_standings = [standing for (_, name), standing in standings.items() if name == task]
    if not task_standings:
        return ""
    above = [standing for standing in task_standings if standing.condition is not None]
    conditions = dict.fromkeys(standing.condition for standing in above or task_standings)
    names = ["chance" if condition is None else CONTROLS[condition].short for condition in conditions]
    percents = format_range(100 * standing.control for standing in above or task_standings)
    return f"{', '.join(names)} {percents}"


def describe_reproduction(
    results: Results, distances: Sequence[GeometryResult], curves: Sequence[Curve], provenances: Sequence[Provenance]
) -> dict[str, tuple[str, ...]]:
    """Return lines that help to reproduce the figures, under the keys commands, versions, data and encoders."""
    of_probes = chain.from_iterable(map(find_provenances, results.records))
    sources: list[Provenance | GeometryResult] = [*of_probes, *distances, *provenances]
    versions = (*(source.versions for source in sources), *chain.from_iterable(curve.versions for curve in curves))
    commands = (*(source.command for source in sources), *(curve.learned.command for curve in curves if curve.learned))
    records = sorted(results.records, key=lambda record: (results.tasks.index(record.task), record.seed))
    encoded: list[Result | GeometryResult] = [*records, *distances]
    return dict(
        commands=_list_distinct_lines(commands),
        versions=_list_distinct_lines(
            ", ".join(f"{name} {version}" for name, version in packages.items()) for packages in versions
        ),
        data=_list_distinct_lines(_format_digest(r.task, r.seed, r.dataset_fingerprint) for r in records),
        encoders=_list_distinct_lines(
            _format_digest(r.encoder, r.encoder_seed, r.encoder_fingerprint) for r in encoded
        ),
    )


def _list_distinct_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct lines, with line breaks replaced by spaces."""
    return tuple(dict.fromkeys(" ".join(line.split()) for line in lines if line))


def _format_digest(name: str, seed: int | None, digest: str) -> str:
    drawn = "" if seed is None else f", seed {seed}"
    return f"{name}{drawn}: {digest[:DIGEST_LENGTH] or 'not known'}"


TEMPLATE = "template"
ITEMS_WITHOUT_STRUCTURES = 3
MAX_ENCODERS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMistakes:
    """The test items of a task that an encoder answers incorrectly, grouped by structure."""

    of: Result
    parts: tuple[WrongItems, ...]

    @property
    def title(self) -> str:
        """The line that stays visible while the list of items is collapsed."""
        wrong = sum(part.wrong for part in self.parts)
        total = sum(part.items for part in self.parts)
        return f"{self.of.encoder} on {self.of.task}: {wrong} of {total} test items"


def build_page_mistakes(results: Results, items: ItemTables) -> Iterator[PageMistakes]:
    """Yield the first-draw mistakes of up to ``MAX_ENCODERS`` encoders on each task. Omit probes of single layers."""
    records = [record for record in results.records if record.layer is None]
    encoders = [*dict.fromkeys(record.encoder for record in records)][:MAX_ENCODERS]
    first = {record.cell: record for record in reversed(records) if record.encoder in encoders}
    for record in sorted(first.values(), key=lambda record: encoders.index(record.encoder)):
        if record.dataset_fingerprint in items:
            table = items[record.dataset_fingerprint]
            count, column = (1, TEMPLATE) if TEMPLATE in table.columns else (ITEMS_WITHOUT_STRUCTURES, None)
            yield PageMistakes(of=record, parts=find_mistakes(record, table, count, column=column))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSection:
    """One table of comparable results on the page, with notes, controls and plots."""

    title: str
    lead: str
    sentence: str
    table: PageTable | None
    """The main table; None if ``languages``, the tables by training and test language, contain all tasks."""
    languages: tuple[TableWithNotes, ...]
    tied: tuple[str, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    at_chance: tuple[str, ...]
    verdicts: tuple[str, ...]
    runs: tuple[ControlRun, ...]
    pictures: tuple[ResultPicture, ...]


@dataclass(frozen=True, slots=True)
class PlainSection:
    """A geometry table or a training curve on the page, with notes and a plot."""

    title: str
    grid: Grid
    notes: tuple[str, ...]
    picture: ResultPicture


def build_report_page(
    results: Results,
    distances: Sequence[GeometryResult] = (),
    *,
    style: main_table.CellStyle | None = None,
    by: Lengths = Lengths.BINS,
    curves: Sequence[Curve] = (),
    nearness: Nearness = Nearness.COSINE,
    items: Sequence[ItemTable] = (),
    audits: "Sequence[Audit]" = (),
    pair_tables: Sequence[ShownTable] = (),
    pair_provenances: Sequence[Provenance] = (),
) -> str:
    """Return the report page as HTML that loads no other files. All inserted texts are escaped."""
    from sentprobe.probes.reports.pages.page_parts import build_page_audits

    style = style or main_table.CellStyle()
    settings = [*divide_by_setting(results)]
    missing_cells = find_missing_cells([table for _, table, _ in settings])
    sections = tuple(
        _build_section(table, style, title=title, origins=(*folders, *describe_missing_cells(table, missing)), by=by)
        for (title, table, folders), missing in zip(settings, missing_cells, strict=True)
    )
    distance_tables = build_geometry_sections(distances, results, intervals=style.intervals, nearness=nearness)
    distance_sections = tuple(
        PlainSection(
            title[:1].upper() + title[1:],
            grid,
            tuple(split_lines(notes)),
            page_pictures.draw_contrast_picture(table, nearness),
        )
        for (title, grid, notes), table in zip(distance_tables, build_geometry_tables(distances), strict=True)
    )
    curve_tables = build_curve_tables(curves, intervals=style.intervals)
    curve_sections = tuple(
        PlainSection(title, grid, tuple(split_lines(notes)), page_pictures.draw_training_picture(curve))
        for curve, (title, grid, notes) in zip(curves, curve_tables, strict=True)
    )
    script, stored_items = load_template("page.js").render(), index_by_fingerprint(items)
    return load_template("report.html.j2").render(
        sections=sections,
        distances=distance_sections,
        curves=curve_sections,
        gaps=tuple(build_structure_tables(results, stored_items, style)),
        mistakes=tuple(build_page_mistakes(results, stored_items)),
        methods=tuple(build_method_tables(results)),
        more_tables=(*main_table.build_human_tables(style.human, results), *pair_tables),
        audits=build_page_audits(results, audits) if audits else None,
        classifiers=tuple(table_notes.describe_classifiers(results)),
        redo=describe_reproduction(results, distances, curves, pair_provenances),
        script=Markup(script),  # a constant file of the package
        # The page's Content-Security-Policy lets the browser run no script but the one with this digest.
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _build_section(
    results: Results, style: main_table.CellStyle, *, title: str, origins: tuple[str, ...], by: Lengths
) -> ReportSection:
    presets = dict.fromkeys(map(format_preset_name, table_notes.list_presets(results)))
    classifier_note = (f"classifier: {' and '.join(presets)}",) if presets else ()
    facts = TableFacts(results)
    sentence, *notes = table_notes.describe_figures(facts)
    cell_standings = tf.compute_standings(results)
    plain, _ = split_by_language(results)
    grid = main_table.build_grid(plain, style=style)
    return ReportSection(
        title=title,
        lead=f"{format_count(len(results.encoders), 'encoder')} on {format_count(len(results.tasks), 'task')}",
        sentence=sentence,
        table=build_page_table(grid, cell_standings, intervals=style.intervals) if plain.records else None,
        languages=tuple(build_language_tables(results, style)),
        tied=tuple(tf.describe_groups(cell_standings)),
        notes=(*origins, *classifier_note, *notes, *table_notes.describe_added_rows(results, style)),
        warnings=tuple(list_warnings(facts)),
        at_chance=tuple(count_controls(facts)),
        verdicts=tuple(describe_controls(facts)),
        runs=tf.judge_controls(results),
        pictures=plot_files.draw_all_pictures(results, cell_standings, by),
    )
