"""Spearman's correlations of probing accuracies with downstream scores (Conneau et al. 2018, figure 2).

Intervals are computed by bootstrap over the encoders and p-values by permutation, since formulas that assume normal
distributions are wrong for few encoders and tied scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations, product
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sentprobe.display.table_writers import Grid, GridCell, GridRow
from sentprobe.errors import UsageError, format_count
from sentprobe.probes.report.findings.comparisons import EncoderResults
from sentprobe.probes.report.findings.downstream import Scores, match_names
from sentprobe.probes.report.findings.mean_and_interval import compute_figure
from sentprobe.probes.report.findings.paired_tests import LEVEL
from sentprobe.probes.results.result import Condition
from sentprobe.probes.statistics import Correction, Floats, Interval, correct_p_values

MIN_VALUES = 3
"""The minimum number of encoders for a correlation. With two encoders, every correlation is 1 or -1."""
RESAMPLE_COUNT = 2_000
MAX_ORDERS = 10_000
"""The maximum number of permutations for an exact p-value. If more exist, a sample of this size is used."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCorrelation:
    """Spearman's correlation of two sequences."""

    rho: float
    """The correlation, from -1 to 1. Tied values have the mean of their ranks."""
    interval: Interval
    p: float
    """The share of permutations of one sequence whose correlation is at least as far from 0 as ``rho``."""
    n: int


def compute_rank_correlation(first: ArrayLike, second: ArrayLike, *, seed: int) -> RankCorrelation | None:
    """Return Spearman's correlation of two sequences, (n,); None if n < 3 or all values of one sequence are equal."""
    first_values, second_values = (np.asarray(values, np.float64) for values in (first, second))
    if len(first_values) < MIN_VALUES or np.ptp(first_values) == 0 or np.ptp(second_values) == 0:
        return None
    a, b = _standardize_ranks(first_values[None])[0], _standardize_ranks(second_values[None])[0]
    rho = float(np.clip(a @ b, -1.0, 1.0))  # rounding may exceed the limits
    orders = _list_orders(len(a), seed)
    beyond = int((np.abs(b[orders] @ a) >= abs(rho) - _ROUNDING).sum())
    observed = factorial(len(a)) > MAX_ORDERS  # a sample of orders lacks the observed one
    return RankCorrelation(
        rho=rho,
        interval=bootstrap_interval(first_values, second_values, seed=seed),
        p=(beyond + observed) / (len(orders) + observed),
        n=len(first_values),
    )


def bootstrap_interval(first: Floats, second: Floats, *, seed: int) -> Interval:
    """Return the 95% bootstrap interval of the correlation; -1 to 1 if no resample has a defined correlation."""
    n = len(first)
    drawn = np.random.default_rng([seed, n]).integers(0, n, (RESAMPLE_COUNT, n))
    correlations = np.einsum("ij,ij->i", _standardize_ranks(first[drawn]), _standardize_ranks(second[drawn]))
    correlations = correlations[np.isfinite(correlations)]
    if not len(correlations):
        return Interval(-1.0, 1.0)
    low, high = np.clip(np.quantile(correlations, [0.025, 0.975]), -1.0, 1.0)  # rounding may exceed the limits
    return Interval(float(low), float(high))


def _standardize_ranks(values: Floats) -> Floats:
    """Rank *values*, (m, n), in each row; scale the ranks to mean 0 and norm 1, or NaN if all values are equal."""
    from scipy.stats import rankdata

    ranks = rankdata(values, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    lengths = np.sqrt((ranks * ranks).sum(axis=1, keepdims=True))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(lengths > _ROUNDING, ranks / lengths, np.nan), np.float64)


@lru_cache(maxsize=8)
def _list_orders(n: int, seed: int) -> NDArray[np.int64]:
    if factorial(n) <= MAX_ORDERS:
        return np.array(list(permutations(range(n))), np.int64)
    rng = np.random.default_rng([seed, n, 1])
    return rng.permuted(np.tile(np.arange(n), (MAX_ORDERS, 1)), axis=1)


ENOUGH_ENCODERS = 10
"""The number of encoders below which a warning is shown. Conneau et al. had more than 40 encoders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """The rank correlation of a probing task with a downstream score, over the encoders that have both."""

    task: str
    score: str
    estimate: RankCorrelation | None
    """The correlation; None if fewer than three encoders have both scores, or all values of one score are equal."""
    p: float | None = None

    @property
    def is_significant(self) -> bool:
        """Whether the corrected p-value is below 0.05."""
        return self.p is not None and self.p < LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlations:
    """The correlations of all probing tasks with all downstream scores."""

    pairs: tuple[Correlation, ...]
    encoders: Mapping[str, str]
    """For each probed encoder with downstream scores, its name in the table of these scores."""
    left_out: tuple[str, ...]
    seed: int

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(pair.task for pair in self.pairs))

    @property
    def scores(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(pair.score for pair in self.pairs))


def correlate_tasks(
    encoders: Sequence[EncoderResults],
    scores: Scores,
    *,
    source: str,
    scores_source: str,
    correction: Correction = Correction.HOLM,
    seed: int = 0,
) -> Correlations:
    """Correlate accuracies on each task with each downstream score; raise UsageError for fewer than three encoders."""
    probed: dict[str, dict[str, float]] = {}
    for results in encoders:
        figures = {task: compute_figure(draws, Condition.PROBE) for task, draws in results.by_task.items()}
        probed[results.encoder] = {task: figure.accuracy for task, figure in figures.items() if figure is not None}
    names = match_names(list(probed), list(scores))
    if len(names) < MIN_VALUES:
        matched = f" ({', '.join(names)})" if names else ""
        raise UsageError(
            f"{scores_source} has scores of {len(names)} of the {len(probed)} encoders of {source}{matched}; a "
            f"correlation needs {MIN_VALUES}. Names that must match those of encoders: {', '.join(scores) or 'none'}"
        )
    tasks = dict.fromkeys(task for by_task in probed.values() for task in by_task)
    score_names = dict.fromkeys(task for name in names.values() for task in scores[name])
    pairs = []
    for task, score in product(tasks, score_names):
        values = [(probed[encoder].get(task), scores[name].get(score)) for encoder, name in names.items()]
        both = [(a, b) for a, b in values if a is not None and b is not None]
        estimate = compute_rank_correlation(*zip(*both, strict=True), seed=seed) if both else None
        pairs.append(Correlation(task=task, score=score, estimate=estimate))
    p_values = iter(correct_p_values([pair.estimate.p for pair in pairs if pair.estimate], correction))
    return Correlations(
        pairs=tuple(replace(pair, p=next(p_values)) if pair.estimate else pair for pair in pairs),
        encoders=names,
        left_out=tuple(name for name in probed if name not in names),
        seed=seed,
    )


def build_correlation_grid(correlations: Correlations) -> Grid:
    """Build the table of correlations, with a row for each probing task and a column for each downstream score."""
    cells = {(pair.task, pair.score): pair for pair in correlations.pairs}
    scores = correlations.scores
    rows = [GridRow(t, "", tuple(_build_cell(cells[t, score]) for score in scores)) for t in correlations.tasks]
    return Grid(("task", *scores), tuple(rows))


def _build_cell(pair: Correlation) -> GridCell:
    if pair.estimate is None:
        return GridCell("")
    low, high = pair.estimate.interval.low, pair.estimate.interval.high
    return GridCell(f"{pair.estimate.rho:.2f} [{low:.2f}, {high:.2f}]", best=pair.is_significant)


def describe_correlations(correlations: Correlations, *, correction: Correction) -> str:
    """Return the notes below the table of correlations: encoders, intervals, p-values and warnings."""
    count = sum(pair.estimate is not None for pair in correlations.pairs)
    correction_text = "not corrected" if correction is Correction.NONE else f"corrected ({correction})"
    left_out = ", ".join(correlations.left_out)
    lines = [
        f"Spearman's correlation over {len(correlations.encoders)} encoders: {', '.join(correlations.encoders)}.",
        f"Left out: {left_out} (no scores, or two encoders have the same model name)." if left_out else "",
        f"95% intervals by bootstrap over the encoders ({RESAMPLE_COUNT:,} resamples, seed {correlations.seed}); "
        f"p-values by permutation (all orders, or {MAX_ORDERS:,}).",
        f"Bold, or with a *: p < {LEVEL}, {correction_text} for {count} pairs.",
    ]
    if count < len(correlations.pairs):
        lines += [f"Empty: fewer than {MIN_VALUES} encoders have both scores, or all values of a score are equal."]
    if warning := describe_small_sample(correlations):
        lines += [f"{warning}."]
    return "".join(f"{line}\n" for line in lines if line)


def describe_small_sample(correlations: Correlations) -> str:
    """Return a warning if a correlation is over fewer than 10 encoders, else ""."""
    counts = {pair.score: pair.estimate.n for pair in correlations.pairs if pair.estimate}
    few = {score: count for score, count in counts.items() if count < ENOUGH_ENCODERS}
    if not few:
        return ""
    smallest = min(few.values())
    where = "" if len(few) == len(counts) else f" (in {', '.join(few)})"
    return (
        f"{format_count(smallest, 'encoder')} are few{where}: with fewer than {ENOUGH_ENCODERS}, rankings often agree "
        "by chance, as the p-values show; do not draw conclusions from them"
    )


def to_correlation_records(correlations: Correlations) -> list[dict[str, Any]]:
    """Return a dictionary for each task and score: correlation, interval, p-values and number of encoders."""
    return [
        {
            "task": pair.task,
            "score": pair.score,
            "rho": pair.estimate and pair.estimate.rho,
            "low": pair.estimate and pair.estimate.interval.low,
            "high": pair.estimate and pair.estimate.interval.high,
            "p": pair.p,
            "uncorrected_p": pair.estimate and pair.estimate.p,
            "encoders": pair.estimate and pair.estimate.n,
        }
        for pair in correlations.pairs
    ]
