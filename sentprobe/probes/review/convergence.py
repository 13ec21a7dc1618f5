"""The check for probes that reached max_epochs before they converged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sentprobe.probes.report.findings.control_verdicts import CONTROL_NAMES, MUST_BE_AT_CHANCE
from sentprobe.probes.report.findings.draws import group_by_cell
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition, Result, Results
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity


@dataclass(frozen=True, slots=True)
class UnconvergedProbes:
    """The number of unconverged probes of a cell under a condition, over all draws."""

    first: Result
    condition: Condition
    unconverged: int
    trained: int

    @property
    def severity(self) -> Severity:
        """Severe if no probe converged; for controls, by their purpose."""
        if self.condition is not Condition.PROBE:
            at_chance = MUST_BE_AT_CHANCE[self.condition](self.first)
            return Severity.NOTE if at_chance else Severity.WARNING
        return Severity.SEVERE if self.unconverged == self.trained else Severity.WARNING

    def __str__(self) -> str:
        name = ", ".join([self.first.encoder, *filter(None, [CONTROL_NAMES.get(self.condition)])])
        limit = self.first.preset.max_epochs
        return f"{name} on {self.first.task}: {self.unconverged} of {self.trained} after {limit:,}"


SEVERITY_TEXTS: Mapping[Severity, str] = {
    Severity.SEVERE: "No probe had converged when max_epochs ended it: the figure shows the limit, not the vectors.",
    Severity.WARNING: "max_epochs ended probes before they had converged: more passes may raise "
    "these figures, and no comparison with them is fair.",
    Severity.NOTE: "max_epochs ended probes of controls before they had converged: at chance they prove less.",
}


def find_unconverged(table: Results) -> Iterator[ClaimFinding]:
    """Find the probes that max_epochs stopped."""
    unconverged_cells = [cell for draws in group_by_cell(table) for cell in _count_unconverged(draws)]
    for severity in Severity:
        if selected := [cell for cell in unconverged_cells if cell.severity is severity]:
            yield ClaimFinding(
                severity=severity,
                problem=SEVERITY_TEXTS[severity],
                figures=tuple(map(str, selected)),
                advice="Train longer: --set max_epochs=N.",
                task=", ".join(dict.fromkeys(cell.first.task for cell in selected)),
                encoder=", ".join(dict.fromkeys(cell.first.encoder for cell in selected)),
            )


def _count_unconverged(draws: Sequence[Result]) -> Iterator[UnconvergedProbes]:
    for condition in USUAL_CONDITIONS:
        scores = [result.scores[condition] for result in draws if condition in result.scores]
        converged = [seed.converged for score in scores for seed in score.seeds]
        if False in converged:
            yield UnconvergedProbes(draws[0], condition, converged.count(False), len(converged))
