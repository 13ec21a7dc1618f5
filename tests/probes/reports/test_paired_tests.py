"""Tests of gains over draws with shared variances, and the pairs of encoders that are compared."""

from dataclasses import replace
from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from helpers.strategies.probe_strategies import make_sample_result
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

from sentprobe.common.errors import UsageError
from sentprobe.probes.reports.comparisons import compare_encoders, describe_comparisons, group_by_encoder, list_pairs
from sentprobe.probes.reports.paired_tests import (
    EXCLUDED_PAIRS_NOTE,
    DrawGains,
    compare_matched_results,
    compute_shared_t_tests,
    compute_unit_variance,
    count_independent_gains,
    invert_trigamma,
    is_same_model,
    list_pairs_to_compare,
    share_variances,
    strip_reductions,
)
from sentprobe.probes.results.result import Condition, Results
from sentprobe.probes.statistics import Correction, compare_items, correct_p_values, sum_by_unit

accuracies = st.integers(0, 1000).map(lambda count: count / 1000)


def make_gain(
    *by_draw: float, v: float = 1e-3, items: int = 1000, task: str = "t", sides: tuple[str, str] = ("a", "b")
) -> DrawGains:
    return DrawGains(by_draw=by_draw, item_variance=v, items=items, task=task, sides=sides)


@st.composite
def tables(draw: st.DrawFn) -> list[DrawGains]:
    """Return the gains of every two of some encoders on some tasks, in the same draws."""
    encoders, tasks, draws = "abcd"[: draw(st.integers(2, 4))], draw(st.integers(1, 3)), draw(st.integers(2, 4))
    means = {
        (task, name): draw(st.lists(accuracies, min_size=draws, max_size=draws))
        for task in range(tasks)
        for name in encoders
    }
    variances = st.sampled_from([0.0, 2e-6, 4e-4, 1e-3])
    return [
        make_gain(*np.subtract(means[task, a], means[task, b]), v=draw(variances), task=str(task), sides=(a, b))
        for task in range(tasks)
        for a, b in combinations(encoders, 2)
    ]


def test_pairs_of_several_sizes_are_told_apart() -> None:
    """More pairs than are compared at once, of two sizes, with and without units, and of several seeds."""
    pairs = [
        tuple(
            make_sample_result(
                name, "Order", 3 * n + len(name), 4 * n, mirrored=n % 3 == 0, seeds=seeds, total=300 + n % 2
            )
            for name, seeds in (("a", 1 + n % 2), ("bbb", 2))
        )
        for n in range(90)
    ]
    sides = [(Condition.PROBE, Condition.PROBE), (Condition.PROBE, Condition.RANDOM_SENTENCES)]
    conditions = [sides[n % 5 == 0] for n in range(90)]
    compared = compare_matched_results([((a, b),) for a, b in pairs], conditions)
    for (a, b), sides_of_pair, comparison in zip(pairs, conditions, compared, strict=True):
        first, second = (
            np.array([seed.items() for seed in result.scores[condition].seeds])
            for result, condition in zip((a, b), sides_of_pair, strict=True)
        )
        assert comparison == compare_items(first, second, a.units)
        assert comparison.difference == pytest.approx(first.mean() - second.mean())
    with pytest.raises(UsageError, match="300 and 301 items cannot be paired"):
        compare_matched_results([((pairs[0][0], pairs[1][0]),)], conditions[:1])


@given(st.lists(accuracies, min_size=2, max_size=6), st.sampled_from([0.0, 1e-5, 1e-3]))
def test_single_gain_has_own_t_test(by_draw: list[float], v: float) -> None:
    (tested,) = compute_shared_t_tests([make_gain(*by_draw, v=v)])
    deviation = max(float(np.std(by_draw, ddof=1)), sqrt(v), 1e-3)
    assert tested.freedom == len(by_draw) - 1
    assert tested.deviation == pytest.approx(deviation)
    t = np.mean(by_draw) * sqrt(len(by_draw)) / deviation
    assert tested.p == pytest.approx(2 * stats.t.sf(abs(t), len(by_draw) - 1), rel=1e-9)
    half_width = stats.t.ppf(0.975, len(by_draw) - 1) * deviation / sqrt(len(by_draw))
    assert tested.half_width == pytest.approx(half_width)


def test_example_by_hand() -> None:
    """Two tasks and three encoders, of which c is noisy on the second task; three draws."""
    by_pair = {
        ("1", "ab"): (0.10, 0.12, 0.11),
        ("1", "ac"): (0.02, 0.08, 0.05),
        ("1", "bc"): (-0.08, -0.04, -0.06),
        ("2", "ab"): (0.00, 0.05, -0.05),
        ("2", "ac"): (0.30, 0.10, 0.20),
        ("2", "bc"): (0.30, 0.05, 0.25),
    }
    tests = compute_shared_t_tests(
        [make_gain(*g, task=task, sides=(sides[0], sides[1])) for (task, sides), g in by_pair.items()]
    )
    phi = np.array([0.0001, 0.0009, 0.0004, 0.0025, 0.01, 0.0175]) / 0.001
    z = np.log(phi) - digamma(1)
    half_d0 = brentq(lambda x: polygamma(1, x) - (z.var(ddof=1) - polygamma(1, 1)), 1e-3, 1e3)
    d = min(half_d0, 2**2, (2 * 2 - 1) * 2 / 2) * np.minimum(1, (phi.mean() / phi) ** 2)
    assert [tested.prior_freedom for tested in tests] == pytest.approx(d.tolist())
    assert 0 < d[5] < d[4] < d[3] == d[0]
    expected = np.sqrt(np.maximum(1, (d * phi.mean() + 2 * phi) / (d + 2)) * 0.001)
    assert [tested.deviation for tested in tests] == pytest.approx(expected.tolist())


def test_equal_variances_add_most_freedom() -> None:
    """With equal ratios, the prior is certain: d0 is infinite, and the bounds hold."""
    gains = [make_gain(0.1, 0.2, 0.15, task=str(task), v=0.0025) for task in range(40)]
    assert {tested.prior_freedom for tested in compute_shared_t_tests(gains)} == {2.0**2}
    assert {tested.prior_freedom for tested in compute_shared_t_tests(gains[:4])} == {3 * 2 / 2}
    five_draws = [replace(gain, by_draw=gain.by_draw + gain.by_draw[:2]) for gain in gains]
    assert {tested.prior_freedom for tested in compute_shared_t_tests(five_draws)} == {8.0}


@given(st.floats(10, 1000), st.integers(2, 4))
def test_extreme_gain_uses_own_draws(factor: float, draws: int) -> None:
    """Its variance takes nearly nothing from the 40 steady gains, and the steady ones keep their prior."""
    by_draw = np.linspace(0.1, 0.2, draws)
    steady = [make_gain(*by_draw, task=str(task), v=0.0025) for task in range(40)]
    extreme = make_gain(*(sqrt(factor) * by_draw), task="noisy", v=0.0025)
    tests = compute_shared_t_tests([*steady, extreme])
    own = float(np.std(extreme.by_draw, ddof=1))
    assert tests[-1].freedom == pytest.approx(draws - 1, abs=0.25)
    assert tests[-1].deviation == pytest.approx(max(own, 0.05), rel=0.1)
    assert tests[0].prior_freedom > 10 * tests[-1].prior_freedom or tests[0].prior_freedom == 0


def test_constant_answers_are_no_prior() -> None:
    """A task that both encoders answer always alike tells nothing about the noise of the others."""
    varying = [make_gain(0.10, 0.14, 0.13, task="1"), make_gain(0.2, 0.1, 0.12, task="2")]
    constant = make_gain(0.5, 0.5, 0.5, v=0.0, task="3", sides=("c", "d"))
    tests = compute_shared_t_tests([*varying, constant])
    assert tests[:2] == compute_shared_t_tests(varying)
    assert 0 < tests[2].p < 1e-6


@examples(50)
@given(tables())
def test_order_of_gains_does_not_matter(gains: list[DrawGains]) -> None:
    forward = compute_shared_t_tests(gains)
    turned = [
        replace(gain, by_draw=tuple(-value for value in gain.by_draw), sides=gain.sides[::-1]) for gain in gains[::-1]
    ]
    backward = compute_shared_t_tests(turned)[::-1]
    assert [tested.p for tested in forward] == pytest.approx([tested.p for tested in backward])
    assert [tested.mean for tested in forward] == pytest.approx([-tested.mean for tested in backward])


@examples(50)
@given(tables())
def test_gains_are_bounded_by_items(gains: list[DrawGains]) -> None:
    for gain, tested in zip(gains, compute_shared_t_tests(gains), strict=True):
        assert 0 < tested.p <= 1
        assert tested.deviation >= max(sqrt(gain.item_variance), 1 / gain.items) * (1 - 1e-9)
        assert len(gain.by_draw) - 1 <= tested.freedom <= len(gain.by_draw) + 7


@st.composite
def steady_tables(draw: st.DrawFn) -> list[DrawGains]:
    """Return gains of 30 points on average, in two or three draws that differ by a few points."""
    encoders, tasks, draws = draw(st.integers(2, 4)), draw(st.integers(1, 3)), draw(st.integers(2, 3))
    wobbles = st.integers(-25, 25).map(lambda count: count / 1000)
    rows = st.lists(wobbles, min_size=draws, max_size=draws)
    names = "abcd"[:encoders]
    return [
        make_gain(*(0.3 + wobble - centre), v=draw(st.sampled_from([2e-4, 5e-4, 1e-3])), task=str(task), sides=(a, b))
        for task in range(tasks)
        for a, b in combinations(names, 2)
        for wobble in [np.array(draw(rows))]
        for centre in [wobble.mean()]
    ]


@examples(100)
@given(steady_tables())
def test_more_draws_keep_gains_significant(gains: list[DrawGains]) -> None:
    """Three times as many draws never turn a significant difference of 30 points into a tie."""

    def count_significant(by_draw_gains: list[DrawGains]) -> list[bool]:
        p_values = [tested.p for tested in compute_shared_t_tests(by_draw_gains)]
        return [p < 0.05 for p in correct_p_values(p_values, Correction.HOLM)]

    tripled = [replace(gain, by_draw=gain.by_draw * 3) for gain in gains]
    for before, after in zip(count_significant(gains), count_significant(tripled), strict=True):
        assert after or not before


@pytest.mark.parametrize("draws", [2, 3, 5])
@pytest.mark.parametrize("shape", [(5, 5), (5, 15), (13, 5)])
def test_noisy_cell_keeps_error_rates(shape: tuple[int, int], draws: int) -> None:
    """Encoders are equally good on all tasks; the variance of one cell is 70 times that of the others."""
    tasks, encoders = shape
    rng, tables = np.random.default_rng(0), 1000
    first, second = np.array([*combinations(range(encoders), 2)]).T
    accuracies = rng.standard_normal((tables, draws, tasks, encoders))
    accuracies[:, :, -1, 0] *= sqrt(70)

    def share(values: np.ndarray, variance: float, independent: int) -> tuple[np.ndarray, np.ndarray]:
        count = values.shape[-1]
        variances, prior_freedom = share_variances(
            values.var(axis=1, ddof=1),
            np.full((tables, count), variance),
            np.full(count, draws - 1),
            independent=independent,
            varying=np.ones(count, np.bool_),
        )
        return np.sqrt(variances / draws), draws - 1 + prior_freedom

    gains = (accuracies[..., first] - accuracies[..., second]).reshape(tables, draws, -1)
    errors, freedom = share(gains, 2.0, tasks * (encoders - 1))
    p_values = 2 * stats.t.sf(np.abs(gains.mean(axis=1)) / errors, freedom)
    false_claims = float((gains.shape[-1] * p_values.min(axis=1) < 0.05).mean())
    assert false_claims < 0.05 + 2 * sqrt(0.05 * 0.95 / tables)
    cells = accuracies.reshape(tables, draws, -1)
    errors, freedom = share(cells, 1.0, tasks * encoders)
    covered = (np.abs(cells.mean(axis=1)) < stats.t.ppf(0.975, freedom) * errors).mean(axis=0)
    assert covered.min() > 0.9 - 2 * sqrt(0.1 * 0.9 / tables)


@given(st.floats(1e-3, 1e4))
def test_trigamma_is_inverted(x: float) -> None:
    assert invert_trigamma(polygamma(1, np.array([x])))[0] == pytest.approx(x, rel=1e-6)


@given(st.integers(1, 6), st.integers(1, 4))
def test_independent_gains_are_counted(encoders: int, tasks: int) -> None:
    sides = [((t, a), (t, b)) for t in range(tasks) for a, b in combinations(range(encoders), 2)]
    assert count_independent_gains(sides) == tasks * (encoders - 1)


def test_items_of_a_unit_vary_together() -> None:
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(200), 2)
    gains = rng.integers(-1, 2, size=(2000, 200)).repeat(2, axis=1)
    estimates = [compute_unit_variance(*sum_by_unit(row, units.tolist())) for row in gains[:300]]
    assert np.mean(estimates) == pytest.approx(gains.mean(axis=1).var(), rel=0.1)
    assert compute_unit_variance(*sum_by_unit([1, 1, 0], [0, 0, 0])) == 0
    assert compute_unit_variance(*sum_by_unit(gains[0], [])) == pytest.approx(gains[0].var(ddof=1) / 400)


def test_one_draw_is_not_enough() -> None:
    assert compute_shared_t_tests([]) == ()
    with pytest.raises(UsageError, match="two draws"):
        compute_shared_t_tests([make_gain(0.1)])


SPECS = ("bow?dim=8", "st:m?layer=2", "hf:org/m", "bow:v.txt?seed=3", "mine")
CUTS = ("dims=4", "quantize=int8", "dims=4&quantize=binary", "erase=a.jsonl")


def cut(name: str, how: str) -> str:
    """Return a name as the option of a spec makes it or, of a name of one's own, the table."""
    if name == "mine":
        return {CUTS[0]: "mine, 4 dims", CUTS[1]: "mine, int8", CUTS[2]: "mine, 4 dims, binary"}.get(
            how, "mine, without a"
        )
    return f"{name}{'&' if '?' in name else '?'}{how}"


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("how", CUTS)
def test_reduced_name_leads_to_full_name(name: str, how: str) -> None:
    assert strip_reductions(cut(name, how)) == name
    assert is_same_model(cut(name, how), name)
    assert [*filter(lambda changed: is_same_model(cut(name, how), changed), SPECS)] == [name]


def test_dim_reduces_only_learned_vectors() -> None:
    assert is_same_model("st:m?dim=64", "st:m")
    assert not is_same_model("bow?dim=64", "bow")


@examples(40)
@given(st.lists(st.tuples(st.sampled_from(SPECS), st.sampled_from(["", *CUTS])), unique=True, min_size=2))
def test_pairs_are_of_different_encoders(expected_pairs: list[tuple[str, str]]) -> None:
    names = [cut(name, how) if how else name for name, how in expected_pairs]
    pairs = list_pairs_to_compare(names)
    apart = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :] if not is_same_model(a, b)]
    assert pairs == apart if len({name for name, _ in expected_pairs}) > 1 else len(pairs) > 0


RUN = Results(
    tuple(make_sample_result(name, "Order", right) for name, right in [("a", 90), ("a, int8", 70), ("b", 60)])
)


def test_compare_leaves_out_variants() -> None:
    pairs = [(one.encoder, two.encoder) for one, two in list_pairs(group_by_encoder(RUN, "x"), source="x")]
    assert pairs == [("a", "b"), ("a, int8", "b")]
    comparisons = compare_encoders(RUN)
    assert EXCLUDED_PAIRS_NOTE in describe_comparisons(comparisons, correction=Correction.HOLM)
    assert comparisons[0].sign_p == pytest.approx(min(1, 2 * comparisons[0].paired.sign_p))


def test_what_is_asked_for_is_compared() -> None:
    comparisons = compare_encoders(RUN, against="a")
    assert [comparison.first.encoder for comparison in comparisons] == ["a, int8", "b"]
    of_one = compare_encoders(Results(RUN.records[:2]))
    assert [comparison.second.encoder for comparison in of_one] == ["a, int8"]
    assert EXCLUDED_PAIRS_NOTE not in describe_comparisons(of_one, correction=Correction.HOLM)
