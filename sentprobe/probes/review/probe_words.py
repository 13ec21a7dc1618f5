"""Probe words that tell the answer themselves, so that a probe may have them by heart."""

from collections.abc import Iterator

from sentprobe.probes.report.sanity import SanityRun, SanityVerdict, sanity_runs
from sentprobe.probes.review.beyond_control import against, no_better
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.runs.results import Condition, Results


def memorised_words(table: Results) -> Iterator[ClaimFinding]:
    """Find the tasks whose probe words tell something, and the encoders that know no more."""
    telling = [run for run in sanity_runs(table) if _tells(run)]
    tasks = dict.fromkeys(run.result.task for run in telling)
    for task in tasks:
        yield ClaimFinding(
            severity=Severity.NOTE,
            says="The probe words without any sentence are above chance: a part of each figure is "
            "what the probe remembers of these words.",
            figures=tuple(map(str, (run for run in telling if run.result.task == task))),
            advice="Compare with the probe words alone and not with chance.",
            task=task,
        )
    for task, compared in no_better(table, tasks, Condition.NO_SENTENCE):
        yield ClaimFinding(
            severity=Severity.GRAVE,
            says="The probe words without any sentence know as much, as far as the paired test "
            "tells: the figure may be memory of these words alone.",
            figures=tuple(against(each, Condition.NO_SENTENCE) for each in compared),
            advice="Claim nothing of the sentence vectors here; balance the labels of each probe "
            "word (--sampling mirror does).",
            task=task,
            encoder=", ".join(each.first.encoder for each in compared),
        )


def _tells(run: SanityRun) -> bool:
    may = run.condition is Condition.NO_SENTENCE and not run.must_be_at_chance
    return may and run.verdict is SanityVerdict.ABOVE
