"""The choice of a threshold, and the promise of a budget of false hits."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.probes.similarity.gate_rates import measure_gate
from sentprobe.probes.similarity.gate_thresholds import (
    NoThresholdError,
    ThresholdRule,
    bound_false_hits,
    choose_budget_threshold,
)
from sentprobe.probes.similarity.pair_scores import ScoredPairs, ScoredSide, TextPair
from sentprobe.probes.statistics import compute_upper_bound, count_effective


def make_side(scores: np.ndarray, units: np.ndarray, *, same: bool) -> ScoredSide:
    return ScoredSide(pairs=[TextPair("a", "b", same)] * len(scores), scores=scores, units=units)


def make_kind(name: str, different: np.ndarray, *, unit_size: int = 1) -> ScoredPairs:
    side = make_side(different, np.arange(len(different)) // unit_size, same=False)
    return ScoredPairs(kind=name, same=make_side(np.ones(1), np.zeros(1, np.int64), same=True), different=side)


@given(st.integers(1, 400), st.data())
def test_bound_is_exact(total: int, data: st.DataObject) -> None:
    """The bound is the rate at which so few successes have a probability of 5% (the sum of the binomial terms)."""
    from scipy.stats import binom

    count = data.draw(st.integers(0, total))
    (bound,) = compute_upper_bound([count], total)
    assert bound == 1 if count == total else binom.cdf(count, total, bound) == pytest.approx(0.05, abs=1e-6)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_units_that_agree_count_once(units: list[int]) -> None:
    count = count_effective(units)
    assert 1 <= count <= len({*units}) + 1e-9
    assert count_effective(units * 2) == pytest.approx(count)


SCORES = st.lists(st.integers(0, 20).map(lambda number: number / 20), min_size=5, max_size=60).map(np.array)


@given(SCORES, SCORES, SCORES, st.sampled_from([0.1, 0.3, 0.6, 0.9]))
def test_threshold_is_lowest_within_budget(
    first: np.ndarray, second: np.ndarray, hits: np.ndarray, budget: float
) -> None:
    halves = [[make_kind("x", first)], [make_kind("x", second)]]
    candidates = np.unique(hits)
    bounds = np.max([bound_false_hits(half[0].different, candidates) for half in halves], axis=0)
    assert all(low >= high for low, high in pairwise(bounds))
    rule = ThresholdRule(budgets={"x": budget})
    if bounds[-1] > budget:
        with pytest.raises(
            NoThresholdError,
            match=rf"is {100 * bounds[-1]:.1f}% of own pairs, x, at the threshold {candidates[-1]:.4f}",
        ):
            choose_budget_threshold(hits, halves, rule, sign=1)
    else:
        threshold = choose_budget_threshold(hits, halves, rule, sign=1)
        assert threshold == candidates[bounds <= budget][0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kinds", "n", "unit_size", "budget"), [(1, 300, 1, 0.05), (4, 300, 1, 0.05), (3, 300, 3, 0.1)]
)
def test_promise_holds(kinds: int, n: int, unit_size: int, budget: float) -> None:
    """Of 1,000 draws, the true rate of each kind is within the budget in at least 95%: it is 1 - threshold here."""
    draw = np.random.default_rng(0)
    broken = named = 0
    for _ in range(1000):
        halves = [
            [
                make_kind(str(k), draw.random(n // unit_size).repeat(unit_size), unit_size=unit_size)
                for k in range(kinds)
            ]
            for _ in range(2)
        ]
        hits = 0.4 + 0.6 * draw.random(n)
        try:
            threshold = choose_budget_threshold(hits, halves, ThresholdRule(budgets={"": budget}), sign=1)
        except NoThresholdError:
            continue
        named, broken = named + 1, broken + (1 - threshold > budget)
    assert named > 900
    assert broken <= 50


def test_promise_is_kept_by_worst_kind() -> None:
    """A kind without a budget may have any rate; figures are those of the half that confirms."""
    draw = np.random.default_rng(0)
    units = np.arange(2000)
    same = make_side(0.5 + 0.5 * draw.random(2000), units, same=True)
    cells = [
        ScoredPairs(
            contrast=name, form="form", same=same, different=make_side(scale * draw.random(2000), units, same=False)
        )
        for name, scale in (("tense", 1.0), ("noun", 0.9), ("role", 2.0))
    ]
    rule = ThresholdRule(budgets={"tense": 0.05, "noun": 0.05})
    result = measure_gate(cells, rule=rule, scorer="x", measure="cosine", seed=0)
    assert 0.95 < result.threshold < 0.98
    assert result.keep is None
    tense, noun, role = result.rates
    assert (tense.budget, role.budget, role.bound) == (0.05, None, None)
    assert tense.bound is not None
    assert noun.bound is not None
    assert tense.false_hits < tense.bound <= 0.05
    assert noun.bound < tense.bound
    assert role.false_hits == pytest.approx(0.5, abs=0.05)


def test_too_few_pairs_are_named() -> None:
    halves = [[make_kind("x", np.zeros(20))], [make_kind("x", np.zeros(50))]]
    with pytest.raises(
        NoThresholdError,
        match=r"13\.9% of own pairs, x, at the threshold 1\.0000; 1% needs 299 pairs in each half, and own pairs, x",
    ):
        choose_budget_threshold(np.ones(3), halves, ThresholdRule(budgets={"": 0.01}), sign=1)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"threshold": 0.5, "keep": 0.9}, "--threshold and --keep: give one of them"),
        ({"keep": 0.9, "budgets": {"": 0.1}}, "--keep and --budget: give one of them"),
        ({"keep": 0.0}, "the share of paraphrases to keep must be above 0 and at most 1, not 0"),
        ({"budgets": {"": 0.0}}, "the budget of false hits must be above 0 and below 1, not 0"),
    ],
)
def test_rule_is_one_of_three(values: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ThresholdRule(**values)  # type: ignore[arg-type]


def test_unknown_kind_has_no_budget() -> None:
    halves = [[make_kind("date", np.zeros(5))]] * 2
    with pytest.raises(
        UsageError, match=r"--budget dat: no such contrast or kind \(did you mean 'date'\?\); known: date"
    ):
        choose_budget_threshold(np.ones(3), halves, ThresholdRule(budgets={"dat": 0.5}), sign=1)
