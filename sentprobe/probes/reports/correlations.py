"""Spearman's correlations of probing accuracies with downstream scores (Conneau et al. 2018, figure 2).

Intervals are computed by bootstrap over the encoders and p-values by permutation, since formulas that assume normal
distributions are wrong for few encoders and tied scores.

Scores of encoders on downstream tasks, read from a CSV file or a folder of MTEB results.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations, product
from math import factorial, isfinite
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sentprobe.common.errors import FormatError, UsageError, format_count, path_error
from sentprobe.common.inputs import record_input
from sentprobe.common.reading import parse_number
from sentprobe.common.tables import Grid, GridCell, GridRow
from sentprobe.common.values import BadSyntaxError, format_json, parse_json
from sentprobe.probes.datasets.records import read_table_rows
from sentprobe.probes.reports.comparisons import EncoderResults
from sentprobe.probes.reports.figures import compute_figure
from sentprobe.probes.reports.paired_tests import LEVEL
from sentprobe.probes.results.result import Condition
from sentprobe.probes.statistics import Correction, Floats, Interval, correct_p_values

Scores = Mapping[str, Mapping[str, float]]
MODEL_META = "model_meta.json"


def read_scores(path: Path) -> Scores:
    """Read scores from a CSV table (a row per encoder, a column per task) or from a folder of MTEB results."""
    if not path.exists():
        raise UsageError(f"{path}: there is no such file or folder of scores")
    return _read_mteb(path) if path.is_dir() else _read_table(path)


def _read_table(path: Path) -> Scores:
    rows = read_table_rows(path)
    where, header = next(rows, ("", []))
    tasks = [name.strip() for name in header[1:]]
    if not tasks:
        raise FormatError(f"{path}: the first line names no task; encoder,TASK,... is expected")
    duplicates = [name for name, count in Counter(tasks).items() if count > 1]
    if duplicates or "" in tasks:
        problem = f"names {duplicates[0]!r} twice" if duplicates else "has a column without a name"
        raise FormatError(f"{where}: the first line {problem}")
    scores: dict[str, dict[str, float]] = {}
    for where, row in rows:
        if len(row) != len(header):
            raise FormatError(f"{where}: {len(row)} fields; the first line has {len(header)}")
        name = row[0].strip()
        if name in scores or not name:
            raise FormatError(f"{where}: {f'the encoder {name!r} occurs twice' if name else 'the encoder has no name'}")
        cells = zip(tasks, row[1:], strict=True)
        scores[name] = {t: _parse_score(c, f"{where}, {t}") for t, c in cells if c.strip()}
    return scores


def _parse_score(text: str, where: str) -> float:
    try:
        value = parse_number(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise FormatError(f"{where}: {text.strip()!r} is not a score; a number is expected")
    return value


def _read_mteb(folder: Path) -> Scores:
    record_input(folder)
    root = folder / "results" if (folder / "results").is_dir() else folder
    scores: dict[str, dict[str, float]] = {}
    for path in sorted(root.glob("*/*/*.json")):
        if path.name != MODEL_META:
            model = path.parent.parent.name.replace("__", "/", 1)
            task, score = _read_task(path)
            if task in scores.setdefault(model, {}):
                raise FormatError(f"{path}: {model} has two scores on {task}; keep the folder of one revision only")
            scores[model][task] = score
    if not scores:
        raise UsageError(f"{folder}: has no results of MTEB (MODEL/REVISION/TASK.json)")
    return scores


def _read_task(path: Path) -> tuple[str, float]:
    """Return the task name and the main score of an MTEB result file. The score is averaged over languages."""
    try:
        value = parse_json(path.read_bytes())
        task, scores = value["task_name"], value["scores"]
        # Some tasks of MTEB have only a development split.
        split = scores["test"] if "test" in scores else next(iter(scores.values()))
        numbers = [_check_mteb_score(part["main_score"], path) for part in split]
        if not isinstance(task, str) or not numbers:
            raise TypeError("the task or the score is missing")
        return task, fmean(numbers)
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=FormatError) from error
    except BadSyntaxError as error:
        raise FormatError(f"{path}: {error}") from None
    except (KeyError, TypeError, AttributeError, StopIteration, IndexError):
        raise FormatError(
            f"{path}: not a result of MTEB: it needs 'task_name' and 'scores' with 'main_score'"
        ) from None


def _check_mteb_score(score: object, path: Path) -> float:
    """Return a main score of MTEB: an accuracy, a precision or a correlation. Raises FormatError."""
    if isinstance(score, bool) or not isinstance(score, int | float) or not -1 <= score <= 1:
        raise FormatError(f"{path}: main_score is {format_json(score)}; a number from -1 to 1 is expected")
    return float(score)


def match_names(encoders: Sequence[str], scored: Sequence[str]) -> dict[str, str]:
    """Return, for each probed encoder that has scores, its name in the table of scores.

    An encoder's name is looked up as it is, then as :func:`to_mteb_name` returns it. If both are missing, bare
    names are compared. A bare name has no ``st:``, folder, organisation or options; it must be unique in both lists.

    >>> match_names(["bow", "st:./all-MiniLM-L6-v2"], ["sentence-transformers/all-MiniLM-L6-v2"])
    {'st:./all-MiniLM-L6-v2': 'sentence-transformers/all-MiniLM-L6-v2'}
    """
    bare_scored = [_strip_name(name) for name in scored]
    bare_encoders = [_strip_name(name) for name in encoders]
    matches = {}
    for encoder, bare in zip(encoders, bare_encoders, strict=True):
        if encoder in scored:
            matches[encoder] = encoder
        elif (mteb_name := to_mteb_name(encoder)) in scored:
            matches[encoder] = mteb_name
        # Two models of one bare name, such as those of two organisations, are left out, not guessed.
        elif bare_scored.count(bare) == 1 == bare_encoders.count(bare):
            matches[encoder] = scored[bare_scored.index(bare)]
    return matches


def _strip_name(name: str) -> str:
    """Remove prefix, folders and options from an encoder's name: ``st:org/x?batch=8`` becomes ``x``."""
    return name.partition("?")[0].rpartition(":")[2].rstrip("/").rpartition("/")[2]


def to_mteb_name(encoder: str) -> str:
    """Return the name of an encoder in the form of MTEB: ORGANISATION/MODEL.

    >>> to_mteb_name("st:sentence-transformers/all-MiniLM-L6-v2"), to_mteb_name("st:./mini?batch=8")
    ('sentence-transformers/all-MiniLM-L6-v2', 'sentprobe/mini_batch=8')
    >>> to_mteb_name("bow:glove.txt?dim=50"), to_mteb_name("dev step 100")
    ('sentprobe/bow_glove.txt_dim=50', 'sentprobe/dev_step_100')
    """
    spec, query, options = encoder.partition("?")
    kind, _, model = spec.partition(":")
    if kind in ("st", "hf") and re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", model):
        organisation, _, bare = model.partition("/")
    else:
        last = spec.rstrip("/").rpartition("/")[2]
        named = last if kind == "st" or not model else f"{kind}_{last.removeprefix(f'{kind}:')}"
        organisation, bare = "sentprobe", named.removeprefix("st:")
    return f"{_to_folder_name(organisation)}/{_to_folder_name(f'{bare}{query}{options}')}"


def _to_folder_name(text: str) -> str:
    return re.sub(r"_+", "_", re.sub(r"[^\w.=+-]", "_", text)).strip("_.")[:100] or "encoder"


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
    # A generator for each call: a correlation does not depend on the other columns of the table.
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
    # Pairs without values have no test, and so do not count among the comparisons.
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
