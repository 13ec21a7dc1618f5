"""Where each accuracy of a table stands: above its control, and among the others of its column.

The first group of a column are the encoders that the paired test does not tell apart from the best;
the next group is found among the rest in the same way. It is the test by which figures are marked
(:mod:`.marks`): a figure is marked if it is above its control and no other encoder is in the first
group.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

from sentprobe.probes.report import marks
from sentprobe.probes.report.draws import cells
from sentprobe.probes.report.figures import Figure, figure_of
from sentprobe.probes.runs.results import Condition, EncoderOnTask, Result, Results


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """An accuracy, the control that counts, and its group in its column."""

    figure: Figure
    chance: float
    control: float
    """The accuracy to be above: that of a bag of words where words alone tell something."""
    by_words: bool
    """Whether the control is a bag of words, and not chance."""
    group: int
    """1: not significantly worse than the best."""
    groups: int
    """How many groups the column has."""

    @property
    def above(self) -> float:
        """By how much the accuracy is above its control."""
        return self.figure.accuracy - self.control

    @property
    def shade(self) -> float:
        """The same as a share of what there is above chance, and 0 below the control."""
        return max(0.0, self.above) / (1 - self.chance) if self.chance < 1 else 0.0

    @property
    def control_name(self) -> str:
        """What the control is, with its accuracy in percent."""
        return f"{'bag of words' if self.by_words else 'chance'} {100 * self.control:.1f}"


Standings: TypeAlias = Mapping[EncoderOnTask, Standing]
"""Of each cell, where it stands."""


def standings(results: Results) -> Standings:
    """Return where each cell of one setting stands."""
    telling = marks.told_by_words(results)
    groups = rank_groups(results)
    last = {task: max(g for (_, t), g in groups.items() if t == task) for task in results.tasks}
    found = {}
    for draws in cells(results):
        first, figure = draws[0], figure_of(draws, Condition.PROBE)
        bags = _bags(draws, results) if first.task in telling else []
        chance = fmean(each.majority for each in draws)
        if figure is not None:
            found[first.cell] = Standing(
                figure=figure,
                chance=chance,
                control=fmean(bags) if bags else chance,
                by_words=bool(bags),
                group=groups[first.cell],
                groups=last[first.task],
            )
    return found


def _bags(draws: Sequence[Result], results: Results) -> list[float]:
    """Return the accuracies of the bag of words that is the control of a cell, in each draw."""
    found = (bag for each in draws for bag in marks.bag_of(each, results))
    return [each.scores[Condition.BAG_OF_WORDS].accuracy for each in found]


def rank_groups(results: Results) -> dict[EncoderOnTask, int]:
    """Return the group of each cell in its column, counted from 1, the best first."""
    told = marks.told_apart(results)
    ranked: dict[str, list[tuple[float, EncoderOnTask]]] = {}
    for draws in cells(results):
        mean = fmean(each.accuracy for each in draws)
        ranked.setdefault(draws[0].task, []).append((mean, draws[0].cell))
    return {
        cell: number
        for column in ranked.values()
        for number, group in enumerate(_groups(_best_first(column), told), 1)
        for cell in group
    }


def _best_first(column: Sequence[tuple[float, EncoderOnTask]]) -> list[EncoderOnTask]:
    return [cell for _, cell in sorted(column, key=lambda each: each[0], reverse=True)]


def _groups(
    ranked: Sequence[EncoderOnTask], told: Collection[frozenset[EncoderOnTask]]
) -> Iterator[list[EncoderOnTask]]:
    """Yield the cells that are not told apart from the best, then the same of the others."""
    rest = list(ranked)
    while rest:
        group = [each for each in rest if frozenset((rest[0], each)) not in told]
        yield group
        rest = [each for each in rest if each not in group]


def group_lines(found: Standings) -> Iterator[str]:
    """Say what the numbers of groups are, and on which tasks all encoders are tied."""
    sizes = Counter(task for _, task in found)
    told = {task for (_, task), each in found.items() if each.groups > 1}
    if told:
        yield (
            "A 1 in a circle: tied with the best, as it is not significantly worse by the paired "
            "test of probe compare, corrected for all comparisons of the table. A 2: tied with the "
            "best of the others, and so on."
        )
    same = [task for task, size in sizes.items() if size > 1 and task not in told]
    if same:
        yield (
            f"On {', '.join(same)} all are tied: no such test tells the best from another encoder."
            if told
            else "On every task all are tied: no paired test of probe compare, corrected for all "
            "comparisons of the table, tells the best from another encoder."
        )
