"""A user's pairs: the figures of generated pairs, and files that cannot be measured."""

import csv
import json
from collections import Counter
from pathlib import Path
from unittest.mock import Mock

import pytest
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

import sentprobe
from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.common.screen import SilentReporter
from sentprobe.generator.pairs.triplets import SIDES, TripletSpace
from sentprobe.lexicon import english
from sentprobe.probes.similarity import pair_scores
from sentprobe.probes.similarity.gate_tables import find_exceeding, format_gate_notes


def write_pairs(folder: Path, rows: list[tuple[str, str, int]]) -> Path:
    path = folder / "mine.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("a", "b", "same"), *rows])
    return path


def write_triplets_as_pairs(folder: Path) -> Path:
    triplets = TripletSpace(english(), "tense").sample(60, seed=0)
    anchors, positives, _, negatives = map(triplets.render_texts, SIDES)
    same = [(first, second, 1) for first, second in zip(anchors, positives, strict=True)]
    other = [(first, second, 0) for first, second in zip(anchors, negatives, strict=True)]
    return write_pairs(folder, [row for pair in zip(same, other, strict=True) for row in pair])


def test_doubtful_labels_are_counted(tmp_path: Path) -> None:
    rows = [("a b", "b a", 1), ("b a", "a b", 0), ("x", "x", 0), ("x", "x", 0), ("y", "y", 1)]
    notes = format_gate_notes(sentprobe.gate("bow?dim=8", pairs=write_pairs(tmp_path, rows), threshold=0.5))
    assert "Own pairs: in 3 pairs, both texts are the same.\n" in notes
    assert "Own pairs: 1 pair with both labels, same=1 and same=0, such as 'a b', 'b a'.\n" in notes


def test_generated_pairs_have_the_same_figures_as_ones_own(tmp_path: Path) -> None:
    expected = sentprobe.gate("bow?dim=8", contrasts=["tense"], n=60, threshold=0.8).draws[0].rates[0]
    (rates,) = sentprobe.gate("bow?dim=8", pairs=write_triplets_as_pairs(tmp_path), threshold=0.8).draws[0].rates
    assert (rates.false_hits, rates.misses, rates.auc, rates.eer, rates.pairs) == (
        expected.false_hits, expected.misses, expected.auc, expected.eer, 60
    )  # fmt: skip


def test_blocks_do_not_change_the_figures_and_halves_do_not_share_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_triplets_as_pairs(tmp_path)
    expected = sentprobe.gate("bow?dim=8", pairs=path, contrasts=["role"], n=40)
    monkeypatch.setattr(pair_scores, "BLOCK", 7)
    assert sentprobe.gate("bow?dim=8", pairs=path, contrasts=["role"], n=40) == expected
    rates = expected.draws[0].rates[0]
    assert rates.pairs == rates.same_pairs < 60


def test_generated_pairs_are_as_long_as_ones_own_and_disagreements_are_told(tmp_path: Path) -> None:
    rows = [(f"the man helped the dog{i}", f"the dog{i} was helped by the man", 1) for i in range(30)]
    path = write_pairs(tmp_path, [*rows, *((f"the cat saw the bird{i}", "it rains", 0) for i in range(30))])
    reporter = Mock(spec=SilentReporter)
    figures = sentprobe.gate("bow", pairs=path, contrasts=["role", "number"], threshold=0.5, n=200, reporter=reporter)
    total = sum(call.args[0] for call in reporter.advance.mock_calls)
    reporter.begin.assert_called_with("score with bow", total)
    (result,) = figures.draws
    assert [(rates.contrast, rates.form) for rates in result.generated] == [
        (contrast, form) for contrast in ("role", "number") for form in ("anchor", "form")
    ]
    assert all(len(text.split()) == 5 for rates in result.generated for text in rates.example[:1])
    assert all(len(pair.first.split()) == 5 for rates in result.generated for pair in rates.worst)
    notes = format_gate_notes(figures)
    assert "False hits of generated pairs disagree with the 0.0% of own pairs (95% intervals do not overlap): " in notes
    assert "role (anchor) 100.0%" in notes
    assert "Own pairs: 30 paraphrases and 30 other pairs are measured; 95% intervals: false hits 0.0% to 1" in notes
    assert "Misses of generated pairs" not in notes
    assert find_exceeding(figures, 0.0) == []
    assert len(figures.to_records()) == 5


def test_no_generated_sentence_is_as_short_as_one_word(tmp_path: Path) -> None:
    path = write_pairs(tmp_path, [("x", "x", 1), ("x", "y", 0)])
    figures = sentprobe.gate("bow?dim=8", pairs=path, threshold=1, contrasts=["role"])
    assert figures.draws[0].generated == ()
    assert "No generated sentence has the length of a text in column a." in format_gate_notes(figures)


@given(st.lists(st.integers(1, 15), min_size=1, max_size=9))
@examples(10)
def test_selected_triplets_have_the_lengths_and_at_most_their_shares(lengths: list[int]) -> None:
    counts = Counter(lengths)
    selected = pair_scores.select_lengths(TripletSpace(english(), "noun"), 40, counts, seed=0)
    found = Counter(len(text.split()) for text in selected.render_texts(SIDES[0]))
    assert set(found) <= set(counts)
    assert all(found[length] <= 40 * count / len(lengths) + 1 for length, count in counts.items())


def test_the_sentence_and_the_records(tmp_path: Path) -> None:
    figures = sentprobe.gate("bow?dim=8", pairs=write_pairs(tmp_path, [("x", "x", 1), ("x", "y", 0)]), threshold=1)
    assert str(figures) == (
        "At a cosine of 1.0000, where 100.0% of paraphrases pass, 0.0% of pairs with different meanings pass, too."
    )
    (record,) = json.loads(json.dumps(figures.to_records()))
    assert (record["first"], record["second"], record["auc"]) == ("x", "y", 1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the column a is missing"),
        ("a,b\nx,y\n", "the column same is missing"),
        ("a,b,same\n", "no pairs; pairs that mean the same (1) and others (0) are needed"),
        ("a,b,same\nx,y,1\n", "only pairs with same=1"),
        ("a,b,same\nx,y,0\n", "only pairs with same=0"),
        ("a,b,same\nx,y,1\nx, ,0\n", "line 3: a text is empty"),
        ("a,b,same\nx,y,yes\n", "line 2: same is 'yes'; 1 (the same meaning) or 0 is expected"),
        ("a,b,same\nx,y\n", "line 2: 2 fields, the first line names 3"),
        ("a,A,b,same\nx,x,y,1\n", "the column a is given twice; the first line names a, b and same"),
    ],
)
def test_a_file_that_cannot_be_measured_is_refused_before_a_model_is_loaded(
    text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SentprobeError) as caught:
        sentprobe.gate("st:./none", pairs=path)
    assert message in str(caught.value)


def test_too_few_pairs_are_told(tmp_path: Path) -> None:
    """A threshold that keeps 90% leaves out one of ten paraphrases, in each half."""
    rows = [(f"the man{i} slept", f"the man{i} slept", 1) for i in range(8)]
    path = write_pairs(tmp_path, [*rows, *((f"the cat{i} slept", "it rains", 0) for i in range(8))])
    options = {"pairs": path, "contrasts": ["role"], "n": 40}
    notes = format_gate_notes(sentprobe.gate("bow?dim=8", keep=0.9, **options))  # type: ignore[arg-type]
    assert "Too few own pairs: a threshold that keeps 90% needs 20 paraphrases.\n" in notes
    for enough in ({"keep": 0.5}, {"keep": 1.0}, {"threshold": 0.9}):
        assert "Too few" not in format_gate_notes(sentprobe.gate("bow?dim=8", **options, **enough))  # type: ignore[arg-type]


def test_a_file_that_is_missing_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read it"):
        sentprobe.gate("bow?dim=8", pairs=tmp_path / "none.csv")
    (tmp_path / "mine.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(SentprobeError, match="UTF-8"):
        sentprobe.gate("bow?dim=8", pairs=tmp_path / "mine.csv")
