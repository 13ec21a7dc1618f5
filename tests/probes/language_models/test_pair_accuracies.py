"""Accuracies of models on minimal pairs, functions of the user, and comparisons."""

import csv
import io
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError
from sentprobe.common.screen import Reporter, SilentReporter
from sentprobe.probes.language_models.pair_accuracies import (
    COLUMN_NAMES,
    PairResults,
    PairScores,
    check_column,
    score_pairs,
)
from sentprobe.probes.language_models.scorers import FunctionModel, ScoreKind, ScoringMethod, TokenScores
from sentprobe.probes.language_models.sentence_pairs import SentencePair
from sentprobe.probes.statistics import accuracy_interval, compare_items

SCORES = st.sampled_from([-2.0, -1.5, -1.0])
COLUMNS = st.lists(st.tuples(SCORES, SCORES, SCORES, SCORES), min_size=1, max_size=25)


def make_pairs(count: int) -> list[SentencePair]:
    groups = [("agreement", "a"), ("agreement", "b"), ("order", "c"), ("", "d")]
    names = [groups[i % 4] for i in range(count)]
    return [SentencePair(f"good {i}", f"bad {i}", name, group, str(i)) for i, (group, name) in enumerate(names)]


def make_results(columns: Sequence[Sequence[float]]) -> PairResults:
    first_good, first_bad, second_good, second_bad = zip(*columns, strict=True)
    scores = [PairScores("x", first_good, first_bad, ()), PairScores("y", second_good, second_bad, ())]
    return PairResults(make_pairs(len(columns)), ScoreKind.SENTENCE, scores)


def judge(good: float, bad: float) -> float:
    return 1.0 if good > bad else 0.5 if good == bad else 0.0


@given(COLUMNS)
def test_accuracies_count_ties_half(columns: list[tuple[float, ...]]) -> None:
    results = make_results(columns)
    records = [record for record in results.to_records() if record["model"]]
    for record in records:
        side = 0 if record["model"] == "x" else 2
        shares = [
            judge(*column[side : side + 2])
            for column, pair in zip(columns, results.pairs, strict=True)
            if record["paradigm"] in ("", pair.paradigm) and record["phenomenon"] in ("", pair.phenomenon)
        ]
        assert record["pairs"] == len(shares)
        assert record["accuracy"] == pytest.approx(np.mean(shares))
        assert record["ties"] == shares.count(0.5)
        interval = accuracy_interval(shares, [])
        assert (record["accuracy_low"], record["accuracy_high"]) == pytest.approx((interval.low, interval.high))
        assert record["chance"] == 0.5
    names = [(record["phenomenon"], record["paradigm"]) for record in records if record["model"] == "x"]
    expected = [("agreement", "a"), ("agreement", "b"), ("agreement", ""), ("order", "c"), ("", "d"), ("", "")]
    present = {1: [0], 2: [0, 1, 2, 5], 3: [0, 1, 2, 3, 5]}.get(len(columns), range(6))
    assert names == [expected[i] for i in present]


@given(COLUMNS)
def test_baselines_are_chance_or_word_frequencies(columns: list[tuple[float, ...]]) -> None:
    results = make_results(columns)
    records = {(record["model"], record["paradigm"]): record for record in results.to_accuracy_records()}
    for comparison in results.baseline_comparisons:
        record = records[comparison.matched[0][0], comparison.value]
        assert comparison.accuracies == pytest.approx((record["accuracy"], max(0.5, record["unigram"])))
        assert comparison.paired.difference == pytest.approx(record["accuracy"] - max(0.5, record["unigram"]))


@given(COLUMNS)
def test_comparisons_are_paired_tests(columns: list[tuple[float, ...]]) -> None:
    results = make_results(columns)
    for comparison in results.comparisons:
        answers = [
            [judge(*column[side : side + 2])
             for column, pair in zip(columns, results.pairs, strict=True) if pair.paradigm == comparison.value]
            for side in (0, 2)
        ]  # fmt: skip
        doubled = [np.array([[value > 0 for value in side], [value == 1 for value in side]]) for side in answers]
        expected = compare_items(doubled[0], doubled[1])
        assert comparison.paired.difference == pytest.approx(np.mean(answers[0]) - np.mean(answers[1]))
        assert comparison.paired.sign_p == expected.sign_p
        assert comparison.paired.wins == sum(a > b for a, b in zip(*answers, strict=True))
        assert comparison.sign_p >= comparison.paired.sign_p
    records = [record for record in results.to_records() if record["first"]]
    assert len(records) == len(results.comparisons) == min(4, len(columns))


def test_repeated_pairs_are_one_unit() -> None:
    pairs = [SentencePair("a b", "b c", "p")] * 50 + [SentencePair(f"x {i}", "y", "p") for i in range(50)]
    good = (1.0,) * 50 + tuple(float(i % 2) for i in range(50))
    (record,) = PairResults(pairs, ScoreKind.SENTENCE, [PairScores("m", good, (0.5,) * 100)]).to_records()
    assert record["accuracy"] == 0.75
    assert record["accuracy_high"] - record["accuracy_low"] > 0.4


def test_table_and_its_notes() -> None:
    results = make_results([(-1.0, -2.0, -1.0, -1.0)] * 8)
    (_, grid, notes), (_, compared, tests) = results.build_tables(intervals=True)
    assert grid.header == ("paradigm", "pairs", "chance", "unigram", "x", "y")
    assert [row.label for row in grid.rows] == ["a", "b", "all agreement", "c", "d", "all"]
    assert [cell.text for cell in grid.rows[-1].cells] == [
        "8",
        "50.0",
        "87.5",
        "100.0 [67.6, 100.0]",
        "50.0 [21.5, 78.5]",
    ]
    assert "y: 8 ties." in notes
    assert "x: " not in notes
    assert [row.cells[0].text for row in compared.rows] == ["a", "b", "c", "d"]
    assert "Corrected for 4 comparisons: Holm" in tests


def measure(function: Callable[[list[str]], Any], kind: ScoreKind = ScoreKind.SENTENCE) -> PairResults:
    pairs = [SentencePair("the men sleep .", "the men sleeps .", "p"), SentencePair("a b", "a b", "p")]
    scores = score_pairs(FunctionModel("f", function), pairs, kind, SilentReporter())
    return PairResults(pairs, kind, [scores])


def test_functions_score_sentences_or_words() -> None:
    import torch

    requests: list[list[str]] = []

    def count(texts: list[str]) -> list[float]:
        requests.append(texts)
        return [-float(len(text)) for text in texts]

    results = measure(count)
    assert requests == [["the men sleep .", "the men sleeps .", "a b"]]
    assert (results.scores[0].good, results.scores[0].bad) == ((-15, -3), (-16, -3))
    row, _ = csv.DictReader(io.StringIO(results.format_scores()))
    texts = {"sentence_good": "the men sleep .", "sentence_bad": "the men sleeps ."}
    names = {"model": "f", "paradigm": "p", "pair_id": "", "score": "sentence"}
    assert row == {**names, "good": "-15.0", "bad": "-16.0", **texts}
    assert "In 1 pair, both sentences are the same." in next(results.build_tables(intervals=False))[2]
    assert measure(lambda texts: torch.tensor([-1.0] * len(texts))).scores[0].good == (-1, -1)

    def count_letters(texts: list[str]) -> list[list[float]]:
        return [[-float(len(word)) for word in text.split()] for text in texts]

    for kind, good, bad in [(ScoreKind.SENTENCE, -12, -13), (ScoreKind.TOKEN, -3, -3.25), (ScoreKind.CRITICAL, -5, -6)]:
        scores = measure(count_letters, kind).scores[0]
        assert (scores.good[0], scores.bad[0]) == (good, bad)


NOT_FINITE = r"f: a score of the pair 'the men sleep \.', 'the men sleeps \.' is not a finite number"
ODD_SCORES: list[Any] = [
    float("nan"), float("-inf"), 1j, 10**400, np.longdouble("1e4000"), np.ma.masked, np.ma.array([1.0], mask=[True])[0],
    np.ma.array(1.0, mask=True), None, "1.5", np.datetime64("2020-01-01"),
]  # fmt: skip


def fill(value: object, texts: list[str]) -> list[object]:
    return [value for _ in texts]


def test_overflowing_sums_are_refused() -> None:
    with pytest.raises(SentprobeError, match=NOT_FINITE):
        measure(lambda texts: [[1e308] * len(text.split()) for text in texts])
    for kind in (ScoreKind.TOKEN, ScoreKind.CRITICAL):
        with pytest.raises(SentprobeError, match=NOT_FINITE):
            measure(
                lambda texts: [np.ma.array([1.0] * len(t.split()), mask=[True] * len(t.split())) for t in texts], kind
            )
    assert measure(lambda texts: [1e308 for _ in texts]).scores[0].ties == 2


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda _: [0.0], "f did not return a number for each sentence"),
        *((partial(fill, value), NOT_FINITE) for value in ODD_SCORES),
        (lambda texts: [[0.0, 1.0] for _ in texts], "did not return a number"),
        (lambda _: 1 / 0, "f raised ZeroDivisionError: division by zero"),
        (lambda texts: ["x" for _ in texts], NOT_FINITE),
        (lambda _: sys.exit(0), "f raised SystemExit: 0"),
        (lambda _: None, "f raised TypeError"),
    ],
)
def test_functions_that_return_no_scores(function: Callable[[list[str]], Any], message: str) -> None:
    with pytest.raises(SentprobeError, match=message):
        measure(function)


def test_pairs_with_swapped_sentences_are_counted() -> None:
    pairs = [SentencePair("a", "b"), SentencePair("b", "a"), SentencePair("b", "a"), SentencePair("a", "c")]
    scores = PairScores("m", (1.0,) * 4, (0.0,) * 4)
    notes = next(PairResults(pairs, ScoreKind.SENTENCE, [scores]).build_tables(intervals=False))[2]
    assert "1 pair with either sentence as good.\n" in notes
    assert "1 pair listed before, and counted again.\n" in notes
    notes = next(PairResults(pairs[:2], ScoreKind.SENTENCE, [scores]).build_tables(intervals=False))[2]
    assert "listed before" not in notes
    assert "the same" not in notes


def test_missing_scores_are_refused() -> None:
    with pytest.raises(SentprobeError, match="wordless scores no token of 'good 0'"):
        score_pairs(WordlessModel(), make_pairs(1), ScoreKind.SENTENCE, SilentReporter())
    with pytest.raises(SentprobeError, match="--score token needs one for each word"):
        measure(lambda texts: [0.0 for _ in texts], ScoreKind.TOKEN)


class WordlessModel:
    """Scores no token of any text."""

    name = "wordless"
    method = ScoringMethod.FUNCTION

    def find_unknown(self, texts: Sequence[str]) -> list[list[str]]:
        return [[] for _ in texts]

    def score(self, texts: Sequence[str], reporter: Reporter, _: object = None) -> list[TokenScores]:
        reporter.advance(len(texts))
        return [TokenScores([])] * len(texts)


def test_other_field_has_figures_by_value() -> None:
    values = ["0", "2", "", "10", "2", "0"]
    pairs = [SentencePair(f"good {i}", "bad", "p", "q", columns={"n": v} if v else {}) for i, v in enumerate(values)]
    scores = [
        PairScores(name, (1.0,) * 6, tuple(2.0 - 2 * (i % 2 == side) for i in range(6)))
        for side, name in enumerate("xy")
    ]
    records = PairResults(pairs, ScoreKind.SENTENCE, scores, "n").to_records()
    figures = [(r["n"], r["pairs"], r["accuracy"]) for r in records if r["model"] == "x"]
    assert figures == [("0", 2, 0.5), ("2", 2, 0.5), ("10", 1, 0.0), ("not known", 1, 1.0), ("", 6, 0.5)]
    assert [r["n"] for r in records if r["first"]] == ["0", "2", "10", "not known"]
    check_column(pairs, "n")
    with pytest.raises(SentprobeError, match="the pairs have no field 'm'; they have n"):
        check_column(pairs, "m")
    assert {*COLUMN_NAMES, "n"} == {*records[0]}
    with pytest.raises(SentprobeError, match="--by score: the output has a column of this name; rename the field"):
        check_column([SentencePair("good", "bad", columns={"score": "1"})], "score")
    distinct = [SentencePair("good", "bad", columns={"text": f"text {i}"}) for i in range(13)]
    with pytest.raises(SentprobeError, match="the field 'text' has 13 values; at most 12, or numbers, can be shown"):
        check_column(distinct, "text")
