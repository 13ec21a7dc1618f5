"""Which accuracy of a table's column is marked: one that is above its control, and no tie.

The control that counts is the bag of words of the encoder's width where words alone tell something
of the task, and chance elsewhere. Two encoders are tied where the paired test of ``probe compare``,
corrected for all comparisons of the table, does not tell them apart. Of several draws, the test
is over these, and an accuracy is above chance if it is so in each.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from statistics import fmean

from sentprobe.probes.report.comparisons import LEVEL, compare_results, match_draws
from sentprobe.probes.report.draws import cells, draws_of
from sentprobe.probes.report.sanity import SanityVerdict, expected_of, sanity_runs
from sentprobe.probes.runs.results import Condition, Result, Results

EncoderOnTask = tuple[str, str]
"""An encoder and a task."""


def marked(results: Results) -> frozenset[EncoderOnTask]:
    """Return the cells of one setting that are marked, at most one for each task."""
    told = _told_apart(results)
    above = _above_words(results)
    telling = _told_by_words(results)
    firsts = [draws[0] for draws in cells(results)]
    found = (_leader(results, [e for e in firsts if e.task == t], told) for t in results.tasks)
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
    pairs = [
        match_draws(first, second)
        for first, second in combinations(cells(results), 2)
        if first[0].task == second[0].task
    ]
    compared = compare_results([each for each in pairs if each and all(map(_on_same_items, each))])
    return frozenset(frozenset(map(cell, (e.first, e.second))) for e in compared if e.significant)


def _on_same_items(pair: tuple[Result, Result]) -> bool:
    return pair[0].dataset_fingerprint == pair[1].dataset_fingerprint


def _leader(
    results: Results, firsts: Sequence[Result], told: Collection[frozenset[EncoderOnTask]]
) -> Result | None:
    """Return the result with the best accuracy on a task, unless it is tied with another."""

    def accuracy(first: Result) -> float:
        return fmean(each.accuracy for each in draws_of(results, first))

    best, *others = sorted(firsts, key=accuracy, reverse=True)
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
    with_bag = [
        matched
        for draws in cells(results)
        if (matched := tuple((each, bag) for each in draws for bag in _bag_of(each, results)))
    ]
    compared = compare_results(with_bag, under=(Condition.PROBE, Condition.BAG_OF_WORDS))
    return frozenset(
        cell(each.first)
        for each in compared
        if each.significant and each.paired.wins > each.paired.losses
    )


def _bag_of(result: Result, results: Results) -> Iterator[Result]:
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
    level = 1 - LEVEL / len(results.records)
    scores = [(each.scores[Condition.PROBE], each) for each in draws_of(results, result)]
    return all(
        score.accuracy > expected_of(score, each, Condition.PROBE, level=level).high
        for score, each in scores
    )
