"""Verdicts on the controls: whether probes that cannot know the answer are at chance."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from sentprobe.probes.dataset import ENCODER_WORDS
from sentprobe.probes.results.result import Condition, Result, Results, Score
from sentprobe.probes.statistics import Interval, chance_interval, design_effect, has_balanced_labels

CONFIDENCE = 0.99
"""The share of tables without a leak in which all required controls are inside their intervals."""


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


def _knows_no_word(result: Result) -> bool:
    """Say whether no test item has a word of training, in another language: all bags of words are then alike."""
    return result.data is not None and bool(result.data.test_language) and not result.data.known_words


MUST_BE_AT_CHANCE: Mapping[Condition, Callable[[Result], bool]] = {
    Condition.RANDOM_SENTENCES: lambda result: True,  # noqa: ARG005
    Condition.RANDOM_PROBES: lambda result: True,  # noqa: ARG005
    Condition.BAG_OF_WORDS: lambda result: result.mirrored or _knows_no_word(result),
    Condition.NO_SENTENCE: lambda result: result.balanced_probes,
}
"""Whether a control must be at chance: a bag of words on mirror pairs, or without any word of training; probe words if
each has balanced labels."""

CONTROL_NAMES = {
    Condition.RANDOM_SENTENCES: "random sentences",
    Condition.RANDOM_PROBES: "random probe words",
    Condition.BAG_OF_WORDS: "bag of words",
    Condition.NO_SENTENCE: "no sentence",
}


def name_control(result: Result, condition: Condition) -> str:
    """Return the name of a control, with the properties that encoders must share to share it."""
    return ", ".join([CONTROL_NAMES[condition], *list_shared_properties(result, condition)])


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

    decision: ControlVerdict | None = None
    """The table's verdict against chance, for a control that could solve the task (bag of words, no sentence)."""

    @property
    def verdict(self) -> ControlVerdict:
        """The decision, or whether the accuracy is inside, above or below the interval."""
        if self.decision is not None:
            return self.decision
        if self.score.accuracy in self.expected:
            return ControlVerdict.AT_CHANCE
        return ControlVerdict.ABOVE if self.score.accuracy > self.expected.high else ControlVerdict.BELOW

    @property
    def strain(self) -> float:
        """The distance from chance, as a share of that to the end of the interval: it compares standard errors."""
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
            return f"random probe words of {self.result.encoder} on {self.result.task}{self.draw}"
        shared = ", ".join(list_shared_properties(self.result, self.condition))
        return f"{CONTROL_NAMES[self.condition]}{shared and f' ({shared})'} on {self.result.task}{self.draw}"

    def __str__(self) -> str:
        expected = f"{self.expected.format_percent()} expected"
        return f"{self.name}: {100 * self.score.accuracy:.1f}, {self.verdict} ({expected})"


@lru_cache(maxsize=8)
def find_controls(results: Results) -> tuple[ControlRun, ...]:
    """Return the controls among the results, each with its interval around chance.

    Controls that encoders of equal width share occur once. The intervals are corrected for the number of controls
    that must be at chance: in 99% of tables without a leak none is outside.
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


def find_unchecked(results: Results) -> list[Result]:
    """Return the results without any control; baselines, which have no vectors, need none."""
    return [result for result in results.records if result.dim and not CONTROL_NAMES.keys() & result.scores.keys()]


SOLVERS: Mapping[Condition, tuple[str, str]] = {
    Condition.BAG_OF_WORDS: ("a bag of random word vectors is", "so the words alone tell this much"),
    Condition.NO_SENTENCE: ("the probe words without the sentence are", "so they alone tell this much"),
}
"""For each control that may know the answer: its name with a verb, and the meaning of success."""
