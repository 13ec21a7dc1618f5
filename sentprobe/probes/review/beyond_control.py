"""The checks for encoders that are not better than a control that may know the answer: by paired tests."""

from collections.abc import Collection, Iterator
from statistics import fmean

from sentprobe.probes.known_task import ABOUT_WORDS, Cue
from sentprobe.probes.report.findings import comparisons
from sentprobe.probes.report.findings.comparisons import Comparison, MatchedResults, format_points
from sentprobe.probes.report.findings.control_verdicts import CONTROL_NAMES, ControlRun, ControlVerdict, find_controls
from sentprobe.probes.report.findings.draws import group_by_cell
from sentprobe.probes.report.findings.significance_marks import find_tasks_solvable_from_words
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.suites import explain_expected_cue


def find_bag_of_words_ties(table: Results) -> Iterator[ClaimFinding]:
    """Find the encoders that are not significantly better than the bag of words of their width.

    The finding is grave, unless the task asks which words are in the sentence.
    """
    for task, compared in find_ties_with_control(table, find_tasks_solvable_from_words(table), Condition.BAG_OF_WORDS):
        about_words = explain_expected_cue(task, Cue.BAG) == ABOUT_WORDS
        yield ClaimFinding(
            severity=Severity.NOTE if about_words else Severity.GRAVE,
            problem="A bag of random word vectors is not significantly worse"
            + (", and the task asks which words there are." if about_words else "."),
            figures=tuple(describe_against_control(comparison, Condition.BAG_OF_WORDS) for comparison in compared),
            advice="Say that any encoder of this width that keeps the words would do as well."
            if about_words
            else "Claim nothing here beyond the words, or use a task that words cannot answer (mirror pairs).",
            task=task,
            encoder=", ".join(comparison.first.encoder for comparison in compared),
        )


def find_memorised_words(table: Results) -> Iterator[ClaimFinding]:
    """Find tasks whose probe words alone are above chance, and encoders not better than these words."""
    above_chance = [run for run in find_controls(table) if _is_above_chance(run)]
    tasks = dict.fromkeys(run.result.task for run in above_chance)
    for task in tasks:
        yield ClaimFinding(
            severity=Severity.NOTE,
            problem="The probe words without any sentence are above chance: a part of each figure is what the probe "
            "remembers of these words.",
            figures=tuple(map(str, (run for run in above_chance if run.result.task == task))),
            advice="Compare with the probe words alone and not with chance.",
            task=task,
        )
    for task, compared in find_ties_with_control(table, tasks, Condition.NO_SENTENCE):
        yield ClaimFinding(
            severity=Severity.GRAVE,
            problem="The probe words without any sentence are not significantly worse: the "
            "figure may be memory of these words alone.",
            figures=tuple(describe_against_control(comparison, Condition.NO_SENTENCE) for comparison in compared),
            advice="Claim nothing about the sentence vectors here; balance the labels of each "
            "probe word (--sampling mirror does).",
            task=task,
            encoder=", ".join(comparison.first.encoder for comparison in compared),
        )


def _is_above_chance(run: ControlRun) -> bool:
    may_know_answer = run.condition is Condition.NO_SENTENCE and not run.must_be_at_chance
    return may_know_answer and run.verdict is ControlVerdict.ABOVE


def find_ties_with_control(
    table: Results, tasks: Collection[str], control: Condition
) -> Iterator[tuple[str, list[Comparison]]]:
    """Yield for each task the encoders that are not significantly better than their control.

    The p-values are corrected for all encoders on all of these tasks. An encoder whose probes answer exactly as the
    control is left out.
    """
    matched_results = [
        matched
        for draws in group_by_cell(table)
        if draws[0].task in tasks and (matched := _pair_with_control(draws, control))
    ]
    all_comparisons = comparisons.compare_results(matched_results, conditions=(Condition.PROBE, control))
    ties = [
        comparison
        for comparison in all_comparisons
        if not (comparison.significant and comparison.paired.difference > 0)
    ]
    for task in dict.fromkeys(comparison.first.task for comparison in ties):
        yield task, [comparison for comparison in ties if comparison.first.task == task]


def _pair_with_control(draws: list[Result], control: Condition) -> MatchedResults:
    scored = [result for result in draws if control in result.scores]
    answers_equal = all(
        _list_right_answers(result, Condition.PROBE) == _list_right_answers(result, control) for result in scored
    )
    return () if answers_equal else tuple((result, result) for result in scored)


def _list_right_answers(result: Result, condition: Condition) -> list[str]:
    return [seed.right for seed in result.scores[condition].seeds]


def describe_against_control(comparison: Comparison, control: Condition) -> str:
    """Describe the accuracy of an encoder and of its control, with their difference."""
    encoder_percent, control_percent = (
        100 * fmean(result.scores[condition].accuracy for result, _ in comparison.matched)
        for condition in (Condition.PROBE, control)
    )
    name = comparison.first.encoder
    return (
        f"{name}: {encoder_percent:.1f}, {CONTROL_NAMES[control]}: {control_percent:.1f}; {describe_test(comparison)}"
    )


def describe_test(comparison: Comparison) -> str:
    """Describe a difference in points, with its interval and the decisive p-value."""
    low, high = (format_points(comparison.paired.interval.low), format_points(comparison.paired.interval.high))
    p, test = (comparison.t_p, "t-test over draws") if comparison.draws > 1 else (comparison.sign_p, "sign test")
    shown = comparisons.format_p_value(p)
    equals = f"< {shown[1:]}" if shown.startswith("<") else f"= {shown}"
    difference = format_points(comparison.paired.difference)
    return f"difference {difference} [{low}, {high}], p {equals} ({test})"
