"""The lines that stand below a table: what was measured, on what, and what the sanity runs say."""

from collections import Counter
from collections.abc import Iterator, Sequence

from sentprobe.probes.results import ONE_HOT, OWN_WORDS, Condition, Results, Score
from sentprobe.probes.sanity import is_balanced, verdicts
from sentprobe.probes.trainer.preset import Preset


def explain(results: Results) -> str:
    """Say in plain sentences how to read the table, and whether the sanity runs are at chance."""
    lines = (*classifiers(results), *describe(results), *verdicts(results))
    return "".join(f"{line}\n" for line in lines)


def trained(results: Results) -> list[Preset]:
    """Return the classifier of each result but those of baselines, which train none of these."""
    return [record.preset for record in results.records if record.dim]


def classifiers(results: Results) -> Iterator[str]:
    """Name the classifiers, each with all its values."""
    yield from (f"classifier: {each}" for each in dict.fromkeys(trained(results)))


def describe(results: Results) -> Iterator[str]:
    """Say in plain sentences what the figures are of."""
    scores = [record.scores[Condition.PROBE] for record in results.records]
    seeds = sorted({len(score.seeds) for score in scores})
    over = f", mean ± standard deviation over {_either(seeds)} seeds" if max(seeds) > 1 else ""
    yield (
        f"Accuracy in % on {_sizes(results)}{over}. Chance (always the commonest label) "
        f"is {_chance(results)}."
    )
    yield from _skewed(results)
    yield from _word_vectors(results)
    yield from _precision(scores)
    if any(record.units for record in results.records):
        yield (
            "Items that belong together (mirror pairs, questions about one sentence) are not "
            "independent: intervals are widened for it."
        )
    yield from _unfinished(scores)


def _skewed(results: Results) -> Iterator[str]:
    tasks = dict.fromkeys(r.task for r in results.records if not is_balanced(r))
    if tasks:
        yield (
            f"The labels of {', '.join(tasks)} are not equally common: chance is the share of the "
            "commonest, and a probe that knows nothing may be below it."
        )


def _word_vectors(results: Results) -> Iterator[str]:
    """Say what stands for probe words where they are not one-hot."""
    for name in dict.fromkeys(record.probe_vectors for record in results.records if record.dim):
        if name not in ("", ONE_HOT):
            whose = "the encoder's own of each word" if name == OWN_WORDS else f"those of {name}"
            yield f"Probe words are word vectors: {whose}."


def _precision(scores: Sequence[Score]) -> Iterator[str]:
    """Name the floating point numbers of training; a baseline has none."""
    counts = Counter(each.precision for score in scores for each in score.seeds if each.precision)
    if not counts:
        return
    each = [
        name + (f" ({count} probes)" if len(counts) > 1 else "")
        for name, count in sorted(counts.items())
    ]
    what = " (the first layer's products; all else is float32)" if "bfloat16" in counts else ""
    yield f"Trained in {' and '.join(each)}{what}."


def _unfinished(scores: Sequence[Score]) -> Iterator[str]:
    converged = [each.converged for score in scores for each in score.seeds]
    count = converged.count(False)
    if count:
        yield (
            f"{count} of {len(converged)} probes {'was' if count == 1 else 'were'} stopped by "
            f"max_epochs before {'it' if count == 1 else 'they'} converged; more passes may raise "
            f"{'its' if count == 1 else 'their'} accuracy."
        )


def _sizes(results: Results) -> str:
    sizes = {record.task: record.scores[Condition.PROBE].total for record in results.records}
    first, *others = sizes.items()
    if len(set(sizes.values())) == 1:
        return f"{first[1]} test items"
    return f"{first[1]} test items of {first[0]}" + "".join(f", {n} of {t}" for t, n in others)


def _chance(results: Results) -> str:
    shares = {record.task: f"{100 * record.majority:.1f}" for record in results.records}
    if len(set(shares.values())) > 1:
        return ", ".join(f"{share} on {task}" for task, share in shares.items())
    return next(iter(shares.values())) + (" on every task" if len(shares) > 1 else "")


def _either(numbers: Sequence[int]) -> str:
    return " or ".join(map(str, numbers))
