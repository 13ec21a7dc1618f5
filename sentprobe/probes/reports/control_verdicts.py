"""Checks whether the accuracy of controls, which lack information, is at chance."""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from statistics import NormalDist

from sentprobe.probes.datasets.dataset import ENCODER_WORDS
from sentprobe.probes.results.control import CONTROLS, WIDTH_FREE_CONDITIONS
from sentprobe.probes.results.result import Condition, Result, Results, Score
from sentprobe.probes.statistics import Interval, chance_interval, design_effect, has_balanced_labels

CONFIDENCE = 0.99
"""The probability that all controls that must be at chance are inside their intervals, if the data have no flaw."""


def compute_effective_items(score: Score, result: Result) -> float:
    """Return the effective number of test items: their number, divided by the design effect of units."""
    return score.total / design_effect(score.items(), result.units)


def list_shared_properties(result: Result, condition: Condition) -> list[str]:
    """Return the properties that determine a control, such as ["dim 300"]. Encoders with equal properties share it."""
    width = [] if condition in WIDTH_FREE_CONDITIONS else [f"dim {result.dim}"]
    words = [f"words of {result.encoder}"] if result.probe_vectors == ENCODER_WORDS else []
    return width + words


def compute_expected_interval(score: Score, result: Result, condition: Condition, *, level: float) -> Interval:
    """Return the interval, at confidence *level*, that the accuracy of a control should be in.

    If labels are not equally frequent, the interval begins at 0: without information, a probe may be less accurate
    than the constant answer with the most frequent label. A control with random sentence vectors may know the answer
    from the probe words. If so, the interval's end is raised to what a probe on the words alone may reach.
    """
    effective = compute_effective_items(score, result)
    chance = chance_interval(result.majority, effective, confidence=level)
    low = chance.low if is_balanced(result) else 0.0
    words = result.scores.get(Condition.NO_SENTENCE)
    if condition is not Condition.RANDOM_SENTENCES or words is None or result.balanced_probes:
        return Interval(low, chance.high)
    # The difference between two independent samples varies as one sample of half the size. These share their items, so
    # the difference varies less.
    half_size = min(effective, compute_effective_items(words, result)) / 2
    word_interval = chance_interval(words.accuracy, half_size, confidence=level)
    return Interval(low, max(chance.high, word_interval.high))


def find_control(result: Result, results: Results, condition: Condition) -> list[Result]:
    """Return a list with *result* if it has a score of the control *condition*.

    Otherwise the list has the result with the control's highest score for the same task, seed and, except for
    baselines, which have no vectors, width, if there is one.
    """
    if condition in result.scores:
        return [result]
    others = [
        other
        for other in results.records
        if condition in other.scores
        and (other.seed, other.task) == (result.seed, result.task)
        and (condition in WIDTH_FREE_CONDITIONS or not result.dim or other.dim == result.dim)
    ]
    return sorted(others, key=lambda other: other.scores[condition].accuracy)[-1:]


def name_control(result: Result, condition: Condition) -> str:
    """Return the name of a control with the properties that determine it, such as "bag of words, dim 300"."""
    return ", ".join([CONTROLS[condition].name, *list_shared_properties(result, condition)])


class ControlVerdict(StrEnum):
    """Whether an accuracy is at, above or below chance. An interval around chance or a significance test decides."""

    AT_CHANCE = "at chance"
    ABOVE = "above chance"
    BELOW = "below chance"


@dataclass(frozen=True, slots=True)
class ControlRun:
    """The score of a control in one draw, with the interval in which its accuracy is expected."""

    result: Result
    condition: Condition
    score: Score
    expected: Interval
    """The interval of the accuracy if the control cannot know the answer (:func:`compute_expected_interval`)."""
    draw: str = ""
    """A suffix of the control's name: " (seed 1)" if there are several draws, else ""."""
    decision: ControlVerdict | None = None
    """The result of a significance test against chance, if the control may know the answer, as a bag of words may.
    None if the control must be at chance."""

    @property
    def verdict(self) -> ControlVerdict:
        """``decision`` or, if it is None, whether the accuracy is inside, above or below ``expected``."""
        if self.decision is not None:
            return self.decision
        if self.score.accuracy in self.expected:
            return ControlVerdict.AT_CHANCE
        return ControlVerdict.ABOVE if self.score.accuracy > self.expected.high else ControlVerdict.BELOW

    @property
    def strain(self) -> float:
        """The distance of the accuracy from chance: 0 at chance, 1 at either end of the interval ``expected``."""
        chance, accuracy = self.result.majority, self.score.accuracy
        edge = self.expected.high if accuracy > chance else self.expected.low
        return (accuracy - chance) / (edge - chance) if edge != chance else 0.0

    @property
    def must_be_at_chance(self) -> bool:
        """Whether the control must be at chance, because it cannot know the answer if the dataset has no flaw."""
        return CONTROLS[self.condition].must_be_at_chance(self.result)

    @property
    def name(self) -> str:
        """The name in notes, such as "bag of words (dim 300) on Tense" or "random probe words of bert on Order"."""
        if self.condition is Condition.RANDOM_PROBES:
            return f"random probe words of {self.result.encoder} on {self.result.task}{self.draw}"
        shared = ", ".join(list_shared_properties(self.result, self.condition))
        return f"{CONTROLS[self.condition].name}{shared and f' ({shared})'} on {self.result.task}{self.draw}"

    def __str__(self) -> str:
        expected = f"{self.expected.format_percent()} expected"
        return f"{self.name}: {100 * self.score.accuracy:.1f}, {self.verdict} ({expected})"


def estimate_rarity(run: ControlRun, *, count: int) -> float:
    """Return about the share of flawless tables in which any of *count* controls is as far from chance as *run*.

    The interval's end is at the quantile of a normal distribution that has Bonferroni's correction for *count*.
    """
    normal = NormalDist()
    edge = normal.inv_cdf(1 - (1 - CONFIDENCE) / (2 * count))
    return min(1.0, 2 * count * normal.cdf(-abs(run.strain) * edge))


@lru_cache(maxsize=8)
def find_controls(results: Results) -> tuple[ControlRun, ...]:
    """Return all controls of the results, each with the interval in which its accuracy is expected.

    A control that several encoders share is returned once. The intervals have Bonferroni's correction for the number of
    controls that must be at chance. If the data have no flaw, the accuracies of all these controls are inside their
    intervals with a probability of at least 99%.
    """
    runs: dict[object, ControlRun] = {}
    several = len({record.seed for record in results.records}) > 1
    for result in results.records:
        draw = f" (seed {result.seed})" if several else ""
        inputs = (result.dataset_fingerprint, result.preset, result.probe_fingerprint)
        for condition, score in result.scores.items():
            if condition in CONTROLS:
                run = ControlRun(result, condition, score, Interval(0.0, 1.0), draw)
                runs.setdefault((run.name, *inputs), run)
    # Bonferroni's correction: the probability that any interval misses is at most 1 - CONFIDENCE.
    count = max(1, sum(run.must_be_at_chance for run in runs.values()))
    level = 1 - (1 - CONFIDENCE) / count
    return tuple(
        replace(run, expected=compute_expected_interval(run.score, run.result, run.condition, level=level))
        for run in runs.values()
    )


def is_balanced(result: Result) -> bool:
    """Return whether the labels of a result's test items are equally frequent."""
    return has_balanced_labels(result.majority, result.labels)


def find_unchecked(results: Results) -> list[Result]:
    """Return the results without any control. Baselines are left out: they have no vectors and need no control."""
    return [result for result in results.records if result.dim and not CONTROLS.keys() & result.scores.keys()]
