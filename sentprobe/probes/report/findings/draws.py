"""Recognition of draws: results of one run that differ only in seed, data, untrained weights and probes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from sentprobe.probes.results.result import EncoderOnTask, Result, Results
from sentprobe.specs import remove_run_seed
from sentprobe.values import group_by


def join_draws(tables: Sequence[Results]) -> tuple[Results, ...]:
    """Join the tables that are draws of one run into one table, in order of seed.

    Draws have the same encoders, tasks and settings. Their data and vectors are the same, or were created in the same
    way with another seed. Tables whose data have an unknown origin are not joined. If the name of an encoder contains
    the seed of the draw (``bow?seed=10`` in draw 10), the joined table leaves this seed out of the name.
    """
    joined = _join_by_name(tables, lambda record: record.encoder)
    return _join_by_name(joined, lambda record: remove_run_seed(record.encoder, record.seed))


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
    ordered = (sorted(group, key=lambda table: min(list_seeds(table))) for group in groups)
    return tuple(
        g[0] if len(g) == 1 else Results(tuple(r for table in g for r in _rename_encoders(table, naming).records))
        for g in ordered
    )


def _rename_encoders(table: Results, naming: Naming) -> Results:
    names = [*map(naming, table.records)]
    if names == [record.encoder for record in table.records]:
        return table
    return Results(tuple(replace(record, encoder=n) for record, n in zip(table.records, names, strict=True)))


def _are_draws(first: Results, second: Results) -> bool:
    if any(len({(r.seed, *r.cell) for r in table.records}) < len(table.records) for table in (first, second)):
        return False  # two encoders of a table have the same name if their seeds are left out
    if first.records_by_cell.keys() != second.records_by_cell.keys():
        return False
    pairs = ((a, b) for a in first.records for b in second.records_by_cell[a.cell])
    return all(differ_in_draw(a, b) for a, b in pairs)


def differ_in_draw(first: Result, second: Result) -> bool:
    """Return whether two results of the same encoder and task are different draws with the same settings."""
    if first.data is None or second.data is None:
        return False
    if first.seed == second.seed or _list_probe_seeds(first) & _list_probe_seeds(second):
        return False
    same_data = first.dataset_fingerprint == second.dataset_fingerprint
    same_vectors = first.encoder_fingerprint == second.encoder_fingerprint
    seeds = (first.encoder_seed, second.encoder_seed)
    drawn = None not in seeds and seeds[0] != seeds[1]
    same_settings = bool(_SETTINGS(first) == _SETTINGS(second))
    return same_settings and (same_data or are_drawn_alike(first, second)) and (same_vectors or drawn)


def are_drawn_alike(first: Result, second: Result) -> bool:
    """Return whether the datasets of two results are known to differ only in the seed."""
    return first.data is not None and second.data is not None and first.data.is_other_draw(second.data)


_SETTINGS = attrgetter("preset", "probe_vectors", "dim", "labels", "layer")


def _list_probe_seeds(record: Result) -> set[int]:
    return {probe.seed for score in record.scores.values() for probe in score.seeds}


def find_missing_cells(tables: Sequence[Results]) -> tuple[tuple[EncoderOnTask, ...], ...]:
    """Return, for each table, the (encoder, task) pairs that other draws of the same run have and it lacks."""
    by_preset = group_by(tables, lambda table: table.records[0].preset)  # draws of one run share the preset
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
    """Return (encoder, task) of a result, and the same without the seed of the run in the encoder's name."""
    return {record.cell, (remove_run_seed(record.encoder, record.seed), record.task)}


def _are_other_draws(first: Results, second: Results) -> bool:
    """Return whether two tables are draws of one run, in which some encoders or tasks may be missing."""
    if {*list_seeds(first)} & {*list_seeds(second)}:
        return False
    by_task = _group_datasets(second)
    pairs = [(a, b) for task, results in _group_datasets(first).items() for a in results for b in by_task.get(task, ())]
    return (
        bool(pairs)
        and all(a.dataset_fingerprint == b.dataset_fingerprint or are_drawn_alike(a, b) for a, b in pairs)
        and all(differ_in_draw(a, b) for a in first.records for b in second.records_by_cell.get(a.cell, ()))
    )


def _group_datasets(table: Results) -> Mapping[str, Collection[Result]]:
    """Return, for each task, one result on each of its datasets."""
    datasets: dict[str, dict[object, Result]] = {}
    for record in table.records:
        datasets.setdefault(record.task, {})[record.dataset_fingerprint, record.data] = record
    return {task: by_dataset.values() for task, by_dataset in datasets.items()}


def list_seeds(results: Results) -> list[int]:
    """Return the distinct seeds of the draws in the results, sorted."""
    return sorted({record.seed for record in results.records})
