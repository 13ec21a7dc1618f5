"""The check for differences in precision, device and versions within a table."""

from collections.abc import Callable, Iterator, Mapping

from sentprobe.probes.results.result import Condition, Result, Results, find_provenances
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.trainer.classifier import Precision


def find_machine_differences(table: Results) -> Iterator[ClaimFinding]:
    """Find differences in precision, device and versions between rows of a table."""
    trained = Results(tuple(record for record in table.records if record.dim))
    yield from _check_precision(trained)
    devices = _group_by_value(trained, lambda record: [making.device for making in find_provenances(record)])
    yield from _find_differences(devices, "devices", "compute the last digits differently")
    yield from _find_differences(
        _group_by_value(trained, _list_versions), "versions", "may train or encode differently"
    )


def _check_precision(table: Results) -> Iterator[ClaimFinding]:
    by_value = _group_by_value(table, lambda record: [seed.precision for seed in record.scores[Condition.PROBE].seeds])
    if len(by_value) > 1:
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="Probes that are compared were trained in different precisions: that alone moves a figure by up to "
            "2 points.",
            figures=tuple(f"{value}: {', '.join(names)}" for value, names in by_value.items()),
            advice="Train all with --set precision=float32, in a new folder.",
        )
    elif Precision.BFLOAT16 in by_value:
        yield ClaimFinding(
            severity=Severity.NOTE,
            problem="In training, the products of the first layer use bfloat16, which moves a figure by 0.2 points on "
            "average, up to 2 either way.",
            advice="Say so; or train with --set precision=float32, which is the same on every processor.",
        )


def _find_differences(by_value: Mapping[str, Mapping[str, None]], subject: str, effect: str) -> Iterator[ClaimFinding]:
    if len(by_value) > 1:
        yield ClaimFinding(
            severity=Severity.NOTE,
            problem=f"Rows that are compared were made with different {subject}, which {effect}.",
            figures=tuple(f"{value}: {', '.join(names)}" for value, names in by_value.items()),
            advice="Say so, or compute all of them in the same way in a new folder.",
        )


def _group_by_value(table: Results, list_values: Callable[[Result], list[str]]) -> dict[str, dict[str, None]]:
    by_value: dict[str, dict[str, None]] = {}
    for record in table.records:
        for value in list_values(record):
            by_value.setdefault(value, {})[record.encoder] = None
    return by_value


def _list_versions(record: Result) -> list[str]:
    """Return the versions of the packages that all results state."""
    stated = ("python", "sentprobe", "torch", "numpy", "scikit-learn")
    return [
        ", ".join(f"{name} {making.versions[name]}" for name in stated if name in making.versions)
        for making in find_provenances(record)
        if making.versions
    ]
