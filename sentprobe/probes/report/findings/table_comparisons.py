"""The comparisons of a table: all pairs are tested at once, and a comparison is built when it is read."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.probes.report.findings.comparisons import Comparison
from sentprobe.probes.report.findings.paired_tests import LEVEL, PROBES, MatchedResults, compare_matched_results
from sentprobe.probes.results.result import Condition, EncoderOnTask, Result
from sentprobe.probes.statistics import Correction, Floats, compute_sign_tests, correct_p_values, sum_by_unit


class TableComparisons:
    """Comparisons of one family: the p-value that decides is corrected for their number, the other is not."""

    def __init__(self, matches: Sequence[MatchedResults]) -> None:
        """Test *matches*: the better encoder first, and the comparisons of a task's best encoder before others."""
        self._matches = matches
        self._places: dict[str, list[int]] = {}
        """The comparisons on each task."""
        for place, matched in enumerate(matches):
            self._places.setdefault(matched[0][0].task, []).append(place)
        over_draws = [place for place, matched in enumerate(matches) if len(matched) > 1]
        tests = compare_matched_results([matches[place] for place in over_draws], [PROBES] * len(over_draws))
        self._over_draws = dict(zip(over_draws, tests, strict=True))
        p_values = run_sign_tests([matched[0] for matched in matches])
        p_values[over_draws] = [test.t_p for test in tests]
        self._p_values = np.array(correct_p_values(p_values.tolist(), Correction.HOLM))

    def __len__(self) -> int:
        return len(self._matches)

    def __iter__(self) -> Iterator[Comparison]:
        return map(self._build_comparison, range(len(self)))

    def compare_best(self, task: str) -> list[Comparison]:
        """Return the comparisons of the best encoder on a task with the others."""
        places = self._places.get(task, [])
        best = {self._matches[place][0][0].encoder for place in places[:1]}
        return [self._build_comparison(place) for place in places if self._matches[place][0][0].encoder in best]

    def count_significant(self, task: str) -> tuple[int, int]:
        """Return the number of significant differences on a task, and of all."""
        places = self._places.get(task, [])
        return int((self._p_values[places] < LEVEL).sum()), len(places)

    def list_significant_pairs(self) -> Iterator[frozenset[EncoderOnTask]]:
        """Yield the pairs of cells whose difference is significant."""
        for place in np.flatnonzero(self._p_values < LEVEL).tolist():
            first, second = self._matches[place][0]
            yield frozenset((first.cell, second.cell))

    def _build_comparison(self, place: int) -> Comparison:
        matched, p = self._matches[place], float(self._p_values[place])
        paired = self._over_draws.get(place) or compare_matched_results([matched], [PROBES])[0]
        sign_p, t_p = (paired.sign_p, p) if len(matched) > 1 else (p, paired.t_p)
        first, second = matched[0]
        return Comparison(first=first, second=second, matched=matched, paired=paired, sign_p=sign_p, t_p=t_p)


def run_sign_tests(pairs: Sequence[tuple[Result, Result]]) -> Floats:
    """Return the p-value of the sign test over units of each pair of results on the same items, (n,) float64."""
    wins, losses = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.int64)
    by_dataset: dict[str, list[int]] = {}
    for place, (first, _) in enumerate(pairs):
        by_dataset.setdefault(first.dataset_fingerprint, []).append(place)
    for places in by_dataset.values():
        results = {id(result): result for place in places for result in pairs[place]}
        rows = dict(zip(results, range(len(results)), strict=True))
        sums = _sum_right_answers([*results.values()])
        by_first: dict[int, list[int]] = {}
        for place in places:
            by_first.setdefault(rows[id(pairs[place][0])], []).append(place)
        for row, own_places in by_first.items():
            second_sums = sums[[rows[id(pairs[place][1])] for place in own_places]]
            wins[own_places] = np.count_nonzero(sums[row] > second_sums, axis=1)
            losses[own_places] = np.count_nonzero(sums[row] < second_sums, axis=1)
    return compute_sign_tests(wins, losses)


def _sum_right_answers(results: Sequence[Result]) -> NDArray[np.unsignedinteger[Any]]:
    """Return the right answers in each unit, (results, units), all multiplied to the same number of seeds."""
    scores = [result.scores[Condition.PROBE] for result in results]
    totals = sorted({score.total for score in scores})
    if len(totals) > 1:
        raise UsageError(f"{totals[0]} and {totals[1]} items cannot be paired")
    seeds = int(np.lcm.reduce([len(score.seeds) for score in scores]))
    sums = np.array(
        [
            sum_by_unit(np.sum([seed.items() for seed in score.seeds], axis=0) * (seeds // len(score.seeds)), units)[0]
            for units, score in ((result.units, result.scores[Condition.PROBE]) for result in results)
        ]
    )
    return sums.astype(np.min_scalar_type(int(sums.max())))
