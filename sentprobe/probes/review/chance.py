"""The check for accuracies above chance that are not significantly so."""

from collections.abc import Iterator

from sentprobe.probes.report.findings.control_verdicts import compute_effective_items
from sentprobe.probes.report.findings.paired_tests import LEVEL
from sentprobe.probes.report.findings.table_findings import ChanceTest, find_table
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.review import power as pw
from sentprobe.probes.review.beyond_control import describe_chance_p
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity


def find_near_chance(table: Results) -> Iterator[ClaimFinding]:
    """Find encoders that look better than chance but are not significantly so, on tasks that words cannot solve."""
    findings = find_table(table)
    solvable = findings.find_solvable_tasks()
    near = [
        test
        for (_, task), test in findings.cells.items()
        if task not in solvable and test.figure.accuracy - test.figure.chance >= pw.SMALLEST_SHOWN and not test.is_above
    ]
    level = LEVEL / (len(findings.cells) + len(findings.free_controls))
    for task in dict.fromkeys(test.draws[0].task for test in near):
        tests = [test for test in near if test.draws[0].task == task]
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="Above chance, but not significantly.",
            figures=tuple(_describe_figure(test, level=level) for test in tests),
            advice="Claim neither that the vectors hold the property nor that they do not. Use more test items "
            "(--test).",
            task=task,
            encoder=", ".join(test.draws[0].encoder for test in tests),
        )


def _describe_figure(test: ChanceTest, *, level: float) -> str:
    figure, first = test.figure, test.draws[0]
    enough = (
        pw.describe_draws_needed(figure.test, level=level)
        if figure.test
        else _describe_needed_items(first, level=level)
    )
    return (
        f"{first.encoder}: {100 * figure.accuracy:.1f}, chance {100 * figure.chance:.1f}; "
        f"{describe_chance_p(test)}; {enough}"
    )


def _describe_needed_items(result: Result, *, level: float) -> str:
    score = result.scores[Condition.PROBE]
    needed = pw.compute_items_needed(result.accuracy, result.majority, level=level) or 0
    return pw.describe_items_needed(needed * score.total / compute_effective_items(score, result), score.total)
