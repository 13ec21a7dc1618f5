"""Which accuracy of a table's column is marked: one that is above its control, and no tie.

The control that counts is the bag of words of the encoder's width where words alone tell something
of the task, and chance elsewhere. Two encoders are tied where the paired test of ``probe compare``,
corrected for all comparisons of the table, does not tell them apart.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sentprobe.probes.report.comparisons import LEVEL
from sentprobe.probes.report.sanity import SanityVerdict, expected_of, sanity_runs
from sentprobe.probes.runs.results import Condition, Result, Results
from sentprobe.probes.statistics import Correction, correct, per_unit, sign_tests

EncoderOnTask = tuple[str, str]
"""An encoder and a task."""


def marked(results: Results) -> frozenset[EncoderOnTask]:
    """Return the cells of one setting that are marked, at most one for each task."""
    told = _told_apart(results)
    above = _above_words(results)
    telling = _told_by_words(results)
    found = (_leader(results, task, told) for task in results.tasks)
    return frozenset(
        cell(each)
        for each in found
        if each is not None
        and (cell(each) in above if each.task in telling else _above_chance(each, results))
    )


def cell(result: Result) -> EncoderOnTask:
    """Return the cell of a result."""
    return result.encoder, result.task


def _told_apart(results: Results) -> frozenset[frozenset[EncoderOnTask]]:
    """Return the pairs of cells that the paired test tells apart."""
    right = [_right(each, Condition.PROBE) for each in results.records]
    pairs = [
        (first, second)
        for first, second in combinations(right, 2)
        if first.result.task == second.result.task
        and first.result.dataset_fingerprint == second.result.dataset_fingerprint
    ]
    return frozenset(frozenset(map(cell, both)) for both, _ in _differences(pairs))


def _leader(
    results: Results, task: str, told: Collection[frozenset[EncoderOnTask]]
) -> Result | None:
    """Return the result with the best accuracy on a task, unless it is tied with another."""
    best, *others = sorted(
        (each for each in results.records if each.task == task), key=lambda each: -each.accuracy
    )
    pairs = (frozenset((cell(best), cell(each))) for each in others)
    return best if all(pair in told for pair in pairs) else None


def _told_by_words(results: Results) -> frozenset[str]:
    """Return the tasks of which words alone tell something, as the lines below the table say."""
    return frozenset(
        run.result.task
        for run in sanity_runs(results)
        if run.condition is Condition.BAG_OF_WORDS
        and not run.must_be_at_chance
        and run.verdict is SanityVerdict.ABOVE
    )


def _above_words(results: Results) -> frozenset[EncoderOnTask]:
    """Return the cells that the paired test finds above a bag of words."""
    pairs = [
        (_right(each, Condition.PROBE), _right(bag, Condition.BAG_OF_WORDS))
        for each in results.records
        for bag in _bag_of(each, results)
    ]
    return frozenset(cell(first) for (first, _), more in _differences(pairs) if more)


@dataclass(frozen=True, slots=True)
class RightAnswers:
    """How many answers of each unit the probes of a result have right, over all seeds."""

    result: Result
    by_unit: NDArray[np.float64]
    """(units,) float64, whole numbers."""
    seeds: int


def _right(result: Result, condition: Condition) -> RightAnswers:
    seeds = result.scores[condition].seeds
    items = np.array([each.items() for each in seeds]).sum(axis=0)
    return RightAnswers(result, per_unit(items, result.units)[0], len(seeds))


def _differences(
    pairs: Sequence[tuple[RightAnswers, RightAnswers]],
) -> Iterator[tuple[tuple[Result, Result], bool]]:
    """Yield the pairs that the sign test tells apart, and whether the first has more right.

    It is the test of ``compare_items``, of all pairs at once: of 25 layers on 10 tasks are 3,000.
    """
    gains = [np.sign(a.by_unit * b.seeds - b.by_unit * a.seeds) for a, b in pairs]
    wins = np.array([(gain > 0).sum() for gain in gains], dtype=np.int64)
    losses = np.array([(gain < 0).sum() for gain in gains], dtype=np.int64)
    p_values = correct(sign_tests(wins, losses).tolist(), Correction.HOLM)
    for (a, b), p, more in zip(pairs, p_values, wins > losses, strict=True):
        if p < LEVEL:
            yield (a.result, b.result), bool(more)


def _bag_of(result: Result, results: Results) -> Iterator[Result]:
    """Yield whose bag of words is its control: its own or, of a baseline, the best on the task."""
    if Condition.BAG_OF_WORDS in result.scores:
        yield result
    else:
        yield from sorted(_bags(results.records, result.task), key=_bag_accuracy)[-1:]


def _bags(records: Sequence[Result], task: str) -> Iterator[Result]:
    return (e for e in records if e.task == task and Condition.BAG_OF_WORDS in e.scores)


def _bag_accuracy(result: Result) -> float:
    return result.scores[Condition.BAG_OF_WORDS].accuracy


def _above_chance(result: Result, results: Results) -> bool:
    """Say whether an accuracy is above chance; without a bag of words, words might tell it all."""
    if not result.mirrored and not any(_bags(results.records, result.task)):
        return False
    score, level = result.scores[Condition.PROBE], 1 - LEVEL / len(results.records)
    return score.accuracy > expected_of(score, result, Condition.PROBE, level=level).high
