"""Paired tests of the differences in accuracy in a table.

With one draw, a difference is tested over test items. With several draws, it is tested over draws; its variance is
estimated from its own draws and from the other differences of the table. A *gain* is the difference in accuracy between
two encoders, between an encoder and its control, or between an encoder and chance.

Encoder specs in results, and variants of a model: its vectors cut, rounded, or with a property erased.
"""

import re
import shlex
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain, combinations
from math import sqrt
from statistics import fmean

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import OptionPair, Spec, parse_spec
from sentprobe.common.values import group_by
from sentprobe.probes import statistics as st
from sentprobe.probes.encoders.kinds import ENCODERS
from sentprobe.probes.reports.control_verdicts import list_shared_properties
from sentprobe.probes.results.result import Condition, Result, Score

MOST_PRIOR_FREEDOM = 8.0
"""The maximum degrees of freedom that the variances of other gains add (docs/decisions/0013)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawGains:
    """The gain of one encoder over another encoder, its control or chance, in each of several draws."""

    by_draw: tuple[float, ...]
    item_variance: float
    """The variance of the gain due to the choice of test items, computed in each draw and averaged over draws."""
    items: int
    task: Hashable
    sides: tuple[Hashable, Hashable]
    """The names of the two encoders, or of the encoder and its control or chance. None instead of a name if all units
    have the same share of correct answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GainTest:
    """The t-test of a gain, such as one encoder's accuracy minus another's; each draw is one observation."""

    mean: float
    draws: int
    deviation: float
    prior_freedom: float
    """The degrees of freedom that the variances of other gains add."""

    @property
    def freedom(self) -> float:
        return self.draws - 1 + self.prior_freedom

    @property
    def p(self) -> float:
        """The two-sided p-value."""
        return st.two_sided_t_p_value(sqrt(self.draws) * self.mean / self.deviation, self.freedom)

    @property
    def half_width(self) -> float:
        """Half the width of the 95% interval of the mean gain."""
        return st.student_quantile(0.95, self.freedom) * self.deviation / sqrt(self.draws)


def compute_unit_variance(sums: st.Floats, sizes: st.Floats) -> float:
    """Return the variance of the items' mean, given each unit's sum and size, both (units,) (Kish 1965, sec. 8.2).

    >>> compute_unit_variance(*st.sum_by_unit([1, 0, 1, 0], [])), compute_unit_variance(np.ones(2), np.full(2, 2))
    (0.08333333333333333, 0.0)
    """
    count, total = len(sums), float(sizes.sum())
    if count < 2:
        return 0.0
    residuals = sums - sizes * (sums.sum() / total)
    return float((residuals**2).sum()) / total**2 * count / (count - 1)


def compute_shared_t_tests(gains: Sequence[DrawGains]) -> tuple[GainTest, ...]:
    """Return a t-test for each gain (at least two draws). Its variance is estimated from the draws of all gains."""
    if not gains:
        return ()
    draws = np.array([len(gain.by_draw) for gain in gains])
    if draws.min() < 2:
        raise UsageError("a test over draws needs two draws of each gain")
    # Accuracies are multiples of 1 / items: a smaller spread over few draws is a coincidence (compare_draws).
    minimum = np.array([gain.items for gain in gains], dtype=np.float64) ** -2.0
    item_variances = np.array([gain.item_variance for gain in gains])
    shared, prior_freedom = share_variances(
        np.maximum(minimum, [np.var(gain.by_draw, ddof=1) for gain in gains]),
        np.maximum(minimum, item_variances),
        draws - 1,
        independent=count_independent_gains(
            tuple((gain.task, side) for side in gain.sides) for gain in gains if gain.item_variance > 0
        ),
        varying=item_variances > 0,
    )
    return tuple(
        GainTest(
            mean=float(np.mean(gain.by_draw)), draws=len(gain.by_draw), deviation=sqrt(variance), prior_freedom=prior
        )
        for gain, variance, prior in zip(gains, shared.tolist(), prior_freedom.tolist(), strict=True)
    )


def count_independent_gains(sides: Iterable[tuple[Hashable, ...]]) -> int:
    """Return the number of linearly independent gains. *sides* has a pair for each gain: ("a", "b") is the gain a - b.

    >>> count_independent_gains([("a", "b"), ("b", "c"), ("a", "c"), ("d", "e")])
    3
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    numbers: dict[Hashable, int] = {}
    edges = [[numbers.setdefault(side, len(numbers)) for side in pair] for pair in sides]
    if not edges:
        return 0
    # The rank of the graph's incidence matrix: the number of nodes minus that of connected components.
    graph = coo_array((np.ones(len(edges)), np.transpose(edges)), shape=(len(numbers), len(numbers)))
    return len(numbers) - int(connected_components(graph, directed=False, return_labels=False))


def share_variances(
    variances: st.Floats, item_variances: st.Floats, freedom: ArrayLike, *, independent: int, varying: NDArray[np.bool_]
) -> tuple[st.Floats, st.Floats]:
    """Estimate the variance between draws of each gain (difference in accuracy) from the draws of all gains.

    A t-test over three draws of one gain has two degrees of freedom and hardly any power (docs/decisions/0013).

    The phi of a gain is its variance between draws divided by its variance between items. phi0 is the mean over the
    table. The estimate replaces phi by (d phi0 + nu phi) / (d + nu), or by 1 if this is less than 1. nu is the number
    of draws minus 1. d is the degrees of freedom of the prior: the smallest of :func:`estimate_prior_freedom`, nu * nu
    and MOST_PRIOR_FREEDOM. If phi exceeds phi0 by a factor k, d is divided by k squared, so that an extreme gain is
    tested by its own draws alone. Phipson et al. (2016) have the same aim.

    - variances, item_variances: each gain's variance between draws, and its variance between items, (..., gains)
    - varying: whether each gain varies between items, (gains,) bool. phi0 leaves out the other gains

    Returns:
        The estimated variance of each gain, and the degrees of freedom of its prior, (..., gains) each.
    """
    nu = np.asarray(freedom, dtype=np.float64)
    ratios = variances / item_variances
    # A single gain has no others to learn from. Draws vary at least as much as their choice of items makes them.
    if varying.sum() < 2:
        return np.maximum(1.0, ratios) * item_variances, np.zeros_like(ratios)
    phi0 = ratios[..., varying].mean(axis=-1, keepdims=True)
    estimated = estimate_prior_freedom(ratios[..., varying], nu[varying], independent=independent)[..., np.newaxis]
    d = np.minimum(estimated, np.minimum(nu**2, MOST_PRIOR_FREEDOM)) * np.minimum(1.0, (phi0 / ratios) ** 2)
    return np.maximum(1.0, (d * phi0 + nu * ratios) / (d + nu)) * item_variances, d


def estimate_prior_freedom(ratios: st.Floats, freedom: st.Floats, *, independent: int) -> st.Floats:
    """Estimate the degrees of freedom of the prior for phi, the ratio of a gain's two variances (see *ratios*).

    A gain is a difference in accuracy. The estimate d0 of Smyth (2004) solves trigamma(d0 / 2) = var(z) -
    mean(trigamma(nu / 2)), where z = ln(phi) - digamma(nu / 2) + ln(nu / 2). d0 is infinite if the right side is not
    positive. Smyth assumes independent gains. The gains of one table depend on each other, so d0 is too large. The
    result is d0 / 2 or (independent - 1) mean(nu) / 2, whichever is smaller. It has the shape of *ratios* without the
    last axis.

    - ratios: phi of each gain: the gain's variance over draws divided by its variance over items, (..., gains)
    - freedom: nu of each gain: the degrees of freedom of the gain's variance over draws, (gains,)
    - independent: the number of linearly independent gains
    """
    from scipy.special import digamma, polygamma

    logs = np.log(ratios) - digamma(freedom / 2) + np.log(freedom / 2)
    excess = logs.var(axis=-1, ddof=1) - polygamma(1, freedom / 2).mean()
    most = max(0.0, (independent - 1) * float(freedom.mean()) / 2)
    d0 = 2 * invert_trigamma(np.where(excess > 0, excess, 1.0))
    return np.where(excess > 0, np.minimum(d0 / 2, most), most)


def invert_trigamma(values: st.Floats) -> st.Floats:
    """Solve trigamma(x) = value for each positive value, by Newton's method (Smyth 2004, appendix).

    >>> bool(abs(invert_trigamma(np.array([1.6449340668482264]))[0] - 1) < 1e-9)
    True
    """
    from scipy.special import polygamma

    # Newton's method on 1 / trigamma, which is convex and nearly linear: it converges monotonically from this start.
    x = 0.5 + 1 / values
    for _ in range(50):
        trigamma = polygamma(1, x)
        step = trigamma * (1 - trigamma / values) / polygamma(2, x)
        x = x + step
        if np.all(np.abs(step) <= 1e-10 * x):
            break
    return np.asarray(x, np.float64)


LEVEL = 0.05
"""The significance level of every test: a corrected p-value below this level is significant."""
ROUNDING = 1e-9
"""Differences below this size are ties: they come from rounding."""
MatchedResults = tuple[tuple[Result, Result], ...]
"""The results of two encoders on one task: a pair of results for each draw that both encoders have."""
ConditionPair = tuple[Condition, Condition]
PROBES: ConditionPair = (Condition.PROBE, Condition.PROBE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawComparison(st.PairedComparison):
    """A comparison over several draws, with its t-test."""

    test: GainTest


@lru_cache(maxsize=1024)  # every encoder of a table is compared with all others
def _sum_answers(score: Score, units: tuple[int, ...]) -> tuple[st.Floats, st.Floats]:
    return st.sum_by_unit(score.items(), units)


def sum_answers(result: Result, condition: Condition) -> tuple[st.Floats, st.Floats]:
    """Return two arrays, (units,): each unit's number of correct answers (mean over seeds), and its number of items."""
    return _sum_answers(result.scores[condition], result.units)


def are_constant(draws: Sequence[Result], condition: Condition) -> bool:
    """Return whether all units of all draws have the same share of correct answers."""
    shares = [sums / sizes for sums, sizes in (sum_answers(result, condition) for result in draws)]
    return bool(np.ptp(np.concatenate(shares)) < ROUNDING)


def have_shared_items(draws: Sequence[Result]) -> bool:
    """Return whether at least two of the draws have the same test items."""
    return len({result.dataset_fingerprint for result in draws}) < len(draws)


def compare_matched_results(
    matches: Sequence[MatchedResults], conditions: Sequence[ConditionPair]
) -> list[st.PairedComparison]:
    """Compare the two encoders of each match. *conditions* has, for each match, the conditions of its two encoders.

    If a match has one draw, its sign test, t-test and interval are computed over units. If it has several draws, they
    are computed over draws. The t-test and interval then also use the variances of other matches. If some draws have
    the same test items, a sign test and an interval are computed over units, too. ``t_p`` is then the p-value of the
    t-test or of this sign test, whichever is larger. ``interval`` is as wide as the wider of the two intervals.
    """
    pairs = [*zip(matches, conditions, strict=True)]
    gains = [_build_gains(matched, pair) for matched, pair in pairs if len(matched) > 1]
    tests = iter(zip(gains, compute_shared_t_tests(gains), strict=True))
    over_units = iter(_compare_units([(*matched[0], *pair) for matched, pair in pairs if len(matched) == 1]))
    return [
        _compare_draws(matched, pair, *next(tests)) if len(matched) > 1 else next(over_units) for matched, pair in pairs
    ]


def _compare_units(pairs: Sequence[tuple[Result, Result, Condition, Condition]]) -> list[st.PairedComparison]:
    """Return the comparison over units of each pair of results, given each result's condition."""
    sums: dict[tuple[int, Condition, int], tuple[st.Floats, int]] = {}
    counts = [(a.scores[c].total, b.scores[d].total) for a, b, c, d in pairs]
    for count, other_count in counts:
        if count != other_count:
            raise UsageError(f"{count} and {other_count} items cannot be paired")

    def sum_right_answers(result: Result, condition: Condition, units: tuple[int, ...]) -> tuple[st.Floats, int]:
        key = id(result), condition, id(units)
        if key not in sums:  # an encoder is in many pairs
            seeds = result.scores[condition].seeds
            right = np.sum([seed.items() for seed in seeds], axis=0)
            sums[key] = st.sum_by_unit(right, units)[0], len(seeds)
        return sums[key]

    comparisons: dict[int, st.PairedComparison] = {}
    # Results from files share their tuple of units (store._parse_numbers), so its identity groups them.
    groups = group_by(range(len(pairs)), lambda number: (id(pairs[number][0].units), counts[number][0]))
    for numbers in groups.values():
        result = pairs[numbers[0]][0]
        sizes = st.sum_by_unit(np.ones(counts[numbers[0]][0]), result.units)[1]
        for start in range(0, len(numbers), PAIRS_AT_ONCE):
            part = [pairs[number] for number in numbers[start : start + PAIRS_AT_ONCE]]
            first = [sum_right_answers(a, condition, result.units) for a, _, condition, _ in part]
            second = [sum_right_answers(b, condition, result.units) for _, b, _, condition in part]
            comparisons |= zip(numbers[start:], st.compare_unit_sums(first, second, sizes), strict=False)
    return [comparisons[number] for number in range(len(pairs))]


PAIRS_AT_ONCE = 64
"""Number of pairs that are compared together; more would not fit into the processor's cache."""


def _build_gains(matched: MatchedResults, conditions: ConditionPair) -> DrawGains:
    first, second = zip(*matched, strict=True)
    a, b = ([result.scores[c] for result in side] for side, c in zip((first, second), conditions, strict=True))
    names = name_side(first, conditions[0]), name_side(second, conditions[1])
    tasks = first[0].task, second[0].task
    if tasks[0] != tasks[1]:  # the languages differ: an encoder's results on both are two sides, not one
        names = names[0] and (names[0], tasks[0]), names[1] and (names[1], tasks[1])
    return DrawGains(
        by_draw=tuple(x.accuracy - y.accuracy for x, y in zip(a, b, strict=True)),
        item_variance=fmean(compute_unit_variance(*_subtract_answers(pair, conditions)) for pair in matched),
        items=min(score.total for score in a),
        task=tasks[0],
        sides=names,
    )


def name_side(draws: Sequence[Result], condition: Condition) -> Hashable:
    """Return the name of an encoder or control, or None if its accuracy is the same in all units and draws."""
    if are_constant(draws, condition):
        return None
    first = draws[0]
    return first.encoder if condition is Condition.PROBE else (condition, *list_shared_properties(first, condition))


def _subtract_answers(pair: tuple[Result, Result], conditions: ConditionPair) -> tuple[st.Floats, st.Floats]:
    """Return each unit's gain in correct answers (first minus second), and each unit's item count, both (units,)."""
    (first, sizes), (second, _) = (sum_answers(result, c) for result, c in zip(pair, conditions, strict=True))
    return first - second, sizes


def _compare_draws(
    matched: MatchedResults, conditions: ConditionPair, gains: DrawGains, test: GainTest
) -> st.PairedComparison:
    p, half_width = test.p, test.half_width
    if have_shared_items([first for first, _ in matched]):
        # A t-test over draws does not see the choice of items that they share: test the units, too, each by its mean.
        by_dataset = group_by(matched, lambda pair: pair[0].dataset_fingerprint).values()
        by_items = [[_subtract_answers(pair, conditions) for pair in pairs] for pairs in by_dataset]
        sums = np.concatenate([np.mean([gains for gains, _ in same_items], axis=0) for same_items in by_items])
        sizes = np.concatenate([same_items[0][1] for same_items in by_items])
        p = max(p, st.compute_sign_test(int((sums > ROUNDING).sum()), int((sums < -ROUNDING).sum())))
        deviation = sqrt(compute_unit_variance(sums, sizes))
        half_width = max(half_width, st.student_quantile(0.95, max(1, len(sums) - 1)) * deviation)
    wins, losses = sum(gain > 0 for gain in gains.by_draw), sum(gain < 0 for gain in gains.by_draw)
    return DrawComparison(
        test=test,
        difference=test.mean,
        interval=st.Interval(max(-1.0, test.mean - half_width), min(1.0, test.mean + half_width)),
        wins=wins,
        losses=losses,
        sign_p=st.compute_sign_test(wins, losses),
        t_p=p,
    )


REDUCING_OPTIONS: Mapping[str, tuple[str, ...]] = {"dims": (), "quantize": (), "erase": (), "dim": ("st", "openai")}
"""For each option that makes a variant, the kinds of encoders for which it does so, such as ``st``; (): all kinds."""


def find_reductions(spec: Spec) -> list[OptionPair]:
    """Return the options of an encoder spec that make a variant, such as ``[("dims", "64")]``."""
    return [
        (name, value)
        for name, value in spec.options
        if name in REDUCING_OPTIONS and spec.kind in (REDUCING_OPTIONS[name] or (spec.kind,))
    ]


@cache
def strip_reductions(encoder: str) -> str:
    """Return an encoder's name without the options that make a variant, and without a variant's suffix.

    >>> strip_reductions("st:m?layer=3&dims=64&quantize=int8"), strip_reductions("mine, 64 dims")
    ('st:m?layer=3', 'mine')
    >>> strip_reductions("bow?dim=64"), strip_reductions("bow?erase=sets%2FTense")
    ('bow?dim=64', 'bow')
    """
    # Tables compare thousands of names: only those that may have such an option are parsed.
    may_be_reduced = any(f"{name}=" in encoder and encoder.startswith(k or "") for name, k in REDUCING_OPTIONS.items())
    spec = parse_known_spec(encoder) if may_be_reduced else None
    if spec is None:
        return re.sub(r"(, (\d+ dims|int8|binary|without .+))+$", "", encoder)  # named with name=mine: "mine, 64 dims"
    reductions = find_reductions(spec)
    return str(replace(spec, options=tuple(option for option in spec.options if option not in reductions)))


def is_same_model(first: str, second: str) -> bool:
    """Return whether two encoder names stand for variants of the same model."""
    return strip_reductions(first) == strip_reductions(second)


def list_pairs_to_compare(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return all pairs of encoders of different models or, if there is only one model, all pairs of variants."""
    pairs = [*combinations(names, 2)]
    return [pair for pair in pairs if not is_same_model(*pair)] or pairs


def describe_excluded_pairs(compared: Iterable[tuple[str, str]]) -> str:
    """Return a note if two variants of one model are compared with other encoders but not with each other; else ""."""
    compared_pairs = {frozenset(pair) for pair in compared}
    names = sorted({*chain.from_iterable(compared_pairs)})
    same_model_pairs = {frozenset(pair) for pair in combinations(names, 2) if is_same_model(*pair)}
    return EXCLUDED_PAIRS_NOTE if same_model_pairs - compared_pairs else ""


EXCLUDED_PAIRS_NOTE = (
    "Not compared here: an encoder with its own cut, rounded or erased vectors (--against ENCODER compares them)."
)


def find_requested_spec(record: Result) -> Spec | None:
    """Return the spec of a result's encoder, from the encoder's name or else the run's command; None if in neither."""
    try:
        words = shlex.split(record.command)
    except ValueError:  # the text is not a command line
        words = []
    for text in (record.encoder, *(word.removeprefix("--encoder=") for word in words)):
        spec = parse_known_spec(text)
        is_layer = spec and spec.label is not None and record.encoder.startswith(f"{spec.label}, ")
        if spec and (is_layer or spec.name == record.encoder):
            return spec
    return None


def parse_known_spec(text: str) -> Spec | None:
    """Parse an encoder spec; return None if the text is not a spec or its kind is unknown."""
    try:
        spec = parse_spec(text)
    except UsageError:
        return None
    return spec if spec.kind in _KIND_NAMES else None


_KIND_NAMES = frozenset(kind.name for kind in ENCODERS)
