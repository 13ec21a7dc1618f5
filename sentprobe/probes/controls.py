"""What a sanity run can know, and what of an encoder counts in it."""

from collections.abc import Callable, Mapping

from sentprobe.probes.intervals import Interval, around, balanced, design_effect
from sentprobe.probes.results import OWN_WORDS, Condition, Result, Score

CONFIDENCE = 0.99
"""Of sound tables this share has all sanity runs that must be at chance inside their intervals."""


def effective_items(score: Score, result: Result) -> float:
    """Return as how many independent items its test items count."""
    return score.total / design_effect(score.items(), result.units)


def shared_by(result: Result, condition: Condition) -> list[str]:
    """Return what of an encoder counts in a sanity run that several encoders share."""
    width = [] if condition is Condition.NO_SENTENCE else [f"dim {result.dim}"]
    own = [f"words of {result.encoder}"] if result.probe_vectors == OWN_WORDS else []
    return width + own


def expected_of(score: Score, result: Result, condition: Condition, *, level: float) -> Interval:
    """Return where a sanity run's accuracy should be if it knows nothing, with that confidence.

    Where some labels are commoner than others it begins at 0: a probe that knows nothing, and does
    not always give the commonest label, is right less often than one that does. Where the probe
    words alone may know the answer, random sentence vectors beside them may know as much and no
    more: the interval then reaches as far above the accuracy of the words as the difference of two
    accuracies may be by accident.
    """
    effective = effective_items(score, result)
    chance = around(result.majority, effective, confidence=level)
    low = chance.low if balanced(result.majority, result.labels) else 0.0
    words = result.scores.get(Condition.NO_SENTENCE)
    if condition is not Condition.RANDOM_SENTENCES or words is None or result.balanced_probes:
        return Interval(low, chance.high)
    # Of two samples of the same size; as they share their items, it varies rather less.
    half = min(effective, effective_items(words, result)) / 2
    told = around(words.accuracy, half, confidence=level)
    return Interval(low, max(chance.high, told.high))


MUST: Mapping[Condition, Callable[[Result], bool]] = {
    Condition.RANDOM_SENTENCES: lambda result: True,  # noqa: ARG005
    Condition.RANDOM_PROBES: lambda result: True,  # noqa: ARG005
    Condition.BAG_OF_WORDS: lambda result: result.mirrored,
    Condition.NO_SENTENCE: lambda result: result.balanced_probes,
}
"""Whether a sanity run must be inside the interval of :func:`expected_of`.

A bag of words may know the answer, except of mirror pairs; the probe words, except where each comes
with every label equally often. In natural text they need not (two words have an order that is
commoner than the other).
"""
