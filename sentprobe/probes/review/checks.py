"""The checks as a table, and the review of results by all of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from sentprobe.probes.report.tables import arrange, settings, titles
from sentprobe.probes.review.bag_of_words import only_words
from sentprobe.probes.review.chance import near_chance
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.review.convergence import unconverged
from sentprobe.probes.review.cut_input import cut_input
from sentprobe.probes.review.data_versions import other_versions
from sentprobe.probes.review.failed_controls import failed_controls
from sentprobe.probes.review.machines import unlike_machines
from sentprobe.probes.review.noise import inside_noise
from sentprobe.probes.review.probe_words import memorised_words
from sentprobe.probes.review.repetitions import few_repetitions
from sentprobe.probes.runs.results import Results


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """A row of the table of checks."""

    name: str
    asks: str
    find: Callable[[Results], Iterable[ClaimFinding]]
    whole: bool = False
    """Whether it sees all results at once; else those of each table of ``probe show``."""


CHECKS = (
    ClaimCheck("controls", "are probes that cannot know the answer at chance?", failed_controls),
    ClaimCheck("words", "does a bag of words know as much?", only_words),
    ClaimCheck("probe-words", "do the probe words alone tell as much?", memorised_words),
    ClaimCheck("chance", "are figures above chance?", near_chance),
    ClaimCheck("noise", "is the best told apart from the others?", inside_noise),
    ClaimCheck("repetitions", "are there enough draws and seeds?", few_repetitions),
    ClaimCheck("convergence", "were the probes trained to their end?", unconverged),
    ClaimCheck("cut", "was anything of a sentence or a vector cut off?", cut_input),
    ClaimCheck("machines", "were the rows made alike?", unlike_machines),
    ClaimCheck("data", "are all on the same data, in the same way?", other_versions, whole=True),
)
"""In the order in which findings of one severity are shown."""


@dataclass(frozen=True, slots=True)
class ClaimReview:
    """What the checks have found, the grave first."""

    findings: tuple[ClaimFinding, ...]

    @property
    def grave(self) -> bool:
        """Whether any finding is."""
        return self.count(Severity.GRAVE) > 0

    def count(self, severity: Severity) -> int:
        """Return how many findings are of a severity."""
        return sum(each.severity is severity for each in self.findings)


def review(results: Results, *, checks: Iterable[ClaimCheck] = CHECKS) -> ClaimReview:
    """Review results by the checks, as a sceptical reader would."""
    arranged = arrange(results)
    tables = settings(arranged)
    titled = tuple(zip(titles(tables), tables, strict=True))
    found = [
        replace(finding, check=check.name, table=title)
        for check in checks
        for title, part in ((("", arranged),) if check.whole else titled)
        for finding in check.find(part)
    ]
    ranks = [*Severity]
    return ClaimReview(tuple(sorted(_merged(found), key=lambda each: ranks.index(each.severity))))


def _merged(found: Iterable[ClaimFinding]) -> Iterator[ClaimFinding]:
    """Yield what is found of several tables in the same words once."""
    by_words: dict[ClaimFinding, list[str]] = {}
    for each in found:
        by_words.setdefault(replace(each, table=""), []).append(each.table)
    for each, places in by_words.items():
        yield replace(each, table=" and ".join(places))
