"""The rates of false hits and misses of a similarity threshold, and the verdict on each pair."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from math import isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import FormatError, UsageError
from sentprobe.probes.similarity.gate_thresholds import (
    USUAL,
    NoThresholdError,
    ThresholdRule,
    bound_false_hits,
    choose_budget_threshold,
    choose_threshold,
)
from sentprobe.probes.similarity.pair_scores import (
    DECISION,
    OWN_PAIRS,
    GateStage,
    ScoredPair,
    ScoredPairs,
    ScoredSide,
    find_sign,
    name_pairs,
)
from sentprobe.probes.similarity.text_pairs import ONLY_DIFFERENT
from sentprobe.probes.statistics import Floats, Interval, accuracy_interval, count_effective, wilson

SOURCES = ("generated", "pairs", "paraphrases")
"""Where a pair comes from: the generator, the user's pairs, or the user's file of paraphrases."""
GENERATED, OWN, PARAPHRASES = SOURCES
HALVES = ("choice", "measured")
"""The two halves of the units: the threshold is chosen on the first, and figures are measured on the second."""
CHOICE, MEASURED = HALVES


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPair:
    """A pair with its score and the verdict of the threshold."""

    source: str
    contrast: str
    form: str
    """The form of a generated negative; empty for a paraphrase and for a user's pair."""
    kind: str
    a: str
    b: str
    same: bool
    unit: int
    half: str
    score: float | None
    """The similarity or distance; None if the first scorer of a cascade rejected the pair."""
    passes: bool

    @property
    def verdict(self) -> str:
        """What the threshold made of the pair."""
        return VERDICTS[self.same, self.passes]

    @property
    def is_wrong(self) -> bool:
        """Whether the pair is a false hit or a miss."""
        return self.same != self.passes

    @property
    def name(self) -> str:
        """The contrast and the form of a generated pair, or the kind of the user's pair."""
        return name_pairs(self.contrast, self.form, self.kind)

    def to_record(self) -> dict[str, Any]:
        """Return the fields, with the verdict instead of whether the pair passes."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "passes"}
        return values | {"verdict": self.verdict}


VERDICTS = {(True, True): "hit", (True, False): "miss", (False, True): "false hit", (False, False): "rejection"}
"""The name of a verdict, by whether the two texts mean the same, and whether the pair passes."""


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
    """The share of the pairs with the same meaning that do not pass the threshold; nan without such pairs."""
    misses_interval: Interval
    auc: float
    """The area under the ROC curve, in which a tie counts half; nan without pairs with the same meaning."""
    auc_interval: Interval
    eer: float
    """The equal error rate: the rate of false hits at the threshold at which misses are equally frequent; or nan."""
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
    budget: float | None = None
    """The greatest share of false hits that was promised; None without a promise."""
    bound: float | None = None
    """The one-sided 95% upper bound of the share of false hits; None without a promise."""

    @property
    def subject(self) -> str:
        """The contrast, or "own pairs" and their kind for pairs from a file."""
        return name_pairs(self.contrast, "", self.kind)

    @property
    def name(self) -> str:
        """The contrast and the form of the negatives, or "own pairs" and their kind for pairs from a file."""
        return name_pairs(self.contrast, self.form, self.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedGate:
    """The verdicts of a scorer at its threshold: all by which two results are compared, of which one may be stored."""

    scorer: str
    measure: str
    keep: float | None
    """The share of paraphrases that the threshold was chosen to keep; None if the user set the threshold."""
    pairs: tuple[JudgedPair, ...] = field(default=(), repr=False)
    """All pairs in both halves: of the user, of the file of paraphrases, and generated ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDraw(JudgedGate):
    """The rates of a scorer at a threshold, in one draw."""

    seed: int
    threshold: float
    """The lowest score that passes or, for Euclidean distances, the largest distance that passes."""
    kept: float
    """The share of the measured paraphrases that pass; nan without any."""
    rates: tuple[GateRates, ...]
    generated: tuple[GateRates, ...] = ()
    """If *rates* are of the user's pairs, the rates of generated pairs with the same lengths; else empty."""
    left_out: tuple[str, ...] = ()
    """The kinds of the user's pairs that have no pair of different meaning in the measured half."""
    stages: tuple[GateStage, ...] = ()
    """The two scorers of a cascade; empty for a single scorer."""
    failure: str = ""
    """Why no threshold is within the budget; the draw is then at the strictest at which a paraphrase passes."""


def measure_gate(
    scored: Sequence[ScoredPairs],
    generated: Sequence[ScoredPairs] = (),
    *,
    rule: ThresholdRule,
    scorer: str,
    measure: str,
    seed: int,
    paraphrases: ScoredSide | None = None,
) -> GateDraw:
    """Measure the rates of false hits and misses of a scorer in one draw.

    A threshold is chosen on one half of the units, and the rates are measured on the other half. They are measured on
    all units if the rule states the threshold. *generated* pairs are always measured in full. A kind of the user's
    pairs without any in the measured half is left out.

    - paraphrases: the user's paraphrases, from a file. If the rule is to keep a share of paraphrases, they determine
      the threshold alone, so that all of *scored* is measured

    Raises:
        UsageError: a half of the units lacks pairs with the same meaning or with different meanings.
        FormatError: the threshold is to be chosen, and no pair has the same meaning.
    """
    # Distances are negated, so that below, a higher score is always nearer.
    sign = find_sign(measure)
    # A decision scores 0 or 1, which leaves no threshold to choose.
    rule = ThresholdRule(threshold=1.0) if measure == DECISION else rule
    # A threshold from other paraphrases has seen none of *scored*; a budget is confirmed on half of them.
    is_halved = rule.threshold is None and (paraphrases is None or bool(rule.budgets))
    halves = [[pairs.select(partial(_is_in_half, half)) for pairs in scored] for half in HALVES]
    chosen, measured = halves if is_halved else (scored, scored)
    left_out = tuple(pairs.kind for pairs in measured if pairs.kind and not len(pairs.different.scores))
    # A kind without paraphrases of its own is measured beside all paraphrases.
    measured = [
        replace(pairs, same=measured[0].same) if pairs.kind and not len(pairs.same.scores) else pairs
        for pairs in measured
        if pairs.kind not in left_out
    ]
    needs_same = rule.threshold is None and paraphrases is None
    if needs_same and not any(len(pairs.same.scores) for pairs in scored):
        raise FormatError(f"{OWN_PAIRS}: {ONLY_DIFFERENT}")
    _check_sizes([*(pairs for pairs in chosen if not pairs.kind), *measured], needs_same=needs_same)
    pools = [_join_paraphrases(pairs) for pairs in (chosen, measured)]
    if paraphrases is not None:
        pools = [paraphrases.scores[_is_in_half(half, paraphrases.units)] for half in HALVES]
    if rule.threshold is None and not all(map(len, pools)):
        raise UsageError("too few paraphrases to choose a threshold on one half of them and measure it on the other")
    failure = ""
    if rule.threshold is not None:
        limit = sign * rule.threshold
    elif rule.budgets:
        cells = [[pairs for pairs in half if pairs.kind not in left_out] for half in (chosen, measured)]
        try:
            limit = choose_budget_threshold(pools[0], cells, rule, sign=sign)
        except NoThresholdError as error:
            limit, failure = error.strictest, str(error)
    else:
        limit = choose_threshold(pools[0], rule.share)
    complete = {pairs.name: pairs for pairs in scored}
    judge = partial(_judge_pairs, limit=limit, sign=sign)
    judged = [*judge(scored, source=GENERATED if scored[0].contrast else OWN, is_halved=is_halved)]
    judged += judge(generated, source=GENERATED, is_halved=False)
    if paraphrases is not None:
        judged += _judge_side(paraphrases, limit=limit, sign=sign, source=PARAPHRASES, is_halved=True)
    return GateDraw(
        scorer=scorer,
        measure=measure,
        seed=seed,
        threshold=sign * limit,
        keep=rule.share if rule.threshold is None and not rule.budgets else None,
        kept=float((pools[1] >= limit).mean()) if len(pools[1]) else nan,
        rates=tuple(_measure_pairs(pairs, complete[pairs.name], limit, rule) for pairs in measured),
        generated=tuple(_measure_pairs(pairs, pairs, limit) for pairs in generated),
        left_out=left_out,
        pairs=tuple(judged),
        failure=failure,
    )


def _check_sizes(cells: Sequence[ScoredPairs], *, needs_same: bool) -> None:
    for pairs in cells:
        if not ((len(pairs.same.scores) or not needs_same) and len(pairs.different.scores)):
            raise UsageError(
                f"{pairs.contrast or OWN_PAIRS}: too few pairs to choose a threshold on one half of them and "
                "measure it on the other; take more, or give a threshold"
            )


def _is_in_half(half: str, units: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each unit is in a half of the units: the even ones are CHOICE, the odd ones MEASURED."""
    return np.equal(units % 2, HALVES.index(half))


def _judge_pairs(cells: Sequence[ScoredPairs], **options: Any) -> Iterator[JudgedPair]:
    """Yield the verdicts on all pairs. The two ScoredPairs of a contrast share paraphrases, which occur once."""
    contrasts: set[str] = set()
    for cell in cells:
        if not cell.kind:
            if cell.contrast not in contrasts:
                yield from _judge_side(cell.same, contrast=cell.contrast, **options)
            yield from _judge_side(cell.different, contrast=cell.contrast, form=cell.form, **options)
            contrasts.add(cell.contrast)


def _judge_side(
    side: ScoredSide, *, limit: float, sign: int, source: str, is_halved: bool, contrast: str = "", form: str = ""
) -> Iterator[JudgedPair]:
    columns = (side.pairs, side.scores.tolist(), side.units.tolist(), (side.scores >= limit).tolist())
    for pair, score, unit, passes in zip(*columns, strict=True):
        yield JudgedPair(
            source=source,
            contrast=contrast,
            form=form,
            kind=pair.kind,
            a=pair.first,
            b=pair.second,
            same=pair.same,
            unit=unit,
            half=HALVES[unit % 2] if is_halved else MEASURED,
            score=sign * score if isfinite(score) else None,
            passes=passes,
        )


def _join_paraphrases(scored: Sequence[ScoredPairs]) -> Floats:
    """Return the scores of all paraphrases. The two ScoredPairs of a contrast share paraphrases, which count once."""
    return np.concatenate([*{pairs.contrast: pairs.same.scores for pairs in scored if not pairs.kind}.values()])


def _measure_pairs(pairs: ScoredPairs, complete: ScoredPairs, limit: float, rule: ThresholdRule = USUAL) -> GateRates:
    """Return the rates of *pairs*, with an example and the worst false hits of *complete*, the pairs of both halves."""
    same, different = pairs.same, pairs.different
    is_miss, is_hit = same.scores < limit, different.scores >= limit
    has_same = len(same.scores) > 0
    budget = rule.find_budget(pairs)
    return GateRates(
        contrast=pairs.contrast,
        form=pairs.form,
        kind=pairs.kind,
        example=complete.find_shortest(),
        false_hits=float(is_hit.mean()),
        false_hits_interval=accuracy_interval(is_hit, different.units.tolist()),
        misses=float(is_miss.mean()) if has_same else nan,
        misses_interval=accuracy_interval(is_miss, same.units.tolist()) if has_same else UNKNOWN,
        auc=compute_auc(same.scores, different.scores) if has_same else nan,
        auc_interval=compute_auc_interval(same, different) if has_same else UNKNOWN,
        eer=compute_equal_error_rate(same.scores, different.scores) if has_same else nan,
        pairs=len(different.scores),
        same_pairs=len(same.scores),
        ties=pairs.ties,
        at_threshold=int((same.scores == limit).sum() + (different.scores == limit).sum()),
        curve=tuple(
            (float((same.scores < point).mean()), float((different.scores >= point).mean()))
            for point in (np.unique(np.quantile(same.scores, CURVE_SHARES, method="lower")) if has_same else ())
        ),
        worst=tuple(pair for pair in complete.find_nearest() if pair.score >= limit),
        budget=budget,
        bound=None if budget is None else float(bound_false_hits(different, np.array([limit]))[0]),
    )


UNKNOWN = Interval(0.0, 1.0)
"""The interval of a rate of no pairs."""
CURVE_SHARES = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
"""The share of paraphrases below the threshold at each point of a curve."""


def compute_auc(same: Floats, different: Floats) -> float:
    """Return the area under the ROC curve, from the scores of paraphrases and of pairs that differ in meaning."""
    ordered = np.sort(different)
    # "left" counts the pairs below a paraphrase, "right" also the equal ones: their mean counts a tie as half.
    below = np.searchsorted(ordered, same, side="left") + np.searchsorted(ordered, same, side="right")
    return float(below.sum() / (2 * len(same) * len(different)))


def compute_placements(same: Floats, different: Floats) -> tuple[Floats, Floats]:
    """Return the share of negatives below each paraphrase, and the share of paraphrases above each negative.

    Ties count half. The mean of either is the area under the ROC curve.
    """
    shares = []
    for scores, others in ((same, different), (-different, -same)):
        ordered = np.sort(others)
        below = np.searchsorted(ordered, scores, side="left") + np.searchsorted(ordered, scores, side="right")
        shares.append(below / (2 * len(ordered)))
    return shares[0], shares[1]


def estimate_area_variance(deviations: Sequence[Floats], units: Sequence[NDArray[np.int64]]) -> float:
    """Return the variance of an area, or of a difference of areas, for pairs in units (Obuchowski 1997).

    For paraphrases and for negatives: the deviations of their placements from the mean, and their units.
    """
    _, numbers = np.unique(np.concatenate(units), return_inverse=True)
    sums = np.bincount(numbers, weights=np.concatenate([part / len(part) for part in deviations]))
    return float((sums**2).sum()) * len(sums) / max(1, len(sums) - 1)


def compute_auc_interval(same: ScoredSide, different: ScoredSide) -> Interval:
    """Return the 95% interval of the area under the ROC curve, for pairs in units.

    The variance is that of DeLong et al. 1988 for pairs in units (Obuchowski 1997). The interval is Wilson's for the
    number of independent pairs that would have this variance, at most twice the harmonic mean of
    the effective numbers of paraphrases and of other pairs.
    """
    area = compute_auc(same.scores, different.scores)
    placements = compute_placements(same.scores, different.scores)
    variance = estimate_area_variance([shares - area for shares in placements], [same.units, different.units])
    largest = 4 / sum(1 / count_effective(side.units) for side in (same, different))
    effective = min(largest, area * (1 - area) / variance) if variance > 0 else largest
    return wilson(area * effective, effective)


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
