"""Output of ``probe run`` and ``probe show``: tables, series by length, views of test items, plots, the report page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sentprobe.commands.shared.table_output import FLAT, print_or_write, write_tables
from sentprobe.common import tables as tw
from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.common.screen import print_message
from sentprobe.common.specs import Lengths
from sentprobe.common.tables import ShownTable, format_tables
from sentprobe.probes.language_models.pair_results import PairTables, name_pair_tables, read_pair_tables
from sentprobe.probes.reports import comparisons, item_parts
from sentprobe.probes.reports.comparisons import EncoderResults
from sentprobe.probes.reports.pages.length_series import SERIES_NOTES, build_series_grids, check_lengths, series_records
from sentprobe.probes.reports.tables import main_table, part_tables
from sentprobe.probes.reports.tables.distance_report import build_geometry_sections, join_records, sort_by_task
from sentprobe.probes.reports.tables.main_table import to_published_records
from sentprobe.probes.reports.tables.table_notes import SHORT, NoteStyle
from sentprobe.probes.reports.tables.training_curves import Curve, build_curve_tables, separate_training_curves
from sentprobe.probes.reports.tables.view import build_method_tables, build_sections, choose_notes, to_method_records
from sentprobe.probes.results.item_table import ItemTable, has_held_out, has_items, read_item_tables
from sentprobe.probes.results.records import TrainingCurve
from sentprobe.probes.results.result import Results
from sentprobe.probes.results.store import read_results
from sentprobe.probes.similarity.distance_draws import build_geometry_tables
from sentprobe.probes.similarity.distance_results import GeometryResult, read_geometry
from sentprobe.probes.similarity.distance_tables import check_nearness
from sentprobe.probes.similarity.measures import Nearness

if TYPE_CHECKING:
    from sentprobe.probes.audits.cue_audit import Audit
    from sentprobe.probes.reports.pages.panels import ResultPicture


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The style of the output, and results that are shown in addition to accuracies of probes."""

    style: main_table.CellStyle = main_table.CellStyle()  # noqa: RUF009 - frozen
    notes: NoteStyle = SHORT
    by_length: Lengths | None = None
    caption: tw.Caption = tw.NO_CAPTION
    distances: tuple[GeometryResult, ...] = ()
    nearness: Nearness = Nearness.COSINE
    curves: tuple[Curve, ...] = ()
    items: tuple[ItemTable, ...] = ()
    """Test items of tasks with a held-out structure, for accuracy on trained and on held-out structures."""
    audits: "tuple[Audit, ...]" = ()
    pair_tables: PairTables = ()
    """Results of language models on minimal pairs."""


def read_audit_files(paths: Sequence[Path]) -> "tuple[Audit, ...]":
    """Read the audits in JSON files of ``probe audit``."""
    from sentprobe.probes.audits.audit_report import read_audits

    return tuple(audit for path in paths for audit in read_audits(path))


def _load_stored_items(results: Results) -> tuple[ItemTable, ...]:
    """Read the stored test items of each dataset; print on stderr which tables are damaged, and skip them."""
    results_by_dataset = {(r.source, r.task, r.dataset_fingerprint): r for r in results.records}
    tables: dict[tuple[str, str], ItemTable] = {}
    for result in results_by_dataset.values():
        if not has_items(result, Path(result.source)):
            continue
        try:
            tables |= {(table.task, table.fingerprint): table for table in read_item_tables([result])}
        except SentprobeError as error:
            print_message(f"left out: test items: {error}")
    return tuple(tables.values())


def find_held_out_items(results: Results) -> tuple[ItemTable, ...]:
    """Return the stored test items of tasks with a held-out structure."""
    return _load_stored_items(Results(tuple(filter(has_held_out, results.records))))


def draw_plot(
    results: Results,
    by_length: Lengths | None,
    distances: Sequence[GeometryResult],
    nearness: Nearness,
    learning_curves: Sequence[TrainingCurve],
) -> "ResultPicture":
    """Return a plot of results by sentence length if *by_length* is set, else by layer, training step or contrast.

    Raises UsageError if there is nothing to plot, or too much for one plot: for example, results of different settings.
    """
    from sentprobe.probes.reports.pages import page_pictures

    if by_length is not None:
        check_lengths(results)
        settings = main_table.split_single_draws(results)
        _check_single(settings, "settings (classifier, data, probe words or seed)")
        pictures = page_pictures.draw_length_pictures(settings[0], by_length)
        return _take_first(pictures, "no task has test sentences of several lengths")
    *_, curves = separate_training_curves(results, distances, learning_curves)
    layered_draws = [draw for draw in main_table.split_single_draws(results) if page_pictures.find_layered_models(draw)]
    if curves and not layered_draws:
        _check_single(curves, "trainings (name, seed or folder)")
        picture = page_pictures.draw_training_picture(curves[0])
        return replace(picture, title=f"{curves[0].name} in training")
    if not results.records:
        tables = build_geometry_tables(distances)
        if not tables:
            raise UsageError("there is nothing to plot: no results of probes or geometry")
        _check_single(tables, "tables of geometry")
        picture = page_pictures.draw_contrast_picture(tables[0], nearness)
        return replace(picture, title=f"{picture.title}, by {nearness.value}")
    _check_single(layered_draws, "settings with layers (classifier, data or seed)")
    pictures = page_pictures.draw_layer_pictures(layered_draws[0] if layered_draws else results)
    return _take_first(pictures, "no model has several layers")


def _check_single(parts: Sequence[object], description: str) -> None:
    """Raise UsageError if there are several things to plot; *description* names them."""
    if len(parts) > 1:
        raise UsageError(
            f"there are {len(parts)} {description}, and a plot shows one: name fewer runs, or use "
            "--format html, which has a plot of each"
        )


def _take_first(pictures: "Iterator[ResultPicture]", reason: str) -> "ResultPicture":
    picture = next(pictures, None)
    if picture is None:
        raise UsageError(f"there is nothing to plot: {reason}")
    return picture


def format_results(results: Results, view: View, fmt: tw.TableFormat) -> str:
    """Return results as text in the format *fmt*: as flat records (CSV, JSON), an HTML page, or tables."""
    if fmt in FLAT and view.by_length is not None:
        check_lengths(results)
        return tw.format_records(series_records(results, by=view.by_length), fmt)
    if fmt in FLAT:
        papers = to_published_records(results) if view.style.published else []
        pair_records = [record for table in view.pair_tables for record in table.to_accuracy_records()]
        people = main_table.to_human_records(view.style.human)
        records = join_records(results, view.distances, people, papers, to_method_records(results), pair_records)
        return tw.format_records(records, fmt)
    if fmt is tw.TableFormat.HTML:
        from sentprobe.probes.reports.pages.html import build_report_page

        by = view.by_length or Lengths.BINS
        return build_report_page(
            results,
            view.distances,
            style=view.style,
            by=by,
            curves=view.curves,
            nearness=view.nearness,
            items=_load_stored_items(results),
            audits=view.audits,
            pair_tables=[*build_pair_sections(view)],
            pair_provenances=[provenance for table in view.pair_tables for provenance in table.provenances],
        )
    view = replace(view, notes=choose_notes(fmt, view.notes))
    return format_tables(list(build_tables(results, view)), fmt, caption=view.caption)


def build_tables(results: Results, view: View) -> Iterator[ShownTable]:
    """Yield the tables by sentence length if the view asks for them; otherwise, yield all other tables."""
    if view.by_length is not None:
        yield from _build_series_tables(results, view.by_length, view.style)
        return
    yield from build_sections(results, view.style, view.notes)
    yield from main_table.build_human_tables(view.style.human, results)
    yield from part_tables.build_structure_tables(results, part_tables.index_by_fingerprint(view.items), view.style)
    yield from build_geometry_sections(view.distances, results, intervals=view.style.intervals, nearness=view.nearness)
    yield from build_curve_tables(view.curves, intervals=view.style.intervals)
    yield from build_method_tables(results)
    yield from build_pair_sections(view)


def build_pair_sections(view: View) -> Iterator[ShownTable]:
    """Yield the accuracies of language models: one table for each combination of a set of pairs and a kind of score."""
    titles = name_pair_tables(len(view.pair_tables))
    for title, table in zip(titles, view.pair_tables, strict=True):
        yield title, *table.build_accuracy_grid(intervals=view.style.intervals)


def _build_series_tables(results: Results, by: Lengths, style: main_table.CellStyle) -> Iterator[ShownTable]:
    """Yield one table for each task in each draw: accuracies and norms by sentence length. Raises UsageError."""
    check_lengths(results)
    tables = main_table.split_single_draws(results)
    shown = [
        (title if number == 0 else "", grid)
        for title, draw in zip(main_table.describe_differences(tables), tables, strict=True)
        for number, grid in enumerate(build_series_grids(draw, by=by, style=style))
    ]
    for number, (title, grid) in enumerate(shown, 1):
        yield title, grid, "".join(f"{note}\n" for note in SERIES_NOTES) if number == len(shown) else ""


def write_item_view(
    results: Results,
    fmt: tw.TableFormat,
    *,
    encoder: str | None,
    task: str | None,
    by: str | None,
    wrong: int | None,
    style: main_table.CellStyle,
    caption: tw.Caption,
    out: Path | None,
) -> None:
    """Show, for each value of column *by*, the accuracy or, if *wrong* is a number, up to that many mistakes."""
    results = item_parts.select_results(results, encoder=encoder, task=task)
    items = part_tables.index_by_fingerprint(read_item_tables(results.records))
    if wrong is None:
        tables = part_tables.build_part_tables(results, items, by or "", style)
        make_records = partial(part_tables.to_part_records, results, items, by or "")
        write_tables(tables, make_records, fmt, out=out, caption=caption)
        return
    wrong_items = item_parts.find_all_mistakes(results, items, wrong, column=by)
    if fmt is tw.TableFormat.TEXT:
        text = "\n\n".join("\n".join(item_parts.render_mistakes(group)) for group in wrong_items)
        print_or_write(f"{text}\n", out, wrapped=True)
    elif fmt is tw.TableFormat.MARKDOWN:
        print_or_write("\n".join(map(item_parts.render_mistakes_markdown, wrong_items)), out)
    else:
        grids = ((group.title, item_parts.build_mistake_grid(group), "") for group in wrong_items)
        write_tables(grids, partial(item_parts.to_mistake_records, wrong_items), fmt, out=out, caption=caption)


def read_runs(runs: Sequence[Path]) -> Results:
    """Return the results of several runs, in the order of :func:`main_table.sort_results`."""
    records = [record for path in runs for record in read_results(path).records]
    return main_table.sort_results(Results(tuple(records)))


def read_reviewed_runs(runs: Sequence[Path]) -> tuple[Results, PairTables]:
    """Read the results of probes and of language models; raise UsageError if the folders contain neither."""
    results, pair_tables = read_runs(runs), read_pair_tables(runs)
    if not results.records and not pair_tables:
        raise UsageError(f"{', '.join(map(str, runs))}: no results of probes or language models yet")
    return results, pair_tables


def read_distances(runs: Sequence[Path]) -> tuple[GeometryResult, ...]:
    """Read the results of ``probe geometry`` in the folders."""
    return sort_by_task([result for path in runs for result in read_geometry(path)])


def check_distances(results: Sequence[GeometryResult], nearness: Nearness) -> None:
    """Raise UsageError if no result has this measure of nearness. The default, cosine, is always accepted."""
    if nearness is Nearness.COSINE:
        return
    if not results:
        raise UsageError("--nearness is for geometry, and there are no results of it")
    check_nearness(results, nearness)


def build_sides(results: Results, source: str, table: int | None = None, *, hint: str = "") -> list[EncoderResults]:
    """Return the results of each encoder in a run. Raises UsageError if *table* is wrong, or is None but needed.

    - source: name of the run for messages
    - table: number of a table that ``probe show`` prints; needed if two tables have results of one encoder on one task
    - hint: advice at the end of the error message if *table* is needed. Default: choose a table with --table
    """
    tables = main_table.split_settings(main_table.sort_results(results))
    if table is not None and len(tables) > 1:
        if not 1 <= table <= len(tables):
            raise UsageError(f"{source} has the tables 1 to {len(tables)}, and no table {table}")
        tables = tables[table - 1 : table]
    joined_results = Results(tuple(record for draw_results in tables for record in draw_results.records))
    choice = f"choose one of its {len(tables)} tables, as probe show numbers them, with --table"
    return comparisons.group_by_encoder(joined_results, source, hint=hint or choice)
