"""The check for controls that failed or are missing."""

from collections.abc import Iterator

from sentprobe.probes.report.findings import control_verdicts
from sentprobe.probes.results.result import Condition, Results
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity


def find_failed_controls(table: Results) -> Iterator[ClaimFinding]:
    """Find the controls that must be at chance and are not, and results without controls."""
    runs = control_verdicts.find_controls(table)
    count = sum(run.must_be_at_chance for run in runs)
    for run in runs:
        if run.must_be_at_chance and run.verdict is not control_verdicts.ControlVerdict.AT_CHANCE:
            yield _describe_failure(run, count)
    yield from _find_missing(table)


def _describe_failure(run: control_verdicts.ControlRun, count: int) -> ClaimFinding:
    above = run.verdict is control_verdicts.ControlVerdict.ABOVE
    reason = "training and test disagree about something besides the sentence or the question"
    if above:
        reason = "something besides the sentence, or besides the question, gives the answer away"
    is_encoder_control = run.condition is Condition.RANDOM_PROBES
    return ClaimFinding(
        severity=Severity.SEVERE if above else Severity.WARNING,
        problem=f"The control with {control_verdicts.CONTROL_NAMES[run.condition]} cannot know the answer, and is "
        f"{run.verdict}: {reason}.",
        figures=(f"{run}, corrected for {count} controls, {control_verdicts.CONFIDENCE:.0%}",),
        advice="Repeat the run with another --seed. If it is so again, use no figure of this task: "
        "probe audit says which cues tell the answer.",
        task=run.result.task,
        encoder=run.result.encoder if is_encoder_control else "",
        draw=str(run.result.seed),
    )


def _find_missing(table: Results) -> Iterator[ClaimFinding]:
    unchecked = control_verdicts.find_unchecked(table)
    for task in dict.fromkeys(result.task for result in unchecked):
        names = dict.fromkeys(result.encoder for result in unchecked if result.task == task)
        yield ClaimFinding(
            severity=Severity.SEVERE,
            problem="There are no controls: a probe that cannot know the answer might be as accurate.",
            advice="Run the same command again without --no-controls: it trains only the controls.",
            task=task,
            encoder=", ".join(names),
        )
