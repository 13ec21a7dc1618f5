"""Matrices of training by test language, and the paired tests of the loss."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.strategies.probe_strategies import make_sample_result, make_seed_score
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from sentprobe.common.tables import TableFormat
from sentprobe.probes.reports.pages.html import build_report_page
from sentprobe.probes.reports.pages.methods_paragraph import write_methods_text
from sentprobe.probes.reports.paired_tests import DrawComparison
from sentprobe.probes.reports.tables.language_tables import (
    build_language_tables,
    compare_with_own_language,
    split_by_language,
)
from sentprobe.probes.reports.tables.main_table import CellStyle
from sentprobe.probes.reports.tables.view import build_sections
from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.results.result import Condition, Result, Results, make_score
from sentprobe.probes.statistics import Correction, correct_p_values


def make_result(train: str, test: str, right: list[bool], *, encoder: str = "bow", digest: str = "") -> Result:
    task = f"Tense.{train}-{test}"
    facts = DataFacts(
        train=90,
        test=len(right),
        word_types=9,
        train_language=train,
        test_language=test,
        test_digest=digest or test,
        known_words=len(right) // 2,
    )
    scores = {
        condition: make_score([make_seed_score(answers)], ())
        for condition, answers in (
            (Condition.PROBE, right),
            (Condition.RANDOM_SENTENCES, [True, False] * (len(right) // 2)),
            (Condition.BAG_OF_WORDS, [True, False] * (len(right) // 2)),
        )
    }
    return replace(make_sample_result(encoder, task), dataset_fingerprint=task, data=facts, scores=scores, labels=2)


def mark_right(count: int, total: int = 100) -> list[bool]:
    return [place < count for place in range(total)]


RESULTS = Results(
    tuple(
        make_result(train, test, mark_right(count))
        for train, test, count in (("de", "de", 90), ("de", "fr", 60), ("fr", "de", 70), ("fr", "fr", 80))
    )
)


def test_matrix_by_hand() -> None:
    (matrix, notes), (losses, loss_notes) = build_language_tables(RESULTS, CellStyle())
    assert matrix.header == ("Tense", "trained on", "tested on de", "tested on fr")
    texts = {(row.label, *(cell.text.split(" [")[0] for cell in row.cells)) for row in matrix.rows}
    assert ("bow", "de", "90.0", "60.0") in texts
    assert ("bow", "fr", "70.0", "80.0") in texts
    assert ("bag of words, dim 3", "fr", "50.0", "50.0") in texts
    assert matrix.rows[0].cells[1].text == "90.0 [82.6, 94.5]"  # Wilson (1927) of 90 of 100
    assert "50% of test items have such a word" in notes[0]
    assert [row.cells[1].text for row in losses.rows] == ["Tense.fr-de", "Tense.de-fr"]
    assert [row.cells[4].text.split(" [")[0] for row in losses.rows] == ["+20.0", "+20.0"]
    assert all(row.cells[4].best for row in losses.rows)
    assert loss_notes[-1].startswith("2 of 2 differences are significant")


def test_probe_at_own_chance_is_marked() -> None:
    """French is at chance in French (52 of 100), so that 70 in German is no transfer; German keeps its figures."""
    results = Results(
        tuple(
            make_result(train, test, mark_right(count))
            for train, test, count in (("de", "de", 90), ("de", "fr", 60), ("fr", "de", 70), ("fr", "fr", 52))
        )
    )
    (matrix, notes), (losses, loss_notes) = build_language_tables(results, CellStyle())
    marked = {cell.text for row in matrix.rows if row.label == "bow" for cell in row.cells if cell.text.endswith("†")}
    assert {text.split(" [")[0] for text in marked} == {"70.0", "52.0"}
    assert notes[0].startswith("† In the language of its training")
    assert [row.cells[0].text for row in losses.rows] == ["Tense.de-de", "Tense.fr-fr †"]
    assert loss_notes[0] == notes[0]
    assert not any("†" in note for _, notes in build_language_tables(RESULTS, CellStyle()) for note in notes)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=4, max_size=60))
def test_losses_are_mcnemar_tests(answers: list[tuple[bool, bool, bool]]) -> None:
    in_language, *across = (list(side) for side in zip(*answers, strict=True))
    results = Results(
        tuple(
            make_result(train, "de", right)
            for train, right in zip(("de", "fr", "it"), (in_language, *across), strict=True)
        )
    )
    compared = compare_with_own_language(results)
    expected = []
    for right in across:
        wins = int(np.sum(np.array(in_language) & ~np.array(right)))
        losses = int(np.sum(~np.array(in_language) & np.array(right)))
        expected.append(binomtest(wins, wins + losses).pvalue if wins + losses else 1.0)
    assert [comparison.sign_p for comparison in compared] == pytest.approx(correct_p_values(expected, Correction.HOLM))
    assert [comparison.paired.difference for comparison in compared] == pytest.approx(
        [np.mean(in_language) - np.mean(right) for right in across]
    )


def test_other_test_items_are_not_compared() -> None:
    second = make_result("fr", "de", mark_right(50), digest="other items")
    assert compare_with_own_language(Results((RESULTS.records[0], second))) == ()


def test_ordinary_results_have_their_table() -> None:
    plain = make_sample_result("bow", "Order", 700, 500, 500)
    mixed = Results((plain, *RESULTS.records))
    assert [[*part.tasks] for part in split_by_language(mixed)] == [["Order"], [*RESULTS.tasks]]
    headers = [grid.header for _, grid, _ in build_sections(mixed, CellStyle())]
    assert headers[0] == ("encoder", "Order")
    assert headers[1][0] == "Tense"
    assert [*build_language_tables(Results((plain,)), CellStyle())] == []


def test_page_and_methods_name_languages() -> None:
    page = build_report_page(RESULTS)
    assert "<th>tested on fr</th>" in page.replace(' scope="col"', "")
    assert "90.0 [82.6, 94.5]" in page
    text = " ".join(write_methods_text(RESULTS, TableFormat.TEXT).split())
    assert "or its translation (same sent_id)" in text
    assert "ignore words that do not occur in training" in text
    assert "50.0 on Tense in de, 50.0 on Tense in fr" in text or "is 50.0 on every task" in text


def test_several_draws_share_their_variances() -> None:
    rng = np.random.default_rng(3)
    records = [
        replace(
            make_result(train, "de", list(rng.random(100) < share), encoder=encoder, digest=str(seed)),
            seed=seed,
            dataset_fingerprint=f"{train} {seed}",
        )
        for seed in (0, 10, 20)
        for encoder in ("a", "b", "c")
        for train, share in (("de", 0.8), ("fr", 0.6), ("it", 0.6))
    ]
    compared = compare_with_own_language(Results(tuple(records)))
    assert [comparison.draws for comparison in compared] == [3] * 6
    tests = [comparison.paired.test for comparison in compared if isinstance(comparison.paired, DrawComparison)]
    assert all(test.prior_freedom > 0 for test in tests)
    assert len(tests) == 6
