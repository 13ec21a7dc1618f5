"""Thresholds, false hits and misses, areas and equal error rates, of a score and of a cascade."""

from itertools import product
from math import sqrt
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from helpers.encoders.model_files import save_cross_encoder
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

import sentprobe
from sentprobe.common.errors import UsageError
from sentprobe.generator.pairs.triplets import SIDES, TripletSpace
from sentprobe.lexicon import english
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.similarity.gate_rates import (
    GateDraw,
    compute_auc,
    compute_auc_interval,
    compute_equal_error_rate,
    compute_placements,
    measure_gate,
)
from sentprobe.probes.similarity.gate_thresholds import MEASURE_NAMES, ThresholdRule, check_threshold, choose_threshold
from sentprobe.probes.similarity.measures import Nearness
from sentprobe.probes.similarity.pair_scores import Cascade, PairModel, ScoredPairs, ScoredSide, TextPair

SCORES = st.lists(st.integers(-5, 5).map(lambda number: number / 10), min_size=1, max_size=30).map(np.array)


def make_pairs(same: list[float], other: list[float], *, units: list[int] | None = None) -> ScoredPairs:
    numbers = np.array(units or range(len(same)))
    sides = [
        ScoredSide(pairs=[TextPair("a", "b", is_same)] * len(scores), scores=np.array(scores), units=numbers)
        for scores, is_same in ((same, True), (other, False))
    ]
    return ScoredPairs(contrast="role", form="form", same=sides[0], different=sides[1])


def measure(pairs: ScoredPairs, *, keep: float | None = None, threshold: float | None = None) -> GateDraw:
    rule = ThresholdRule(keep=keep, threshold=threshold)
    return measure_gate([pairs], scorer="x", measure="cosine", seed=0, rule=rule)


@given(SCORES, SCORES)
def test_area_counts_all_combinations(same: np.ndarray, other: np.ndarray) -> None:
    expected = np.mean([(a > b) + (a == b) / 2 for a, b in product(same, other)])
    assert compute_auc(same, other) == pytest.approx(expected)
    assert compute_auc(other, same) == pytest.approx(1 - expected)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "distance", "unit_size"), [(15, 0.0, 1), (100, 2.5, 1), (200, -1.0, 2)])
def test_interval_of_area_has_area(count: int, distance: float, unit_size: int) -> None:
    """Of scores with a normal distribution, in at least 93% of draws (the interval is one of 95%)."""
    draw = np.random.default_rng(0)
    units = np.arange(count) // unit_size
    area = NormalDist().cdf(distance / sqrt(2))
    hits = 0
    for _ in range(1000):
        sides = []
        for mean in (distance, 0.0):
            shared, own = draw.normal(0, sqrt(0.5), (2, count))
            sides.append(ScoredSide(pairs=(), scores=shared[units] + own + mean, units=units))
        hits += area in compute_auc_interval(*sides)
    assert hits >= 930


@given(SCORES, SCORES)
def test_placements_are_parts_of_area(same: np.ndarray, other: np.ndarray) -> None:
    area = compute_auc(same, other)
    for placements in compute_placements(same, other):
        assert placements.mean() == pytest.approx(area)
    numbers = [np.arange(len(scores)) for scores in (same, other)]
    sides = [ScoredSide(pairs=(), scores=scores, units=n) for scores, n in zip((same, other), numbers, strict=True)]
    interval = compute_auc_interval(*sides)
    assert interval.low - 1e-12 <= area <= interval.high + 1e-12


@given(SCORES, SCORES)
def test_equal_error_rate_lies_between_neighbours(same: np.ndarray, other: np.ndarray) -> None:
    rate = compute_equal_error_rate(same, other)
    limits = [*np.unique(np.concatenate([same, other])), np.inf]
    hits, misses = [(other >= t).mean() for t in limits], [(same < t).mean() for t in limits]
    assert any(
        high >= rate - 1e-12 >= low - 2e-12 and first - 1e-12 <= rate <= last + 1e-12
        for high, low, first, last in zip(hits, hits[1:], misses, misses[1:], strict=False)
    )
    assert compute_equal_error_rate(-other, -same) == pytest.approx(rate)


@given(SCORES)
def test_equal_scores_are_at_half(scores: np.ndarray) -> None:
    assert compute_auc(scores, scores[::-1]) == 0.5
    assert compute_equal_error_rate(scores, scores[::-1]) == pytest.approx(0.5, abs=1e-15)


@given(SCORES, st.integers(1, 100).map(lambda share: share / 100) | st.just(1e-13))
def test_threshold_is_highest_that_keeps_share(scores: np.ndarray, keep: float) -> None:
    threshold = choose_threshold(scores, keep)
    assert (scores >= threshold).mean() >= keep - 1e-9
    assert (scores > threshold).mean() < keep


@given(SCORES, st.floats(-1, 1))
def test_ties_average_to_half(scores: np.ndarray, threshold: float) -> None:
    (rates,) = measure(make_pairs(scores.tolist(), scores.tolist()), threshold=threshold).rates
    assert rates.false_hits + rates.misses == pytest.approx(1)
    assert rates.at_threshold == 2 * (scores == threshold).sum()


def test_threshold_is_measured_on_other_units() -> None:
    """One of the user's own on all pairs; a chosen one is chosen on even units and measured on odd ones."""
    (rates,) = measure(make_pairs([0.9, 0.8, 0.4, 0.7], [0.6, 0.2, 0.7, 0.1]), threshold=0.6).rates
    assert (rates.false_hits, rates.misses, rates.pairs) == (0.5, 0.25, 4)
    result = measure(make_pairs([0.9, 0.1, 0.5, 0.8], [0.9, 0.6, 0.9, 0.4]), keep=1.0)
    assert (result.threshold, result.kept) == (0.5, 0.5)
    assert (result.rates[0].false_hits, result.rates[0].misses, result.rates[0].pairs) == (0.5, 0.5, 2)


@pytest.mark.parametrize("units", [[0, 0, 2], [1, 1, 3]])
def test_half_without_units_is_refused(units: list[int]) -> None:
    with pytest.raises(UsageError, match="too few pairs to choose a threshold"):
        measure(make_pairs([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], units=units))


@pytest.mark.parametrize(
    ("threshold", "nearness"),
    [(1.5, Nearness.COSINE), (-1.01, Nearness.COSINE), (-0.1, Nearness.EUCLID), (np.nan, Nearness.DOT)],
)
def test_threshold_out_of_range_is_refused(threshold: float, nearness: Nearness) -> None:
    with pytest.raises(
        UsageError, match=f"outside the range of the {MEASURE_NAMES.get(nearness.value, nearness.value)}, "
    ):
        check_threshold(threshold, nearness.value)


SCORE_PAIRS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=20)


@given(SCORE_PAIRS, st.integers(-3, 3))
def test_cascade_scores_only_passing_pairs(scores: list[tuple[int, int]], limit: int) -> None:
    asked: list[tuple[str, str]] = []

    def score_second(pairs: list[tuple[str, str]]) -> list[int]:
        asked.extend(pairs)
        return [scores[int(first)][1] for first, _ in pairs]

    first = PairModel(lambda pairs: [scores[int(first)][0] for first, _ in pairs], name="first")
    cascade = Cascade(first, PairModel(score_second, name="second"))
    texts = [str(number) for number in range(len(scores))]
    assert cascade.score_columns(texts, texts)[0].tolist() == [first for first, _ in scores]
    cascade.ask_second(limit)
    assert cascade.score_columns(texts, texts)[0].tolist() == [
        second if first >= limit else -np.inf for first, second in scores
    ]
    passing = [text for text, (first, _) in zip(texts, scores, strict=True) if first >= limit]
    assert asked == [(text, text) for text in passing]
    first_stage, second_stage = cascade.build_stages(limit, 0)
    assert (first_stage.pairs, second_stage.pairs) == (len(scores), len(passing))
    assert cascade.name == "first, then second"


@given(st.sampled_from(["role", "tense", "noun"]), st.integers(50, 100).map(lambda share: share / 100))
@examples(8)
def test_outsider_computes_the_same_figures(contrast: str, keep: float) -> None:
    """Both thresholds are chosen on even units, the second among the paraphrases that pass the first."""
    result = sentprobe.gate("bow?dim=8", then="bow?dim=4", contrasts=[contrast], n=120, keep=keep).draws[0]
    triplets = TripletSpace(english(), contrast).sample(120, seed=0)
    is_odd = triplets.hash_units() % 2 == 1
    scores = []
    for spec in ("bow?dim=8", "bow?dim=4"):
        a, p, _, n = (np.array(make_encoder(spec).encode(triplets.render_texts(side)), float) for side in SIDES)
        lengths = [np.linalg.norm(x, axis=1) for x in (a, p, n)]
        same, other = ((a * x).sum(1) / lengths[0] / length for x, length in zip((p, n), lengths[1:], strict=True))
        scores.append((same.round(6), other.round(6)))
    (same1, other1), (same2, other2) = scores
    first = np.sort(same1[~is_odd])[int((1 - keep) * sum(~is_odd) + 1e-9)]
    passed = same2[~is_odd & (same1 >= first)]
    second = np.sort(passed)[int((1 - keep) * len(passed) + 1e-9)]
    assert [stage.threshold for stage in result.stages] == [first, second]
    assert result.threshold == second
    rates = result.rates[0]
    assert rates.misses == ((same1 < first) | (same2 < second))[is_odd].mean()
    assert rates.false_hits == ((other1 >= first) & (other2 >= second))[is_odd].mean()


def test_cascade_asks_cross_encoder_about_passing(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "one", ("score",))
    figures = sentprobe.gate("bow?dim=8", then=f"ce:{folder}?name=tiny", contrasts=["tense"], n=60, threshold=0.9)
    first, second = figures.draws[0].stages
    assert (first.scorer, second.scorer, first.threshold) == ("bow?dim=8", "tiny", 0.9)
    assert 0 < second.pairs < first.pairs == 180
    alone = sentprobe.gate("bow?dim=8", contrasts=["tense"], n=60, threshold=0.9)
    assert figures.draws[0].rates[0].false_hits <= alone.draws[0].rates[0].false_hits + 0.2
    again = sentprobe.gate("bow?dim=8", then=f"ce:{folder}?name=tiny", contrasts=["tense"], n=60, threshold=0.9)
    assert again == figures
