"""Paired tests of cells of a table: one draw by its test items, several draws by variances that all gains share."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean
from typing import TypeAlias

import numpy as np

from sentprobe.probes.report.findings.control_verdicts import list_shared_properties
from sentprobe.probes.report.findings.shared_variance import (
    DrawGains,
    GainTest,
    compute_shared_t_tests,
    compute_unit_variance,
)
from sentprobe.probes.results.result import Condition, Result
from sentprobe.probes.statistics import (
    Floats,
    Interval,
    PairedComparison,
    compare_items,
    compute_sign_test,
    student_quantile,
    sum_by_unit,
)

LEVEL = 0.05
"""The level of every test of a table: a corrected p-value below it is significant."""

MatchedResults = tuple[tuple[Result, Result], ...]
"""The results of two encoders on one task, in each draw that both have."""

ConditionPair = tuple[Condition, Condition]
"""The conditions of two sides: both probes, or a probe and a control."""

PROBES: ConditionPair = (Condition.PROBE, Condition.PROBE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawComparison(PairedComparison):
    """A comparison over several draws, and its test."""

    test: GainTest


ROUNDING = 1e-9
"""Gains of a unit below this are ties."""


@dataclass(frozen=True, slots=True)
class UnitAnswers:
    """The mean number of right answers over the probes of one draw, for each unit of test items."""

    sums: Floats
    sizes: Floats


SummedAnswers: TypeAlias = Callable[[Result, Condition], UnitAnswers]


def build_answer_reader() -> SummedAnswers:
    """Return a function that sums the right answers of a result by unit, once for each result and condition."""
    known: dict[tuple[int, Condition], UnitAnswers] = {}

    def sum_answers(result: Result, condition: Condition) -> UnitAnswers:
        key = (id(result), condition)
        if key not in known:
            known[key] = UnitAnswers(*sum_by_unit(result.scores[condition].items(), result.units))
        return known[key]

    return sum_answers


def compare_matched_results(
    matches: Sequence[MatchedResults], conditions: Sequence[ConditionPair]
) -> list[PairedComparison]:
    """Compare two encoders, or an encoder and a control, in each match.

    - One draw: sign test and t-test over units.
    - Several draws: sign test over draws, and the t-test with a variance that is shared with the other matches of
      several draws (:mod:`.shared_variance`). If draws have the same test items, their p-value is at least that of the
      sign test over units, and the interval at least as wide as that for the choice of items.

    - conditions: the conditions to compare in each match
    """
    sum_answers = build_answer_reader()
    sides = [*zip(matches, conditions, strict=True)]
    gains = [_build_gains(matched, pair, sum_answers) for matched, pair in sides if len(matched) > 1]
    tests = iter(zip(gains, compute_shared_t_tests(gains), strict=True))
    return [
        _compare_draws(matched, pair, sum_answers, *next(tests))
        if len(matched) > 1
        else _compare_one_draw(*matched[0], pair)
        for matched, pair in sides
    ]


def _compare_one_draw(first: Result, second: Result, conditions: ConditionPair) -> PairedComparison:
    right = (
        np.array([seed.items() for seed in result.scores[condition].seeds])
        for result, condition in zip((first, second), conditions, strict=True)
    )
    return compare_items(*right, first.units)


def _build_gains(matched: MatchedResults, conditions: ConditionPair, sum_answers: SummedAnswers) -> DrawGains:
    by_draw, variances, items = [], [], []
    for pair in matched:
        first, second = (result.scores[condition] for result, condition in zip(pair, conditions, strict=True))
        by_draw.append(first.accuracy - second.accuracy)
        variances.append(compute_unit_variance(*_subtract_answers(pair, conditions, sum_answers)))
        items.append(first.total)
    sides = zip(zip(*matched, strict=True), conditions, strict=True)
    first_side, second_side = (name_side(draws, condition, sum_answers) for draws, condition in sides)
    return DrawGains(
        by_draw=tuple(by_draw),
        item_variance=fmean(variances),
        items=min(items),
        task=matched[0][0].task,
        sides=(first_side, second_side),
    )


def name_side(draws: Sequence[Result], condition: Condition, sum_answers: SummedAnswers) -> Hashable:
    """Return the name of an encoder or control; None if its answers are the same in each unit and each draw.

    A bag of words is such a constant on mirror pairs: it is right on one item of each.
    """
    answers = [sum_answers(result, condition) for result in draws]
    if are_constant(answers):
        return None
    if condition is Condition.PROBE:
        return draws[0].encoder
    return (condition, *list_shared_properties(draws[0], condition))


def are_constant(answers: Sequence[UnitAnswers]) -> bool:
    """Return whether each unit of each draw has the same share of right answers."""
    shares = np.concatenate([draw_answers.sums / draw_answers.sizes for draw_answers in answers])
    return bool(np.ptp(shares) < ROUNDING)


def _subtract_answers(
    pair: tuple[Result, Result], conditions: ConditionPair, sum_answers: SummedAnswers
) -> tuple[Floats, Floats]:
    """Return the sum of gains, and the number of items, of each unit."""
    first, second = (sum_answers(result, condition) for result, condition in zip(pair, conditions, strict=True))
    return first.sums - second.sums, first.sizes


def have_shared_items(draws: Sequence[Result]) -> bool:
    """Return whether some of the draws have the same test items."""
    return len({result.dataset_fingerprint for result in draws}) < len(draws)


def average_same_items(by_draw: Sequence[tuple[str, tuple[Floats, Floats]]]) -> tuple[Floats, Floats]:
    """Return the sums and sizes of units, averaged over the draws of each dataset; datasets one after another.

    - by_draw: the dataset of each draw, with the sum and the number of items of each of its units
    """
    datasets = dict.fromkeys(dataset for dataset, _ in by_draw)
    parts = [[units for dataset, units in by_draw if dataset == name] for name in datasets]
    sums = np.concatenate([np.mean([sums for sums, _ in part], axis=0) for part in parts])
    return sums, np.concatenate([part[0][1] for part in parts])


def _compare_draws(
    matched: MatchedResults, conditions: ConditionPair, sum_answers: SummedAnswers, gains: DrawGains, test: GainTest
) -> PairedComparison:
    p, half_width = test.p, test.half_width
    if have_shared_items([first for first, _ in matched]):
        sums, sizes = average_same_items(
            [(a.dataset_fingerprint, _subtract_answers((a, b), conditions, sum_answers)) for a, b in matched]
        )
        p = max(p, compute_sign_test(int((sums > ROUNDING).sum()), int((sums < -ROUNDING).sum())))
        item_variance = compute_unit_variance(sums, sizes)
        half_width = max(half_width, student_quantile(0.95, max(1, len(sums) - 1)) * sqrt(item_variance))
    wins, losses = sum(gain > 0 for gain in gains.by_draw), sum(gain < 0 for gain in gains.by_draw)
    return DrawComparison(
        test=test,
        difference=test.mean,
        interval=Interval(max(-1.0, test.mean - half_width), min(1.0, test.mean + half_width)),
        wins=wins,
        losses=losses,
        sign_p=compute_sign_test(wins, losses),
        t_p=p,
    )
