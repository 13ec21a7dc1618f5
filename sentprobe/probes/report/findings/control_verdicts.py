"""Tests whether controls, that is, probes that cannot know the answer, are at chance."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from sentprobe.probes.dataset import ENCODER_WORDS
from sentprobe.probes.results.result import Condition, Result, Results, Score
from sentprobe.probes.statistics import Interval, chance_interval, design_effect, has_balanced_labels

CONFIDENCE = 0.99
"""The share of sound tables in which all controls that must be at chance are inside their intervals."""


def compute_effective_items(score: Score, result: Result) -> float:
    """Return the number of independent items that are as informative as the test items, which may form units."""
    return score.total / design_effect(score.items(), result.units)


def list_shared_properties(result: Result, condition: Condition) -> list[str]:
    """Return the properties, such as the width, that determine a control: encoders with equal ones share it."""
    width = [] if condition is Condition.NO_SENTENCE else [f"dim {result.dim}"]
    words = [f"words of {result.encoder}"] if result.probe_vectors == ENCODER_WORDS else []
    return width + words


def compute_expected_interval(score: Score, result: Result, condition: Condition, *, level: float) -> Interval:
    """Return the interval, at a confidence level, of the accuracy of a control that cannot know the answer.

    If labels are not equally frequent, the interval begins at 0, because a probe that knows nothing may be below the
    share of the most frequent label. If the probe words alone may reveal the answer, random sentence vectors with
    these words may be as accurate. The interval then ends above the accuracy of the words alone, at the largest
    difference that chance explains.
    """
    effective = compute_effective_items(score, result)
    chance = chance_interval(result.majority, effective, confidence=level)
    low = chance.low if has_balanced_labels(result.majority, result.labels) else 0.0
    words = result.scores.get(Condition.NO_SENTENCE)
    if condition is not Condition.RANDOM_SENTENCES or words is None or result.balanced_probes:
        return Interval(low, chance.high)
    # The difference between two independent samples varies as one sample of half the size. These share their items, so
    # the difference varies less.
    half_size = min(effective, compute_effective_items(words, result)) / 2
    word_interval = chance_interval(words.accuracy, half_size, confidence=level)
    return Interval(low, max(chance.high, word_interval.high))


def _knows_no_word(result: Result) -> bool:
    """Return whether, across languages, no test item has a word of training, so that all bags of words are equal."""
    return result.data is not None and bool(result.data.test_language) and not result.data.known_words


MUST_BE_AT_CHANCE: Mapping[Condition, Callable[[Result], bool]] = {
    Condition.RANDOM_SENTENCES: lambda result: True,  # noqa: ARG005
    Condition.RANDOM_PROBES: lambda result: True,  # noqa: ARG005
    Condition.BAG_OF_WORDS: lambda result: result.mirrored or _knows_no_word(result),
    Condition.NO_SENTENCE: lambda result: result.balanced_probes,
}
"""Functions that return whether a control of a result must be at chance. A bag of words must be on mirror pairs, and if
no test item has a word of training. Probe words must be if the labels of each word are balanced."""

CONTROL_NAMES = {
    Condition.RANDOM_SENTENCES: "random sentences",
    Condition.RANDOM_PROBES: "random probe words",
    Condition.BAG_OF_WORDS: "bag of words",
    Condition.NO_SENTENCE: "no sentence",
}


def name_control(result: Result, condition: Condition) -> str:
    """Return the name of a control with the properties that determine it, such as "bag of words, dim 300"."""
    return ", ".join([CONTROL_NAMES[condition], *list_shared_properties(result, condition)])


class ControlVerdict(StrEnum):
    """Whether the accuracy of a control is inside, above or below the interval around chance."""

    AT_CHANCE = "at chance"
    ABOVE = "above chance"
    BELOW = "below chance"


@dataclass(frozen=True, slots=True)
class ControlRun:
    """A control of one draw, with its score and the interval in which it should be."""

    result: Result
    condition: Condition
    score: Score
    expected: Interval
    """The interval of the accuracy of a control that cannot know the answer."""
    draw: str = ""
    """The suffix of the control's name: the seed, if there are several draws."""

    decision: ControlVerdict | None = None
    """The verdict for a control that may solve the task (bag of words, no sentence), from the table's test against
    chance; None for controls that must be at chance."""

    @property
    def verdict(self) -> ControlVerdict:
        """The decision of the table's test or, without it, the position of the accuracy relative to the interval."""
        if self.decision is not None:
            return self.decision
        if self.score.accuracy in self.expected:
            return ControlVerdict.AT_CHANCE
        return ControlVerdict.ABOVE if self.score.accuracy > self.expected.high else ControlVerdict.BELOW

    @property
    def strain(self) -> float:
        """The distance of the accuracy from chance, divided by the distance of the interval's end from chance."""
        chance, accuracy = self.result.majority, self.score.accuracy
        edge = self.expected.high if accuracy > chance else self.expected.low
        return (accuracy - chance) / (edge - chance) if edge != chance else 0.0

    @property
    def must_be_at_chance(self) -> bool:
        """Whether the control must be at chance, because it cannot know the answer on a sound dataset."""
        return MUST_BE_AT_CHANCE[self.condition](self.result)

    @property
    def name(self) -> str:
        """The control's name in notes, with its task, and with the encoder or the vector width on which it depends."""
        if self.condition is Condition.RANDOM_PROBES:
            return f"random probe words of {self.result.encoder} on {self.result.task}{self.draw}"
        shared = ", ".join(list_shared_properties(self.result, self.condition))
        return f"{CONTROL_NAMES[self.condition]}{shared and f' ({shared})'} on {self.result.task}{self.draw}"

    def __str__(self) -> str:
        expected = f"{self.expected.format_percent()} expected"
        return f"{self.name}: {100 * self.score.accuracy:.1f}, {self.verdict} ({expected})"


@lru_cache(maxsize=8)
def find_controls(results: Results) -> tuple[ControlRun, ...]:
    """Return all controls of the results with their intervals around chance.

    A control that encoders of equal width share is returned once. The intervals are corrected for the number of
    controls that must be at chance: in 99% of sound tables, all these controls are inside.
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
    """Return the results without any control, except baselines, which have no vectors and need no control."""
    return [result for result in results.records if result.dim and not CONTROL_NAMES.keys() & result.scores.keys()]


SOLVERS: Mapping[Condition, tuple[str, str]] = {
    Condition.BAG_OF_WORDS: ("a bag of random word vectors is", "so the words alone reach this accuracy"),
    Condition.NO_SENTENCE: ("the probe words without the sentence are", "so they alone reach this accuracy"),
}
"""For each control that may know the answer: the start of a sentence about it, and the meaning of an accuracy above
chance."""
