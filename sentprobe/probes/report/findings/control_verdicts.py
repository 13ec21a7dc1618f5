"""Verdicts on the controls: whether probes that cannot know the answer are at chance."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sentprobe.probes.dataset import ENCODER_WORDS
from sentprobe.probes.results.result import Condition, Result, Results, Score
from sentprobe.probes.statistics import Interval, chance_interval, design_effect, has_balanced_labels

CONFIDENCE = 0.99
"""The share of sound tables in which all required controls are inside their intervals."""


def compute_effective_items(score: Score, result: Result) -> float:
    """Return the number of independent test items that would be equally informative."""
    return score.total / design_effect(score.items(), result.units)


def list_shared_properties(result: Result, condition: Condition) -> list[str]:
    """Return the properties that encoders must share to share this control."""
    width = [] if condition is Condition.NO_SENTENCE else [f"dim {result.dim}"]
    words = [f"words of {result.encoder}"] if result.probe_vectors == ENCODER_WORDS else []
    return width + words


def compute_expected_interval(score: Score, result: Result, condition: Condition, *, level: float) -> Interval:
    """Return the interval of a control's accuracy if it cannot know the answer, at this confidence level.

    The interval begins at 0 where labels are not equally frequent: a probe that knows nothing may be below the share of
    the most frequent label. Where the probe words alone may reveal the answer, random sentence vectors with these words
    may be as accurate. The interval then extends above the accuracy of the words alone, by the largest difference
    between two accuracies that chance explains.
    """
    effective = compute_effective_items(score, result)
    chance = chance_interval(result.majority, effective, confidence=level)
    low = chance.low if has_balanced_labels(result.majority, result.labels) else 0.0
    words = result.scores.get(Condition.NO_SENTENCE)
    if condition is not Condition.RANDOM_SENTENCES or words is None or result.balanced_probes:
        return Interval(low, chance.high)
    # Of two samples of the same size; as they share their items, it varies rather less.
    half_size = min(effective, compute_effective_items(words, result)) / 2
    word_interval = chance_interval(words.accuracy, half_size, confidence=level)
    return Interval(low, max(chance.high, word_interval.high))


def compute_chance_interval(result: Result, results: Results, *, level: float) -> Interval:
    """Return the interval of an accuracy at chance, corrected for the number of results.

    - level: the probability that any result of a table is outside its interval, if all are at chance
    """
    confidence = 1 - level / len(results.records)
    return compute_expected_interval(result.scores[Condition.PROBE], result, Condition.PROBE, level=confidence)


MUST_BE_AT_CHANCE: Mapping[Condition, Callable[[Result], bool]] = {
    Condition.RANDOM_SENTENCES: lambda result: True,  # noqa: ARG005
    Condition.RANDOM_PROBES: lambda result: True,  # noqa: ARG005
    Condition.BAG_OF_WORDS: lambda result: result.mirrored,
    Condition.NO_SENTENCE: lambda result: result.balanced_probes,
}
"""Whether a control must be at chance.

A bag of words may know the answer, except for mirror pairs. The probe words may know it, except where each occurs with
every label equally often: in natural text, two words often have a usual order.
"""


CONTROL_NAMES = {
    Condition.RANDOM_SENTENCES: "random sentences",
    Condition.RANDOM_PROBES: "random probes",
    Condition.BAG_OF_WORDS: "bag of words",
    Condition.NO_SENTENCE: "no sentence",
}


class ControlVerdict(StrEnum):
    """The position of a control's accuracy relative to the interval around chance."""

    AT_CHANCE = "at chance"
    ABOVE = "above chance"
    BELOW = "below chance"


@dataclass(frozen=True, slots=True)
class ControlRun:
    """The accuracy of a control, and the interval of a control that knows nothing."""

    result: Result
    condition: Condition
    score: Score
    expected: Interval
    draw: str = ""
    """The suffix of the control's name: the seed, if there are several draws."""

    @property
    def verdict(self) -> ControlVerdict:
        """Whether the accuracy is inside, above or below the interval."""
        if self.score.accuracy in self.expected:
            return ControlVerdict.AT_CHANCE
        return ControlVerdict.ABOVE if self.score.accuracy > self.expected.high else ControlVerdict.BELOW

    @property
    def strain(self) -> float:
        """The distance from chance, as a share of the distance to the end of the interval.

        All intervals of a table have one confidence level, so this compares distances in standard errors.
        """
        chance, accuracy = self.result.majority, self.score.accuracy
        edge = self.expected.high if accuracy > chance else self.expected.low
        return (accuracy - chance) / (edge - chance) if edge != chance else 0.0

    @property
    def must_be_at_chance(self) -> bool:
        """Whether the control cannot know the answer on a sound dataset."""
        return MUST_BE_AT_CHANCE[self.condition](self.result)

    @property
    def name(self) -> str:
        """The name in notes: with the encoder or, where only the width matters, the width."""
        if self.condition is Condition.RANDOM_PROBES:
            return f"{self.result.encoder}, random probes on {self.result.task}{self.draw}"
        shared = ", ".join(list_shared_properties(self.result, self.condition))
        return f"{CONTROL_NAMES[self.condition]}{shared and f' ({shared})'} on {self.result.task}{self.draw}"

    def format_expected(self) -> str:
        """Return the interval in percent."""
        return f"{100 * self.expected.low:.1f} to {100 * self.expected.high:.1f}"

    def __str__(self) -> str:
        return f"{self.name}: {100 * self.score.accuracy:.1f}, {self.verdict} ({self.format_expected()} expected)"


def find_controls(results: Results) -> tuple[ControlRun, ...]:
    """Return the controls among the results, each with its interval around chance.

    Controls that encoders of equal width share occur once. The intervals are corrected for the number of controls
    that must be at chance: in 99% of sound tables none is outside.
    """
    runs: dict[object, ControlRun] = {}
    several = len({record.seed for record in results.records}) > 1
    for result in results.records:
        for condition, score in result.scores.items():
            if condition in CONTROL_NAMES:
                draw = f" (seed {result.seed})" if several else ""
                run = ControlRun(result, condition, score, Interval(0.0, 1.0), draw)
                inputs = (result.dataset_fingerprint, result.preset, result.probe_fingerprint)
                runs.setdefault((run.name, *inputs), run)
    # Bonferroni: each interval may miss, and all of them together seldom should.
    count = max(1, sum(run.must_be_at_chance for run in runs.values()))
    level = 1 - (1 - CONFIDENCE) / count
    return tuple(
        replace(run, expected=compute_expected_interval(run.score, run.result, run.condition, level=level))
        for run in runs.values()
    )


def is_balanced(result: Result) -> bool:
    """Return whether the labels of a result's test items are equally frequent."""
    return has_balanced_labels(result.majority, result.labels)


def fold_controls(results: Results) -> Iterator[str]:
    """Yield the note that replaces the rows of the controls."""
    for note in count_controls(results):
        yield f"{note} (--all-rows shows their rows)"


def count_controls(results: Results) -> Iterator[str]:
    """Yield the number of required controls that are at chance, and the names of the others."""
    required, failed = _split_controls(find_controls(results))
    names = f", not {'; '.join(run.name for run in failed)}" if failed else ""
    if required:
        yield f"controls: {len(required) - len(failed)} of {len(required)} at chance{names}"


def list_warnings(results: Results) -> Iterator[str]:
    """Yield the reasons not to trust a table: failed or missing controls."""
    yield from _describe_missing_controls(results)
    required, failed = _split_controls(find_controls(results))
    if failed:
        yield from _describe_required_controls(required, failed)


def _split_controls(runs: Sequence[ControlRun]) -> tuple[list[ControlRun], list[ControlRun]]:
    """Return the controls that must be at chance, and those that are not at chance."""
    required = [run for run in runs if run.must_be_at_chance]
    return required, [run for run in required if run.verdict is not ControlVerdict.AT_CHANCE]


def describe_controls(results: Results) -> Iterator[str]:
    """Yield the notes on the controls: their meaning and their verdicts."""
    runs = find_controls(results)
    yield from _describe_missing_controls(results)
    if not runs:
        return
    words = "Bag of words: averages of random word vectors, which encode the words but not their order."
    yield f"{_define_random_controls(runs)} {words}{_define_no_sentence(runs)}"
    required, failed = _split_controls(runs)
    if required:
        yield from _describe_required_controls(required, failed)
    for finding in find_solvable_tasks(runs):
        yield finding.describe()


def _define_random_controls(runs: Sequence[ControlRun]) -> str:
    if all(run.condition is not Condition.RANDOM_PROBES for run in runs):
        return (
            "Random sentences: random vectors replace the sentence vectors. This control cannot know the answer and "
            "should be at chance."
        )
    return (
        "Random sentences: random vectors replace the sentence vectors. Random probes: random words replace the probe "
        "words. Neither control can know the answer; both should be at chance."
    )


def _define_no_sentence(runs: Sequence[ControlRun]) -> str:
    if all(run.condition is not Condition.NO_SENTENCE for run in runs):
        return ""
    text = " No sentence: only the probe words. If each occurs equally often with every label, they reveal nothing."
    may_tell = not all(run.result.balanced_probes for run in runs)
    return text + (" Where they reveal something, random vectors beside them should add nothing." if may_tell else "")


def find_unchecked(results: Results) -> list[Result]:
    """Return the results without any control; baselines, which have no vectors, need none."""
    return [result for result in results.records if result.dim and not CONTROL_NAMES.keys() & result.scores.keys()]


def _describe_missing_controls(results: Results) -> Iterator[str]:
    unchecked = find_unchecked(results)
    if not unchecked:
        return
    cells, figures = "", "these figures"
    if len(unchecked) < sum(bool(result.dim) for result in results.records):
        names = (f"{result.encoder} on {result.task}" for result in unchecked)
        cells, figures = f" for {', '.join(names)}", "those figures"
    yield f"No controls were run{cells} (--no-controls), so nothing tests {figures}."


def _describe_required_controls(required: Sequence[ControlRun], failed: Sequence[ControlRun]) -> Iterator[str]:
    if not failed:
        nearest = max(required, key=lambda run: run.strain)
        yield (
            f"All {len(required)} controls that must be at chance are within their intervals, as in {CONFIDENCE:.0%} "
            f"of tables without a fault (nearest to the edge: {nearest.name}, "
            f"{100 * nearest.score.accuracy:.1f}, interval {nearest.format_expected()})."
        )
        return
    yield (
        f"{len(failed)} of {len(required)} controls that must be at chance {'is' if len(failed) == 1 else 'are'} "
        f"outside the interval; in {CONFIDENCE:.0%} of tables without a fault, none is:"
    )
    yield from (f"  {run}" for run in failed)
    if any(run.verdict is ControlVerdict.ABOVE for run in failed):
        yield (
            "  Above chance: first repeat the run with another --seed. If the control is above chance again, something "
            "other than the sentence or the question reveals the answer: do not believe that column."
        )


def summarize_controls(results: Results) -> Iterator[str]:
    """Yield the verdict on the controls in a few short sentences; nothing if all encoders are baselines."""
    runs = find_controls(results)
    unchecked = find_unchecked(results)
    if not runs:
        if unchecked:
            yield "Controls: none (--no-controls), so nothing tests these figures."
        return
    required, failed = _split_controls(runs)
    text = f"Controls: {len(required) - len(failed)} of {len(required)} at chance"
    if failed:
        above = [run for run in failed if run.verdict is ControlVerdict.ABOVE]
        worst = max(failed, key=lambda run: abs(run.strain))
        more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        text += f"; {worst.name} is {worst.verdict} ({100 * worst.score.accuracy:.1f}){more}"
        columns = join_names(dict.fromkeys(run.result.task for run in above))
        text += f". Do not believe {columns} before a repetition with another --seed" * bool(above)
    if required:
        yield f"{text}."
    if unchecked:
        names = join_names([f"{result.encoder} on {result.task}" for result in unchecked])
        yield f"No controls were run for {names}."
    above_chance = [finding for finding in find_solvable_tasks(runs) if finding.is_above]
    for condition, (control, _) in SOLVERS.items():
        tasks = [f"{f.task} ({f.figures})" for f in above_chance if f.condition is condition]
        if tasks:
            verb = f"{control[0].upper()}{control[1:]}"
            yield f"{verb} above chance on {join_names(tasks)}: compare encoders with that there."


def join_names(names: Iterable[str], most: int = 2) -> str:
    """Return the first names and the number of the others.

    >>> join_names("abc"), join_names("a")
    ('a, b and 1 more', 'a')
    """
    shown, hidden_count = (all_names := [*names])[:most], len(all_names) - most
    return ", ".join(shown) + (f" and {hidden_count} more" if hidden_count > 0 else "")


SOLVERS: Mapping[Condition, tuple[str, str]] = {
    Condition.BAG_OF_WORDS: ("a bag of random word vectors is", "so the words alone tell this much"),
    Condition.NO_SENTENCE: ("the probe words without the sentence are", "so they alone tell this much"),
}
"""For each control that may know the answer: its name with a verb, and the meaning of success."""


@dataclass(frozen=True, slots=True)
class SolvableTask:
    """The verdict of a control that may know the answer, on one task."""

    task: str
    condition: Condition
    figures: str
    """The accuracy in percent, or the lowest and highest of several."""
    is_above: bool

    def describe(self) -> str:
        """Return the note."""
        control, meaning = SOLVERS[self.condition]
        if not self.is_above:
            return f"{self.task}: {control} not above chance ({self.figures})."
        text = f"{self.task}: {control} above chance ({self.figures}), {meaning}"
        return f"{text}; compare encoders with it, not with chance."


def find_solvable_tasks(runs: Sequence[ControlRun]) -> list[SolvableTask]:
    """Return the verdicts of the controls that may know the answer, task by task."""
    free = [run for run in runs if not run.must_be_at_chance and run.condition in SOLVERS]
    pairs = dict.fromkeys((run.result.task, run.condition) for run in free)
    return [_judge_task([run for run in free if (run.result.task, run.condition) == pair]) for pair in pairs]


def _judge_task(task_runs: Sequence[ControlRun]) -> SolvableTask:
    """Return the verdict of the runs of one control on one task."""
    above = [run for run in task_runs if run.verdict is ControlVerdict.ABOVE]
    shown = sorted({f"{100 * run.score.accuracy:.1f}" for run in above or task_runs}, key=float)
    figures = shown[0] if len(shown) == 1 else f"{shown[0]} to {shown[-1]}"
    return SolvableTask(task_runs[0].result.task, task_runs[0].condition, figures, is_above=bool(above))
