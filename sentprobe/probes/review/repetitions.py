"""The check for too few seeds and draws."""

from collections.abc import Iterator

from sentprobe.probes.report.findings.draws import list_seeds
from sentprobe.probes.report.tables.spread_notes import count_probes
from sentprobe.probes.results.result import Result, Results
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity


def find_few_repetitions(table: Results) -> Iterator[ClaimFinding]:
    """Find results of one seed or few draws, and encoders with fewer seeds than others."""
    trained = Results(tuple(record for record in table.records if record.dim))
    if trained.records:
        yield from _find_few_draws(trained)
        yield from _find_uneven_counts(trained)


def _find_few_draws(table: Results) -> Iterator[ClaimFinding]:
    draws, probes = len(list_seeds(table)), min(count_probes(table))
    if draws == 1 and probes == 1:
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="Each figure is one draw and one probe: the effect of another seed is not "
            "known, and the tests generalise to other test items only.",
            advice="--seeds 5 trains five probes; --draws 3 adds new data, untrained weights and "
            "probes, and the tests then generalise to these.",
        )
    elif draws == 1 and any(map(_can_be_drawn, table.records)):
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem=f"All {probes} probes of a figure are of one draw of the data and of untrained "
            "weights, which may differ by more than probes do.",
            advice="--draws 3 adds new ones. Existing results are reused.",
        )
    elif draws == 2:
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="Two draws say little about others: their t-test leans on the variances of the other figures.",
            advice="Take at least --draws 3, or as many as the check 'noise' suggests.",
        )


def _can_be_drawn(record: Result) -> bool:
    """Return whether a result has data or weights that another seed would change."""
    return (record.data is not None and bool(record.data.origin)) or record.encoder_seed is not None


def _find_uneven_counts(table: Results) -> Iterator[ClaimFinding]:
    counts = count_probes(table)
    if len(counts) == 1:
        return
    fewest = [record for record in table.records if count_probes(Results((record,))) == counts[:1]]
    yield ClaimFinding(
        severity=Severity.NOTE,
        problem=f"Figures are means over {' or '.join(map(str, counts))} probes: the fewer, the more they vary.",
        advice="Run the same --seeds for all; only missing probes are trained.",
        task=", ".join(dict.fromkeys(record.task for record in fewest)),
        encoder=", ".join(dict.fromkeys(record.encoder for record in fewest)),
    )
