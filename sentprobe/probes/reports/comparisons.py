"""Comparisons of encoders on each task, by paired tests."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import fmean
from typing import Any

from sentprobe.common.errors import ResultsError, UsageError, format_count, suggest
from sentprobe.common.specs import choose_member
from sentprobe.common.tables import Grid, GridCell, GridRow
from sentprobe.probes.reports import paired_tests
from sentprobe.probes.reports.control_verdicts import find_control
from sentprobe.probes.reports.paired_tests import describe_excluded_pairs, list_pairs_to_compare
from sentprobe.probes.results.control import CONTROLS, SOLVERS
from sentprobe.probes.results.draws import differ_in_draw
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.statistics import Correction, PairedComparison, correct_p_values


@dataclass(frozen=True, slots=True)
class EncoderResults:
    """The results of one encoder in one results folder, by task."""

    encoder: str
    source: str
    by_task: Mapping[str, tuple[Result, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedDifference:
    """The difference between two encoders, with p-values corrected for the number of comparisons."""

    matched: tuple[tuple[Any, Any], ...]
    paired: PairedComparison
    sign_p: float
    t_p: float

    @property
    def draws(self) -> int:
        """The number of draws in which both encoders have results."""
        return len(self.matched)

    @property
    def p(self) -> float:
        """The corrected p-value that decides significance: of the t-test with several draws, else of the sign test."""
        return self.t_p if self.draws > 1 else self.sign_p

    @property
    def is_significant(self) -> bool:
        """Whether the difference is significant at the level 0.05."""
        return self.p < paired_tests.LEVEL

    @property
    def is_better(self) -> bool:
        """Whether the first encoder is significantly better."""
        return self.is_significant and self.paired.difference > 0

    @property
    def is_worse(self) -> bool:
        """Whether the first encoder is significantly worse."""
        return self.is_significant and self.paired.difference < 0

    @property
    def accuracies(self) -> tuple[float, float]:
        """The mean accuracies of the first and the second encoder over the draws, from 0 to 1."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(TestedDifference):
    """The difference between two encoders, or between an encoder and a control, on one task."""

    first: Result
    second: Result
    matched: paired_tests.MatchedResults
    conditions: paired_tests.ConditionPair = paired_tests.PROBES
    """The condition of the first and of the second score, such as (PROBE, BAG_OF_WORDS)."""

    @property
    def second_name(self) -> str:
        """The name of the second encoder, or of the control that takes its place."""
        condition = self.conditions[1]
        return self.second.encoder if condition is Condition.PROBE else CONTROLS[condition].name

    @property
    def accuracies(self) -> tuple[float, float]:
        """The mean accuracies over the draws: first encoder in the first condition, second encoder in the second."""
        a, b = self.conditions
        first = fmean(result.scores[a].accuracy for result, _ in self.matched)
        return first, fmean(result.scores[b].accuracy for _, result in self.matched)


def group_by_encoder(
    results: Results, source: str, *, hint: str = "compare results with only one of them"
) -> list[EncoderResults]:
    """Group results by encoder, then task. Raise UsageError with *hint* if an encoder has two runs on a task."""
    encoders: dict[str, dict[str, tuple[Result, ...]]] = {}
    for record in results.records:
        by_task = encoders.setdefault(record.encoder, {})
        results_so_far = by_task.get(record.task, ())
        if not all(differ_in_draw(result, record) for result in results_so_far):
            raise UsageError(
                f"{source}: there are two results of {record.encoder} on {record.task} that differ in "
                f"classifier, data or seed; {hint}"
            )
        by_task[record.task] = (*results_so_far, record)
    return [EncoderResults(name, source, by_task) for name, by_task in encoders.items()]


def select_encoder(encoders: Sequence[EncoderResults], encoder: str | None, *, source: str) -> EncoderResults:
    """Return the results of *encoder* (None: of the only encoder). Raise UsageError if there is no such encoder."""
    if not encoders:
        raise UsageError(f"{source} has no results")
    by_name = {results.encoder: results for results in encoders}
    return by_name[choose_encoder([*by_name], encoder, source=source)]


def choose_encoder(names: Sequence[str], encoder: str | None, *, source: str) -> str:
    """Return the name that is, or is shortened to, *encoder* (None: the only name). Raise UsageError otherwise."""
    if encoder is None and len(names) > 1:
        raise UsageError(f"{source} has {len(names)} encoders; name one, as in '{source}#{names[0]}'")
    short_names = shorten_folders(names)  # which tables show
    if len(known := [name for name in names if encoder in (name, short_names[name])]) == 1:
        return known[0]
    if encoder is not None and encoder not in names:
        raise UsageError(f"{source} has no encoder {encoder!r}{suggest(encoder, names)}; it has: {', '.join(names)}")
    return names[0] if encoder is None else encoder


_FOLDER = re.compile(r"(?P<kind>[a-z]+:)(?P<path>[./~][^?]*/[^?]*)(?P<options>(\?.*)?)", re.DOTALL)


def shorten_folders(names: Iterable[str]) -> dict[str, str]:
    """Return the names, with paths shortened to the last folders by which they differ.

    >>> [*shorten_folders(["bow", "st:./runs/a/model", "st:./runs/b/model?batch=8"]).values()]
    ['bow', 'st:…/a/model', 'st:…/b/model?batch=8']
    """
    names = [*dict.fromkeys(names)]
    matches = {name: match for name in names if (match := _FOLDER.fullmatch(name))}
    paths = {match["path"].rstrip("/") for match in matches.values()}
    length = next(n for n in itertools.count(1) if len({tuple(path.split("/")[-n:]) for path in paths}) == len(paths))
    short_names = {name: name for name in names}
    for name, match in matches.items():
        short = match["kind"] + "/".join(("…", *match["path"].rstrip("/").split("/")[-length:])) + match["options"]
        # A path that is short already is not made longer by the ellipsis.
        short_names[name] = min(name, short, key=len)
    return short_names


def compare_pairs(
    pairs: Sequence[tuple[EncoderResults, EncoderResults]], *, correction: Correction = Correction.HOLM
) -> tuple[Comparison, ...]:
    """Compare pairs of encoders on common tasks. Raises ResultsError if tasks or draws are disjoint or data differ."""
    return compare_results([matched for pair in pairs for matched in _match_tasks(*pair)], correction=correction)


def compare_results(
    results: Sequence[paired_tests.MatchedResults],
    *,
    correction: Correction = Correction.HOLM,
    conditions: Sequence[paired_tests.ConditionPair] | None = None,
) -> tuple[Comparison, ...]:
    """Return a comparison for each of *results*, with p-values corrected for the number of comparisons.

    - results: for each comparison, the results of both encoders in each draw
    - conditions: for each comparison, the condition of each encoder's scores; by default (PROBE, PROBE)
    """
    condition_pairs = conditions or [paired_tests.PROBES] * len(results)
    paired = paired_tests.compare_matched_results(results, condition_pairs)
    corrected = correct_tests(paired, [len(matched) for matched in results], correction)
    return tuple(
        Comparison(first=a, second=b, matched=matched, conditions=pair, paired=test, sign_p=sign_p, t_p=t_p)
        for matched, pair, test, (sign_p, t_p) in zip(results, condition_pairs, paired, corrected, strict=True)
        for a, b in matched[:1]
    )


def correct_tests(
    tests: Sequence[PairedComparison], draws: Sequence[int], correction: Correction
) -> Iterator[tuple[float, float]]:
    """Yield a pair for each comparison: the corrected p-values of its sign test and of its t-test.

    The t-test decides a comparison with several draws; otherwise the sign test does. All deciding tests are corrected
    together. A sign test that does not decide is corrected together with all sign tests, including those that decide.
    The same holds for t-tests.
    """
    deciding = [test.t_p if count > 1 else test.sign_p for test, count in zip(tests, draws, strict=True)]
    families = [test.sign_p for test in tests], [test.t_p for test in tests], deciding
    corrected = [correct_p_values(p_values, correction) for p_values in families]
    for sign_p, t_p, p, count in zip(*corrected, draws, strict=True):
        yield (sign_p, p) if count > 1 else (p, t_p)


def compare_in_run(
    encoders: Sequence[EncoderResults], *, against: str | None, source: str, correction: Correction
) -> tuple[Comparison, ...]:
    """Compare the encoders of a run with each other, with one of them, or with the control that *against* names.

    Raises UsageError and ResultsError like :func:`list_pairs` and :func:`compare_pairs`.
    """
    control = {CONTROLS[condition].name: condition for condition in SOLVERS}.get(against or "")
    # An encoder may have the name of a control: the encoder goes first.
    if control is None or against in {results.encoder for results in encoders}:
        return compare_pairs(list_pairs(encoders, baseline=against, source=source), correction=correction)
    by_task = [draws for results in encoders for draws in results.by_task.values()]
    all_results = Results(tuple(chain.from_iterable(by_task)))
    matches = [
        tuple((result, other) for result in draws for other in find_control(result, all_results, control))
        for draws in by_task
    ]
    matches = [matched for matched in matches if matched]
    if not matches:
        raise ResultsError(f"{source} has no control with {against}: run it again without --no-controls")
    return compare_results(matches, correction=correction, conditions=[(Condition.PROBE, control)] * len(matches))


def list_pairs(
    encoders: Sequence[EncoderResults], *, baseline: str | None = None, source: str
) -> list[tuple[EncoderResults, EncoderResults]]:
    """Return the pairs of encoders to compare. Raises UsageError for fewer than two encoders or an unknown name.

    With *baseline*, every other encoder is paired with the encoder of that name. Without *baseline*, encoders of
    different models are paired. If there is only one model, its variants are paired.
    """
    if len(encoders) < 2:
        raise UsageError(f"{source} has {format_count(len(encoders), 'encoder')}; a comparison needs two")
    if baseline is None:
        by_name = {results.encoder: results for results in encoders}
        return [(by_name[a], by_name[b]) for a, b in list_pairs_to_compare([*by_name])]
    base = select_encoder(encoders, baseline, source=source)
    return [(results, base) for results in encoders if results is not base]


def _match_tasks(first: EncoderResults, second: EncoderResults) -> Iterator[paired_tests.MatchedResults]:
    names = f"{first.encoder} ({first.source}) and {second.encoder} ({second.source})"
    tasks = [task for task in first.by_task if task in second.by_task]
    if not tasks:
        raise ResultsError(f"{names} have no task in common")
    for task in tasks:
        matched = match_draws(first.by_task[task], second.by_task[task])
        if not matched:
            raise ResultsError(f"{task}: {names} have no draw in common (a draw is a --seed)")
        for a, b in matched:
            if a.dataset_fingerprint != b.dataset_fingerprint:
                fingerprints = f"{a.dataset_fingerprint[:8]} and {b.dataset_fingerprint[:8]}"
                raise ResultsError(
                    f"{task}: {names} were tested on different data (fingerprints {fingerprints}); only answers to the "
                    "same items can be compared"
                )
        yield matched


def match_draws(first: Sequence[Result], second: Sequence[Result]) -> paired_tests.MatchedResults:
    """Pair draws of two encoders by their seeds. If each encoder has only one draw, the two seeds may differ."""
    if len(first) == len(second) == 1:
        return ((first[0], second[0]),)
    return tuple((a, b) for a in first for b in second if a.seed == b.seed)


def select_main_comparisons(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return, for each task, the comparisons of every encoder with the best one and with the next better one.

    The number of all pairs grows with the square of the number of encoders; of these, with the number alone.
    """
    accuracies: dict[str, dict[str, float]] = {}
    for comparison in comparisons:
        by_encoder, sides = accuracies.setdefault(comparison.first.task, {}), _name_sides(comparison)
        if not by_encoder.keys() >= {*sides}:
            by_encoder.update(zip(sides, comparison.accuracies, strict=True))
    wanted = set()
    for task, by_encoder in accuracies.items():
        ranking = sorted(by_encoder, key=lambda name: -by_encoder[name])
        pairs = chain(((ranking[0], name) for name in ranking[1:]), pairwise(ranking))
        wanted |= {(task, frozenset(pair)) for pair in pairs}
    return [c for c in comparisons if (c.first.task, frozenset(_name_sides(c))) in wanted]


def _name_sides(comparison: Comparison) -> tuple[str, str]:
    return comparison.first.encoder, comparison.second_name


def build_comparison_grid(comparisons: Sequence[Comparison]) -> Grid:
    """Build a table with one row per comparison; significant differences are bold."""
    rows = []
    for comparison in comparisons:
        name = f"{comparison.first.encoder} - {comparison.second_name}"
        rows.append(GridRow(name, name, (GridCell(comparison.first.task), *build_figure_cells(comparison))))
    return Grid(("A - B", "task", *list_figure_columns(comparisons)), tuple(rows))


def list_figure_columns(comparisons: Sequence[TestedDifference]) -> tuple[str, ...]:
    """Return the headings of the cells that :func:`build_figure_cells` returns."""
    over_draws = {comparison.draws > 1 for comparison in comparisons}
    observations = "units or draws" if len(over_draws) > 1 else "draws" if True in over_draws else "units"
    return "A", "B", "A - B [95%]", f"A better / B better ({observations})", "p (sign)", "p (t-test)"


def build_figure_cells(comparison: TestedDifference) -> tuple[GridCell, ...]:
    """Return the table cells of a comparison: accuracies, difference and interval, wins/losses, and p-values."""
    paired = comparison.paired
    interval = f"[{format_points(paired.interval.low)}, {format_points(paired.interval.high)}]"
    return (
        *(GridCell(f"{100 * accuracy:.1f}") for accuracy in comparison.accuracies),
        GridCell(f"{format_points(paired.difference)} {interval}", best=comparison.is_significant),
        GridCell(f"{paired.wins}/{paired.losses}"),
        *(GridCell(format_p_value(value)) for value in (comparison.sign_p, comparison.t_p)),
    )


def format_points(share: float) -> str:
    """Format a difference of accuracies (-1 to 1) in points, such as "+1.2"; without a sign if it rounds to 0."""
    text = f"{100 * share:+.1f}"
    return "0.0" if float(text) == 0 else text


def format_p_value(value: float) -> str:
    """Format a p-value with three decimals, such as "0.042", or as "<0.001"."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def to_comparison_records(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Return a dictionary for each comparison: encoders, task, and the numbers of :func:`to_figure_record`."""
    return [
        {
            "first": comparison.first.encoder,
            "second": comparison.second_name,
            "task": comparison.first.task,
            **to_figure_record(comparison),
        }
        for comparison in comparisons
    ]


def to_figure_record(comparison: TestedDifference) -> dict[str, Any]:
    """Return the numbers of a comparison by name: accuracies, draws, difference, interval, wins, losses, p-values."""
    paired, (first_accuracy, second_accuracy) = comparison.paired, comparison.accuracies
    return {
        "first_accuracy": first_accuracy,
        "second_accuracy": second_accuracy,
        "draws": comparison.draws,
        "difference": paired.difference,
        "low": paired.interval.low,
        "high": paired.interval.high,
        "wins": paired.wins,
        "losses": paired.losses,
        "sign_p": paired.sign_p,
        "sign_p_corrected": comparison.sign_p,
        "t_p": paired.t_p,
        "t_p_corrected": comparison.t_p,
    }


def describe_comparisons(comparisons: Sequence[Comparison], *, correction: Correction) -> str:
    """Return the notes below a table of comparisons: the tests, and the number of significant differences."""
    has_units = any(comparison.first.units for comparison in comparisons)
    units = "units (items that belong together count as one)" if has_units else "items"
    results = {id(result): result for comparison in comparisons for result in (comparison.first, comparison.second)}
    presets = {result.preset for result in results.values()}
    warning = "The classifiers differ: differences may come from the classifiers instead of the encoders."
    notes = [warning] if len(presets) > 1 else []
    notes.append(describe_excluded_pairs(map(_name_sides, comparisons)))
    most = max((comparison.draws for comparison in comparisons), default=0)
    fewer = [c for c in comparisons if c.draws < most]
    text = ", ".join(f"{c.first.encoder} - {c.second_name} on {c.first.task} ({c.draws})" for c in fewer)
    notes.append(f"Fewer than {most} draws: {text}." if text else "")
    return describe_tests(
        comparisons,
        observations=describe_pairing(comparisons, units, draws_note=" (so they generalise to other draws)"),
        t_test="t-test over draws, with variances moderated by all of them" if most > 1 else PAIRED_T_TEST,
        correction=correction,
        note="\n".join(filter(None, notes)),
    )


PAIRED_T_TEST = "paired t-test (Adi et al. 2017)"


def describe_tests(
    comparisons: Sequence[TestedDifference],
    *,
    observations: str,
    t_test: str = PAIRED_T_TEST,
    correction: Correction,
    note: str = "",
) -> str:
    """Return lines that describe the tests, and *note*; *observations* names what the tests pair, such as "items"."""
    count = len(comparisons)
    sign_test = "McNemar's for one seed" if observations == "items" else f"over {observations.partition(' (')[0]}"
    corrected = f" Corrected for {count} comparisons: {CORRECTION_NAMES[correction]}; the intervals are not corrected."
    significant_count = sum(comparison.is_significant for comparison in comparisons)
    verb = "is" if significant_count == 1 else "are"
    over_draws = {comparison.draws > 1 for comparison in comparisons}
    test = f"p ({'sign' if False in over_draws else 't-test'}) < {paired_tests.LEVEL:g}"
    mixed = ", over draws p (t-test)" if len(over_draws) > 1 else ""
    lines = (
        f"Differences in points, with 95% intervals, paired over {observations}.",
        f"p (sign): exact sign test, {sign_test}; p (t-test): {t_test}.{corrected if count > 1 else ''}",
        note,
        f"{significant_count} of {count} differences {verb} significant ({test}{mixed}; bold, or with a *).",
    )
    return "".join(f"{line}\n" for line in lines if line)


def describe_pairing(comparisons: Sequence[TestedDifference], units: str, *, draws_note: str = "") -> str:
    """Return the things that the tests pair, such as "items, or 3 draws": *units* if there is one draw, else draws."""
    numbers = sorted({comparison.draws for comparison in comparisons} - {1})
    draws = f"{' or '.join(map(str, numbers))} draws{draws_note}"
    if all(comparison.draws > 1 for comparison in comparisons):
        return draws
    return f"{units}, or {draws}" if numbers else units


CORRECTION_NAMES: Mapping[Correction, str] = {
    Correction.HOLM: "Holm",
    Correction.BH: "Benjamini-Hochberg",
    Correction.NONE: "not at all",
}


def compare_encoders(
    results: Results, *, against: str | None = None, correction: str = "holm"
) -> tuple[Comparison, ...]:
    """Compare each pair of encoders of a run on each task, as ``probe compare`` does.

    - against: compare each encoder only with the encoder of this name, or with a control: ``fixed positions``, ``bag of
      words`` or ``no sentence``. By default, compare all encoders of different models or, if there is only one model,
      all its variants (cut, rounded or erased vectors)
    - correction: the correction of the p-values for the number of comparisons: ``holm``, ``bh`` (Benjamini-Hochberg)
      or ``none``

    Raises:
        UsageError: there are fewer than two encoders, no encoder is named *against*, or an encoder has two results on
            a task that are not draws of one run.
        ResultsError: two encoders have no task or draw in common, or were tested on different data.
    """
    return compare_in_run(
        group_by_encoder(results, "results"),
        against=against,
        source="results",
        correction=choose_member(Correction, correction, what="correction"),
    )
