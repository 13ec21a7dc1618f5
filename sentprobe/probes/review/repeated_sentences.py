"""The check for test sentences that training has, too."""

from collections.abc import Iterator

from sentprobe.probes.results.result import Results
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity


def find_repeated_sentences(table: Results) -> Iterator[ClaimFinding]:
    """Find the tasks whose training items have sentences of test items, in any draw."""
    for task in table.tasks:
        facts = [record.data for record in table.records if record.task == task and record.data is not None]
        overlaps = [data.overlap for data in facts if data.overlap.has_near_copies]
        if not overlaps:
            continue
        worst = max(overlaps, key=lambda overlap: (overlap.is_leaky, overlap.repeated + overlap.inflected))
        yield ClaimFinding(
            severity=Severity.SEVERE if worst.is_leaky else Severity.WARNING,
            problem="Training has sentences of the test items: a probe may remember their answers."
            if worst.is_leaky
            else "Training has sentences that are nearly those of test items: a probe may remember their answers.",
            figures=(worst.format_repeated(), worst.format_inflected()),
            advice="Put equal sentences, and those with the same lemmas, into the same split.",
            task=task,
        )
