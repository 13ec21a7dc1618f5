"""Differences inside the noise: who only seems better, and how much data would tell."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import fmean

import numpy as np

from sentprobe.probes.report.comparisons import LEVEL, Comparison, compare_results, match_draws
from sentprobe.probes.report.draws import cells
from sentprobe.probes.report.variants import are_one
from sentprobe.probes.review import power
from sentprobe.probes.review.beyond_control import tested
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.runs.results import Condition, Result, Results


def inside_noise(table: Results) -> Iterator[ClaimFinding]:
    """Find on each task the encoders that the best is not told apart from, though it looks better.

    The tests and their correction are those of ``probe compare``: an encoder and its own vectors
    that were cut or rounded are not held against each other.
    """
    ranked = sorted(cells(table), key=_accuracy, reverse=True)
    pairs = [
        matched
        for first, second in combinations(ranked, 2)
        if first[0].task == second[0].task
        and not are_one(first[0].encoder, second[0].encoder)
        and (matched := match_draws(first, second))
    ]
    compared = compare_results(pairs)
    for task in table.tasks:
        here = [each for each in compared if each.first.task == task]
        of_best = [each for each in here if each.first.encoder == here[0].first.encoder]
        ties = [e for e in of_best if not e.significant and e.paired.difference >= power.SHOWN]
        if ties:
            yield _finding(ties, len(here), sum(each.significant for each in here), len(compared))


def _accuracy(draws: Sequence[Result]) -> float:
    return fmean(each.accuracy for each in draws)


def _finding(
    ties: Sequence[Comparison], of_task: int, significant: int, count: int
) -> ClaimFinding:
    best = ties[0].first
    return ClaimFinding(
        severity=Severity.WARNING,
        says=f"{best.encoder} has the best figure, and is not told apart from all others: "
        f"{_told(significant, of_task)} significant (p < {LEVEL:g}, corrected for {count} in the "
        "table).",
        figures=tuple(_figure(each, level=LEVEL / count) for each in ties),
        advice="Say that they are not told apart, which does not mean that they are equal. With "
        f"such numbers a difference of that size would be found {power.POWER:.0%} of the time; do "
        "not stop as soon as it is significant.",
        task=best.task,
        encoder=best.encoder,
    )


def _told(significant: int, count: int) -> str:
    """Begin to say how many of some differences are significant.

    >>> _told(0, 1), _told(1, 3)
    ('the one difference on this task is not', 'of the 3 differences on this task 1 is')
    """
    if count == 1:
        return f"the one difference on this task is{'' if significant else ' not'}"
    verb = "is" if significant == 1 else "are"
    return f"of the {count} differences on this task {significant} {verb}"


def _figure(tie: Comparison, *, level: float) -> str:
    one, other = (f"{100 * accuracy:.1f}" for accuracy in tie.accuracies)
    enough = _draws(tie, level=level) if tie.draws > 1 else _items(tie, level=level)
    return f"{one} against {tie.second.encoder}: {other}; {tested(tie)}; {enough}"


def _items(tie: Comparison, *, level: float) -> str:
    total = tie.first.scores[Condition.PROBE].total
    units = len(set(tie.first.units)) or total
    better, worse = tie.paired.wins / units, tie.paired.losses / units
    needed = power.units_needed(better, worse, level=level) if better > worse else None
    if needed is None:
        return "no number of test items would tell them apart if all were like these"
    return power.items_would_tell(needed * total / units, total)


def _draws(tie: Comparison, *, level: float) -> str:
    gains = [a.accuracy - b.accuracy for a, b in tie.matched]
    least = 1 / min(a.scores[Condition.PROBE].total for a, _ in tie.matched)
    deviation = max(least, float(np.std(gains, ddof=1)))
    needed = power.draws_needed(tie.paired.difference, deviation, level=level)
    more = f"more than {power.MOST_DRAWS:,}" if needed == power.MOST_DRAWS else f"some {needed}"
    return f"{more} draws would tell (here {tie.draws})"
