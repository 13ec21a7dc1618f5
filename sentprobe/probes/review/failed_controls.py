"""Controls that fail, or are missing: nothing then says whether to believe the figures."""

from collections.abc import Iterator

from sentprobe.probes.report import sanity
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.runs.results import Condition, Results


def failed_controls(table: Results) -> Iterator[ClaimFinding]:
    """Find the sanity runs that must be at chance and are not, and the figures without any."""
    runs = sanity.sanity_runs(table)
    count = sum(run.must_be_at_chance for run in runs)
    for run in runs:
        if run.must_be_at_chance and run.verdict is not sanity.SanityVerdict.AT_CHANCE:
            yield _failed(run, count)
    yield from _missing(table)


def _failed(run: sanity.SanityRun, count: int) -> ClaimFinding:
    above = run.verdict is sanity.SanityVerdict.ABOVE
    one = run.condition is Condition.RANDOM_PROBES
    return ClaimFinding(
        severity=Severity.GRAVE if above else Severity.WARNING,
        says=f"The control with {sanity.NAMES[run.condition]} cannot know the answer, and is "
        f"{run.verdict}: {_why(above=above)}.",
        figures=(f"{run}, corrected for {count} controls, {sanity.CONFIDENCE:.0%}",),
        advice="Repeat the run with another --seed. If it is so again, use no figure of this task: "
        "probe audit says which cues tell the answer.",
        task=run.result.task,
        encoder=run.result.encoder if one else "",
        draw=str(run.result.seed),
    )


def _why(*, above: bool) -> str:
    if above:
        return "something besides the sentence, or besides the question, gives the answer away"
    return "training and test disagree about something besides the sentence or the question"


def _missing(table: Results) -> Iterator[ClaimFinding]:
    without = sanity.unchecked(table)
    for task in dict.fromkeys(each.task for each in without):
        names = dict.fromkeys(each.encoder for each in without if each.task == task)
        yield ClaimFinding(
            severity=Severity.GRAVE,
            says="There are no controls: nothing says whether a probe that cannot know the answer "
            "would be right as often.",
            advice="Run the same command again without --no-controls: only they are trained.",
            task=task,
            encoder=", ".join(names),
        )
