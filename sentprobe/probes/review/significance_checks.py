"""Claim checks that test whether accuracies differ from chance, from those of controls, and from each other.

The checks of language models on minimal pairs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from sentprobe.common.errors import format_count
from sentprobe.common.values import group_by
from sentprobe.probes.datasets.known_task import ABOUT_ORDER, ABOUT_WORDS, Cue
from sentprobe.probes.language_models.pair_accuracies import CHANCE, PairResults
from sentprobe.probes.language_models.pair_results import PairTables, name_pair_tables
from sentprobe.probes.reports import control_verdicts as cv
from sentprobe.probes.reports.comparisons import Comparison, TestedDifference, format_p_value, format_points
from sentprobe.probes.reports.paired_tests import LEVEL, DrawComparison
from sentprobe.probes.reports.table_findings import ChanceTest, find_table
from sentprobe.probes.results.control import CONTROLS
from sentprobe.probes.results.result import Condition, Results
from sentprobe.probes.review.claim_finding import (
    SMALLEST_SHOWN,
    TARGET_POWER,
    ClaimFinding,
    Severity,
    compute_items_needed,
    compute_units_needed,
    describe_draws_needed,
    describe_items_needed,
)
from sentprobe.probes.runs.suites import explain_expected_cue


def find_bag_of_words_ties(table: Results) -> Iterator[ClaimFinding]:
    """Find encoders not significantly better than a bag of words. If the task is about words, the finding is a note."""
    for task, compared in _find_not_better(table, Condition.BAG_OF_WORDS):
        about_words = explain_expected_cue(task, Cue.BAG) == ABOUT_WORDS
        yield ClaimFinding(
            severity=Severity.NOTE if about_words else Severity.SEVERE,
            problem=f"A bag of random word vectors is {_describe_outcome(compared)}"
            + (", and the task asks which words are in the sentence." if about_words else "."),
            figures=tuple(describe_against_control(comparison) for comparison in compared),
            advice="Say that any vector of this width that preserves the words would do as well."
            if about_words
            else "Claim nothing beyond knowledge of the words, or use a task that words cannot answer (mirror pairs).",
            task=task,
            encoder=", ".join(comparison.first.encoder for comparison in compared),
        )


def find_fixed_position_ties(table: Results) -> Iterator[ClaimFinding]:
    """Find encoders above chance, but not significantly better than the words at fixed places, such as the last."""
    for task, compared in _find_above_chance(table, Condition.FIXED_POSITIONS):
        yield ClaimFinding(
            severity=Severity.SEVERE,
            problem=f"Random vectors of the words at fixed places are {_describe_outcome(compared)}.",
            figures=tuple(describe_against_control(comparison) for comparison in compared),
            advice="Claim nothing about structure or meaning, or use a task in which no fixed place tells the answer.",
            task=task,
            encoder=", ".join(comparison.first.encoder for comparison in compared),
        )


def find_words_and_positions_ties(table: Results) -> Iterator[ClaimFinding]:
    """Find encoders above chance, but not significantly better than the words with their positions, added up.

    The finding is a note if the task is about words or their order.
    """
    for task, compared in _find_above_chance(table, Condition.WORDS_AND_POSITIONS):
        reason = explain_expected_cue(task, Cue.NGRAMS)
        about = reason if reason in (ABOUT_WORDS, ABOUT_ORDER) else ""
        yield ClaimFinding(
            severity=Severity.NOTE if about else Severity.WARNING,
            problem=f"An average of random vectors of each word at its position is {_describe_outcome(compared)}"
            + (f", and {about}." if about else "."),
            figures=tuple(describe_against_control(comparison) for comparison in compared),
            advice="Say that any vector of this width that preserves words and positions would do as well.",
            task=task,
            encoder=", ".join(comparison.first.encoder for comparison in compared),
        )


def find_memorised_words(table: Results) -> Iterator[ClaimFinding]:
    """Find tasks where probe words alone are above chance. Find encoders not significantly better than these words."""
    controls = find_table(table).free_controls
    above = [test for test in controls if test.condition is Condition.NO_SENTENCE and test.is_above]
    for task, tests in group_by(above, lambda test: test.draws[0].task).items():
        yield ClaimFinding(
            severity=Severity.NOTE,
            problem="The probe words without any sentence are above chance: a part of each figure is the probe's "
            "memory of these words.",
            figures=tuple(map(describe_chance_test, tests)),
            advice="Compare with the probe words alone instead of chance.",
            task=task,
        )
    for task, compared in _find_not_better(table, Condition.NO_SENTENCE):
        yield ClaimFinding(
            severity=Severity.SEVERE,
            problem=f"The probe words without any sentence are {_describe_outcome(compared)}: the "
            "figure may be memory of these words alone.",
            figures=tuple(map(describe_against_control, compared)),
            advice="Claim nothing about the sentence vectors here; balance the labels of each "
            "probe word (--sampling mirror does).",
            task=task,
            encoder=", ".join(comparison.first.encoder for comparison in compared),
        )


def _find_not_better(table: Results, control: Condition) -> Iterator[tuple[str, list[Comparison]]]:
    """Yield up to two (task, comparisons) for each task: encoders worse than *control*, then encoders that tie."""
    comparisons = find_table(table).compare_with_control(control)
    for task, on_task in group_by(comparisons, lambda comparison: comparison.first.task).items():
        yield from [(task, worse)] if (worse := [c for c in on_task if c.is_worse]) else []
        yield from [(task, tied)] if (tied := [c for c in on_task if not c.is_significant]) else []


def _find_above_chance(table: Results, control: Condition) -> Iterator[tuple[str, list[Comparison]]]:
    """Yield what :func:`_find_not_better` yields, of the encoders that are above chance."""
    cells = find_table(table).cells
    for task, not_better in _find_not_better(table, control):
        if compared := [comparison for comparison in not_better if cells[comparison.first.cell].is_above]:
            yield task, compared


def _describe_outcome(compared: Sequence[Comparison]) -> str:
    """Return "significantly better" if the control beats the encoders significantly, else "not significantly worse"."""
    return "significantly better" if compared[0].is_worse else "not significantly worse"


def describe_chance_test(test: ChanceTest) -> str:
    """Describe a control's test against chance: its name, its accuracy and the p-value."""
    name, figure = cv.name_control(test.draws[0], test.condition), test.figure
    return f"{name}: {100 * figure.accuracy:.1f}, chance {100 * figure.chance:.1f}; {describe_chance_p(test)}"


def describe_chance_p(test: ChanceTest) -> str:
    """Describe the p-value of a test against chance: "p < 0.001 (binomial test, Holm)"."""
    name = "t-test over draws" if test.figure.test else "binomial test"
    return f"p {format_equation(test.p)} ({name}, Holm)"


def describe_against_control(comparison: Comparison) -> str:
    """Describe a comparison of an encoder with a control: both accuracies, their difference and the p-value."""
    encoder, control = (f"{100 * accuracy:.1f}" for accuracy in comparison.accuracies)
    name = CONTROLS[comparison.conditions[1]].name
    return f"{comparison.first.encoder}: {encoder}, {name}: {control}; {describe_test(comparison)}"


def describe_test(comparison: TestedDifference) -> str:
    """Describe a difference in percentage points, with its 95% interval and p-value."""
    low, high = (format_points(comparison.paired.interval.low), format_points(comparison.paired.interval.high))
    test = "t-test over draws" if comparison.draws > 1 else "sign test"
    difference = format_points(comparison.paired.difference)
    return f"difference {difference} [{low}, {high}], p {format_equation(comparison.p)} ({test})"


def format_equation(p: float) -> str:
    """Return a p-value after its sign: "= 0.250", or "< 0.001" for a tiny value."""
    shown = format_p_value(p)
    return f"< {shown[1:]}" if shown.startswith("<") else f"= {shown}"


def find_failed_controls(table: Results) -> Iterator[ClaimFinding]:
    """Find controls that should be at chance but are not, and results without controls."""
    runs = cv.find_controls(table)
    count = sum(run.must_be_at_chance for run in runs)
    for run in runs:
        if not run.must_be_at_chance or run.verdict is cv.ControlVerdict.AT_CHANCE:
            continue
        above = run.verdict is cv.ControlVerdict.ABOVE
        reason = "training and test data may differ in something besides the sentence or the question"
        if above:
            reason = "something besides the sentence or the question gives the answer away"
        yield ClaimFinding(
            severity=Severity.SEVERE if above else Severity.WARNING,
            problem=f"The control with {CONTROLS[run.condition].name} cannot know the answer, and is "
            f"{run.verdict}: {reason}.",
            figures=(f"{run}, corrected for {count} controls, {cv.CONFIDENCE:.0%}",),
            advice="Repeat the run with another --seed. If the control fails again, use no figure of this task: "
            "probe audit shows which cues give the answer away.",
            task=run.result.task,
            encoder=run.result.encoder if run.condition is Condition.RANDOM_PROBES else "",
            draw=str(run.result.seed),
        )
    for task, unchecked in group_by(cv.find_unchecked(table), lambda result: result.task).items():
        yield ClaimFinding(
            severity=Severity.SEVERE,
            problem="There are no controls: a probe that cannot know the answer might be as accurate.",
            advice="Run the same command again without --no-controls: only the controls will be trained.",
            task=task,
            encoder=", ".join(dict.fromkeys(result.encoder for result in unchecked)),
        )


def find_near_chance(table: Results) -> Iterator[ClaimFinding]:
    """Find encoders that are above chance, but not significantly. Tasks that a bag of words can solve are left out."""
    findings = find_table(table)
    solvable = findings.find_solvable_tasks()
    near = [
        test
        for (_, task), test in findings.cells.items()
        if task not in solvable and test.figure.accuracy - test.figure.chance >= SMALLEST_SHOWN and not test.is_above
    ]
    # The strictest level of Holm's correction: the number of items then suffices whatever the other p-values are.
    level = LEVEL / (len(findings.cells) + len(findings.free_controls))
    for task, tests in group_by(near, lambda test: test.draws[0].task).items():
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="Above chance, but not significantly.",
            figures=tuple(_describe_figure(test, level=level) for test in tests),
            advice="Claim neither that the vectors encode the property nor that they do not. Use more test items "
            "(--test).",
            task=task,
            encoder=", ".join(test.draws[0].encoder for test in tests),
        )


def _describe_figure(test: ChanceTest, *, level: float) -> str:
    figure, first = test.figure, test.draws[0]
    if figure.test:
        needed = describe_draws_needed(figure.test, level=level)
    else:
        score = first.scores[Condition.PROBE]
        items = compute_items_needed(first.accuracy, first.majority, level=level) or 0
        scale = cv.compute_effective_items(score, first)
        needed = describe_items_needed(items * score.total / scale, score.total)
    name = f"{first.encoder}: {100 * figure.accuracy:.1f}, chance {100 * figure.chance:.1f}"
    return f"{name}; {describe_chance_p(test)}; {needed}"


def find_ties_with_best(table: Results) -> Iterator[ClaimFinding]:
    """Find encoders that are not significantly worse than a task's best encoder; variants of the best are left out."""
    comparisons = find_table(table).comparisons
    for task in table.tasks:
        compared = (comparison for comparison in comparisons.compare_best(task) if not comparison.is_significant)
        if ties := [tie for tie in compared if tie.paired.difference >= SMALLEST_SHOWN]:
            best, count = ties[0].first, len(comparisons)
            yield ClaimFinding(
                severity=Severity.WARNING,
                problem=f"{best.encoder} has the highest accuracy, but not significantly: "
                f"{_describe_significance(*comparisons.count_significant(task))} significant at {LEVEL:g} (corrected "
                f"for the table's {format_count(count, 'comparison')}).",
                figures=tuple(_describe_tie(tie, level=LEVEL / count) for tie in ties),
                advice="Say that the difference is not significant, which does not mean that the encoders are equal. "
                f"With {TARGET_POWER:.0%} power, a true difference of this size is significant in "
                f"{TARGET_POWER:.0%} of runs. Choose the number of items and draws before the run: adding items "
                "until a test is significant is invalid.",
                task=best.task,
                encoder=best.encoder,
            )


def _describe_significance(significant: int, count: int) -> str:
    if count == 1:
        return f"the difference from the only other encoder is{'' if significant else ' not'}"
    return f"of the {count} differences on this task {significant} {'is' if significant == 1 else 'are'}"


def _describe_tie(tie: Comparison, *, level: float) -> str:
    first_percent, second_percent = (f"{100 * accuracy:.1f}" for accuracy in tie.accuracies)
    if isinstance(tie.paired, DrawComparison):
        needed = describe_draws_needed(tie.paired.test, level=level)
    else:
        total = tie.first.scores[Condition.PROBE].total
        units = len(set(tie.first.units)) or total
        better, worse = tie.paired.wins / units, tie.paired.losses / units
        units_needed = compute_units_needed(better, worse, level=level) if better > worse else None
        if units_needed is None:
            needed = "more test items like these would not make it significant"
        else:
            needed = describe_items_needed(units_needed * total / units, total)
    return f"{first_percent} against {tie.second.encoder}: {second_percent}; {describe_test(tie)}; {needed}"


PAIRS_FOR_POWER = compute_items_needed(CHANCE + 0.1, CHANCE, level=LEVEL) or 0
"""The number of pairs with which an accuracy of 60% differs significantly from chance in 80% of runs."""
SHARE_FOR_WARNING = 0.05
"""The share of tied pairs, or of pairs that two paradigms have in common, above which a finding is a warning."""


def find_models_not_above_unigram(table: PairResults) -> Iterator[ClaimFinding]:
    """Find paradigms on which a model does not significantly beat the better baseline: chance or word frequencies."""
    unigram = {group.value: float(table.frequency_answers[:, group.rows].mean()) for group in table.groups}
    for model, tests in group_by(table.baseline_comparisons, lambda test: test.matched[0][0]).items():
        if ties := [test for test in tests if not test.is_better]:
            yield ClaimFinding(
                severity=Severity.WARNING if len(ties) < len(tests) else Severity.SEVERE,
                problem=f"On {len(ties)} of {format_count(len(tests), 'paradigm')}, the model is not "
                "significantly better than chance and word frequencies.",
                figures=tuple(
                    f"{test.value}: {100 * test.accuracies[0]:.1f}, unigram {100 * unigram[test.value]:.1f}, "
                    f"chance {100 * CHANCE:.1f}; {describe_test(test)}"
                    for test in ties
                ),
                advice="Claim no knowledge of these paradigms. If the model is significantly worse, report that.",
                encoder=model,
            )


def find_small_paradigms(table: PairResults) -> Iterator[ClaimFinding]:
    """Find the paradigms with too few pairs to tell an accuracy of 60% from chance."""
    units = {group.value: len(np.unique(table.units[group.rows])) for group in table.groups if group.value}
    if few := [f"{value} ({count})" for value, count in units.items() if count < PAIRS_FOR_POWER]:
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem=f"Paradigms have fewer than {PAIRS_FOR_POWER} pairs of different words: an accuracy of 60 differs "
            f"significantly from chance in less than {TARGET_POWER:.0%} of runs.",
            figures=(", ".join(few),),
            advice="Take more pairs (-n), or claim nothing from an accuracy near chance.",
        )


def find_tied_scores(table: PairResults) -> Iterator[ClaimFinding]:
    """Find the models that give both sentences of some pairs the same score."""
    for scores in table.scores:
        if scores.ties:
            yield ClaimFinding(
                severity=Severity.WARNING if scores.ties > SHARE_FOR_WARNING * len(table.pairs) else Severity.NOTE,
                problem=f"Both sentences have the same score in {scores.ties:,} of {len(table.pairs):,} pairs.",
                advice="State that ties count half, and look at these pairs (probe lm --scores).",
                encoder=scores.model,
            )


def find_unknown_words(table: PairResults) -> Iterator[ClaimFinding]:
    """Find the models whose vocabulary lacks words of the pairs."""
    for scores in table.scores:
        if len(rows := scores.unknown_rows):
            right = scores.answers.mean(axis=0)
            parts = [(f"{len(rows):,} of {len(right):,} pairs", right[rows]), ("all others", np.delete(right, rows))]
            yield ClaimFinding(
                severity=Severity.WARNING,
                problem=f"{scores.describe_unknown()}: it replaces each by its unknown token.",
                figures=tuple(f"{name}: accuracy {100 * part.mean():.1f}" for name, part in parts if len(part)),
                advice="Score the pairs whose words all models know: --known-words.",
                encoder=scores.model,
            )


def find_repeated_pairs(table: PairResults) -> Iterator[ClaimFinding]:
    """Yield a warning if more than 5% of the pairs of a paradigm are also in another paradigm."""
    paradigms = group_by(table.pairs, lambda pair: pair.paradigm)
    sentences = {name: {(pair.good, pair.bad) for pair in pairs} for name, pairs in paradigms.items()}
    # A share of the smaller paradigm: all of it may lie within a larger one.
    common = {names: len(sentences[names[0]] & sentences[names[1]]) for names in combinations(sentences, 2)}
    if figures := [
        f"{' and '.join(names)}: {count:,}"
        for names, count in common.items()
        if count > SHARE_FOR_WARNING * min(len(sentences[name]) for name in names)
    ]:
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="Paradigms have common pairs, which count twice in the accuracy of all pairs.",
            figures=tuple(figures),
            advice="Leave one of the paradigms out, or its common pairs.",
        )


def find_different_pairs(tables: PairTables) -> Iterator[ClaimFinding]:
    """Report if not all models were scored on the same pairs and by the same kind of score."""
    models = [{scores.spec or scores.model for scores in table.scores} for table in tables]
    if any(names != models[0] for names in models):
        yield ClaimFinding(
            severity=Severity.SEVERE,
            problem="Models have figures on different pairs or by different scores: differences between them are not "
            "due to the models alone.",
            figures=tuple(
                f"table {number} ({len(table.pairs):,} pairs, {table.kind}): {', '.join(sorted(names))}"
                for number, (table, names) in enumerate(zip(tables, models, strict=True), 1)
            ),
            advice="Score the same pairs with all models, in the same way.",
            check="data",
        )


PAIR_CHECKS: Mapping[str, Callable[[PairResults], Iterable[ClaimFinding]]] = {
    "unigram": find_models_not_above_unigram,
    "few": find_small_paradigms,
    "ties": find_tied_scores,
    "unknown": find_unknown_words,
    "repeated": find_repeated_pairs,
}
"""The checks of a single table, by name. One more check, "data", compares all tables."""


def review_language_models(tables: PairTables) -> Iterator[ClaimFinding]:
    """Yield the findings of PAIR_CHECKS on each table, then the findings of the check "data"."""
    for name, find in PAIR_CHECKS.items():
        for title, table in zip(name_pair_tables(len(tables)), tables, strict=True):
            yield from (replace(finding, check=name, table=title) for finding in find(table))
    yield from find_different_pairs(tables)
