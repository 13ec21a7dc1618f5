"""The checks of language models on minimal pairs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np

from sentprobe.errors import format_count
from sentprobe.probes.language_models.pair_accuracies import CHANCE, PairComparison, PairResults
from sentprobe.probes.language_models.pair_results import PairTables
from sentprobe.probes.language_models.scoring_paragraph import name_pair_tables
from sentprobe.probes.report.findings.paired_tests import LEVEL
from sentprobe.probes.report.paper.methods_paragraph import format_packages
from sentprobe.probes.review import power
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.review.data_versions import find_mixtures
from sentprobe.probes.review.significance_checks import describe_paired_items_needed, describe_test
from sentprobe.probes.statistics import Interval
from sentprobe.values import group_by

SMALLEST_EFFECT = 0.1
"""The accuracy above chance that so few pairs as :func:`find_few_pairs` finds would not show."""
MANY = 0.05
"""The share of tied pairs, or of pairs that two paradigms have, that is a warning."""


def find_unigram_ties(table: PairResults) -> Iterator[ClaimFinding]:
    """Find the paradigms on which a model is not significantly better than chance and word frequencies."""
    for model, comparisons in group_by(table.baseline_comparisons, lambda test: test.matched[0][0]).items():
        if ties := [comparison for comparison in comparisons if not comparison.is_better]:
            yield ClaimFinding(
                severity=Severity.WARNING if len(ties) < len(comparisons) else Severity.SEVERE,
                problem=f"On {len(ties)} of {format_count(len(comparisons), 'paradigm')}, the model is not "
                "significantly better than chance and word frequencies.",
                figures=tuple(_describe_baseline(table, tie) for tie in ties),
                advice="Claim no knowledge of these paradigms. Significantly worse is a result of its own: say so.",
                encoder=model,
            )


def _describe_baseline(table: PairResults, tie: PairComparison) -> str:
    rows = _find_rows(table)[tie.value]
    unigram = float(table.frequency_answers[:, rows].mean())
    text = f"{tie.value}: {100 * tie.accuracies[0]:.1f}, unigram {100 * unigram:.1f}, chance {100 * CHANCE:.1f}"
    return _append_test(text, table, tie, len(table.baseline_comparisons))


def _append_test(text: str, table: PairResults, tie: PairComparison, tests: int) -> str:
    """Append the test of a difference and, if the first is better, the number of pairs needed."""
    text = f"{text}; {describe_test(tie)}"
    if tie.paired.difference <= 0:
        return text
    rows = _find_rows(table)[tie.value]
    units = len(np.unique(table.units[rows]))
    return f"{text}; {describe_paired_items_needed(tie, units=units, items=len(rows), level=LEVEL / tests)}"


def _find_rows(table: PairResults) -> Mapping[str, np.typing.NDArray[np.int64]]:
    return {group.value: group.rows for group in table.groups if group.value}


def find_pair_ties(table: PairResults) -> Iterator[ClaimFinding]:
    """Find the paradigms on which the best model is not significantly better than another."""
    ties: list[str] = []
    for comparisons in group_by(table.comparisons, lambda test: test.value).values():
        ordered = [test if test.paired.difference >= 0 else _exchange_sides(test) for test in comparisons]
        best = max(ordered, key=lambda test: test.accuracies[0]).matched[0][0]
        ties += [
            _append_test(_name_sides(test), table, test, len(table.comparisons))
            for test in ordered
            if test.matched[0][0] == best and not test.is_significant and test.paired.difference >= power.SMALLEST_SHOWN
        ]
    if ties:
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="The most accurate model of a paradigm is not significantly better than these, corrected for "
            f"{format_count(len(table.comparisons), 'comparison')}.",
            figures=tuple(ties),
            advice="Say that these differences are not significant, which does not mean that the models are equal.",
        )


def _exchange_sides(test: PairComparison) -> PairComparison:
    """Return the comparison of the second model with the first."""
    paired, (first, second) = test.paired, test.matched[0]
    interval = Interval(-paired.interval.high, -paired.interval.low)
    exchanged = replace(
        paired, difference=-paired.difference, interval=interval, wins=paired.losses, losses=paired.wins
    )
    return replace(test, matched=((second, first),), shares=test.shares[::-1], paired=exchanged)


def _name_sides(test: PairComparison) -> str:
    sides = zip(test.matched[0], test.accuracies, strict=True)
    return f"{test.value}: {', '.join(f'{model} {100 * accuracy:.1f}' for model, accuracy in sides)}"


def find_few_pairs(table: PairResults) -> Iterator[ClaimFinding]:
    """Find the paradigms with too few pairs to tell an accuracy of 60% from chance."""
    enough = power.compute_items_needed(CHANCE + SMALLEST_EFFECT, CHANCE, level=LEVEL) or 0
    units = {value: len(np.unique(table.units[rows])) for value, rows in _find_rows(table).items()}
    if few := {value: count for value, count in units.items() if count < enough}:
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem=f"Paradigms have fewer than {enough} pairs of different words: an accuracy of "
            f"{100 * (CHANCE + SMALLEST_EFFECT):.0f} differs significantly from chance in less than "
            f"{power.TARGET_POWER:.0%} of runs.",
            figures=(", ".join(f"{value} ({count})" for value, count in few.items()),),
            advice="Take more pairs (-n), or claim nothing from an accuracy near chance.",
        )


def find_tied_scores(table: PairResults) -> Iterator[ClaimFinding]:
    """Find the models whose scores of both sentences are often equal."""
    identical = sum(pair.good == pair.bad for pair in table.pairs)
    for scores in table.scores:
        if scores.ties:
            yield ClaimFinding(
                severity=Severity.WARNING if scores.ties > MANY * len(table.pairs) else Severity.NOTE,
                problem=f"Both sentences have the same score in {scores.ties:,} of {len(table.pairs):,} pairs"
                + (f"; in {identical:,} they are the same sentence." if identical else "."),
                advice="State that ties count half, and look at these pairs (probe lm --scores).",
                encoder=scores.model,
            )


def find_unknown_words(table: PairResults) -> Iterator[ClaimFinding]:
    """Find the models that do not know words of the pairs."""
    for scores in table.scores:
        rows = scores.unknown_rows
        if len(rows):
            right = scores.answers.mean(axis=0)
            words = Counter(word for text in scores.unknown for word in text.split()).most_common(5)
            figures = [f"{len(rows):,} of {len(right):,} pairs, accuracy {100 * right[rows].mean():.1f}"]
            if len(rows) < len(right):
                figures.append(f"all other pairs: accuracy {100 * np.delete(right, rows).mean():.1f}")
            yield ClaimFinding(
                severity=Severity.WARNING,
                problem="The model does not know words of the pairs: it reads all of these as one word.",
                figures=(*figures, f"most frequent: {', '.join(f'{word} ({count})' for word, count in words)}"),
                advice="Score the pairs whose words all models know: --known-words.",
                encoder=scores.model,
            )


def find_repeated_pairs(table: PairResults) -> Iterator[ClaimFinding]:
    """Find paradigms with many common pairs, and pairs that one paradigm has twice."""
    paradigms = group_by(table.pairs, lambda pair: pair.paradigm)
    sentences = {name: {(pair.good, pair.bad) for pair in pairs} for name, pairs in paradigms.items()}
    if common := [
        f"{first} and {second}: {count:,}"
        for first, second in combinations(sentences, 2)
        if (count := len(sentences[first] & sentences[second]))
        > MANY * min(len(sentences[first]), len(sentences[second]))
    ]:
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="Paradigms have common pairs, which count twice in the accuracy of all pairs.",
            figures=tuple(common),
            advice="Leave one of the paradigms out, or its common pairs.",
        )
    repeated = {name: len(pairs) - len(sentences[name]) for name, pairs in paradigms.items()}
    if any(repeated.values()):
        yield ClaimFinding(
            severity=Severity.NOTE,
            problem="Pairs are repeated within a paradigm; intervals and tests count them as one.",
            figures=tuple(f"{name}: {count:,}" for name, count in repeated.items() if count),
            advice="Remove the repetitions, which weight an accuracy.",
        )


def find_version_mixtures(table: PairResults) -> Iterator[ClaimFinding]:
    """Find models that were run with different versions of packages."""
    by_versions: dict[str, dict[str, None]] = {}
    for scores in table.scores:
        if scores.provenance:
            by_versions.setdefault(", ".join(format_packages([scores.provenance.versions])), {})[scores.model] = None
    yield from find_mixtures(by_versions, "versions", "may compute the last digits differently")


def find_different_pairs(tables: PairTables) -> Iterator[ClaimFinding]:
    """Find tables, of other pairs or another kind of score, that do not have all models."""
    models = [{scores.model for scores in table.scores} for table in tables]
    if any(names != models[0] for names in models):
        yield ClaimFinding(
            severity=Severity.SEVERE,
            problem="Models have figures on different pairs or by different scores: differences between them are not "
            "due to the models alone.",
            figures=tuple(
                f"table {number} ({len(table.pairs):,} pairs, {table.kind}): {', '.join(sorted(names))}"
                for number, (table, names) in enumerate(zip(tables, models, strict=True), 1)
            ),
            advice="Score the same pairs with all models, in the same way.",
        )


PAIR_CHECKS: Mapping[str, Callable[[PairResults], Iterable[ClaimFinding]]] = {
    "unigram": find_unigram_ties,
    "noise": find_pair_ties,
    "few": find_few_pairs,
    "ties": find_tied_scores,
    "unknown": find_unknown_words,
    "repeated": find_repeated_pairs,
    "machines": find_version_mixtures,
}
"""The checks of each table; beside them, "data" is of all tables together."""


def review_language_models(tables: PairTables) -> Iterator[ClaimFinding]:
    """Yield the findings of all checks."""
    titles = name_pair_tables(len(tables))
    for name, find in PAIR_CHECKS.items():
        for title, table in zip(titles, tables, strict=True):
            yield from (replace(finding, check=name, table=title) for finding in find(table))
    yield from (replace(finding, check="data") for finding in find_different_pairs(tables))
