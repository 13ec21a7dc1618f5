"""The lines under a table that say what ± is, and what it does not tell."""

from collections.abc import Iterator, Sequence

from sentprobe.probes.report.draws import cells, in_draws, seeds_of
from sentprobe.probes.report.figures import Figure, figure_of
from sentprobe.probes.runs.results import Condition, Results


def over(results: Results) -> str:
    """Say what a figure is the mean of, where it is one; it ends the sentence of what it is on."""
    each = " or ".join(map(str, probe_counts(results)))
    seeds = seeds_of(results)
    if len(seeds) > 1:
        probes = "one probe each" if each == "1" else f"{each} probes each"
        return f", mean ± standard deviation over {len(seeds)} draws of {probes}"
    return f", mean ± standard deviation over {each} seeds" if each != "1" else ""


def spread_lines(results: Results) -> Iterator[str]:
    """Say what ± is: nothing, the spread of probes, or that of draws taken apart."""
    if len(seeds_of(results)) > 1:
        yield from _of_draws(results)
    elif max(probe_counts(results)) > 1:
        yield _of_probes(results)
    else:
        yield _of_one(results)
    for average in sorted({each.preset.average for each in results.records if each.dim} - {1}):
        yield (
            f"Each probe is {average} probes whose probabilities are averaged (average={average}): "
            "steadier than one, and often a little better; compare it with such averages only."
        )


def _of_one(results: Results) -> str:
    return (
        f"Each figure is of one draw and one probe ({_seeds(results)}). {_items(results)} What "
        "other probes, other data or other untrained weights would give is not known: --seeds 5 "
        "and --draws 3 tell."
    )


def _of_probes(results: Results) -> str:
    return (
        f"± is over probes that differ in their seed alone ({_seeds(results)}), on the same data "
        "and the same vectors. Other data or other untrained weights may change a figure by more: "
        f"--draws 3 tells. {_items(results)}"
    )


def _items(results: Results) -> str:
    """Say how far the choice of test items lets the figures be off."""
    intervals = [each.interval for each in _figures(results)]
    halves = [50 * (each.high - each.low) for each in intervals]
    return (
        f"The 95% interval (Wilson's), for the choice of test items alone, is {_range(halves)} "
        "points to either side (--intervals shows each)."
    )


def _of_draws(results: Results) -> Iterator[str]:
    yield what_is_new(results)
    yield _which_intervals(results)
    figures = _figures(results)
    between = _range(
        [100 * each.between_draws for each in figures if each.between_draws is not None]
    )
    probes = [100 * each.between_probes for each in figures if each.between_probes is not None]
    if not probes:
        yield (
            "± is the standard deviation over the draws. Each has one probe, so that it holds what "
            "probes differ by as well: --seeds 5 takes the two apart."
        )
        return
    yield (
        "± is the standard deviation over all probes of all draws. Taken apart (one-way random "
        f"effects), the standard deviation between draws is {between} points, between the probes "
        f"of one draw {_range(probes)} (--sources shows both for each figure)."
    )


def what_is_new(results: Results) -> str:
    """Say what was drawn anew in each draw, and what was the same."""
    tasks, encoders = results.tasks, results.encoders
    stored = [task for task in tasks if _one_data(results, task)]
    fixed = [name for name in encoders if _one_encoder(results, name)]
    new = [
        *_named("data", [task for task in tasks if task not in stored], tasks),
        *_named("weights", [name for name in encoders if name not in fixed], encoders),
    ]
    same = [*_named("data", stored, tasks), *_named("vectors", fixed, encoders)]
    seeds = ", ".join(map(str, seeds_of(results)))
    return f"New in each draw (seeds {seeds}): {', '.join([*new, 'the probes'])}." + (
        f" The same in each: {', '.join(same)}." if same else ""
    )


def of_items(results: Results, task: str) -> bool:
    """Say whether intervals on a task are Wilson's, of its items, and not of draws of these."""
    return _one_data(results, task)


def _which_intervals(results: Results) -> str:
    """Say what the intervals speak of: other draws or, where all have the same data, its items."""
    stored = [task for task in results.tasks if of_items(results, task)]
    items = "Wilson's, for the choice of test items alone"
    kinds = items if stored else "Student's t over the draws' means, for other draws"
    if 0 < len(stored) < len(results.tasks):
        kinds = f"Student's t over the draws' means; on {' and '.join(stored)}, {items}"
    return f"The 95% intervals (--intervals shows each) are {kinds}."


def _one_data(results: Results, task: str) -> bool:
    return len({r.dataset_fingerprint for r in results.records if r.task == task}) == 1


def _one_encoder(results: Results, name: str) -> bool:
    return len({r.encoder_fingerprint for r in results.records if r.encoder == name}) == 1


def _named(what: str, some: Sequence[str], of: Sequence[str]) -> list[str]:
    if not some:
        return []
    return [f"the {what}" if len(some) == len(of) else f"the {what} of {' and '.join(some)}"]


def _figures(results: Results) -> list[Figure]:
    found = (figure_of(draws, Condition.PROBE) for draws in cells(results))
    return [each for each in found if each is not None]


def probe_counts(results: Results) -> list[int]:
    """Return how many probes the figures have in one draw."""
    return sorted({len(r.scores[Condition.PROBE].seeds) for r in results.records})


def _seeds(results: Results) -> str:
    """Name the seeds of the probes and, where it is not the first of them, the run's."""
    (draw,) = in_draws(results)
    seeds = sorted({e.seed for r in draw.records for e in r.scores[Condition.PROBE].seeds})
    text = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    (run,) = seeds_of(results)
    return text if run == seeds[0] else f"{text}, run {run}"


def _range(values: Sequence[float]) -> str:
    """Write the least and the greatest of values with a digit after the point, or the only one."""
    texts = [f"{value:.1f}" for value in (min(values), max(values))]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)
