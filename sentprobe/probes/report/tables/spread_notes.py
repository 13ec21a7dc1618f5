"""Notes below a table about the uncertainty of its figures: the meaning of ± and of the intervals."""

from collections.abc import Iterator, Sequence

from sentprobe.probes.report.findings.draws import list_seeds
from sentprobe.probes.report.findings.mean_and_interval import Figure
from sentprobe.probes.report.findings.table_findings import find_table
from sentprobe.probes.report.tables.control_notes import format_range, join_names
from sentprobe.probes.results.result import Condition, EncoderOnTask, Results


def describe_mean(results: Results) -> str:
    """Return a note such as ", mean ± half the 95% interval over 5 seeds"; it is empty if no accuracy is a mean."""
    counts = " or ".join(map(str, count_probes(results)))
    seeds = list_seeds(results)
    if len(seeds) > 1:
        probes = "one probe" if counts == "1" else f"{counts} probes"
        return f", mean ± half the 95% interval over {len(seeds)} draws, with {probes} in each"
    return f", mean ± half the 95% interval over {counts} seeds" if counts != "1" else ""


def summarize_spread(results: Results) -> str:
    """Summarize the uncertainty of the figures in one or two sentences."""
    if len(list_seeds(results)) > 1:
        between, within = _list_deviations(results)
        deviations = (
            f"Standard deviation between draws {format_range(between)} points, between the probes of one draw "
            f"{format_range(within)}. "
            if within
            else ""
        )
        stored = _list_stored_tasks(results)
        share = "Some data" if len(stored) < len(results.tasks) else "The data"
        same = f" {share} is the same in every draw." if stored else ""
        return f"{deviations}± shows how far other draws may differ.{same}"
    if max(count_probes(results)) > 1:
        return "± reflects only the choice of test items; --draws 3 adds other data and weights."
    return (
        f"Each figure is from one probe on one draw of the data. 95% intervals: {_format_half_widths(results)} points; "
        "they reflect only the choice of test items. --seeds 5 trains more probes; --draws 3 also draws new data and "
        "weights."
    )


def describe_spread(results: Results) -> Iterator[str]:
    """Yield the long notes on the uncertainty of a table's numbers; :func:`summarize_spread` returns a short text."""
    if len(list_seeds(results)) > 1:
        yield from _describe_draws(results)
    elif max(count_probes(results)) > 1:
        yield (
            f"Each figure is the mean over probes that differ only in their seed ({_format_seeds(results)}), on the "
            "same data and vectors. ± is half the 95% Wilson interval; it reflects only the choice of test items "
            "(--intervals shows it). Other data, or other weights of untrained encoders, may change a figure by more: "
            "--draws 3 measures this."
        )
    else:
        yield (
            f"Each figure is from one probe on one draw of the data ({_format_seeds(results)}). "
            f"95% Wilson intervals: {_format_half_widths(results)} points; they reflect only the choice of test items "
            "(--intervals shows them). Another probe seed, other data, or other weights of untrained encoders may "
            "change a figure by more: --seeds 5 and --draws 3 measure this."
        )
    yield from describe_uneven_probes(results)
    for average in list_average_settings(results):
        yield (
            f"Each probe averages the probabilities of {average} classifiers (setting average={average}). Such figures "
            "vary less and are often slightly better than those of one classifier: compare them only with each other."
        )


def describe_uneven_probes(results: Results) -> Iterator[str]:
    """Yield a note such as "Fewer than 5 probes: ENCODER on TASK." if some results have fewer probes than others."""
    trained = [result for result in results.records if result.dim]
    counts = [len(result.scores[Condition.PROBE].seeds) for result in trained]
    fewer = [result for result, count in zip(trained, counts, strict=True) if count < max(counts)]
    if fewer:
        names = join_names(dict.fromkeys(f"{result.encoder} on {result.task}" for result in fewer))
        yield f"Fewer than {max(counts)} probes: {names}."


def describe_missing_cells(results: Results, missing: Sequence[EncoderOnTask]) -> Iterator[str]:
    """Yield a note if *results* lacks (encoder, task) pairs that other draws of the run have; *missing* lists them."""
    if missing:
        seeds = list_seeds(results)
        names = join_names(f"{encoder} on {task}" for encoder, task in missing)
        seeds_text = f"seeds {', '.join(map(str, seeds))} lack" if len(seeds) > 1 else f"seed {seeds[0]} lacks"
        yield f"Unequal draws: {seeds_text} {names}, so other draws are in another table."


def list_average_settings(results: Results) -> list[int]:
    """Return, sorted, the distinct values of the classifier setting ``average`` that are above 1."""
    return sorted({result.preset.average for result in results.records if result.dim} - {1})


def _format_half_widths(results: Results) -> str:
    intervals = [figure.interval for figure in _list_figures(results)]
    widths = [50 * (interval.high - interval.low) for interval in intervals]
    # A width of 0 is left out: a bag of words is correct on exactly half of any set of mirror pairs.
    return format_range([width for width in widths if width] or widths, sign="±")


def _describe_draws(results: Results) -> Iterator[str]:
    yield describe_resampled_parts(results)
    stored = _list_stored_tasks(results)
    where = "" if len(stored) == len(results.tasks) else f"on {' and '.join(stored)}, "
    wilson = f"; {where}at least the Wilson interval, for the choice of test items" if stored else ""
    yield (
        "± is half the 95% interval (--intervals shows them): Student's t over the draws, with variances moderated "
        f"by those of all figures{wilson}."
    )
    between, within = _list_deviations(results)
    if not within:
        yield "Each draw has one probe: --seeds 5 separates the variation of draws and of probes."
        return
    yield (
        f"By one-way random effects, the standard deviation is {format_range(between)} points between draws and "
        f"{format_range(within)} between the probes of one draw (--sources shows both for each figure)."
    )


def _list_deviations(results: Results) -> tuple[list[float], list[float]]:
    figures = _list_figures(results)
    between = [100 * f.between_draws for f in figures if f.between_draws is not None]
    within = [100 * f.between_probes for f in figures if f.between_probes is not None]
    return between, within


def describe_resampled_parts(results: Results) -> str:
    """Return text such as "New in each draw (seeds 0, 1): the probes. The same in each: the data, the vectors"."""
    tasks, encoders = results.tasks, results.encoders
    stored = _list_stored_tasks(results)
    fingerprints = {name: {r.encoder_fingerprint for r in results.records if r.encoder == name} for name in encoders}
    fixed = [name for name in encoders if len(fingerprints[name]) == 1]
    new = [
        *_name_parts("data", [task for task in tasks if task not in stored], tasks),
        *_name_parts("untrained weights", [name for name in encoders if name not in fixed], encoders),
    ]
    same = [*_name_parts("data", stored, tasks), *_name_parts("vectors", fixed, encoders)]
    seeds = ", ".join(map(str, list_seeds(results)))
    return f"New in each draw (seeds {seeds}): {', '.join([*new, 'the probes'])}." + (
        f" The same in each: {', '.join(same)}." if same else ""
    )


def has_shared_items(results: Results, task: str) -> bool:
    """Return whether all draws have the same dataset for a task."""
    return len({r.dataset_fingerprint for r in results.records if r.task == task}) == 1


def _list_stored_tasks(results: Results) -> list[str]:
    return [task for task in results.tasks if has_shared_items(results, task)]


def _name_parts(kind: str, names: Sequence[str], all_names: Sequence[str]) -> list[str]:
    if not names:
        return []
    return [f"the {kind}" + ("" if len(names) == len(all_names) else f" of {' and '.join(names)}")]


def _list_figures(results: Results) -> list[Figure]:
    return [test.figure for test in find_table(results).cells.values()]


def count_probes(results: Results) -> list[int]:
    """Return the distinct counts of probes per result, sorted. [3, 5]: some results have 3 probes, the others 5."""
    return sorted({len(result.scores[Condition.PROBE].seeds) for result in results.records})


def _format_seeds(results: Results) -> str:
    """Return the seeds of the probes as "seeds 3 to 5", or as "seeds 3 to 5, run 0" if the run's seed is 0, not 3."""
    scores = [result.scores[Condition.PROBE] for result in results.records]
    seeds = sorted({probe.seed for score in scores for probe in score.seeds})
    text = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    (run_seed,) = list_seeds(results)
    return text if run_seed == seeds[0] else f"{text}, run {run_seed}"
