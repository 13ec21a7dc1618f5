"""The checks of language models: each by a table that it finds a problem in, and by one that has none."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from sentprobe.common.tables import TableFormat
from sentprobe.probes.language_models.pair_accuracies import PairResults, PairScores
from sentprobe.probes.language_models.scorers import ScoreKind
from sentprobe.probes.language_models.sentence_pairs import SentencePair
from sentprobe.probes.results.result import Results
from sentprobe.probes.review.checks import render_review, review_results
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.review.significance_checks import review_language_models

COUNT = 300


def make_table(*accuracies: float, count: int = COUNT, paradigms: str = "p") -> PairResults:
    """Models x, y, ... with these accuracies, on pairs with the same words in both sentences."""
    pairs = [SentencePair(f"a{i} b", f"b a{i}", name, "order", str(i)) for name in paradigms for i in range(count)]
    pairs = [replace(pair, good=f"{pair.paradigm} {pair.good}", bad=f"{pair.paradigm} {pair.bad}") for pair in pairs]
    right = [[i % count < round(accuracy * count) for i in range(len(pairs))] for accuracy in accuracies]
    scores = [
        PairScores(name, tuple(map(float, answers)), (0.5,) * len(pairs))
        for name, answers in zip("xyz", right, strict=False)
    ]
    return PairResults(pairs, ScoreKind.SENTENCE, scores)


def list_findings(*tables: PairResults) -> list[ClaimFinding]:
    return [*review_language_models(tables)]


def find(check: str, *tables: PairResults) -> ClaimFinding:
    (finding,) = (finding for finding in list_findings(*tables) if finding.check == check)
    return finding


def change_scores(table: PairResults, **changes: Any) -> PairResults:
    """The table with changes in the scores of its last model."""
    *others, last = table.scores
    return replace(table, scores=[*others, replace(last, **changes)])


def test_table_without_a_fault() -> None:
    assert list_findings(make_table(0.95, 0.7)) == []
    assert list_findings(make_table(0.95), make_table(0.7, paradigms="q")) == []
    assert list_findings() == []


def test_models_are_compared_with_word_frequencies() -> None:
    finding = find("unigram", make_table(0.55))
    assert (finding.severity, finding.encoder) == (Severity.SEVERE, "x")
    assert finding.figures[0].startswith("p: 55.0, unigram 50.0, chance 50.0; difference +5.0 [")
    assert finding.figures[0].endswith("p = 0.094 (sign test)")
    table = make_table(0.95, paradigms="pq")
    pairs = [replace(pair, bad="b" if pair.paradigm == "p" else "z z z") for pair in table.pairs]
    finding = find("unigram", replace(table, pairs=pairs))
    assert finding.severity is Severity.WARNING
    (figure,) = finding.figures
    assert figure == "q: 95.0, unigram 100.0, chance 50.0; difference -5.0 [-7.5, -2.5], p < 0.001 (sign test)"


def test_verdict_ignores_other_models_and_paradigms() -> None:
    alone = make_table(0.59, count=200)
    assert list_findings(alone) == []
    assert [finding.encoder for finding in list_findings(make_table(0.59, 0.5, 0.5, count=200))] == ["y", "z"]
    both = make_table(0.59, count=200, paradigms="pq")
    rows = slice(0, 200)
    assert (both.frequency_answers[:, rows] == alone.frequency_answers).all()


def test_model_in_several_folders_is_one() -> None:
    first, second = make_table(0.95), make_table(0.95, paradigms="q")
    first = replace(first, scores=[replace(first.scores[0], model=f"{name}#x", spec="x") for name in ("r2", "r3")])
    second = change_scores(second, spec="x")
    assert not [finding for finding in list_findings(first, second) if finding.check == "data"]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=5))
def test_paradigms_at_chance_are_found(right: Sequence[int]) -> None:
    names = "abcde"[: len(right)]
    table = make_table(1.0, count=40, paradigms=names)
    good = [1.0 if i < count else 0.0 for count in right for i in range(40)]
    table = change_scores(table, good=tuple(good))
    p_values = sorted((binomtest(count, 40).pvalue, name) for count, name in zip(right, names, strict=True))
    corrected: dict[str, float] = {}
    for place, (p, name) in enumerate(p_values):
        corrected[name] = max([*corrected.values(), min(1.0, p * (len(right) - place))])
    expected = {name for count, name in zip(right, names, strict=True) if count <= 20 or corrected[name] >= 0.05}
    figures = [line for finding in list_findings(table) if finding.check == "unigram" for line in finding.figures]
    assert {line.partition(":")[0] for line in figures} == expected


def test_few_pairs() -> None:
    assert find("few", make_table(1.0, count=193)).figures == ("p (193)",)
    assert list_findings(make_table(1.0, count=194)) == []


def test_ties() -> None:
    table = make_table(0.95)
    few = change_scores(table, good=(0.5, *table.scores[0].good[1:]))
    assert find("ties", few).severity is Severity.NOTE
    assert find("ties", few).problem == "Both sentences have the same score in 1 of 300 pairs."
    many = change_scores(table, good=(0.5,) * 16 + table.scores[0].good[16:])
    assert find("ties", many).severity is Severity.WARNING
    assert find("ties", many).problem.endswith("in 16 of 300 pairs.")


def test_unknown_words() -> None:
    unknown = ("",) * 200 + ("b a1",) + ("b",) * 99
    finding = find("unknown", change_scores(make_table(0.95), unknown=unknown))
    assert finding.figures == ("100 of 300 pairs: accuracy 85.0", "all others: accuracy 100.0")
    assert finding.problem.startswith("x does not know words of 100 pairs, such as 'a1': it replaces")
    assert len(find("unknown", change_scores(make_table(0.95), unknown=("b",) * COUNT)).figures) == 1


def test_pairs_of_two_paradigms() -> None:
    table = make_table(0.95, paradigms="pq")
    pairs = [*table.pairs[:COUNT]]
    finding = find("repeated", replace(table, pairs=[*pairs, *(replace(pair, paradigm="q") for pair in pairs)]))
    assert (finding.severity, finding.figures) == (Severity.WARNING, ("p and q: 300",))
    few = [replace(pair, paradigm="q") if i < 15 else table.pairs[COUNT + i] for i, pair in enumerate(pairs)]
    assert list_findings(replace(table, pairs=[*pairs, *few])) == []


def test_models_on_different_pairs() -> None:
    finding = find("data", make_table(0.95), make_table(0.95, 0.7, paradigms="q"))
    assert (finding.severity, finding.table) == (Severity.SEVERE, "")
    assert finding.figures == ("table 1 (300 pairs, sentence): x", "table 2 (300 pairs, sentence): x, y")


@pytest.mark.parametrize("style", [TableFormat.TEXT, TableFormat.MARKDOWN, TableFormat.JSON])
def test_findings_are_rendered_severe_ones_first(style: TableFormat) -> None:
    table = change_scores(make_table(0.9, 0.5, count=20), unknown=("b",) * 20)
    review = review_results(Results(()), (table,))
    assert [finding.severity for finding in review.findings] == [Severity.SEVERE, Severity.WARNING, Severity.WARNING]
    assert "does not know words" in render_review(review, style)
