"""Probes that the limit of epochs ended before they had converged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sentprobe.probes.report.draws import cells
from sentprobe.probes.report.sanity import MUST, NAMES
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.runs.results import USUAL, Condition, Result, Results


@dataclass(frozen=True, slots=True)
class Unfinished:
    """How many of a cell's probes, over all draws, were ended early under a condition."""

    first: Result
    condition: Condition
    ended: int
    trained: int

    @property
    def severity(self) -> Severity:
        """Grave where it is so of all; of a control, by what it is for."""
        if self.condition is not Condition.PROBE:
            at_chance = MUST[self.condition](self.first)
            return Severity.NOTE if at_chance else Severity.WARNING
        return Severity.GRAVE if self.ended == self.trained else Severity.WARNING

    def __str__(self) -> str:
        name = ", ".join([self.first.encoder, *filter(None, [NAMES.get(self.condition)])])
        limit = self.first.preset.max_epochs
        return f"{name} on {self.first.task}: {self.ended} of {self.trained} after {limit:,}"


MEANS: Mapping[Severity, str] = {
    Severity.GRAVE: "No probe had converged when max_epochs ended it: the figure is of the limit, "
    "not of the vectors.",
    Severity.WARNING: "max_epochs ended probes before they had converged: more passes may raise "
    "these figures, and no comparison with them is fair.",
    Severity.NOTE: "max_epochs ended probes of controls before they had converged: at chance they "
    "prove less.",
}


def unconverged(table: Results) -> Iterator[ClaimFinding]:
    """Find the probes that max_epochs ended."""
    found = [each for draws in cells(table) for each in _unfinished(draws)]
    for severity in Severity:
        if some := [each for each in found if each.severity is severity]:
            yield ClaimFinding(
                severity=severity,
                says=MEANS[severity],
                figures=tuple(map(str, some)),
                advice="Train longer: --set max_epochs=N.",
                task=", ".join(dict.fromkeys(each.first.task for each in some)),
                encoder=", ".join(dict.fromkeys(each.first.encoder for each in some)),
            )


def _unfinished(draws: Sequence[Result]) -> Iterator[Unfinished]:
    for condition in USUAL:
        scores = [each.scores[condition] for each in draws if condition in each.scores]
        ends = [seed.converged for score in scores for seed in score.seeds]
        if False in ends:
            yield Unfinished(draws[0], condition, ends.count(False), len(ends))
