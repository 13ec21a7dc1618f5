"""Which accuracy of a table's column is marked: one that is above its control, and no tie.

The control that counts is the bag of words of the encoder's width where words alone tell something
of the task, and chance elsewhere. Two encoders are tied where the paired test of ``probe compare``,
corrected for all comparisons of the table, does not tell them apart; an encoder and its own vectors
cut, rounded or erased from are tested apart from these, and are no tie. Of several draws, the test
is over these, and an accuracy is above chance if it is so in each.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, compress
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from sentprobe.probes.report.comparisons import LEVEL, match_draws
from sentprobe.probes.report.draws import cells, draws_of
from sentprobe.probes.report.sanity import SanityVerdict, around_chance, sanity_runs
from sentprobe.probes.report.variants import are_one
from sentprobe.probes.runs.results import Condition, EncoderOnTask, Result, Results
from sentprobe.probes.statistics import Correction, correct, per_unit, sign_tests, t_over_draws


@dataclass(frozen=True, slots=True)
class RightAnswers:
    """What the probes of a cell have right under a condition, over all seeds."""

    draws: tuple[Result, ...]
    condition: Condition
    by_unit: NDArray[np.float64]
    """(units,) float64, whole numbers: the right answers of each unit in the first draw."""
    seeds: int
    """The number of probes in the first draw."""


def marked(results: Results) -> frozenset[EncoderOnTask]:
    """Return the cells of one setting that are marked, at most one for each task."""
    told = told_apart(results)
    above = _above_words(results)
    telling = told_by_words(results)
    firsts = [draws[0] for draws in cells(results)]
    found = (_leader(results, [e for e in firsts if e.task == t], told) for t in results.tasks)
    return frozenset(
        each.cell
        for each in found
        if each is not None
        and (each.cell in above if each.task in telling else _above_chance(each, results))
    )


def told_apart(results: Results) -> frozenset[frozenset[EncoderOnTask]]:
    """Return the pairs of cells that the paired test tells apart.

    The pairs of one encoder, whole and cut, are corrected for their own number.
    """
    answers = [_answers(draws, Condition.PROBE) for draws in cells(results)]
    pairs = [
        (first, second)
        for first, second in combinations(answers, 2)
        if first.draws[0].task == second.draws[0].task and _on_same_items(first, second)
    ]
    alike = [_of_one_encoder(first.draws[0], second.draws[0]) for first, second in pairs]
    return frozenset(
        frozenset(each.cell for each in both)
        for wanted in (False, True)
        for both, _ in _differences([*compress(pairs, (e is wanted for e in alike))])
    )


def _of_one_encoder(one: Result, other: Result) -> bool:
    return are_one(one.encoder, other.encoder)


def _on_same_items(one: RightAnswers, other: RightAnswers) -> bool:
    matched = match_draws(one.draws, other.draws)
    same = (a.dataset_fingerprint == b.dataset_fingerprint for a, b in matched)
    return bool(matched) and all(same)


def _leader(
    results: Results, firsts: Sequence[Result], told: Collection[frozenset[EncoderOnTask]]
) -> Result | None:
    """Return the best result on a task, unless it is tied with another encoder."""

    def accuracy(first: Result) -> float:
        return fmean(each.accuracy for each in draws_of(results, first))

    best, *others = sorted(firsts, key=accuracy, reverse=True)
    rivals = (each for each in others if not _of_one_encoder(best, each))
    pairs = (frozenset((best.cell, each.cell)) for each in rivals)
    return best if all(pair in told for pair in pairs) else None


def told_by_words(results: Results) -> frozenset[str]:
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
        (_answers(draws, Condition.PROBE), _answers(bags, Condition.BAG_OF_WORDS))
        for draws in cells(results)
        if (bags := [bag for each in draws for bag in bag_of(each, results)])
    ]
    return frozenset(first.cell for (first, _), more in _differences(pairs) if more)


def _answers(draws: Sequence[Result], condition: Condition) -> RightAnswers:
    seeds = draws[0].scores[condition].seeds
    items = np.array([each.items() for each in seeds]).sum(axis=0)
    return RightAnswers(tuple(draws), condition, per_unit(items, draws[0].units)[0], len(seeds))


def _differences(
    pairs: Sequence[tuple[RightAnswers, RightAnswers]],
) -> Iterator[tuple[tuple[Result, Result], bool]]:
    """Yield the pairs that the paired test tells apart, and whether the first has more right.

    It is the test of ``probe compare``: of one draw the sign test over units, of all pairs at once,
    since of 25 layers on 10 tasks there are 3,000; of several the t-test over draws.
    """
    gains = [_gains(a, b) for a, b in pairs]
    wins = np.array([(gain > 0).sum() for gain in gains], dtype=np.int64)
    losses = np.array([(gain < 0).sum() for gain in gains], dtype=np.int64)
    signs = sign_tests(wins, losses)
    tests = [
        t_over_draws(gain, items=_items(a)) if len(a.draws) > 1 else sign
        for (a, _), gain, sign in zip(pairs, gains, signs.tolist(), strict=True)
    ]
    p_values = correct(tests, Correction.HOLM)
    for (a, b), p, more in zip(pairs, p_values, wins > losses, strict=True):
        if p < LEVEL:
            yield (a.draws[0], b.draws[0]), bool(more)


def _items(answers: RightAnswers) -> int:
    """Return the number of test items of a draw, the fewest of all."""
    return min(each.scores[answers.condition].total for each in answers.draws)


def _gains(a: RightAnswers, b: RightAnswers) -> NDArray[np.float64]:
    """Return by how much the first is better, of one draw in each unit, of several in each."""
    if len(a.draws) == len(b.draws) == 1:
        return np.asarray(a.by_unit * b.seeds - b.by_unit * a.seeds)
    both = match_draws(a.draws, b.draws)
    scores = [(one.scores[a.condition], other.scores[b.condition]) for one, other in both]
    return np.array([one.accuracy - other.accuracy for one, other in scores])


def bag_of(result: Result, results: Results) -> Iterator[Result]:
    """Yield whose bag of words is its control: its own or, of a baseline, the best on the task."""
    if Condition.BAG_OF_WORDS in result.scores:
        yield result
    else:
        here = [each for each in results.records if each.seed == result.seed]
        yield from sorted(_bags(here, result.task), key=_bag_accuracy)[-1:]


def _bags(records: Sequence[Result], task: str) -> Iterator[Result]:
    return (e for e in records if e.task == task and Condition.BAG_OF_WORDS in e.scores)


def _bag_accuracy(result: Result) -> float:
    return result.scores[Condition.BAG_OF_WORDS].accuracy


def _above_chance(result: Result, results: Results) -> bool:
    """Say whether an accuracy is above chance; without a bag of words, words might tell it all."""
    if not result.mirrored and not any(_bags(results.records, result.task)):
        return False
    draws = draws_of(results, result)
    return all(each.accuracy > around_chance(each, results, level=LEVEL).high for each in draws)
