"""Notes on the controls of a results table: what each control means, and whether its accuracy is at chance.

Notes below a table about the uncertainty of its figures: the meaning of ± and of the intervals.
"""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sentprobe.common.values import group_by
from sentprobe.probes.reports import control_verdicts as cv
from sentprobe.probes.reports.figures import Figure
from sentprobe.probes.reports.table_findings import find_table
from sentprobe.probes.results.control import CONTROLS
from sentprobe.probes.results.draws import list_seeds
from sentprobe.probes.results.result import Condition, EncoderOnTask, Result, Results


@dataclass(frozen=True)
class TableFacts:
    """The facts about a table that its notes state, in full or as a summary. A fact is computed when first needed."""

    results: Results

    @cached_property
    def seeds(self) -> list[int]:
        """The seeds of the draws, sorted."""
        return list_seeds(self.results)

    @cached_property
    def probe_counts(self) -> list[int]:
        return count_probes(self.results)

    @cached_property
    def stored_tasks(self) -> list[str]:
        """The tasks that have the same dataset in all draws."""
        by_task = group_by(self.results.records, lambda result: result.task)
        return [task for task, draws in by_task.items() if len({r.dataset_fingerprint for r in draws}) == 1]

    @cached_property
    def figures(self) -> list[Figure]:
        return [test.figure for test in find_table(self.results).cells.values()]

    @cached_property
    def deviations(self) -> tuple[list[float], list[float]]:
        """Standard deviations between draws, and between the probes of one draw, in points; empty if unknown."""
        between = [100 * f.between_draws for f in self.figures if f.between_draws is not None]
        within = [100 * f.between_probes for f in self.figures if f.between_probes is not None]
        return between, within

    @cached_property
    def controls(self) -> tuple[cv.ControlRun, ...]:
        return cv.find_controls(self.results)

    @cached_property
    def required_controls(self) -> list[cv.ControlRun]:
        """The controls that must be at chance."""
        return [run for run in self.controls if run.must_be_at_chance]

    @cached_property
    def failed_controls(self) -> list[cv.ControlRun]:
        """The controls that must be at chance but are not."""
        return [run for run in self.required_controls if run.verdict is not cv.ControlVerdict.AT_CHANCE]

    @cached_property
    def free_controls(self) -> list[tuple[str, Condition, bool, str]]:
        """Each control that need not be at chance, as (task, condition, whether it is above chance, accuracies)."""
        by_task = group_by(find_table(self.results).free_controls, lambda test: (test.draws[0].task, test.condition))
        controls = []
        for (task, condition), tests in by_task.items():
            above = [test for test in tests if test.is_above]
            accuracies = format_range(100 * test.figure.accuracy for test in above or tests)
            controls.append((task, condition, bool(above), accuracies))
        return controls

    @cached_property
    def unchecked(self) -> list[Result]:
        """The results without any control; those of baselines are left out."""
        return cv.find_unchecked(self.results)


def count_controls(facts: TableFacts) -> Iterator[str]:
    """Yield a note such as "controls: 3 of 4 that must be at chance are at chance", if there are such controls."""
    if facts.required_controls:
        names = "; ".join(run.name for run in facts.failed_controls)
        yield f"controls: {_format_count(facts)}{names and f', not {names}'}"


def _format_count(facts: TableFacts) -> str:
    count = len(facts.required_controls)
    good = count - len(facts.failed_controls)
    return f"{good} of {count} that must be at chance {'is' if good == 1 else 'are'} at chance"


def list_warnings(facts: TableFacts) -> Iterator[str]:
    """Yield warnings that accuracies are unreliable: controls were not run, or are not at chance but must be."""
    yield from _describe_missing_controls(facts)
    if facts.failed_controls:
        yield from _describe_required_controls(facts)


def describe_controls(facts: TableFacts) -> Iterator[str]:
    """Yield the complete notes on the controls: the meaning of each, and whether its accuracy is at chance."""
    yield from _describe_missing_controls(facts)
    if not facts.controls:
        yield from _describe_places(facts.results)
        return
    present = {run.condition for run in facts.controls}
    meanings = [control.meaning for condition, control in CONTROLS.items() if condition in present]
    if Condition.NO_SENTENCE in present and not all(run.result.balanced_probes for run in facts.controls):
        meanings.append("If they reveal something, random sentence vectors should add nothing to it.")
    yield f"Controls. {' '.join(meanings)}"
    if facts.required_controls:
        yield from _describe_required_controls(facts)
    yield from _describe_places(facts.results)
    for task, condition, is_above, figures in facts.free_controls:
        control = CONTROLS[condition]
        if is_above:
            yield f"{task}: {control.above} reach {figures}, above chance; compare encoders with that, not with chance."
        else:
            yield f"{task}: {control.not_above} not above chance ({figures})."


def _describe_places(results: Results) -> Iterator[str]:
    """Yield a note on the places of the control with fixed positions on each task, and on its exact bounds."""
    places: dict[str, dict[str, None]] = {}
    bounds: dict[str, list[float]] = {}
    for record in results.records:
        if record.data and record.data.places:
            places.setdefault(record.task, {})[record.data.places] = None
        if record.data and record.data.place_bound is not None:
            bounds.setdefault(record.task, []).append(record.data.place_bound)
    if places:
        texts = (f"{' or '.join(names)} on {task}" for task, names in places.items())
        yield f"Fixed positions, chosen on training items: {'; '.join(texts)}."
    if limits := {task: format_range(100 * bound for bound in values) for task, values in bounds.items()}:
        yield (
            "No encoder that sees only the first, second and last word, or the single place that tells most, exceeds "
            f"{', '.join(f'{limit} on {task}' for task, limit in limits.items())} (mirror pairs: an exact bound)."
        )


def _describe_missing_controls(facts: TableFacts) -> Iterator[str]:
    if not facts.unchecked:
        return
    cells, figures = "", "these figures"
    if len(facts.unchecked) < sum(bool(result.dim) for result in facts.results.records):
        names = (f"{result.encoder} on {result.task}" for result in facts.unchecked)
        cells, figures = f" for {', '.join(names)}", "those figures"
    yield f"No controls were run{cells} (--no-controls), so nothing tests {figures}."


def _describe_required_controls(facts: TableFacts) -> Iterator[str]:
    required, failed = facts.required_controls, facts.failed_controls
    if not failed:
        nearest = max(required, key=lambda run: run.strain)
        yield (
            f"All {len(required)} controls that must be at chance are inside their intervals around chance. The "
            f"intervals are made so that, without a leak, {cv.CONFIDENCE:.0%} of tables have all controls inside. The "
            f"control closest to an end of its interval: {nearest.name}, {100 * nearest.score.accuracy:.1f} (interval "
            f"around chance: {nearest.expected.format_percent()})."
        )
        return
    yield (
        f"{len(failed)} of {len(required)} controls that must be at chance {'is' if len(failed) == 1 else 'are'} "
        f"outside the interval. {_describe_rarity(facts)}:"
    )
    yield from (f"  {run}" for run in failed)
    if above := [run for run in failed if run.verdict is cv.ControlVerdict.ABOVE]:
        yield (
            f"  Above chance: {_describe_repetition(above)} decides. If the control is above chance again, something "
            "other than the sentence or the question reveals the answer: do not believe that column."
        )


def _describe_rarity(facts: TableFacts) -> str:
    """Return a sentence, without its full stop, on how often chance alone takes a control as far as the worst one."""
    share = min(cv.estimate_rarity(run, count=len(facts.required_controls)) for run in facts.failed_controls)
    frequency = f"about 1 in {float(f'{1 / share:.2g}'):,.0f}" if share > 1e-6 else "fewer than 1 in a million"
    return f"Without a leak, {frequency} tables has a control so far off"


def _describe_repetition(runs: Sequence[cv.ControlRun]) -> str:
    """Return the command that repeats a run with other data, or a phrase if it was no command."""
    first, seed = runs[0].result, max(run.result.seed for run in runs) + 100  # a seed of no other draw or probe
    try:
        program, command, *words = shlex.split(first.command)
    except ValueError:  # of a file that somebody else may have written
        program = command = ""
    if program not in ("probe", "sentprobe") or command != "run":
        return f"a repetition with another seed, such as {seed},"
    kept: list[str] = []
    while words:
        word = words.pop(0)
        if word.partition("=")[0] not in ("--seed", "--out", "-o"):
            kept.append(word)
        elif "=" not in word:
            del words[:1]
    return f"{shlex.join([program, command, *kept])} --seed {seed} --out AGAIN"


def summarize_controls(facts: TableFacts) -> Iterator[str]:
    """Yield a few sentences that summarize the controls; nothing if all encoders are baselines."""
    if not facts.controls:
        if facts.unchecked:
            yield "Controls: none (--no-controls), so nothing tests these figures."
        return
    text = f"Controls: {_format_count(facts)}"
    if failed := facts.failed_controls:
        above = [run for run in failed if run.verdict is cv.ControlVerdict.ABOVE]
        worst = max(failed, key=lambda run: abs(run.strain))
        more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        text += f"; {worst.name} is {worst.verdict} ({100 * worst.score.accuracy:.1f}){more}. {_describe_rarity(facts)}"
        if above:
            columns = join_names(dict.fromkeys(run.result.task for run in above))
            text += f". Do not believe {columns} before {_describe_repetition(above)} has it at chance"
    if facts.required_controls:
        yield f"{text}."
    if facts.unchecked:
        names = join_names(f"{result.encoder} on {result.task}" for result in facts.unchecked)
        yield f"No controls were run for {names}."
    figures: dict[Condition, list[str]] = {}
    for task, condition, is_above, accuracies in facts.free_controls:
        if is_above:
            figures.setdefault(condition, []).append(f"{accuracies} on {task}")
    solvers = []
    for condition, accuracies_on_tasks in figures.items():
        words = CONTROLS[condition].above
        solvers.append(f"{words[0].upper()}{words[1:]} reach {join_names(accuracies_on_tasks)}")
    if solvers:
        yield f"{'. '.join(solvers)}: compare encoders with these figures, not with chance."


def join_names(names: Iterable[str]) -> str:
    """Return the first two names and the number of further names, such as "a, b and 1 more"."""
    all_names = [*names]
    more = f" and {len(all_names) - 2} more" if len(all_names) > 2 else ""
    return ", ".join(all_names[:2]) + more


def format_range(values: Iterable[float], decimals: int = 1, *, sign: str = "") -> str:
    """Return the lowest and highest value, such as "1.2 to 3.4", or "1.2" if they are equal as text."""
    ordered = sorted(values)
    return " to ".join(dict.fromkeys(f"{sign}{value:.{decimals}f}" for value in (ordered[0], ordered[-1])))


def describe_mean(facts: TableFacts) -> str:
    """Return a note such as ", mean ± half the 95% interval over 5 seeds"; it is empty if no accuracy is a mean."""
    counts = " or ".join(map(str, facts.probe_counts))
    if len(facts.seeds) > 1:
        probes = "one probe" if counts == "1" else f"{counts} probes"
        return f", mean ± half the 95% interval over {len(facts.seeds)} draws, with {probes} in each"
    return f", mean ± half the 95% interval over {counts} seeds" if counts != "1" else ""


def summarize_spread(facts: TableFacts) -> str:
    """Summarize the uncertainty of the figures in one or two sentences."""
    if len(facts.seeds) > 1:
        between, within = facts.deviations
        deviations = (
            f"Standard deviation between draws {format_range(between)} points, between the probes of one draw "
            f"{format_range(within)}. "
            if within
            else ""
        )
        share = "Some data" if len(facts.stored_tasks) < len(facts.results.tasks) else "The data"
        same = f" {share} is the same in every draw." if facts.stored_tasks else ""
        return f"{deviations}± shows how far other draws may differ.{same}"
    if max(facts.probe_counts) > 1:
        return "± reflects only the choice of test items; --draws 3 adds other data and weights."
    return (
        f"Each figure is from one probe on one draw of the data. 95% intervals: {_format_half_widths(facts)} points; "
        "they reflect only the choice of test items. --seeds 5 trains more probes; --draws 3 also draws new data and "
        "weights."
    )


def describe_spread(facts: TableFacts) -> Iterator[str]:
    """Yield the long notes on the uncertainty of a table's numbers; :func:`summarize_spread` returns a short text."""
    if len(facts.seeds) > 1:
        yield from _describe_draws(facts)
    elif max(facts.probe_counts) > 1:
        yield (
            f"Each figure is the mean over probes that differ only in their seed ({_format_seeds(facts)}), on the "
            "same data and vectors. ± is half the 95% Wilson interval; it reflects only the choice of test items "
            "(--intervals shows it). Other data, or other weights of untrained encoders, may change a figure by more: "
            "--draws 3 measures this."
        )
    else:
        yield (
            f"Each figure is from one probe on one draw of the data ({_format_seeds(facts)}). "
            f"95% Wilson intervals: {_format_half_widths(facts)} points; they reflect only the choice of test items "
            "(--intervals shows them). Another probe seed, other data, or other weights of untrained encoders may "
            "change a figure by more: --seeds 5 and --draws 3 measure this."
        )
    yield from describe_uneven_probes(facts.results)
    for average in list_average_settings(facts.results):
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


def _format_half_widths(facts: TableFacts) -> str:
    widths = [50 * (figure.interval.high - figure.interval.low) for figure in facts.figures]
    # A width of 0 is left out: a bag of words is correct on exactly half of any set of mirror pairs.
    return format_range([width for width in widths if width] or widths, sign="±")


def _describe_draws(facts: TableFacts) -> Iterator[str]:
    yield describe_resampled_parts(facts)
    stored = facts.stored_tasks
    where = "" if len(stored) == len(facts.results.tasks) else f"on {' and '.join(stored)}, "
    wilson = f"; {where}at least the Wilson interval, for the choice of test items" if stored else ""
    yield (
        "± is half the 95% interval (--intervals shows them): Student's t over the draws, with variances moderated "
        f"by those of all figures{wilson}."
    )
    between, within = facts.deviations
    if not within:
        yield "Each draw has one probe: --seeds 5 separates the variation of draws and of probes."
        return
    yield (
        f"By one-way random effects, the standard deviation is {format_range(between)} points between draws and "
        f"{format_range(within)} between the probes of one draw (--sources shows both for each figure)."
    )


def describe_resampled_parts(facts: TableFacts) -> str:
    """Return text such as "New in each draw (seeds 0, 1): the probes. The same in each: the data, the vectors"."""
    results, stored = facts.results, facts.stored_tasks
    tasks, encoders = results.tasks, results.encoders
    fingerprints = {name: {r.encoder_fingerprint for r in results.records if r.encoder == name} for name in encoders}
    fixed = [name for name in encoders if len(fingerprints[name]) == 1]
    new = [
        *_name_parts("data", [task for task in tasks if task not in stored], tasks),
        *_name_parts("untrained weights", [name for name in encoders if name not in fixed], encoders),
    ]
    same = [*_name_parts("data", stored, tasks), *_name_parts("vectors", fixed, encoders)]
    seeds = ", ".join(map(str, facts.seeds))
    return f"New in each draw (seeds {seeds}): {', '.join([*new, 'the probes'])}." + (
        f" The same in each: {', '.join(same)}." if same else ""
    )


def _name_parts(kind: str, names: Sequence[str], all_names: Sequence[str]) -> list[str]:
    if not names:
        return []
    return [f"the {kind}" + ("" if len(names) == len(all_names) else f" of {' and '.join(names)}")]


def count_probes(results: Results) -> list[int]:
    """Return the distinct counts of probes per result, sorted. [3, 5]: some results have 3 probes, the others 5."""
    return sorted({len(result.scores[Condition.PROBE].seeds) for result in results.records})


def _format_seeds(facts: TableFacts) -> str:
    """Return the seeds of the probes as "seeds 3 to 5", or as "seeds 3 to 5, run 0" if the run's seed is 0, not 3."""
    scores = [result.scores[Condition.PROBE] for result in facts.results.records]
    seeds = sorted({probe.seed for score in scores for probe in score.seeds})
    text = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    (run_seed,) = facts.seeds
    return text if run_seed == seeds[0] else f"{text}, run {run_seed}"
