"""A cascade of two pair scorers: the second scores only pairs that pass the threshold of the first."""

from collections import deque
from collections.abc import Sequence
from time import perf_counter

import numpy as np

from sentprobe.probes.gate.gate_rates import GateStage, find_sign
from sentprobe.probes.gate.pair_scores import PairScorer
from sentprobe.probes.statistics import Floats


class Cascade:
    """A pair scorer that combines two pair scorers. Callers score the same pairs twice, in the same order.

    At first, the cascade returns the scores of the first scorer. After :meth:`ask_second`, it returns the second
    scorer's scores of pairs that passed the first scorer's threshold, and minus infinity for all other pairs.
    """

    def __init__(self, first: PairScorer, second: PairScorer) -> None:
        self.name, self.measure = first.name, first.measure
        self._first, self._second = first, second
        self._first_scores: deque[Floats] = deque()
        self._limit: float | None = None
        self._pairs, self._seconds = [0, 0], [0.0, 0.0]

    def ask_second(self, threshold: float) -> None:
        """Switch to the second scorer. It scores only pairs whose score by the first scorer passes *threshold*."""
        self.name, self.measure = f"{self._first.name}, then {self._second.name}", self._second.measure
        self._limit = find_sign(self._first.measure) * threshold

    def score_columns(self, firsts: Sequence[str], *columns: Sequence[str]) -> list[Floats]:
        """Return an array of scores for each column. Score i is for ``firsts[i]`` and text i of the column."""
        if self._limit is None:
            first_scores = self._time(0, self._first, firsts, *columns)
            self._first_scores.extend(first_scores)
            return first_scores
        second_scores: list[Floats] = []
        for seconds in columns:
            scores = np.full(len(firsts), -np.inf)
            if rows := np.flatnonzero(self._first_scores.popleft() >= self._limit).tolist():
                (scores[rows],) = self._time(1, self._second, [firsts[i] for i in rows], [seconds[i] for i in rows])
            second_scores.append(scores)
        return second_scores

    def _time(self, stage: int, scorer: PairScorer, firsts: Sequence[str], *columns: Sequence[str]) -> list[Floats]:
        start = perf_counter()
        scores = scorer.score_columns(firsts, *columns)
        self._seconds[stage] += perf_counter() - start
        self._pairs[stage] += len(firsts) * len(columns)
        return scores

    def build_stages(self, *thresholds: float) -> tuple[GateStage, ...]:
        """Return the threshold, the number of scored pairs and the speed of each of the two scorers."""
        rows = zip((self._first, self._second), thresholds, self._pairs, self._seconds, strict=True)
        return tuple(
            GateStage(
                scorer=scorer.name,
                measure=scorer.measure,
                threshold=threshold,
                pairs=pairs,
                pairs_per_second=pairs / max(seconds, 1e-9),
            )
            for scorer, threshold, pairs, seconds in rows
        )
