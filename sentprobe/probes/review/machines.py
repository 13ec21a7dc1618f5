"""Rows of one table that were made otherwise: in other numbers, on other devices, by other code."""

from collections.abc import Callable, Iterator

from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.runs.results import Condition, Result, Results, makings
from sentprobe.probes.trainer.classifier import Precision


def unlike_machines(table: Results) -> Iterator[ClaimFinding]:
    """Find differences in precision, device and versions between rows that are compared."""
    trained = Results(tuple(each for each in table.records if each.dim))
    yield from _precision(trained)
    yield from _differing(trained, "devices", _devices, "compute the last digits otherwise")
    yield from _differing(trained, "versions", _versions, "may train or encode otherwise")


def _precision(table: Results) -> Iterator[ClaimFinding]:
    found = _by_value(table, _precisions)
    if len(found) > 1:
        yield ClaimFinding(
            severity=Severity.WARNING,
            says="Probes that are compared were trained in different precisions: that alone moves "
            "a figure by up to 2 points.",
            figures=tuple(f"{value}: {', '.join(names)}" for value, names in found.items()),
            advice="Train all with --set precision=float32, in a new folder.",
        )
    elif Precision.BFLOAT16 in found:
        yield ClaimFinding(
            severity=Severity.NOTE,
            says="All probes were trained in bfloat16, which moves a figure by 0.2 points on "
            "average, up to 2 either way.",
            advice="Say so; or train with --set precision=float32, which is the same on every "
            "processor.",
        )


def _differing(
    table: Results, what: str, of: Callable[[Result], list[str]], because: str
) -> Iterator[ClaimFinding]:
    found = _by_value(table, of)
    if len(found) > 1:
        yield ClaimFinding(
            severity=Severity.NOTE,
            says=f"Rows that are compared were made with different {what}, which {because}.",
            figures=tuple(f"{value}: {', '.join(names)}" for value, names in found.items()),
            advice="Say so, or make all of them alike in a new folder.",
        )


def _by_value(table: Results, of: Callable[[Result], list[str]]) -> dict[str, dict[str, None]]:
    """Return by value the encoders that have it."""
    found: dict[str, dict[str, None]] = {}
    for record in table.records:
        for value in of(record):
            found.setdefault(value, {})[record.encoder] = None
    return found


def _precisions(record: Result) -> list[str]:
    return [each.precision for each in record.scores[Condition.PROBE].seeds]


def _devices(record: Result) -> list[str]:
    return [each.device for each in makings(record)]


def _versions(record: Result) -> list[str]:
    """Return the packages that all results state; those of an encoder are its own."""
    stated = ("python", "sentprobe", "torch", "numpy", "scikit-learn")
    return [
        ", ".join(f"{name} {made.versions[name]}" for name in stated if name in made.versions)
        for made in makings(record)
        if made.versions
    ]
