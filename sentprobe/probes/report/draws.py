"""Several draws of one run as one table: which tables go together, and what one cell has in each.

A draw is what a run with one ``--seed`` gives: its data, untrained weights, random vectors and
words, and its probes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, product

from sentprobe.probes.runs.results import EncoderOnTask, Result, Results
from sentprobe.specs import without_seed


def join_draws(tables: Sequence[Results]) -> tuple[Results, ...]:
    """Put tables that differ only in their draw together, each of one seed, in order of seed.

    They have the same encoders on the same tasks, of the same settings; where the data is not the
    same it was built alike by another seed, and where the vectors are not they were drawn by
    another. Of results from before this was kept nobody knows, and they stay apart. An encoder
    whose name has the run's own seed (``bow?seed=10`` in the draw 10) is called without it.
    """
    found = tuple(tables)
    for naming in (_plain, _without_seed):
        found = _joined(found, naming)
    return found


Naming = Callable[[Result], str]


def _plain(record: Result) -> str:
    return record.encoder


def _without_seed(record: Result) -> str:
    return without_seed(record.encoder, record.seed)


def _joined(tables: Sequence[Results], naming: Naming) -> tuple[Results, ...]:
    groups: list[list[Results]] = []
    for table in tables:
        named = _renamed(table, naming)
        places = (g for g in groups if all(_are_draws(_renamed(e, naming), named) for e in g))
        group = next(places, None)
        if group is None:
            groups.append([table])
        else:
            group.append(table)
    return tuple(g[0] if len(g) == 1 else _together(g, naming) for g in groups)


def _renamed(table: Results, naming: Naming) -> Results:
    return Results(tuple(replace(each, encoder=naming(each)) for each in table.records))


def _together(tables: Sequence[Results], naming: Naming) -> Results:
    ordered = sorted(tables, key=lambda table: min(seeds_of(table)))
    return Results(tuple(chain.from_iterable(_renamed(e, naming).records for e in ordered)))


def _are_draws(one: Results, other: Results) -> bool:
    """Say whether two tables are of the same cells, each in draws of its own."""
    cells = [{(r.seed, r.encoder, r.task) for r in table.records} for table in (one, other)]
    if any(len(c) < len(t.records) for c, t in zip(cells, (one, other), strict=True)):
        return False  # without their seeds, two encoders have one name
    if {cell[1:] for cell in cells[0]} != {cell[1:] for cell in cells[1]}:
        return False
    pairs = product(one.records, other.records)
    return all(differ_in_draw(a, b) for a, b in pairs if a.cell == b.cell)


def differ_in_draw(one: Result, other: Result) -> bool:
    """Say whether two results, of one encoder on one task, differ in nothing but their draw."""
    if one.data is None or other.data is None:
        return False
    if one.seed == other.seed or _probe_seeds(one) & _probe_seeds(other):
        return False
    same_data = one.dataset_fingerprint == other.dataset_fingerprint
    same_vectors = one.encoder_fingerprint == other.encoder_fingerprint
    seeds = (one.encoder_seed, other.encoder_seed)
    drawn = None not in seeds and seeds[0] != seeds[1]
    return (
        _settings(one) == _settings(other)
        and (same_data or one.data.same_but_drawn(other.data))
        and (same_vectors or drawn)
    )


def _settings(record: Result) -> tuple[object, ...]:
    return record.preset, record.probe_vectors, record.dim, record.labels, record.layer


def _probe_seeds(record: Result) -> set[int]:
    return {each.seed for score in record.scores.values() for each in score.seeds}


def seeds_of(results: Results) -> list[int]:
    """Return the seeds of the draws among the results, in order."""
    return sorted({record.seed for record in results.records})


def in_draws(results: Results) -> tuple[Results, ...]:
    """Return the results of each draw of one table by itself, in order of seed."""
    return tuple(
        Results(tuple(record for record in results.records if record.seed == seed))
        for seed in seeds_of(results)
    )


def draws_of(results: Results, record: Result) -> list[Result]:
    """Return the results in the cell of a record, one for each draw."""
    return [each for each in results.records if each.cell == record.cell]


def cells(results: Results) -> Iterator[list[Result]]:
    """Yield the results of each encoder on each task, one for each draw."""
    by_cell: dict[EncoderOnTask, list[Result]] = {}
    for record in results.records:
        by_cell.setdefault(record.cell, []).append(record)
    yield from by_cell.values()
