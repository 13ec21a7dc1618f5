"""All significance tests of one table, on which its bold accuracies, stars, groups, notes and checks are based.

There are four families of tests, each with its own Holm correction: encoders of different models against each other,
variants of one model against each other, encoders and controls against chance, and encoders against controls. All
these controls may know the answer, as a bag of words may. Controls that must be at chance are not tested here.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, combinations, product
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import UsageError
from sentprobe.common.values import group_by
from sentprobe.probes.reports import control_verdicts
from sentprobe.probes.reports.comparisons import Comparison, compare_results, match_draws
from sentprobe.probes.reports.figures import ConditionCell, Figure, compute_figure, compute_figures
from sentprobe.probes.reports.paired_tests import LEVEL, PROBES, MatchedResults, compare_matched_results, is_same_model
from sentprobe.probes.results.control import CONTROLS, SOLVERS, WORD_CONTROLS
from sentprobe.probes.results.result import Condition, EncoderOnTask, Result, Results
from sentprobe.probes.statistics import Correction, Floats, compute_sign_tests, correct_p_values, sum_by_unit


class TableComparisons:
    """The comparisons of pairs of encoders on each task of a table, with a Holm correction over all these pairs.

    Only the p-value that decides (sign test for one draw, t-test for several) is corrected. All p-values are computed
    on creation. A :class:`Comparison` is built only on access: 400 encoders on 5 tasks have about 400,000 pairs.
    """

    def __init__(self, matches: Sequence[MatchedResults]) -> None:
        """Run the tests. A match has the results of two encoders on one task, those of the better encoder first.

        For each task, the matches of its best encoder come first.
        """
        self._matches = matches
        self._indices = group_by(range(len(matches)), lambda index: matches[index][0][0].task)
        over_draws = [index for index, matched in enumerate(matches) if len(matched) > 1]
        tests = compare_matched_results([matches[index] for index in over_draws], [PROBES] * len(over_draws))
        self._over_draws = dict(zip(over_draws, tests, strict=True))
        p_values = run_sign_tests([matched[0] for matched in matches])
        p_values[over_draws] = [test.t_p for test in tests]
        self._p_values = np.array(correct_p_values(p_values.tolist(), Correction.HOLM))

    def __len__(self) -> int:
        return len(self._matches)

    def __iter__(self) -> Iterator[Comparison]:
        return map(self._build_comparison, range(len(self)))

    def compare_best(self, task: str) -> list[Comparison]:
        """Return the comparisons of the best encoder on *task* with the others, one for each other encoder."""
        first_encoders = {index: self._matches[index][0][0].encoder for index in self._indices.get(task, [])}
        best = next(iter(first_encoders.values()), None)
        return [self._build_comparison(index) for index, encoder in first_encoders.items() if encoder == best]

    def count_significant(self, task: str) -> tuple[int, int]:
        """Return the number of significant differences and of all differences on a task."""
        indices = self._indices.get(task, [])
        return int((self._p_values[indices] < LEVEL).sum()), len(indices)

    def list_significant_pairs(self) -> Iterator[frozenset[EncoderOnTask]]:
        for index in np.flatnonzero(self._p_values < LEVEL).tolist():
            first, second = self._matches[index][0]
            yield frozenset((first.cell, second.cell))

    def _build_comparison(self, index: int) -> Comparison:
        matched, p = self._matches[index], float(self._p_values[index])
        paired = self._over_draws.get(index) or compare_matched_results([matched], [PROBES])[0]
        sign_p, t_p = (paired.sign_p, p) if len(matched) > 1 else (p, paired.t_p)
        first, second = matched[0]
        return Comparison(first=first, second=second, matched=matched, paired=paired, sign_p=sign_p, t_p=t_p)


def run_sign_tests(pairs: Sequence[tuple[Result, Result]]) -> Floats:
    """Run a sign test, unit by unit, on each pair of results for the same items. Return p-values, (pairs,) float64."""
    wins, losses = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.int64)
    by_dataset = group_by(range(len(pairs)), lambda index: pairs[index][0].dataset_fingerprint)
    for indices in by_dataset.values():
        results = {id(result): result for index in indices for result in pairs[index]}
        rows = dict(zip(results, range(len(results)), strict=True))
        sums = _sum_right_answers([*results.values()])
        # One comparison of arrays for each first encoder, not for each pair: 400 encoders have 80,000 pairs on a task.
        for row, row_indices in group_by(indices, lambda index: rows[id(pairs[index][0])]).items():  # noqa: B023
            second_sums = sums[[rows[id(pairs[index][1])] for index in row_indices]]
            wins[row_indices] = np.count_nonzero(sums[row] > second_sums, axis=1)
            losses[row_indices] = np.count_nonzero(sums[row] < second_sums, axis=1)
    return compute_sign_tests(wins, losses)


def _sum_right_answers(results: Sequence[Result]) -> NDArray[np.unsignedinteger[Any]]:
    """Sum each result's correct answers in each unit, (results, units). Scale the sums to a common number of seeds."""
    scores = [result.scores[Condition.PROBE] for result in results]
    totals = sorted({score.total for score in scores})
    if len(totals) > 1:
        raise UsageError(f"{totals[0]} and {totals[1]} items cannot be paired")
    # Integers, so that ties are exact; of the smallest type, since run_sign_tests compares arrays of (encoders, units).
    seeds = int(np.lcm.reduce([len(score.seeds) for score in scores]))
    sums = np.array(
        [
            sum_by_unit(sum(seed.items() for seed in score.seeds) * (seeds // len(score.seeds)), result.units)[0]
            for result, score in zip(results, scores, strict=True)
        ]
    )
    return sums.astype(np.min_scalar_type(int(sums.max())))


ControlKey: TypeAlias = tuple[Condition, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChanceTest:
    """The accuracy of an encoder or control on a task (``figure``), and its test against chance."""

    draws: tuple[Result, ...]
    condition: Condition
    figure: Figure
    p: float
    """The p-value, corrected for the number of all tests against chance in the table."""

    @property
    def is_above(self) -> bool:
        """Whether the accuracy is significantly above chance."""
        return self.p < LEVEL and self.figure.accuracy > self.figure.chance

    @property
    def verdict(self) -> control_verdicts.ControlVerdict:
        """Whether the accuracy is above, at or below chance. It can be "below" only if labels are equally frequent."""
        if self.is_above:
            return control_verdicts.ControlVerdict.ABOVE
        is_below = self.p < LEVEL and control_verdicts.is_balanced(self.draws[0])
        return control_verdicts.ControlVerdict.BELOW if is_below else control_verdicts.ControlVerdict.AT_CHANCE


@dataclass(frozen=True, kw_only=True)
class TableFindings:
    """The accuracies in a table, and all tests of these accuracies."""

    cells: Mapping[EncoderOnTask, ChanceTest]
    free_controls: tuple[ChanceTest, ...]
    """The tests of controls that may know the answer, one for each task and vector width."""
    comparisons: TableComparisons
    """The comparisons between all models on each task."""
    variant_comparisons: TableComparisons
    """The comparisons between variants of the same model on each task."""
    control_comparisons: tuple[Comparison, ...]
    """The comparisons of each encoder on each task with each control that may know the answer."""

    @cached_property
    def columns(self) -> Mapping[str, Sequence[EncoderOnTask]]:
        """The columns of the table: for each task, its cells, which are (encoder, task) pairs."""
        return group_by(self.cells, lambda cell: cell[1])

    @cached_property
    def significant_pairs(self) -> frozenset[frozenset[EncoderOnTask]]:
        families = (self.comparisons, self.variant_comparisons)
        return frozenset(chain.from_iterable(family.list_significant_pairs() for family in families))

    def find_solvable_tasks(self, condition: Condition = Condition.BAG_OF_WORDS) -> frozenset[str]:
        """Return the tasks on which the control *condition* need not be at chance and is significantly above chance."""
        tests = (test for test in self.free_controls if test.condition is condition)
        return frozenset(test.draws[0].task for test in tests if test.is_above)

    def find_figures_to_exceed(self, task: str) -> list[Condition]:
        """Return the controls that take the place of chance on a task: those that are significantly above chance."""
        return [condition for condition in WORD_CONTROLS if task in self.find_solvable_tasks(condition)]

    def find_figure(self, draws: Sequence[Result], condition: Condition) -> Figure | None:
        """Return the mean accuracy of an encoder or control over *draws*; None if it has no scores."""
        if condition is Condition.PROBE:
            return self.cells[draws[0].cell].figure
        key = identify_control(draws[0], condition)
        figures = (test.figure for test in self.free_controls if identify_control(test.draws[0], test.condition) == key)
        return next(figures, None) or compute_figure(draws, condition)

    def compare_with_control(self, condition: Condition) -> tuple[Comparison, ...]:
        """Return the comparisons of encoders with a control, on the tasks on which this control is above chance."""
        tasks = self.find_solvable_tasks(condition)
        return tuple(
            comparison
            for comparison in self.control_comparisons
            if comparison.conditions[1] is condition and comparison.first.task in tasks
        )


@lru_cache(maxsize=8)
def find_table(results: Results) -> TableFindings:
    """Compute the accuracies and tests of a table. The findings of the last eight tables are cached."""
    cells = [tuple(draws) for draws in results.records_by_cell.values()]
    controls = [*_list_free_controls(results)]
    figure_cells: list[ConditionCell] = [*((draws, Condition.PROBE) for draws in cells), *controls]
    figures = compute_figures(figure_cells)
    # One family: cells and controls are tested against chance in the same table, so they are corrected together.
    p_values = correct_p_values([figure.chance_p for figure in figures], Correction.HOLM)
    tests = [
        ChanceTest(draws=tuple(draws), condition=condition, figure=figure, p=p)
        for (draws, condition), figure, p in zip(figure_cells, figures, p_values, strict=True)
    ]
    # Variants of a model are a family of their own: else each added variant would weaken the tests between models.
    matches: tuple[list[MatchedResults], list[MatchedResults]] = [], []
    for matched in _match_cells(cells):
        first, second = matched[0]
        matches[is_same_model(first.encoder, second.encoder)].append(matched)
    return TableFindings(
        # The tests are in the order of figure_cells: first the cells, then the controls.
        cells={test.draws[0].cell: test for test in tests[: len(cells)]},
        free_controls=tuple(tests[len(cells) :]),
        comparisons=TableComparisons(matches[False]),
        variant_comparisons=TableComparisons(matches[True]),
        control_comparisons=_compare_with_controls(results, cells),
    )


def _list_free_controls(results: Results) -> Iterator[ConditionCell]:
    """Yield (results, condition) for each control that need not be at chance, such as a bag of words.

    A control has one result for each seed. If several encoders share it (:func:`identify_control`), it is yielded once.
    """
    by_control: dict[ControlKey, dict[int, Result]] = {}
    for condition in SOLVERS:
        for result in results.records:
            if condition in result.scores and not CONTROLS[condition].must_be_at_chance(result):
                key = identify_control(result, condition)
                by_control.setdefault(key, {}).setdefault(result.seed, result)
    for (condition, *_), draws in by_control.items():
        yield tuple(draws.values()), condition


def identify_control(result: Result, condition: Condition) -> ControlKey:
    """Return a key that is equal for results that share a control, such as (BAG_OF_WORDS, "Tense", "dim 300")."""
    return condition, result.task, ", ".join(control_verdicts.list_shared_properties(result, condition))


def _match_cells(cells: Sequence[Sequence[Result]]) -> Iterator[MatchedResults]:
    """Yield the paired draws of each pair of encoders probed on the same test items; the better encoder is first."""
    ordered = sorted(cells, key=lambda draws: fmean(result.accuracy for result in draws), reverse=True)
    by_task = group_by(ordered, lambda draws: draws[0].task)
    for first, second in chain.from_iterable(combinations(ranked, 2) for ranked in by_task.values()):
        matched = match_draws(first, second)
        if matched and all(a.dataset_fingerprint == b.dataset_fingerprint for a, b in matched):
            yield matched


def _compare_with_controls(results: Results, cells: Sequence[Sequence[Result]]) -> tuple[Comparison, ...]:
    """Compare each encoder on each task with the controls that may solve the task, such as a bag of words.

    A control is left out if it answers each item as the encoder does.
    """
    matches, conditions = [], []
    for condition, draws in product(SOLVERS, cells):
        must_be_at_chance = CONTROLS[condition].must_be_at_chance
        pairs: list[tuple[Result, Result]] = []
        for result in draws:
            if condition in WORD_CONTROLS:  # encoders share them, so another encoder may have the score
                controls = control_verdicts.find_control(result, results, condition)
            else:
                controls = [result] if condition in result.scores else []
            pairs += [(result, control) for control in controls if not must_be_at_chance(control)]
        scores = [(result.scores[Condition.PROBE], control.scores[condition]) for result, control in pairs]
        if any([seed.right for seed in own.seeds] != [seed.right for seed in other.seeds] for own, other in scores):
            matches.append(tuple(pairs))
            conditions.append((Condition.PROBE, condition))
    return compare_results(matches, conditions=conditions)


def find_marked_cells(results: Results) -> frozenset[EncoderOnTask]:
    """Return the bold cells: a task's best cell is bold if it beats its control and every other model significantly."""
    findings = find_table(results)
    marked: set[EncoderOnTask] = set()
    for column in findings.columns.values():
        best = max(column, key=lambda cell: findings.cells[cell].figure.accuracy)
        competitors = (cell for cell in column if not is_same_model(best[0], cell[0]))
        is_untied = all(frozenset((best, cell)) in findings.significant_pairs for cell in competitors)
        if is_untied and _is_above_control(best, findings, results):
            marked.add(best)
    return frozenset(marked)


def _is_above_control(cell: EncoderOnTask, findings: TableFindings, results: Results) -> bool:
    """Return whether the accuracy in a cell is significantly above its controls.

    The controls are those of WORD_CONTROLS that are significantly above chance on the task. Otherwise the control
    is chance, and the accuracy must also exceed the bag of words' accuracy, except on mirror pairs.
    """
    if conditions := findings.find_figures_to_exceed(cell[1]):
        return all(
            any(c.is_better for c in findings.compare_with_control(condition) if c.first.cell == cell)
            for condition in conditions
        )
    test = findings.cells[cell]
    if not test.is_above or test.draws[0].mirrored:
        return test.is_above
    bag = Condition.BAG_OF_WORDS
    bags = [other.scores[bag] for draw in test.draws for other in control_verdicts.find_control(draw, results, bag)]
    # Rounded as in the table: an accuracy that is printed like the control's does not exceed it.
    return bool(bags) and round(test.figure.accuracy, 3) > round(fmean(score.accuracy for score in bags), 3)


def judge_controls(results: Results) -> tuple[control_verdicts.ControlRun, ...]:
    """Return all controls with their verdicts.

    If a control must be at chance, an interval around chance decides its verdict. Otherwise, a significance test does.
    """
    tests = find_table(results).free_controls
    verdicts = {identify_control(test.draws[0], test.condition): test.verdict for test in tests}
    return tuple(
        run if run.must_be_at_chance else replace(run, decision=verdicts[identify_control(run.result, run.condition)])
        for run in control_verdicts.find_controls(results)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """An encoder's accuracy on a task, a control's accuracy, and the encoder's group of similarly good encoders."""

    figure: Figure
    control: float
    """The accuracy of the control: the highest of WORD_CONTROLS that are above chance, else chance."""
    condition: Condition | None
    """The control; None for chance."""
    group: int
    """The number of the group, from 1. The encoders of a group are not significantly worse than its best encoder."""
    groups: int

    @property
    def margin(self) -> float:
        """The accuracy minus the accuracy of the control."""
        return self.figure.accuracy - self.control

    @property
    def shade(self) -> float:
        """The strength of the cell's colour: ``margin`` as a share of the range from chance to 1, at least 0."""
        return max(0.0, self.margin) / (1 - self.figure.chance) if self.figure.chance < 1 else 0.0

    @property
    def control_name(self) -> str:
        """The name of the control, with its accuracy in percent, such as "bag of words 62.5"."""
        name = "chance" if self.condition is None else CONTROLS[self.condition].name
        return f"{name} {100 * self.control:.1f}"


Standings: TypeAlias = Mapping[EncoderOnTask, Standing]


def compute_standings(results: Results) -> Standings:
    """Return each encoder's accuracy, control accuracy and group of similarly good encoders, for each task."""
    findings = find_table(results)
    groups = rank_groups(results)
    group_counts = {task: max(groups[cell] for cell in column) for task, column in findings.columns.items()}
    by_cell = {}
    for cell, test in findings.cells.items():
        means: dict[Condition | None, float] = {}
        for condition in findings.find_figures_to_exceed(cell[1]):
            accuracies = [
                control.scores[condition].accuracy
                for result in test.draws
                for control in control_verdicts.find_control(result, results, condition)
            ]
            if accuracies:
                means[condition] = fmean(accuracies)
        means = means or {None: test.figure.chance}
        highest = max(means, key=means.__getitem__)
        by_cell[cell] = Standing(
            figure=test.figure,
            control=means[highest],
            condition=highest,
            group=groups[cell],
            groups=group_counts[cell[1]],
        )
    return by_cell


def rank_groups(results: Results) -> dict[EncoderOnTask, int]:
    """Return the group of each table cell. Group 1: the task's best encoder and all that are not significantly worse.

    Group 2 is formed in the same way from the remaining encoders, and so on.
    """
    findings = find_table(results)
    groups: dict[EncoderOnTask, int] = {}
    for column in findings.columns.values():
        remaining = sorted(column, key=lambda cell: findings.cells[cell].figure.accuracy, reverse=True)
        number = 0
        while remaining:
            number += 1
            best_pairs = {cell: frozenset((remaining[0], cell)) for cell in remaining}
            groups |= {cell: number for cell, pair in best_pairs.items() if pair not in findings.significant_pairs}
            remaining = [cell for cell in remaining if cell not in groups]
    return groups


def describe_groups(standings: Standings) -> Iterator[str]:
    """Yield the notes on the groups of encoders that do not differ significantly."""
    sizes = Counter(task for _, task in standings)
    tasks_with_groups = {task for (_, task), standing in standings.items() if standing.groups > 1}
    if tasks_with_groups:
        yield (
            "A circled 1: not significantly worse than the best (paired test of probe compare, corrected for all "
            "comparisons of the table). A circled 2: not significantly worse than the best of the others, and so on."
        )
    if tied_tasks := [task for task, size in sizes.items() if size > 1 and task not in tasks_with_groups]:
        yield (
            f"On {', '.join(tied_tasks)}, no encoder is significantly worse than the best."
            if tasks_with_groups
            else "On every task, no encoder is significantly worse than the best (paired tests of probe compare, "
            "corrected for all comparisons of the table)."
        )
