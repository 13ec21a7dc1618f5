"""The figure in a table cell: mean accuracy over all draws, 95% interval, and test against chance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.values import group_by
from sentprobe.probes.reports import paired_tests
from sentprobe.probes.results.result import Condition, Result
from sentprobe.probes.statistics import Interval, accuracy_interval, binomial_p_value, decompose_spread, design_effect

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
        draws, condition = cell
        figure = _join_draws(cell, next(tests)) if len(draws) > 1 else _describe_one_draw(cell)
        # All units may have the same accuracy, neither 0 nor 1: a bag of words has 0.5 on each mirror pair.
        sums, sizes = zip(*(paired_tests.sum_answers(result, condition) for result in draws), strict=True)
        has_part = 0 < sums[0][0] < sizes[0][0]
        if has_part and min(map(len, sums)) >= LEAST_UNITS and paired_tests.are_constant(draws, condition):
            # No choice of units can change such an accuracy: the interval has width 0, and at chance there is no doubt.
            figure = replace(
                figure,
                interval=Interval(figure.accuracy, figure.accuracy),
                half_width=None if figure.half_width is None else 0.0,
                chance_p=1.0 if abs(figure.accuracy - figure.chance) < paired_tests.ROUNDING else figure.chance_p,
            )
        figures.append(figure)
    return figures


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
    # No accuracy is further from the mean than 0 and 1 are.
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
