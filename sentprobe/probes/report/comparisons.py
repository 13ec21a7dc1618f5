"""Encoders compared with each other, task by task, over the results of runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import ResultsError, UsageError, suggest
from sentprobe.probes.report import variants
from sentprobe.probes.report.draws import differ_in_draw
from sentprobe.probes.runs.results import Condition, Result, Results
from sentprobe.probes.statistics import Correction, Paired, compare_draws, compare_items, correct
from sentprobe.specs import choose
from sentprobe.table_writers import Grid, GridCell, GridRow

LEVEL = 0.05
"""A difference is said to be significant when its corrected p-value is below this."""


@dataclass(frozen=True, slots=True)
class Side:
    """The results of one encoder, and where they were read from."""

    encoder: str
    source: str
    by_task: Mapping[str, tuple[Result, ...]]
    """Of each task, its result in each draw."""


Matched = tuple[tuple[Result, Result], ...]
"""The results of two encoders on one task, in each draw that both have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two encoders on one task; p-values are corrected over all comparisons made with it."""

    first: Result
    """Of several draws, that of the first."""
    second: Result
    matched: Matched
    """The two in each draw."""
    paired: Paired
    sign_p: float
    t_p: float

    @property
    def significant(self) -> bool:
        """Whether the sign test, corrected, finds a difference; over draws, the t-test."""
        return (self.t_p if self.draws > 1 else self.sign_p) < LEVEL

    @property
    def draws(self) -> int:
        """The number of draws in which the two are compared."""
        return len(self.matched)

    @property
    def accuracies(self) -> tuple[float, float]:
        """The accuracy of either, its mean over the draws."""
        first, second = zip(*self.matched, strict=True)
        return mean(each.accuracy for each in first), mean(each.accuracy for each in second)


def sides(
    results: Results, source: str, *, hint: str = "compare results with one of each"
) -> list[Side]:
    """Return the encoders of a run, each with its results by task; *hint* ends the error.

    Raises:
        UsageError: an encoder has two results on one task (with other classifiers or data), and
            they are no draws of one run.
    """
    found: dict[str, dict[str, tuple[Result, ...]]] = {}
    for record in results.records:
        by_task = found.setdefault(record.encoder, {})
        others = by_task.get(record.task, ())
        if not all(differ_in_draw(each, record) for each in others):
            raise UsageError(
                f"{source}: there are two results of {record.encoder} on {record.task}, whose "
                f"classifiers, data or seeds differ; {hint}"
            )
        by_task[record.task] = (*others, record)
    return [Side(name, source, by_task) for name, by_task in found.items()]


def one_side(found: Sequence[Side], encoder: str | None, *, source: str) -> Side:
    """Return the side of that encoder, or the only one there is.

    Raises:
        UsageError: there is no such encoder; none is named and there are several.
    """
    names = [side.encoder for side in found]
    if encoder is None:
        if len(found) == 1:
            return found[0]
        raise UsageError(
            f"{source} has {len(found)} encoders; name one, as in '{source}#{names[0]}'"
            if names
            else f"{source} has no results"
        )
    for side in found:
        if side.encoder == encoder:
            return side
    raise UsageError(
        f"{source} has no encoder {encoder!r}{suggest(encoder, names)}; it has: {', '.join(names)}"
    )


def compare(
    pairs: Sequence[tuple[Side, Side]], *, correction: Correction = Correction.HOLM
) -> tuple[Comparison, ...]:
    """Compare each pair of encoders on each task that both have results on.

    Raises:
        ResultsError: the two were tested on different data, or have no task in common.
    """
    results = [both for first, second in pairs for both in _common(first, second)]
    return compare_results(results, correction=correction)


def compare_results(
    results: Sequence[Matched],
    *,
    correction: Correction = Correction.HOLM,
    under: tuple[Condition, Condition] = (Condition.PROBE, Condition.PROBE),
) -> tuple[Comparison, ...]:
    """Compare the two of each pair, in each draw on the same items; over several, by draws.

    - under: the conditions whose scores are compared, of the first and of the second
    """
    paired = [_compare_matched(matched, under) for matched in results]
    signs = correct([each.sign_p for each in paired], correction)
    ts = correct([each.t_p for each in paired], correction)
    return tuple(
        Comparison(
            first=each[0][0], second=each[0][1], matched=each, paired=test, sign_p=sign, t_p=t
        )
        for each, test, sign, t in zip(results, paired, signs, ts, strict=True)
    )


def _compare_matched(matched: Matched, under: tuple[Condition, Condition]) -> Paired:
    one, other = under
    if len(matched) == 1:
        ((a, b),) = matched
        return compare_items(_right(a, one), _right(b, other), a.units)
    first, second = zip(*matched, strict=True)
    return compare_draws(
        [each.scores[one].accuracy for each in first],
        [each.scores[other].accuracy for each in second],
        items=min(each.scores[one].total for each in first),
    )


def all_pairs(found: Sequence[Side], *, baseline: str | None = None, source: str) -> list[
    tuple[Side, Side]
]:  # fmt: skip
    """Return every pair of different encoders or, with *baseline*, that of each other one and it.

    Different are not those that are one but for what was cut (:mod:`.variants`), unless all are.
    """
    if len(found) < 2:
        raise UsageError(f"{source} has {len(found)} encoders; a comparison needs two")
    if baseline is None:
        by_name = {side.encoder: side for side in found}
        return [(by_name[a], by_name[b]) for a, b in variants.pairs_to_compare([*by_name])]
    base = one_side(found, baseline, source=source)
    return [(side, base) for side in found if side is not base]


def _common(first: Side, second: Side) -> Iterator[Matched]:
    tasks = [task for task in first.by_task if task in second.by_task]
    if not tasks:
        raise ResultsError(
            f"{first.encoder} ({first.source}) and {second.encoder} ({second.source}) have no task "
            "in common"
        )
    for task in tasks:
        matched = match_draws(first.by_task[task], second.by_task[task])
        if not matched:
            raise ResultsError(
                f"{task}: {first.encoder} ({first.source}) and {second.encoder} ({second.source}) "
                "have no draw in common (a draw is a --seed)"
            )
        for a, b in matched:
            _check_same_items(a, b, first, second)
        yield matched


def match_draws(first: Sequence[Result], second: Sequence[Result]) -> Matched:
    """Return the results of the draws that both have; of one draw each, these whatever the seed."""
    if len(first) == len(second) == 1:
        return ((first[0], second[0]),)
    return tuple((a, b) for a in first for b in second if a.seed == b.seed)


def _check_same_items(a: Result, b: Result, first: Side, second: Side) -> None:
    if a.dataset_fingerprint != b.dataset_fingerprint:
        raise ResultsError(
            f"{a.task}: {a.encoder} ({first.source}) and {b.encoder} ({second.source}) were "
            f"tested on different data (fingerprints {a.dataset_fingerprint[:8]} and "
            f"{b.dataset_fingerprint[:8]}); only answers to the same items can be compared"
        )


def _right(result: Result, condition: Condition) -> NDArray[np.bool_]:
    return np.array([each.items() for each in result.scores[condition].seeds])


def comparison_grid(comparisons: Sequence[Comparison]) -> Grid:
    """Lay comparisons out, a row each; a significant difference is bold."""
    header = (
        "A - B", "task", "A", "B", "A - B [95%]", f"{_observed(comparisons)} A/B better",
        "p (sign)", "p (t-test)",
    )  # fmt: skip
    return Grid(header, tuple(map(_row, comparisons)))


def _observed(comparisons: Sequence[Comparison]) -> str:
    """Say what the tests count: units of items, draws, or either."""
    draws = {each.draws > 1 for each in comparisons}
    return {frozenset({True}): "draws", frozenset({True, False}): "units or draws"}.get(
        frozenset(draws), "units"
    )


def _row(comparison: Comparison) -> GridRow:
    name = f"{comparison.first.encoder} - {comparison.second.encoder}"
    cells = figure_cells(
        comparison.accuracies,
        comparison.paired,
        (comparison.sign_p, comparison.t_p),
        significant=comparison.significant,
    )
    return GridRow(name, name, (GridCell(comparison.first.task), *cells))


def figure_cells(
    accuracies: tuple[float, float],
    paired: Paired,
    p_values: tuple[float, float],
    *,
    significant: bool,
) -> tuple[GridCell, ...]:
    """Return the cells of a comparison's figures: both accuracies, the difference, the tests."""
    interval = f"[{points(paired.interval.low)}, {points(paired.interval.high)}]"
    return (
        *(GridCell(f"{100 * accuracy:.1f}") for accuracy in accuracies),
        GridCell(f"{points(paired.difference)} {interval}", best=significant),
        GridCell(f"{paired.wins}/{paired.losses}"),
        *(GridCell(show_p(value)) for value in p_values),
    )


def points(share: float) -> str:
    """Write a difference in points, with its sign unless it is zero as written.

    >>> points(0.0123), points(-0.0001)
    ('+1.2', '0.0')
    """
    text = f"{100 * share:+.1f}"
    return "0.0" if float(text) == 0 else text


def show_p(value: float) -> str:
    """Write a p-value with three digits, or say that it is smaller."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def to_records(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Return a flat dictionary for each comparison."""
    return [
        {
            "first": each.first.encoder,
            "second": each.second.encoder,
            "task": each.first.task,
            **figure_record(
                each.accuracies, each.paired, (each.sign_p, each.t_p), draws=each.draws
            ),
        }
        for each in comparisons
    ]


def figure_record(
    accuracies: tuple[float, float], paired: Paired, corrected: tuple[float, float], *, draws: int
) -> dict[str, Any]:
    """Return the figures of a comparison by name."""
    return {
        "first_accuracy": accuracies[0],
        "second_accuracy": accuracies[1],
        "draws": draws,
        "difference": paired.difference,
        "low": paired.interval.low,
        "high": paired.interval.high,
        "wins": paired.wins,
        "losses": paired.losses,
        "sign_p": paired.sign_p,
        "sign_p_corrected": corrected[0],
        "t_p": paired.t_p,
        "t_p_corrected": corrected[1],
    }


def explain(comparisons: Sequence[Comparison], *, correction: Correction) -> str:
    """Say in plain sentences how to read the table, and what it shows."""
    over = _paired_over(comparisons)
    presets = {each.preset for pair in comparisons for each in (pair.first, pair.second)}
    differ = "The classifiers differ: differences may be theirs and not the encoders'."
    pairs = [(each.first.encoder, each.second.encoder) for each in comparisons]
    notes = (differ if len(presets) > 1 else "", variants.told_of_others(pairs))
    return explain_tests(
        comparisons, over=over, correction=correction, note="\n".join(filter(None, notes))
    )


class Tested(Protocol):
    """What was compared, by tests over units or over draws."""

    @property
    def draws(self) -> int:
        """The number of draws."""

    @property
    def significant(self) -> bool:
        """Whether a test finds a difference."""


def explain_tests(
    comparisons: Sequence[Tested], *, over: str, correction: Correction, note: str = ""
) -> str:
    """Say what is paired, by which tests, and what these find; *note* stands before that."""
    count = len(comparisons)
    lines = [
        f"Differences in points, with 95% intervals, paired over {over}.",
        "p (sign): exact sign test, "
        + ("McNemar's for one seed" if over == "items" else f"over {over.partition(' (')[0]}")
        + "; p (t-test): paired t-test (Adi et al. 2017)."
        + (
            f" Corrected for {count} comparisons: {NAMES[correction]}; "
            "the intervals are not corrected."
            if count > 1
            else ""
        ),
        *([note] if note else []),
    ]
    found = sum(each.significant for each in comparisons)
    are = "is" if found == 1 else "are"
    test = "p (t-test)" if all(each.draws > 1 for each in comparisons) else "p (sign)"
    mixed = any(each.draws > 1 for each in comparisons) and test == "p (sign)"
    lines.append(
        f"{found} of {count} differences {are} significant ({test} < {LEVEL:g}"
        f"{', over draws p (t-test)' if mixed else ''}; bold, or with a *)."
    )
    return "".join(f"{line}\n" for line in lines)


def _paired_over(comparisons: Sequence[Comparison]) -> str:
    """Say what one observation of the tests is."""
    numbers = sorted({each.draws for each in comparisons} - {1})
    draws = f"{' or '.join(map(str, numbers))} draws (so that they speak of other draws)"
    if all(each.draws > 1 for each in comparisons):
        return draws
    units = any(each.first.units for each in comparisons)
    items = "units (items that belong together count as one)" if units else "items"
    return f"{items}, or {draws}" if numbers else items


NAMES: Mapping[Correction, str] = {
    Correction.HOLM: "Holm",
    Correction.BH: "Benjamini-Hochberg",
    Correction.NONE: "not at all",
}
"""The corrections, as they are called."""


def compare_encoders(
    results: Results, *, against: str | None = None, correction: str = "holm"
) -> tuple[Comparison, ...]:
    """Compare each two encoders of a run on each task, as ``probe compare`` does.

    With *against*, each is compared with the encoder of that name only; without it, an encoder is
    not compared with its own vectors that were cut, rounded or erased from. The p-values are
    corrected for all comparisons made (``holm``, ``bh`` or ``none``).

    Raises:
        UsageError: there are fewer than two encoders, or none of that name; an encoder has two
            results on one task.
    """
    found = sides(results, "results")
    pairs = all_pairs(found, baseline=against, source="results")
    return compare(pairs, correction=choose(Correction, correction, what="correction"))
