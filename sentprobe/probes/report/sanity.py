"""What the sanity runs say: whether probes that cannot know the answer are at chance."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sentprobe.probes.dataset import OWN_WORDS
from sentprobe.probes.runs.results import Condition, Result, Results, Score
from sentprobe.probes.statistics import Interval, around, balanced, design_effect

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


def around_chance(result: Result, results: Results, *, level: float) -> Interval:
    """Return where an accuracy may be by chance, so that of all results few are outside: *level*.

    It is the probability that any of a table's results is, where none knows anything.
    """
    confidence = 1 - level / len(results.records)
    return expected_of(result.scores[Condition.PROBE], result, Condition.PROBE, level=confidence)


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


NAMES = {
    Condition.RANDOM_SENTENCES: "random sentences",
    Condition.RANDOM_PROBES: "random probes",
    Condition.BAG_OF_WORDS: "bag of words",
    Condition.NO_SENTENCE: "no sentence",
}
"""The sanity runs, as they are called in a table."""


class SanityVerdict(StrEnum):
    """Where a sanity run's accuracy is, seen from the interval around chance."""

    AT_CHANCE = "at chance"
    ABOVE = "above chance"
    BELOW = "below chance"


@dataclass(frozen=True, slots=True)
class SanityRun:
    """A sanity run's accuracy, and the interval around chance where it is if it knows nothing."""

    result: Result
    condition: Condition
    score: Score
    expected: Interval
    draw: str = ""
    """Which of several draws it is of, as its name ends."""

    @property
    def verdict(self) -> SanityVerdict:
        """Whether the accuracy is inside the interval, above or below."""
        if self.score.accuracy in self.expected:
            return SanityVerdict.AT_CHANCE
        return (
            SanityVerdict.ABOVE if self.score.accuracy > self.expected.high else SanityVerdict.BELOW
        )

    @property
    def strain(self) -> float:
        """How far from chance the accuracy is, as a share of the way to the interval's end.

        All intervals of a table have one level, so this compares distances in standard errors.
        """
        chance, accuracy = self.result.majority, self.score.accuracy
        edge = self.expected.high if accuracy > chance else self.expected.low
        return (accuracy - chance) / (edge - chance) if edge != chance else 0.0

    @property
    def must_be_at_chance(self) -> bool:
        """Whether it cannot know the answer on a sound dataset; see MUST."""
        return MUST[self.condition](self.result)

    @property
    def name(self) -> str:
        """What it is called below a table: by its encoder or, where only that counts, its width."""
        if self.condition is Condition.RANDOM_PROBES:
            return f"{self.result.encoder}, random probes on {self.result.task}{self.draw}"
        shared = ", ".join(shared_by(self.result, self.condition))
        return (
            f"{NAMES[self.condition]}{shared and f' ({shared})'} on {self.result.task}{self.draw}"
        )

    def __str__(self) -> str:
        low, high = 100 * self.expected.low, 100 * self.expected.high
        return (
            f"{self.name}: {100 * self.score.accuracy:.1f}, {self.verdict} "
            f"({low:.1f} to {high:.1f} expected)"
        )


def sanity_runs(results: Results) -> tuple[SanityRun, ...]:
    """Return the sanity runs among the results, each with what is expected of it.

    One that several encoders of equal width share comes once. The intervals are corrected for the
    number of those that must be at chance: of 99% of sound tables none of them is outside.
    """
    found: dict[object, SanityRun] = {}
    several = len({record.seed for record in results.records}) > 1
    for record in results.records:
        for condition, score in record.scores.items():
            if condition in NAMES:
                draw = f" (seed {record.seed})" if several else ""
                run = SanityRun(record, condition, score, Interval(0.0, 1.0), draw)
                made = (record.dataset_fingerprint, record.preset, record.probe_fingerprint)
                found.setdefault((run.name, *made), run)
    # Bonferroni: so many intervals may miss, and all of them together seldom should.
    count = max(1, sum(run.must_be_at_chance for run in found.values()))
    level = 1 - (1 - CONFIDENCE) / count
    return tuple(
        replace(run, expected=expected_of(run.score, run.result, run.condition, level=level))
        for run in found.values()
    )


def is_balanced(result: Result) -> bool:
    """Say whether the labels of a result's test items are equally common."""
    return balanced(result.majority, result.labels)


def fold(results: Results) -> Iterator[str]:
    """Say in one line what stands for the rows of the sanity runs, where these are not shown."""
    for line in chance_line(results):
        yield f"{line} (--all-rows shows their rows)"


def chance_line(results: Results) -> Iterator[str]:
    """Say in one line how many of the sanity runs that must be at chance are, and which are not."""
    must, failed = _held(sanity_runs(results))
    which = f", not {'; '.join(run.name for run in failed)}" if failed else ""
    if must:
        yield f"sanity runs: {len(must) - len(failed)} of {len(must)} at chance{which}"


def warnings(results: Results) -> Iterator[str]:
    """Say what stands in the way of believing a table: sanity runs that failed, or none at all."""
    yield from _unchecked(results)
    must, failed = _held(sanity_runs(results))
    if failed:
        yield from _verdict_on_chance(must, failed)


def _held(runs: Sequence[SanityRun]) -> tuple[list[SanityRun], list[SanityRun]]:
    """Return the runs that must be at chance, and those of them that are not."""
    must = [run for run in runs if run.must_be_at_chance]
    return must, [run for run in must if run.verdict is not SanityVerdict.AT_CHANCE]


def verdicts(results: Results) -> Iterator[str]:
    """Say in plain sentences what the sanity runs say."""
    runs = sanity_runs(results)
    yield from _unchecked(results)
    if not runs:
        return
    yield (
        _on_random(runs)
        + " Bag of words: averages of random word vectors, which know the words but not their "
        "order." + _on_no_sentence(runs)
    )
    must, failed = _held(runs)
    if must:
        yield from _verdict_on_chance(must, failed)
    yield from _verdict_on_words([run for run in runs if not run.must_be_at_chance])


def _on_random(runs: Sequence[SanityRun]) -> str:
    if all(run.condition is not Condition.RANDOM_PROBES for run in runs):
        return (
            "Sanity runs: random vectors instead of sentence vectors, which cannot know the answer "
            "and should be at chance."
        )
    return (
        "Sanity runs: random vectors instead of sentence vectors, random words instead of the "
        "probe words. Neither can know the answer; both should be at chance."
    )


def _on_no_sentence(runs: Sequence[SanityRun]) -> str:
    if all(run.condition is not Condition.NO_SENTENCE for run in runs):
        return ""
    said = (
        " No sentence: the probe words only, which know nothing where each comes with every label "
        "equally often."
    )
    if all(run.result.balanced_probes for run in runs):
        return said
    return said + " Where they know something, random vectors beside them should know no more."


def unchecked(results: Results) -> list[Result]:
    """Return the results without any sanity run; a baseline, without vectors, needs none."""
    return [each for each in results.records if each.dim and not NAMES.keys() & each.scores.keys()]


def _unchecked(results: Results) -> Iterator[str]:
    """Say of which encoders there are no sanity runs."""
    without = unchecked(results)
    if not without:
        return
    whose, which = "", "these figures"
    if len(without) < sum(bool(each.dim) for each in results.records):
        names = (f"{record.encoder} on {record.task}" for record in without)
        whose, which = f" of {', '.join(names)}", "those figures"
    yield (
        f"No sanity runs were made{whose} (--no-controls): nothing here says whether to believe "
        f"{which}."
    )


def _verdict_on_chance(must: Sequence[SanityRun], failed: Sequence[SanityRun]) -> Iterator[str]:
    if not failed:
        yield (
            f"All {len(must)} sanity runs that must be at chance are inside the interval in which "
            f"{CONFIDENCE:.0%} of sound tables have all of theirs ({_nearest(must)})."
        )
        return
    yield (
        f"{len(failed)} of {len(must)} sanity runs that must be at chance "
        f"{'is' if len(failed) == 1 else 'are'} outside the interval in which {CONFIDENCE:.0%} of "
        "sound tables have all of theirs:"
    )
    yield from (f"  {run}" for run in failed)
    if any(run.verdict is SanityVerdict.ABOVE for run in failed):
        yield (
            "  Above chance: repeat the run with another --seed first. If it is above again, "
            "something besides the sentence, or besides the question, gives the answer away; do "
            "not believe that column."
        )


def _nearest(runs: Sequence[SanityRun]) -> str:
    run = max(runs, key=lambda each: each.strain)
    low, high = 100 * run.expected.low, 100 * run.expected.high
    return (
        f"nearest to the edge: {run.name}, {100 * run.score.accuracy:.1f}, "
        f"interval {low:.1f} to {high:.1f}"
    )


FINDINGS: Mapping[Condition, tuple[str, str]] = {
    Condition.BAG_OF_WORDS: (
        "a bag of random word vectors is",
        "so the words alone tell that much",
    ),
    Condition.NO_SENTENCE: (
        "the probe words without the sentence are",
        "so they tell that much by themselves",
    ),
}
"""What is said of sanity runs that may know the answer, and what it means when they do."""


def _verdict_on_words(runs: Sequence[SanityRun]) -> Iterator[str]:
    told = dict.fromkeys((r.result.task, r.condition) for r in runs if r.condition in FINDINGS)
    for task, condition in told:
        what, meaning = FINDINGS[condition]
        here = [run for run in runs if (run.result.task, run.condition) == (task, condition)]
        above = [run for run in here if run.verdict is SanityVerdict.ABOVE]
        figures = sorted({f"{100 * run.score.accuracy:.1f}" for run in above or here}, key=float)
        figure = figures[0] if len(figures) == 1 else f"{figures[0]} to {figures[-1]}"
        if above:
            yield (
                f"{task}: {what} above chance ({figure}), {meaning}; compare encoders with it, "
                "not with chance."
            )
        else:
            yield f"{task}: {what} not above chance ({figure})."
