"""Figures that look better than chance and are not told apart from it."""

from collections.abc import Iterator, Sequence

from sentprobe.probes.report.comparisons import LEVEL
from sentprobe.probes.report.draws import cells
from sentprobe.probes.report.marks import told_by_words
from sentprobe.probes.report.sanity import around_chance, effective_items
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.review.power import SHOWN, items_needed, items_would_tell
from sentprobe.probes.runs.results import Condition, Result, Results


def near_chance(table: Results) -> Iterator[ClaimFinding]:
    """Find the encoders that a table shows above chance, and that are not so in every draw.

    Where words alone tell something, the bag of words is what to be above of, and not chance.
    """
    telling = told_by_words(table)
    found = [
        lowest
        for draws in cells(table)
        if draws[0].task not in telling and _looks_better(draws)
        for lowest in [min(draws, key=lambda each: _above(each, table))]
        if _above(lowest, table) <= 0
    ]
    for task in dict.fromkeys(each.task for each in found):
        here = [each for each in found if each.task == task]
        yield ClaimFinding(
            severity=Severity.WARNING,
            says="Better than chance, as it looks, but inside the interval in which chance is.",
            figures=tuple(_figure(each, table) for each in here),
            advice="Claim neither that the vectors tell it nor that they do not: take more test "
            "items (--test).",
            task=task,
            encoder=", ".join(each.encoder for each in here),
        )


def _looks_better(draws: Sequence[Result]) -> bool:
    return all(each.accuracy - each.majority >= SHOWN for each in draws)


def _above(result: Result, table: Results) -> float:
    """Return by how much an accuracy is above the interval around chance."""
    return result.accuracy - around_chance(result, table, level=LEVEL).high


def _figure(result: Result, table: Results) -> str:
    score, expected = result.scores[Condition.PROBE], around_chance(result, table, level=LEVEL)
    effective = effective_items(score, result)
    level = LEVEL / len(table.records)
    needed = items_needed(result.accuracy, result.majority, level=level) or 0
    enough = items_would_tell(needed * score.total / effective, score.total)
    low, high = 100 * expected.low, 100 * expected.high
    return (
        f"{result.encoder}: {100 * result.accuracy:.1f} (seed {result.seed}), {low:.1f} to "
        f"{high:.1f} at chance; {enough}"
    )
