"""The checks of language models on minimal pairs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np

from sentprobe.errors import format_count
from sentprobe.probes.language_models.pair_accuracies import CHANCE, PairResults
from sentprobe.probes.language_models.pair_results import PairTables
from sentprobe.probes.language_models.scoring_paragraph import name_pair_tables
from sentprobe.probes.report.findings.paired_tests import LEVEL
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.review.power import TARGET_POWER, compute_items_needed
from sentprobe.probes.review.significance_checks import describe_test
from sentprobe.values import group_by

PAIRS_FOR_POWER = compute_items_needed(CHANCE + 0.1, CHANCE, level=LEVEL) or 0
"""The number of pairs with which an accuracy of 60% differs significantly from chance in 80% of runs."""
SHARE_FOR_WARNING = 0.05
"""The share of tied pairs, or of pairs that two paradigms have in common, above which a finding is a warning."""


def find_models_not_above_unigram(table: PairResults) -> Iterator[ClaimFinding]:
    """Find paradigms on which a model does not significantly beat the better baseline: chance or word frequencies."""
    unigram = {group.value: float(table.frequency_answers[:, group.rows].mean()) for group in table.groups}
    for model, tests in group_by(table.baseline_comparisons, lambda test: test.matched[0][0]).items():
        if ties := [test for test in tests if not test.is_better]:
            yield ClaimFinding(
                severity=Severity.WARNING if len(ties) < len(tests) else Severity.SEVERE,
                problem=f"On {len(ties)} of {format_count(len(tests), 'paradigm')}, the model is not "
                "significantly better than chance and word frequencies.",
                figures=tuple(
                    f"{test.value}: {100 * test.accuracies[0]:.1f}, unigram {100 * unigram[test.value]:.1f}, "
                    f"chance {100 * CHANCE:.1f}; {describe_test(test)}"
                    for test in ties
                ),
                advice="Claim no knowledge of these paradigms. If the model is significantly worse, report that.",
                encoder=model,
            )


def find_small_paradigms(table: PairResults) -> Iterator[ClaimFinding]:
    """Find the paradigms with too few pairs to tell an accuracy of 60% from chance."""
    units = {group.value: len(np.unique(table.units[group.rows])) for group in table.groups if group.value}
    if few := [f"{value} ({count})" for value, count in units.items() if count < PAIRS_FOR_POWER]:
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem=f"Paradigms have fewer than {PAIRS_FOR_POWER} pairs of different words: an accuracy of 60 differs "
            f"significantly from chance in less than {TARGET_POWER:.0%} of runs.",
            figures=(", ".join(few),),
            advice="Take more pairs (-n), or claim nothing from an accuracy near chance.",
        )


def find_tied_scores(table: PairResults) -> Iterator[ClaimFinding]:
    """Find the models that give both sentences of some pairs the same score."""
    for scores in table.scores:
        if scores.ties:
            yield ClaimFinding(
                severity=Severity.WARNING if scores.ties > SHARE_FOR_WARNING * len(table.pairs) else Severity.NOTE,
                problem=f"Both sentences have the same score in {scores.ties:,} of {len(table.pairs):,} pairs.",
                advice="State that ties count half, and look at these pairs (probe lm --scores).",
                encoder=scores.model,
            )


def find_unknown_words(table: PairResults) -> Iterator[ClaimFinding]:
    """Find the models whose vocabulary lacks words of the pairs."""
    for scores in table.scores:
        if len(rows := scores.unknown_rows):
            right = scores.answers.mean(axis=0)
            parts = [(f"{len(rows):,} of {len(right):,} pairs", right[rows]), ("all others", np.delete(right, rows))]
            yield ClaimFinding(
                severity=Severity.WARNING,
                problem=f"{scores.describe_unknown()}: it replaces each by its unknown token.",
                figures=tuple(f"{name}: accuracy {100 * part.mean():.1f}" for name, part in parts if len(part)),
                advice="Score the pairs whose words all models know: --known-words.",
                encoder=scores.model,
            )


def find_repeated_pairs(table: PairResults) -> Iterator[ClaimFinding]:
    """Yield a warning if more than 5% of the pairs of a paradigm are also in another paradigm."""
    paradigms = group_by(table.pairs, lambda pair: pair.paradigm)
    sentences = {name: {(pair.good, pair.bad) for pair in pairs} for name, pairs in paradigms.items()}
    common = {names: len(sentences[names[0]] & sentences[names[1]]) for names in combinations(sentences, 2)}
    if figures := [
        f"{' and '.join(names)}: {count:,}"
        for names, count in common.items()
        if count > SHARE_FOR_WARNING * min(len(sentences[name]) for name in names)
    ]:
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="Paradigms have common pairs, which count twice in the accuracy of all pairs.",
            figures=tuple(figures),
            advice="Leave one of the paradigms out, or its common pairs.",
        )


def find_different_pairs(tables: PairTables) -> Iterator[ClaimFinding]:
    """Report if not all models were scored on the same pairs and by the same kind of score."""
    models = [{scores.spec or scores.model for scores in table.scores} for table in tables]
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
            check="data",
        )


PAIR_CHECKS: Mapping[str, Callable[[PairResults], Iterable[ClaimFinding]]] = {
    "unigram": find_models_not_above_unigram,
    "few": find_small_paradigms,
    "ties": find_tied_scores,
    "unknown": find_unknown_words,
    "repeated": find_repeated_pairs,
}
"""The checks of a single table, by name. One more check, "data", compares all tables."""


def review_language_models(tables: PairTables) -> Iterator[ClaimFinding]:
    """Yield the findings of PAIR_CHECKS on each table, then the findings of the check "data"."""
    for name, find in PAIR_CHECKS.items():
        for title, table in zip(name_pair_tables(len(tables)), tables, strict=True):
            yield from (replace(finding, check=name, table=title) for finding in find(table))
    yield from find_different_pairs(tables)
