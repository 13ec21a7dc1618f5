"""The threshold of a gate, and its false hits and misses."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.probes.gate.pair_scores import ScoredPair, ScoredPairs
from sentprobe.probes.geometry.measures import Nearness
from sentprobe.probes.statistics import Floats, Interval, accuracy_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRates:
    """False hits and misses on the pairs of one contrast and form, as shares from 0 to 1."""

    contrast: str
    form: str
    example: tuple[str, str]
    false_hits: float
    """Share of the pairs with another meaning that pass."""
    false_hits_interval: Interval
    misses: float
    """Share of the pairs with the same meaning that do not pass."""
    misses_interval: Interval
    auc: float
    """Area under the ROC curve; a tie counts half."""
    eer: float
    """Equal error rate: false hits and misses at the threshold where they are equal."""
    pairs: int
    """Number of pairs with another meaning."""
    same_pairs: int
    ties: int
    """Number of negatives with the score of their positive, in all units."""
    at_threshold: int
    """Number of pairs whose score equals the threshold; they pass."""
    curve: tuple[tuple[float, float], ...]
    """Misses and false hits at other thresholds, by ascending misses."""
    worst: tuple[ScoredPair, ...]
    """The false hits with the highest scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateStage:
    """A scorer of a cascade, its threshold and its cost."""

    scorer: str
    measure: str
    threshold: float
    pairs: int
    """Number of pairs that it scored."""
    pairs_per_second: float = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """The figures of one scorer at one threshold, from one draw."""

    scorer: str
    measure: str
    seed: int
    threshold: float
    """The lowest score that passes; for Euclidean distances, the greatest distance."""
    keep: float | None
    """The share of paraphrases that the threshold was chosen to keep; None: the threshold was given."""
    kept: float
    """The share of the measured paraphrases that pass."""
    rates: tuple[GateRates, ...]
    generated: tuple[GateRates, ...] = ()
    """The rates of generated pairs as long as a user's, which are in *rates*."""
    stages: tuple[GateStage, ...] = ()
    """The scorers of a cascade; empty: there is one scorer."""


def measure_gate(
    scored: Sequence[ScoredPairs],
    generated: Sequence[ScoredPairs] = (),
    *,
    scorer: str,
    measure: str,
    seed: int,
    keep: float,
    threshold: float | None,
) -> GateResult:
    """Return the figures at the threshold, which is chosen on one half of the units and measured on the other.

    A threshold that is given is measured on all units; so are *generated* pairs beside a user's.

    Raises:
        UsageError: a half lacks a kind of pairs.
    """
    halves = [[_select_units(pairs, remainder) for pairs in scored] for remainder in (0, 1)]
    chosen, measured = halves if threshold is None else (scored, scored)
    if not all(len(pairs.same) and len(pairs.other) for pairs in (*chosen, *measured)):
        raise UsageError("too few pairs to choose a threshold on one half of them and measure it on the other")
    sign = find_sign(measure)
    limit = choose_threshold(_join_paraphrases(chosen), keep) if threshold is None else sign * threshold
    return GateResult(
        scorer=scorer,
        measure=measure,
        seed=seed,
        threshold=sign * limit,
        keep=keep if threshold is None else None,
        kept=float((_join_paraphrases(measured) >= limit).mean()),
        rates=tuple(_measure_pairs(pairs, limit) for pairs in measured),
        generated=tuple(_measure_pairs(pairs, limit) for pairs in generated),
    )


def find_sign(measure: str) -> int:
    """Return -1 for a distance, whose scores are negative, and 1 otherwise."""
    return -1 if measure == Nearness.EUCLID else 1


def _select_units(pairs: ScoredPairs, remainder: int) -> ScoredPairs:
    """Return the pairs of even (0) or odd (1) units."""
    same, other = pairs.same_units % 2 == remainder, pairs.other_units % 2 == remainder
    return replace(
        pairs,
        same=pairs.same[same],
        other=pairs.other[other],
        same_units=pairs.same_units[same],
        other_units=pairs.other_units[other],
    )


def _join_paraphrases(scored: Sequence[ScoredPairs]) -> Floats:
    """Return the scores of all paraphrases; the forms of a contrast share them."""
    return np.concatenate([*{pairs.contrast: pairs.same for pairs in scored}.values()])


def choose_threshold(scores: Floats, keep: float) -> float:
    """Return the highest score at which at least the share *keep* of the finite scores pass.

    >>> choose_threshold(np.array([0.1, 0.4, 0.2, 0.3]), 0.75)
    0.2
    """
    finite = np.sort(scores[np.isfinite(scores)])
    if not len(finite):
        raise UsageError("no paraphrase passes the first threshold, so the second cannot be chosen")
    return float(finite[int((1 - keep) * len(finite) + 1e-9)])


RANGES = {Nearness.COSINE.value: (-1.0, 1.0), Nearness.EUCLID.value: (0.0, np.inf)}


def check_threshold(threshold: float, measure: str) -> None:
    """Raise UsageError if a threshold is outside the range of the measure."""
    low, high = RANGES.get(measure, (-np.inf, np.inf))
    if not (low <= threshold <= high and np.isfinite(threshold)):
        raise UsageError(f"the threshold {threshold:g} is outside the range of the {measure}, {low:g} to {high:g}")


def _measure_pairs(pairs: ScoredPairs, threshold: float) -> GateRates:
    is_miss, is_hit = pairs.same < threshold, pairs.other >= threshold
    return GateRates(
        contrast=pairs.contrast,
        form=pairs.form,
        example=pairs.example,
        false_hits=float(is_hit.mean()),
        false_hits_interval=accuracy_interval(is_hit, pairs.other_units.tolist()),
        misses=float(is_miss.mean()),
        misses_interval=accuracy_interval(is_miss, pairs.same_units.tolist()),
        auc=compute_auc(pairs.same, pairs.other),
        eer=compute_equal_error_rate(pairs.same, pairs.other),
        pairs=len(pairs.other),
        same_pairs=len(pairs.same),
        ties=pairs.ties,
        at_threshold=int((pairs.same == threshold).sum() + (pairs.other == threshold).sum()),
        curve=_compute_curve(pairs),
        worst=tuple(pair for pair in pairs.nearest if pair.score >= threshold),
    )


def _compute_curve(pairs: ScoredPairs) -> tuple[tuple[float, float], ...]:
    limits = np.unique(np.quantile(pairs.same, CURVE_SHARES, method="lower"))
    return tuple((float((pairs.same < limit).mean()), float((pairs.other >= limit).mean())) for limit in limits)


CURVE_SHARES = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
"""Shares of paraphrases below the thresholds of a curve."""


def compute_auc(same: Floats, other: Floats) -> float:
    """Return the share of (same, other) combinations in which the former has the higher score; a tie counts half.

    >>> compute_auc(np.array([0.9, 0.5]), np.array([0.5, 0.1]))
    0.875
    """
    ordered = np.sort(other)
    below = np.searchsorted(ordered, same, side="left") + np.searchsorted(ordered, same, side="right")
    return float(below.sum() / (2 * len(same) * len(other)))


def compute_equal_error_rate(same: Floats, other: Floats) -> float:
    """Return the rate of false hits where misses are as frequent, on straight lines between the thresholds.

    >>> compute_equal_error_rate(np.array([0.9, 0.5]), np.array([0.6, 0.1]))
    0.5
    """
    thresholds = np.unique(np.concatenate([same, other]))
    hits = np.append(1 - np.searchsorted(np.sort(other), thresholds) / len(other), 0.0)
    misses = np.append(np.searchsorted(np.sort(same), thresholds) / len(same), 1.0)
    gap = hits - misses
    last = int(np.flatnonzero(gap >= 0)[-1])
    share = gap[last] / (gap[last] - gap[last + 1])
    return float(hits[last] + share * (hits[last + 1] - hits[last]))
