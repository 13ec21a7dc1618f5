"""Tables of ``probe geometry``, and the accuracies of probes on the vectors of the same encoders."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import mean
from typing import Any

import numpy as np

from sentprobe.common.tables import ShownTable
from sentprobe.common.values import group_by
from sentprobe.probes.classifier.presets import format_preset_name
from sentprobe.probes.reports.figures import compute_figure
from sentprobe.probes.reports.item_parts import select_items
from sentprobe.probes.reports.tables.main_table import format_figure
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.results.store import find_identity
from sentprobe.probes.runs.suites import list_known_tasks
from sentprobe.probes.similarity import distance_tables
from sentprobe.probes.similarity.distance_draws import GeometryTable, build_geometry_tables, get_cell, list_seeds
from sentprobe.probes.similarity.distance_results import GeometryResult, to_geometry_records
from sentprobe.probes.similarity.measures import Nearness

SEMROLE = "SemRole"
"""The task whose probe accuracies stand below geometry tables on generated triplets."""


def sort_by_task(results: Iterable[GeometryResult]) -> tuple[GeometryResult, ...]:
    """Sort geometry results on known tasks in the order of :func:`list_known_tasks`; all other results come last."""
    ranks = {task.name: rank for rank, task in enumerate(list_known_tasks())}
    return tuple(sorted(results, key=lambda result: ranks.get(result.contrast, len(ranks))))


def describe_probe_accuracies(
    results: Sequence[GeometryResult], probed: Sequence[Result], *, intervals: bool
) -> distance_tables.ProbeCells:
    """Return the mean accuracy of probes, as text, by encoder and task.

    A probe belongs to a geometry result with the same encoder and dataset. It is tested on this result's anchors only.
    """
    by_cell: dict[tuple[str, str], dict[tuple[str, ...], Result]] = {}
    for result in results:
        key = (result.encoder_fingerprint, result.dataset)
        for record in probed if all(key) else ():
            is_same = (record.encoder_fingerprint, record.dataset_fingerprint) == key
            if is_same and Condition.PROBE in record.scores:
                selected = select_items_with_probe(record, result.items)
                by_cell.setdefault(get_cell(result), {})[find_identity(record)] = selected
    return {cell: _format_accuracies([*records.values()], intervals=intervals) for cell, records in by_cell.items()}


def select_items_with_probe(record: Result, items: Sequence[int]) -> Result:
    """Return a result that has only the main probe's score, on the test items with these indices.

    If *items* is empty or has an index that does not exist, return the result unchanged.
    """
    score = record.scores[Condition.PROBE]
    if not items or max(items) >= score.total:
        return record
    probe_only = replace(record, scores={Condition.PROBE: score})
    return select_items(probe_only, np.isin(np.arange(score.total), items), majority=record.majority)


def _format_accuracies(records: Sequence[Result], *, intervals: bool) -> str:
    by_name = group_by(records, lambda record: format_preset_name(record.preset))
    figures = {name: compute_figure(draws, Condition.PROBE) for name, draws in by_name.items()}
    texts = {n: format_figure(f, intervals=intervals) for n, f in figures.items() if f is not None}
    return ", ".join(f"{text} ({name})" if len(texts) > 1 else text for name, text in texts.items())


def describe_semrole_accuracies(results: Sequence[GeometryResult], probed: Iterable[Result]) -> Iterator[str]:
    """Yield the line "Accuracy of probes on SemRole in this folder: ENCODER 71.2, ...", if there are such probes."""
    encoders = {(result.encoder, result.encoder_fingerprint) for result in results if not result.dataset}
    accuracies: dict[str, list[float]] = {}
    for record in probed:
        is_same = record.encoder_fingerprint and (record.encoder, record.encoder_fingerprint) in encoders
        if record.task == SEMROLE and is_same and Condition.PROBE in record.scores:
            accuracies.setdefault(record.encoder, []).append(record.accuracy)
    if accuracies:
        counts = {name: f" (mean of {len(values)})" * (len(values) > 1) for name, values in accuracies.items()}
        texts = (f"{name} {100 * mean(values):.1f}{counts[name]}" for name, values in accuracies.items())
        yield f"Accuracy of probes on {SEMROLE} in this folder: {', '.join(texts)}.\n"


def build_geometry_sections(
    results: Sequence[GeometryResult], probed: Results, *, intervals: bool, nearness: Nearness = Nearness.COSINE
) -> Iterator[ShownTable]:
    """Yield each geometry table as (title, grid, notes)."""
    tables = build_geometry_tables(results)
    for title, table in zip(describe_geometry_titles(tables), tables, strict=True):
        probe_cells = describe_probe_accuracies(table, probed.records, intervals=intervals)
        grid = distance_tables.build_geometry_grid(
            table, nearness=nearness, intervals=intervals, probe_cells=probe_cells
        )
        origins, semrole = _describe_origins(table, results), describe_semrole_accuracies(table, probed.records)
        yield title, grid, "".join((*origins, distance_tables.format_notes(table, nearness), *semrole))


def describe_geometry_titles(tables: Sequence[GeometryTable]) -> list[str]:
    """Return titles such as "geometry, table 1 of 2: test sentences of Tense, seed 0"; "geometry" for one table."""
    if len(tables) == 1:
        return ["geometry"]
    count = len(tables)
    return [f"geometry, table {n} of {count}: {_describe_table(table)}" for n, table in enumerate(tables, 1)]


def _describe_table(table: GeometryTable) -> str:
    drawing, seeds = table[0].drawing, list_seeds(table)
    seeds_text = f"seed{'s' if len(seeds) > 1 else ''} {' and '.join(map(str, seeds))}"
    if table[0].dataset:
        return f"test sentences of {' and '.join(sorted({result.contrast for result in table}))}, {seeds_text}"
    parts = [drawing.vocabulary, *drawing.templates, *distance_tables.describe_held_out(drawing)]
    return f"{drawing.n} triplets of {', '.join(parts)}, {seeds_text}"


def _describe_origins(table: GeometryTable, results: Sequence[GeometryResult]) -> Iterator[str]:
    folders = dict.fromkeys(result.source for result in results)
    for folder in folders if len(folders) > 1 else ():
        encoders = distance_tables.list_encoders([result for result in table if result.source == folder])
        if encoders and folder:
            yield f"from {folder}: {', '.join(encoders)}\n"


def fill_missing_keys(*groups: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the records of all groups in one list; keys that only other groups have are added with the value None."""
    blank = {key: None for records in groups for record in records[:1] for key in record}
    return [{**blank, **record} for records in groups for record in records]


def join_records(
    results: Results, geometry: Sequence[GeometryResult], *other_records: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the records of *results*, *other_records* and *geometry* in one list; all records get the same keys."""
    return fill_missing_keys(results.to_records(), *other_records, to_geometry_records(geometry))
