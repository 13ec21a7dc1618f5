"""The standing of each accuracy in a table: its margin over its control, and its group.

Group 1 of a column: encoders whose difference from the best is not significant by the paired test; the next group is
formed in the same way from the others. The marks (:mod:`.table_findings`) use the same test: an accuracy is marked
if it is above its control and alone in group 1.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

from sentprobe.probes.report.findings.mean_and_interval import Figure
from sentprobe.probes.report.findings.table_findings import find_bag_of_words, find_table
from sentprobe.probes.results.result import Condition, EncoderOnTask, Results


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """An accuracy, the control that counts, and its group in its column."""

    figure: Figure
    chance: float
    control: float
    """The accuracy of the control: a bag of words if words alone help, else chance."""
    is_bag_of_words: bool
    group: int
    """1: not significantly worse than the best."""
    groups: int

    @property
    def margin(self) -> float:
        """The accuracy minus that of its control."""
        return self.figure.accuracy - self.control

    @property
    def shade(self) -> float:
        """The margin as a share of the range above chance; 0 below the control."""
        return max(0.0, self.margin) / (1 - self.chance) if self.chance < 1 else 0.0

    @property
    def control_name(self) -> str:
        """The name of the control, with its accuracy in percent."""
        return f"{'bag of words' if self.is_bag_of_words else 'chance'} {100 * self.control:.1f}"


Standings: TypeAlias = Mapping[EncoderOnTask, Standing]


def compute_standings(results: Results) -> Standings:
    """Return the standing of each cell of one setting."""
    findings = find_table(results)
    solvable = findings.find_solvable_tasks()
    groups = rank_groups(results)
    group_counts = {task: max(groups[cell] for cell in column) for task, column in findings.columns.items()}
    by_cell = {}
    for cell, test in findings.cells.items():
        bags = [
            bag.scores[Condition.BAG_OF_WORDS].accuracy
            for result in (test.draws if cell[1] in solvable else ())
            for bag in find_bag_of_words(result, results)
        ]
        by_cell[cell] = Standing(
            figure=test.figure,
            chance=test.figure.chance,
            control=fmean(bags) if bags else test.figure.chance,
            is_bag_of_words=bool(bags),
            group=groups[cell],
            groups=group_counts[cell[1]],
        )
    return by_cell


def rank_groups(results: Results) -> dict[EncoderOnTask, int]:
    """Return the group of each cell in its column, from 1, the best first."""
    findings = find_table(results)
    significant = findings.significant_pairs
    return {
        cell: number
        for column in findings.columns.values()
        for ranked in [sorted(column, key=lambda cell: findings.cells[cell].figure.accuracy, reverse=True)]
        for number, group in enumerate(_split_into_groups(ranked, significant), 1)
        for cell in group
    }


def _split_into_groups(
    ranked: Sequence[EncoderOnTask], significant: Collection[frozenset[EncoderOnTask]]
) -> Iterator[list[EncoderOnTask]]:
    """Yield the cells not significantly different from the best, then repeat with the others."""
    remaining = list(ranked)
    while remaining:
        pairs = [(cell, frozenset((remaining[0], cell)) in significant) for cell in remaining]
        yield [cell for cell, differs in pairs if not differs]
        remaining = [cell for cell, differs in pairs if differs]


def describe_groups(standings: Standings) -> Iterator[str]:
    """Yield the notes on the group numbers, and on tasks where all encoders are tied."""
    sizes = Counter(task for _, task in standings)
    tasks_with_groups = {task for (_, task), standing in standings.items() if standing.groups > 1}
    if tasks_with_groups:
        yield (
            "A 1 in a circle: tied with the best, as it is not significantly worse by the paired test of probe "
            "compare, corrected for all comparisons of the table. A 2: tied with the best of the others, and so on."
        )
    tied_tasks = [task for task, size in sizes.items() if size > 1 and task not in tasks_with_groups]
    if tied_tasks:
        yield (
            f"On {', '.join(tied_tasks)} all are tied: no such test tells the best from another encoder."
            if tasks_with_groups
            else "On every task all are tied: no paired test of probe compare, corrected for all "
            "comparisons of the table, tells the best from another encoder."
        )
