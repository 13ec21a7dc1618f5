"""Recognition of draws: results of one run that differ only in seed, data, untrained weights and probes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from sentprobe.probes.results.result import EncoderOnTask, Result, Results
from sentprobe.specs import remove_run_seed
from sentprobe.values import group_by


def join_draws(tables: Sequence[Results]) -> tuple[Results, ...]:
    """Join tables that are draws of the same run; return one table for each run, with its draws in order of seed.

    Draws of a run have different seeds, but the same encoders, tasks and settings. They have the same data, or data
    that differ only in the seed. They have the same vectors, or vectors that differ only in the seed. If the name of an
    encoder contains its draw's seed (``bow?seed=10`` in draw 10), the joined table leaves this seed out of the name.
    """
    joined = _join_by_name([(table, table) for table in tables])
    return _join_by_name([(table, _remove_seeds(table)) for table in joined])


def _join_by_name(tables: Iterable[tuple[Results, Results]]) -> tuple[Results, ...]:
    """Join tables that are draws of one run; return one table for each run.

    *tables* has pairs of a table and its copy. Encoder names in a copy may lack the draw's seed. The copies show which
    tables are draws of the same run; such copies are joined. If a run has one draw, its original table is returned.
    """
    groups: list[list[tuple[Results, Results]]] = []
    for table, renamed in tables:
        matching = (g for g in groups if all(_are_draws(member, renamed) for _, member in g))
        if (group := next(matching, None)) is None:
            groups.append(group := [])
        group.append((table, renamed))
    return tuple(
        group[0][0] if len(group) == 1 else Results(tuple(record for _, table in group for record in table.records))
        for group in (sorted(members, key=lambda forms: min(list_seeds(forms[0]))) for members in groups)
    )


def _remove_seeds(table: Results) -> Results:
    names = [remove_run_seed(record.encoder, record.seed) for record in table.records]
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
    # Probes with the same seed have the same random weights: they are not independent.
    if first.seed == second.seed or _list_probe_seeds(first) & _list_probe_seeds(second):
        return False
    # Equal data and equal vectors are draws of the probes alone; other ones must be known to differ only in the seed.
    same_data = first.dataset_fingerprint == second.dataset_fingerprint
    same_vectors = first.encoder_fingerprint == second.encoder_fingerprint
    seeds = (first.encoder_seed, second.encoder_seed)
    drawn = None not in seeds and seeds[0] != seeds[1]
    settings = ("preset", "probe_vectors", "dim", "labels", "layer")
    same_settings = all(getattr(first, name) == getattr(second, name) for name in settings)
    return same_settings and (same_data or are_drawn_alike(first, second)) and (same_vectors or drawn)


def are_drawn_alike(first: Result, second: Result) -> bool:
    """Return whether the datasets of two results are known to differ only in the seed."""
    return first.data is not None and second.data is not None and first.data.is_other_draw(second.data)


def _list_probe_seeds(record: Result) -> set[int]:
    return {probe.seed for score in record.scores.values() for probe in score.seeds}


def find_missing_cells(tables: Sequence[Results]) -> tuple[tuple[EncoderOnTask, ...], ...]:
    """Return, for each table, the (encoder, task) pairs that it lacks and that another draw of the same run has."""
    by_preset = group_by(tables, lambda table: table.records[0].preset)  # draws of one run share the preset
    missing = []
    for table in tables:
        table_cells = {cell for record in table.records for cell in _list_cells(record)}
        draws = (draw for draw in by_preset[table.records[0].preset] if _are_other_draws(table, draw))
        records = (record for draw in draws for record in draw.records)
        missing.append(tuple(dict.fromkeys(r.cell for r in records if table_cells.isdisjoint(_list_cells(r)))))
    return tuple(missing)


def _list_cells(record: Result) -> set[EncoderOnTask]:
    """Return a result's (encoder, task) pair, and the same pair without the run's seed in the encoder's name."""
    return {record.cell, (remove_run_seed(record.encoder, record.seed), record.task)}


def _are_other_draws(first: Results, second: Results) -> bool:
    """Return whether two tables are different draws of one run; each may lack encoders or tasks of the other."""
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
    """Map each task to its results on different datasets. Of several results on a dataset, only the last is kept."""
    datasets: dict[str, dict[object, Result]] = {}
    for record in table.records:
        datasets.setdefault(record.task, {})[record.dataset_fingerprint, record.data] = record
    return {task: by_dataset.values() for task, by_dataset in datasets.items()}


def list_seeds(results: Results) -> list[int]:
    """Return the distinct seeds of the draws in the results, sorted."""
    return sorted({record.seed for record in results.records})
