"""Recognition of draws: results of one run that differ only in seed, data, untrained weights and probes.

The figure in a table cell: mean accuracy over all draws, 95% interval, and test against chance.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.specs import remove_run_seed
from sentprobe.common.values import group_by
from sentprobe.probes.reports import paired_tests
from sentprobe.probes.results.result import Condition, EncoderOnTask, Result, Results
from sentprobe.probes.statistics import Interval, accuracy_interval, binomial_p_value, decompose_spread, design_effect


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


LEAST_UNITS = 10
"""Minimum number of units. If fewer units all have the same share of correct answers, this may be a coincidence."""
FEW_ITEMS = 50
"""Below this number of test items, tables show the interval and the number of items beside an accuracy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The accuracy of an encoder or control on a task, over all draws, as shown in a table cell."""

    accuracy: float
    interval: Interval
    half_width: float | None
    """Half the width of the interval (for several draws, before it is cut off at 0 and 1); None for a single probe."""
    items: int
    chance: float
    """The share of the most frequent label, as the mean over draws."""
    chance_p: float
    between_draws: float | None = None
    between_probes: float | None = None
    """The standard deviation between the probes of one draw; None if it cannot be estimated."""
    test: paired_tests.GainTest | None = None


ConditionCell: TypeAlias = tuple[Sequence[Result], Condition]
"""The results of an encoder on a task, one for each draw; and the condition (main probe or control)."""


def compute_figure(draws: Sequence[Result], condition: Condition) -> Figure | None:
    """Return the mean accuracy over *draws* with its interval and test; None if the condition has no scores."""
    scored = [result for result in draws if condition in result.scores]
    return compute_figures([(scored, condition)])[0] if scored else None


def compute_figures(cells: Sequence[ConditionCell]) -> list[Figure]:
    """Return, for each table cell, the mean accuracy with its interval and its test against chance.

    A cell with one draw gets ``Score.interval``, and the p-value of a binomial test with the effective number of items.
    A cell with several draws gets the interval and p-value of a t-test over draws. The cell's variance is estimated
    with the help of other cells. If some draws of a cell have the same test items, a second interval and p-value are
    computed over the items. The cell then gets the wider interval and the larger p-value.
    """
    tests = iter(_test_draws([cell for cell in cells if len(cell[0]) > 1]))
    figures = []
    for cell in cells:
        figure = _join_draws(cell, next(tests)) if len(cell[0]) > 1 else _describe_one_draw(cell)
        if _is_fixed(cell):
            # No choice of units can change such an accuracy: the interval has width 0, and at chance there is no doubt.
            figure = replace(
                figure,
                interval=Interval(figure.accuracy, figure.accuracy),
                half_width=None if figure.half_width is None else 0.0,
                chance_p=1.0 if abs(figure.accuracy - figure.chance) < paired_tests.ROUNDING else figure.chance_p,
            )
        figures.append(figure)
    return figures


def _is_fixed(cell: ConditionCell) -> bool:
    """Return whether all units have the same accuracy, neither 0 nor 1: a bag of words has 0.5 on each mirror pair."""
    draws, condition = cell
    sums, sizes = zip(*(paired_tests.sum_answers(result, condition) for result in draws), strict=True)
    has_part = 0 < sums[0][0] < sizes[0][0]
    return has_part and min(map(len, sums)) >= LEAST_UNITS and paired_tests.are_constant(draws, condition)


def _test_draws(cells: Sequence[ConditionCell]) -> tuple[paired_tests.GainTest, ...]:
    gains = []
    for draws, condition in cells:
        chance = fmean(result.majority for result in draws)
        gains.append(
            paired_tests.DrawGains(
                by_draw=tuple(result.scores[condition].accuracy - chance for result in draws),
                item_variance=fmean(
                    paired_tests.compute_unit_variance(*paired_tests.sum_answers(result, condition)) for result in draws
                ),
                items=min(result.scores[condition].total for result in draws),
                task=draws[0].task,
                sides=(paired_tests.name_side(draws, condition), "chance"),
            )
        )
    return paired_tests.compute_shared_t_tests(gains)


def _describe_one_draw(cell: ConditionCell) -> Figure:
    (result,), condition = cell
    score = result.scores[condition]
    half_width = (score.interval.high - score.interval.low) / 2
    return Figure(
        accuracy=score.accuracy,
        interval=score.interval,
        half_width=half_width if len(score.seeds) > 1 else None,
        items=score.total,
        chance=result.majority,
        chance_p=_test_items([result], condition),
    )


def _pool_items(draws: Sequence[Result], condition: Condition) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the share of correct answers to each distinct test item, (n,), and the unit of each item, (n,)."""
    pooled, pooled_units, start = [], [], 0
    for same_items in group_by(draws, lambda result: result.dataset_fingerprint).values():
        answers = np.mean([result.scores[condition].items() for result in same_items], axis=0)
        pooled.append(answers)
        pooled_units.append(start + np.array(same_items[0].units or range(len(answers)), dtype=np.int64))
        start += len(answers)
    return np.concatenate(pooled), np.concatenate(pooled_units)


def _test_items(draws: Sequence[Result], condition: Condition) -> float:
    """Return the p-value of the difference between chance and the mean accuracy on all distinct test items."""
    answers, units = _pool_items(draws, condition)
    effective = len(answers) / design_effect(answers, units.tolist())
    return binomial_p_value(float(answers.mean()) * effective, effective, fmean(result.majority for result in draws))


def _join_draws(cell: ConditionCell, test: paired_tests.GainTest) -> Figure:
    draws, condition = cell
    scores = [result.scores[condition] for result in draws]
    spread = decompose_spread([[seed.accuracy for seed in score.seeds] for score in scores])
    half_width, p = min(test.half_width, max(spread.mean, 1 - spread.mean)), test.p
    interval = Interval(max(0.0, spread.mean - half_width), min(1.0, spread.mean + half_width))
    if paired_tests.have_shared_items(draws):
        # A t-test over draws does not see the choice of items that they share: take the more cautious of both tests.
        answers, units = _pool_items(draws, condition)
        by_items = accuracy_interval(answers, units.tolist())
        p = max(p, _test_items(draws, condition))
        if by_items.high - by_items.low > 2 * half_width:
            interval, half_width = by_items, (by_items.high - by_items.low) / 2
    return Figure(
        accuracy=spread.mean,
        interval=interval,
        half_width=half_width,
        items=min(score.total for score in scores),
        chance=fmean(result.majority for result in draws),
        chance_p=p,
        between_draws=spread.draws,
        between_probes=spread.probes,
        test=test,
    )
