"""Scores of pairs: a user's pairs, cross-encoders and functions."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from helpers.encoders.model_files import FIRSTS, SECONDS, save_cross_encoder
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

import sentprobe
from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.common.screen import SilentReporter
from sentprobe.common.specs import parse_spec
from sentprobe.generator.pairs.triplets import SIDES, TripletSpace
from sentprobe.lexicon import english
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.similarity import pair_scores, text_pairs
from sentprobe.probes.similarity.gate_checks import find_exceeding
from sentprobe.probes.similarity.gate_tables import format_gate_notes
from sentprobe.probes.similarity.pair_scores import PairModel, load_cross_encoder


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


def test_generated_pairs_equal_own_pairs(tmp_path: Path) -> None:
    expected = sentprobe.gate("bow?dim=8", contrasts=["tense"], n=60, threshold=0.8).draws[0].rates[0]
    (rates,) = sentprobe.gate("bow?dim=8", pairs=write_triplets_as_pairs(tmp_path), threshold=0.8).draws[0].rates
    assert (rates.false_hits, rates.misses, rates.auc, rates.eer, rates.pairs) == (
        expected.false_hits, expected.misses, expected.auc, expected.eer, 60
    )  # fmt: skip


def test_halves_share_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_triplets_as_pairs(tmp_path)
    expected = sentprobe.gate("bow?dim=8", pairs=path, contrasts=["role"], n=40)
    monkeypatch.setattr(pair_scores, "BLOCK", 7)
    assert sentprobe.gate("bow?dim=8", pairs=path, contrasts=["role"], n=40) == expected
    rates = expected.draws[0].rates[0]
    assert rates.pairs == rates.same_pairs < 60


def test_generated_pairs_have_own_lengths(tmp_path: Path) -> None:
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
    assert {*find_exceeding(figures, {"": 0.0})} == {"own pairs"}
    assert find_exceeding(figures, {"": 0.3}) == find_exceeding(figures, {"role": 0.0}) == {}
    assert len(figures.to_records()) == 5


def test_missed_paraphrases_are_counted_with_the_worst(tmp_path: Path) -> None:
    """Of two missed paraphrases, the one without a common word is the worst."""
    same = [("sun rain", "sun rain", 1), ("sun rain", "sun snow", 1), ("wind hail", "frost fog", 1)]
    path = write_pairs(tmp_path, [*same, ("one two", "three four", 0)])
    notes = format_gate_notes(sentprobe.gate("bow", pairs=path, contrasts=["role"], threshold=0.99))
    assert "Missed: 2 of 3 paraphrases, such as 'wind hail' and 'frost fog' (" in notes
    (tmp_path / "others").mkdir()
    others = write_pairs(tmp_path / "others", [(f"sun{n}", f"hail{n % 2 * n}", 1) for n in range(60)])
    notes = format_gate_notes(sentprobe.gate("bow", pairs=path, contrasts=["role"], keep=0.9, paraphrases=others))
    assert "Missed: 1 of 23 paraphrases" in notes
    assert "Too few own pairs" not in notes
    assert "Missed" not in format_gate_notes(sentprobe.gate("bow", pairs=path, contrasts=["role"], threshold=-1))


def test_one_word_texts_have_no_sentences(tmp_path: Path) -> None:
    path = write_pairs(tmp_path, [("x", "x", 1), ("x", "y", 0)])
    figures = sentprobe.gate("bow?dim=8", pairs=path, threshold=1, contrasts=["role"])
    assert figures.draws[0].generated == ()
    assert "No generated sentence has the length of a text in column a." in format_gate_notes(figures)


@given(st.lists(st.integers(1, 15), min_size=1, max_size=9))
@examples(10)
def test_selected_triplets_have_given_lengths(lengths: list[int]) -> None:
    counts = Counter(lengths)
    selected = text_pairs.select_lengths(TripletSpace(english(), "noun"), 40, counts, seed=0)
    found = Counter(len(text.split()) for text in selected.render_texts(SIDES[0]))
    assert set(found) <= set(counts)
    assert all(found[length] <= 40 * count / len(lengths) + 1 for length, count in counts.items())


def test_sentence_and_the_records(tmp_path: Path) -> None:
    figures = sentprobe.gate("bow?dim=8", pairs=write_pairs(tmp_path, [("x", "x", 1), ("x", "y", 0)]), threshold=1)
    assert str(figures) == (
        f"Of the pairs in {tmp_path / 'mine.csv'}: at a cosine of 1.0000, where 100.0% of paraphrases pass, 0.0% of "
        "1 pair with different meanings pass (area under the ROC curve: 100.0)."
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
        ("a,b,same\nx,y,1\nx, ,0\n", "line 3: the field b is empty"),
        ("a,b,same\nx,y,yes\n", "line 2: same is 'yes'; 1 (the same meaning) or 0 is expected"),
        ("a,b,same\nx,y\n", "line 2: 2 fields, the first line names 3"),
        ("a,A,b,same\nx,x,y,1\n", "the column a is given twice; the first line must name the columns a, b, same"),
        (
            "a,b,same,kind\nx,y,1,\n" + "".join(f"x,y{i},0,k{i}\n" for i in range(1001)),
            "1,001 kinds of pairs with same=0; at most 1,000 are measured",
        ),
        (b"\xff\xfe", "UTF-8"),
        (None, "cannot read it"),
    ],
)
def test_pairs_file_is_refused_before_model(text: str | bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
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


def predict_logits(folder: Path, firsts: list[str], seconds: list[str]) -> np.ndarray:
    """Return the model's outputs without sentence-transformers, (n, labels)."""
    import torch
    import transformers

    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
    model: Any = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        output = model.eval()(**tokenizer(firsts, seconds, padding=True, return_tensors="pt")).logits
    return np.asarray(output, dtype=np.float64)


def test_single_output_averages_both_orders(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "one", ("score",))
    (scores,) = load_cross_encoder(parse_spec(f"ce:{folder}")).score_columns(FIRSTS, SECONDS)
    logits = [predict_logits(folder, FIRSTS, SECONDS), predict_logits(folder, SECONDS, FIRSTS)]
    expected = np.mean([1 / (1 + np.exp(-values[:, 0])) for values in logits], axis=0)
    assert scores == pytest.approx(expected, abs=2e-6)
    assert abs(logits[0] - logits[1]).max() > 1e-3


def test_three_classes_score_entailment(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "nli", ("contradiction", "Entailment", "neutral"))
    (scores,) = load_cross_encoder(parse_spec(f"ce:{folder}")).score_columns(FIRSTS, SECONDS)
    logits = np.exp([predict_logits(folder, FIRSTS, SECONDS), predict_logits(folder, SECONDS, FIRSTS)])
    assert scores == pytest.approx((logits[..., 1] / logits.sum(axis=-1)).mean(axis=0), abs=2e-6)


def test_gate_of_a_cross_encoder(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "one", ("score",))
    figures = sentprobe.gate(f"ce:{folder}?batch=8&name=tiny", contrasts=["role"], n=50)
    assert (figures.draws[0].scorer, figures.draws[0].measure) == ("tiny", "score")
    assert ": at a score of 0." in str(figures)
    path = tmp_path / "mine.csv"
    path.write_text("a,b,same\nx,x,1\nx,y,0\n", encoding="utf-8")
    assert sentprobe.gate(f"ce:{folder}", pairs=path, threshold=7).draws[0].kept == 0


@pytest.mark.parametrize(
    ("labels", "changes", "message"),
    [
        (("a", "b"), {}, "has 2 outputs, none of which is entailment"),
        (("score",), {"architectures": ["BertModel"]}, "is not a cross-encoder"),  # the library would draw weights
        (("score",), {"hidden_size": 48}, "cannot load the model"),
    ],
)
def test_cross_encoder_that_cannot_be_used(
    labels: tuple[str, ...], changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    config = save_cross_encoder(tmp_path / "x", labels) / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text("utf-8")) | changes), encoding="utf-8")
    kind = EncoderError if "hidden_size" in changes else UsageError
    with pytest.raises(kind, match=message):
        sentprobe.gate(f"ce:{tmp_path / 'x'}", contrasts=["role"], n=20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": "ce:/none/here"}, "no model at"),
        ({"model": "ce:"}, "ce: wants a model"),
        ({}, "give either a model or a score function"),
        ({"model": "bow", "score": len}, "give either a model or a score function"),
    ],
)
def test_gate_refuses_bad_models(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sentprobe.gate(**arguments, contrasts=["role"], n=20)


def test_function_may_count_shared_words() -> None:
    def count_shared(pairs: list[tuple[str, str]]) -> list[int]:
        return [len(set(first.split()) & set(second.split())) for first, second in pairs]

    rates = sentprobe.gate(score=count_shared, contrasts=["role"], n=60).draws[0].rates[1]
    assert (rates.auc, rates.ties) == (0.5, 60)
    assert rates.at_threshold > 0


PAIR_NOT_FINITE = f"mine: the score of the pair {FIRSTS[1]!r}, {SECONDS[1]!r} is not a finite number"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, np.nan], PAIR_NOT_FINITE),
        ([1.0, 1e308], PAIR_NOT_FINITE),
        (np.ma.array([1.0, 2.0], mask=[False, True]), PAIR_NOT_FINITE),
        ([1.0, 1j], "is not a finite number"),
        (["1", "2"], "is not a finite number"),
        ([None, 2.0], "is not a finite number"),
        ([1.0], "did not return one score for each of 2 pairs"),
        ([[1.0], [2.0]], "did not return one score for each of 2 pairs"),
    ],
)
def test_function_refuses_bad_scores(values: object, message: str) -> None:
    with pytest.raises(EncoderError) as caught:
        PairModel(lambda _: values, name="mine", symmetric=message == PAIR_NOT_FINITE).score_columns(FIRSTS, SECONDS)
    assert message in str(caught.value)
