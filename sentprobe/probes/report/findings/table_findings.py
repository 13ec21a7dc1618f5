"""The decisions about one table: every bold figure, star, group, note and check reads them here.

Three families of tests, each with Holm's correction: pairs of encoders (variants of one model apart), figures and
controls that may know the answer against chance, and figures against such a control.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, combinations
from statistics import fmean
from typing import TypeAlias

from sentprobe.probes.report.findings import control_verdicts
from sentprobe.probes.report.findings.comparisons import Comparison, compare_results, match_draws
from sentprobe.probes.report.findings.draws import group_by_cell
from sentprobe.probes.report.findings.encoder_variants import is_same_model
from sentprobe.probes.report.findings.mean_and_interval import ConditionCell, Figure, compute_figure, compute_figures
from sentprobe.probes.report.findings.paired_tests import LEVEL, MatchedResults
from sentprobe.probes.report.findings.table_comparisons import TableComparisons
from sentprobe.probes.results.result import Condition, EncoderOnTask, Result, Results
from sentprobe.probes.statistics import Correction, correct_p_values

ControlKey: TypeAlias = tuple[Condition, str, str]
"""A control, its task, and the properties that encoders share to share it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChanceTest:
    """The figure of an encoder or a control, and its test against chance."""

    draws: tuple[Result, ...]
    condition: Condition
    figure: Figure
    p: float
    """Corrected for all figures of the table, and for the controls that may know the answer."""

    @property
    def is_above(self) -> bool:
        """Whether the figure is significantly above chance."""
        return self.p < LEVEL and self.figure.accuracy > self.figure.chance

    @property
    def verdict(self) -> control_verdicts.ControlVerdict:
        """The decision in words; below the share of the most frequent label is at chance if labels are unbalanced."""
        if self.is_above:
            return control_verdicts.ControlVerdict.ABOVE
        is_below = self.p < LEVEL and control_verdicts.is_balanced(self.draws[0])
        return control_verdicts.ControlVerdict.BELOW if is_below else control_verdicts.ControlVerdict.AT_CHANCE


@dataclass(frozen=True, kw_only=True)
class TableFindings:
    """The figures of a table and all decisions about them."""

    cells: Mapping[EncoderOnTask, ChanceTest]
    free_controls: tuple[ChanceTest, ...]
    """The controls that may know the answer: one for each task and width."""
    comparisons: TableComparisons
    """Every two models on each task."""
    variant_comparisons: TableComparisons
    """Every two variants of one model on each task."""
    control_comparisons: tuple[Comparison, ...]
    """Each encoder on each task with each control that may know the answer."""

    @cached_property
    def columns(self) -> Mapping[str, Sequence[EncoderOnTask]]:
        """The cells of each task."""
        columns: dict[str, list[EncoderOnTask]] = {}
        for cell in self.cells:
            columns.setdefault(cell[1], []).append(cell)
        return columns

    @cached_property
    def significant_pairs(self) -> frozenset[frozenset[EncoderOnTask]]:
        """The pairs of cells whose difference is significant."""
        families = (self.comparisons, self.variant_comparisons)
        return frozenset(chain.from_iterable(family.list_significant_pairs() for family in families))

    def find_solvable_tasks(self, condition: Condition = Condition.BAG_OF_WORDS) -> frozenset[str]:
        """Return the tasks on which a control that may know the answer is above chance."""
        return frozenset(
            test.draws[0].task for test in self.free_controls if test.condition is condition and test.is_above
        )

    def find_figure(self, draws: Sequence[Result], condition: Condition) -> Figure | None:
        """Return the figure of a cell under a condition; controls that must be at chance have figures of their own."""
        if condition is Condition.PROBE:
            return self.cells[draws[0].cell].figure
        key = identify_control(draws[0], condition)
        figures = (test.figure for test in self.free_controls if identify_control(test.draws[0], test.condition) == key)
        return next(figures, None) or compute_figure(draws, condition)

    def compare_with_control(self, condition: Condition) -> tuple[Comparison, ...]:
        """Return the comparisons with one control, on the tasks on which it is above chance."""
        tasks = self.find_solvable_tasks(condition)
        return tuple(
            comparison
            for comparison in self.control_comparisons
            if comparison.conditions[1] is condition and comparison.first.task in tasks
        )


@lru_cache(maxsize=8)
def find_table(results: Results) -> TableFindings:
    """Return the findings of a table; the last tables are kept."""
    cells = [tuple(draws) for draws in group_by_cell(results)]
    controls = [*_list_free_controls(results)]
    figure_cells: list[ConditionCell] = [*((draws, Condition.PROBE) for draws in cells), *controls]
    figures = compute_figures(figure_cells)
    p_values = correct_p_values([figure.chance_p for figure in figures], Correction.HOLM)
    tests = [
        ChanceTest(draws=tuple(draws), condition=condition, figure=figure, p=p)
        for (draws, condition), figure, p in zip(figure_cells, figures, p_values, strict=True)
    ]
    matches: tuple[list[MatchedResults], list[MatchedResults]] = [], []
    for matched in _match_cells(cells):
        first, second = matched[0]
        matches[is_same_model(first.encoder, second.encoder)].append(matched)
    return TableFindings(
        cells={test.draws[0].cell: test for test in tests[: len(cells)]},
        free_controls=tuple(tests[len(cells) :]),
        comparisons=TableComparisons(matches[False]),
        variant_comparisons=TableComparisons(matches[True]),
        control_comparisons=_compare_with_controls(results, cells),
    )


def _list_free_controls(results: Results) -> Iterator[ConditionCell]:
    """Yield the draws of each control that may know the answer; encoders of one width share it."""
    by_control: dict[ControlKey, dict[int, Result]] = {}
    for condition in control_verdicts.SOLVERS:
        for result in results.records:
            if condition in result.scores and not control_verdicts.MUST_BE_AT_CHANCE[condition](result):
                key = identify_control(result, condition)
                by_control.setdefault(key, {}).setdefault(result.seed, result)
    for (condition, *_), draws in by_control.items():
        yield tuple(draws.values()), condition


def identify_control(result: Result, condition: Condition) -> ControlKey:
    """Return the key of a control in a table."""
    return condition, result.task, ", ".join(control_verdicts.list_shared_properties(result, condition))


def _match_cells(cells: Sequence[Sequence[Result]]) -> Iterator[MatchedResults]:
    """Yield every two encoders on a task, the better first, if they have the same test items in some draws."""
    by_task: dict[str, list[Sequence[Result]]] = {}
    for draws in sorted(cells, key=lambda draws: fmean(result.accuracy for result in draws), reverse=True):
        by_task.setdefault(draws[0].task, []).append(draws)
    for first, second in chain.from_iterable(combinations(ranked, 2) for ranked in by_task.values()):
        matched = match_draws(first, second)
        if matched and all(a.dataset_fingerprint == b.dataset_fingerprint for a, b in matched):
            yield matched


def _compare_with_controls(results: Results, cells: Sequence[Sequence[Result]]) -> tuple[Comparison, ...]:
    """Compare each figure with the controls that may know the answer; equal answers are left out."""
    matches = [
        (tuple(pairs), (Condition.PROBE, condition))
        for condition in control_verdicts.SOLVERS
        for draws in cells
        if (pairs := [*_pair_with_control(draws, condition, results)])
        and not all(_are_equal(*pair, condition) for pair in pairs)
    ]
    return compare_results([pairs for pairs, _ in matches], conditions=[conditions for _, conditions in matches])


def _pair_with_control(
    draws: Sequence[Result], condition: Condition, results: Results
) -> Iterator[tuple[Result, Result]]:
    for result in draws:
        if condition is Condition.BAG_OF_WORDS:
            controls = [*find_bag_of_words(result, results)]
        else:
            controls = [result] if condition in result.scores else []
        yield from (
            (result, control) for control in controls if not control_verdicts.MUST_BE_AT_CHANCE[condition](control)
        )


def _are_equal(result: Result, control: Result, condition: Condition) -> bool:
    return [seed.right for seed in result.scores[Condition.PROBE].seeds] == [
        seed.right for seed in control.scores[condition].seeds
    ]


def find_bag_of_words(result: Result, results: Results) -> Iterator[Result]:
    """Yield the result whose bag of words is the control: the result itself or, for a baseline, the best one."""
    if Condition.BAG_OF_WORDS in result.scores:
        yield result
    else:
        bags = [
            candidate
            for candidate in results.records
            if (candidate.seed, candidate.task) == (result.seed, result.task)
            and Condition.BAG_OF_WORDS in candidate.scores
        ]
        yield from sorted(bags, key=lambda bag: bag.scores[Condition.BAG_OF_WORDS].accuracy)[-1:]


def find_marked_cells(results: Results) -> frozenset[EncoderOnTask]:
    """Return the best cell of each task that is above its control, and significantly different from other models."""
    findings = find_table(results)
    significant = findings.significant_pairs
    leaders = (_find_leader(findings, task, significant) for task in results.tasks)
    return frozenset(leader for leader in leaders if leader and _is_above_control(leader, findings, results))


def _find_leader(
    findings: TableFindings, task: str, significant: Collection[frozenset[EncoderOnTask]]
) -> EncoderOnTask | None:
    """Return the best cell of a column, unless it is tied with another model."""
    column = findings.columns[task]
    best = max(column, key=lambda cell: findings.cells[cell].figure.accuracy)
    competitors = (cell for cell in column if not is_same_model(best[0], cell[0]))
    return best if all(frozenset((best, cell)) in significant for cell in competitors) else None


def _is_above_control(cell: EncoderOnTask, findings: TableFindings, results: Results) -> bool:
    """Return whether a figure is above its control and, where that is chance, above its bag of words as printed."""
    if cell[1] in findings.find_solvable_tasks():
        comparisons = findings.compare_with_control(Condition.BAG_OF_WORDS)
        return any(comparison.is_better for comparison in comparisons if comparison.first.cell == cell)
    test = findings.cells[cell]
    if not test.is_above or test.draws[0].mirrored:
        return test.is_above
    bags = [bag.scores[Condition.BAG_OF_WORDS] for draw in test.draws for bag in find_bag_of_words(draw, results)]
    return bool(bags) and round(test.figure.accuracy, 3) > round(fmean(bag.accuracy for bag in bags), 3)


def judge_controls(results: Results) -> tuple[control_verdicts.ControlRun, ...]:
    """Return the controls of a table; those that may know the answer have the verdict of the test against chance."""
    verdicts = {
        identify_control(test.draws[0], test.condition): test.verdict for test in find_table(results).free_controls
    }
    return tuple(
        run if run.must_be_at_chance else replace(run, decision=verdicts[identify_control(run.result, run.condition)])
        for run in control_verdicts.find_controls(results)
    )


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
    """Return the group of each cell in its column, from 1: not significantly worse than the best of the rest."""
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
