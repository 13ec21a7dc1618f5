"""Paired tests of cells of a table: one draw by its test items, several draws by variances that all gains share."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from statistics import fmean

import numpy as np

from sentprobe.probes.report.findings.control_verdicts import list_shared_properties
from sentprobe.probes.report.findings.shared_variance import (
    DrawGains,
    GainTest,
    compute_shared_t_tests,
    compute_unit_variance,
)
from sentprobe.probes.results.result import Condition, Result, Score
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

ROUNDING = 1e-9
"""Smaller differences are ties."""

MatchedResults = tuple[tuple[Result, Result], ...]
"""The results of two encoders on one task, in each draw that both have."""

ConditionPair = tuple[Condition, Condition]
PROBES: ConditionPair = (Condition.PROBE, Condition.PROBE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawComparison(PairedComparison):
    """A comparison over several draws, and its test."""

    test: GainTest


@lru_cache(maxsize=1024)
def _sum_answers(score: Score, units: tuple[int, ...]) -> tuple[Floats, Floats]:
    return sum_by_unit(score.items(), units)


def sum_answers(result: Result, condition: Condition) -> tuple[Floats, Floats]:
    """Return the right answers of a probe (the mean over seeds), and the number of items, of each unit."""
    return _sum_answers(result.scores[condition], result.units)


def are_constant(draws: Sequence[Result], condition: Condition) -> bool:
    """Return whether each unit of each draw has the same share of right answers."""
    shares = [sums / sizes for sums, sizes in (sum_answers(result, condition) for result in draws)]
    return bool(np.ptp(np.concatenate(shares)) < ROUNDING)


def have_shared_items(draws: Sequence[Result]) -> bool:
    """Return whether some of the draws have the same test items."""
    return len({result.dataset_fingerprint for result in draws}) < len(draws)


def compare_matched_results(
    matches: Sequence[MatchedResults], conditions: Sequence[ConditionPair]
) -> list[PairedComparison]:
    """Compare two encoders, or an encoder and a control, in each match.

    - One draw: sign test and t-test over units.
    - Several draws: sign test over draws, and the t-test with a variance that is shared with the other matches of
      several draws (:mod:`.shared_variance`). If draws have the same test items, its p-value is at least that of the
      sign test over units, and the interval at least as wide as that for the choice of items.

    - conditions: the conditions to compare in each match
    """
    sides = [*zip(matches, conditions, strict=True)]
    gains = [_build_gains(*side) for side in sides if len(side[0]) > 1]
    tests = iter(zip(gains, compute_shared_t_tests(gains), strict=True))
    return [
        _compare_draws(*side, *next(tests)) if len(side[0]) > 1 else _compare_one_draw(*side[0][0], side[1])
        for side in sides
    ]


def _compare_one_draw(first: Result, second: Result, conditions: ConditionPair) -> PairedComparison:
    a, b = (
        np.array([seed.items() for seed in result.scores[condition].seeds])
        for result, condition in zip((first, second), conditions, strict=True)
    )
    return compare_items(a, b, first.units)


def _build_gains(matched: MatchedResults, conditions: ConditionPair) -> DrawGains:
    first, second = zip(*matched, strict=True)
    a, b = ([result.scores[c] for result in side] for side, c in zip((first, second), conditions, strict=True))
    return DrawGains(
        by_draw=tuple(x.accuracy - y.accuracy for x, y in zip(a, b, strict=True)),
        item_variance=fmean(compute_unit_variance(*_subtract_answers(pair, conditions)) for pair in matched),
        items=min(score.total for score in a),
        task=first[0].task,
        sides=(name_side(first, conditions[0]), name_side(second, conditions[1])),
    )


def name_side(draws: Sequence[Result], condition: Condition) -> Hashable:
    """Return the name of an encoder or control; None if its answers are constant (words on mirror pairs)."""
    if are_constant(draws, condition):
        return None
    return (
        draws[0].encoder if condition is Condition.PROBE else (condition, *list_shared_properties(draws[0], condition))
    )


def _subtract_answers(pair: tuple[Result, Result], conditions: ConditionPair) -> tuple[Floats, Floats]:
    """Return the sum of gains, and the number of items, of each unit."""
    (first, sizes), (second, _) = (sum_answers(result, c) for result, c in zip(pair, conditions, strict=True))
    return first - second, sizes


def _average_same_items(matched: MatchedResults, conditions: ConditionPair) -> tuple[Floats, Floats]:
    """Return gains and sizes of the units of each dataset, averaged over its draws."""
    by_dataset: dict[str, list[tuple[Floats, Floats]]] = {}
    for pair in matched:
        by_dataset.setdefault(pair[0].dataset_fingerprint, []).append(_subtract_answers(pair, conditions))
    sums = [np.mean([gains for gains, _ in draws], axis=0) for draws in by_dataset.values()]
    return np.concatenate(sums), np.concatenate([draws[0][1] for draws in by_dataset.values()])


def _compare_draws(
    matched: MatchedResults, conditions: ConditionPair, gains: DrawGains, test: GainTest
) -> PairedComparison:
    p, half_width = test.p, test.half_width
    if have_shared_items([first for first, _ in matched]):
        sums, sizes = _average_same_items(matched, conditions)
        p = max(p, compute_sign_test(int((sums > ROUNDING).sum()), int((sums < -ROUNDING).sum())))
        deviation = sqrt(compute_unit_variance(sums, sizes))
        half_width = max(half_width, student_quantile(0.95, max(1, len(sums) - 1)) * deviation)
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
