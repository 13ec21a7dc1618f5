"""What an encoder knows beyond a control that may know the answer itself, by the paired test."""

from collections.abc import Collection, Iterator
from statistics import fmean

from sentprobe.probes.report import comparisons
from sentprobe.probes.report.comparisons import Comparison, Matched, points
from sentprobe.probes.report.draws import cells
from sentprobe.probes.report.sanity import NAMES
from sentprobe.probes.runs.results import Condition, Result, Results


def no_better(
    table: Results, tasks: Collection[str], control: Condition
) -> Iterator[tuple[str, list[Comparison]]]:
    """Yield of each task the encoders that are not found to know more than their control.

    The p-values are corrected for all encoders on all of these tasks. An encoder whose probes give
    the answers of the control is the control.
    """
    found = [
        matched
        for draws in cells(table)
        if draws[0].task in tasks and (matched := _beside_itself(draws, control))
    ]
    compared = comparisons.compare_results(found, under=(Condition.PROBE, control))
    short = [each for each in compared if not (each.significant and each.paired.difference > 0)]
    for task in dict.fromkeys(each.first.task for each in short):
        yield task, [each for each in short if each.first.task == task]


def _beside_itself(draws: list[Result], control: Condition) -> Matched:
    there = [each for each in draws if control in each.scores]
    same = all(_answers(each, Condition.PROBE) == _answers(each, control) for each in there)
    return () if same else tuple((each, each) for each in there)


def _answers(result: Result, condition: Condition) -> list[str]:
    return [each.right for each in result.scores[condition].seeds]


def against(compared: Comparison, control: Condition) -> str:
    """Write an encoder's figure and that of its control, with their difference."""
    own, others = (
        100 * fmean(each.scores[condition].accuracy for each, _ in compared.matched)
        for condition in (Condition.PROBE, control)
    )
    name = compared.first.encoder
    return f"{name}: {own:.1f}, {NAMES[control]}: {others:.1f}; {tested(compared)}"


def tested(compared: Comparison) -> str:
    """Write a difference in points, with its interval and the p-value that decides."""
    low, high = points(compared.paired.interval.low), points(compared.paired.interval.high)
    p, test = (
        (compared.t_p, "t-test over draws")
        if compared.draws > 1
        else (compared.sign_p, "sign test")
    )
    shown = comparisons.show_p(p)
    equals = f"< {shown[1:]}" if shown.startswith("<") else f"= {shown}"
    difference = points(compared.paired.difference)
    return f"difference {difference} [{low}, {high}], p {equals} ({test})"
