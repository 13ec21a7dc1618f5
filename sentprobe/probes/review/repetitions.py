"""Too few repetitions: what other probes, other data and other weights would give is not known."""

from collections.abc import Iterator

from sentprobe.probes.report.draws import seeds_of
from sentprobe.probes.report.spread_lines import probe_counts
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.runs.results import Result, Results


def few_repetitions(table: Results) -> Iterator[ClaimFinding]:
    """Find what was done once, in too few draws, or more often for some encoders than others."""
    trained = Results(tuple(each for each in table.records if each.dim))
    if trained.records:
        yield from _few_draws(trained)
        yield from _uneven(trained)


def _few_draws(table: Results) -> Iterator[ClaimFinding]:
    draws, probes = len(seeds_of(table)), min(probe_counts(table))
    if draws == 1 and probes == 1:
        yield ClaimFinding(
            severity=Severity.WARNING,
            says="Each figure is of one draw and one probe: what another seed would give is not "
            "known, and the tests speak of other test items alone.",
            advice="--seeds 5 trains five probes; --draws 3 makes new data, untrained weights and "
            "probes, and the tests then speak of these.",
        )
    elif draws == 1 and any(map(_can_be_drawn, table.records)):
        yield ClaimFinding(
            severity=Severity.WARNING,
            says=f"All {probes} probes of a figure are of one draw of the data and of untrained "
            "weights, which may differ by more than probes do.",
            advice="--draws 3 makes new ones. What was done is kept.",
        )
    elif draws == 2:
        yield ClaimFinding(
            severity=Severity.WARNING,
            says="Two draws say little of others: the t-test over them has one degree of freedom.",
            advice="Take at least --draws 3, or as many as the check 'noise' says.",
        )


def _can_be_drawn(record: Result) -> bool:
    """Say whether a result has data or weights that another seed would change."""
    built = record.data is not None and bool(record.data.origin)
    return built or record.encoder_seed is not None


def _uneven(table: Results) -> Iterator[ClaimFinding]:
    counts = probe_counts(table)
    if len(counts) == 1:
        return
    fewest = [each for each in table.records if probe_counts(Results((each,))) == counts[:1]]
    yield ClaimFinding(
        severity=Severity.NOTE,
        says=f"Figures are means over {' or '.join(map(str, counts))} probes: the fewer, the more "
        "they vary.",
        advice="Run the same --seeds for all; only what is missing is done.",
        task=", ".join(dict.fromkeys(each.task for each in fewest)),
        encoder=", ".join(dict.fromkeys(each.encoder for each in fewest)),
    )
