"""How the threshold of a gate is found: it is stated, keeps a share of paraphrases, or promises few false hits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, log
from typing import Any, TypeAlias

import numpy as np

from sentprobe.common.errors import SentprobeError, UsageError, suggest
from sentprobe.probes.similarity.measures import Nearness
from sentprobe.probes.similarity.pair_scores import ScoredPairs, ScoredSide
from sentprobe.probes.statistics import Floats, compute_upper_bound, count_effective

HitLimits: TypeAlias = Mapping[str, float]
"""The greatest accepted rate of false hits (0 to 1) by contrast or kind; the name "" stands for all others."""
USUAL_SHARE = 0.95
"""The share of paraphrases that pass, by default."""
CONFIDENCE = 0.95
"""The confidence of the upper bound of false hits that a budget promises."""


class NoThresholdError(SentprobeError):
    """No threshold lets few enough pairs of different meaning pass.

    - strictest: the highest score of a paraphrase, at which the least can be promised
    - results: the :class:`~sentprobe.GateResults` at this threshold, if :func:`sentprobe.gate` raised the error
    """

    def __init__(self, message: str, *, strictest: float, results: Any = None) -> None:
        super().__init__(message)
        self.strictest = strictest
        self.results = results


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdRule:
    """How the threshold is found. At most one of the fields is set; without any, 95% of the paraphrases pass."""

    threshold: float | None = None
    keep: float | None = None
    """The share of paraphrases that pass."""
    budgets: HitLimits = field(default_factory=dict)
    """The share of false hits that is not exceeded, by contrast or kind."""

    def __post_init__(self) -> None:
        """Raise UsageError if several fields are set, or a value is out of range."""
        given = [self.threshold is not None, self.keep is not None, bool(self.budgets)]
        if sum(given) > 1:
            names = ("--threshold", "--keep", "--budget")
            listed = " and ".join(name for name, is_given in zip(names, given, strict=True) if is_given)
            raise UsageError(f"{listed}: give one of them")
        if not 0 < self.share <= 1:
            raise UsageError(f"the share of paraphrases to keep must be above 0 and at most 1, not {self.share:g}")
        for budget in self.budgets.values():
            if not 0 < budget < 1:
                raise UsageError(f"the budget of false hits must be above 0 and below 1, not {budget:g}")

    @property
    def share(self) -> float:
        """The share of paraphrases to keep, 95% by default."""
        return USUAL_SHARE if self.keep is None else self.keep

    def find_budget(self, pairs: ScoredPairs) -> float | None:
        """Return the share of false hits that the pairs must not exceed; None if they may have any."""
        return self.budgets.get(pairs.kind or pairs.contrast, self.budgets.get(""))


USUAL = ThresholdRule()
"""The rule without an option."""


def choose_threshold(scores: Floats, keep: float) -> float:
    """Return the highest score at which at least the share *keep* of the finite scores pass."""
    finite = np.sort(scores[np.isfinite(scores)])
    if not len(finite):
        raise UsageError("no paraphrase passes the first threshold, so the second cannot be chosen")
    return float(finite[find_rank(keep, len(finite))])


def find_rank(keep: float, count: int) -> int:
    """Return the place, in *count* sorted scores, of the highest score at which the share *keep* passes."""
    # 1e-9: by rounding, (1 - 0.9) * 10 is slightly below 1.
    return min(int((1 - keep) * count + 1e-9), count - 1)


def choose_budget_threshold(
    scores: Floats, halves: Sequence[Sequence[ScoredPairs]], rule: ThresholdRule, *, sign: int
) -> float:
    """Return the threshold with most hits whose upper bounds of false hits are within the budgets in both halves.

    The candidates are *scores*, those of paraphrases in the first half; the first half limits them to some lowest one.
    The second half confirms them one after the other, beginning with the strictest, and ends at the first that fails.
    Since their order does not depend on the second half, no correction for their number is needed: with a probability
    of at least 95%, the rate of each kind with a budget is within it, of all kinds at once. (The promise is broken only
    if a kind above its budget passes its own test, which happens in at most 5% of cases, however many kinds there are.)

    - halves: the pairs of each kind in the half for the choice, and in the half that confirms

    Raises:
        UsageError: a budget is of an unknown contrast or kind.
        NoThresholdError: no threshold at which any paraphrase passes is within the budgets.
    """
    candidates = np.unique(scores[np.isfinite(scores)])[::-1]
    if not len(candidates):
        raise UsageError("no paraphrase passes the first threshold, so the second cannot be chosen")
    check_names(rule.budgets, [pairs.kind or pairs.contrast for pairs in halves[1]], "--budget")
    bounds: dict[str, Floats] = {}
    budgets: dict[str, float] = {}
    for pairs in (*halves[0], *halves[1]):
        if (budget := rule.find_budget(pairs)) is not None and len(pairs.different.scores):
            of_half = bound_false_hits(pairs.different, candidates)
            bounds[pairs.name] = np.maximum(of_half, bounds.get(pairs.name, 0.0))
            budgets[pairs.name] = budget
    is_within = np.all([bounds[name] <= budget for name, budget in budgets.items()], axis=0)
    if is_within[0]:
        return float(candidates[np.flatnonzero(np.logical_and.accumulate(is_within))[-1]])
    least = sorted(
        ((float(values[0]), name) for name, values in bounds.items() if values[0] > budgets[name]), reverse=True
    )
    listed = ", ".join(f"{100 * bound:.1f}% of {name}" for bound, name in least[:5])
    more = f" and {len(least) - 5} more" if len(least) > 5 else ""
    strictest = min(budgets.values())
    bounded = [pairs for half in halves for pairs in half if pairs.name in budgets and len(pairs.different.units)]
    fewest, name = min((count_effective(pairs.different.units), pairs.name) for pairs in bounded)
    # Without a single false hit, the bound of n pairs is 1 - (1 - CONFIDENCE)^(1/n): so many bring it down to the
    # budget.
    needed = ceil(log(1 - CONFIDENCE) / log(1 - strictest))
    hint = (
        f"; {100 * strictest:g}% needs {needed} pairs in each half, and {name} has {fewest:.0f}"
        if fewest < needed
        else ""
    )
    raise NoThresholdError(
        "no threshold at which a paraphrase passes keeps false hits within the budget; the least that can be promised "
        f"(95% upper bound) is {listed}{more}, at the threshold {sign * candidates[0]:.4f}{hint}",
        strictest=float(candidates[0]),
    )


def bound_false_hits(side: ScoredSide, thresholds: Floats) -> Floats:
    """Return the one-sided 95% upper bound of the share of *side* that passes each of *thresholds*, (n,).

    Pairs of one unit count as one (:func:`~sentprobe.probes.statistics.count_effective`).
    """
    ordered, effective = np.sort(side.scores), count_effective(side.units)
    shares = 1 - np.searchsorted(ordered, thresholds, side="left") / len(ordered)
    return compute_upper_bound(shares * effective, effective, confidence=CONFIDENCE)


def check_names(names: Mapping[str, float], measured: Sequence[str], option: str) -> None:
    """Raise UsageError, which names the *option*, for a contrast or kind that is not measured."""
    for name in names:
        if name and name not in measured:
            known = f"{suggest(name, measured)}; known: {', '.join(filter(None, dict.fromkeys(measured))) or 'none'}"
            raise UsageError(f"{option} {name}: no such contrast or kind{known}")


RANGES = {Nearness.COSINE.value: (-1.0, 1.0), Nearness.EUCLID.value: (0.0, np.inf)}
"""The lowest and the highest value of each measure; a measure that is not listed has no limits."""
MEASURE_NAMES = {Nearness.EUCLID.value: "distance", Nearness.DOT.value: "dot product"}
"""The names of measures in messages, if they differ from their names as options."""


def check_threshold(threshold: float, measure: str) -> None:
    """Raise UsageError if a threshold is infinite or outside the range of the measure."""
    low, high = RANGES.get(measure, (-np.inf, np.inf))
    name = MEASURE_NAMES.get(measure, measure)
    if not (low <= threshold <= high and np.isfinite(threshold)):
        near = f" (did you mean {threshold / 100:g}?)" if high == 1 < threshold <= 100 else ""
        raise UsageError(f"the threshold {threshold:g} is outside the range of the {name}, {low:g} to {high:g}{near}")
