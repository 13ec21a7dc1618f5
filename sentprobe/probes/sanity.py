"""What the sanity runs say: whether probes that cannot know the answer are at chance."""

from collections.abc import Iterator
from dataclasses import dataclass

from sentprobe.probes.intervals import Interval, around
from sentprobe.probes.results import Condition, Result, Results, Score

CONFIDENCE = 0.99
"""Of the sanity runs of a flawless dataset at least this share should be inside the interval."""

NAMES = {
    Condition.RANDOM_SENTENCES: "random sentences",
    Condition.RANDOM_PROBES: "random probes",
}
"""The sanity runs, as they are called in a table."""


@dataclass(frozen=True, slots=True)
class SanityRun:
    """A sanity run's accuracy, and the interval around chance where it should be."""

    result: Result
    condition: Condition
    score: Score
    expected: Interval

    @property
    def passed(self) -> bool:
        """Whether the accuracy is inside the interval."""
        return self.score.accuracy in self.expected

    def __str__(self) -> str:
        low, high = 100 * self.expected.low, 100 * self.expected.high
        return (
            f"{self.result.encoder}, {NAMES[self.condition]} on {self.result.task}: "
            f"{100 * self.score.accuracy:.1f} ({low:.1f} to {high:.1f} expected)"
        )


def sanity_runs(results: Results) -> tuple[SanityRun, ...]:
    """Return the sanity runs among the results, each with what is expected of it."""
    return tuple(
        SanityRun(record, condition, score, _expected(record, score.total))
        for record in results.records
        for condition, score in record.scores.items()
        if condition in NAMES
    )


def _expected(record: Result, total: int) -> Interval:
    """Return the interval around chance for so many items.

    A probe may get both items of a mirror pair right or both wrong, so that they count as one.
    """
    independent = total // 2 if record.mirrored else total
    return around(record.majority, independent, confidence=CONFIDENCE)


def explain(results: Results) -> str:
    """Say in plain sentences how to read the table, and whether the sanity runs are at chance."""
    return "".join(f"{line}\n" for line in _lines(results))


def _lines(results: Results) -> Iterator[str]:
    yield from (f"classifier: {each}" for each in dict.fromkeys(r.preset for r in results.records))
    totals = sorted({record.scores[Condition.PROBE].total for record in results.records})
    yield (
        f"Accuracy in % on {_either(totals)} test items. Chance (always the commoner label) is "
        f"{_chance(results)}."
    )
    yield (
        "Sanity runs: random vectors instead of sentence vectors, or random words instead of the "
        "probe words. Neither can know the answer; both should be at chance."
    )
    if any(record.mirrored for record in results.records):
        yield (
            "Mirrored items are not independent: where all have a mirror, a pair counts as one in "
            "the interval."
        )
    runs = sanity_runs(results)
    failed = [run for run in runs if not run.passed]
    if not failed:
        yield f"All {len(runs)} sanity runs are within the {CONFIDENCE:.0%} interval around chance."
        return
    yield (
        f"{len(failed)} of {len(runs)} sanity runs {'is' if len(failed) == 1 else 'are'} outside "
        f"the {CONFIDENCE:.0%} interval around chance "
        "(of flawless ones, about one in a hundred is):"
    )
    yield from (f"  {run}" for run in failed)


def _chance(results: Results) -> str:
    shares = {record.task: f"{100 * record.majority:.1f}" for record in results.records}
    if len(set(shares.values())) > 1:
        return ", ".join(f"{share} on {task}" for task, share in shares.items())
    return next(iter(shares.values())) + (" on every task" if len(shares) > 1 else "")


def _either(numbers: list[int]) -> str:
    return " or ".join(map(str, numbers))
