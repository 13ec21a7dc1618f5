"""The marked accuracy of each column: the best, if it is above its control and not tied.

The control is the bag of words of the encoder's width if that is above chance on the task, else chance. Two encoders
are tied if the paired test of ``probe compare``, corrected for all comparisons of the table, finds no significant
difference. An encoder and its variants (cut, rounded or erased vectors) do not count as tied: their comparisons are
corrected separately. With several draws, the test is over draws, and an accuracy is above chance if it is so in every
draw.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, compress
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from sentprobe.probes.report.findings.comparisons import LEVEL, match_draws
from sentprobe.probes.report.findings.control_verdicts import ControlVerdict, compute_chance_interval, find_controls
from sentprobe.probes.report.findings.draws import find_draws, group_by_cell
from sentprobe.probes.report.findings.encoder_variants import is_same_model
from sentprobe.probes.results.result import Condition, EncoderOnTask, Result, Results
from sentprobe.probes.statistics import Correction, compute_sign_tests, correct_p_values, sum_by_unit, t_test_draws


@dataclass(frozen=True, slots=True)
class RightAnswers:
    """The number of right answers of the probes of a cell under a condition, over all seeds."""

    draws: tuple[Result, ...]
    condition: Condition
    by_unit: NDArray[np.float64]
    """(units,) float64, whole numbers: right answers for each unit in the first draw."""
    seeds: int


def find_marked_cells(results: Results) -> frozenset[EncoderOnTask]:
    """Return the marked cells of one setting, at most one for each task."""
    significant = find_significant_pairs(results)
    above_words = _find_cells_above_words(results)
    solvable = find_tasks_solvable_from_words(results)
    firsts = [draws[0] for draws in group_by_cell(results)]
    columns = ([first for first in firsts if first.task == task] for task in results.tasks)
    leaders = (_find_leader(results, column, significant) for column in columns)
    return frozenset(
        leader.cell
        for leader in leaders
        if leader and (leader.cell in above_words if leader.task in solvable else _is_above_chance(leader, results))
    )


def find_significant_pairs(results: Results) -> frozenset[frozenset[EncoderOnTask]]:
    """Return the pairs of cells whose difference is significant by the paired test.

    Pairs of variants of one model are corrected separately.
    """
    answers = [_count_right_answers(draws, Condition.PROBE) for draws in group_by_cell(results)]
    pairs = [
        (first, second)
        for first, second in combinations(answers, 2)
        if first.draws[0].task == second.draws[0].task and _have_same_items(first, second)
    ]
    variants = [_are_variants(first.draws[0], second.draws[0]) for first, second in pairs]
    families = ([*compress(pairs, (flag is variant_family for flag in variants))] for variant_family in (False, True))
    return frozenset(
        frozenset(result.cell for result in pair) for family in families for pair, _ in _test_differences(family)
    )


def _are_variants(first: Result, second: Result) -> bool:
    return is_same_model(first.encoder, second.encoder)


def _have_same_items(first: RightAnswers, second: RightAnswers) -> bool:
    matched = match_draws(first.draws, second.draws)
    same = (a.dataset_fingerprint == b.dataset_fingerprint for a, b in matched)
    return bool(matched) and all(same)


def _find_leader(
    results: Results, column: Sequence[Result], significant: Collection[frozenset[EncoderOnTask]]
) -> Result | None:
    """Return the best result of a column, unless it is tied with another encoder."""
    best = max(column, key=lambda first: fmean(result.accuracy for result in find_draws(results, first)))
    competitors = (rival for rival in column if not _are_variants(best, rival))
    return best if all(frozenset((best.cell, rival.cell)) in significant for rival in competitors) else None


def find_tasks_solvable_from_words(results: Results) -> frozenset[str]:
    """Return the tasks on which a bag of words may know the answer and is above chance."""
    return frozenset(
        run.result.task
        for run in find_controls(results)
        if run.condition is Condition.BAG_OF_WORDS and not run.must_be_at_chance and run.verdict is ControlVerdict.ABOVE
    )


def _find_cells_above_words(results: Results) -> frozenset[EncoderOnTask]:
    """Return the cells that are significantly better than a bag of words."""
    pairs = [
        (_count_right_answers(draws, Condition.PROBE), _count_right_answers(bags, Condition.BAG_OF_WORDS))
        for draws in group_by_cell(results)
        if (bags := [bag for result in draws for bag in find_bag_of_words(result, results)])
    ]
    return frozenset(first.cell for (first, _), better in _test_differences(pairs) if better)


def _count_right_answers(draws: Sequence[Result], condition: Condition) -> RightAnswers:
    seeds = draws[0].scores[condition].seeds
    items = np.array([seed.items() for seed in seeds]).sum(axis=0)
    return RightAnswers(tuple(draws), condition, sum_by_unit(items, draws[0].units)[0], len(seeds))


def _test_differences(
    pairs: Sequence[tuple[RightAnswers, RightAnswers]],
) -> Iterator[tuple[tuple[Result, Result], bool]]:
    """Yield the pairs with a significant difference, and whether the first is better.

    The test is that of ``probe compare``. For one draw it is the sign test over units, for all pairs at once (25 layers
    on 10 tasks have 3,000 pairs); for several draws it is the t-test over draws.
    """
    gains = [_compute_gains(a, b) for a, b in pairs]
    wins = np.array([(gain > 0).sum() for gain in gains], dtype=np.int64)
    losses = np.array([(gain < 0).sum() for gain in gains], dtype=np.int64)
    sign_p_values = compute_sign_tests(wins, losses).tolist()
    uncorrected = [
        t_test_draws(gain, items=_count_items(a)) if len(a.draws) > 1 else sign_p_value
        for (a, _), gain, sign_p_value in zip(pairs, gains, sign_p_values, strict=True)
    ]
    p_values = correct_p_values(uncorrected, Correction.HOLM)
    for (a, b), p, better in zip(pairs, p_values, wins > losses, strict=True):
        if p < LEVEL:
            yield (a.draws[0], b.draws[0]), bool(better)


def _count_items(answers: RightAnswers) -> int:
    """Return the smallest number of test items of any draw."""
    return min(result.scores[answers.condition].total for result in answers.draws)


def _compute_gains(a: RightAnswers, b: RightAnswers) -> NDArray[np.float64]:
    """Return the advantage of the first over the second: for each unit or, with several draws, for each draw."""
    if len(a.draws) == len(b.draws) == 1:
        return np.asarray(a.by_unit * b.seeds - b.by_unit * a.seeds)
    matched = match_draws(a.draws, b.draws)
    scores = [(first.scores[a.condition], second.scores[b.condition]) for first, second in matched]
    return np.array([first.accuracy - second.accuracy for first, second in scores])


def find_bag_of_words(result: Result, results: Results) -> Iterator[Result]:
    """Yield the result whose bag of words is the control: the result itself or, for a baseline, the best one."""
    if Condition.BAG_OF_WORDS in result.scores:
        yield result
    else:
        draw = [candidate for candidate in results.records if candidate.seed == result.seed]
        bags = _list_bags_of_words(draw, result.task)
        yield from sorted(bags, key=lambda bag: bag.scores[Condition.BAG_OF_WORDS].accuracy)[-1:]


def _list_bags_of_words(records: Sequence[Result], task: str) -> Iterator[Result]:
    return (r for r in records if r.task == task and Condition.BAG_OF_WORDS in r.scores)


def _is_above_chance(result: Result, results: Results) -> bool:
    """Return whether an accuracy is above chance; False if words alone might reveal the answer."""
    if not result.mirrored and not any(_list_bags_of_words(results.records, result.task)):
        return False
    return all(
        draw.accuracy > compute_chance_interval(draw, results, level=LEVEL).high for draw in find_draws(results, result)
    )
