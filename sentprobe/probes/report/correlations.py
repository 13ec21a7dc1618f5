"""What probing tasks go with: their correlation with other scores, over encoders.

As in Conneau et al. 2018, figure 2: for each probing task and each other task, Spearman's
correlation of the two accuracies over sentence encoders, corrected for the number of pairs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sentprobe.errors import UsageError, counted
from sentprobe.probes.report import rank_correlation as ranks
from sentprobe.probes.report.comparisons import LEVEL, Side
from sentprobe.probes.report.downstream import Scores, match_names
from sentprobe.probes.report.figures import figure_of
from sentprobe.probes.runs.results import Condition
from sentprobe.probes.statistics import Correction, correct
from sentprobe.table_writers import Grid, GridCell, GridRow

ENOUGH_ENCODERS = 10
"""With fewer, a correlation can hardly be told from none (Conneau et al. had more than 40)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """A probing task and another score, over the encoders that have both."""

    task: str
    score: str
    found: ranks.RankCorrelation | None
    """None where fewer than three encoders have both, or all are equal in one."""
    p: float | None = None
    """Corrected for the number of pairs."""

    @property
    def significant(self) -> bool:
        """Whether the correlation can be told from none, corrected."""
        return self.p is not None and self.p < LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlations:
    """All pairs of a probing task and another score."""

    pairs: tuple[Correlation, ...]
    encoders: Mapping[str, str]
    """Those that count, and what each is called among the scores."""
    left_out: tuple[str, ...]
    """Encoders of the run without scores."""
    seed: int

    @property
    def tasks(self) -> tuple[str, ...]:
        """The probing tasks, in order."""
        return tuple(dict.fromkeys(pair.task for pair in self.pairs))

    @property
    def scores(self) -> tuple[str, ...]:
        """The other scores, in order."""
        return tuple(dict.fromkeys(pair.score for pair in self.pairs))


def correlate(
    sides: Sequence[Side],
    scores: Scores,
    *,
    source: str,
    with_: str,
    correction: Correction = Correction.HOLM,
    seed: int = 0,
) -> Correlations:
    """Correlate each probing task with each score over the encoders that have both.

    - sides: the encoders, with their results by task
    - source, with_: what the results and the scores are called in an error

    Raises:
        UsageError: fewer than three encoders have scores.
    """
    probed = {side.encoder: _accuracies(side) for side in sides}
    names = match_names(list(probed), list(scores))
    if len(names) < ranks.LEAST:
        known = ", ".join(scores)
        raise UsageError(
            f"{with_} has scores of {len(names)} of the {len(probed)} encoders of {source}"
            f"{_among(names)}; a correlation needs {ranks.LEAST}; its encoders (each of which must "
            f"fit one): {known or 'none'}"
        )
    tasks = dict.fromkeys(task for own in probed.values() for task in own)
    others = dict.fromkeys(task for name in names.values() for task in scores[name])
    pairs = [
        Correlation(
            task=task,
            score=score,
            found=_over(
                [probed[own].get(task) for own in names],
                [scores[name].get(score) for name in names.values()],
                seed=seed,
            ),
        )
        for task in tasks
        for score in others
    ]
    return Correlations(
        pairs=tuple(_corrected(pairs, correction)),
        encoders=names,
        left_out=tuple(name for name in probed if name not in names),
        seed=seed,
    )


def _among(names: Mapping[str, str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _accuracies(side: Side) -> dict[str, float]:
    """Return the accuracy of an encoder on each task, its mean over draws and seeds."""
    figures = {task: figure_of(draws, Condition.PROBE) for task, draws in side.by_task.items()}
    return {task: figure.accuracy for task, figure in figures.items() if figure is not None}


def _over(
    first: Sequence[float | None], second: Sequence[float | None], *, seed: int
) -> ranks.RankCorrelation | None:
    both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    return ranks.rank_correlation(*zip(*both, strict=True), seed=seed) if both else None


def _corrected(pairs: Sequence[Correlation], correction: Correction) -> Iterator[Correlation]:
    p_values = iter(correct([each.found.p for each in pairs if each.found], correction))
    for pair in pairs:
        yield replace(pair, p=next(p_values)) if pair.found else pair


def correlation_grid(found: Correlations) -> Grid:
    """Lay correlations out: a row for each probing task, a column for each score."""
    cells = {(pair.task, pair.score): pair for pair in found.pairs}
    rows = (
        GridRow(task, "", tuple(_cell(cells[task, score]) for score in found.scores))
        for task in found.tasks
    )
    return Grid(("task", *found.scores), tuple(rows))


def _cell(pair: Correlation) -> GridCell:
    if pair.found is None:
        return GridCell("")
    low, high = pair.found.interval.low, pair.found.interval.high
    return GridCell(f"{pair.found.rho:.2f} [{low:.2f}, {high:.2f}]", best=pair.significant)


def explain_correlations(found: Correlations, *, correction: Correction) -> str:
    """Say in plain sentences what the correlations are, and of how few encoders."""
    return "".join(f"{line}\n" for line in _lines(found, correction))


def too_few_encoders(found: Correlations) -> str:
    """Return a warning where there are few encoders, or the empty string."""
    counts = {pair.score: pair.found.n for pair in found.pairs if pair.found}
    few = {score: count for score, count in counts.items() if count < ENOUGH_ENCODERS}
    if not few:
        return ""
    least = min(few.values())
    where = "" if len(few) == len(counts) else f" (in {', '.join(few)})"
    return (
        f"{counted(least, 'encoder')} are few{where}: with fewer than {ENOUGH_ENCODERS}, rankings "
        "agree by chance, as the p-values show; no conclusion should rest on it"
    )


def _lines(found: Correlations, correction: Correction) -> Iterator[str]:
    yield (
        f"Spearman's correlation over {len(found.encoders)} encoders: {', '.join(found.encoders)}."
    )
    if found.left_out:
        yield (
            f"Left out: {', '.join(found.left_out)} (without scores, or two have the same model's "
            "name)."
        )
    yield (
        f"95% intervals by bootstrap over the encoders ({ranks.RESAMPLES:,} resamples, seed "
        f"{found.seed}); p-values by permutation (all orders, or {ranks.ORDERS:,})."
    )
    told = "not corrected" if correction is Correction.NONE else f"corrected ({correction})"
    count = sum(pair.found is not None for pair in found.pairs)
    yield f"Bold, or with a *: p < {LEVEL}, {told} for {count} pairs."
    if any(pair.found is None for pair in found.pairs):
        yield f"Empty: fewer than {ranks.LEAST} encoders have both, or all are equal in one."
    if warning := too_few_encoders(found):
        yield f"{warning}."


def correlation_records(found: Correlations) -> list[dict[str, Any]]:
    """Return a flat dictionary for each pair, all with the same keys."""
    return [_record(pair) for pair in found.pairs]


def _record(pair: Correlation) -> dict[str, Any]:
    known = pair.found
    return {
        "task": pair.task,
        "score": pair.score,
        "rho": known and known.rho,
        "low": known and known.interval.low,
        "high": known and known.interval.high,
        "p": pair.p,
        "uncorrected_p": known and known.p,
        "encoders": known and known.n,
    }
