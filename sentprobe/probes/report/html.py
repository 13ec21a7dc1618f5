"""A report on results as one HTML page: tables, sanity runs, plots, and how to do it again."""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from sentprobe.lengths import Lengths
from sentprobe.probes.geometry.draws import geometry_tables
from sentprobe.probes.geometry.measures import Nearness
from sentprobe.probes.geometry.results import GeometryResult
from sentprobe.probes.report import method_pictures, pictures, sanity, tables
from sentprobe.probes.report.curves import Curve, curve_tables
from sentprobe.probes.report.geometry import geometry_sections
from sentprobe.probes.report.methods import method_tables
from sentprobe.probes.report.page_items import page_mistakes
from sentprobe.probes.report.page_table import PageTable, lead, page_table
from sentprobe.probes.report.panels import PagePicture
from sentprobe.probes.report.part_tables import by_fingerprint, structure_sections
from sentprobe.probes.report.redo import how_to_redo
from sentprobe.probes.report.standings import group_lines, standings
from sentprobe.probes.report.view import template, titled
from sentprobe.probes.runs.item_table import ItemTable
from sentprobe.probes.runs.results import Results
from sentprobe.probes.trainer.presets import short_name
from sentprobe.table_writers import Grid

if TYPE_CHECKING:
    from sentprobe.probes.audit.audit import Audit
    from sentprobe.probes.report.page_audits import PageAudits


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSection:
    """What the page says of one setting."""

    title: str
    lead: str
    sentence: str
    table: PageTable
    tied: tuple[str, ...]
    """What the numbers of groups are."""
    notes: tuple[str, ...]
    """How to read the table."""
    warnings: tuple[str, ...]
    """What stands in the way of believing it."""
    at_chance: tuple[str, ...]
    """How many sanity runs are at chance, in a line, where there are any that must be."""
    verdicts: tuple[str, ...]
    runs: tuple[sanity.SanityRun, ...]
    pictures: tuple[PagePicture, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainSection:
    """What the page says of one table of geometry, or of one training."""

    title: str
    grid: Grid
    notes: tuple[str, ...]
    picture: PagePicture


def report(
    results: Results,
    distances: Sequence[GeometryResult] = (),
    *,
    style: tables.CellStyle | None = None,
    by: Lengths = Lengths.BINS,
    curves: Sequence[Curve] = (),
    nearness: Nearness = Nearness.COSINE,
    items: Sequence[ItemTable] = (),
    audits: "Sequence[Audit]" = (),
) -> str:
    """Return the page; all texts are escaped.

    It loads nothing from elsewhere, and browsers are told to load nothing. *distances* are results
    of geometry, by *nearness*, whose part comes after that of probes; *curves* are after that. *by*
    says how lengths of sentences are put together in plots. *audits* are of the datasets of the
    results; of those of other data a line says that they are left out.
    """
    sections = tuple(
        _section(each, style or tables.CellStyle(), title=title, folders=folders, by=by)
        for title, each, folders in titled(results)
    )
    script, kept = template("page.js").render(), by_fingerprint(items)
    return template("report.html.j2").render(
        sections=sections,
        distances=tuple(_distances(results, distances, style or tables.CellStyle(), nearness)),
        curves=tuple(_curves(curves, style or tables.CellStyle())),
        gaps=tuple(structure_sections(results, kept, style or tables.CellStyle())),
        mistakes=tuple(page_mistakes(results, kept)),
        methods=tuple(method_tables(results)),
        audits=_audits(results, audits),
        classifiers=tuple(tables.classifiers(results)),
        redo=how_to_redo(results, distances, curves),
        script=Markup(script),  # a file of the package, into which nothing is put
        script_digest=_digest(script),
    )


def _audits(results: Results, audits: "Sequence[Audit]") -> "PageAudits | None":
    if not audits:
        return None
    from sentprobe.probes.report.page_audits import page_audits  # noqa: PLC0415 - slow, seldom

    return page_audits(results, audits)


def _digest(script: str) -> str:
    """Return by what a browser knows the one script that may run."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _distances(
    results: Results,
    distances: Sequence[GeometryResult],
    style: tables.CellStyle,
    nearness: Nearness,
) -> Iterator[PlainSection]:
    shown = geometry_sections(distances, results, intervals=style.intervals, nearness=nearness)
    for (title, table, notes), own in zip(shown, geometry_tables(distances), strict=True):
        yield PlainSection(
            title=title[:1].upper() + title[1:],
            grid=table,
            notes=tuple(notes.splitlines()),
            picture=pictures.contrasts(own, nearness),
        )


def _curves(curves: Sequence[Curve], style: tables.CellStyle) -> Iterator[PlainSection]:
    tables = curve_tables(curves, intervals=style.intervals)
    for curve, (title, table, notes) in zip(curves, tables, strict=True):
        yield PlainSection(
            title=title,
            grid=table,
            notes=tuple(notes.splitlines()),
            picture=pictures.moments(curve),
        )


def _section(
    results: Results, style: tables.CellStyle, *, title: str, folders: tuple[str, ...], by: Lengths
) -> ReportSection:
    presets = dict.fromkeys(map(short_name, tables.trained(results)))
    named = (f"classifier: {' and '.join(presets)}",) if presets else ()
    sentence, *notes = tables.describe(results)
    found = standings(results)
    return ReportSection(
        title=title,
        lead=lead(results),
        sentence=sentence,
        table=page_table(tables.grid(results, style=style), found, intervals=style.intervals),
        tied=tuple(group_lines(found)),
        notes=(*folders, *named, *notes, *tables.of_papers(results, style)),
        warnings=tuple(sanity.warnings(results)),
        at_chance=tuple(sanity.chance_line(results)),
        verdicts=tuple(sanity.verdicts(results)),
        runs=sanity.sanity_runs(results),
        pictures=(
            pictures.encoders_by_task(results, found),
            *pictures.layers(results),
            *pictures.lengths(results, by),
            *method_pictures.by_method(results),
        ),
    )
