"""Results of geometry as ``probe show`` has them: tables, and what probes have beside them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import mean
from typing import Any

from sentprobe.probes.geometry.draws import GeometryTable, cell_of, geometry_tables, seeds_of
from sentprobe.probes.geometry.measures import Nearness
from sentprobe.probes.geometry.results import GeometryResult, to_records
from sentprobe.probes.geometry.tables import (
    Beside,
    encoders_of,
    explain,
    geometry_grid,
    told_held_out,
)
from sentprobe.probes.report.figures import figure_of
from sentprobe.probes.report.methods import records_with_figures
from sentprobe.probes.report.tables import show_score
from sentprobe.probes.report.view import ShownTable
from sentprobe.probes.runs.results import Condition, Result, Results, SeedScore, make_score, pack
from sentprobe.probes.runs.store import identity
from sentprobe.probes.suites import known_tasks
from sentprobe.probes.trainer.presets import short_name

SEMROLE = "SemRole"
"""The task whose probes are told of beside triplets of other sentences."""


def by_task(results: Iterable[GeometryResult]) -> tuple[GeometryResult, ...]:
    """Return the results with tasks in the order of the papers' tables."""
    ranks = {task.name: rank for rank, task in enumerate(known_tasks())}
    return tuple(sorted(results, key=lambda each: ranks.get(each.contrast, len(ranks))))


def beside(
    results: Sequence[GeometryResult], probed: Sequence[Result], *, intervals: bool
) -> Beside:
    """Return what probes have on the very sentences that are the anchors, by encoder and task.

    Encoder and dataset are known by their fingerprints. Of several draws it is the mean.
    """
    found: dict[tuple[str, str], dict[tuple[str, ...], Result]] = {}
    for each in results:
        key = (each.encoder_fingerprint, each.dataset)
        for record in probed if all(key) else ():
            same = (record.encoder_fingerprint, record.dataset_fingerprint) == key
            if same and Condition.PROBE in record.scores:
                asked = of_items(record, each.items)
                found.setdefault(cell_of(each), {})[identity(record)] = asked
    return {
        cell: _shown([*records.values()], intervals=intervals) for cell, records in found.items()
    }


def of_items(record: Result, items: Sequence[int]) -> Result:
    """Return a result with the probe's score on some of the test items alone."""
    score = record.scores[Condition.PROBE]
    if not items or max(items) >= score.total:
        return record
    units = tuple(record.units[item] for item in items) if record.units else ()
    seeds = (_on(each, items) for each in score.seeds)
    return replace(record, scores={Condition.PROBE: make_score(seeds, units)}, units=units)


def _on(score: SeedScore, items: Sequence[int]) -> SeedScore:
    right = score.items()[list(items)]
    return replace(
        score,
        accuracy=float(right.mean()),
        correct=int(right.sum()),
        total=len(right),
        right=pack(right),
    )


def _shown(records: Sequence[Result], *, intervals: bool) -> str:
    """Return the mean over draws, of each classifier that there is."""
    by_name: dict[str, list[Result]] = {}
    for record in records:
        by_name.setdefault(short_name(record.preset), []).append(record)
    figures = {name: figure_of(draws, Condition.PROBE) for name, draws in by_name.items()}
    texts = {n: show_score(f, intervals=intervals) for n, f in figures.items() if f is not None}
    several = len(texts) > 1
    return ", ".join(f"{text} ({name})" if several else text for name, text in texts.items())


def of_other_sentences(
    results: Sequence[GeometryResult], probed: Iterable[Result]
) -> Iterator[str]:
    """Yield a line of what probes of the same encoders read of SemRole's own sentences.

    Of several, as of other draws of the data or presets, it is the mean.
    """
    known = {(each.encoder, each.encoder_fingerprint) for each in results if not each.dataset}
    found: dict[str, list[float]] = {}
    for record in probed:
        same = record.encoder_fingerprint and (record.encoder, record.encoder_fingerprint) in known
        if record.task == SEMROLE and same and Condition.PROBE in record.scores:
            found.setdefault(record.encoder, []).append(record.scores[Condition.PROBE].accuracy)
    if found:
        shown = ", ".join(f"{name} {_mean(values)}" for name, values in found.items())
        yield f"What a probe reads of who did what to whom ({SEMROLE}, in this folder): {shown}.\n"


def _mean(shares: Sequence[float]) -> str:
    """Return the mean in percent, and of how many it is.

    >>> _mean([0.7]), _mean([0.7, 0.8])
    ('70.0', '75.0 (mean of 2)')
    """
    of = f" (mean of {len(shares)})" if len(shares) > 1 else ""
    return f"{100 * mean(shares):.1f}{of}"


def geometry_sections(
    results: Sequence[GeometryResult],
    probed: Results,
    *,
    intervals: bool,
    nearness: Nearness = Nearness.COSINE,
) -> Iterator[ShownTable]:
    """Yield each table of geometry with what stands above it and the lines below."""
    tables = geometry_tables(results)
    for title, table in zip(geometry_titles(tables), tables, strict=True):
        aside = beside(table, probed.records, intervals=intervals)
        grid = geometry_grid(table, nearness=nearness, intervals=intervals, beside=aside)
        notes = explain(table, nearness)
        lines = "".join(of_other_sentences(table, probed.records))
        yield title, grid, "".join(_origins(table, results)) + notes + lines


def geometry_titles(tables: Sequence[GeometryTable]) -> list[str]:
    """Return what stands above each table: what it is of, its number, and its draws."""
    if len(tables) == 1:
        return ["geometry"]
    return [
        f"geometry, table {number} of {len(tables)}: {_told(table)}"
        for number, table in enumerate(tables, 1)
    ]


def _told(table: GeometryTable) -> str:
    drawing, seeds = table[0].drawing, seeds_of(table)
    words = f"seed{'s' if len(seeds) > 1 else ''} {' and '.join(map(str, seeds))}"
    if table[0].dataset:
        return (
            f"test sentences of {' and '.join(sorted({each.contrast for each in table}))}, {words}"
        )
    of = [drawing.vocabulary, *drawing.templates, *told_held_out(drawing)]
    return f"{drawing.n} triplets of {', '.join(of)}, {words}"


def _origins(table: GeometryTable, results: Sequence[GeometryResult]) -> Iterator[str]:
    """Say which encoders come from which folder, where the results were read from several."""
    folders = dict.fromkeys(each.source for each in results)
    for folder in folders if len(folders) > 1 else ():
        own = encoders_of([each for each in table if each.source == folder])
        if own and folder:
            yield f"from {folder}: {', '.join(own)}\n"


def same_keys(*kinds: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the records of all kinds with the keys of all; what one has not is None.

    >>> same_keys([{"a": 1}], [{"b": 2}])
    [{'a': 1, 'b': None}, {'a': None, 'b': 2}]
    """
    empty = {key: None for records in kinds for record in records[:1] for key in record}
    return [{**empty, **record} for records in kinds for record in records]


def all_records(
    results: Results,
    geometry: Sequence[GeometryResult],
    *others: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Return the flat records of probes, of others, and of geometry, all with the same keys."""
    return same_keys(records_with_figures(results), *others, to_records(geometry))
