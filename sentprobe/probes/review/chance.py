"""The check for accuracies above chance that are not significantly so."""

from collections.abc import Iterator

from sentprobe.probes.report.findings.comparisons import LEVEL
from sentprobe.probes.report.findings.control_verdicts import compute_chance_interval, compute_effective_items
from sentprobe.probes.report.findings.draws import group_by_cell
from sentprobe.probes.report.findings.significance_marks import find_tasks_solvable_from_words
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.review.power import SMALLEST_SHOWN, compute_items_needed, describe_items_needed


def find_near_chance(table: Results) -> Iterator[ClaimFinding]:
    """Find the encoders that look better than chance but are not significantly so in every draw.

    Tasks that words alone may solve are left out: there the bag of words is the control.
    """
    solvable = find_tasks_solvable_from_words(table)
    near = [
        lowest
        for draws in group_by_cell(table)
        if draws[0].task not in solvable
        and all(result.accuracy - result.majority >= SMALLEST_SHOWN for result in draws)
        for lowest in [min(draws, key=lambda result: _compute_margin(result, table))]
        if _compute_margin(lowest, table) <= 0
    ]
    for task in dict.fromkeys(result.task for result in near):
        task_results = [result for result in near if result.task == task]
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="Above chance, but inside the interval around chance.",
            figures=tuple(_describe_figure(result, table) for result in task_results),
            advice="Claim neither that the vectors encode it nor that they do not: use more test items (--test).",
            task=task,
            encoder=", ".join(result.encoder for result in task_results),
        )


def _compute_margin(result: Result, table: Results) -> float:
    """Return the accuracy minus the upper end of the interval around chance."""
    return result.accuracy - compute_chance_interval(result, table, level=LEVEL).high


def _describe_figure(result: Result, table: Results) -> str:
    score, expected = (result.scores[Condition.PROBE], compute_chance_interval(result, table, level=LEVEL))
    effective = compute_effective_items(score, result)
    level = LEVEL / len(table.records)
    needed = compute_items_needed(result.accuracy, result.majority, level=level) or 0
    enough = describe_items_needed(needed * score.total / effective, score.total)
    low, high = 100 * expected.low, 100 * expected.high
    return (
        f"{result.encoder}: {100 * result.accuracy:.1f} (seed {result.seed}), {low:.1f} to "
        f"{high:.1f} at chance; {enough}"
    )
