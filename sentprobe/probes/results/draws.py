"""Recognition of draws: results of one run that differ only in seed, data, untrained weights and probes."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import Field, replace
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar

from sentprobe.common.specs import remove_run_seed
from sentprobe.common.values import group_by
from sentprobe.probes.results.result import EncoderOnTask, Result, Results


class DrawnResult(Protocol):
    """A result of a draw: the accuracy of probes, or the distances between vectors."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def encoder(self) -> str: ...


Drawn = TypeVar("Drawn", bound=DrawnResult)
ResultsByCell: TypeAlias = Mapping[EncoderOnTask, Sequence[Drawn]]


def join_tables(
    tables: Iterable[tuple[Drawn, ...]],
    *,
    get_cell: Callable[[Drawn], EncoderOnTask],
    get_seed: Callable[[Drawn], int],
    differ: Callable[[Drawn, Drawn], bool],
) -> list[tuple[Drawn, ...]]:
    """Join tables that are draws of one run; return one table for each run, with its draws in order of seed.

    If the name of an encoder contains its draw's seed (``bow?seed=10`` in draw 10), a joined table leaves this seed out
    of the name. A table that is joined with no other keeps its names.

    - get_cell: returns a result's encoder and task
    - get_seed: returns the seed of a result's draw
    - differ: returns whether two results of the same cell are different draws with the same settings
    """
    joined = [*tables]
    # Names as they are go first: of an encoder ``bow?seed=10`` in draws 10 and 20, only draw 10 would lose the seed.
    for without_seeds in (False, True):
        groups: list[list[tuple[tuple[Drawn, ...], tuple[Drawn, ...], ResultsByCell[Drawn]]]] = []
        for table in joined:
            renamed = tuple(_remove_seed(result, get_seed(result)) for result in table) if without_seeds else table
            cells = group_by(renamed, get_cell)
            matching = (g for g in groups if all(_are_draws(other, cells, get_seed, differ) for *_, other in g))
            if (group := next(matching, None)) is None:
                groups.append(group := [])
            group.append((table, renamed, cells))
        for group in groups:
            group.sort(key=lambda member: min(map(get_seed, member[0])))
        joined = [
            group[0][0] if len(group) == 1 else tuple(result for _, renamed, _ in group for result in renamed)
            for group in groups
        ]
    return joined


def _remove_seed(result: Drawn, seed: int) -> Drawn:
    name = remove_run_seed(result.encoder, seed)
    return result if name == result.encoder else replace(result, encoder=name)


def _are_draws(
    first: ResultsByCell[Drawn],
    second: ResultsByCell[Drawn],
    get_seed: Callable[[Drawn], int],
    differ: Callable[[Drawn, Drawn], bool],
) -> bool:
    for results in (*first.values(), *second.values()):
        if len({*map(get_seed, results)}) < len(results):
            return False  # two encoders of a table have the same name if their seeds are left out
    if first.keys() != second.keys():
        return False
    return all(differ(a, b) for cell, results in first.items() for a in results for b in second[cell])


def join_draws(tables: Sequence[Results]) -> tuple[Results, ...]:
    """Join tables that are draws of the same run (:func:`join_tables`); return one table for each run.

    Draws of a run have different seeds, but the same encoders, tasks and settings. They have the same data, or data
    that differ only in the seed. They have the same vectors, or vectors that differ only in the seed.
    """
    joined = join_tables(
        [table.records for table in tables],
        get_cell=lambda result: result.cell,
        get_seed=lambda result: result.seed,
        differ=differ_in_draw,
    )
    return tuple(map(Results, joined))


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
    # Two draws of one run never have a seed in common.
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
