"""The check for differences from the best that are not significant."""

from collections.abc import Iterator, Sequence

from sentprobe.errors import format_count
from sentprobe.probes.report.findings.comparisons import Comparison
from sentprobe.probes.report.findings.paired_tests import LEVEL, DrawComparison
from sentprobe.probes.report.findings.table_findings import find_table
from sentprobe.probes.results.result import Condition, Results
from sentprobe.probes.review import power
from sentprobe.probes.review.beyond_control import describe_test
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity


def find_ties_with_best(table: Results) -> Iterator[ClaimFinding]:
    """Find on each task the encoders that are not significantly worse than the best, without variants of one model."""
    comparisons = find_table(table).comparisons
    for task in table.tasks:
        ties = [
            comparison
            for comparison in comparisons.compare_best(task)
            if not comparison.is_significant and comparison.paired.difference >= power.SMALLEST_SHOWN
        ]
        if ties:
            yield _build_finding(ties, comparisons.count_significant(task), len(comparisons))


def _build_finding(ties: Sequence[Comparison], task_counts: tuple[int, int], count: int) -> ClaimFinding:
    best = ties[0].first
    return ClaimFinding(
        severity=Severity.WARNING,
        problem=f"{best.encoder} has the highest accuracy, but not significantly: "
        f"{_describe_significance(*task_counts)} significant at {LEVEL:g} (corrected for "
        f"the table's {format_count(count, 'comparison')}).",
        figures=tuple(_describe_figure(tie, level=LEVEL / count) for tie in ties),
        advice="Say that the difference is not significant, which does not mean that they are equal. The "
        f"number above makes a true difference of this size significant in {power.TARGET_POWER:.0%} of runs. "
        "Choose the number before the run; do not add items or draws until a test is significant.",
        task=best.task,
        encoder=best.encoder,
    )


def _describe_significance(significant: int, count: int) -> str:
    """Describe how many differences on a task are significant, as the start of a sentence.

    >>> _describe_significance(0, 1), _describe_significance(1, 3)
    ('the one difference on this task is not', 'of the 3 differences on this task 1 is')
    """
    if count == 1:
        return f"the one difference on this task is{'' if significant else ' not'}"
    verb = "is" if significant == 1 else "are"
    return f"of the {count} differences on this task {significant} {verb}"


def _describe_figure(tie: Comparison, *, level: float) -> str:
    first_percent, second_percent = (f"{100 * accuracy:.1f}" for accuracy in tie.accuracies)
    needed = (
        power.describe_draws_needed(tie.paired.test, level=level)
        if isinstance(tie.paired, DrawComparison)
        else _describe_needed_items(tie, level=level)
    )
    comparison = f"{first_percent} against {tie.second.encoder}: {second_percent}"
    return f"{comparison}; {describe_test(tie)}; {needed}"


def _describe_needed_items(tie: Comparison, *, level: float) -> str:
    total = tie.first.scores[Condition.PROBE].total
    units = len(set(tie.first.units)) or total
    better, worse = tie.paired.wins / units, tie.paired.losses / units
    needed = power.compute_units_needed(better, worse, level=level) if better > worse else None
    if needed is None:
        return "no number of test items like these would show it"
    return power.describe_items_needed(needed * total / units, total)
