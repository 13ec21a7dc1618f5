"""The choice of a similarity threshold, and its rates of false hits and misses.

A cascade of two pair scorers: the second scores only pairs that pass the threshold of the first.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from sentprobe.common.errors import UsageError
from sentprobe.probes.similarity.measures import Nearness
from sentprobe.probes.similarity.pair_scores import OWN_PAIRS, PairScorer, ScoredPair, ScoredPairs
from sentprobe.probes.statistics import Floats, Interval, accuracy_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRates:
    """The rates, from 0 to 1, of false hits and misses for one contrast, with negatives in one form."""

    contrast: str
    form: str
    kind: str = ""
    """The kind of the user's pairs; empty for pairs of all kinds and for generated pairs."""
    example: tuple[str, str]
    false_hits: float
    """The share of the pairs with different meanings that pass the threshold."""
    false_hits_interval: Interval
    misses: float
    """The share of the pairs with the same meaning that do not pass the threshold."""
    misses_interval: Interval
    auc: float
    """The area under the ROC curve, in which a tie counts half."""
    eer: float
    """The equal error rate: the rate of false hits at the threshold at which misses are equally frequent."""
    pairs: int
    """The number of pairs with different meanings."""
    same_pairs: int
    ties: int
    """The number of negatives whose score equals that of their positive, in both halves of the units."""
    at_threshold: int
    """The number of pairs whose score equals the threshold; these pairs pass."""
    curve: tuple[tuple[float, float], ...]
    """The rate of misses and the rate of false hits at each of several thresholds, sorted by misses."""
    worst: tuple[ScoredPair, ...]
    """The false hits with the highest scores, in both halves of the units."""

    @property
    def subject(self) -> str:
        """The contrast, or "own pairs" and their kind for pairs from a file."""
        return self.contrast or (f"{OWN_PAIRS}, {self.kind}" if self.kind else OWN_PAIRS)

    @property
    def name(self) -> str:
        """The contrast and the form of the negatives, or "own pairs" and their kind for pairs from a file."""
        return f"{self.contrast} ({self.form})" if self.contrast else self.subject


@dataclass(frozen=True, slots=True, kw_only=True)
class GateStage:
    """The threshold and the cost of one scorer of a cascade."""

    scorer: str
    measure: str
    threshold: float
    pairs: int
    """The number of scored pairs."""
    pairs_per_second: float = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDraw:
    """The rates of a scorer at a threshold, in one draw."""

    scorer: str
    measure: str
    seed: int
    threshold: float
    """The lowest score that passes or, for Euclidean distances, the largest distance that passes."""
    keep: float | None
    """The share of paraphrases that the threshold was chosen to keep; None if the user set the threshold."""
    kept: float
    """The share of the measured paraphrases that pass."""
    rates: tuple[GateRates, ...]
    generated: tuple[GateRates, ...] = ()
    """If *rates* are of the user's pairs, the rates of generated pairs with the same lengths; else empty."""
    left_out: tuple[str, ...] = ()
    """The kinds of the user's pairs that have no pair of different meaning in the measured half."""
    stages: tuple[GateStage, ...] = ()
    """The two scorers of a cascade; empty for a single scorer."""


def measure_gate(
    scored: Sequence[ScoredPairs],
    generated: Sequence[ScoredPairs] = (),
    *,
    scorer: str,
    measure: str,
    seed: int,
    keep: float,
    threshold: float | None,
) -> GateDraw:
    """Measure the rates of false hits and misses of a scorer in one draw.

    If *threshold* is None, the function chooses a threshold on one half of the units, so that the share *keep* of
    paraphrases passes, and measures the rates on the other half. With a *threshold*, it measures them on all units.
    In both cases, it measures all *generated* pairs. A kind of the user's pairs without any in that half is left out.

    Raises:
        UsageError: a half of the units lacks pairs with the same meaning or with different meanings.
    """
    halves = [[_select_units(pairs, remainder) for pairs in scored] for remainder in (0, 1)]
    chosen, measured = halves if threshold is None else (scored, scored)
    left_out = tuple(pairs.kind for pairs in measured if pairs.kind and not len(pairs.different_scores))
    # A kind without paraphrases of its own is measured beside all paraphrases.
    measured = [
        replace(pairs, same_scores=measured[0].same_scores, same_units=measured[0].same_units)
        if pairs.kind and not len(pairs.same_scores)
        else pairs
        for pairs in measured
        if pairs.kind not in left_out
    ]
    chosen = [pairs for pairs in chosen if not pairs.kind]
    for pairs in (*chosen, *measured):
        if not (len(pairs.same_scores) and len(pairs.different_scores)):
            raise UsageError(
                f"{pairs.contrast or OWN_PAIRS}: too few pairs to choose a threshold on one half of them and "
                "measure it on the other; take more, or give a threshold"
            )
    sign = find_sign(measure)
    limit = choose_threshold(_join_paraphrases(chosen), keep) if threshold is None else sign * threshold
    return GateDraw(
        scorer=scorer,
        measure=measure,
        seed=seed,
        threshold=sign * limit,
        keep=keep if threshold is None else None,
        kept=float((_join_paraphrases(measured) >= limit).mean()),
        rates=tuple(_measure_pairs(pairs, limit) for pairs in measured),
        generated=tuple(_measure_pairs(pairs, limit) for pairs in generated),
        left_out=left_out,
    )


def find_sign(measure: str) -> int:
    """Return -1 for a distance, whose score is the negative distance, else 1."""
    return -1 if measure == Nearness.EUCLID else 1


def _select_units(pairs: ScoredPairs, remainder: int) -> ScoredPairs:
    """Return the pairs whose unit number is even (*remainder* 0) or odd (*remainder* 1)."""
    is_same, is_different = pairs.same_units % 2 == remainder, pairs.different_units % 2 == remainder
    return replace(
        pairs,
        same_scores=pairs.same_scores[is_same],
        different_scores=pairs.different_scores[is_different],
        same_units=pairs.same_units[is_same],
        different_units=pairs.different_units[is_different],
    )


def _join_paraphrases(scored: Sequence[ScoredPairs]) -> Floats:
    """Return the scores of all paraphrases. The two ScoredPairs of a contrast share paraphrases, which count once."""
    return np.concatenate([*{pairs.contrast: pairs.same_scores for pairs in scored if not pairs.kind}.values()])


def choose_threshold(scores: Floats, keep: float) -> float:
    """Return the highest score at which at least the share *keep* of the finite scores pass."""
    finite = np.sort(scores[np.isfinite(scores)])
    if not len(finite):
        raise UsageError("no paraphrase passes the first threshold, so the second cannot be chosen")
    # 1e-9: by rounding, (1 - 0.9) * 10 is slightly below 1.
    return float(finite[min(int((1 - keep) * len(finite) + 1e-9), len(finite) - 1)])


RANGES = {Nearness.COSINE.value: (-1.0, 1.0), Nearness.EUCLID.value: (0.0, np.inf)}
"""The lowest and the highest value of each measure; a measure that is not listed has no limits."""
MEASURE_NAMES = {Nearness.EUCLID.value: "distance", Nearness.DOT.value: "dot product"}
"""The names of measures in messages, if they differ from their names as options."""


def check_threshold(threshold: float, measure: str) -> None:
    """Raise UsageError if a threshold is infinite or outside the range of the measure."""
    low, high = RANGES.get(measure, (-np.inf, np.inf))
    name = MEASURE_NAMES.get(measure, measure)
    if not (low <= threshold <= high and np.isfinite(threshold)):
        raise UsageError(f"the threshold {threshold:g} is outside the range of the {name}, {low:g} to {high:g}")


def _measure_pairs(pairs: ScoredPairs, threshold: float) -> GateRates:
    is_miss, is_hit = pairs.same_scores < threshold, pairs.different_scores >= threshold
    return GateRates(
        contrast=pairs.contrast,
        form=pairs.form,
        kind=pairs.kind,
        example=pairs.example,
        false_hits=float(is_hit.mean()),
        false_hits_interval=accuracy_interval(is_hit, pairs.different_units.tolist()),
        misses=float(is_miss.mean()),
        misses_interval=accuracy_interval(is_miss, pairs.same_units.tolist()),
        auc=compute_auc(pairs.same_scores, pairs.different_scores),
        eer=compute_equal_error_rate(pairs.same_scores, pairs.different_scores),
        pairs=len(pairs.different_scores),
        same_pairs=len(pairs.same_scores),
        ties=pairs.ties,
        at_threshold=int((pairs.same_scores == threshold).sum() + (pairs.different_scores == threshold).sum()),
        curve=tuple(
            (float((pairs.same_scores < limit).mean()), float((pairs.different_scores >= limit).mean()))
            for limit in np.unique(np.quantile(pairs.same_scores, CURVE_SHARES, method="lower"))
        ),
        worst=tuple(pair for pair in pairs.nearest if pair.score >= threshold),
    )


CURVE_SHARES = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
"""The share of paraphrases below the threshold at each point of a curve."""


def compute_auc(same: Floats, different: Floats) -> float:
    """Return the area under the ROC curve, from the scores of paraphrases and of pairs that differ in meaning."""
    ordered = np.sort(different)
    # "left" counts the pairs below a paraphrase, "right" also the equal ones: their mean counts a tie as half.
    below = np.searchsorted(ordered, same, side="left") + np.searchsorted(ordered, same, side="right")
    return float(below.sum() / (2 * len(same) * len(different)))


def compute_equal_error_rate(same: Floats, different: Floats) -> float:
    """Return the equal error rate: at some threshold (interpolated), false hits and misses both have this rate.

    >>> compute_equal_error_rate(np.array([0.9, 0.5]), np.array([0.6, 0.1]))
    0.5
    """
    thresholds = np.unique(np.concatenate([same, different]))
    hits = np.append(1 - np.searchsorted(np.sort(different), thresholds) / len(different), 0.0)
    misses = np.append(np.searchsorted(np.sort(same), thresholds) / len(same), 1.0)
    # With a higher threshold, hits fall from 1 to 0 and misses rise from 0 to 1: the lines cross once.
    gap = hits - misses
    last = int(np.flatnonzero(gap >= 0)[-1])
    share = gap[last] / (gap[last] - gap[last + 1])
    return float(hits[last] + share * (hits[last + 1] - hits[last]))


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
