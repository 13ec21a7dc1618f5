"""Draws, joined into one table: the data, untrained weights, random vectors and probes of a run with one ``--seed``."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from sentprobe.probes.results.result import EncoderOnTask, Result, Results
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.specs import remove_run_seed


def join_draws(tables: Sequence[Results]) -> tuple[Results, ...]:
    """Join tables that differ only in their draw, in order of seed; each table has one seed.

    Joined tables have the same encoders and tasks, with the same settings. Different data or vectors must come from the
    same recipe with another seed; tables with an unknown seed or origin stay separate. An encoder whose name has the
    run's own seed (``bow?seed=10`` in the draw 10) is named without it.
    """
    joined = tuple(tables)
    namings: tuple[Naming, ...] = (
        lambda record: record.encoder,
        lambda record: remove_run_seed(record.encoder, record.seed),
    )
    for naming in namings:
        joined = _join_by_name(joined, naming)
    return joined


Naming = Callable[[Result], str]


def _join_by_name(tables: Sequence[Results], naming: Naming) -> tuple[Results, ...]:
    groups: list[list[Results]] = []
    for table in tables:
        named = _rename_encoders(table, naming)
        places = (g for g in groups if all(_are_draws(_rename_encoders(member, naming), named) for member in g))
        if group := next(places, None):
            group.append(table)
        else:
            groups.append([table])
    return tuple(g[0] if len(g) == 1 else _concatenate_draws(g, naming) for g in groups)


def _rename_encoders(table: Results, naming: Naming) -> Results:
    names = [*map(naming, table.records)]
    if names == [record.encoder for record in table.records]:
        return table
    return Results(tuple(replace(record, encoder=n) for record, n in zip(table.records, names, strict=True)))


def _concatenate_draws(tables: Sequence[Results], naming: Naming) -> Results:
    ordered = sorted(tables, key=lambda table: min(list_seeds(table)))
    return Results(tuple(chain.from_iterable(_rename_encoders(table, naming).records for table in ordered)))


def _are_draws(first: Results, second: Results) -> bool:
    if any(len({(r.seed, *r.cell) for r in table.records}) < len(table.records) for table in (first, second)):
        return False  # without their seeds, two encoders have one name
    if first.records_by_cell.keys() != second.records_by_cell.keys():
        return False
    pairs = ((a, b) for a in first.records for b in second.records_by_cell[a.cell])
    return all(differ_in_draw(a, b) for a, b in pairs)


def differ_in_draw(first: Result, second: Result) -> bool:
    """Return whether two results of one cell differ in nothing but their draw."""
    if first.data is None or second.data is None:
        return False
    if first.seed == second.seed or _list_probe_seeds(first) & _list_probe_seeds(second):
        return False
    same_data = first.dataset_fingerprint == second.dataset_fingerprint
    same_vectors = first.encoder_fingerprint == second.encoder_fingerprint
    seeds = (first.encoder_seed, second.encoder_seed)
    drawn = None not in seeds and seeds[0] != seeds[1]
    return (
        _get_settings(first) == _get_settings(second)
        and (same_data or first.data.is_other_draw(second.data))
        and (same_vectors or drawn)
    )


def _get_settings(record: Result) -> tuple[object, ...]:
    return record.preset, record.probe_vectors, record.dim, record.labels, record.layer


def _list_probe_seeds(record: Result) -> set[int]:
    return {probe.seed for score in record.scores.values() for probe in score.seeds}


def find_missing_cells(tables: Sequence[Results]) -> tuple[tuple[EncoderOnTask, ...], ...]:
    """Return, for each table, the encoders and tasks that only other draws of the same run have."""
    by_preset: dict[Preset, list[Results]] = {}  # draws of one run share it
    for table in tables:
        by_preset.setdefault(table.records[0].preset, []).append(table)
    return tuple(
        tuple(
            dict.fromkeys(
                record.cell
                for candidate in by_preset[table.records[0].preset]
                if _are_other_draws(table, candidate)
                for record in candidate.records
                if not _list_cells(record) & own_cells
            )
        )
        for table in tables
        for own_cells in [{cell for record in table.records for cell in _list_cells(record)}]
    )


def _list_cells(record: Result) -> set[EncoderOnTask]:
    """Return the cell of a record, also without the run's seed in the name of its encoder."""
    return {record.cell, (remove_run_seed(record.encoder, record.seed), record.task)}


def _are_other_draws(first: Results, second: Results) -> bool:
    """Return whether two tables have tasks in common, and differ in their draws and cells only."""
    if {*list_seeds(first)} & {*list_seeds(second)}:
        return False
    questions = _group_questions(second)
    pairs = [(a, b) for task, asked in _group_questions(first).items() for a in asked for b in questions.get(task, ())]
    return (
        bool(pairs)
        and all(_have_same_questions(a, b) for a, b in pairs)
        and all(differ_in_draw(a, b) for a in first.records for b in second.records_by_cell.get(a.cell, ()))
    )


def _group_questions(table: Results) -> Mapping[str, Collection[Result]]:
    """Return a result of each dataset, by task."""
    datasets: dict[str, dict[object, Result]] = {}
    for record in table.records:
        datasets.setdefault(record.task, {})[record.dataset_fingerprint, record.data] = record
    return {task: by_dataset.values() for task, by_dataset in datasets.items()}


def _have_same_questions(first: Result, second: Result) -> bool:
    """Return whether two results have the same dataset, or draws of one."""
    is_drawn = first.data is not None and second.data is not None and first.data.is_other_draw(second.data)
    return first.dataset_fingerprint == second.dataset_fingerprint or is_drawn


def list_seeds(results: Results) -> list[int]:
    """Return the seeds of the draws among the results, in order."""
    return sorted({record.seed for record in results.records})


def split_draws(results: Results) -> tuple[Results, ...]:
    """Return the results of each draw, in order of seed."""
    return tuple(
        Results(tuple(record for record in results.records if record.seed == seed)) for seed in list_seeds(results)
    )


def find_draws(results: Results, record: Result) -> list[Result]:
    """Return the results in the cell of a record, one for each draw."""
    return [*results.records_by_cell.get(record.cell, ())]


def group_by_cell(results: Results) -> Iterator[list[Result]]:
    """Yield the results of each encoder on each task, one for each draw."""
    yield from ([*records] for records in results.records_by_cell.values())
